# Matching, one way and both ways.
try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import ClassAd

ADS = [
    ClassAd(text)
    for text in [
        "[]",
        "[m=7]",
        "[requirements=TARGET.m>5]",
        "[Requirements=m>5]",
        "[requirements=true;m=1]",
        "[requirements=1;m=9]",
        "[requirements=0.5]",
        "[requirements=0]",
        '[requirements="true"]',
        "[requirements=undefined]",
        "[requirements=error]",
        '[requirements=relTime("1")]',
        "[requirements={true}]",
        "[requirements=MY.m < TARGET.m;m=5]",
        "[requirements=CurrentTime>5]",
        "[requirements=other.m is undefined]",
    ]
]
for one in ADS:
    print([one.matches(other) for other in ADS], [one.symmetricMatch(other) for other in ADS])
for wrong in [None, 3, {}, "[]"]:
    for method in [ADS[0].matches, ADS[0].symmetricMatch]:
        try:
            print(method(wrong))
        except TypeError as error:
            print(error)
