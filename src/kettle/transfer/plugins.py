"""URL plug-ins: what they are asked, what they answer, which one serves a URL.

A plug-in is a program. `PROGRAM -classad` prints an ad with its abilities; `PROGRAM URL FILE`
fetches one file; `PROGRAM -infile REQUESTS -outfile RESULTS [-upload]` moves many, described as
ads in files. Here are the texts and the choice; programs are run by `kettle.runtime`. The
built-in one (`runtime.storage.url_plugin`) speaks the same contract. Source: wire notes,
File transfer, TransferPlugins and FILETRANSFER_PLUGINS.
"""

from __future__ import annotations

import errno
import posixpath
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kettle.attributes.codes import TransferSubCode
from kettle.classad import ClassAd, parse_ads, parse_old_ad, unparse
from kettle.errors import ClassAdSyntaxError
from kettle.transfer.outcome import UrlResult
from kettle.transfer.plan import scheme_of, split_at_commas

# Limit: what a plug-in may print or write about its work.
MAX_OUTPUT = 4 * 1024 * 1024
# How long a query of a plug-in's abilities may take.
QUERY_SECONDS = 20
# How long each trial of a kind of URL may take (METHOD_TEST_URL).
TRIAL_SECONDS = 60.0
BUILT_IN_METHODS = ("file", "http", "https")
# The reference's program for these methods.
BUILT_IN_NAME = "curl_plugin"


# Versions of the protocol with plug-ins: a file for each run, many files, many files and data.
MANY_FILES, ADS_OF_DATA = 2, 4
_HIGHEST_VERSION = 100


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program and the URL methods it serves; `many` if it takes several files at once."""

    argv: tuple[str, ...]
    methods: frozenset[str]
    many: bool = True
    # Of the protocol it speaks.
    version: int = MANY_FILES

    @property
    def name(self) -> str:
        """What messages call it; the built-in one goes by the name of what it stands for."""
        return BUILT_IN_NAME if len(self.argv) > 1 else self.argv[0]

    @property
    def prefix(self) -> str:
        """How the names of variables begin that are meant for it: `CURL_` of curl_plugin."""
        if "pelican" in self.methods:
            return "PELICAN_"
        base = posixpath.basename(self.name)
        short, found, _ = base.partition("_plugin")
        return f"{short if found else posixpath.splitext(base)[0]}_".upper()

    def its_own(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return those of a job's variables that are meant for this plug-in."""
        prefix = self.prefix
        return {name: text for name, text in variables.items() if name.upper().startswith(prefix)}


@dataclass(frozen=True, slots=True)
class PluginRules:
    """What the configuration says of plug-ins; times are seconds."""

    # FILETRANSFER_PLUGINS.
    configured: str = ""
    # MAX_FILE_TRANSFER_PLUGIN_LIFETIME: how long one may take.
    lifetime: float = 72_000.0
    # MY_POPEN_KEEPALIVE_INTERVAL: how often a line says that one still runs.
    keepalive: float = 60.0
    # LOG_FILETRANSFER_PLUGIN_STDOUT_ON_SUCCESS and _ON_FAILURE: where what one prints is told.
    told_of_success: str = ""
    told_of_failure: str = "D_ALWAYS"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a plug-in ended. `status` is its exit code, negative for a signal."""

    status: int
    output: str = ""
    seconds: int = 0
    timed_out: bool = False
    # Whether there was a process at all; if not, `output` says why.
    started: bool = True

    @property
    def subcode(self) -> int:
        """The hold subcode of a failure."""
        if self.timed_out:
            return errno.ETIME
        if not self.started:
            return int(TransferSubCode.PluginNotExecuted)
        return self.status << 8 if self.status >= 0 else -self.status

    @property
    def failed(self) -> bool:
        """Whether something went wrong, whatever the files' results say."""
        return self.status != 0 or self.timed_out or not self.started

    @property
    def how(self) -> str:
        """How one ended that did not end well, in the reference's words."""
        if self.status < 0:
            return f"exit by signal {-self.status}"
        return f"non-zero exit ({self.status})"

    def in_numbers(self) -> str:
        """Return how it ended, as logs have it."""
        code, number = max(0, self.status), max(0, -self.status)
        return f"exit_code {code} exit_by_signal: {int(number > 0)} exit_signal: {number}"

    def in_words(self) -> str:
        """Return how it ended."""
        if self.status < 0:
            return f"signal {-self.status}"
        return f"exit code {self.status}"


def built_in_plugin(python: str = sys.executable) -> Plugin:
    """Return our own plug-in, which needs nothing but the interpreter."""
    argv = (python, "-P", "-m", "kettle.runtime.storage.url_plugin")
    return Plugin(argv, frozenset(BUILT_IN_METHODS))


def query_argv(program: str) -> list[str]:
    """Return the command that asks a program for its abilities."""
    return [program, "-classad"]


def parse_abilities(program: str, output: str) -> Plugin | None:
    """Read the answer to `-classad`; None if it is no file transfer plug-in.

    Lines that are no part of an ad, such as what it says on standard error, are passed over.
    """
    ad = ClassAd()
    for line in output[:MAX_OUTPUT].splitlines():
        with suppress(ClassAdSyntaxError):
            ad.update(parse_old_ad([line]))
    if (ad.string("PluginType") or "").lower() != "filetransfer":
        return None
    methods = frozenset(method.lower() for method in split_at_commas(ad.string("SupportedMethods")))
    if not methods:
        return None
    many = ad.boolean("MultipleFileSupport") is True
    version = ad.integer("ProtocolVersion") or 0
    if not 1 <= version <= _HIGHEST_VERSION:
        version = MANY_FILES if many else 1
    return Plugin((program,), methods, many, version)


def parse_job_plugins(text: str | None) -> list[tuple[frozenset[str], str]]:
    """Return the job's own plug-ins, TransferPlugins = "method,method=program;…"."""
    found = []
    for part in (text or "").split(";"):
        methods, equals, program = part.partition("=")
        if equals and program.strip():
            names = frozenset(method.lower() for method in split_at_commas(methods))
            found.append((names, program.strip()))
    return found


def choose_plugin(plugins: Iterable[Plugin], url: str) -> Plugin | None:
    """Return the first plug-in that serves a URL's method."""
    scheme = scheme_of(url)
    return next((plugin for plugin in plugins if scheme in plugin.methods), None)


def plan_runs(
    plugins: Sequence[Plugin], wanted: Sequence[tuple[str, str]]
) -> tuple[list[tuple[Plugin, list[tuple[str, str]]]], list[UrlResult]]:
    """Return which plug-in is run for which (url, path) pairs, and the pairs nobody serves.

    A plug-in that takes many files is run once for all of its, the others once for each file.
    """
    runs: list[tuple[Plugin, list[tuple[str, str]]]] = []
    together: dict[Plugin, list[tuple[str, str]]] = {}
    failed: list[UrlResult] = []
    for url, path in wanted:
        plugin = choose_plugin(plugins, url)
        if plugin is None:
            text = f"FILETRANSFER: plugin for type {scheme_of(url)} not found!"
            code = int(TransferSubCode.PluginNotFound)
            failed.append(UrlResult(url, path, error=text, subcode=code))
        elif plugin.many and plugin in together:
            together[plugin].append((url, path))
        else:
            pairs = [(url, path)]
            runs.append((plugin, pairs))
            if plugin.many:
                together[plugin] = pairs
    return runs, failed


def single_argv(plugin: Plugin, url: str, path: str, *, upload: bool = False) -> list[str]:
    """Return the command that moves one file."""
    return [*plugin.argv, path, url] if upload else [*plugin.argv, url, path]


def many_argv(plugin: Plugin, requests: str, results: str, *, upload: bool = False) -> list[str]:
    """Return the command that moves several files, described in the file `requests`."""
    argv = [*plugin.argv, "-infile", requests, "-outfile", results]
    return [*argv, "-upload"] if upload else argv


def render_requests(
    pairs: Sequence[tuple[str, str]], job: ClassAd | None = None, version: int = MANY_FILES
) -> str:
    """Return the text of a request file: one ad for each file.

    What the job has for plug-ins (PluginData, and SCHEME_PluginData for each kind of URL) stands in
    each of them, or, from the version of the protocol on that knows of it, in ads of its own.
    Source: observed of a real starter.
    """
    ads = [ClassAd({"Url": url, "LocalFileName": path}) for url, path in pairs]
    schemes = sorted({scheme_of(url) for url, _ in pairs})
    names = ["PluginData", *(f"{scheme}_PluginData" for scheme in schemes)]
    data = {name: text for name in names if job is not None and (text := job.text(name))}
    if version == MANY_FILES:
        for ad in ads:
            _insert_all(ad, data)
    elif version == ADS_OF_DATA:
        own = []
        for scheme, name in zip(["", *schemes], names, strict=True):
            if name in data:
                own.append(ClassAd({"Protocol": scheme} if scheme else {}))
                _insert_all(own[-1], {name: data[name]})
        ads = [*own, *ads]
    return "".join(f"{unparse(ad)}\n" for ad in ads)


def _insert_all(ad: ClassAd, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        ad.insert_text(name, text)


def read_result_ads(text: str) -> list[ClassAd]:
    """Return the ads of a result file, those before anything that is no ad.

    Compat: `[ … ];` is what some plug-ins write, and the reference reads
    (test_ads_count_up_to_what_is_none).
    """
    found: list[ClassAd] = []
    with suppress(ClassAdSyntaxError):
        found.extend(parse_ads(text[:MAX_OUTPUT]) if text.strip() else ())
    return found


def read_results(
    plugin: Plugin,
    pairs: Sequence[tuple[str, str]],
    ads: Sequence[ClassAd],
    ran: Ran,
    answers: str = "",
) -> list[UrlResult]:
    """Return how each file fared, from the ads of the file `answers` and the end of the plug-in.

    A file without a result has failed, whatever the exit status says; and where the plug-in failed
    and no file did, the first one has.
    """
    by_url: dict[str, ClassAd] = {}
    for ad in ads:
        url = ad.string("TransferUrl") or ad.string("Url")
        if url is not None:
            by_url[url] = ad
    results = []
    for url, path in pairs:
        found = by_url.get(url)
        if found is None and len(ads) == len(pairs) == 1:
            found = ads[0]
        if found is None:
            results.append(_silent(plugin, url, path, ran, answers, said_something=bool(ads)))
        elif found.boolean("TransferSuccess") is True:
            size = found.integer("TransferFileBytes") or found.integer("TransferTotalBytes") or 0
            results.append(UrlResult(url, path, max(0, size)))
        else:
            results.append(_told(plugin, url, path, found, ran))
    if ran.failed and results and not any(result.error for result in results):
        results[0] = _silent(plugin, *pairs[0], ran, said_something=True)
        if not ran.timed_out and ran.started:
            text = (
                f"File transfer plugin {plugin.name} failed unexpectedly with {ran.in_words()}, "
                "did not report a TransferError message."
            )
            results[0] = replace(results[0], error=text)
    return results


def _told(plugin: Plugin, url: str, path: str, ad: ClassAd, ran: Ran) -> UrlResult:
    """Return the failure of a file that the plug-in did not call a success.

    Compat: input of which a plug-in that ends with 0 says so fails here, too: the reference runs
    the job without it; and of such output the reference tells nothing but the name of the file, as
    if the access point had failed
    (test_what_a_plug_in_calls_a_failure_is_one_however_it_ends_itself).
    """
    said = ad.string("TransferError")
    if ad.boolean("TransferSuccess") is None:
        said = (
            f"File transfer plugin {plugin.name} exited without producing a TransferSuccess result "
        )
        told = f"{said} ({url})|"
        orderly_code = 0
    else:
        orderly_code = 1 if said else 0
        said = said or (
            f"File transfer plugin {plugin.name} exited unexpectedly "
            "without producing an error message "
        )
        told = f"{said} ( URL file = {url} )|"
    code = ran.subcode if ran.failed else orderly_code
    broke = f"{ran.how} from {plugin.name}"
    return UrlResult(url, path, 0, said, code, not ran.failed, broke, told)


def _silent(
    plugin: Plugin, url: str, path: str, ran: Ran, answers: str = "", *, said_something: bool
) -> UrlResult:
    """Return the failure of a file of which the plug-in said nothing."""
    if ran.timed_out:
        text = f"File transfer plugin {plugin.name} timed out after {ran.seconds} seconds."
    elif not ran.started:
        text = f"FILETRANSFER: Failed to execute {plugin.name}: {ran.output}"
    elif said_something:
        how = ran.in_words()
        text = f"File transfer plugin {plugin.name} ended with {how} and no result for {url}"
        return UrlResult(url, path, error=text, subcode=ran.subcode or 1 << 8)
    else:
        # One that the job brought lies beside its answers, and goes by its name alone.
        name = (
            plugin.name.removeprefix(f"{posixpath.dirname(answers)}/") if answers else plugin.name
        )
        text = (
            f"file transfer plugin {name} exited ({ran.in_words()}), "
            f"no valid classads in output file {answers}"
        )
        if ran.status >= 0:
            code = int(TransferSubCode.PluginSilent)
            return UrlResult(url, path, error=text, subcode=code)
    return UrlResult(url, path, error=text, subcode=ran.subcode)


def single_result(plugin: Plugin, pair: tuple[str, str], ran: Ran, size: int) -> UrlResult:
    """Return how a single file fared, from the exit status and what was printed."""
    if not ran.failed:
        return UrlResult(*pair, size)
    if ran.timed_out or not ran.started:
        return _silent(plugin, *pair, ran, said_something=False)
    said = ran.output.strip().splitlines()[-1:] or [f"exited ({ran.in_words()})"]
    text = f"file transfer plugin {plugin.name} failed for {pair[0]}: {said[0][:500]}"
    return UrlResult(*pair, error=text, subcode=ran.subcode)


def plugin_environment(base: Mapping[str, str], job_ad: str, machine_ad: str) -> dict[str, str]:
    """Return the environment of a plug-in: where it finds the ads of job and machine."""
    return {**base, "_CONDOR_JOB_AD": job_ad, "_CONDOR_MACHINE_AD": machine_ad}
