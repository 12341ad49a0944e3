"""`condor_transform_ads -convertoldroutes`: routes of the old syntax, printed in the new one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import TransformError
from kettle.runtime.storage.texts import read_text
from kettle.transforms.convert import convert_route, read_defaults, split_routes

if TYPE_CHECKING:
    from kettle.tools.programs import Streams

# What `-convertoldroutes:N` asks for, in the reference's bits.
_WITHOUT_RSL = 1
_SIMPLIFIED = 2


def convert(config: Config, wanted: int, path: str, streams: Streams) -> int:
    """Print the routes of the configuration, or of the summary of one; the exit code."""
    if not path:
        return _Conversion(config, wanted, streams).show_all()
    try:
        text = read_text(path)
    except OSError as error:
        streams.stderr.write(f"Failed to open ceconfig file '{path}': {error.strerror}\n")
        return 1
    return _Conversion(Config.from_text(text), wanted, streams).show_knobs()


class _Conversion:
    """One conversion: a configuration and where its routes are printed."""

    def __init__(self, config: Config, wanted: int, streams: Streams) -> None:
        self.config = config
        self.streams = streams
        self.code = 0
        self.without_rsl = bool(wanted & _WITHOUT_RSL)
        self.defaults = self._read_defaults()
        self.simplify = self.defaults if wanted & _SIMPLIFIED else None

    def show_all(self) -> int:
        """Print the routes of JOB_ROUTER_ENTRIES and JOB_ROUTER_ENTRIES_FILE."""
        self._show("JOB_ROUTER_ENTRIES", self.config.get("JOB_ROUTER_ENTRIES") or "")
        path = self.config.get("JOB_ROUTER_ENTRIES_FILE")
        if path:
            try:
                text = read_text(path)
            except OSError as error:
                self._tell(
                    f"Failed to open '{path}' file specified for JOB_ROUTER_ENTRIES_FILE: "
                    f"{error.strerror}"
                )
            else:
                self._show("JOB_ROUTER_ENTRIES_FILE", text)
        return self.code

    def _show(self, title: str, text: str) -> None:
        for number, route in enumerate(split_routes(text, self.defaults), 1):
            # Compat: of what does not parse the reference prints the heading and says nothing
            # (test_a_route_that_does_not_parse_is_told).
            _, lines = self._converted(route, f"{title} [{number}]")
            head = f"##### {title} [{number}] #####"
            self.streams.stdout.write("\n".join(["", head, *lines]) + "\n" * (1 if lines else 2))

    def show_knobs(self) -> int:
        """Print each route that has a name as a knob, and the names of all of them."""
        names: list[str] = []
        write = self.streams.stdout.write
        text = self.config.get("JOB_ROUTER_ENTRIES") or ""
        for route in split_routes(text, self.defaults):
            name, lines = self._converted(route, "JOB_ROUTER_ENTRIES")
            tag = re.sub(r"[^A-Za-z0-9_]", "", name)
            if not tag:
                continue
            names.append(tag)
            # The knob's name says it.
            lines = [line for line in lines if line != f"NAME {tag}"]
            body = "\n".join(f"   {line}" for line in lines)
            write(f"\n##### Route {len(names)}\nJOB_ROUTER_ROUTE_{tag} @=jre\n{body}\n@jre\n")
        if not self.config.raw("JOB_ROUTER_ROUTE_NAMES"):
            write(f"\nJOB_ROUTER_ROUTE_NAMES = {' '.join(names)}\n")
        return self.code

    def _converted(self, route: ClassAd | TransformError, where: str) -> tuple[str, list[str]]:
        """Return a route's name and rule; neither, and tell why, where it makes no sense."""
        try:
            if isinstance(route, TransformError):
                raise route
            return convert_route(route, without_rsl=self.without_rsl, simplify=self.simplify)
        except TransformError as error:
            self._tell(f"{where}: {error}")
            return "", []

    def _read_defaults(self) -> ClassAd:
        merge = bool(self.config.boolean("MERGE_JOB_ROUTER_DEFAULT_ADS"))
        try:
            return read_defaults(self.config.get("JOB_ROUTER_DEFAULTS") or "", merge=merge)
        except TransformError as error:
            self._tell(str(error))
            return ClassAd()

    def _tell(self, text: str) -> None:
        self.streams.stderr.write(f"{text}\n")
        self.code = 1
