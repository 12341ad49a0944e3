"""Streams with something wrong in them: what is skipped, what raises, where the next call goes on."""

import io
import tempfile

try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

from classad2 import Parser, parseAds, parseNext, parseOne

OLD = ("a", "a b", "a=", "=1", "a=1\nb", "b\na=1", "a=1\n***\nb=2\n\nc=3", "a = (\nb = 2", "# c\na=1", 'a="x\nb=2', "a=1;b=2")
OLD += ("a==1", "'a b' = 1", "1=2", "a.b=1", "a = b = c", "a=1\r\nb=2\r\n\r\nc=3", "a=1\n-\nb=2", "\n\n\n", "  ", "")
NEW = ("[a=1", "[a=1]\n[b=", "[a=1] [b=] [c=3]", "[a=1]\n[b=]\n[c=3]", '[a="x]', '[a="]"] [b=(] [c=3]', "/* x", "[a=1] /* x", "// c\n[a=1]")
NEW += ("[a=1] // c", "[a=1]]", "[a=1][b=2", "[a=1]\n\n[b=2]", "[a=1] [b='] [c=3]")


def attempt(what, *given):
    try:
        found = what(*given)
        return repr(list(found) if hasattr(found, "__next__") else found)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def through_a_file(what, text):
    """Return what each call says, and where the file stands then."""
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.seek(0)
        return [(attempt(what, file), file.tell()) for _ in range(5)]


for text in OLD + NEW:
    print(repr(text))
    for what in (parseAds, parseOne, parseNext):
        print("   ", attempt(what, text), attempt(what, text, Parser.Old))
    print("   ", attempt(parseAds, io.StringIO(text)))
    print("   ", through_a_file(parseAds, text))
    print("   ", through_a_file(parseOne, text))
    if text.strip() or "\n" not in text:
        print("   ", through_a_file(parseNext, text))
