"""No daemon waits for a pipe: what a user or a job may have made is opened at ease.

An opened pipe keeps its opener waiting until somebody opens its other end, and with a daemon all
whom it serves. AT_EASE (kettle.runtime.storage.small_files), or a helper that has it, is what a
daemon opens with; what it opens otherwise is listed here, with the reason why it may.
"""

from __future__ import annotations

import ast

import pytest

from code_shape import SOURCE
from plain_opens import plain_opens

# What runs as daemons, beside users' files.
ROOMS = ("schedd", "shadow", "starter", "startd", "runtime")
ADMINISTRATORS = "the administrator names it"
DAEMONS = "in a folder of the daemons' own"
KERNELS = "the kernel's own files"
OPEN = "it is open already"
FLAGS = "takes its flags from who calls it, whose calls are looked at"
PLUGIN = "in a process of the plug-in's own, as the job's account"
# File, function, and how many if there are several. A new one: may a user or a job make the path?
KNOWN = {
    "runtime/log_fetching.py _send_history_folder": DAEMONS,
    "runtime/log_fetching.py _send_one": DAEMONS,
    "runtime/process/census.py Census.note": DAEMONS,
    "runtime/process/census.py read_note": DAEMONS,
    "runtime/process/cgroups.py _read": KERNELS,
    "runtime/process/cgroups.py _write": KERNELS,
    "runtime/process/kept_files.py KeptFiles._descriptor": KERNELS,
    "runtime/process/namespaces.py _open_namespace": KERNELS,
    "runtime/process/zygote.py Zygote._take_complaint": OPEN,
    "runtime/process/zygote.py _encoded": OPEN,
    "runtime/process/zygote_process.py _run": OPEN,
    "runtime/profiling.py stop": ADMINISTRATORS,
    "runtime/sockets/loopback.py uid_of_peer": KERNELS,
    "runtime/sockets/port_holder.py _find_socket": KERNELS,
    "runtime/sockets/security_settings.py _read_included_mapfiles": ADMINISTRATORS,
    "runtime/sockets/security_settings.py read_mapfile": ADMINISTRATORS,
    "runtime/storage/bounds.py Bounds.make": f"{FLAGS} (2)",
    "runtime/storage/bounds.py Bounds.open": FLAGS,
    "runtime/storage/disk.py SystemDisk.open": DAEMONS,
    "runtime/storage/disk.py SystemDisk.overwrite": DAEMONS,
    "runtime/storage/fences.py open_inside": FLAGS,
    "runtime/storage/fences.py opener": PLUGIN,
    "runtime/storage/files.py Files.append": DAEMONS,
    "runtime/storage/files.py Files.lock": DAEMONS,
    "runtime/storage/files.py Files.write_atomically": DAEMONS,
    "runtime/storage/files.py RememberingSources.read_text": ADMINISTRATORS,
    "runtime/storage/files.py SystemSources.read_text": ADMINISTRATORS,
    "runtime/storage/files.py SystemSources.write_text": ADMINISTRATORS,
    "runtime/storage/global_log.py GlobalLog._begin": DAEMONS,
    "runtime/storage/history_index.py _opened": DAEMONS,
    "runtime/storage/mounts.py Mounts.any_far": KERNELS,
    "runtime/storage/record_files.py RecordFile.backwards": DAEMONS,
    "runtime/storage/record_files.py RecordFile.cut_unfinished": DAEMONS,
    "runtime/storage/small_files.py open_as_meant": f"{FLAGS} (3)",
    "runtime/storage/small_files.py read_small": KERNELS,
    "runtime/storage/texts.py read_bytes": f"{ADMINISTRATORS}, or who runs a tool",
    "runtime/storage/texts.py read_text": f"{ADMINISTRATORS}, or who runs a tool",
    "runtime/storage/unsynced_records.py UnsyncedRecords.doubt_end": DAEMONS,
    "runtime/storage/url_plugin.py _open": PLUGIN,
    "runtime/storage/url_plugin.py _put_file": PLUGIN,
    "runtime/storage/url_plugin.py fetch": PLUGIN,
    "runtime/storage/url_plugin.py move_many": f"{PLUGIN} (2)",
    "runtime/storage/url_plugin.py put": PLUGIN,
    "schedd/services/journal.py QueueJournal._take_lock": DAEMONS,
    "starter/services/view.py _read": "the machine's own lists of accounts",
    "startd/services/facts.py find_whether_it_turns": KERNELS,
}


def test_what_a_user_or_a_job_may_have_made_is_opened_at_ease() -> None:
    found = set()
    for room in ROOMS:
        for path in (SOURCE / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for function, count in plain_opens(tree).items():
                place = f"{path.relative_to(SOURCE)} {function}"
                found.add((place, count))
    known = {(place, _count(reason)) for place, reason in KNOWN.items()}
    assert found == known


def _count(reason: str) -> int:
    return int(reason[-2]) if reason.endswith(")") else 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(path):\n    open(path)", {"f": 1}),
        ("class A:\n    def f(self, path):\n        os.open(path, os.O_RDONLY)", {"A.f": 1}),
        (
            "def f(path):\n    flags = os.O_RDONLY\n    flags |= AT_EASE\n    os.open(path, flags)",
            {},
        ),
        ("FLAGS = os.O_WRONLY | os.O_NONBLOCK\ndef f(path):\n    os.open(path, FLAGS)", {}),
        ("def f(path):\n    open(os.open(path, os.O_RDONLY))", {"f": 1}),
        ("def f(path):\n    fd = open_regular(None, path, 0)\n    open(fd)", {}),
        ("def f(path):\n    open_inside(None, path, os.O_WRONLY)", {"f": 1}),
        ("def f(path):\n    if path:\n        def g():\n            open(path)", {"f.g": 1}),
        ("def f(path):\n    Path(path).read_text()\n    read_bytes(path)", {"f": 2}),
        ("def f(path):\n    Path(path).open()\n    Path('/proc/stat').open()", {"f": 1}),
        ("def f(path):\n    self._files.read_text(path)", {}),
        ("def f(pid):\n    open(f'/proc/{pid}/stat')\n    open('/etc/passwd')", {}),
        ("open(1, 'w', closefd=False)\nopen(name)", {"<module>": 1}),
    ],
)
def test_the_gate_sees(text: str, found: dict[str, int]) -> None:
    assert plain_opens(ast.parse(text)) == found
