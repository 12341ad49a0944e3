"""What the campaign of bytes from nobody tries of this room: the reader of print-format files.

It lies above the campaign, which is told of it by its option --with.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.testing.fuzz.decoder import Decoder
from kettle.testing.fuzz.decoders import add_row
from kettle.testing.fuzz.languages.print_formats import PRINT_FORMATS
from kettle.tools.printing.print_format import parse_print_format

_PRINT_FORMAT = (
    b"SELECT NOSUMMARY FROM AUTOCLUSTER\n  ClusterId AS ID PRINTF %5d\n"
    b'  Owner AS "the owner" WIDTH AUTO OR ??\n  JobStatus PRINTAS JOB_STATUS\n'
    b"WHERE JobStatus == 2\nGROUP BY Owner DESCENDING\nSUMMARY STANDARD\n"
)


def _read_print_format(data: bytes) -> None:
    found = parse_print_format(data.decode("utf-8", "surrogateescape"), {})
    found.names()
    found.mask.render_headings()
    found.mask.render(ClassAd({"a": 1, "B": "text", "JobStatus": 2}))


add_row(Decoder("print-formats", _read_print_format, (_PRINT_FORMAT,), (PRINT_FORMATS,)))
