"""`$F…()`, `$BASENAME()` and `$DIRNAME()`: what the reference makes of paths."""

from __future__ import annotations

import pytest

from kettle.config import Config

# As `condor_config_val` of 25.14.1 prints them; the one with five d it does not survive.
RECORDED = [
    ("$Fdd(/a/b/c/d.e)", "b/c/"),
    ("$Fddn(/a/b/c/d.e)", "b/c/d"),
    ("$Fpd(/a/b/c/d.e)", "c/"),
    ("$Fdx(/a/b/c/d.e)", "c/d.e"),
    ("$FDNX(/a/b/c/d.e)", "c/d.e"),
    ("$Fpx(/a/b/c/d.e)", "/a/b/c/d.e"),
    ("$Fdb(/a/b/c/d.e)", "c"),
    ("$Fddddd(/a/b/c/d.e)", "/a/b/c/"),
    ("$Fd(d.e)", ""),
    ("$Fq(d.e)", '"d.e"'),
    ('$Fnq("/a/b c/d.e")', '"d"'),
    ('$F("/a/b c/d.e")', "/a/b c/d.e"),
    ("$Fn('/a/b c/d.e')", "d"),
    ("$Foo(d.e)", "$Foo(d.e)"),
    ("$Fz(d.e)", "$Fz(d.e)"),
    ("$fn(d.e)", "$fn(d.e)"),
    ("$BASENAME(/a/b.TXT,.txt)", "b"),
    ("$BASENAME(/a/b.tar.gz,.tar.gz)", "b"),
    ("$BASENAME(/a/b.txt)", "b.txt"),
    ("$BASENAME(/a/b,c,.txt)", "b,c"),
    ("$DIRNAME(/a/b.txt)", "/a/"),
    ("$Fnb(/a/.b.txt)", ".b"),
    ("$Fxb(/a/b.txt)", "txt"),
    ("$Fnxb(/a/.b.txt)", ".b.txt"),
    ("$Fb(.abc)", ".abc"),
    ("$Fb(/a/b/)", "/a/b/"),
    ("$Fnx(/a/b/)", ""),
    ("$Fxn(b)", "b"),
    ("$Fw(/a/b)", "\\a\\b"),
    ("$Fdw(/a/b/c)", ""),
    ("$Fuq(\\a\\b)", '"/a/b"'),
    ("$Fqp(foo.txt)", '"'),
    ("x$Fqp(foo.txt)y", 'x"y'),
    ("$Fqx(dir/foo)", '"'),
    ("$Fqax(foo)", "'"),
    ("$Fqnx(/)", '"'),
    ("$Fqdx(foo)", '"'),
    ("$Fqd(foo)", '""'),
    ("$Fqpd(foo)", '""'),
    ("$Fqda(foo)", "''"),
    ("$Fqn()", '""'),
    ("$Fq()", '""'),
    ("$Fa()", ""),
    ("$Fnx(\\a\\b)", "\\a\\b"),
]


@pytest.mark.parametrize(("text", "expected"), RECORDED)
def test_parts_of_paths(text: str, expected: str) -> None:
    assert (Config.from_text(f"X = {text}\n").get("X") or "") == expected
