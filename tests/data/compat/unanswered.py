"""What references have no answer: circles, and selections from what is no ad."""

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import ClassAd, ExprTree


def attempt(what, *given):
    try:
        found = what(*given)
    except Exception as error:
        # Each says it in its own words.
        print("raises", *(one.__name__ for one in type(error).__mro__[:-3]))
    else:
        print(sorted(found) if isinstance(found, list) else repr(found))


CIRCLES = ClassAd(
    """[a = a; b = c + x; c = b; d = a is undefined; e = a ?: 1; f = ifThenElse(true, 1, a);
    g = true || a; l = {a}; n = [x = a; y = n.y; z = 1]; p = n.z; k = [m = k; o = 1];
    s = strcat("x", a); r = size(l)]"""
)
SELECTIONS = ClassAd(
    """[a = b; b = [x = 1; y = z; w = g; q = b]; g = 5; s = "t"; i = 1; nn = nothere; v = s.x;
    la = {[x = 1; y = k], [x = 2; y = g]}; f = ifThenElse(true, b, 1); l3 = {g, b, s.x}; e = error]"""
)
for ad, texts in (
    (
        CIRCLES,
        "a ~ b ~ a + 1 ~ x + a ~ d ~ e ~ f ~ g ~ l ~ n ~ n.x ~ n.y ~ n.z ~ p ~ k ~ k.m ~ k.o ~ k.m.o ~ s ~ r ~ MY.a ~ a.x ~ a.x.y ~ MY.d ~ [j = a]"
        " ~ a ?: 1 ~ a ? 1 : 2 ~ true ? 1 : a ~ false ? 1 : a ~ true || a ~ d && x ~ f + x ~ sum(l) ~ unparse(a) ~ l[0].x"
        ' ~ [j = 1; m = a].j ~ ifThenElse(false, a, 1) ~ isUndefined(a) ~ n["y"] ~ countMatches(y, {n})',
    ),
    (
        SELECTIONS,
        "a.x ~ a.y ~ a.w ~ a.g ~ a.zz ~ b.q.x ~ f.y ~ f.zz ~ g.x ~ s.x ~ (s).x ~ e.x ~ nn.x ~ nn.x.y ~ la.x ~ la[0].x ~ la[0].y ~ la[1].y"
        ' ~ la[i].x ~ la[i - 1].y ~ (la[0]).y ~ la[0].g ~ la[0].zz ~ la[nn].x ~ la[7].x ~ la["x"].y ~ nn[0].x ~ l3[1].x ~ v'
        " ~ MY.la[0].y ~ (true ? b : 1).y ~ ifThenElse(true, b, 1).zz ~ true || s.x ~ [j = s.x] ~ undefined.x"
        ' ~ error.x ~ "x".y ~ (1 / 0).x ~ {[x = 1]}.x ~ time().x ~ b["y"].x ~ f(s.x) ~ unresolved(v)',
    ),
):
    for text in texts.split(" ~ "):
        print(text)
        tree = ExprTree(text)
        attempt(ad.externalRefs, tree)
        attempt(ad.internalRefs, tree)
        attempt(ad.flatten, tree)
        attempt(tree.eval, ad)
