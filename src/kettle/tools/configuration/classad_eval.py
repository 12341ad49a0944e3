"""classad_eval: evaluate ClassAd expressions on the command line.

Words are taken in order: an assignment or an ad changes the context, an expression is evaluated
in it and printed; the context is shown before the first value that sees it, unless `-quiet`.
The language is in `kettle.classad`; nothing here talks to a daemon.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.classad import ClassAd, Expr, parse_ad, parse_ads, parse_expression, unparse
from kettle.classad.compile import evaluate_lazily
from kettle.classad.parser import excerpt
from kettle.classad.state import new_state
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, StorageError
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.tools.options import tell_more
from kettle.tools.programs import Streams

_FILES = {"-my-file": "my", "-file": "my", "-target-file": "target"}
_USAGE = """Usage: {program} [options] <expression | assignment | ad> ...

Evaluate ClassAd expressions; assignments and ads change what they are evaluated in.

    -my-file FILE      start with the ad in the file (also -file)
    -target-file FILE  match against the ad in the file
    -debug             report what debug() is called with
    -quiet             from here on, do not show the ad before values
    -help              show this and exit
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:  # noqa: ARG001
    """Run the tool. Exit codes: 0, 1 for text or files that make no sense, 255 for options."""
    words = iter(argv[1:])
    my, target = ClassAd(), None
    quiet, shown = False, False
    for word in words:
        if word == "-help":
            streams.stdout.write(_USAGE.format(program=argv[0]))
            # Compat: as the reference ends after its help (test_it_says_its_usage).
            return 255
        if word in ("-quiet", "-debug"):
            quiet = quiet or word == "-quiet"
            continue
        try:
            if word in _FILES:
                file = next(words, None)
                if file is None:
                    streams.stderr.write(f"{argv[0]}: {word} requires an argument\n")
                    return 255
                ad = _read_ad(file)
                my, target = (ad, target) if _FILES[word] == "my" else (my, ad)
                continue
            meant = _parse_word(word)
        except (ClassAdSyntaxError, StorageError) as error:
            _explain(word, error, my, streams, show=not (quiet or shown))
            return 1
        if isinstance(meant, ClassAd):
            my.update(meant)
            shown = False
            continue
        if not (quiet or shown):
            streams.stdout.write(unparse(my) + "\n")
            shown = True
        value = evaluate_lazily(meant, new_state(my, target))
        streams.stdout.write(render_value(value) + "\n")
    return 0


def _explain(
    word: str,
    error: ClassAdSyntaxError | StorageError,
    my: ClassAd,
    streams: Streams,
    *,
    show: bool,
) -> None:
    if isinstance(error, StorageError) or word in _FILES:
        streams.stderr.write(f"{error}\n")
    else:
        if show:
            streams.stdout.write(unparse(my) + "\n")
        # Compat: of a long text the part around the place; the reference repeats all of it
        # (test_of_a_long_text_an_error_shows_the_part_around_the_place).
        said = excerpt(word, error.column)
        streams.stderr.write(f"Unable to turn '{said}' into a ClassAd or an expression.\n")
        streams.stderr.write(f"    {error}\n")
        tell_more(error, streams.stderr)


def _parse_word(word: str) -> ClassAd | Expr:
    """Return the ad the word is (assignments are an ad without brackets), else its expression."""
    if word.lstrip().startswith("["):
        try:
            return parse_ad(word)
        except ClassAdSyntaxError:
            return parse_expression(word)
    try:
        return parse_ad(f"[{word}]") if "=" in word else parse_expression(word)
    except ClassAdSyntaxError:
        return parse_expression(word)


def _read_ad(path: str) -> ClassAd:
    """Return the first ad in the file, in whatever form it is."""
    try:
        text = read_text(path, limit=LARGEST_ADS)
    except OSError as error:
        # An error of reading, after the file was opened, does not know its name.
        raise StorageError(f"Unable to read '{path}': {error.strerror or error}.") from error
    try:
        ad = next(parse_ads(text), None)
    except ClassAdSyntaxError as error:
        raise ClassAdSyntaxError(
            f"Unable to turn file '{path}' into a ClassAd: {error.message}"
        ) from error
    if ad is None:
        raise ClassAdSyntaxError(f"Unable to turn file '{path}' into a ClassAd: it is empty.")
    return ad.copy()
