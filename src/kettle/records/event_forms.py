"""Events as ClassAds, and as the XML and JSON that are made of those.

The ClassAd form travels from starter to shadow (ulog calls), stands in event 028, and is what the
XML and JSON logs print. Attribute names: each event class's `ATTRIBUTES`. Source: wire reference
§7.3, recorded logs of a real pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from kettle.classad import ClassAd, forms, parse_ads
from kettle.records.event_base import Event
from kettle.records.event_cluster import CommonFilesEvent
from kettle.records.event_grid import JobAdInformationEvent
from kettle.records.event_kinds import ExecuteEvent, JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_log import (
    DEFAULT_STYLE,
    EVENTS,
    Form,
    RawEvent,
    Style,
    parse_moment,
    render_event,
    render_time,
)
from kettle.records.event_usage import CpuTimes

_BY_TYPE = {kind.type_name.lower(): kind for kind in EVENTS.values()}
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
    if event.cluster or event.proc or event.subproc:
        ad["Cluster"], ad["Proc"], ad["Subproc"] = event.cluster, event.proc, event.subproc
    for name, attribute in event.ATTRIBUTES:
        value = getattr(event, name)
        if value is None:
            continue
        ad[attribute] = str(value) if isinstance(value, CpuTimes) else value
    if isinstance(event, ExecuteEvent) and event.properties:
        ad["ExecuteProps"] = _properties_ad(event.properties)
    if isinstance(event, (JobTerminatedEvent, JobEvictedEvent)):
        ad.update(event.usage)
    if isinstance(event, JobEvictedEvent) and event.requeued:
        _add_ending(ad, event)
    if isinstance(event, JobAdInformationEvent):
        for name, text in event.attributes.items():
            ad.insert_text(name, text)
        ad["MyType"] = event.type_name
    if isinstance(event, CommonFilesEvent):
        ad["Type"] = event.kind
    return ad


def _properties_ad(properties: dict[str, str]) -> ClassAd:
    ad = ClassAd()
    for name, text in properties.items():
        ad.insert_text(name, text)
    return ad


def _add_ending(ad: ClassAd, event: JobEvictedEvent) -> None:
    ad["TerminatedNormally"] = event.normal
    if event.return_value is not None:
        ad["ReturnValue"] = event.return_value
    if event.signal is not None:
        ad["TerminatedBySignal"] = event.signal
    if event.core_file is not None:
        ad["CoreFile"] = event.core_file


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
    event.cluster = ad.integer("Cluster") or 0
    event.proc = ad.integer("Proc") or 0
    event.subproc = ad.integer("Subproc") or 0
    event.time = parse_moment(ad.string("EventTime") or "")
    for name, attribute in kind.ATTRIBUTES:
        _set_field(event, name, ad, attribute)
    if isinstance(event, ExecuteEvent):
        properties = ad.evaluate("ExecuteProps")
        if isinstance(properties, ClassAd):
            event.properties = {n: properties.text(n) or "" for n in properties.own_names()}
    return event


def _set_field(event: Event, name: str, ad: ClassAd, attribute: str) -> None:
    default = getattr(event, name)
    value = ad.evaluate(attribute)
    if isinstance(default, CpuTimes):
        if isinstance(value, str):
            try:
                setattr(event, name, CpuTimes.parse(value))
            except ValueError:
                return
    elif isinstance(default, bool):
        setattr(event, name, bool(value) if isinstance(value, (bool, int)) else default)
    elif isinstance(default, (int, float)):
        if isinstance(value, (int, float)):
            setattr(event, name, type(default)(value))
    elif isinstance(default, str):
        if isinstance(value, str):
            setattr(event, name, value)
    elif isinstance(value, (str, int, float)):
        setattr(event, name, value)


def sorted_ad(ad: ClassAd) -> ClassAd:
    """Return the ad in the order in which the reference prints events: by length, then name."""
    result = ClassAd()
    for name in sorted(ad.own_names(), key=lambda name: (len(name), name.lower())):
        value = ad.lookup(name)
        nested = ad.evaluate(name)
        if isinstance(nested, ClassAd):
            result[name] = sorted_ad(nested)
        elif value is not None:
            result.insert(name, value)
    return result


def render(event: Event, style: Style = DEFAULT_STYLE) -> bytes:
    """Return an event in the form that the style names, ready for one write."""
    if style.form is Form.TEXT:
        return render_event(event, style)
    ad = sorted_ad(event_ad(event, style))
    text = forms.to_xml(ad) if style.form is Form.XML else forms.to_json(ad)
    return (text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape")


def read_event_ads(text: str) -> Iterator[Event]:
    """Yield the events of an XML or JSON log; ads of unknown types are left out."""
    for ad in parse_ads(text):
        event = event_from_ad(ad)
        if event is not None:
            yield event
