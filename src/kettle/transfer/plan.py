"""Which files a job's transfer carries, and under which names; where they land is `landing.py`'s.

Choices only: job ads and looks at the file system in, lists of items out. Sending is
`sending.py`; the attributes come from submit (`transfer_input_files` is TransferInput, and so
on). The execution side's output choice is here too, so that both ends of one rule are read
together. Rules: wire notes, Names and lists, R056-R058.
"""

from __future__ import annotations

import errno
import math
import posixpath
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.patterns import late_pattern
from kettle.steps import take_all
from kettle.transfer.items import (
    FileView,
    Item,
    Look,
    SendDirectory,
    SendFile,
    SendUrl,
    Unlisted,
)
from kettle.transfer.remaps import parse_remaps, remap

STDOUT_NAME = "_condor_stdout"
STDERR_NAME = "_condor_stderr"
# Limit: a directory tree deeper than this is refused; a loop of bind mounts would never end.
MAX_DEPTH = 100
# Limit: items in one transfer; each costs a message and memory at both ends.
MAX_ITEMS = 1_000_000
_URL = late_pattern(r"[A-Za-z][A-Za-z0-9+.\-]*://")
# Files the starter itself puts into the sandbox; they never travel back by being "new".
OWN_FILES = frozenset(
    {".job.ad", ".machine.ad", ".chirp.config", ".update.ad", ".job_wrapper_failure",
     "docker_stderror", STDOUT_NAME, STDERR_NAME, "condor_exec.exe", "var"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """What the catalogue remembers of a file: enough to know that it changed."""

    size: int
    mtime_ns: int


Catalogue = Mapping[str, Seen]


def is_url(text: str) -> bool:
    """Tell whether a transfer entry is a URL rather than a path."""
    return _URL.match(text) is not None


def scheme_of(url: str) -> str:
    """Return the method of a URL, lower case."""
    return url.partition("://")[0].lower()


def split_at_commas(text: str | None) -> list[str]:
    """Return the entries of a comma separated attribute, trimmed, empty ones left out."""
    if not text:
        return []
    return [entry for entry in (part.strip() for part in text.split(",")) if entry]


def plugin_programs(text: str | None) -> list[str]:
    """Return the programs in TransferPlugins, "method,method=program;…"."""
    halves = (part.partition("=") for part in (text or "").split(";"))
    return [program.strip() for _, equals, program in halves if equals and program.strip()]


def check_name(name: str, *, code: int) -> str:
    """Return `name` without a needless `./`; it has to stay inside the receiving directory.

    Raises RefusedError with the hold code for absolute names and names with `..`.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or "\0" in name or ".." in parts or not parts:
        raise RefusedError(f"the file name {name!r} points outside of the sandbox", code=code)
    return "/".join(parts)


def is_standard_stream(job: ClassAd, which: str) -> bool:
    """Tell whether the job's `which` ("In", "Out", "Err") file travels with the transfer.

    Its input always does where the job's files do, also with `transfer_input = false`: the job
    reads from it, whatever else was asked for.
    """
    name = job.string(which)
    if not name or name == "/dev/null" or is_url(name):
        return False
    stream = {"In": "StreamIn", "Out": "StreamOut", "Err": "StreamErr"}[which]
    if job.boolean(stream) is True:
        return False
    return which == "In" or job.boolean(f"Transfer{which}") is not False


@dataclass(frozen=True, slots=True)
class _Encryption:
    """The job's encryption wishes, as patterns matched against the entry and its last part."""

    force: tuple[str, ...]
    forbid: tuple[str, ...]

    @classmethod
    def of(cls, job: ClassAd, direction: str) -> _Encryption:
        return cls(
            tuple(split_at_commas(job.string(f"Encrypt{direction}Files"))),
            tuple(split_at_commas(job.string(f"DontEncrypt{direction}Files"))),
        )

    def wish(self, entry: str) -> bool | None:
        for patterns, answer in ((self.force, True), (self.forbid, False)):
            for pattern in patterns:
                if fnmatchcase(entry, pattern) or fnmatchcase(posixpath.basename(entry), pattern):
                    return answer
        return None


class _Builder:
    """Collects items once each; directories before what is in them."""

    def __init__(self, view: FileView, encryption: _Encryption) -> None:
        self.view = view
        self.encryption = encryption
        self.items: dict[tuple[str, str], Item] = {}
        self.sizes: dict[tuple[str, str], int] = {}

    def add(self, item: Item, size: int = 0) -> None:
        key = ("path", item.path) if isinstance(item, Unlisted) else ("name", item.name)
        if len(self.items) >= MAX_ITEMS:
            raise RefusedError(f"more than {MAX_ITEMS} files to transfer", code=13)
        # The last one wins, as it would when both were written to the receiver.
        if isinstance(item, SendDirectory) and key in self.items:
            return
        self.items.pop(key, None)
        self.items[key] = item
        self.sizes[key] = size

    def drop(self, name: str) -> None:
        """Leave out what came under a name."""
        self.items.pop(("name", name), None)

    def add_parents(self, name: str) -> None:
        parts = name.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            self.add(SendDirectory("/".join(parts[:count])))

    def add_file(self, path: str, name: str, entry: str, look: Look | None) -> None:
        # A pipe or a socket has nothing to send, and the rest of the job's files are good.
        if look is not None and (stat.S_ISFIFO(look.mode) or stat.S_ISSOCK(look.mode)):
            return
        # A file that is not there is sent nevertheless: the sender then reports it, by name.
        link = look is not None and look.is_link and look.is_directory
        item = SendFile(path, name, self.encryption.wish(entry), is_directory_link=link)
        self.add(item, look.size if look and not link else 0)

    def names(self, path: str) -> Sequence[str]:
        """Return what is in a directory; where one cannot be listed, the transfer will say so."""
        try:
            return self.view.names(path)
        except FileNotFoundError:
            # A job may take its whole sandbox away: nothing is left then.
            return ()
        except OSError as error:
            self.add(Unlisted(path, error.errno or errno.EIO))
            return ()

    def add_by_steps(self, path: str, name: str, entry: str, depth: int = 0) -> Iterator[None]:
        """Add what is in the directory `path` under the prefix `name` ("" for none), one by one."""
        if depth > MAX_DEPTH:
            raise RefusedError(f"the directory {path} is nested too deeply", code=13)
        for child in self.names(path):
            yield
            child_path = posixpath.join(path, child)
            child_name = f"{name}/{child}" if name else child
            look = self.view.look(child_path)
            if look is None:
                # A dangling link inside a directory is left out, as nobody asked for it by name.
                continue
            if look.is_directory:
                # It is not followed, as it may lead round, nor left out unsaid.
                if look.is_link:
                    self.add_file(child_path, child_name, entry, look)
                    continue
                self.add(SendDirectory(child_name, look.mode))
                yield from self.add_by_steps(child_path, child_name, entry, depth + 1)
            elif look.is_regular:
                self.add_file(child_path, child_name, entry, look)

    def add_entry(self, entry: str, base: str, *, keep_path: bool) -> None:
        """Add one list entry: a file, a directory, a directory's contents (`d/`), or a URL."""
        for _ in self.entry_by_steps(entry, base, keep_path=keep_path):
            pass

    def entry_by_steps(self, entry: str, base: str, *, keep_path: bool) -> Iterator[None]:
        """Do what `add_entry` does a file at a time."""
        if is_url(entry):
            self.add(SendUrl(entry, url_file_name(entry)))
            return
        path = posixpath.join(base, entry.rstrip("/") or "/")
        look = self.view.look(path)
        relative = keep_path and not entry.startswith("/")
        name = check_name(entry, code=13) if relative else posixpath.basename(path)
        contents_only = entry.endswith("/")
        # A link to a directory is followed only where its contents are asked for.
        if look is not None and look.is_directory and (contents_only or not look.is_link):
            prefix = "" if contents_only and not relative else name
            if prefix:
                # Compat: where a list has `d/e/f` and `d/`, the reference makes an empty `e` too
                # (test_a_list_with_a_folder_and_what_is_in_it_makes_no_folder_of_another_name).
                self.add_parents(prefix)
                self.add(SendDirectory(prefix, look.mode))
            yield from self.add_by_steps(path, prefix, entry)
            return
        if relative:
            self.add_parents(name)
        self.add_file(path, name, entry, look)

    def bytes(self) -> int:
        return sum(self.sizes[key] for key in self.items)


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be sent: the items in order, and the bytes of the files among them."""

    items: tuple[Item, ...]
    sandbox_bytes: int
    # Why something that was named is not among them, if it is so: what is there travels all the
    # same, and the transfer fails.
    objection: str = ""


def url_file_name(url: str) -> str:
    """Return the name a URL's file gets: its last path part, without query and fragment."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    return posixpath.basename(path.rstrip("/")) or "url_file"


def executable_name(job: ClassAd) -> str:
    """Return the name the executable has in the sandbox."""
    return posixpath.basename(job.string("Cmd") or "condor_exec.exe")


def core_name(job: ClassAd) -> str:
    """Return what a job's core file is called at its access point."""
    return f"core.{job.integer('ClusterId') or 0}.{job.integer('ProcId') or 0}"


def plan_input(job: ClassAd, view: FileView) -> Plan:
    """Return what the access point sends before the job's first start (R057)."""
    return take_all(plan_input_by_steps(job, view))


def plan_input_by_steps(
    job: ClassAd,
    view: FileView,
    checkpoint: str = "",
    restored: Generator[None, None, Iterable[Item]] | None = None,
) -> Generator[bool, None, Plan]:
    """Return what the access point sends before the job starts (R057), found a file at a time.

    Order: the job's own URL plug-ins, the entries of TransferInput, the standard input, the
    executable, and last what an earlier run left in the directory `checkpoint`, or at a URL
    (`restored`), so that it replaces the original. Each step, and the last one for certain, tells
    whether anything was found yet. Raises RefusedError with hold code 13 for names that cannot be
    allowed.
    """
    build = _Builder(view, _Encryption.of(job, "Input"))
    for _ in _add_input(build, job, checkpoint, restored):
        yield bool(build.items)
    return Plan(tuple(build.items.values()), build.bytes())


def _add_input(
    build: _Builder,
    job: ClassAd,
    checkpoint: str,
    restored: Generator[None, None, Iterable[Item]] | None,
) -> Iterator[None]:
    base = job.string("Iwd") or "/"
    keep_path = job.boolean("PreserveRelativePaths") is True
    # All at once: the ad may change while others have their turn.
    for entry, is_listed in list(_input_entries(job)):
        yield from build.entry_by_steps(entry, base, keep_path=keep_path and is_listed)
        yield
    if checkpoint:
        yield from build.add_by_steps(checkpoint, "", checkpoint)
        if posixpath.normpath(base) == checkpoint:
            # The events go on here, whatever else of the job's directory travels.
            for log in ("UserLog", "DAGManNodesLog"):
                build.drop(posixpath.basename(job.string(log) or ""))
    if restored is not None:
        for item in (yield from restored):
            build.add(item)
            yield
    yield


def _input_entries(job: ClassAd) -> Iterator[tuple[str, bool]]:
    """Yield what a job names as its input, each with whether it stands in TransferInput's list."""
    for program in plugin_programs(job.string("TransferPlugins")):
        yield program, False
    entries = split_at_commas(job.string("TransferInput")) + _queued_urls(job)
    proxy = job.string("X509UserProxy")
    if proxy and proxy not in entries:
        entries.append(proxy)
    for entry in entries:
        yield entry, True
    if is_standard_stream(job, "In"):
        yield job.string("In") or "", False
    command = job.string("Cmd")
    if command and job.boolean("TransferExecutable") is not False:
        yield command, False


def _queued_urls(job: ClassAd) -> list[str]:
    """Return the URLs that a submitter put apart, a list for each queue of transfers of its own.

    So it is where PROTECTED_URL_TRANSFER_MAPFILE says; here all wait in the one queue.
    """
    lists = job.evaluate("TransferQueueInputList")
    if not isinstance(lists, list):
        return []
    return [url for text in lists if isinstance(text, str) for url in split_at_commas(text)]


def plan_named(view: FileView, named: Iterable[tuple[str, str]]) -> Generator[None, None, Plan]:
    """Return what sends files and whole directories, (path, name) each, the last of a name.

    It is found a file at a time, for those who have other things to do. What is not there is left
    out. RefusedError with hold code 13 for trees that are too deep, and for more than MAX_ITEMS in
    all.
    """
    build = _Builder(view, _Encryption((), ()))
    for path, name in named:
        look = view.look(path)
        if look is None:
            continue
        if look.is_directory and not look.is_link:
            build.add(SendDirectory(name, look.mode))
            yield from build.add_by_steps(path, name, name)
        else:
            build.add_file(path, name, name, look)
        yield
    return Plan(tuple(build.items.values()), build.bytes())


def plan_in_place(job: ClassAd, view: FileView) -> Generator[None, None, Plan]:
    """Return what is sent of a job's output from where its user has it, found a file at a time.

    What SpooledOutputFiles lists, else TransferOutput, and the standard streams that are not
    streamed, each under its last part; a job with neither list has nothing. What is listed and is
    not there is sent all the same, so that its transfer fails. RefusedError (13) as `plan_named`.
    """
    listed = job.string("SpooledOutputFiles")
    if listed is None:
        listed = job.string("TransferOutput")
    build = _Builder(view, _Encryption.of(job, "Output"))
    base = job.string("Iwd") or "/"
    entries = split_at_commas(listed)
    for which in ("Out", "Err"):
        name = job.string(which)
        if listed is not None and name and is_standard_stream(job, which) and name not in entries:
            entries.append(name)
    for entry in entries:
        # What went to its destination as the job ended is not here.
        is_gone = is_url(entry) or (
            "OutputDestination" in job and view.look(posixpath.join(base, entry)) is None
        )
        if not is_gone:
            keep_path = job.boolean("PreserveRelativePaths") is True
            yield from build.entry_by_steps(entry, base, keep_path=keep_path)
        yield
    return Plan(tuple(build.items.values()), build.bytes())


def make_catalogue(view: FileView, sandbox: str) -> dict[str, Seen]:
    """Return what is in the sandbox now; `plan_output` later sends what differs from it."""
    catalogue: dict[str, Seen] = {}
    try:
        names = view.names(sandbox)
    except OSError:
        # All is new that can be looked at later.
        return catalogue
    for name in names:
        look = view.look(posixpath.join(sandbox, name))
        if look is not None and look.is_regular:
            catalogue[name] = Seen(look.size, look.mtime_ns)
    return catalogue


def changed_files(
    view: FileView, sandbox: str, names: Iterable[str], before: Catalogue, skip: frozenset[str]
) -> list[str]:
    """Return the new or changed of the top-level files, the default output of a job (R057)."""
    changed = []
    for name in names:
        if name in skip or name in OWN_FILES:
            continue
        look = view.look(posixpath.join(sandbox, name))
        if look is None or not look.is_regular:
            continue
        if before.get(name) != Seen(look.size, look.mtime_ns):
            changed.append(name)
    return changed


def stream_file_names(job: ClassAd) -> dict[str, str]:
    """Return under which sandbox name the starter writes "Out" and "Err", where it writes any.

    Compat: the special names are used only if StreamOut/StreamErr are in the ad and false, as
    the reference does; tests/unit/transfer/test_plan.py shows both.
    """
    names = {}
    for which, special in (("Out", STDOUT_NAME), ("Err", STDERR_NAME)):
        if not is_standard_stream(job, which):
            continue
        streaming = job.boolean(f"Stream{which}")
        plain = posixpath.basename(job.string(which) or "")
        names[which] = special if streaming is False else plain
    if streams_share_a_file(job):
        names["Err"] = STDOUT_NAME
    return names


def streams_share_a_file(job: ClassAd) -> bool:
    """Whether "Out" and "Err" are one transferred file, written in the order the job writes.

    Two files would land at the same place, and the later one would take the other's away. Only
    names spelled alike count, and only where both have special names, as with the reference.
    """
    return job.string("Out") == job.string("Err") and all(
        is_standard_stream(job, which) and job.boolean(f"Stream{which}") is False
        for which in ("Out", "Err")
    )


def sends_only_changes(job: ClassAd) -> bool:
    """Whether a job's output is what is new in its sandbox, and nothing that it has to be."""
    return job.lookup("TransferOutput") is None and not stream_file_names(job)


def plan_output(
    job: ClassAd,
    view: FileView,
    sandbox: str,
    before: Catalogue,
    *,
    attribute: str = "TransferOutput",
    only_streams: bool = False,
    also: Iterable[str] = (),
) -> Plan:
    """Return what the execution point sends back, standard streams last (R056, R057).

    `attribute` is TransferOutput at the job's end, TransferCheckpoint at a checkpoint, where a
    missing list means that there is nothing but the changed files too, and FailureFiles for a job
    that failed and was to bring its output on success only. `only_streams` is for a
    job that could not run: its streams say why. `also` travels whatever is listed.

    Without a list the streams are files like others: one that the job took away is missed by
    nobody. With a list they are named by it, and have to be there. What is listed outside of the
    sandbox comes under its last part; what keeps its path cannot, and is objected to.
    """
    build = _Builder(view, _Encryption.of(job, "Output"))
    listed = job.string(attribute)
    if attribute == "FailureFiles" and listed is None:
        only_streams = True
    streams = _Streams(job, sandbox, is_named=listed is not None)
    objection = ""
    if listed is None and not only_streams:
        skip = frozenset({executable_name(job), *streams.names.values()})
        entries = changed_files(view, sandbox, build.names(sandbox), before, skip)
        # Where there is room for some of it only, what the job says of that is of it.
        streams.add_to(build, but=entries)
        for entry in entries:
            build.add_entry(entry, sandbox, keep_path=False)
    elif not only_streams:
        objection = _add_listed(build, split_at_commas(listed), job, sandbox)
    for name in also:
        build.add_entry(name, sandbox, keep_path=True)
    streams.add_to(build)
    return Plan(tuple(build.items.values()), build.bytes(), objection)


def _add_listed(build: _Builder, entries: Iterable[str], job: ClassAd, sandbox: str) -> str:
    """Add what a list of output names; return why the first that cannot be sent is not."""
    keep_path = job.boolean("PreserveRelativePaths") is True
    objections = []
    for entry in entries:
        if is_url(entry):
            continue
        inside = entry.removeprefix(sandbox.rstrip("/") + "/")
        if not inside.startswith("/"):
            try:
                check_name(inside if keep_path else posixpath.basename(inside.rstrip("/")), code=12)
            except RefusedError as error:
                objections.append(error.message)
                continue
        # Elsewhere on its machine a job may have written too: read with its own rights.
        build.add_entry(inside, sandbox, keep_path=keep_path)
    return next(iter(objections), "")


class _Streams:
    """The standard streams of a job among its output, each added once."""

    def __init__(self, job: ClassAd, sandbox: str, *, is_named: bool) -> None:
        self.names = stream_file_names(job)
        self._job = job
        self._sandbox = sandbox
        self._is_named = is_named

    def add_to(self, build: _Builder, *, but: Sequence[str] = ()) -> None:
        """Add the streams, `but` those that would land where one of these files does.

        Of two that land at one place the later one stays: that is to be the stream.
        """
        for which, name in list(self.names.items()):
            target = self._job.string(which) or ""
            if posixpath.basename(target) in but:
                continue
            del self.names[which]
            path = posixpath.join(self._sandbox, name)
            look = build.view.look(path)
            is_there = look is not None and look.is_regular
            # Without the special name a listed output may be the stream itself: once is enough.
            is_sent = name == target and ("name", name) in build.items
            if (is_there or self._is_named) and not is_sent:
                build.add_file(path, name, name, look)


def list_spooled(job: ClassAd, plan: Plan) -> list[str]:
    """Return what SpooledOutputFiles says of an output: no streams, and of a folder its name."""
    streams = set(stream_file_names(job).values())
    names = (item.name for item in plan.items if not isinstance(item, Unlisted))
    return [name for name in names if "/" not in name and name not in streams]


def split_url_outputs(job: ClassAd, plan: Plan) -> tuple[Plan, list[tuple[str, str, str]]]:
    """Take out of an output plan what a plug-in puts to a URL: (name, url, path) each.

    That is what TransferOutputRemaps sends to a URL and, with OutputDestination, everything but
    the standard streams, which stay with the access point. Directories vanish: a URL names a file.
    """
    destination = (job.string("OutputDestination") or "").rstrip("/")
    remaps = parse_remaps(job.string("TransferOutputRemaps"))
    if not destination and not any(map(is_url, remaps.values())):
        return plan, []
    streams = set(stream_file_names(job).values())
    kept: list[Item] = []
    to_urls: list[tuple[str, str, str]] = []
    for item in plan.items:
        if isinstance(item, Unlisted):
            kept.append(item)
            continue
        target = remap(item.name, remaps)
        if target is None and isinstance(item, SendFile):
            # A file that was listed by its whole path may be meant by that.
            target = remap(item.path, remaps)
        if isinstance(item, SendFile):
            if target is not None and is_url(target):
                to_urls.append((item.name, target, item.path))
                continue
            if destination and item.name not in streams:
                to_urls.append((item.name, f"{destination}/{target or item.name}", item.path))
                continue
        elif isinstance(item, SendDirectory) and (destination or (target and is_url(target))):
            continue
        kept.append(item)
    return replace(plan, items=tuple(kept)), to_urls


def count_input(job: ClassAd) -> dict[str, int]:
    """Return how many inputs a job names by which protocol, as TransferInputFileCounts has it.

    A directory is one, whatever is in it; and it is what is asked for: where execution and access
    point share their files, nothing of it travels.
    """
    counts: dict[str, int] = {}
    for entry in dict.fromkeys(name for name, _ in _input_entries(job)):
        # What stands before a `+` is which token the plug-in gets.
        scheme = scheme_of(entry).rpartition("+")[2] if is_url(entry) else "cedar"
        name = scheme.upper()
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def size_limit(job: ClassAd, slot: ClassAd | None, attribute: str, default_mb: int) -> int:
    """Return the most bytes a transfer may carry, -1 for no limit.

    `attribute` is MaxTransferInputMB or MaxTransferOutputMB and wins over the knob's value.
    """
    value = job.evaluate(attribute, slot)
    # What is no number is none that was set, and infinitely much is no limit.
    megabytes: float = default_mb
    if isinstance(value, (int, float)) and not math.isnan(value):
        megabytes = value
    return int(megabytes * 1024 * 1024) if 0 <= megabytes < math.inf else -1
