"""What a daemon imports only when it first needs it, and therefore at a quiet moment before.

A pool keeps its version until it is started anew: `pip install --upgrade` replaces files below
daemons that run, and a module that is imported after that does not fit those that were imported
before. Daemons and zygotes import the rest of themselves when they have had nothing to do for a
while; until then they start as lean as ever. Of modules that bring a large library with them
daemons keep the code alone: the library is imported whole, whatever its version, or not at all.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any, cast

# Who imports in a function, and what: as the code has it (tests/tidy/test_late_modules.py).
LATE = (
    ("kettle.classad", "kettle.classad.compile"),
    ("kettle.classad.ad", "kettle.classad.plain_ads"),
    ("kettle.classad.compile", "kettle.classad.hot"),
    ("kettle.classad.forms", "kettle.classad.forms_json"),
    ("kettle.classad.forms", "kettle.classad.forms_xml"),
    ("kettle.classad.forms_xml", "kettle.classad.functions.convert"),
    ("kettle.classad.functions.library", "kettle.classad.functions.control"),
    ("kettle.classad.functions.library", "kettle.classad.functions.lists"),
    ("kettle.classad.functions.library", "kettle.classad.functions.numbers"),
    ("kettle.classad.functions.library", "kettle.classad.functions.predicates"),
    ("kettle.classad.functions.library", "kettle.classad.functions.regex"),
    ("kettle.classad.functions.library", "kettle.classad.functions.string_lists"),
    ("kettle.classad.functions.library", "kettle.classad.functions.strings"),
    ("kettle.classad.functions.library", "kettle.classad.functions.system"),
    ("kettle.classad.functions.library", "kettle.classad.functions.times"),
    ("kettle.classad.state", "kettle.classad.surroundings"),
    ("kettle.config.expander", "kettle.config.growth"),
    ("kettle.config.forgiving", "kettle.config.strictest"),
    ("kettle.config.functions", "kettle.classad"),
    ("kettle.config.functions", "kettle.classad.unparse"),
    ("kettle.config.functions", "kettle.config.c_format"),
    ("kettle.config.functions", "kettle.config.knob"),
    ("kettle.config.functions", "kettle.errors"),
    ("kettle.config.knob", "kettle.classad"),
    ("kettle.config.knob", "kettle.config.log_sizes"),
    ("kettle.config.knob", "kettle.config.ranges"),
    ("kettle.config.knob", "kettle.errors"),
    ("kettle.config.knob", "kettle.nearest"),
    ("kettle.config.loading", "kettle.patterns.perl"),
    ("kettle.config.metaknobs", "kettle.nearest"),
    ("kettle.config.reader", "kettle.config.remarks"),
    ("kettle.config.reader", "kettle.nearest"),
    ("kettle.config.sources", "kettle.classad.functions.system"),
    ("kettle.config.store", "kettle.config.default_texts"),
    ("kettle.config.store", "kettle.config.forgiving"),
    ("kettle.config.store", "kettle.nearest"),
    ("kettle.config.unread", "kettle.config.bare_names"),
    ("kettle.config.unread", "kettle.config.default_texts"),
    ("kettle.config.unread", "kettle.config.unread_names"),
    ("kettle.matchmaking.candidates", "kettle.matchmaking.wide_search"),
    ("kettle.matchmaking.kept_slots", "kettle.matchmaking.columns"),
    ("kettle.records.event_kinds", "kettle.classad"),
    ("kettle.records.event_kinds", "kettle.classad.nodes"),
    ("kettle.records.event_kinds", "kettle.classad.unparse"),
    ("kettle.runtime.credentials", "kettle.classad"),
    ("kettle.runtime.credentials", "kettle.runtime.process.kernel"),
    ("kettle.runtime.credentials", "kettle.runtime.storage.files"),
    ("kettle.runtime.daemon", "kettle.attributes.version"),
    ("kettle.runtime.daemon", "kettle.runtime.identity"),
    ("kettle.runtime.remote_settings", "kettle.config.declared"),
    ("kettle.runtime.renewal", "kettle.config.declared"),
    ("kettle.runtime.storage.event_log_tail", "kettle.records.event_forms"),
    ("kettle.runtime.storage.event_logs", "kettle.records.event_forms"),
    ("kettle.runtime.storage.files", "kettle.runtime.process.kernel"),
    ("kettle.runtime.storage.files", "kettle.runtime.process.privileges"),
    ("kettle.runtime.storage.files", "kettle.runtime.storage.disk"),
    ("kettle.runtime.storage.files", "kettle.runtime.storage.durable"),
    ("kettle.runtime.storage.url_fetching", "kettle.runtime.storage.url_plugin"),
    ("kettle.shadow.services.calls", "kettle.records.event_forms"),
    ("kettle.starter.services.plugins", "kettle.runtime.storage.url_fetching"),
    ("kettle.submit.arguments", "kettle.attributes.secret_variables"),
    ("kettle.submit.build", "kettle.config.remarks"),
    ("kettle.submit.build", "kettle.submit.again"),
    ("kettle.submit.build", "kettle.submit.differences"),
    ("kettle.submit.build", "kettle.submit.digest"),
    ("kettle.submit.build", "kettle.submit.refusals"),
    ("kettle.submit.build", "kettle.submit.watched_job"),
    ("kettle.submit.literals", "kettle.classad.references"),
    ("kettle.submit.policy", "kettle.config.knobs.schedd"),
    ("kettle.submit.policy", "kettle.policy.lease"),
    ("kettle.submit.protected", "kettle.wire.security.mapfile"),
    ("kettle.submit.queue_statement", "kettle.submit.matching"),
    ("kettle.submit.reader", "kettle.config.remarks"),
    ("kettle.submit.reader", "kettle.submit.matching"),
    ("kettle.submit.registry", "kettle.nearest"),
    ("kettle.submit.requests", "kettle.nearest"),
    ("kettle.transforms.reader", "kettle.config.remarks"),
    ("kettle.transforms.statements", "kettle.nearest"),
    ("kettle.wire.codec", "kettle.classad.references"),
)
# What brings a library of megabytes with it (numpy, the standard library's web client): arrays, for
# pools of many slots, and URLs, which only some starters fetch.
_LARGE = {
    "kettle.matchmaking.wide_search": (
        "kettle.matchmaking.columns",
        "kettle.matchmaking.references",
        "kettle.matchmaking.vectors",
    ),
    "kettle.matchmaking.columns": (),
    "kettle.runtime.storage.url_plugin": (),
}
QUIET_SECONDS = 1.0
"""For how long nothing is asked of a zygote before it imports the rest."""


def import_one(*, whole: bool = False) -> bool:
    """Import the next module that one of those here might import later; False if none is left.

    Of a large one only the code is read, unless it is to be had `whole`.
    """
    for importer, imported in LATE:
        if importer not in sys.modules or imported in sys.modules or imported in _codes:
            continue
        if imported in _LARGE and not whole:
            for name in (imported, *_LARGE[imported]):
                _keep(name)
        else:
            importlib.import_module(imported)
        return True
    return False


def import_all() -> None:
    """Import every module that one of those here might import later: a zygote has them for many."""
    while import_one(whole=True):
        pass


# The code of modules that are not imported yet.
_codes: dict[str, CodeType | None] = {}


def _keep(name: str) -> None:
    """Read the code of a module, whose package is imported, and have it run when it is wanted."""
    if name in sys.modules or name in _codes:
        return
    spec = PathFinder.find_spec(name, sys.modules[name.rpartition(".")[0]].__path__)
    # One that nobody finds fails when it is wanted.
    _codes[name] = code = spec.loader.get_code(name) if spec and spec.loader else None  # type: ignore[attr-defined]
    if spec is not None and code is not None:
        spec.loader = cast("Any", _Kept(code))
        _specs[name] = spec
        if _Finder not in sys.meta_path:
            sys.meta_path.insert(0, _Finder)


_specs: dict[str, ModuleSpec] = {}


class _Finder:
    """Finds modules whose code is kept."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return _specs.pop(name, None)


class _Kept:
    """Runs kept code as a module; the names are the import machinery's."""

    def __init__(self, code: CodeType) -> None:
        self._code = code

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        exec(self._code, module.__dict__)  # noqa: S102 - the code of a module of ours
