# An ad as a mapping: what goes in, what comes out, what is refused.
try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

import copy
import datetime
import pickle

import classad2

UTC = datetime.timezone.utc


def show(what):
    try:
        found = what()
    except Exception as error:
        print("!", type(error).__name__, error)
    else:
        print(type(found).__name__, repr(found))


ad = classad2.ClassAd(
    {
        "Cpus": 4,
        "Load": 2.5,
        "Owner": 'a "quoted"\nname é',
        "Items": [1, "two", classad2.ExprTree("Cpus + 1"), {"x": None}, (True, 0.5)],
        "Inner": {"Deep": {"er": 1}},
        "Nothing": None,
        "Yes": True,
        "When": datetime.datetime(2020, 1, 1, 12, 30, tzinfo=UTC),
        "Wrong": classad2.Value.Error,
        "Bytes": b"ab",
        "Rank": classad2.ExprTree("TARGET.Mips"),
        "my name": -1,
    }
)
for name in ad:
    show(lambda: (name, ad[name]))
for name in ["cpus", "CPUS", "nope", "", 3, None]:
    show(lambda: ad[name])
    show(lambda: name in ad)
    show(lambda: ad.get(name, "default"))
print(len(ad), bool(ad), bool(classad2.ClassAd()))
show(lambda: list(ad.keys()))
show(lambda: [str(value) for value in ad.values()])
show(lambda: list(ad.items())[:3])
show(lambda: ad.setdefault("New", 5))
show(lambda: ad.setdefault("new", 6))
show(lambda: ad.pop("NEW"))
show(lambda: ad.pop("NEW"))
show(lambda: ad.pop("NEW", None))
show(lambda: ad.update({"u": 1, "CPUS": 8}, v=[]))
show(lambda: (ad["u"], ad["Cpus"], ad["v"]))
show(lambda: ad.__delitem__("nope"))
show(lambda: ad.__delitem__("U"))
show(lambda: "u" in ad)
show(lambda: ad.__setitem__("", 1))
show(lambda: ad.__setitem__(1, 1))
show(lambda: ad.__setitem__("q", object()))
show(lambda: ad.__setitem__("a\0b", 1))
show(lambda: ad.__setitem__("max", 2**63 - 1) or ad["max"])
show(lambda: classad2.ClassAd(3))
show(lambda: classad2.ClassAd([1]))
show(lambda: classad2.ClassAd({"": 1}))
show(lambda: pickle.loads(pickle.dumps(ad)) == ad)
show(lambda: copy.deepcopy(ad))
show(lambda: hash(ad))
show(lambda: ad == dict(ad))
show(lambda: ad == classad2.ClassAd(repr(ad)))
show(lambda: classad2.ClassAd("[a=1;b=2]") == classad2.ClassAd("[B=2;A=1]"))
show(lambda: classad2.ClassAd("[a=1]") == classad2.ClassAd("[a=1.0]"))
show(lambda: classad2.ClassAd("[a=x]") == classad2.ClassAd("[a=X]"))
show(lambda: classad2.ClassAd("[a=1;b=2]") == classad2.ClassAd("[b=2]"))
show(lambda: dict(classad2.ClassAd("[a=1;b=[c=2]]")))
show(lambda: reversed(ad))
show(lambda: ad.copy())
show(lambda: ad | {})
show(lambda: ad.clear())
show(lambda: ad)
show(
    lambda: classad2.ClassAd(
        '[x=-1;y=(2);z=+3;w=-x;n=1.5E3;t=absTime("2020-01-01T00:00:00+01:00");r=relTime("1:00")]'
    ).items()
)
for text in [
    "[x=-1]",
    "[x=(2)]",
    "[x=+3]",
    "[x=-y]",
    "[x={1,{a}}]",
    '[x=relTime("1:00")]',
    '[x=real("INF")]',
    '[x=absTime("2020-01-01T00:00:00+01:00")]',
    "[x=[y=1]]",
    "[x=undefined]",
    "[x=error]",
    "[x=1;X=2]",
]:
    show(lambda: classad2.ClassAd(text)["x"])
for text in ["", "a=1", "[a=1", "[a=1] rest", "[]", "[a=]", "[a=1,b=2]", "{}", "[a=1;;b=2;]"]:
    show(lambda: classad2.ClassAd(text))
show(lambda: sorted(name for name in dir(ad) if not name.startswith("_")))
