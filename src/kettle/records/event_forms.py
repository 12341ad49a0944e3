"""Events as ClassAds, and as the XML and JSON that are made of those.

The ClassAd form travels from starter to shadow (ulog calls), stands in event 028, and is what the
XML and JSON logs print. Attribute names: each event class's `ATTRIBUTES`. Source: wire notes,
Job event log, recorded logs of a real pool.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import NoneType
from typing import get_args, get_type_hints

from kettle.classad import ClassAd, parse_ads, parse_expression, unparse
from kettle.classad.forms_json import to_json
from kettle.classad.forms_xml import to_xml
from kettle.classad.nodes import AdNode, literal
from kettle.classad.text import quote_old
from kettle.errors import ClassAdSyntaxError
from kettle.records.event_base import Event
from kettle.records.event_cluster import CommonFilesEvent
from kettle.records.event_grid import JobAdInformationEvent, Prefixed, RemoteErrorEvent
from kettle.records.event_kinds import (
    ExecuteEvent,
    JobEvictedEvent,
    JobImageSizeEvent,
    JobTerminatedEvent,
    SubmitEvent,
)
from kettle.records.event_log import (
    DEFAULT_STYLE,
    EVENTS,
    ULOG_NAMES,
    Form,
    RawEvent,
    Style,
    parse_moment,
    render_event,
    render_time,
)
from kettle.records.event_usage import CpuTimes, UsageValue
from kettle.wire.security.secret_words import hide_secrets

_BY_TYPE = {kind.type_name.lower(): kind for kind in EVENTS.values()}
_HEADER = frozenset(
    {"mytype", "eventtypenumber", "eventtime", "cluster", "proc", "subproc", "node"}
    | {"terminatednormally", "returnvalue", "terminatedbysignal", "corefile"}
)
# Of these the reference knows no more than their first line.
_HEADLESS = frozenset({17, 18, 19, 20, 31, 32, 39})
# How a note of old logs begins that names a node.
_NODE = "DAG Node: "
_DESCRIPTIONS = {
    22: "Job disconnected, attempting to reconnect",
    23: "Job reconnected",
    24: "Job reconnect impossible: rescheduling job",
}
# What is written with a fraction, whatever it was counted in.
_REALS = frozenset({"sent_bytes", "received_bytes", "total_sent_bytes", "total_received_bytes"})
# The events whose ad says also what is empty.
_SAYS_EMPTY = frozenset({7, 22, 23, 24, 33, *range(41, 46), 47})
_AD_TIME = Style(sub_second=True)
_AD_TIME_UTC = Style(sub_second=True, utc=True)


def event_ad(event: Event, style: Style = DEFAULT_STYLE) -> ClassAd:
    """Return an event as a ClassAd; only `utc` of the style matters."""
    ad = ClassAd()
    number = event.kind if isinstance(event, RawEvent) else event.number
    ad["MyType"] = event.type_name
    ad["EventTypeNumber"] = number
    moment = render_time(event.time, _AD_TIME_UTC if style.utc else _AD_TIME)
    ad["EventTime"] = moment.replace(" ", "T")
    numbers = (("Cluster", event.cluster), ("Proc", event.proc), ("Subproc", event.subproc))
    for name, each in numbers:
        # A number below zero stands for none: a cluster's event has no Proc.
        if each >= 0:
            ad[name] = each
    for name, attribute in event.ATTRIBUTES:
        value = getattr(event, name)
        if value is None or (value == "" and event.number not in _SAYS_EMPTY):
            continue
        if name in _REALS:
            value = float(value)
        ad[attribute] = str(value) if isinstance(value, CpuTimes) else value
    if event.number in _DESCRIPTIONS:
        ad["EventDescription"] = _DESCRIPTIONS[event.number]
    if isinstance(event, ExecuteEvent) and event.properties:
        ad["ExecuteProps"] = _properties_ad(event.properties)
    if isinstance(event, SubmitEvent) and (notes := structured_notes(event)):
        _add_notes(ad, notes)
    if isinstance(event, JobTerminatedEvent):
        ad.update(event.usage)
    if isinstance(event, JobImageSizeEvent):
        _mend_sizes(ad)
    if isinstance(event, RemoteErrorEvent) and not event.critical:
        ad["CriticalError"] = 0
    if number in _HEADLESS and isinstance(event, Prefixed):
        ad["EventHead"] = event.SENTENCE
    if isinstance(event, RawEvent):
        ad["EventHead"] = event.extra[0] if event.extra else ""
    if isinstance(event, JobEvictedEvent):
        _add_eviction(ad, event)
    if isinstance(event, JobAdInformationEvent):
        # What the header says counts.
        said = {name.lower() for name in ad.own_names()}
        for name, text in event.attributes.items():
            if name.lower() not in said:
                ad.insert_text(name, text)
    if isinstance(event, CommonFilesEvent):
        ad["Type"] = event.kind
    return ad


def _properties_ad(properties: dict[str, str]) -> ClassAd:
    ad = ClassAd()
    for name, text in properties.items():
        ad.insert_text(name, text)
    return ad


def structured_notes(event: SubmitEvent) -> str | None:
    """Return the notes that have names, as an ad's text; those of old logs name a DAG's node."""
    node = (event.log_notes or "").removeprefix(_NODE)
    if event.structured or node == (event.log_notes or ""):
        return event.structured
    return f"[ DAGNodeName = {quote_old(node)} ]"


def _mend_sizes(ad: ClassAd) -> None:
    """Take sizes below zero away, which are unknown; what is resident is zero then."""
    if ad.integer("ResidentSetSize") is None:
        ad["ResidentSetSize"] = 0
    for attribute in ("Size", "MemoryUsage", "ResidentSetSize", "ProportionalSetSize"):
        if (ad.integer(attribute) or 0) < 0:
            del ad[attribute]


def _add_notes(ad: ClassAd, text: str) -> None:
    try:
        notes = parse_expression(text)
    except ClassAdSyntaxError:
        # A user's note that only looks like one.
        return
    if isinstance(notes, AdNode):
        ad["StructuredNotes"] = notes


def _add_eviction(ad: ClassAd, event: JobEvictedEvent) -> None:
    """Add how the program ended, if it did; the table of resources is in the text only."""
    for attribute in ("ReasonCode", "ReasonSubCode"):
        if ad.integer(attribute) == 0:
            del ad[attribute]
    ad["TerminatedNormally"] = event.requeued and event.normal
    if not event.requeued:
        return
    if event.return_value is not None:
        ad["ReturnValue"] = event.return_value
    if event.signal is not None:
        ad["TerminatedBySignal"] = event.signal
    if event.core_file is not None:
        ad["CoreFile"] = event.core_file


def information_event(trigger: Event, job: ClassAd, names: list[str]) -> JobAdInformationEvent:
    """Return event 028 for an event: its own ad, and the attributes `names` of the job.

    Written after the event where the job (JobAdInformationAttrs) or the pool's log
    (EVENT_LOG_JOB_AD_INFORMATION_ATTRS) asks for more.
    """
    event = JobAdInformationEvent(
        cluster=trigger.cluster, proc=trigger.proc, subproc=trigger.subproc, time=trigger.time
    )
    described = event_ad(trigger)
    for attribute in described.own_names():
        event.attributes[attribute] = described.text(attribute) or "undefined"
    for attribute in names:
        value = job.evaluate(attribute)
        if isinstance(value, (bool, int, float, str)):
            event.attributes[attribute] = unparse(literal(value), old=True)
    event.attributes["EventTypeNumber"] = str(JobAdInformationEvent.number)
    event.attributes["TriggerEventTypeNumber"] = str(trigger.number)
    event.attributes["TriggerEventTypeName"] = quote_old(f"ULOG_{ULOG_NAMES[trigger.number]}")
    return event


def event_from_ad(ad: ClassAd) -> Event | None:
    """Return the event that an ad describes; None if it is of no known type.

    Values of a wrong type are left at their defaults: the ad may come from a peer.
    """
    number = ad.integer("EventTypeNumber")
    kind = EVENTS.get(number) if number is not None else None
    kind = kind or _BY_TYPE.get((ad.string("MyType") or "").lower())
    if kind is None:
        return None
    event = kind()
    numbers = (ad.integer(name) for name in ("Cluster", "Proc", "Subproc"))
    event.cluster, event.proc, event.subproc = (-1 if each is None else each for each in numbers)
    event.time = parse_moment(ad.string("EventTime") or "")
    for name, attribute in kind.ATTRIBUTES:
        _set_field(event, name, ad, attribute)
    if isinstance(event, (JobTerminatedEvent, JobEvictedEvent)):
        event.usage = _usage_of(ad, event)
    if isinstance(event, JobEvictedEvent) and event.requeued:
        for name, attribute in JobTerminatedEvent.ATTRIBUTES[:4]:
            _set_field(event, name, ad, attribute)
    if isinstance(event, JobAdInformationEvent):
        event.attributes = {name: ad.text(name) or "" for name in ad.own_names()}
    if isinstance(event, SubmitEvent):
        notes = ad.lookup("StructuredNotes")
        event.structured = unparse(notes) if isinstance(notes, AdNode) else None
    if isinstance(event, RemoteErrorEvent):
        critical = ad.evaluate("CriticalError")
        event.critical = not isinstance(critical, (int, float)) or bool(critical)
    if isinstance(event, ExecuteEvent):
        properties = ad.evaluate("ExecuteProps")
        if isinstance(properties, ClassAd):
            event.properties = {n: properties.text(n) or "" for n in properties.own_names()}
    return event


def _usage_of(ad: ClassAd, event: Event) -> dict[str, UsageValue]:
    """Return the attributes of the table of resources: all that nothing else explains."""
    known = {attribute.lower() for _, attribute in event.ATTRIBUTES} | _HEADER
    usage: dict[str, UsageValue] = {}
    for name in ad.own_names():
        value = ad.evaluate(name)
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        assigned = isinstance(value, str) and name.lower().startswith("assigned")
        # A name that is no word is no label of a row.
        if name.lower() not in known and (numeric or assigned) and name.split() == [name]:
            assert isinstance(value, (int, float, str))
            usage[name] = value
    return usage


def _set_field(event: Event, name: str, ad: ClassAd, attribute: str) -> None:
    """Give a field an attribute's value, if that is of the field's type; else leave it."""
    value = _fitting(ad.evaluate(attribute), _field_types(type(event))[name])
    if value is not None:
        setattr(event, name, value)


def _fitting(value: object, wanted: type) -> object:
    """Return a value as one of the wanted type, None if it cannot be one."""
    if isinstance(value, str):
        if wanted is not CpuTimes:
            return value if wanted is str else None
        try:
            return CpuTimes.parse(value)
        except ValueError:
            return None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return wanted(value) if wanted in {bool, int, float} else None


# The kinds of which an ad was read, each once.
_types_of: dict[type[Event], dict[str, type]] = {}


def _field_types(kind: type[Event]) -> dict[str, type]:
    """Return what the fields of an event are, besides None."""
    known = _types_of.get(kind)
    if known is None:
        known = _types_of[kind] = {
            name: next((one for one in get_args(hint) if one is not NoneType), hint)
            for name, hint in get_type_hints(kind).items()
        }
    return known


def render(event: Event, style: Style = DEFAULT_STYLE) -> bytes:
    """Return an event in the form that the style names, ready for one write."""
    if style.form is Form.TEXT:
        return render_event(event, style)
    return render_ad(event_ad(event, style), style.form).encode("utf-8", "surrogateescape")


def render_ad(ad: ClassAd, form: Form) -> str:
    """Return an event's ad as it stands in a log of that form, XML or JSON."""
    text = hide_secrets(to_xml(ad) if form is Form.XML else to_json(ad))
    return text.rstrip("\n") + "\n"


def read_event_ads(text: str) -> Iterator[Event]:
    """Yield the events of an XML or JSON log; ads of unknown types are left out."""
    for ad in parse_ads(text):
        event = event_from_ad(ad)
        if event is not None:
            yield event
