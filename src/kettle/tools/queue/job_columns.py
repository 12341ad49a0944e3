"""How job ads are shown: one function for each named way (PRINTAS) of the queue's tables.

Shared by `condor_q`, `condor_history` and their print-format files. Each function takes an ad and
returns the text, or None where the ad has nothing to show. Texts and widths are the reference's
(vectors `output/cases.json`, recordings in tests/data/cli).
"""

from __future__ import annotations

from os.path import basename

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.tools.printing.times import format_moment, format_span
from kettle.tools.printing.values import Shown

RUNNING = frozenset({JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED})
_LETTERS: dict[int, str] = {status: f"{status.letter} " for status in JobStatus}
_STATUS_WORDS: dict[int, str] = {
    JobStatus.IDLE: "Idle   ",
    JobStatus.RUNNING: "Running",
    JobStatus.REMOVED: "Removed",
    JobStatus.COMPLETED: "Complet",
    JobStatus.HELD: "Held   ",
    JobStatus.TRANSFERRING_OUTPUT: "XFerOut",
    JobStatus.SUSPENDED: "Suspend",
    JobStatus.FAILED: "Failed ",
    JobStatus.BLOCKED: "Blocked",
    JobStatus.PREPARING: "Preparing",
}
_GRID_STATUS_WORDS: dict[int, str] = {
    **{status: status.name for status in JobStatus},
    JobStatus.TRANSFERRING_OUTPUT: "XFER_OUT",
}
# Why a cluster whose jobs are made later makes none; 0: it does.
_FACTORY_MODES = {-1: "Errs", 0: "Norm", 1: "Held", 2: "Done", 3: "Gone"}
_UNIVERSES = {
    JobUniverse.VANILLA: "Vanilla",
    JobUniverse.SCHEDULER: "Scheduler",
    JobUniverse.GRID: "Grid",
    JobUniverse.JAVA: "Java",
    JobUniverse.PARALLEL: "Parallel",
    JobUniverse.LOCAL: "Local",
    JobUniverse.VM: "VM",
}
# Those that no job has had for many years.
_OLD_UNIVERSES = {1: "Standard", 2: "Pipe", 3: "Linda", 4: "PVM", 6: "PVMD", 8: "MPI"}


def show_job_id(ad: ClassAd) -> str | None:
    """Return `cluster.proc`."""
    return f"{ad.integer('ClusterId') or 0}.{ad.integer('ProcId') or 0}"


def show_owner(ad: ClassAd) -> str | None:
    """Return who the job belongs to."""
    return ad.string("Owner")


def show_node_name(ad: ClassAd, depth: int = 1) -> str | None:
    """Return the owner, or the node's name; below a DAG, `depth` graphs to the right."""
    # Late: condor_history has these columns, and no batches.
    from kettle.tools.queue.batches import find_dag, node_name

    node = node_name(ad)
    shown = show_owner(ad) if node is None else node
    return f"{' ' * depth}|-{shown}" if shown is not None and find_dag(ad) else shown


def show_transfers(ad: ClassAd) -> str | None:
    """Return which files of the job are on their way, as an addition to other words."""
    ways = {"TransferringInput": "in", "TransferringOutput": "out", "TransferQueued": "queued"}
    found = [word for attribute, word in ways.items() if ad.boolean(attribute)]
    return f" transfer={','.join(found)}" if found else ""


def show_universe(ad: ClassAd) -> str | None:
    """Return the universe in words; a container does not count."""
    number = ad.integer("JobUniverse")
    return None if number is None else universe_word(number)


def show_status(ad: ClassAd) -> str | None:
    """Return the two letters of the status; arrows show files on their way, q that they wait.

    A c behind it is a job that waits after it failed, until a second that is a whole number.
    """
    letters = _letters(ad)
    now = ad.integer("ServerTime")
    # The ads of a history do not say what time it is: nothing in them waits.
    until = ad.evaluate("JobCoolDownExpiration")
    cools = now is not None and isinstance(until, int) and until > now
    return f"{letters[0]}c" if letters and cools else letters


def _letters(ad: ClassAd) -> str | None:
    status = ad.integer("JobStatus")
    if status is None:
        return None
    queued = ad.boolean("TransferQueued") or False
    if status == JobStatus.TRANSFERRING_OUTPUT or ad.boolean("TransferringOutput"):
        return "q>" if queued else " >"
    if ad.boolean("TransferringInput"):
        return "<q" if queued else "< "
    return _LETTERS.get(status, "  ")


def status_word(number: int) -> str:
    """Return a status as a word of seven letters."""
    return _STATUS_WORDS.get(number, "Unk    ")


def factory_mode(number: int) -> str:
    """Return how the making of a cluster's jobs stands, in four letters."""
    return _FACTORY_MODES.get(number, "Unk")


def universe_word(number: int) -> str:
    """Return a universe in words."""
    word = _OLD_UNIVERSES.get(number)
    if word is None and number in set(JobUniverse):
        word = _UNIVERSES.get(JobUniverse(number))
    return word or "Unknown"


def show_submitted(ad: ClassAd) -> str | None:
    """Return when the job was submitted."""
    return show_date("QDate")(ad)


def show_cpu_time(ad: ClassAd) -> str | None:
    """Return the processor time of the user's program."""
    seconds = ad.real("RemoteUserCpu")
    return None if seconds is None else format_span(seconds)


def show_run_time(ad: ClassAd) -> str | None:
    """Return how long the job has run: this time, or before it was put back or held."""
    seconds = run_time(ad)
    return None if seconds is None else format_span(seconds)


def run_time(ad: ClassAd) -> float | None:
    """Return for how many seconds the job has run: this time, or before it was put back or held.

    Compat: nothing for a job whose processor time is not known; shown by test_queue_recordings.
    """
    if ad.real("RemoteUserCpu") is None:
        return None
    seconds = _running(ad)
    if ad.integer("ServerTime") and ad.integer("JobStatus") in {JobStatus.IDLE, JobStatus.HELD}:
        seconds = ad.real("LastRemoteWallClockTime") or 0.0
    return seconds


def show_all_run_time(ad: ClassAd) -> str | None:
    """Return how long the job has run, this time and before."""
    if ad.real("RemoteUserCpu") is None:
        return None
    before = ad.real("RemoteWallClockTime") or 0.0
    return format_span(_running(ad) + (before if ad.integer("ServerTime") else 0.0))


def _running(ad: ClassAd) -> float:
    """Return how long a job has been running; 0 if it does not, -1 if no schedd says the time.

    Compat: a shadow that began after now has run for less than nothing, as in the reference
    (test_tables_recordings).
    """
    began, now = ad.integer("ShadowBday"), ad.integer("ServerTime")
    if not now:
        return -1.0
    return float(now - began) if ad.integer("JobStatus") in RUNNING and began else 0.0


def show_memory(ad: ClassAd) -> str | None:
    """Return the memory in use, in MB; before it is known, the size of the executable."""
    used = ad.integer("MemoryUsage")
    if used is not None:
        return f"{used:.1f}"
    size = ad.integer("ImageSize")
    return None if size is None else f"{size / 1024:.1f}"


def show_description(ad: ClassAd) -> str | None:
    """Return the job's description in parentheses, or its command without the path.

    A job that does not say its command has no description either.
    """
    command = ad.string("Cmd")
    if command is None:
        return None
    described = ad.string("JobDescription")
    if described:
        return f"({described})"
    return _with_arguments(basename(command), ad)


def _with_arguments(command: str, ad: ClassAd) -> str:
    arguments = ad.string("Arguments")
    if arguments is None:
        arguments = ad.string("Args")
    return f"{command} {arguments}" if arguments else command


def show_host(ad: ClassAd) -> str | None:
    """Return where the job runs; for a grid job, where it was sent.

    An address is shown as the host that it belongs to.
    """
    if ad.integer("JobUniverse") == JobUniverse.GRID:
        return ad.string("EC2RemoteVirtualMachineName") or ad.string("GridResource")
    host = ad.string("RemoteHost")
    return _name_of(host) if host and host.startswith("<") else host


def _name_of(address: str) -> str:
    import socket  # few jobs say where they run by an address

    from kettle.errors import WireError
    from kettle.wire.sinful import Sinful

    try:
        where = Sinful.parse(address).host
        return socket.getnameinfo((where, 0), socket.NI_NAMEREQD)[0]
    except (OSError, WireError):
        return address


def show_hold_subcode(ad: ClassAd) -> str:
    """Return what stands right behind the code of the hold."""
    subcode = ad.integer("HoldReasonSubCode")
    return "    " if subcode is None else f"/{subcode:<3d}"


def show_grid_resource(ad: ClassAd) -> str | None:
    """Return `type->manager host` of a grid job."""
    text = ad.string("GridResource")
    if text is None:
        return None
    kind, blank, rest = text.partition(" ")
    if not blank:
        kind, rest = "globus", text
    place, blank, manager = rest.partition(" ")
    if not blank:
        place, word, manager = rest.partition("jobmanager-")
        manager = manager if word else "[?]"
    host = place.partition("://")[2] if "://" in place else place
    for end in ":/":
        host = host.partition(end)[0]
    if kind == "ec2":
        return f"ec2 {ad.string('EC2RemoteVirtualMachineName') or host}"
    return f"{kind}->{manager.replace(' ', '/')} {host}"


def show_grid_id(ad: ClassAd) -> str | None:
    """Return the job's name at the place it was sent to."""
    text = ad.string("GridJobId")
    if text is None:
        return None
    last = text.rpartition(" ")[2]
    place = last.partition("://")[2] if "://" in last else last
    slash = place.find("/")
    return place[slash:] if slash >= 0 else place


def show_grid_status(ad: ClassAd) -> str | None:
    """Return what the remote system says of the job."""
    text, number = ad.string("GridJobStatus"), ad.integer("GridJobStatus")
    if text is not None or number is None:
        return text
    return _GRID_STATUS_WORDS.get(number, str(number))


def show_date(attribute: str) -> Shown:
    """Return the way to show a moment that is in `attribute`."""

    def show(ad: ClassAd) -> str | None:
        moment = ad.real(attribute)
        return None if moment is None else format_moment(moment)

    return show


def show_span(attribute: str) -> Shown:
    """Return the way to show a span of seconds that is in `attribute`."""

    def show(ad: ClassAd) -> str | None:
        seconds = ad.real(attribute)
        return None if seconds is None else format_span(seconds)

    return show


def show_number(attribute: str) -> Shown:
    """Return the way to show a number that is in `attribute`.

    Compat: the reference shows the last 32 bits of one as a whole number, so that what is larger
    may be negative (test_a_large_number_is_shown_as_it_is).
    """

    def show(ad: ClassAd) -> str | None:
        number = ad.integer(attribute)
        return None if number is None else str(number)

    return show


def show_text(attribute: str) -> Shown:
    """Return the way to show a string that is in `attribute`; `undefined` if it is not there."""

    def show(ad: ClassAd) -> str | None:
        return ad.string(attribute) or "undefined"

    return show
