"""Events as ClassAds, and as the XML and JSON that are made of those.

The ClassAd form travels from starter to shadow (ulog calls), stands in event 028, and is what the
XML and JSON logs print. What is in an ad is said by each event's class. Source: wire notes,
Job event log, recorded logs of a real pool.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kettle.attributes.codes import ULogEvent
from kettle.classad import ClassAd, parse_ads, unparse
from kettle.classad.forms_json import to_json
from kettle.classad.forms_xml import to_xml
from kettle.classad.nodes import literal
from kettle.classad.text import quote_old
from kettle.records.event_base import Event, field_types
from kettle.records.event_future import RawEvent, header_names
from kettle.records.event_grid import JobAdInformationEvent
from kettle.records.event_header import parse_moment
from kettle.records.event_log import (
    DEFAULT_STYLE,
    EVENTS,
    Format,
    Style,
    render_event,
    render_time,
)
from kettle.records.event_usage import CpuTimes
from kettle.wire.security.secret_words import hide_secrets

_BY_TYPE = {kind.type_name.lower(): kind for kind in EVENTS.values()}
_AD_TIME = Style(sub_second=True)
_AD_TIME_UTC = Style(sub_second=True, utc=True)


def event_ad(event: Event, style: Style = DEFAULT_STYLE) -> ClassAd:
    """Return an event as a ClassAd; only `utc` of the style matters."""
    ad = ClassAd()
    number = event.header_number
    ad["MyType"] = event.AD_TYPE or event.type_name
    ad["EventTypeNumber"] = number
    moment = render_time(event.time, _AD_TIME_UTC if style.utc else _AD_TIME)
    ad["EventTime"] = moment.replace(" ", "T")
    numbers = (event.cluster, event.proc, event.subproc)
    for name, each in zip(header_names(number), numbers, strict=True):
        # A number below zero stands for none: a cluster's event has no Proc.
        if name and each >= 0:
            ad[name] = each
    types = field_types(type(event))
    for name, attribute in event.ATTRIBUTES:
        value = getattr(event, name)
        if value is None or (value == "" and not event.SAYS_EMPTY):
            continue
        if types[name] is float:
            # What is written with a fraction, whatever it was counted in.
            value = float(value)
        ad[attribute] = str(value) if isinstance(value, CpuTimes) else value
    if event.DESCRIPTION:
        ad["EventDescription"] = event.DESCRIPTION
    event.add_to_ad(ad)
    return ad


def ad_of_read(event: Event, style: Style = DEFAULT_STYLE) -> ClassAd:
    """Return an event that was read as a ClassAd; only `utc` of the style matters.

    Where what was read has no fraction of a second, the ad has none, as in the reference
    (test_echo_of_ads_keeps_fractions_of_seconds).
    """
    ad = event_ad(event, style)
    if event.time.is_integer():
        ad["EventTime"] = (ad.string("EventTime") or "").replace(".000", "")
    return ad


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
    event.attributes["TriggerEventTypeName"] = quote_old(f"ULOG_{ULogEvent(trigger.number).name}")
    return event


def event_from_ad(ad: ClassAd) -> Event | None:
    """Return the event that an ad describes; None if it names no type and no event's number.

    Values of a wrong type are left at their defaults: the ad may come from a peer.

    Compat: to the reference an ad without a time is of the moment at which it is read, and one with
    a wrong time of what its digits make; it is of none (test_an_ad_without_a_time_is_of_none). And
    there an event 022, 023, 024, 034 or 040 is none whose ad, or text, lacks one of its values or
    has an empty one; it is one (test_an_event_that_lacks_what_its_kind_says_is_one).
    """
    number = _whole(ad, "EventTypeNumber", -1)
    kind = EVENTS.get(number) or _BY_TYPE.get((ad.string("MyType") or "").lower())
    if kind is None and not 0 <= number <= _MOST_NUMBER:
        return None
    event = RawEvent(header_number=number) if kind is None else kind()
    names = header_names(number)
    event.cluster, event.proc, event.subproc = (_whole(ad, name, -1) for name in names)
    event.time = parse_moment(ad.string("EventTime") or "")
    for name, value in event.UNSAID.items():
        setattr(event, name, value)
    event.read_attributes(ad, event.ATTRIBUTES)
    event.take_from_ad(ad)
    return event


# What the header of a text has room for.
_MOST_NUMBER = 999


def _whole(ad: ClassAd, name: str, otherwise: int) -> int:
    """Return an attribute as an integer, which the reference makes of any number."""
    value = ad.evaluate(name) if name else None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return otherwise
    return int(value)


def render(event: Event, style: Style = DEFAULT_STYLE) -> bytes:
    """Return an event in the form that the style names, ready for one write."""
    if style.form is Format.TEXT:
        return render_event(event, style)
    return render_ad(event_ad(event, style), style.form).encode("utf-8", "surrogateescape")


def render_ad(ad: ClassAd, form: Format) -> str:
    """Return an event's ad as it stands in a log of that form, XML or JSON."""
    text = hide_secrets(to_xml(ad) if form is Format.XML else to_json(ad))
    return text.rstrip("\n") + "\n"


def read_event_ads(text: str) -> Iterator[Event]:
    """Yield the events of an XML or JSON log; ads that are no events are left out."""
    for ad in parse_ads(text):
        event = event_from_ad(ad)
        if event is not None:
            yield event
