"""Dates far away or not in the calendar, numbers at their ends, names that are nowhere."""

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

import classad2

TEMPLATE = "%a|%A|%w|%u|%j|%y|%C|%G|%g|%V|%U|%W|%F|%D|%e|%b|%B|%Y|%H:%M:%S"
MOMENTS = [
    *(0, -1, 4102444800, 253402300799, 253402300800, 99999999999999, 67767976233532799),
    *(-62135596800, -62135596801, -62167219200, -62167219201, -70000000000, -99999999999),
    *(43718560990885627, -32233148214970112, 1e300, 4e9),
]
ADS = [
    "[]",
    "[Year=2020]",
    "[Year=2020;Month=2;Day=29]",
    "[Year=2019;Month=2;Day=31;Hours=25;Minutes=-1;Seconds=99]",
    "[Month=3;Day=5]",
    "[Year=-5;Month=1;Day=1]",
    "[Year=0;Month=12;Day=31]",
    "[Year=2020;Month=13;Day=1]",
    "[Year=2020;Month=0;Day=-1]",
    "[Year=2020;Month=-1;Day=400]",
    "[Year=900;Month=1;Day=1]",
    "[Year=123456;Month=1;Day=1]",
    "[Year=2147483647;Month=1;Day=1]",
    "[Year=4294967297;Month=1;Day=1]",
    '[Year="2020";Month=true;Day=2.5]',
    "splitTime(relTime(90061))",
]
NUMBERS = [
    *("x / -1", "x / y", "x / (0 - 1)", "x % -1", "x * -1", "-x", "x - 1", "x / 1", "x / -1.0"),
    *("5 / -1", "pow(-0.0,-1)", "pow(-0.0,-2)", "pow(0.0,-3)", "pow(-0.0,-2.5)", "pow(0,-1)"),
    *("quantize(17,{ true,absTime(5) })", 'quantize(0,{ "1","b" })', 'quantize(9,{ "1","b" })'),
    *("quantize(relTime(9),{ 1,2.5,true })", 'quantize("3",{ false,"7 and" })', "quantize(x,-1)"),
    *("quantize(1,{ undefined })", "quantize(1,{ 0,error })", "quantize(9,{ 1,{ 5 } })"),
]

for moment in MOMENTS:
    ad = classad2.ClassAd({"t": moment})
    for text in (f'formatTime(t,"{TEMPLATE}")', "formatTime(t)", "splitTime(t)"):
        print(moment, classad2.ExprTree(text).simplify(ad))
    print(moment, classad2.ExprTree(f'formatTime(splitTime(t),"{TEMPLATE}")').eval(ad))
for ad in ADS:
    print(ad, classad2.ExprTree(f'formatTime({ad},"{TEMPLATE}")').eval())
edge = classad2.ClassAd("[x = -9223372036854775808; y = -1]")
for text in NUMBERS:
    print(text, "is", repr(classad2.ExprTree(text).eval(edge)))

names = classad2.ClassAd(
    "[A=1; F=[x=1;y=parent.A;z=zz]; t1=TARGET.a.b; t2=nosuch.a.b; t3=.zz; t4=OTHER.x; t5=MY.zz;"
    "t6=MY.zz.q; t7=parent.x.y; t8=F.b; u1='q w'; u2=parent.'r s'; u3=TARGET.'r s'; u4={ F };"
    "u5=LEFT.a; u6=.LEFT.a; v5=Target.Foo+TARGET.foo+foo+FOO; v6=target.a.b+b; v7=t1]"
)
for name in sorted(names):
    asked = [f"unresolved({name})", f'unresolved({name},"^(b|a)$")']
    print(name, *(classad2.ExprTree(text).eval(names) for text in asked), sep=" | ")
