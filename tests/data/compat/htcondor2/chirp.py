"""Chirp: what is sent for each call, and what is made of each answer.

The server is one of this script's: it writes down what it hears and answers from a table.
"""

import os
import re
import shlex
import shutil
import socket
import tempfile
import threading
from pathlib import Path

from htcondor2.htchirp import HTChirp, condor_chirp

STAT = b"1 2 33188 1 1000 100 0 11 4096 8 86400 86401 86402\n"
ANSWERS = {
    "cookie": b"0\n",
    "get_job_attr": b'6\n"text"',
    "get_job_attr_delayed": b"9\nUNDEFINED",
    "getfile": b"11\nsome\nbytes\x00",
    "open": b"5\n" + STAT,
    "read": b"4\n\x00\xffab",
    "pread": b"2\nab",
    "sread": b"3\nabc",
    "whoami": b"2\nme",
    "whoareyou": b"4\nthem",
    "getdir": b"9\na\nb c\nd\n\n",
    "getlongdir": b"%d\na\n%sb\n%s" % (4 + 2 * len(STAT), STAT, STAT),
    "readlink": b"6\ntarget",
    "stat": b"0\n" + STAT,
    "lstat": b"0\n" + STAT,
    "statfs": b"0\n1 2 3 4 5 6 7\n",
}
DATA = {"write": 2, "pwrite": 2, "swrite": 2, "putfile": 3}
FAILURES = [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -99, -127]


def serve(listener, heard):
    while True:
        connection, _ = listener.accept()
        stream = connection.makefile("rwb")
        for line in stream:
            words = re.split(r"(?<!\\) ", line.decode().rstrip("\n"))
            command = words[0]
            if command == "open":
                line = " ".join([*words[:2], "".join(sorted(words[2])), words[3]]).encode()
            if command != "cookie":
                heard.append(line)
            if command in DATA:
                length = int(words[DATA[command]])
                if command == "putfile":
                    stream.write(b"0\n")
                    stream.flush()
                heard.append(stream.read(length))
                stream.write(b"%d\n" % length)
            elif command == "unlink" and words[1].startswith("fails"):
                stream.write(words[1][5:].encode() + b"\n")
            elif command == "cookie" and words[1] != "secret":
                stream.write(b"-1\n")
            else:
                stream.write(ANSWERS.get(command, b"0\n"))
            stream.flush()
        connection.close()


heard = []
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
threading.Thread(target=serve, args=(listener, heard), daemon=True).start()
folder = Path(tempfile.mkdtemp())
os.chdir(folder)


def shown(value):
    return repr(value).replace(str(port), "PORT")


def tried(name, call, *given, **named):
    del heard[:]
    try:
        print(name, "->", shown(call(*given, **named)))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__[:-3]]
        print(name, "->", *kinds)
    for line in heard:
        print("   ", line)


tried("nowhere", HTChirp)
Path("config").write_text(f"127.0.0.1 {port} secret\n")
os.environ["_CONDOR_CHIRP_CONFIG"] = str(folder / "config")
tried("found", HTChirp)
tried("named", HTChirp, "127.0.0.1", str(port), cookie="secret", timeout=5)
tried("wrong cookie", HTChirp, "127.0.0.1", port, cookie="wrong")
tried("no such way", HTChirp, auth=["smoke"])
chirp = HTChirp()
print(chirp.is_connected(), chirp.authentication, chirp.host, chirp.timeout, chirp.cookie)
tried("not connected", chirp.ulog, "text")
chirp.connect()
print(chirp.is_connected())
Path("local").write_bytes(b"what is here")
tried("get_job_attr", chirp.get_job_attr, "A b")
tried("get_job_attr_delayed", chirp.get_job_attr_delayed, "ChirpA")
tried("set_job_attr", chirp.set_job_attr, "A", 'strcat("a b", "\\\\", "\t")')
tried("set_job_attr_delayed", chirp.set_job_attr_delayed, "ChirpA", "1 + 2")
tried("ulog", chirp.ulog, "two words")
tried("fetch", chirp.fetch, "/there/a file", "fetched")
print(Path("fetched").read_bytes())
tried("getfile", chirp.getfile, "/there", "got")
tried("put", chirp.put, "local", "/there/x y")
tried("put with bits", chirp.put, "local", "/there", None, 0o640)
tried("put with flags", chirp.put, "local", "/there", "wa")
tried("put that cannot write", chirp.put, "local", "/there", "r")
tried("putfile", chirp.putfile, "local", "/there", mode=0)
tried("put nothing there", chirp.put, "nothing", "/there")
tried("read", chirp.read, "/there", 10)
tried("read from", chirp.read, "/there", 10, 3)
tried("read pieces", chirp.read, "/there", 10, stride_length=2, stride_skip=4)
tried("read pieces from", chirp.read, "/there", 10, 1, 2, 4)
tried("write", chirp.write, b"some data", "/there")
tried("write some", chirp.write, b"some data", "/there", "w", 0o600, 4)
tried("write at", chirp.write, b"some data", "/there", offset=7)
tried("write pieces", chirp.write, b"some data", "/there", stride_length=1, stride_skip=2)
tried("write with other flags", chirp.write, b"some data", "/there", "q")
tried("rename", chirp.rename, "a b", "c\\d")
tried("unlink", chirp.unlink, "a")
tried("remove", chirp.remove, "a")
tried("rmdir", chirp.rmdir, "a")
tried("rmdir with all", chirp.rmdir, "a", True)
tried("rmall", chirp.rmall, "a")
tried("mkdir", chirp.mkdir, "a")
tried("mkdir with bits", chirp.mkdir, "a", 0o700)
tried("getdir", chirp.getdir, "a")
tried("getdir with facts", chirp.getdir, "a", True)
tried("getlongdir", chirp.getlongdir, "a")
tried("whoami", chirp.whoami)
tried("whoareyou", chirp.whoareyou, "host")
tried("link", chirp.link, "a", "b")
tried("link with a name", chirp.link, "a", "b", symbolic=True)
tried("symlink", chirp.symlink, "a", "b")
tried("readlink", chirp.readlink, "a")
tried("stat", chirp.stat, "a")
tried("lstat", chirp.lstat, "a")
tried("statfs", chirp.statfs, "a")
tried("access", chirp.access, "a", "rwx")
tried("access that is none", chirp.access, "a", "q")
tried("is there", chirp.access, "a", "f")
tried("chmod", chirp.chmod, "a", 0o644)
tried("chown", chirp.chown, "a", 1, 2)
tried("lchown", chirp.lchown, "a", "1", "2")
tried("truncate", chirp.truncate, "a", 7)
tried("utime", chirp.utime, "a", 1, 2)
tried("too long", chirp.ulog, "x" * 6000)
for number in FAILURES:
    tried(f"fails with {number}", chirp.unlink, f"fails{number}")
print(shown(chirp))
chirp.disconnect()
print(chirp.is_connected())
with HTChirp() as other:
    print(other.is_connected())
print(other.is_connected())
print(HTChirp.CHIRP_LINE_MAX, HTChirp.CHIRP_VERSION, oct(HTChirp.DEFAULT_MODE))
print(HTChirp.CHIRP_AUTH_METHODS, issubclass(HTChirp.NotDir, HTChirp.ChirpError))

print("== as a command")
os.environ["TZ"] = "UTC"
for line in (
    "ulog 'two words'",
    "fetch a b",
    "put -mode wa local there",
    "put -perm 640 local there",
    "put local there",
    "remove a",
    "get_job_attr A",
    "set_job_attr A 1",
    "set_job_attr_delayed ChirpA '1 + 2'",
    "read there 4",
    "read -offset 3 there 4",
    "read -offset 3 -stride 1 2 there 4",
    "getdir a",
    "getdir -l a",
    "rmdir a",
    "rmdir -r a",
    "whoami",
    "whoareyou host",
    "link a b",
    "link -s a b",
    "stat a",
    "lstat a",
    "statfs a",
    "access a rw",
    "chmod a 644",
    "chown a 1 2",
    "truncate a 10",
    "utime a 1 2",
    "remove fails-3",
    "nothing",
    "",
):
    tried(line, condor_chirp, line)
    if line and "nothing" not in line and "fails" not in line and "read" not in line:
        tried(f"{line}, printed", condor_chirp, shlex.split(line), True)
tried("a list", condor_chirp, ["ulog", "two words"], return_exit_code=True)
os.chdir("/")
shutil.rmtree(folder)
