"""`condor_transform_ads`: ads as rules change them.

What rules are and do is `kettle.transforms`; here are the command line, which rules there are, and
what is printed where. Checked against the real tool (vectors `router/transform_options.json`,
tests/conformance/transforms/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from kettle.classad import ClassAd, parse_ads
from kettle.classad.forms import detect_form, render_each
from kettle.errors import ClassAdSyntaxError, TransformError, UsageError
from kettle.patterns import late_pattern
from kettle.runtime.storage.texts import LARGEST_ADS, read_stream, read_text
from kettle.structs import Struct, field
from kettle.tools.options import (
    Asked,
    BriefError,
    MissingValueError,
    Option,
    match_option,
    read_options,
    run_tool,
    tell_more,
)
from kettle.tools.programs import Streams
from kettle.transforms.iteration import read_iteration, rounds
from kettle.transforms.macros import TransformMacros
from kettle.transforms.old_form import is_old_form, read_old_form
from kettle.transforms.source import Rule, Transform, read_transform
from kettle.transforms.statements import STATEMENTS

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.submit.queue_statement import QueueStatement

USAGE = """\
Usage: condor_transform_ads RULES [options] [NAME=VALUE...] FILE...
  Prints the ads of the files (-: standard input) as the rules change them.
  RULES is one or more of these, applied to each ad in this order:
    -rules FILE               the rules of a file (-: standard input, up to TRANSFORM)
    -rules config://KNOB/     the rule that a knob of the configuration is
    -jobtransforms NAMES      JOB_TRANSFORM_NAME of the configuration, for each name
    -jobroute NAMES           JOB_ROUTER_ROUTE_NAME of the configuration, for each name
  -in[:FORM] FILE             read ads from this file too; their form is found out
  -out[:FORM,nosort] FILE     write the ads there (-: standard output), in this form:
                              long, json, xml, new, or auto, which is the first file's
  -long, -json, -xml          all files are of this form, and so is the output
  -verbose                    tell each step
  -terse                      do not, the default
  -convertoldroutes           print JOB_ROUTER_ENTRIES in the language of rules, and end
  -convertoldroutes:file FILE the same from the summary of another configuration
  -debug                      write what the tool does to standard error
  -testing:nooutput           apply the rules and print no ads, to see what is told
  -unit-test                  print the lines of the files of ads, and end
  NAME=VALUE                  a macro that the rules can use, as $(NAME)
  -help [rules|convert], -version
"""
CONVERT_HELP = """
Old routes:
  -convertoldroutes prints every route of JOB_ROUTER_ENTRIES and JOB_ROUTER_ENTRIES_FILE, with
  JOB_ROUTER_DEFAULTS filled in, as statements. -convertoldroutes:file FILE reads the output of
  `condor_config_val -summary` of some other machine, and prints knobs JOB_ROUTER_ROUTE_NAME that
  can be put into a configuration as they are. Look at the result: what a route computed with its
  own attributes has been worked out once.
"""
OPTIONS = (
    Option("verbose", 1),
    Option("terse", 3),
    Option("debug", 2, qualified=True),
    Option("rules", 1, 1),
    Option("jobtransforms", 4, 1),
    Option("jobroute", 4, 1),
    Option("in", 1, 1, qualified=True),
    Option("out", 1, 1, qualified=True),
    Option("long", 1),
    Option("json", 2),
    Option("xml", 3),
    Option("version", 4),
    Option("help", 1),
    Option("convertoldroutes", 4, qualified=True),
    Option("testing", 4, qualified=True),
    Option("unit-test", 4, qualified=True),
)
_NAME = late_pattern(r"[A-Za-z0-9_./]+")
_FORMS = ("long", "json", "xml", "new", "auto")
# Compat: what it fails with is the reference's; it says 1 where all went well, and 0 where a file
# of ads is not there (test_it_ends_with_0_when_all_went_well).
FAILED = 255


class Wish(Struct):
    """What the command line asks for; `rules` are (kind, value) in order."""

    rules: list[tuple[str, str]] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    input_form: str = "auto"
    output_form: str = ""
    output: str = "-"
    is_sorted: bool = True
    is_verbose: bool = False
    is_silent: bool = False
    only_reads: bool = False
    convert: int = 0
    convert_file: str = ""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run the tool; 0, 1 for a command line or a file that cannot be, 255 for a rule that fails."""
    if len(argv) == 1:
        streams.stderr.write(USAGE)
        return 1
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=lambda error: f"{error}\n{USAGE}",
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError or Asked."""
    wish = Wish()
    help_option = next(option for option in OPTIONS if option.name == "help")
    for index, word in enumerate(words):
        if word.startswith("-") and match_option(word, help_option) is not None:
            raise Asked("help", _more_help(words[index + 1 : index + 2]))
    expected = ""
    try:
        for given in read_options(words, OPTIONS):
            if expected:
                wish.convert_file, expected = _file(given.value, expected), ""
            elif given.name == "convertoldroutes":
                expected = _read_conversion(wish, given.word, given.qualifiers)
            elif given.name:
                _take_option(wish, given.name, given.qualifiers, given.values)
            elif "=" in given.value:
                _take_argument(wish, given.value)
            else:
                wish.inputs.append(given.value)
    except MissingValueError as error:
        expected = f"-{error.option.name}"
    if expected:
        raise BriefError(f"condor_transform_ads: {expected} requires another argument")
    return wish


def _more_help(words: Sequence[str]) -> str:
    if words and words[0] == "rules":
        rows = [f"  {row.usage}\n      {row.meaning}\n" for row in STATEMENTS.values()]
        lines = "The statements of rules; NAME = VALUE sets a macro, and if, else and endif choose:"
        return f"\n{lines}\n\n{''.join(rows)}"
    return CONVERT_HELP if words and "convert".startswith(words[0]) else ""


def _file(value: str, option: str) -> str:
    """Return the word after an option; what looks like another option is none."""
    if value.startswith("-") and value != "-":
        raise BriefError(f"condor_transform_ads: {option} requires another argument")
    return value


def _read_conversion(wish: Wish, word: str, qualifiers: str) -> str:
    """Take -convertoldroutes; return the option where the next word is its file."""
    wish.convert = int(qualifiers) if qualifiers.isdecimal() and len(qualifiers) < 4 else 1
    if not qualifiers or qualifiers.isdecimal():
        return ""
    if not "file".startswith(qualifiers):
        raise BriefError(f"condor_transform_ads: {word}: {qualifiers} means nothing there")
    return word


def _take_option(wish: Wish, name: str, qualifiers: str, values: tuple[str, ...]) -> None:
    value = _file(values[0], f"-{name}") if values else ""
    if name in {"rules", "jobtransforms", "jobroute"}:
        wish.rules.append((name, value))
    elif name == "in":
        wish.inputs.append(value)
    elif name == "out":
        wish.output = value
        for word in filter(None, re.split(r"[,\s]+", qualifiers)):
            if word in _FORMS:
                wish.output_form = word
            elif word == "nosort":
                wish.is_sorted = False
            else:
                raise UsageError(f"there is no form {word}", hint=f"forms are {', '.join(_FORMS)}")
    elif name in {"long", "json", "xml"}:
        wish.input_form = name
    elif name in {"verbose", "terse"}:
        wish.is_verbose = name == "verbose"
    elif name == "testing":
        wish.is_silent = wish.is_silent or "nooutput" in qualifiers.split(",")
    elif name == "unit-test":
        wish.only_reads = True
    elif name != "debug":
        raise AssertionError(f"nothing is done for -{name}")


def _take_argument(wish: Wish, word: str) -> None:
    name, _, value = word.partition("=")
    name = name.strip()
    name = f"MY.{name[1:]}" if name.startswith("+") else name
    if not _NAME.fullmatch(name):
        raise BriefError(
            f"condor_transform_ads: invalid attribute name '{name}' for attrib=value assigment"
        )
    # Compat: the value is what follows the equals sign; the reference takes what follows the first
    # letter of the word (test_a_macro_of_the_command_line_has_what_follows_the_equals_sign).
    wish.arguments[name] = value.strip()


def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Do what is asked; the exit code."""
    from kettle.tools.reach import Reach

    config = Reach(environment, subsystem="XFORM").config
    if wish.convert:
        from kettle.tools.configuration.old_routes import convert

        return convert(config, wish.convert, wish.convert_file, streams)
    if wish.only_reads:
        return _show_lines(wish, streams)
    if not wish.rules:
        streams.stderr.write(f"ERROR : no transform rules specified.\n{USAGE}")
        return 1
    run = _Run(wish, config, environment, streams)
    code = run.read_rules()
    if code:
        return code
    if not wish.inputs:
        streams.stderr.write("Warning: no input file specified - nothing to transform.\n")
        return 1
    if wish.output == "-":
        return run.write(streams.stdout)
    try:
        with open(wish.output, "w", encoding="utf-8", errors="surrogateescape") as file:
            return run.write(file)
    except OSError as error:
        streams.stderr.write(f"ERROR: Failed to open output file ({error.strerror})\n")
        return 1


def _show_lines(wish: Wish, streams: Streams) -> int:
    """Print the lines of the files of ads.

    Compat: without the addresses of the reference's readers, which are what it is for there
    (test_what_is_for_tests_of_the_tool_itself).
    """
    for name in wish.inputs:
        try:
            with open(name, encoding="utf-8", errors="surrogateescape") as file:
                streams.stdout.writelines(file)
        except OSError as error:
            streams.stdout.write(f"async open failed : {error.errno} {error.strerror}\n")
    return 0


class _Telling:
    """Tells what a rule does, as the tool prints it."""

    def __init__(self, streams: Streams, *, is_verbose: bool) -> None:
        self._streams = streams
        self._is_verbose = is_verbose

    def step(self, text: str) -> None:
        """Print a step if steps are wanted."""
        if self._is_verbose:
            self._streams.stdout.write(f"{text}\n")

    def error(self, text: str) -> None:
        """Print what could not be done."""
        self._streams.stderr.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Print beside which ad it is at, if that is wanted."""
        if self._is_verbose:
            self._streams.stderr.write(f"#{text}\n")


class _Run:
    """One run: its rules, and the macros that they share."""

    def __init__(
        self, wish: Wish, config: Config, environment: Mapping[str, str], streams: Streams
    ) -> None:
        self.wish = wish
        self.streams = streams
        self.telling = _Telling(streams, is_verbose=wish.is_verbose)
        self.rules: list[Rule] = []
        self.iteration: QueueStatement | None = None
        self.code = 0
        # What follows the rules where these come from standard input.
        self._rest: str | None = None
        random = config.sources.random
        self.macros, self._checked = (
            TransformMacros(config.raw, environment.get, random, arguments=wish.arguments)
            for _ in range(2)
        )
        self._missing: list[str] = []
        # What was said of rules when they were read.
        self._told: set[tuple[int, str]] = set()

    # -- Rules ----------------------------------------------------------------------------------

    def read_rules(self) -> int:
        """Read all rules; the exit code, not 0 where there are none to go on with."""
        for kind, value in self.wish.rules:
            if self.iteration is not None:
                self.streams.stderr.write(
                    f"Error at {value}. Previous transform was an iterating transform\n"
                )
                return 1
            try:
                code = self._read(kind, value)
            except TransformError as error:
                said = f"{error.message}{f' ({error.hint})' if error.hint else ''}"
                self.streams.stderr.write(f"ERROR reading transform rules from {value} : {said}\n")
                code = FAILED
            if code:
                return code
        if self._missing and not self.rules:
            self.streams.stderr.write(f"ERROR : there is no {', no '.join(self._missing)}\n")
            return 1
        return 0

    def _read(self, kind: str, value: str) -> int:
        if kind == "jobtransforms":
            return self._read_configured("JOB_TRANSFORM_%s", re.split(r"[,\s]+", value))
        if kind == "jobroute":
            return self._read_configured("JOB_ROUTER_ROUTE_%s", re.split(r"[,\s]+", value))
        if value.startswith("config://"):
            pattern, _, names = value[9:].partition("/")
            return self._read_configured(pattern, re.split(r"[,\s]+", names) if names else ["_"])
        if value == "-":
            rule = self._rule(read_stream(self.streams.stdin, "<stdin>"), "<stdin>")
            return self._take(rule, "<stdin>", is_input=True)
        try:
            text = read_text(value)
        except OSError:
            self.streams.stderr.write(f"Can't open rules file: {value}\n")
            return FAILED
        return self._take(self._rule(text, value), value)

    def _read_configured(self, pattern: str, names: list[str]) -> int:
        for name in filter(None, names):
            knob = pattern.replace("%s", name)
            text = self._checked.raw(knob)
            if not (text or "").strip():
                self._missing.append(knob)
                continue
            try:
                rule = self._rule(text or "", name, is_configured=True)
            except TransformError as error:
                said = f"{error.message}{f' ({error.hint})' if error.hint else ''}"
                self.streams.stderr.write(
                    f"{knob} invalid transform text, ignoring. (err=-1) {said}\n"
                )
                self._missing.append(f"{knob} that can be read")
                continue
            code = self._take(rule, knob)
            if code:
                return code
        return 0

    def _rule(self, text: str, name: str, *, is_configured: bool = False) -> Rule:
        if is_old_form(text):
            return read_old_form(self._checked.expand(text), name)
        return read_transform(text, name, may_name_itself=not is_configured)

    def _take(self, rule: Rule, source: str, *, is_input: bool = False) -> int:
        """Take a rule of a file or knob; what has no statement is a configuration."""
        if not isinstance(rule, Transform):
            self.rules.append(rule)
            return 0
        steps = self._check(rule, source)
        self.macros.live["RULESFILE"] = rule.name
        if rule.iteration:
            from kettle.client.submit_sources import SystemSubmitSources

            stdin = None if is_input else self.streams.stdin.read
            try:
                self.iteration = read_iteration(rule, self.macros, SystemSubmitSources(stdin))
            except TransformError as error:
                self.streams.stderr.write(f"ERROR: {error.message}\n")
                return FAILED
        if is_input:
            self._rest = rule.rest
        # Compat: without any statement ads are printed as they came, and with all of them in `if`s
        # whose branches are for some ads alone they are applied; the reference crashes
        # (test_rules_without_a_statement_leave_the_ads_alone,
        # test_rules_whose_statements_stand_in_an_if_are_applied).
        if steps:
            self.rules.append(rule)
        return 0

    def _check(self, rule: Transform, source: str) -> int:
        """Return how many statements a rule has, 1 for one that makes no sense: that is told."""
        try:
            return rule.check(self._checked)
        except TransformError as error:
            self._told.add((error.line, error.complaint))
            self.streams.stderr.write(f"Invalid rules file {rule.name} : {error.message}\n")
            if error.hint and self.streams.stderr.isatty():
                place = f"    {source}, line {error.line}"
                self.streams.stderr.write(f"{place}: {error.hint}\n")
            return 1

    # -- Ads ------------------------------------------------------------------------------------

    def write(self, out: TextIO) -> int:
        """Write the changed ads of all inputs; the exit code."""
        texts = self._texts()
        first = next(texts, None)
        form = self.wish.output_form or self.wish.input_form
        if form == "auto":
            # Compat: -out:auto is the first input's form, and -json or -xml the output's, too, as
            # the reference's help has it; it prints long ads
            # (test_an_output_of_auto_is_as_the_first_input).
            is_wanted = self.wish.output_form == "auto"
            form = detect_form(first[1]) if is_wanted and first is not None else "long"
        inputs = chain(() if first is None else (first,), texts)
        ads = (ad for name, text in inputs for ad in self._changed(name, text))
        if self.wish.is_silent:
            for _ in ads:
                pass
            return self.code
        one = next(ads, None)
        if one is not None or self.wish.output_form:
            shown: Iterator[ClassAd] = chain(() if one is None else (one,), ads)
            if not self.wish.is_sorted:
                shown = map(_by_bytes, shown)
            pieces = render_each(shown, form, sort=self.wish.is_sorted)
            # Of the tools this one alone has no empty line behind an ad in XML.
            out.writelines(map(_without_empty_line, pieces) if form == "xml" else pieces)
        return self.code

    def _texts(self) -> Iterator[tuple[str, str]]:
        for name in self.wish.inputs:
            if name == "-":
                text = self._rest
                if text is None:
                    text = read_stream(self.streams.stdin, "<stdin>", limit=LARGEST_ADS)
            else:
                try:
                    text = read_text(name, limit=LARGEST_ADS)
                except OSError:
                    self.streams.stderr.write(f"Can't open file of ClassAds: {name}\n")
                    self.code = self.code or 1
                    continue
            yield name, text

    def _changed(self, name: str, text: str) -> Iterator[ClassAd]:
        """Yield the ads of one input, changed; the first that fails ends it."""
        self.telling.note(f" Applying transforms to ads from {name}")
        number = 0
        try:
            for number, ad in enumerate(parse_ads(text, self.wish.input_form), 1):
                self.telling.note(f"   {_identity(ad, number)}")
                yield from self._apply(ad)
            if not number and text.strip():
                self._complain(name, "there is no ad in it")
        except ClassAdSyntaxError as error:
            self._complain(name, str(error))
            tell_more(error, self.streams.stderr)
        except TransformError:
            # What is wrong was told when the rules were read, or as an error of a step.
            self.streams.stderr.write("Transform of ad  failed!\n")
            self.code = FAILED

    def _complain(self, name: str, what: str) -> None:
        # Compat: the reference prints the ads before it and says nothing
        # (test_what_is_no_ad_is_told).
        self.streams.stderr.write(f"ERROR: {name}: {what}\n")
        self.code = self.code or 1

    def _apply(self, ad: ClassAd) -> Iterator[ClassAd]:
        kept = dict(self.macros.variables)
        try:
            if self.iteration is None:
                self._apply_all(ad)
                yield ad
                return
            for _ in rounds(self.iteration, self.macros):
                changed = ad.copy()
                self._apply_all(changed)
                yield changed
        finally:
            self.macros.variables = kept

    def _apply_all(self, ad: ClassAd) -> None:
        for rule in self.rules:
            applies = rule.applies_to(ad)
            self.telling.note(f"   Transform {rule.name} {'' if applies else 'Skipped'}")
            if applies:
                try:
                    rule.apply(ad, self.macros, self.telling)
                except TransformError as error:
                    self._tell_failure(rule, error)
                    raise

    def _tell_failure(self, rule: Rule, error: TransformError) -> None:
        """Tell what no check of the rules could have found: macros, and what gets too long.

        Compat: the reference does not (test_what_fails_only_when_it_is_applied_is_told_too).
        """
        if (error.line, error.complaint) not in self._told:
            where = f"{rule.name}, line {error.line}" if error.line else rule.name
            self.streams.stderr.write(f"ERROR: {where}: {error.message}\n")


def _by_bytes(ad: ClassAd) -> ClassAd:
    """Return an ad whose attributes are in the order that the reference's have by themselves."""
    shown = ClassAd()
    for name in sorted(ad.names()):
        expr = ad.lookup(name)
        assert expr is not None
        shown.insert(name, expr)
    return shown


def _without_empty_line(piece: str) -> str:
    return piece.rstrip("\n") + "\n"


def _identity(ad: ClassAd, number: int) -> str:
    """Return what an ad is called: its Name, its job id, or which of the file it is."""
    name = ad.string("Name")
    cluster, proc = ad.integer("ClusterId"), ad.integer("ProcId")
    if name is None and cluster is not None and proc is not None:
        return f"Job {cluster}.{proc}"
    return name if name is not None else f"Ad {number}"
