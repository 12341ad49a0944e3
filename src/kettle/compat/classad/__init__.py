"""The wheel's `classad` of version 1 (24) by the same names, upon `kettle.compat.classad2`.

from kettle.compat import classad
ad = classad.ClassAd({"Cpus": 4, "Twice": classad.Attribute("Cpus") * 2})
ad.eval("Twice")
"""

from __future__ import annotations

from kettle.attributes.version import VERSION
from kettle.compat.classad.ads import ClassAd, ExprTree
from kettle.compat.classad.building import Attribute, Function, Literal
from kettle.compat.classad.names import (
    ClassAdEnumError,
    ClassAdEvaluationError,
    ClassAdInternalError,
    ClassAdOSError,
    ClassAdParseError,
    ClassAdTypeError,
    ClassAdValueError,
    Parser,
    Value,
)
from kettle.compat.classad.readers import (
    parse,
    parseAds,
    parseNext,
    parseOld,
    parseOldAds,
    parseOne,
    quote,
    unquote,
)
from kettle.compat.classad.registered import register, registerLibrary
from kettle.compat.classad2 import ClassAdException, lastError, version

__version__ = VERSION

__all__ = [
    "Attribute",
    "ClassAd",
    "ClassAdEnumError",
    "ClassAdEvaluationError",
    "ClassAdException",
    "ClassAdInternalError",
    "ClassAdOSError",
    "ClassAdParseError",
    "ClassAdTypeError",
    "ClassAdValueError",
    "ExprTree",
    "Function",
    "Literal",
    "Parser",
    "Value",
    "lastError",
    "parse",
    "parseAds",
    "parseNext",
    "parseOld",
    "parseOldAds",
    "parseOne",
    "quote",
    "register",
    "registerLibrary",
    "unquote",
    "version",
]
