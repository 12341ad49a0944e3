"""The readers of the languages: expressions, ads, configuration, submit files, logs and the rest.

What is read is printed and read again, and has to be the same.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import re
from collections.abc import Callable, Iterator
from functools import partial

from kettle.classad import ClassAd, parse_ad, parse_ads, parse_expression, parse_old_ad, unparse
from kettle.classad.ad import to_expression
from kettle.classad.forms import FORMS, render_ads
from kettle.config import Config
from kettle.errors import KettleError
from kettle.records.accounting_log import replay as replay_accounting
from kettle.records.event_forms import read_event_ads
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_log import read_events
from kettle.records.history import read_backwards, read_forwards
from kettle.records.queue_log import replay as replay_queue
from kettle.submit.arguments import parse_environment, parse_old_arguments
from kettle.submit.build import read_submission
from kettle.submit.sources import MemorySubmitSources, SubmitFacts
from kettle.testing.fuzz.decoder import Decoder, LawError
from kettle.testing.fuzz.event_laws import YEAR, check_events
from kettle.testing.fuzz.languages.ads import JSON_ADS, NEW_ADS, OLD_ADS, XML_ADS
from kettle.testing.fuzz.languages.configuration import CONFIGURATION
from kettle.testing.fuzz.languages.event_logs import JSON_EVENTS, TEXT_EVENTS, XML_EVENTS
from kettle.testing.fuzz.languages.expressions import EXPRESSIONS
from kettle.testing.fuzz.languages.submit import SUBMIT
from kettle.testing.fuzz.languages.transforms import OLD_ROUTES, TRANSFORMS
from kettle.testing.fuzz.reads_back import reads_back
from kettle.transforms.convert import convert_route, read_defaults, split_routes
from kettle.transforms.editor import Journal
from kettle.transforms.iteration import read_iteration, rounds
from kettle.transforms.macros import TransformMacros
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import read_transform

# How many ads of one text are looked at.
_MOST_ADS = 100
# How many jobs of one description are looked at.
_MOST_JOBS = 20


class _Table:
    """What a log is replayed into: nothing."""

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Forget it."""

    def destroy_ad(self, key: str) -> None:
        """Forget it."""

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Forget it."""

    def delete_attribute(self, key: str, name: str) -> None:
        """Forget it."""


# As a number it is zero, however many there are: the reference reads one of them back as none.
_MINUS_ZERO = re.compile(r"(?<!-)-++0(?![\w.])")
_JSON_MINUS = re.compile(r'"\\/Expr\((-[0-9.E+-]+)\)\\/"')


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _try_all(*readers: Callable[[str], object], what: str) -> None:
    """Give a text to all readers, whichever of them refuse it."""
    for read in readers:
        with contextlib.suppress(KettleError):
            read(what)


def _compare(printed: str, again: Callable[[str], str]) -> None:
    """Raise LawError unless what was printed is read and printed the same."""
    try:
        found = again(printed)
    except KettleError as error:
        raise LawError(f"not read back: {error}") from None
    # Compat: the minus of a number is read back as a negative number, which has one blank less, and
    # is no expression in JSON (test_what_old_syntax_and_a_minus_cannot_keep_is_no_fault).
    if _minus_as_number(found) != _minus_as_number(printed):
        raise LawError(f"{printed[:200]!r} becomes {found[:200]!r}")


def _minus_as_number(text: str) -> str:
    return _MINUS_ZERO.sub("0", _JSON_MINUS.sub(r"\1", text.replace(" ", "")))


def _read_expression(data: bytes) -> None:
    text = _text(data)
    ad = ClassAd({"A": 1, "B": "text"})
    for old in (False, True):
        with contextlib.suppress(KettleError):
            expression = parse_expression(text, old=old)
            ad.evaluate_expression(expression)
            if reads_back(expression, old=old):
                _compare(unparse(expression, old=old), partial(_reprinted, old=old))


def _reprinted(text: str, *, old: bool) -> str:
    return unparse(parse_expression(text, old=old), old=old)


def _read_ads(data: bytes) -> None:
    text = _text(data)
    for read in (parse_ad, parse_old_ad):
        with contextlib.suppress(KettleError):
            _look_at([read(text)])
    for ad in parse_ads(text):
        ad.flattened()


def _in_form(form: str) -> Callable[[bytes], object]:
    """Return a reader of ads in a form, which looks at each and prints them in every form."""
    return lambda data: _look_at(list(itertools.islice(parse_ads(_text(data), form), _MOST_ADS)))


def _look_at(ads: list[ClassAd]) -> None:
    for ad in ads:
        for name in ad.names():
            ad.evaluate(name)
    for form in FORMS:
        printed = render_ads(ads, form)
        if _is_reformed(ads, form, printed):
            _compare(printed, partial(_reformed, form=form))


def _is_reformed(ads: list[ClassAd], form: str, printed: str) -> bool:
    """Return whether what is printed in a form has to be read back as it was."""
    names = [name for ad in ads for name in ad.names()]
    plain = all(name.isascii() and name.isidentifier() for name in names)
    if not all(reads_back(to_expression(ad), old=form == "long") for ad in ads):
        return False
    if form != "long":
        return plain or form != "xml"
    # Compat: in old syntax a name, and the end of a line or a last backslash within a string,
    # stand as they are, also where they cannot be read back
    # (test_what_old_syntax_and_a_minus_cannot_keep_is_no_fault).
    on_a_line = plain and printed.count("\n") == len(names) + sum(1 for ad in ads if len(ad))
    return on_a_line and '\\\\"' not in render_ads(ads, "new")


def _reformed(text: str, *, form: str) -> str:
    return render_ads(parse_ads(text, form), form)


def _read_many_ads(data: bytes) -> None:
    for ad in itertools.islice(parse_ads(_text(data)), _MOST_ADS):
        "\n".join(ad.lines())


def _read_event_log(data: bytes) -> None:
    check_events(read_events(data, year=YEAR), as_text=True)


def _read_event_forms(data: bytes) -> None:
    """Read a log of any form, as it grows."""
    reader = AnyFormReader(year=YEAR)
    pieces = (data[start : start + 97] for start in range(0, len(data), 97))
    check_events([event for piece in pieces for event in reader.feed(piece)], as_text=False)


def _read_history(data: bytes) -> None:
    for record in read_forwards(data):
        del record
    for record in read_backwards(lambda start, end: data[start:end], len(data)):
        del record


def _read_configuration(data: bytes) -> None:
    config = Config.from_text(_text(data))
    for name in ("A", "B", "C", "LIST", "LOG", "START"):
        _try_all(config.get, config.integer, config.boolean, what=name)


_FACTS = SubmitFacts(
    now=1_000,
    user="me",
    folder="/work",
    file_name="job.sub",
    version="$CondorVersion: 25.14.1 $",
    platform="$CondorPlatform: X $",
    environment={"HOME": "/home/me"},
)
_SUBMIT_CONFIG = Config.from_text("")


def _read_submit(data: bytes) -> None:
    sources = MemorySubmitSources(files={"job.sh": "#!/bin/sh\n", "items": "a\nb c\n"})
    made = read_submission(_text(data), sources, _SUBMIT_CONFIG, _FACTS)
    for _ in itertools.islice(made.jobs(), _MOST_JOBS):
        pass


def _read_transform(data: bytes) -> None:
    text = _text(data)
    ad = parse_old_ad(_OLD_AD.decode())
    macros = TransformMacros(_SUBMIT_CONFIG.raw, _FACTS.environment.get, lambda: random.Random(1))  # noqa: S311
    if is_old_form(text):
        read_old_form(text, "rules").apply(ad, macros, Journal())
        return
    rule = read_transform(text, "rules")
    rule.check(macros)
    if not rule.iteration:
        rule.apply(ad, macros, Journal())
        return
    sources = MemorySubmitSources(files={"items": "a\nb c\n"})
    for _ in itertools.islice(rounds(read_iteration(rule, macros, sources), macros), _MOST_JOBS):
        rule.apply(ad.copy(), macros, Journal())


def _read_routes(data: bytes) -> None:
    defaults = read_defaults("set_A = 1; Foo = 2", merge=False)
    for route in split_routes(_text(data), defaults):
        if isinstance(route, ClassAd):
            convert_route(route)


def _read_words(data: bytes) -> None:
    _try_all(parse_old_arguments, parse_environment, what=_text(data))


_OLD_AD = b'MyType = "Job"\nClusterId = 1\nRequirements = (TARGET.Cpus >= 1) && A =?= undefined\n'
_NEW_AD = b'[ a = 1; b = { 1, 2.5, "x" }; c = [ d = a + 1 ]; e = strcat("x", string(a)) ]'
_EVENTS = (
    b"000 (001.000.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9618>\n...\n"
    b"001 (001.000.000) 2026-01-02 03:04:06 Job executing on host: <127.0.0.1:9618>\n"
    b'\tSlotName: slot1_1@here\n\tCondorScratchDir = "/x"\n...\n'
    b"005 (001.000.000) 2026-01-02 03:04:07 Job terminated.\n"
    b"\t(1) Normal termination (return value 0)\n"
    b"\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
    b"\t0  -  Run Bytes Sent By Job\n"
    b"\tPartitionable Resources :    Usage  Request Allocated\n"
    b"\t   Cpus                 :        0        1         1\n...\n"
)
_XML_EVENT = (
    b'<c>\n    <a n="MyType"><s>SubmitEvent</s></a>\n    <a n="Cluster"><i>1</i></a>\n'
    b'    <a n="EventTime"><s>2026-01-02T03:04:05.775</s></a>\n    <a n="Proc"><i>0</i></a>\n'
    b'    <a n="SubmitHost"><s>&lt;127.0.0.1:1?a=b&amp;c=d&gt;</s></a>\n'
    b'    <a n="EventTypeNumber"><i>0</i></a>\n</c>\n'
)
_JSON_EVENT = (
    b'{\n  "MyType": "JobTerminatedEvent",\n  "EventTypeNumber": 5,\n  "Cluster": 1,\n'
    b'  "EventTime": "2026-01-02T03:04:05",\n  "ReturnValue": 0,\n  "TerminatedNormally": true,\n'
    b'  "Proc": 0,\n  "RunRemoteUsage": "Usr 0 00:00:00, Sys 0 00:00:00",\n  "SentBytes": 1.5\n}\n'
)
_QUEUE_LOG = (
    b"107 1 CreationTimestamp 1700000000\n105\n101 0.0 Job Machine\n103 0.0 NextClusterNum 2\n"
    b'106\n105\n101 01.-1 Job Machine\n103 01.-1 Owner "me"\n104 01.-1 Owner\n102 01.-1\n106\n'
)
_HISTORY = b'ClusterId = 1\nProcId = 0\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "me"\n'
_CONFIGURATION = (
    b"A = 1\nB = $(A) x \\\n  y\nif defined A\nC = $INT(A)\nelse\nC = 2\nendif\n",
    b"use POLICY: Always_Run_Jobs\nD @=end\nmore\n@end\nSTART = $RANDOM_CHOICE(1,2)\n",
    b"LOG = $(LOCAL_DIR:/x)/log\nA = $F(LOG)\nB = $SUBSTR(LOG,1,-1)\nB = $(B) $(B)\n",
)
_SUBMIT = (
    b"executable = job.sh\narguments = \"one 'two three' $(Process)\"\nqueue 2 Item in (a, b, c)\n",
    b"executable = job.sh\nenvironment = \"A=1 B='x y'\"\n+Mine = 7\nx = $(Item:none)\nqueue 3\n",
    b"executable = job.sh\ntransfer_input_files = items, $(x)\nqueue x,y from items\n",
    b'executable = job.sh\nrequest_memory = 1 GB\nrequirements = Arch == "X86_64"\nqueue\n',
)
_TRANSFORMS = (
    (
        b'NAME x\nREQUIREMENTS ClusterId >= 1\nm = $(MY.ClusterId)\nSET A "$(m:2)"\nDEFAULT B 2\n'
        b"EVALSET C ClusterId + 1\nEVALMACRO n C * 2\nif defined MY.C\nSET D $(n)\nendif\n"
    ),
    (
        b"COPY /^(M)(.*)$/ X\\2\\1\nRENAME A B\nDELETE /Type/i\nSET E $INT(MY.ClusterId)\n"
        b'x @=end\nmore\n@end\nSET F "$Fn(x)$(Item)"\nTRANSFORM 2 Item, y from (\na b\nc\n)\n'
    ),
    (
        b'[ Name = "x"; Requirements = TARGET.ClusterId > 0; set_A = 1; copy_A = "B";'
        b" delete_A = true; eval_set_C = TARGET.ClusterId + Foo; Foo = 3 ]"
    ),
)
_NEW_ADS = b"{" + _NEW_AD + b",\n" + _NEW_AD + b"}"
_JSON_AD = rb'[{"a": 1, "b": "\/Expr(a + 1)\/", "c": [1, {"d": null}]}]'
_XML_ADS = (
    b'<?xml version="1.0"?><classads><c><a n="A"><i>1</i></a></c></classads>',
    b'<classads><c><a n="B"><e>A+1</e></a><a n="C"><l><s>x</s></l></a></c></classads>',
)


def text_rows() -> Iterator[Decoder]:
    """Yield the rows of this module."""
    yield Decoder(
        "expressions",
        _read_expression,
        (b'A + 1 > 2 && B =?= "x"', _NEW_AD, b"-(1)[2].x"),
        (EXPRESSIONS,),
    )
    yield Decoder("ads", _read_ads, (_OLD_AD, _NEW_AD), (NEW_ADS, OLD_ADS))
    yield Decoder("old-ads", _in_form("long"), (_OLD_AD, _OLD_AD + b"\n" + _OLD_AD), (OLD_ADS,))
    yield Decoder("new-ads", _in_form("new"), (_NEW_AD, _NEW_ADS), (NEW_ADS,))
    yield Decoder("json-ads", _in_form("json"), (_JSON_AD,), (JSON_ADS,))
    yield Decoder("xml-ads", _in_form("xml"), _XML_ADS, (XML_ADS,))
    yield Decoder(
        "ad-files",
        _read_many_ads,
        (_OLD_AD + b"\n" + _OLD_AD, _NEW_ADS, _JSON_AD, *_XML_ADS),
        (NEW_ADS, OLD_ADS, JSON_ADS, XML_ADS),
    )
    yield Decoder("event-log", _read_event_log, (_EVENTS,), (TEXT_EVENTS,))
    yield Decoder(
        "event-log-forms",
        _read_event_forms,
        (_XML_EVENT, _JSON_EVENT, _EVENTS),
        (XML_EVENTS, JSON_EVENTS, TEXT_EVENTS),
    )
    yield Decoder("event-ads", lambda data: list(read_event_ads(_text(data))), (_OLD_AD, _NEW_AD))
    yield Decoder("queue-log", lambda data: replay_queue(data, _Table()), (_QUEUE_LOG,))
    yield Decoder("accounting-log", replay_accounting, (_QUEUE_LOG,))
    yield Decoder("history", _read_history, (_HISTORY * 2,))
    yield Decoder("configuration", _read_configuration, _CONFIGURATION, (CONFIGURATION,))
    yield Decoder("submit", _read_submit, _SUBMIT, (SUBMIT,))
    yield Decoder("transforms", _read_transform, _TRANSFORMS, (TRANSFORMS,))
    yield Decoder("old-routes", _read_routes, (_TRANSFORMS[2], _TRANSFORMS[2] * 2), (OLD_ROUTES,))
    yield Decoder("words", _read_words, (b"a 'b c' \\\"d\\\"", b"A=1;B=2", b"\"A=1 B='x y'\""))
