"""Arguments and environments in both syntaxes."""

from __future__ import annotations

import itertools

import pytest

from kettle.errors import SubmitError
from kettle.submit import arguments
from stopwatch import cpu_seconds


def test_words_with_blanks_and_quotes_come_back() -> None:
    words = ["plain", "two words", "it's", "", "tab\there", "''"]
    assert arguments.split_new(arguments.join_new(words)) == words


def test_the_outer_quotes_are_removed_and_doubled_ones_halved() -> None:
    assert arguments.strip_outer_quotes('"say ""hi"" "') == 'say "hi" '
    with pytest.raises(SubmitError, match="Unterminated"):
        arguments.strip_outer_quotes('"open')


def test_old_arguments_know_only_the_escaped_quote() -> None:
    assert arguments.parse_old_arguments('a \\"b\\"') == 'a "b"'


def test_one_blank_is_left_between_old_arguments() -> None:
    assert arguments.parse_old_arguments("  a\t \tb   'c  d' ") == "a b 'c d'"


def test_a_jobs_words_come_from_either_attribute() -> None:
    assert arguments.split_arguments("a 'b c'", None) == ["a", "b c"]
    assert arguments.split_arguments(None, "a b") == ["a", "b"]
    assert arguments.split_arguments(None, None) == []


def test_an_environment_is_read_in_both_syntaxes() -> None:
    assert arguments.parse_environment("A=1;B=x y") == {"A": "1", "B": "x y"}
    assert arguments.parse_environment("\"A=1 B='x y'\"") == {"A": "1", "B": "x y"}
    assert arguments.render_environment({"B": "x y", "A": "1"}) == "A=1 B=x' 'y"


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("A =b", "A' '=b"),
        ("A =b;A=c", "A=c A' '=b"),
        ("A = b;\t C\t=d ;  E=f ", "A' '=' 'b C'\t'=d' ' E=f' '"),
        ("| A=b | C =d|", "A=b' ' C' '=d"),
        ("A=b; ;\vC=d", "\vC=d A=b"),
        ("\" 'A =b' ' C=d'\"", "' 'C=d A' '=b"),
    ],
)
def test_blanks_before_the_equals_sign_belong_to_a_variable_s_name(text: str, held: str) -> None:
    """Recorded from dry runs; those before an entry of the old syntax belong to nothing."""
    assert arguments.render_environment(arguments.parse_environment(text)) == held


def test_an_old_environment_of_an_ad_is_read_as_one_of_a_description() -> None:
    assert arguments.read_environment(None, "A =b| C=d| ", "|") == {"A ": "b", "C": "d"}


def test_a_vertical_tab_and_a_form_feed_are_letters_of_words() -> None:
    """Recorded; around the outer quotes they are blanks."""
    assert arguments.parse_environment('\v"A=\vb C=\fd"\f') == {"A": "\vb", "C": "\fd"}
    assert arguments.parse_old_arguments("a\vb c\fd") == "a\vb c\fd"
    assert arguments.join_new(["a\vb", "c\td"]) == "a\vb c'\t'd"


@pytest.mark.parametrize("text", ['"=5"', "=5", "A=1;=5", "A=1; =5"])
def test_a_variable_of_the_environment_has_a_name(text: str) -> None:
    with pytest.raises(SubmitError, match=r"^ERROR: missing variable in '=5'\.$"):
        arguments.parse_environment(text)


@pytest.mark.parametrize("piece", ["[[:", "[", "*a", "[!"])
def test_a_pattern_of_any_length_takes_no_time(piece: str) -> None:
    """A longer one than names are is none; found by the fuzz of descriptions."""
    run = itertools.count(100)

    def selected() -> None:
        # Another pattern each time: what one compiles to is remembered.
        for length in (4_000, 60_000):
            names = f"PATH, {piece * (length // len(piece))}{next(run)}"
            arguments.select_environment(names, {"PATH": "/bin"})

    assert cpu_seconds(selected, below=2) < 2


def test_getenv_takes_what_is_allowed_and_not_forbidden() -> None:
    environment = {"HOME": "h", "LANG": "C", "LC_ALL": "C", "SECRET": "s"}
    chosen = arguments.select_environment
    assert set(chosen("true", environment)) == set(environment)
    assert set(chosen("L*", environment)) == {"LANG", "LC_ALL"}
    assert set(chosen("!secret", environment)) == {"HOME", "LANG", "LC_ALL"}
    assert set(chosen("L*, !LC_*", environment)) == {"LANG"}


@pytest.mark.parametrize(
    "wanted", ["true", "*", "!HOME", "CONDOR_SECURITY_SESSION CONDOR_*", "kettle_*,condor_*"]
)
def test_getenv_takes_no_secret_along(wanted: str) -> None:
    """Who may read the job's ad would be the user, or a daemon of the pool."""
    secrets = {
        "CONDOR_SECURITY_SESSION": "scheduler-universe-1.0#[]key",
        "CONDOR_PRIVATE_INHERIT": "FamilySessionKey:family#[]key",
        "CONDOR_INHERIT": "1 <127.0.0.1:9618> 0 0",
        "KETTLE_PARENT_PIPE": "3",
    }
    environment = {**secrets, "CONDOR_CONFIG": "/c", "LANG": "C"}
    chosen = arguments.select_environment(wanted, environment)
    assert chosen
    assert not secrets.keys() & chosen.keys()


def test_getenv_leaves_out_what_no_ad_can_hold() -> None:
    """Every bash function that is exported has lines, as Lmod leaves them in every login."""
    odd = {"BASH_FUNC_ml%%": "() {  eval $(x)\n}", "CR": "a\rb", "END": "a\n", "na\nme": "1"}
    kept = {"TAB": "a\tb", "BELL": "\x07", "a.b%%": "c;d", "EMPTY": "", "VT": "\x0b", "BS": "\\n"}
    chosen = arguments.select_environment
    assert chosen("true", odd | kept) == kept
    assert chosen("BASH_*, CR, T*", odd | kept) == {"TAB": "a\tb"}
    assert chosen("true", odd | kept, beside_old=True).keys() == kept.keys() - {"a.b%%"}


def test_what_parts_fields_of_items_is_no_white_space_of_arguments() -> None:
    assert arguments.split_new("a\x1fb c\x0bd 'e\x1f'") == ["a\x1fb", "c\x0bd", "e\x1f"]
    assert arguments.join_new(["a\x1fb", "c d"]) == "a\x1fb c' 'd"
    assert arguments.split_arguments(None, "a\x1fb c") == ["a\x1fb", "c"]
