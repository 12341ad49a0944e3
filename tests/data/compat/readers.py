# Ads out of texts and files.
try:  # With this module loaded the wheel evaluates as the daemons do; without, as strict ads.
    import htcondor2
except ImportError:
    pass

import io
import os
import tempfile

from classad2 import ClassAdException, Parser, ParserType, parseAds, parseNext, parseOne


def show(what):
    try:
        print(repr(what()))
    except Exception as error:
        print("!", type(error).__name__, error)


OLD = 'a=1\nb = "x\\y"\n\nc=3\nD = a + 1\n'
NEW = '[a=1;b="]"]\n[c={1,2};d=[e=1]]\n'
for text in [
    OLD,
    NEW,
    "",
    "\n\n",
    "a=1",
    "[a=1]",
    "[a=1][b=2]",
    "[a=1] // c\n[b=2]",
    "// x\n[a=1]",
    "/* x */ [a=1]",
    "a=1\r\n\r\nb=2\r\n",
    "a=1\n   \nb=2",
    "a=1\n\n\n\nb=2\n\n\n",
    "# c\na=1\n",
    "a=1\nxx\nb=2\n\nc=3",
    "a=1 2\nb=2",
    "[a=1][b=2",
    "garbage",
    "x==1\nb=2",
    "a=\nb=2",
    "  a = 1  \nb=2",
    "a=1\nA=2\n",
    "[a=1;A=2]",
    'a="é"\n\nb=2\n',
    "a=1\n*** x\nb=2\n",
]:
    print("#", repr(text))
    show(lambda: list(parseAds(text)))
    show(lambda: parseOne(text))
    show(lambda: parseNext(text))
show(lambda: list(parseAds(OLD, Parser.Old)))
show(lambda: list(parseAds(NEW, ParserType.New)))
show(lambda: list(parseAds(OLD, ParserType.New)))
show(lambda: parseNext("[a=1]", Parser.Old))
show(lambda: list(parseAds('{"a":1}\n{"b":[2,null]}', Parser.JSON)))
show(lambda: parseOne('{"a":1}', Parser.JSON))
show(lambda: parseNext('<classads><c><a n="a"><i>1</i></a></c></classads>', Parser.XML))
for text in [
    OLD,
    NEW,
    '[a=1]\n[b="é"]\n[c=1]',
    'a="é"\n\nb=2\n',
    "a=1\n\n\n\nb=2\n\n\n",
    "[a=1]\n\n",
]:
    file = io.StringIO(text)
    for ad in parseAds(file):
        print(repr(ad), file.tell())
    print(file.tell())
    print(repr(parseOne(io.StringIO(text))))
    show(lambda: parseNext(io.StringIO(text)))
show(lambda: parseOne(["a=1"]))
show(lambda: list(parseAds(["a=1"])))


class Unwindable(io.StringIO):
    def tell(self):
        raise io.UnsupportedOperation("tell")


show(lambda: parseNext(Unwindable("a=1")))
for text, parser in [
    (OLD, Parser.Auto),
    (OLD, Parser.Old),
    (NEW.strip(), Parser.Auto),
    (NEW.strip(), Parser.New),
    ("[a=1] [b=2]", Parser.Auto),
]:
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.flush()
        os.lseek(file.fileno(), 0, 0)
        file.seek(0)
        for _ in range(3):
            show(lambda: parseNext(file, parser))
for text, parser in [(OLD, Parser.Old), (NEW.strip(), Parser.New)]:
    with tempfile.TemporaryFile("w+") as file:
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        with os.fdopen(reading) as pipe:
            show(lambda: parseNext(pipe))
            for _ in range(3):
                show(lambda: parseNext(pipe, parser))
print(
    issubclass(ClassAdException, Exception),
    issubclass(ClassAdException, ValueError),
    Parser is ParserType,
    list(Parser),
)
