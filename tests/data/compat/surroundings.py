"""What lies around an ad, alone and in a match: PARENT, TOPLEVEL, `.name` and what is there."""

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import ClassAd, ExprTree

LEFT = """[a = 1; rank = 5; requirements = target.a == 10; l = lctx.my.a;
    n = [b = 2; x = parent.a; y = .a; z = toplevel.left.a; pp = parent.parent; q = [r = parent.b; s = root.right.a]]]"""
RIGHT = """[a = 10; rank = 7; requirements = parent.target.a == 2; m = ad.a; onlyright = 1;
    n = [b = 20; x = parent.a; y = .left.a; t = TARGET.a]]"""
TEXTS = """parent ~ toplevel ~ root ~ self.a ~ my.a ~ ad ~ ad.a ~ left.a ~ right.a ~ lctx ~ rctx ~ .my ~ .a ~ .left.a ~ .right.n.x
 ~ .parent ~ .target ~ .lctx.target.a ~ .rctx.my.a ~ .left.target.a ~ .right.other.a ~ .onlyright ~ .zzz ~ parent.parent ~ parent.ad.a
 ~ parent.other.a ~ parent.left.a ~ parent.zzz ~ parent.parent.left.a ~ toplevel.toplevel.right.a ~ toplevel.other ~ self.parent.my.a
 ~ target.parent.my.a ~ target.parent.target.a ~ target.ad.a ~ target.self.a ~ target.toplevel.left.a ~ target.m ~ target.n.t
 ~ n.x ~ n.y ~ n.z ~ n.pp ~ n.q.r ~ n.q.s ~ target.n.x ~ target.n.y ~ l ~ m ~ leftrankvalue ~ rightrankvalue ~ symmetricmatch
 ~ leftmatchesright ~ rightmatchesleft ~ .leftrankvalue ~ parent.rightrankvalue ~ [e = 1; f = parent.a].f ~ [e = 1; f = .e].f
 ~ [e = 1; f = .left.a].f ~ [e = 1; f = toplevel.e].f ~ [f = [g = parent.h]; h = 4].f.g ~ {.left.a, parent.my.a}[1] ~ {.a}
 ~ isUndefined(parent) ~ isUndefined(root) ~ isUndefined(target) ~ isError(.a) ~ true || .a ~ .a || true ~ .CurrentTime > 0"""


def attempt(what, *given):
    try:
        return repr(what(*given))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for text in TEXTS.split(" ~ "):
    tree = ExprTree(text)
    left, right = ClassAd(LEFT), ClassAd(RIGHT)
    print(text)
    for scopes in ((), (left,), (left, right), (right, left), (None, right)):
        print("   ", attempt(tree.eval, *scopes), "|", attempt(tree.simplify, *scopes))
    left["requirements"] = right["here"] = tree
    print("   ", left.matches(right), right.matches(left), attempt(ExprTree("target.here").eval, left, right))
for text in ("self.self", "my.my", "toplevel.root", "self.n", "parent", ".self", "[a = self].a", "n.self.b"):
    tree, circle, line = ExprTree(text), ClassAd("[a = b; b = a; n = [b = c]]"), ClassAd("[a = b; n = [b = c]]")
    for ad in (circle, line):
        print(text, attempt(ad.externalRefs, tree), attempt(ad.internalRefs, tree), attempt(ad.flatten, tree))
