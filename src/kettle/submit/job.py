"""One job under construction: its attributes, and what the steps that make them may ask.

The steps and their order are in `steps.py`; `build.py` runs them and finds out what differs from
job to job.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, TypeVar

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd, parse_expression
from kettle.classad.parser import is_plain
from kettle.classad.text import LONG_FORMULA, is_long_formula, quote_old
from kettle.digits import MAX_INTEGER, MIN_INTEGER, whole
from kettle.errors import ClassAdSyntaxError, SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit.literals import asked_names, normalize
from kettle.submit.notices import ERROR_MARK, WARNING_MARK, Notice
from kettle.submit.registry import attribute_of, command_names, given_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kettle.config import Config
    from kettle.errors import LanguageError
    from kettle.submit.commands.command import Command
    from kettle.submit.macros import SubmitMacros
    from kettle.submit.sources import SubmitFacts, SubmitSources
    from kettle.wire.security.mapfile import MapFile

TRUTHS = ("true", "false", "yes", "no")
_DIGITS = late_pattern(r"[-+]?[0-9]+")
_SLASHES = late_pattern(r"([/\\])[/\\]+")
_LITERAL = late_pattern(r"[-+]?[0-9]+(\.[0-9]+)?")

T = TypeVar("T")


class Attributes:
    """Attribute texts by name in any case; the first spelling stays.

    Those of a later job lie over those of its cluster, which show through: `texts` are its own.
    """

    def __init__(self, cluster: Mapping[str, tuple[str, str]] | None = None) -> None:
        self.texts: dict[str, tuple[str, str]] = {}
        self.cluster: Mapping[str, tuple[str, str]] = cluster or {}

    def set(self, name: str, text: str) -> None:
        """Set an attribute to the text of an expression."""
        key = name.lower()
        known = self.texts.get(key) or self.cluster.get(key)
        self.texts[key] = (known[0] if known else name, text)

    def get(self, name: str) -> str | None:
        """Return the text of an attribute, None if it is not there."""
        key = name.lower()
        found = self.texts.get(key) or self.cluster.get(key)
        return None if found is None else found[1]

    def remove(self, name: str) -> None:
        """Take an attribute away; it need not be there."""
        self.texts.pop(name.lower(), None)

    def __contains__(self, name: str) -> bool:
        key = name.lower()
        return key in self.texts or key in self.cluster

    def all(self) -> dict[str, tuple[str, str]]:
        """Return all texts, those of the cluster that show through among them."""
        return {**self.cluster, **self.texts}

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.all().values())

    def names(self) -> Iterator[str]:
        """Return the names alone."""
        return (name for name, _ in self.all().values())

    def __len__(self) -> int:
        return len(self.all())

    def to_ad(self, parent: ClassAd | None = None) -> ClassAd:
        """Return the attributes as an ad, parsed when they are looked at."""
        ad = ClassAd(parent=parent)
        for name, text in self.texts.values():
            ad.insert_text(name, text)
        return ad


def mentioned_names(text: str) -> frozenset[str]:
    """Return the attributes that an expression asks for, in lower case (`literals.asked_names`)."""
    return frozenset(map(str.lower, asked_names(text)))


class JobBuilder:
    """What the steps share.

    What one step says to others are its attributes and these fields, whose values never change:
    another list is another value.
    """

    universe: JobUniverse = JobUniverse.VANILLA
    grid_type: str = ""
    is_docker: bool = False
    is_container: bool = False
    input_files_named: bool = False
    evict_changes: tuple[str, ...] = ()
    container_clause: str = ""
    input_files: tuple[str, ...] = ()
    input_images: tuple[str, ...] = ()
    # The URLs among what travels to the job.
    transferred_urls: tuple[str, ...] = ()
    # The class or archive of a Java job, and its further archives.
    java_files: tuple[str, ...] = ()
    executable_kib: int = 0
    status: int = 1
    # What `+JobStatus` says, None where it is no number.
    asked_status: int | None = None
    # Names and texts of what a description forces that does not parse.
    wrong_forced: tuple[str, ...] = ()
    should_transfer: str = ""
    when_to_transfer: str = ""
    needs_deferral: bool = False

    def __init__(
        self,
        macros: SubmitMacros,
        sources: SubmitSources,
        config: Config,
        facts: SubmitFacts,
        *,
        spooled: bool = False,
        interactive: bool = False,
        checks_program: bool = True,
        allows_dos_scripts: bool = False,
        extended: tuple[Command, ...] = (),
        protected: MapFile | None = None,
        cluster: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.macros = macros
        self.sources = sources
        self.config = config
        self.facts = facts
        self.spooled = spooled
        self.interactive = interactive
        self.checks_program = checks_program
        self.allows_dos_scripts = allows_dos_scripts
        self.extended = extended
        self.protected = protected
        # Whether the cluster has its attributes already, which this job has too until it sets its
        # own: what its commands do not say is as it is there.
        self.is_later = bool(cluster)
        self.attributes = Attributes(cluster)
        self.forced = Attributes()
        self.warnings: list[Notice] = []
        # The names that the step has looked at which are there, for whoever tells of a refusal.
        self.asked: list[str] = []

    def ask(self, question: Callable[..., T], *words: object) -> T:
        """Ask a question about the job: that a step asked counts for what the answer is alone."""
        return question(self, *words)

    def take_step(self, run: Callable[[JobBuilder], None]) -> None:
        """Run a step; whatever it refuses, `at_fault` says which command is to blame."""
        self.asked.clear()
        run(self)

    def at_fault(self, error: LanguageError) -> str:
        """Return the command that the running step refuses, empty if it has looked at none.

        It is that which the error names, else the one that was looked at last.
        """
        if isinstance(error, SubmitError) and error.command is not None:
            return error.command
        return self.asked[-1] if self.asked else ""

    def _asked_for(self, attribute: str) -> str | None:
        """Return the command that was asked for an attribute; None if no command of it was."""
        for name in reversed(self.asked):
            if attribute_of(name).lower() == attribute.lower():
                return name
        return None

    def note(self, name: str) -> None:
        """Remember that a name is looked at, for whoever tells of a refusal or a problem."""
        self.asked.append(name)
        self.macros.reading = name

    def param(self, command: str) -> str | None:
        """Return the expanded text of a command; None if it is not set or empty."""
        for name in command_names(command):
            text = self.macros.raw(name)
            if text is not None:
                self.note(name)
                # Blanks beside a macro that expands to nothing stay, as in the reference.
                return (self.macros.expand(text) if "$" in text else text) or None
        return None

    def said(self, command: str, attribute: str) -> str | None:
        """Return what a command says, else the string that the cluster has for its attribute."""
        text = self.param(command)
        if text is None and self.is_later:
            value = evaluate(self.of_cluster(attribute) or "")
            return value if isinstance(value, str) else None
        return text

    def of_cluster(self, attribute: str) -> str | None:
        """Return the text that a job's cluster has for an attribute: the same for all its jobs."""
        found = self.attributes.cluster.get(attribute.lower())
        return None if found is None else found[1]

    def stays(self, attribute: str, *, otherwise: bool) -> bool:
        """Tell whether a later job is of a kind because its cluster is.

        An attribute that the description itself forces tells of no kind, and `otherwise` counts.
        """
        if self.text_of(f"MY.{attribute}") is not None:
            return otherwise
        return self.of_cluster(attribute) == "true"

    def text_of(self, name: str) -> str | None:
        """Return the expanded text of exactly this name, other names of its command aside."""
        text = self.macros.raw(name)
        if text is not None:
            self.note(name)
        return None if text is None else self.macros.expand(text)

    def expand(self, text: str) -> str:
        """Return a text of the description with its macros replaced."""
        return self.macros.expand(text)

    def pair_error(self, either: str, new: str, allow: str) -> SubmitError:
        """Return the error for a command that is there for both syntaxes and for the new one."""
        return SubmitError(
            f"If you wish to specify both '{either}' and\n'{new}' for maximal "
            "compatibility with different\nversions of Condor, then you must also specify\n"
            f"{allow}=true.",
            command=new,
        )

    @property
    def status_in_queue(self) -> int:
        """The status that the job enters the queue with: what it asks for itself counts most."""
        return self.status if self.asked_status is None else self.asked_status

    @property
    def shell_line(self) -> str | None:
        """The line for /bin/sh that stands in for a program; interactive jobs have none."""
        return None if self.interactive else self.param("shell")

    def is_set(self, command: str) -> bool:
        """Tell whether a command is in the description, even with nothing after the `=`."""
        return any(self.macros.is_set(name) for name in command_names(command))

    def set_default(self, name: str, text: str) -> None:
        """Set an attribute that no command says, unless the job has it."""
        if name not in self.attributes:
            self.attributes.set(name, text)

    def set_text(self, name: str, text: str) -> None:
        """Set an attribute to a text that is printed as ads print it already."""
        self.attributes.set(name, text)

    def set_expression(self, name: str, text: str) -> None:
        """Set an attribute to an expression; raise SubmitError where it does not parse."""
        self.attributes.set(name, self.checked(name, text))

    def checked(self, name: str, text: str) -> str:
        """Return an expression as ads print it; raise SubmitError where it does not parse."""
        if is_plain(text):
            return text
        if is_long_formula(text):
            raise SubmitError(f"{name} {LONG_FORMULA}", command=self._asked_for(name))
        try:
            return normalize(text)
        except ClassAdSyntaxError as error:
            message = f"Parse error in expression: \n\t{name} = {text}\n\t"
            raise SubmitError(message, command=self._asked_for(name)) from error

    def set_conjunction(self, name: str, clauses: list[str]) -> None:
        """Set an attribute to what all clauses say; raise SubmitError where it does not parse.

        No clause binds its parts more loosely than a conjunction does, so that each can be
        printed by itself: most are the same for all jobs.
        """
        whole = " && ".join(clauses)
        if is_long_formula(whole):
            self.set_expression(name, whole)
            return
        try:
            self.attributes.set(name, " && ".join([normalize(clause) for clause in clauses]))
        except ClassAdSyntaxError:
            # Together they may be one all the same.
            self.set_expression(name, whole)

    def set_string(self, name: str, text: str) -> None:
        """Set an attribute to a string."""
        self.attributes.set(name, quote_old(text))

    def set_integer(self, name: str, number: int) -> None:
        """Set an attribute to a number."""
        self.attributes.set(name, str(number))

    def set_boolean(self, name: str, value: bool) -> None:
        """Set an attribute to a truth value."""
        self.attributes.set(name, "true" if value else "false")

    def boolean(self, command: str) -> bool | None:
        """Return the truth of a command; raise SubmitError if it has none."""
        text = self.param(command)
        if text is None:
            return None
        value = evaluate(text)
        if isinstance(value, (bool, int, float)):
            return bool(value)
        said = f"{command}={text} is invalid, must eval to a boolean."
        raise SubmitError(said, command=command, choices=TRUTHS)

    def integer(self, command: str, shown: str = "", *, bits: int = 65) -> int | None:
        """Return the number of a command; raise SubmitError if it is none, or has more `bits`."""
        text = self.param(command)
        if text is None:
            return None
        number = whole_number(text)
        if number is None or abs(number) >> (bits - 1):
            name = shown or self.name_of(command)
            said = f"{name}={text} is invalid, must eval to an integer."
            raise SubmitError(said, command=command)
        return number

    def name_of(self, command: str) -> str:
        """Return the name under which the description gives a command; not its attribute's."""
        for name in given_names(command):
            if self.macros.is_set(name):
                return name
        return command

    def warn(self, command: str, text: str, mark: str = WARNING_MARK) -> None:
        """Say that something about a command is odd, and go on."""
        self.warnings.append(Notice(text, command, mark))

    def want_units(self, command: str, said: str, before: str = "") -> None:
        """Complain of a size without a unit as SUBMIT_REQUEST_MISSING_UNITS wants it; SubmitError.

        `{must}` in what is said becomes must or should.
        """
        wish = (self.config.get("SUBMIT_REQUEST_MISSING_UNITS") or "").lower()
        if wish == "error":
            text = said.format(must="must")
            again = f"{before}{ERROR_MARK}" if before else ""
            raise SubmitError(f"{again}{text}", command=command, complaint=text)
        if wish:
            mark = f"{WARNING_MARK}{before}{WARNING_MARK}" if before else WARNING_MARK
            self.warn(command, said.format(must="should"), mark)

    def path(self, name: str) -> str:
        """Return a name as seen from the job's own folder."""
        return whole_path(self.folder, name)

    @property
    def folder(self) -> str:
        """The job's initial folder, absolute."""
        text = self.param("initialdir")
        if text is None:
            return self.facts.folder
        return whole_path(self.facts.folder, text)

    def size_kib(self, path: str) -> int:
        """Return the size of a file, or of all in a folder, in KiB, rounded up; 0 for none."""
        fact = self.sources.look_at(path)
        if fact is None:
            return 0
        if not fact.is_measured:
            return 1
        size = self.sources.folder_bytes(path) if fact.is_directory else fact.size_bytes
        return (size + 1023) // 1024

    def current(self, name: str) -> str | None:
        """Return the text an attribute will have: forced, else as made so far."""
        forced = self.forced.get(name)
        return self.attributes.get(name) if forced is None else forced


FIELDS: Final = frozenset(JobBuilder.__annotations__)


def whole_path(folder: str, name: str) -> str:
    """Return a name as seen from a folder; of slashes in a row the first stays."""
    whole = name if name.startswith("/") else posixpath.join(folder, name)
    if "//" not in whole and "\\" not in whole:
        return whole
    # As in the reference, a backslash counts as one.
    return _SLASHES.sub(r"\1", whole)


def evaluate(text: str, attributes: Mapping[str, str] | None = None) -> object:
    """Evaluate an expression among the texts of attributes; None where it does not parse."""
    if not text:
        return None
    if is_plain(text):
        return text[1:-1] if text[0] == '"' else int(text)
    if is_long_formula(text):
        return None
    ad = ClassAd()
    for name, value in (attributes or {}).items():
        ad.insert_text(name, value)
    try:
        return ad.evaluate_expression(parse_expression(text, old=True))
    except ClassAdSyntaxError:
        return None


def whole_number(text: str) -> int | None:
    """Return the number that an expression is, as one of 64 bits; None where it is none."""
    if _DIGITS.fullmatch(text):
        return min(max(leading_number(text) or 0, MIN_INTEGER), MAX_INTEGER)
    value = evaluate(text)
    if isinstance(value, float):
        # What no number of 64 bits can be is the least one, as where C does it.
        return int(value) if MIN_INTEGER <= value <= MAX_INTEGER else MIN_INTEGER
    return int(value) if isinstance(value, (bool, int)) else None


def leading_number(text: str, bits: int = 0) -> int | None:
    """Return the number that a text begins with, cut to `bits` as C's atoi() does it.

    Blanks before it do not count.
    """
    digits = _DIGITS.match(text.lstrip(BLANKS))
    if digits is None:
        return None
    number = whole(digits.group())
    if not bits:
        return number
    number = min(max(number, MIN_INTEGER), MAX_INTEGER) & ((1 << bits) - 1)
    return number - (number >> (bits - 1) << bits)


def literal_number(text: str) -> float | None:
    """Return what a number or truth value says by itself, None for all other expressions."""
    word = text.lower()
    if word in ("true", "false"):
        return float(word == "true")
    return float(text) if _LITERAL.fullmatch(text) else None


def split_at_commas(text: str) -> list[str]:
    """Split at commas, without white space around and without empty parts."""
    return [part.strip(BLANKS) for part in text.split(",") if part.strip(BLANKS)]


def strip_quotes(text: str) -> str:
    """Remove blanks and then one pair of double quotes around a text."""
    return unquoted(text.strip(BLANKS))


def unquoted(text: str) -> str:
    """Remove one pair of double quotes around a text; a lone quote is both of them."""
    return text[1:-1] if text[:1] == text[-1:] == '"' else text
