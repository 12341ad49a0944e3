"""The smaller languages: what jobs say to their starter, what people write to tools and daemons."""

from __future__ import annotations

from collections.abc import Iterator

from kettle.classad import ClassAd
from kettle.collector.persistent_ads import decode_ads
from kettle.errors import RemoteProtocolError
from kettle.records.event_header import parse_moment
from kettle.records.history_marks import TooLongError, read_marks
from kettle.schedd.queue.job_ids import parse_ids, parse_key
from kettle.schedd.queue.selection import parse_constraint
from kettle.startd.slots import parse_slot_type
from kettle.starter import chirp
from kettle.starter.argument_syntax import parse_arguments
from kettle.starter.deferral import deferral_time, seconds_to_wait
from kettle.submit.sizes import parse_size
from kettle.testing.fuzz.decoder import Decoder
from kettle.transfer.checkpoints import Entry, parse_manifest, render_manifest
from kettle.transfer.plugin_records import file_record
from kettle.transfer.plugins import (
    Plugin,
    Ran,
    parse_abilities,
    parse_job_plugins,
    read_result_ads,
    read_results,
)
from kettle.transfer.remaps import parse_remaps, remap
from kettle.wire.ccb import read_answer
from kettle.wire.codec import Reader, Writer

_PLUGIN = Plugin(("/bin/plugin",), frozenset({"http"}))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _read_chirp(data: bytes) -> None:
    line, _, body = data.partition(b"\n")
    words = chirp.split_line(_text(line))
    request = chirp.REQUESTS.get(words[0]) if words else None
    if request is None:
        raise RemoteProtocolError("no such request")
    if len(words) - 1 >= request.arguments:
        writer = Writer()
        request.make(words[1:], body).write(writer)


def _read_ids(data: bytes) -> None:
    text = _text(data)
    parse_key(text)
    parse_constraint(text)
    parse_ids(text)


def _read_deferral(data: bytes) -> None:
    job = ClassAd()
    for name, line in zip(
        ("DeferralTime", "DeferralWindow"), _text(data).split("\n"), strict=False
    ):
        job.insert_text(name, line)
    moment = deferral_time(job)
    if moment is not None:
        seconds_to_wait(job, moment, 1_000_000.0)


def _read_slots(data: bytes) -> None:
    text = _text(data)
    parse_slot_type(text, ("gpus",), "SLOT_TYPE_1")


def _read_small_texts(data: bytes) -> None:
    text = _text(data)
    parse_size(text, "K")
    parse_moment(text)
    remap("a", parse_remaps(text))
    parse_arguments(text, "")


def _read_plugin(data: bytes) -> None:
    text = _text(data)
    parse_job_plugins(text)
    parse_abilities("/bin/plugin", text)
    ads = read_result_ads(text)
    read_results(_PLUGIN, [("http://a/b", "/box/b")], ads, Ran(len(data) % 3))
    for ad in ads:
        file_record(ad)


def _read_marks(data: bytes) -> None:
    try:
        for _ in read_marks([data[:100], data[100:]], 0):
            pass
    except TooLongError:
        pass


_LOG = b'107 1 CreationTimestamp 1700000000\n101 1 Machine (unknown)\n103 1 Name "a"\n'
_HISTORY = b'ClusterId = 1\nProcId = 0\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "me"\n'


def request_rows() -> Iterator[Decoder]:
    """Yield the rows of this module."""
    samples = (b"open a\\ b rwc 420\n", b"write 3 4\nabcd", b"set_job_attr A 1+1\n", b"version\n")
    yield Decoder("chirp", _read_chirp, samples)
    yield Decoder("job-ids", _read_ids, (b"1.0, 2 3.4", b"ClusterId == 1 && ProcId == 2", b"1.0"))
    yield Decoder("deferral", _read_deferral, (b"1000500\n60", b"time() + 5\n1"))
    yield Decoder("slot-types", _read_slots, (b"cpus=2, memory=25%, gpus=1", b"1/4, disk=auto"))
    yield Decoder(
        "small-texts", _read_small_texts, (b"2.5 GB", b"2026-01-02 03:04:05", b"a=b;c=d\\;e")
    )
    yield Decoder(
        "plugins",
        _read_plugin,
        (
            b'PluginType = "FileTransfer"\nSupportedMethods = "http,https"\n',
            b'[ TransferUrl = "http://a/b"; TransferSuccess = true; TransferFileBytes = 3 ]',
            b"http,https=plugin.py;x=y",
        ),
    )
    yield Decoder(
        "manifests",
        parse_manifest,
        (render_manifest(1, [Entry("0" * 64, "a"), Entry("1" * 64, "d/b")]).encode(),),
    )
    yield Decoder("collector-log", decode_ads, (_LOG,))
    yield Decoder("history-marks", _read_marks, (_HISTORY * 2,))
    answer = Writer().ad(ClassAd({"Result": True, "CCBID": "1.2.3.4:5#6"})).getvalue()
    yield Decoder("broker-answers", lambda data: read_answer(Reader(data)), (answer,))
