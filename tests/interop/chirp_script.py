"""What a job asks through chirp, word by word: a program of its own, run by any kind of starter.

Each request is followed by one whose answer is known, so that whatever the server says to the first
is caught, be it too little or too much. Numbers that differ from run to run (descriptors, inodes,
owners, times) are hidden; everything else is printed as it came. Plain Python, no library: also the
real HTCondor's machine runs it.
"""

from __future__ import annotations

import os
import re
import socket
import sys

SILENCE = 15.0
# The attribute that the job was submitted with.
MARK = b'"<<mark>>"'
END = b"%d\n%s" % (len(MARK), MARK)
# Which of the thirteen numbers of a stat line tell something: type and bits, links, size.
TOLD = (2, 3, 7)


class Chirp:
    """One connection to the starter."""

    def __init__(self) -> None:
        """Connect, and show the cookie."""
        with open(os.environ["_CONDOR_CHIRP_CONFIG"]) as file:
            host, port, cookie = file.read().split()
        self.socket = socket.create_connection((host, int(port)), timeout=SILENCE)
        self.say("cookie", f"cookie {cookie}")

    def ask(self, line: str, data: bytes = b"") -> bytes:
        """Send a request and return all that is said to it."""
        return self.send(line.encode() + b"\n" + data)

    def send(self, data: bytes) -> bytes:
        """Send something and return all that is said to it."""
        self.socket.sendall(data + b"get_job_attr ChirpTestMark\n")
        said = b""
        while not said.endswith(END):
            try:
                more = self.socket.recv(65536)
            except TimeoutError:
                return said + b"(silence)"
            if not more:
                return said + b"(the end)"
            said += more
        return said[: -len(END)]

    def say(self, name: str, line: str, data: bytes = b"") -> None:
        """Print what a request is answered."""
        print(f"{name}: {hidden(self.ask(line, data))!r}", flush=True)

    def open(self, path: str, letters: str, bits: int = 0o644) -> str:
        """Open a file and return its number."""
        said = self.ask(f"open {path} {letters} {bits}")
        number, _, rest = said.partition(b"\n")
        good = re.fullmatch(rb"\d+", number) is not None
        shown = b"(a number)\n" + hidden(rest) if good else said
        print(f"open {path} {letters}: {shown!r}", flush=True)
        return number.decode() if good else "999999"

    def facts(self, line: str, told: tuple[int, ...] = TOLD) -> None:
        """Print what a request is answered whose answer has numbers of no meaning here."""
        said = self.ask(line).split(b"\n")
        print(f"{line}: {[shown_facts(one, told) for one in said]}", flush=True)


def hidden(said: bytes) -> bytes:
    """Hide the numbers of a stat line."""
    return b"\n".join(shown_facts(line, TOLD) for line in said.split(b"\n"))


def shown_facts(line: bytes, told: tuple[int, ...]) -> bytes:
    """Return a line of numbers with those of no meaning hidden, any other as it is."""
    words = line.split(b" ")
    if len(words) not in {7, 13} or not all(re.fullmatch(rb"-?\d+", word) for word in words):
        return line
    return b" ".join(word if place in told else b"#" for place, word in enumerate(words))


def sorted_lines(said: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Return a listing in an order of its own: number, names, what closes it."""
    number, _, rest = said.partition(b"\n")
    body, closing = rest[:-1], rest[-1:]
    return number, sorted(body.split(b"\n")), closing


def names(chirp: Chirp) -> None:
    """Everything that is asked of a file by its name."""
    for verb in ("stat", "lstat"):
        for path in ("in.dat", "way", "sub", "nowhere", "closed/in"):
            if (verb, path) != ("lstat", "way"):
                chirp.facts(f"{verb} {path}")
    for path in (".", "nowhere", "in.dat"):
        chirp.facts(f"statfs {path}", ())
    print("lstat of a link is one:", int(chirp.ask("lstat way").split()[3]) & 0o170000 == 0o120000)
    for bits in (0, 1, 2, 4, 6):
        chirp.say(f"access {bits}", f"access in.dat {bits}")
    chirp.say("access of nothing", "access nowhere 0")
    for path, size in (("way", 100), ("way", 3), ("in.dat", 10), ("nowhere", 10)):
        chirp.say(f"readlink {path} {size}", f"readlink {path} {size}")
    for line in (
        "chmod in.dat 384", "chmod nowhere 384", "truncate cut.dat 4", "truncate nowhere 4",
        "utime in.dat 100000 200000", "utime nowhere 1 2", "link in.dat hard", "link in.dat hard",
        "link nowhere h", "symlink in.dat soft", "symlink in.dat soft", "symlink gone dangling",
        "rename hard harder", "rename nowhere h", "unlink harder", "unlink soft", "unlink nowhere",
        "unlink sub", "mkdir made 493", "mkdir made 493", "mkdir a/b/c 493", "rmdir sub",
        "rmdir nowhere", "rmdir in.dat", "rmdir made", "rmall nowhere", "unlink dangling",
        "chown in.dat -1 -1", "lchown in.dat -1 -1", "chown nowhere -1 -1", "rmall tree",
        "getfile nowhere", "getfile closed/in", "getfile in.dat", "getfile cut.dat",
    ):  # fmt: skip
        chirp.say(line, line)
    chirp.facts("stat in.dat")
    for path in (".", "sub", "empty"):
        print(f"getdir {path}: {sorted_lines(chirp.ask(f'getdir {path}'))}", flush=True)
        if path != ".":
            said = sorted_lines(hidden(chirp.ask(f"getlongdir {path}")))
            print(f"getlongdir {path}: {said[1:]}", flush=True)
    for verb in ("getdir", "getlongdir"):
        for path in ("nowhere", "in.dat", "closed"):
            chirp.say(f"{verb} {path}", f"{verb} {path}")


def put(chirp: Chirp, path: str, bits: int, data: bytes) -> None:
    """Write a whole file: what is answered, before the data and after."""
    chirp.socket.sendall(f"putfile {path} {bits} {len(data)}\n".encode())
    said = b""
    while not said.endswith(b"\n"):
        said += chirp.socket.recv(1)
    first = "refused" if said.startswith(b"-") else "go on"
    # A refused file is not sent, and one of no bytes has nothing to say any more.
    rest = chirp.send(b"" if said.startswith(b"-") else data)
    print(f"putfile {path} {bits}: {first} {rest!r}", flush=True)


def open_files(chirp: Chirp) -> None:
    """Everything that is asked of an open file."""
    chirp.open("nowhere", "r")
    chirp.open("closed/in", "r")
    chirp.open("in.dat", "wcx")
    number = chirp.open("in.dat", "r")
    for line in (
        f"read {number} 10", f"read {number} 100", f"read {number} 100", f"lseek {number} 3 0",
        f"read {number} 2", f"lseek {number} -2 2", f"lseek {number} 0 1", f"lseek {number} 0 9",
        f"pread {number} 5 20", f"pread {number} 5 26", f"sread {number} 6 1 2 5",
        f"fstat {number}", f"fsync {number}", f"write {number} 2\nxy",
    ):  # fmt: skip
        line, _, data = line.partition("\n")
        chirp.say(line.replace(number, "N", 1), line, data.encode())
    chirp.say("close", f"close {number}")
    chirp.say("close again", f"close {number}")
    chirp.say("read of nothing", "read 999998 5")
    number = chirp.open("out.dat", "wct", 0o640)
    for line in (
        f"write {number} 10\n0123456789", f"pwrite {number} 3 20\nabc",
        f"swrite {number} 4 1 2 3\nWXYZ", f"ftruncate {number} 22", f"fchmod {number} 416",
        f"fchown {number} -1 -1", f"read {number} 3", f"fstat {number}", f"close {number}",
    ):  # fmt: skip
        line, _, data = line.partition("\n")
        chirp.say(line.replace(number, "N", 1), line, data.encode())
    number = chirp.open("out.dat", "wa")
    chirp.say("append", f"write {number} 3", b"end")
    chirp.say("close", f"close {number}")
    chirp.say("what was written", "getfile out.dat")
    put(chirp, "put.dat", 0o600, b"p" * 1000)
    put(chirp, "put.dat", 0o600, b"short")
    put(chirp, "none.dat", 0o600, b"")
    chirp.facts("stat put.dat")
    chirp.facts("stat none.dat")
    chirp.say("what was put", "getfile put.dat")


def attributes(chirp: Chirp) -> None:
    """Attributes, the event log, and what there is no word for."""
    for line in (
        "get_job_attr ChirpTestNumber", "get_job_attr ChirpTestText", "get_job_attr NoSuchThing",
        "set_job_attr ChirpTestNew 1+2", 'set_job_attr ChirpTestText "it\\ is"',
        "get_job_attr ChirpTestNew", "get_job_attr ChirpTestText", "set_job_attr ChirpTestBad 1+",
        "set_job_attr_delayed ChirpStep 7", "get_job_attr_delayed ChirpStep",
        "get_job_attr_delayed ChirpNothing", "ulog said\\ by\\ the\\ job", "version",
        "whoareyou localhost 100", "whoami 3", "frobnicate", "open in.dat", "read",
    ):  # fmt: skip
        chirp.say(line, line)


def what_breaks_the_real_one(chirp: Chirp) -> None:
    """Ask what the real shadow and the real starter do not understand each other about."""
    put(chirp, "nowhere/f", 0o600, b"x")
    put(chirp, "closed/f", 0o600, b"x")


if __name__ == "__main__":
    one = Chirp()
    names(one)
    open_files(one)
    attributes(one)
    if sys.argv[1:] == ["all"]:
        what_breaks_the_real_one(one)
    one.say("at last", "access in.dat 0")
