"""Laws of the configuration and the submit language, over generated texts."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kettle.config import Config
from kettle.config.expander import Expander
from kettle.config.knob import parse_boolean, parse_integer
from kettle.errors import ConfigError
from kettle.submit import arguments

NAMES = st.sampled_from(["A", "B", "C", "D"])
PIECES = st.one_of(
    st.sampled_from(["x", " ", "$", "$$", "(", ")", ":", "$(A)", "$(B:d)", "$INT(C)", "$(D", "1"]),
    NAMES,
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_characters="\x00\x1f"), max_size=12)


@given(st.lists(PRINTABLE, max_size=6))
@example(["", "'", " ", "a'b c"])
def test_words_survive_joining_and_splitting(words: list[str]) -> None:
    assert arguments.split_new(arguments.join_new(words)) == words


@given(st.dictionaries(st.from_regex(r"[A-Za-z_]\w{0,5}", fullmatch=True), PRINTABLE, max_size=5))
def test_an_environment_survives_rendering_and_reading(variables: dict[str, str]) -> None:
    text = arguments.render_environment(variables)
    assert arguments.pairs(arguments.split_new(text)) == variables


@settings(deadline=None)
@given(st.dictionaries(NAMES, TEXTS, max_size=4), TEXTS)
def test_expansion_ends_with_a_value_or_an_error(macros: dict[str, str], text: str) -> None:
    expander = Expander(
        lambda name: macros.get(name.upper()),
        lambda _: None,
        lambda: None,  # type: ignore[arg-type, return-value]
        on_problem=lambda _: None,
    )
    try:
        value = expander.expand(text)
    except ConfigError:
        return
    # What was expanded completely does not change any more, unless `$$` hides a macro.
    if "$$" not in value:
        assert expander.expand(value) == value


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60))
def test_any_text_is_a_configuration_or_an_error_with_its_line(text: str) -> None:
    refused: ConfigError | None = None
    names: list[str] = []
    try:
        names = [entry.name for entry in Config.from_text(text).entries()]
    except ConfigError as error:
        refused = error
    assert all(names)
    assert refused is None or refused.source == "/condor_config"
    assert refused is None or refused.line <= text.count("\n") + 1


@given(st.integers(-(2**62), 2**62))
def test_numbers_are_read_as_they_are_written(number: int) -> None:
    assert parse_integer(str(number)) == number
    assert parse_boolean(str(number)) is (number != 0)
