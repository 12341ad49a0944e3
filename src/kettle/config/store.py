"""The macro table: which text a name has, where it came from, and what it means as a value.

`Config` answers in the order subsystem and local name, plain name, built-in default, detected
fact. How files become entries is `reader.py`, which files are read is `loading.py`, what `$()`
means is `expander.py`, and what a text means for a knob is `knob.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from kettle.config import expander, knob, loading, metaknobs
from kettle.config.origin import DEFAULT_SOURCE, DETECTED_SOURCE, Asked, Origin
from kettle.config.sources import MemorySources, Sources
from kettle.config.subsystem_defaults import SUBSYSTEM_DEFAULTS
from kettle.errors import ConfigError, Remark
from kettle.named_tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kettle.classad import Expr
    from kettle.config.forgiving import Forgiveness, Readable
    from kettle.config.functions import Problem
    from kettle.nearest import Nearest

T = TypeVar("T")

# Facts that no file may change: whoever asks gets what was detected.
FIXED_FACTS = frozenset(
    {
        "DETECTED_CPUS",
        "FULL_HOSTNAME",
        "HOSTNAME",
        "IPV4_ADDRESS",
        "IPV6_ADDRESS",
        "IP_ADDRESS",
        "IP_ADDRESS_IS_IPV6",
        "LOCALNAME",
        "PID",
        "PPID",
        "REAL_GID",
        "REAL_UID",
        "SUBSYSTEM",
        "TILDE",
        "USERNAME",
    }
)


class Macro(NamedTuple):
    """One name with its unexpanded text."""

    name: str
    text: str
    origin: Origin


# Limit: names whose entry is remembered; tools may ask a daemon for any name at all.
_REMEMBERED_NAMES = 4096
# Limit: the characters of all statements of one configuration together, each with what it adds to.
# `L = $(L) item` copies what L was, and a million such lines would copy for hours.
MOST_SET = 1 << 31
# To look for a mention of itself costs as much, for each dollar of a text, as so many characters.
_WORK_OF_A_DOLLAR = 5_000


class Config:
    """The settings of one program, as its files and environment had them when they were read.

    What changes in files counts for the next one that is loaded. Later only `assign` adds to them,
    for a command line or for what is set from afar, and `forgive` says what becomes of wrong ones.

    How to ask:

    - Whoever has the knob's row, as daemons do: `config[Knobs.NAME]`. What must go on even where
      nothing is forgiven asks for its `value(Knobs.NAME)`, which no wrong text stops.
    - Whoever has a name alone, as tools do, or one that is made at run time: `get(name)` for its
      text, `integer`, `real`, `boolean`, `words` and `expression` for what that means. Who goes on
      without an expression that does not parse takes the `sound_expression`.
    - Whoever shows or judges settings, and not their values: `raw`, `find`, `origin` and `entries`
      for what is in force, `find_set`, `find_default` and `find_built_in` for who says it.
    - `read` and `text` are the first two ways where nothing is forgiven, for `forgiving.py`, which
      looks for a value that can be read.
    """

    def __init__(
        self,
        sources: Sources,
        environment: Mapping[str, str],
        *,
        subsystem: str = "TOOL",
        local_name: str | None = None,
    ) -> None:
        self.sources = sources
        self.environment = environment
        self.subsystem = subsystem.upper()
        self._subsystem_as_given = subsystem
        self.local_name = local_name
        self.files: list[str] = []
        # What the reading complained of, in order, with what functions could not compute in it.
        self.warnings: list[Remark] = []
        # What functions cannot compute of what was asked for since.
        self.problems: list[Remark] = []
        self._is_read = False
        # Who hears of what a name had before it was set again, under the spelling of the later
        # statement. Nobody else keeps it: each may be as long as all before it together.
        self.on_replaced: Callable[[Macro], object] | None = None
        self._set_again: set[str] = set()
        self._set_size = 0
        # Statements that asked for macros while they were read.
        self.asked: list[Asked] = []
        # Assignments with words between name and operator, each with its words.
        self.wordy: list[Asked] = []
        self._macros: dict[str, Macro] = {}
        # Daemons ask for the same few names all day long.
        self._found: dict[str, Macro | None] = {}
        self.own_facts: dict[str, str] = {}
        self._facts: dict[str, tuple[str, str]] | None = None
        self._detected: dict[str, tuple[str, str]] | None = None
        self._forgiveness: Forgiveness | None = None
        self._expander = expander.Expander(
            self.raw, environment.get, sources.random, on_problem=self._add_problem
        )

    def _add_problem(self, problem: Problem) -> None:
        said = self.problems if self._is_read else self.warnings
        said.append(Remark(problem.render()))

    def end_reading(self) -> None:
        """Say that all is read: what functions cannot compute from now on is a problem."""
        self._is_read = True

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        subsystem: str = "TOOL",
        local_name: str | None = None,
        environment: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Config:
        """Read a configuration out of a string, for tests and for tools; raise ConfigError."""
        sources = MemorySources(files={"/condor_config": text}, facts=dict(facts or {}))
        return load_config(
            sources,
            {"CONDOR_CONFIG": "/condor_config", **(environment or {})},
            subsystem=subsystem,
            local_name=local_name,
        )

    def __getitem__(self, which: knob.Knob[T]) -> T:
        """Return the knob's value; raise ConfigError naming the place where it is set wrongly."""
        try:
            return self.read(which)
        except ConfigError as error:
            if not self.forgiveness.has_begun:
                raise
            value, said = self.forgiveness.instead_of(which, self.expand)
            self.forgiveness.complain(which.name, f"{error}: {said}")
            return value

    def read(self, which: knob.Knob[T]) -> T:
        """Return the knob's value, or raise ConfigError; nothing is forgiven."""
        try:
            text = self.text(which.name)
            return which.parse(self._default_for(which) if text is None else text)
        except ConfigError as error:
            raise self._placed(which.name, error) from error

    def value(self, which: knob.Knob[T]) -> T:
        """Return the knob's value, or what counts instead: for what must go on."""
        try:
            return self[which]
        except ConfigError:
            return self.forgiveness.instead_of(which, self.expand)[0]

    def get(self, name: str) -> str | None:
        """Return the expanded text of a name; None if it is not defined or empty."""
        try:
            return self.text(name)
        except ConfigError as error:
            if not self.forgiveness.has_begun:
                raise
            wrong = self._placed(name, error)
            found = self.forgiveness.instead(name, lambda config: config.text(name), str)
            text, said = found or (None, "it counts as not set")
            self.forgiveness.complain(name, f"{wrong}: {said}")
            return text

    def text(self, name: str) -> str | None:
        """Return the expanded text of a name, or raise ConfigError; nothing is forgiven."""
        raw = self.raw(name)
        if not raw:
            return None
        if "$" not in raw:
            return raw
        return self.expand(raw) or None

    @property
    def forgiveness(self) -> Forgiveness:
        """What becomes of wrong values."""
        if self._forgiveness is None:
            # Loaded by those alone who meet something wrong, or are at work.
            from kettle.config.forgiving import Forgiveness

            self._forgiveness = Forgiveness()
        return self._forgiveness

    def _placed(self, name: str, error: ConfigError) -> ConfigError:
        """Return the error with the place where the name is set before it."""
        from kettle.config.forgiving import placed  # for those alone who meet one

        return placed(error, self.origin(name))

    def forgive(
        self, tell: Callable[[str], object] | None = None, *, before: Config | None = None
    ) -> None:
        """From now on a wrong value is told of, once, and something else counts instead.

        That is the value that it had `before`, or what `forgiving.py` names. For whoever is at work
        and must go on. What is met before there is a `tell` is told then.
        """
        self.forgiveness.begin(tell, before)

    def strictly(self) -> Config:
        """Return the same configuration, which forgives nothing."""
        return self._copy(_forgiveness=self.forgiveness.withheld())

    def remembering(self) -> Config:
        """Return the same configuration for questions about all of it: a name is expanded once."""
        return self._copy(_expander=self._expander.remembering())

    def _copy(self, **changes: object) -> Config:
        # `copy` would be loaded for this alone, by every tool.
        same = type(self).__new__(type(self))
        same.__dict__.update(self.__dict__, **changes)
        return same

    def raw(self, name: str) -> str | None:
        """Return the text of a name as it was written, None if nobody defines it."""
        found = self.find(name)
        return None if found is None else found.text

    def expand(self, text: str) -> str:
        """Replace every `$(NAME)` and `$FUNCTION()`; raise ConfigError on a circular reference."""
        return self._expander.expand(text)

    def expand_known(self, text: str) -> str:
        """Replace what this configuration defines; the rest stays, for whoever reads it next."""
        known = expander.Expander(
            self.get, self.environment.get, self.sources.random, on_problem=self._add_problem
        )
        return known.expand_only(text, self.is_defined)

    def origin(self, name: str) -> Origin | None:
        """Return where the text in force was set, None if nobody defines the name."""
        found = self.find(name)
        return None if found is None else found.origin

    def integer(self, name: str) -> int | None:
        """Return a number known by name only at run time, None if there is none.

        This, `real` and `boolean` give the default of what is set to nothing, or to no such value.
        """
        return self._parsed(name, knob.parse_integer)

    def real(self, name: str) -> float | None:
        """Return a real number known by name only at run time, None if there is none."""
        return self._parsed(name, knob.parse_real)

    def boolean(self, name: str) -> bool | None:
        """Return a truth value known by name only at run time, None if there is none."""
        return self._parsed(name, knob.parse_boolean)

    def _parsed(self, name: str, parse: Callable[[str], T | None]) -> T | None:
        """Return what a text means; who forgives takes, for one that means nothing, another."""
        text = self.get(name)
        value = None if text is None else parse(text)
        if value is not None:
            return value

        def read(config: Readable) -> T | None:
            value = parse(config.text(name) or "")
            if value is None:
                raise ConfigError("that was no value either")
            return value

        found = None
        if text is not None and self.forgiveness.has_begun:
            found = self.forgiveness.instead(name, read, parse)
        if found is None:
            default = self.default_text(name)
            return None if default is None else parse(default)
        wrong = self._placed(name, ConfigError(f"{name} = {text} is no value"))
        self.forgiveness.complain(name, f"{wrong}: {found[1]}")
        return found[0]

    def expression(self, name: str) -> Expr | None:
        """Return an expression known by name only at run time; None if undefined; ConfigError."""
        text = self.get(name)
        return None if text is None else knob.parse_expression_text(text)

    def sound_expression(self, name: str, report: Callable[[str], object]) -> Expr | None:
        """Return such an expression; one that does not parse is told of and counts as undefined."""
        try:
            return self.expression(name)
        except ConfigError as error:
            place = self.origin(name)
            wrong = f"{f'{place}: ' if place else ''}{name}"
            found = self.forgiveness.instead(
                name,
                lambda config: knob.parse_expression_text(config.text(name) or ""),
                knob.parse_expression_text,
            )
            if found is None:
                report(f"{wrong} is ignored: {error.message}")
                return None
            report(f"{wrong}: {error.message}: {found[1]}")
            return found[0]

    def words(self, name: str) -> tuple[str, ...]:
        """Return the words of a list known by name only at run time."""
        return knob.split_list(self.get(name) or "")

    def find(self, name: str) -> Macro | None:
        """Return the entry in force for a name, with its spelling and origin."""
        try:
            return self._found[name]
        except KeyError:
            found = self._search(name)
        if len(self._found) < _REMEMBERED_NAMES:
            self._found[name] = found
        return found

    def _search(self, name: str) -> Macro | None:
        key = name.upper()
        macros = self._macros
        for prefixed in self._prefixed(key):
            if prefixed in macros:
                return macros[prefixed]
        if key in macros:
            return macros[key]
        return self.find_default(name)

    def find_set(self, name: str) -> Macro | None:
        """Return what files and environment set for exactly this name, prefixes included."""
        return self._macros.get(name.upper())

    def find_default(self, name: str) -> Macro | None:
        """Return the detected fact or the built-in default for a name."""
        key = name.upper()
        fact = self.facts().get(key)
        if fact is not None:
            return Macro(fact[0], fact[1], Origin(DETECTED_SOURCE))
        return self.find_built_in(name)

    def find_built_in(self, name: str) -> Macro | None:
        """Return the built-in default for a name, also for a fact that was detected."""
        # Loaded on the first name that no file sets: many tools never ask for one.
        from kettle.config.default_texts import find_default_text

        row = find_default_text(name.upper(), self.subsystem)
        return None if row is None else Macro(row[0], row[1], Origin(DEFAULT_SOURCE))

    def assign(self, name: str, text: str, origin: Origin) -> None:
        """Set a name; mentions of itself are replaced by what it was before (R027).

        A text that is the default in other letters is the default, for a name that nothing has set
        before. Raises ConfigError where all texts together are longer than MOST_SET.
        """
        key = name.upper()
        if key in FIXED_FACTS and key in self.facts():
            return
        if "$" in text and _may_mention(text, key):
            self._set_size += text.count("$") * _WORK_OF_A_DOLLAR
            text = self._expander.expand_only(text, lambda mentioned: self._is_self(mentioned, key))
        self._set_size += len(text)
        if self._set_size > MOST_SET:
            raise ConfigError(
                f"all settings together have more than {MOST_SET:,} characters; {name} is one too "
                "many (one that adds to itself counts again with all that it was before)"
            )
        self._found.clear()
        earlier = self._macros.get(key)
        if earlier is not None:
            self._set_again.add(key)
            if self.on_replaced is not None:
                self.on_replaced(Macro(name, earlier.text, earlier.origin))
        default = self.find_built_in(name)
        if default is not None and default.text.lower() == text.lower():
            before = earlier or self.find_default(name)
            if before is None or before.origin.source == DEFAULT_SOURCE:
                self._macros[key] = default
                return
        self._macros[key] = Macro(earlier.name if earlier else name, text, origin)

    def default_text(self, name: str) -> str | None:
        """Return the expanded default of a name; None if it has none, or a circle is in it.

        It counts for a number or a truth value that is set to nothing, as for a knob that is one.
        """
        found = self.find_default(name)
        if found is not None:
            with contextlib.suppress(ConfigError):
                return self.expand(found.text) or None
        return None

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a text that is not empty."""
        return bool(self.raw(name))

    def was_set_again(self, name: str) -> bool:
        """Tell whether more than one statement set a name."""
        return name.upper() in self._set_again

    def has_template(self, text: str) -> bool:
        """Tell whether `CATEGORY:NAME`, or a category alone, is known to `use`."""
        return metaknobs.is_known(text)

    def plain_name(self, name: str) -> str:
        """Return, in upper case, the name that one with a prefix of this program's sets."""
        key = name.upper()
        own = (prefix for prefix in self._prefixed("") if key.startswith(prefix))
        return key.removeprefix(next(own, ""))

    def entries(self) -> Iterator[Macro]:
        """Yield what files and environment set, ordered by name in any case."""
        for key in sorted(self._macros, key=str.lower):
            yield self._macros[key]

    def known_names(self) -> list[str]:
        """Return the names that files, environment, detection or the defaults give a text."""
        from kettle.config.default_texts import DEFAULTS

        names = {key: row[0] for key, row in DEFAULTS.items()}
        names.update((key, name) for key, (name, _) in self.facts().items())
        names.update((entry.name.upper(), entry.name) for entry in self.entries())
        return [names[key] for key in sorted(names)]

    def facts(self) -> Mapping[str, tuple[str, str]]:
        """Return spelling and text of the detected macros by upper-case name."""
        if self._facts is None:
            facts = {
                "SUBSYSTEM": self._subsystem_as_given,
                "LOCALNAME": self.local_name or self._subsystem_as_given,
                **self.sources.machine_facts(),
                **self.own_facts,
            }
            self._facts = {name.upper(): (name, value) for name, value in facts.items()}
        return self._facts

    def settle_host_name(self) -> None:
        """Call this machine what NETWORK_HOSTNAME says, with DEFAULT_DOMAIN_NAME after a bare name.

        For whoever reads the configuration: once before the files that may be named after the host,
        and once after all.
        """
        # Detected once: a tool is to start fast.
        facts = self._facts = self._detected = dict(self._detected or self.facts())
        self._found.clear()
        detected = facts.get("FULL_HOSTNAME", ("", ""))[1]
        name = self._set_text("NETWORK_HOSTNAME") or detected
        if name and "." not in name:
            domain = self._set_text("DEFAULT_DOMAIN_NAME").removeprefix(".")
            name = f"{name}.{domain}" if domain else name
        if name != detected:
            host = name.partition(".")[0]
            named = {"FULL_HOSTNAME": ("FULL_HOSTNAME", name), "HOSTNAME": ("HOSTNAME", host)}
            self._facts = {**facts, **named}
            self._found.clear()

    def _set_text(self, name: str) -> str:
        """Return what is set for a name, empty if nothing is; the defaults are not looked at."""
        for key in (*self._prefixed(name), name):
            if key in self._macros:
                return self.expand(self._macros[key].text)
        return ""

    def nearest(self, name: str) -> str:
        """Return the known name closest to a misspelt one, empty if none is near."""
        return _names_with_default().of(name)

    def _prefixed(self, key: str) -> Iterator[str]:
        # Compat: with a subsystem and an instance the reference's own lookup leaves the first of
        # these out, but condor_config_val shows it where the instance's is set, too
        # (test_prefixes_override_per_daemon_and_instance).
        local = self.local_name.upper() if self.local_name else ""
        if local:
            yield f"{self.subsystem}.{local}.{key}"
            yield f"{local}.{key}"
        yield f"{self.subsystem}.{key}"

    def _is_self(self, mentioned: str, key: str) -> bool:
        mentioned = mentioned.upper()
        if mentioned == key:
            return True
        return any(prefixed == key for prefixed in self._prefixed(mentioned))

    def _default_for(self, which: knob.Knob[T]) -> str:
        # A default that is empty means "unset", and for texts a name that is set to nothing, too.
        own = SUBSYSTEM_DEFAULTS.get(self.subsystem, {}).get(which.name.upper())
        default = which.default if own is None else own[1]
        if default and (which.empty_is_default or self.find(which.name) is None):
            return self.expand(default)
        return self.expand(which.unset)


def _may_mention(text: str, key: str) -> bool:
    """Tell whether a text may mention a name, which stands behind a bracket or its prefix."""
    plain, text = key.rpartition(".")[2], text.upper()
    return f"({plain}" in text or f".{plain}" in text


@cache
def _names_with_default() -> Nearest:
    from kettle.config.default_texts import DEFAULTS  # for those alone who mistype
    from kettle.nearest import Nearest

    return Nearest(row[0] for row in DEFAULTS.values())


def load_config(
    sources: Sources,
    environment: Mapping[str, str],
    *,
    subsystem: str = "TOOL",
    local_name: str | None = None,
    root: str | None = None,
    more: Sequence[str] = (),
    tell: Callable[[ConfigError], object] | None = None,
    on_replaced: Callable[[Macro], object] | None = None,
) -> Config:
    """Read everything that makes up the configuration of one program; raise ConfigError.

    `root` names the first file; without it CONDOR_CONFIG does, which may be ONLY_ENV. The files of
    `more` are read after the first one, before those that these name. Where there is a `tell`, it
    hears of each statement that is wrong, and the rest is read. `on_replaced` hears of what a name
    had before each statement that sets it again, under the spelling of that statement.
    """
    config = Config(sources, environment, subsystem=subsystem, local_name=local_name)
    config.on_replaced = on_replaced
    loading.fill(config, root=root, more=more, tell=tell)
    config.end_reading()
    return config
