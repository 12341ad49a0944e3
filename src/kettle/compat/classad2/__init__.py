"""The wheel's `classad2` by the same names: ads and expressions in Python.

from kettle.compat import classad2
ad = classad2.ClassAd({"Cpus": 4})
classad2.ExprTree("Cpus * 2").eval(ad)

Compat: expressions always mean what they mean to daemons. The wheel's do so once `htcondor2` was
imported or an ad in old syntax was read; before, `MY.a` is undefined and functions of HTCondor's
own are errors. Shown by test_an_expression_means_the_same_whatever_was_imported.
"""

from __future__ import annotations

from kettle.attributes.version import VERSION
from kettle.classad.context import AMBIENT
from kettle.compat.classad2.ads import ClassAd, ExprTree
from kettle.compat.classad2.names import ClassAdException, ParserType, Value, lastError
from kettle.compat.classad2.readers import parseAds, parseNext, parseOne, quote, unquote

# As version 1 has it.
Parser = ParserType

__all__ = [
    "ClassAd",
    "ClassAdException",
    "ExprTree",
    "Parser",
    "ParserType",
    "Value",
    "lastError",
    "parseAds",
    "parseNext",
    "parseOne",
    "quote",
    "unquote",
    "version",
]


def _bound_patterns() -> None:
    """Let no pattern take more time than in daemons, where the first is searched for."""
    from kettle.runtime import pattern_limit

    pattern_limit.install_in_library()


if AMBIENT.install_bound is None:
    AMBIENT.install_bound = _bound_patterns


def version() -> str:
    """Return the version of HTCondor whose language this is."""
    return VERSION
