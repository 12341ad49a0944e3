"""A pattern that would match for years ends in programs that use the bindings, too."""

from __future__ import annotations

import subprocess
import sys

SLOW = """\
import signal, threading
from kettle.compat import classad2
slow = classad2.ExprTree('regexp("(a+)+$", "' + 'a' * 40 + 'b")')
"""


def said_by(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SLOW + code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_a_slow_pattern_is_an_error_as_with_the_wheel() -> None:
    assert said_by("print(repr(slow.eval()))") == "<Value.Error: 1>\n"


def test_a_program_keeps_the_signal_that_it_uses_itself() -> None:
    code = """\
def own(number, frame): print("mine")
signal.signal(signal.SIGVTALRM, own)
quick = classad2.ExprTree('regexp("^(a*)*c", "aaaac")')
print(quick.eval())
print(signal.getsignal(signal.SIGVTALRM) is own)
"""
    assert said_by(code) == "True\nTrue\n"


def test_no_signal_ends_what_the_main_thread_does_while_another_searches() -> None:
    code = """\
search = classad2.ExprTree('regexp("^(a*)*c", "aaaac")')
found = []
thread = threading.Thread(target=lambda: found.append(search.eval()))
thread.start()
thread.join()
print(found, signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL)
"""
    assert said_by(code) == "[True] True\n"
