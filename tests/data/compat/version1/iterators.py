"""What an ad's names, values and both of them are gone through with."""

import classad

ad = classad.ClassAd("[a = 1; b = 2]")
for name in ("keys", "values", "items"):
    found = getattr(ad, name)()
    print(name, next(found), list(found), list(found), iter(found) is found, hasattr(found, "__len__"))
print("a" in ad.keys(), ("a", 1) in ad.items(), 2 in ad.values(), ad.items() == ad.items())
print(sorted(dict(ad)), {**ad}, next(iter(ad)), len(ad))
ad.update(classad.ClassAd("[c = 3]"))
print(sorted(ad.items()), ad == classad.ClassAd(dict(ad)))
