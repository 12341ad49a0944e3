"""What `$(NAME)`, `$(NAME:default)` and `$FUNCTION(...)` turn into.

A function over a lookup: it knows neither files nor configuration nor submit descriptions. All
three languages use it: the configuration's, that of submit descriptions and that of transforms.
What the functions compute is `functions.py`. Rules shown by the vectors `config/cases.json`:

* The leftmost macro is replaced first and the result is looked at again, so a default may hold
  macros and a name may be put together from pieces.
* `$$(` and `$$([` belong to the matchmaker and stay; in `$$$(` a macro follows two dollars that do.
* What is not a macro, such as `$( B )` or `$(B-C)`, stays as text.
* Functions end at the first closing bracket; they do not nest, but by the names that they ask for.
"""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Final, Generic, NoReturn, TypeVar

from kettle.config import functions
from kettle.config.macro_search import MacroSearch, Reference
from kettle.errors import ConfigError
from kettle.named_tuples import NamedTuple
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from random import Random

    from kettle.classad import ClassAd
    from kettle.config.functions import Problem

DOLLAR = "\0$\0"
# A dollar of a text that must not be expanded, an ad's: it is text until all is expanded. One
# character, for functions may cut it; one that no file, peer or command line can hold.
KEPT = "\ud800"

# Limit: a text that grows without end is as bad as a circle; 10,000 replacements and 4 MiB are
# far above any configuration that a person wrote.
MOST_REPLACEMENTS = 10_000
LONGEST_TEXT = 4 << 20
# Names, functions and defaults that are inside each other have no bound but MOST_WORK, as in the
# reference, which follows them until its stack ends; and defaults that of their letters.
# Limit: how many names are followed on the stack of Python where a text is a template; what lies
# deeper is searched.
MOST_FILLED = 30
# Limit: letters of defaults inside defaults all together, each of which has those inside it, too.
_MOST_HELD = 16 << 20
# Limit: the names of a circle that are told one by one at each of its ends.
_MOST_TOLD = 4
# Limit: what all replacements of one text together may copy, those inside others too. Names that
# mention the next one twice double the work each, also where the text stays short: a replacement
# counts as so many characters at least.
MOST_WORK = 1 << 32
LEAST_WORK = 40_000
MOST_FOLLOWED = MOST_WORK // LEAST_WORK
# After so much work it is counted what the whole text would become.
_WORK_TO_THINK = 1 << 24
# Limit: the macros of a text whose places are remembered.
MOST_IN_TEMPLATE = 50


class Template(NamedTuple):
    """A text of plain macros alone: what stands before each of `macros`, and behind the last."""

    before: tuple[str, ...]
    macros: tuple[Reference, ...]
    behind: str


def _read_template(text: str) -> Template | None:
    """Return the template that a text is, None where its macros have to be searched for each time.

    As long as no macro gives a dollar, nothing else of a template can become a macro. So no text
    with a default, a variable of the environment or a dollar outside of its macros is one.
    """
    before: list[str] = []
    macros: list[Reference] = []
    search = MacroSearch(text)
    copied = 0
    while (found := search.next()) is not None:
        is_plain = (
            found.function != "ENV" and not found.default_start and found.name.upper() != "DOLLAR"
        )
        if not is_plain or "$" in found.name or len(macros) == MOST_IN_TEMPLATE:
            return None
        before.append(text[copied : found.start])
        macros.append(found)
        copied = search.position = found.end
    behind = text[copied:]
    if KEPT in text or any("$" in part for part in (*before, behind)):
        return None
    return Template(tuple(before), tuple(macros), behind)


# Limit: the bytes of the texts that are remembered with their templates.
_templates: Final[Answers[str, Template | None]] = Answers(
    _read_template, 1 << 20, cost=lambda text: 4 * getsizeof(text) + 200 * text.count("$")
)


def template_of(text: str) -> Template | None:
    """Return the template that a text is, None where its macros have to be searched for."""
    return _templates[text] if len(text) <= LEAST_WORK else None


class Expander:
    """Expansion with one set of sources.

    `lookup` gives the raw text of a name or None, `environment` that of a variable. `on_problem`
    hears of functions that cannot be computed; the expansion goes on with what they give.
    `absolute` makes a path absolute for `$Ff()`; a configuration leaves it as it is. `ad` is what
    `$EVAL()` evaluates in, if there is one: then what functions give may be text of the ad's, and
    is not looked at again. With `repeats` the same texts are expanded many times, with other
    values: where their macros stand is remembered.
    """

    def __init__(
        self,
        lookup: Callable[[str], str | None],
        environment: Callable[[str], str | None],
        random: Callable[[], Random],
        *,
        on_problem: Callable[[Problem], object],
        absolute: Callable[[str], str] | None = None,
        repeats: bool = False,
    ) -> None:
        self.lookup = lookup
        self.environment = environment
        self.random = random
        self.on_problem = on_problem
        self.absolute = absolute
        self._repeats = repeats
        self.ad: ClassAd | None = None
        # What all further texts together may copy, by the measure of MOST_WORK; None for any.
        self.allowance: int | None = None
        self._work = 0
        # The text that is being expanded, until it was thought about.
        self._whole = ""
        # By name, what `remembering` keeps: its expanded text, and why it has none.
        self._known: dict[str, str] | None = None
        self._failed: dict[str, ConfigError] = {}

    def remembering(self) -> Expander:
        """Return one that expands each name once, for many questions about the same texts.

        Of many names that fail together, as in a long circle, all have the error of the first.
        """
        asks = self.lookup, self.environment, self.random
        same = Expander(*asks, on_problem=self.on_problem, absolute=self.absolute)
        same._known = {}
        return same

    def expand(self, text: str) -> str:
        """Return the text with every macro replaced; raise ConfigError for a circle."""
        if "$" not in text:
            return text
        self._work = 0
        self._whole = text
        return shown(self._expand(text, ()))

    def expand_first(self, text: str) -> str:
        """Return the same for a text that is expanded once more: `$(DOLLAR)` stays for that."""
        self._work = 0
        self._whole = text
        return shown(self._expand(text, ()).replace(DOLLAR, "$(DOLLAR)"))

    def expand_only(self, text: str, wanted: Callable[[str], bool]) -> str:
        """Replace only the macros whose name is wanted, by their raw text (self reference).

        Those that take a file's name apart are replaced by what they make of all that the name
        stands for; other functions stay, whatever they mention.
        ConfigError for a text that gets too long: one that mentions itself twice doubles each time.
        """
        pieces: list[str] = []
        copied = size = 0
        search = MacroSearch(text)
        while (found := search.next()) is not None:
            search.position = found.end
            if found.function[:1] in ("", "F") and found.name and wanted(found.name):
                value = self._raw_value(found, text)
                size += found.start - copied + len(value)
                if size > LONGEST_TEXT:
                    raise ConfigError(f"the expansion of {found.name} has no end")
                self._spend(len(value))
                pieces += (text[copied : found.start], value)
                copied = found.end
                if value.endswith("$") and text.startswith("$(", copied):
                    # What is the matchmaker's stays.
                    search.position += 2
            elif found.default_start:
                # Compat: in defaults, too, which the reference leaves as they are; where such a one
                # is taken it goes round for ever
                # (test_a_mention_of_itself_in_a_default_is_what_was_before).
                search.position = found.start + 2
        pieces.append(text[copied:])
        return "".join(pieces)

    def _raw_value(self, found: Reference, text: str) -> str:
        if not found.function:
            return self.lookup(found.name) or found.default(text)

        def value(name: str) -> str | None:
            text = self.value(name, ())
            return None if text is None else shown(text)

        asked = value, self.random, self.on_problem, self.absolute, self.lookup
        return functions.compute(functions.Call(found.function, found.name, *asked))

    def value(self, name: str, active: tuple[str, ...]) -> str | None:
        """Return the expanded text of a name that is mentioned inside the names `active`.

        None if nobody defines it; ConfigError for a circle.
        """
        self._work = 0
        self._whole = ""
        return self._value(name, active)

    def _value(self, name: str, active: tuple[str, ...]) -> str | None:
        raw = self.lookup(name)
        if raw is None or "$" not in raw:
            return raw
        return self._expand(raw, (*active, entered(name, active)))

    def _expand(self, text: str, active: tuple[str, ...]) -> str:
        if self._repeats and self.ad is None and len(active) < MOST_FILLED:
            template = template_of(text)
            if template is not None:
                return self._fill(template, text, active)
        return self._search(text, active)

    def _search(self, text: str, active: tuple[str, ...]) -> str:
        """Replace the macros of a text, and of those inside it, however deep they lie."""
        path = dict.fromkeys(active)
        try:
            return self._follow([_Level(MacroSearch(text))], path)
        except ConfigError as error:
            if self._known is not None and len(path) > 3 * _MOST_TOLD:
                self._failed.update(dict.fromkeys(path, error))
            raise

    def _follow(self, levels: list[_Level], path: dict[str, None]) -> str:
        while True:
            level = levels[-1]
            if level.found is None:
                levels.pop()
                path.pop(level.name, None)
                if not levels:
                    return level.search.text
                if self._known is not None and level.name:
                    self._known[level.name] = level.search.text
                self._give(levels[-1], level.search.text, path)
                continue
            self._work_more(LEAST_WORK, path, level.found)
            try:
                value, name = self._look_up(level.found, level.search.text, path, level.given)
            except Wanted as wanted:
                # What the function asks for is expanded first, and then it is computed again.
                level.asked = wanted.name
                name = entered(wanted.name, path)
                value = wanted.text
            if name is None:
                self._put(level, value, path)
                continue
            if name:
                path[name] = None
                levels.append(_Level(MacroSearch(value), name))
                continue
            levels.append(_Level(level.search.of_default(level.found), "", level.defaults + 1))
            check_held(levels[-1].defaults, len(levels[-1].search.text))

    def _give(self, level: _Level, text: str, path: Iterable[str]) -> None:
        """Give a level what was expanded for it: a function's argument, or its macro's value."""
        if not level.take(text):
            self._put(level, text, path)

    def _put(self, level: _Level, value: str, path: Iterable[str]) -> None:
        """Put the value of the macro of a level in its place, and go on to the next."""
        search, found = level.search, level.found
        assert found is not None
        search.replace(found, value)
        level.steps += 1
        level.given.clear()
        size = len(search.text)
        if level.steps > MOST_REPLACEMENTS or size > LONGEST_TEXT:
            self._end(path, found)
        self._work_more(max(size - LEAST_WORK, 0), path, found)
        level.found = search.look_again(found.start)

    def _work_more(self, work: int, path: Iterable[str], found: Reference) -> None:
        """Count work; ConfigError where it is too much."""
        self._work += work
        self._spend(work)
        if self._work > MOST_WORK:
            self._end(path, found)
        if self._work > _WORK_TO_THINK:
            self._think()

    def _end(self, path: Iterable[str], found: Reference) -> NoReturn:
        self._think()
        raise ConfigError(f"the expansion of {next(iter(path), found.name)} has no end")

    def _think(self) -> None:
        """Raise ConfigError if the whole text would become too long; once a text."""
        whole, self._whole = self._whole, ""
        if not whole:
            return
        from kettle.config.growth import Foresight  # few texts are so long

        foresight = Foresight(self.lookup)
        found = foresight.of_text(whole)
        if found.length > LONGEST_TEXT or found.replacements > MOST_FOLLOWED:
            raise ConfigError(foresight.explain(found))

    def _fill(self, template: Template, text: str, active: tuple[str, ...]) -> str:
        """Return what `_search` would; where the macros of the text stand is known."""
        pieces: list[str] = []
        if template.macros:
            self._work_more(LEAST_WORK * len(template.macros), active, template.macros[0])
        for part, found in zip(template.before, template.macros, strict=True):
            value, name = self._look_up(found, text, active)
            if name is not None:
                value = self._expand(value, (*active, name))
            pieces += (part, value)
            if "$" in value or len(value) > LEAST_WORK:
                # From here on one has to look what the text has become.
                return self._search("".join(pieces) + text[found.end :], active)
        pieces.append(template.behind)
        return "".join(pieces)

    def _spend(self, work: int) -> None:
        if self.allowance is not None:
            self.allowance -= work
            if self.allowance < 0:
                raise ConfigError("all macros together take too much work to replace")

    def _look_up(
        self,
        found: Reference,
        text: str,
        active: Collection[str],
        given: Mapping[str, str] | None = None,
    ) -> tuple[str, str | None]:
        """Return what stands for a macro of a text, and the name whose text that still is.

        The name is empty for a default, None where all is replaced. A function asks `given` for
        names that have macros, Wanted for one that is not among them; without it they are expanded
        on the stack.
        """
        if found.function == "ENV":
            return self._environment_value(found, text), None
        if found.function:
            return self._compute(found, active, given), None
        if found.name.upper() == "DOLLAR" and not found.default_start:
            return DOLLAR, None
        raw = self.lookup(found.name)
        if not raw:
            # A default belongs to the text that mentions the name, and may mention it again.
            default = found.default(text)
            return default, "" if "$" in default else None
        if "$" not in raw:
            return raw, None
        if self._known is not None:
            key = found.name.upper()
            if key in self._failed:
                raise self._failed[key]
            if key in self._known:
                return self._known[key], None
        return raw, entered(found.name, active)

    def _compute(
        self, found: Reference, active: Collection[str], given: Mapping[str, str] | None
    ) -> str:
        kept = self.ad is not None
        problems: list[Problem] = []

        def value(name: str) -> str | None:
            if given is None:
                text = self._value(name, tuple(active))
            elif name in given:
                text = given[name]
            else:
                text = self.lookup(name)
                if text is not None and "$" in text:
                    raise Wanted(name, text)
            return shown(text) if kept and text is not None else text

        call = functions.Call(
            found.function,
            shown(found.name) if kept else found.name,
            value,
            self.random,
            problems.append,
            self.absolute,
            self.lookup,
            self.ad,
        )
        text = functions.compute(call)
        for problem in problems:
            self.on_problem(problem)
        return keep(text) if kept else text

    def _environment_value(self, found: Reference, text: str) -> str:
        value = self.environment(found.name)
        if value is not None:
            return value
        return found.default(text) if found.default_start else "UNDEFINED"


class Wanted(Exception):  # noqa: N818 - a question, not an error
    """A function asks for the text of a name, which has to be expanded first."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name)
        self.name = name
        self.text = text


Given = TypeVar("Given")


class Level(Generic[Given]):
    """A text that is being expanded, the name that it is of, and the macro it has come to.

    `defaults` counts the defaults that it is in, up to the next name. If the macro is a function,
    `given` is what became of the names that it asked for, and `asked` is the one that is expanded
    now.
    """

    __slots__ = ("asked", "defaults", "found", "given", "name", "search")

    def __init__(self, search: MacroSearch, name: str = "", defaults: int = 0) -> None:
        self.search = search
        self.name = name
        self.defaults = defaults
        self.found: Reference | None = None
        self.asked: str | None = None
        self.given: dict[str, Given] = {}

    def take(self, done: Given) -> bool:
        """Take what became of the name that the function asks for; False if none asks for one.

        Then it is the macro's own value.
        """
        if self.asked is None:
            return False
        self.given[self.asked] = done
        self.asked = None
        return True


class _Level(Level[str]):
    """One whose macros are replaced again until none is left, each of which is a step."""

    __slots__ = ("steps",)

    def __init__(self, search: MacroSearch, name: str = "", defaults: int = 0) -> None:
        super().__init__(search, name, defaults)
        self.found = search.next()
        self.steps = 0


def entered(name: str, active: Collection[str]) -> str:
    """Return a name as it is compared; ConfigError that shows the circle if it is being expanded.

    `active` are the names that are, from the outermost on, as they are compared.
    """
    key = name.upper()
    if key not in active:
        return key
    names = list(active)
    circle = (*names[names.index(key) :], key)
    told = " -> ".join(circle)
    if len(circle) > 3 * _MOST_TOLD:
        first, last = circle[:_MOST_TOLD], circle[-_MOST_TOLD:]
        between = f"{len(circle) - len(first) - len(last):,} more"
        told = " -> ".join((*first, between, *last))
        circle = (*first, *last)
    # Compat: the reference goes round for ever
    # (test_a_circle_of_macros_is_an_error_that_shows_the_circle).
    error = ConfigError(f"{name} refers to itself: {told}")
    error.circle = circle
    raise error


def check_held(defaults: int, letters: int) -> None:
    """Raise ConfigError for a default so deep in others that these hold too much, with it in each.

    Compat: the reference has no bound (test_defaults_inside_each_other_end_with_a_sentence).
    """
    if defaults * letters > _MOST_HELD:
        raise ConfigError("defaults inside defaults are too long")


def keep(text: str) -> str:
    """Return a text whose dollars are no macros, to be put into one that is expanded."""
    return text.replace(DOLLAR, KEPT).replace("$", KEPT) if "$" in text else text


def shown(text: str) -> str:
    """Return an expanded text with the dollars that were kept from being macros."""
    return text.replace(DOLLAR, "$").replace(KEPT, "$")
