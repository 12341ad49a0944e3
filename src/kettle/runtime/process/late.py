"""What a daemon imports only when it first needs it, and therefore at a quiet moment before.

A pool keeps its version until it is started anew: `pip install --upgrade` replaces files below
daemons that run, and a module that is imported after that does not fit those that were imported
before. Daemons and zygotes import the rest of themselves when they have had nothing to do for a
while; until then they start as lean as ever.
"""

from __future__ import annotations

import importlib
import sys

# Who imports in a function, and what: as the code has it (tests/tidy/test_late_modules.py).
LATE = (
    ("kettle.classad", "kettle.classad.compile"),
    ("kettle.classad.forms", "kettle.classad.forms_json"),
    ("kettle.classad.forms", "kettle.classad.forms_xml"),
    ("kettle.classad.functions.library", "kettle.classad.functions.control"),
    ("kettle.classad.functions.library", "kettle.classad.functions.lists"),
    ("kettle.classad.functions.library", "kettle.classad.functions.numbers"),
    ("kettle.classad.functions.library", "kettle.classad.functions.predicates"),
    ("kettle.classad.functions.library", "kettle.classad.functions.regex"),
    ("kettle.classad.functions.library", "kettle.classad.functions.string_lists"),
    ("kettle.classad.functions.library", "kettle.classad.functions.strings"),
    ("kettle.classad.functions.library", "kettle.classad.functions.system"),
    ("kettle.classad.functions.library", "kettle.classad.functions.times"),
    ("kettle.config.functions", "kettle.classad"),
    ("kettle.config.functions", "kettle.classad.unparse"),
    ("kettle.config.functions", "kettle.config.knob"),
    ("kettle.config.functions", "kettle.errors"),
    ("kettle.config.knob", "kettle.classad"),
    ("kettle.config.knob", "kettle.errors"),
    ("kettle.config.sources", "kettle.classad.functions.system"),
    ("kettle.config.store", "kettle.config.default_texts"),
    ("kettle.config.store", "kettle.config.loading"),
    ("kettle.config.store", "kettle.config.strictest"),
    ("kettle.matchmaking.candidates", "kettle.matchmaking.wide_search"),
    ("kettle.matchmaking.kept_slots", "kettle.matchmaking.columns"),
    ("kettle.runtime.credentials", "kettle.classad"),
    ("kettle.runtime.credentials", "kettle.runtime.process.kernel"),
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
    ("kettle.submit.build", "kettle.submit.refusals"),
    ("kettle.wire.codec", "kettle.classad.references"),
)
QUIET_SECONDS = 1.0
"""For how long nothing is asked of a zygote before it imports the rest."""


def import_one() -> bool:
    """Import the next module that one of those here might import later; False if none is left."""
    for importer, imported in LATE:
        if importer in sys.modules and imported not in sys.modules:
            importlib.import_module(imported)
            return True
    return False


def import_all() -> None:
    """Import every module that one of those here might import later."""
    while import_one():
        pass
