"""Numbers as C prints them: recorded of glibc's snprintf(), and beside that of this machine."""

from __future__ import annotations

import ctypes
import platform
from math import inf, nan

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kettle.config.c_format import is_integer_format, is_real_format, render

# Recorded from glibc 2.36; condor_config_val of 25.14.1 prints the same.
_WHOLE: list[tuple[str, int, str]] = [
    ("%d", -5, "-5"),
    ("%5d", -5, "   -5"),
    ("%-5d|", -5, "-5   |"),
    ("%05d", -5, "-0005"),
    ("%-05d|", -5, "-5   |"),
    ("%+d", 5, "+5"),
    ("% d", 5, " 5"),
    ("%+ d", 5, "+5"),
    ("%.3d", -5, "-005"),
    ("%05.3d", -5, " -005"),
    ("%.0d", 0, ""),
    ("%+.0d", 0, "+"),
    ("%4.d", 0, "    "),
    ("%'d", 1234567, "1234567"),
    ("%+x", -5, "fffffffb"),
    ("% u", -5, "4294967291"),
    ("%+o", 8, "10"),
    ("%x", -5, "fffffffb"),
    ("%hx", -5, "fffb"),
    ("%hhu", -5, "251"),
    ("%lX", -5, "FFFFFFFFFFFFFFFB"),
    ("%qd", -(1 << 63), "-9223372036854775808"),
    ("%Ld", 1 << 40, "1099511627776"),
    ("%hhd", 200, "-56"),
    ("%hd", 40000, "-25536"),
    ("%d", 1 << 31, "-2147483648"),
    ("%#x", 0, "0"),
    ("%#x", 255, "0xff"),
    ("%#X", 255, "0XFF"),
    ("%#06x", 255, "0x00ff"),
    ("%#8x", 255, "    0xff"),
    ("%#.4x", 255, "0x00ff"),
    ("%.0x", 0, ""),
    ("%#.0x", 0, ""),
    ("%#o", 0, "0"),
    ("%#o", 8, "010"),
    ("%#05o", 8, "00010"),
    ("%#.0o", 0, "0"),
    ("%#.4o", 8, "0010"),
    ("%c", 65, "A"),
    ("%3c|", 65, "  A|"),
    ("%-3c|", 65, "A  |"),
    ("%03c|", 65, "  A|"),
    ("%c|", 0, ""),
    ("<%3c|", 0, "<  "),
    ("%c", 200, "\udcc8"),
    ("%5i%%", 7, "    7%"),
]
_REAL: list[tuple[str, float, str]] = [
    ("%.3a", 0.1, "0x1.99ap-4"),
    ("%a", 0.1, "0x1.999999999999ap-4"),
    ("%a", 1.0, "0x1p+0"),
    ("%+a", 1.5, "+0x1.8p+0"),
    ("% a", 1.5, " 0x1.8p+0"),
    ("%a", 0.0, "0x0p+0"),
    ("%a", -0.0, "-0x0p+0"),
    ("%.0a", 1.5, "0x2p+0"),
    ("%.0a", 2.5, "0x1p+1"),
    ("%#.0a", 1.0, "0x1.p+0"),
    ("%.15a", 0.1, "0x1.999999999999a00p-4"),
    ("%.1a", 255.96875, "0x2.0p+7"),
    ("%A", -0.1, "-0X1.999999999999AP-4"),
    ("%12a|", 1.5, "    0x1.8p+0|"),
    ("%012a", 1.5, "0x00001.8p+0"),
    ("%-12a|", 1.5, "0x1.8p+0    |"),
    ("%#a", 1.0, "0x1.p+0"),
    ("%a", 5e-324, "0x0.0000000000001p-1022"),
    ("%.2a", 5e-324, "0x0.00p-1022"),
    ("%05f", inf, "  inf"),
    ("%05f", -inf, " -inf"),
    ("%+f", inf, "+inf"),
    ("%F", inf, "INF"),
    ("%-6fx", inf, "inf   x"),
    ("%06g", nan, "   nan"),
    ("%+a", inf, "+inf"),
    ("%f", -nan, "-nan"),
    ("%+.3e", 1.5, "+1.500e+00"),
    ("%.0e", 2.5, "2e+00"),
    ("%#.0e", 2.5, "2.e+00"),
    ("%E", 1e300, "1.000000E+300"),
    ("%.0f", 2.5, "2"),
    ("%.0f", 3.5, "4"),
    ("%#.0f", 3.0, "3."),
    ("%.3f", -0.0005, "-0.001"),
    ("%+08.2f", 3.14159, "+0003.14"),
    ("% f", 1.0, " 1.000000"),
    ("%.20f", 0.1, "0.10000000000000000555"),
    ("%g", 0.1, "0.1"),
    ("%g", 1000000.0, "1e+06"),
    ("%g", 100000.0, "100000"),
    ("%g", 1e-05, "1e-05"),
    ("%g", 0.0001, "0.0001"),
    ("%#g", 1.0, "1.00000"),
    ("%.3g", 1234.5, "1.23e+03"),
    ("%.0g", 1.5, "2"),
    ("%.10g", 1 / 3, "0.3333333333"),
    ("%G", 1e-10, "1E-10"),
    ("%#.3g", 1.0, "1.00"),
    ("%010g", -2.5, "-0000002.5"),
    ("%le", 1.0, "1.000000e+00"),
    ("%.4gx%%", 0.5, "0.5x%"),
]

_FLAGS = st.text("-+ #0'", max_size=4)
_WIDTHS = st.sampled_from(["", "1", "5", "12", "60"])
_PRECISIONS = st.sampled_from(["", ".", ".0", ".1", ".3", ".12", ".13", ".14", ".60"])
# `q` and `L` of a whole number are recorded only: once a library (libquadmath, with NumPy) has
# given printf conversions of its own, glibc takes those two for nothing.
_LENGTHS = st.sampled_from(["", "h", "hh", "l", "ll", "j", "z", "t"])
_NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from([0, 1, -1, 8, 1 << 31, 1 << 32])
_REALS = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.5, 2.5, 1e6, 9.9999e-5, 5e-324, -nan])


@pytest.mark.parametrize(("format_text", "number", "shown"), _WHOLE)
def test_a_whole_number_is_shown_as_c_shows_it(format_text: str, number: int, shown: str) -> None:
    assert is_integer_format(format_text)
    assert render(format_text, number) == shown


@pytest.mark.parametrize(("format_text", "number", "shown"), _REAL)
def test_a_real_number_is_shown_as_c_shows_it(format_text: str, number: float, shown: str) -> None:
    assert is_real_format(format_text)
    assert render(format_text, number) == shown


def in_c(format_text: str, number: ctypes.c_double | ctypes.c_longlong) -> str:
    """What the C library of this machine prints."""
    if platform.libc_ver()[0] != "glibc":
        pytest.skip(
            "there is no glibc here to compare with; the recorded texts are compared anywhere"
        )
    room = ctypes.create_string_buffer(1024)
    snprintf = ctypes.CDLL("libc.so.6").snprintf
    assert snprintf(room, ctypes.c_size_t(len(room)), format_text.encode(), number) < len(room)
    return room.value.decode("utf-8", "surrogateescape")


@given(_FLAGS, _WIDTHS, _PRECISIONS, _LENGTHS, st.sampled_from("dixXouc"), _NUMBERS)
@example("+", "", "", "", "x", 5)
@example("", "5", ".0", "", "d", 0)
def test_every_format_of_a_whole_number_is_as_beside_the_c_library(
    flags: str, width: str, precision: str, length: str, letter: str, number: int
) -> None:
    # A letter of another length is one of the locale's.
    assume(letter != "c" or not length)
    format_text = f"<%{flags}{width}{precision}{length}{letter}>"
    assert is_integer_format(format_text)
    assert render(format_text, number) == in_c(format_text, ctypes.c_longlong(number))


@given(_FLAGS, _WIDTHS, _PRECISIONS, st.sampled_from("eEfFgGaA"), _REALS)
@example("0", "12", "", "a", 1.5)
@example("0", "5", "", "f", inf)
def test_every_format_of_a_real_number_is_as_beside_the_c_library(
    flags: str, width: str, precision: str, letter: str, number: float
) -> None:
    format_text = f"<%{flags}{width}{precision}{letter}>"
    assert is_real_format(format_text)
    assert render(format_text, number) == in_c(format_text, ctypes.c_double(number))


@pytest.mark.parametrize(
    "format_text", ["%p", "%n", "%*d", "%d %d", "%", "%5%", "%.-5d", "%12345d"]
)
def test_what_takes_more_than_the_number_is_no_format(format_text: str) -> None:
    assert not is_integer_format(format_text)
    assert not is_real_format(format_text)


def test_a_long_double_is_no_real_number() -> None:
    assert not is_real_format("%Lf")
