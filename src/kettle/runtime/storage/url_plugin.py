"""The built-in URL plug-in: file://, http:// and https://, as a program of its own.

    python -m kettle.runtime.storage.url_plugin -classad
    python -m kettle.runtime.storage.url_plugin URL FILE
    python -m kettle.runtime.storage.url_plugin -infile REQUESTS -outfile RESULTS [-upload]

Speaks the contract that `plugins.py` describes, so that a site can put another program in its
place. HTTP goes through the standard library, which honours the usual proxy variables. Uploads are
HTTP PUT. A download appears under its name only when it is whole. What the environment says counts
as for the reference's plug-in: CURL_MAX_RETRY_ATTEMPTS, CURL_MAX_REDIRS, CURL_IGNORE_HTTP_PROXY
and X509_CERT_DIR.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import IO

from kettle.classad import ClassAd, parse_ads, unparse
from kettle.classad.text import quote_old
from kettle.octets import AS_IS
from kettle.runtime.storage.fences import Fence, opener

# Of the contract that it speaks, as the reference's curl_plugin says it.
VERSION = "0.2"
# Limit: silence of a server, and the time in which it sends at least as many bytes as seconds: the
# reference's. And how often a failed HTTP transfer is tried.
TIMEOUT_SECONDS = 30.0
TRIES = 3
# Both say how often a transfer is tried again; the first one that is there counts.
_RETRIES = ("CONDOR_CURL_MAX_RETRY_ATTEMPTS", "CURL_MAX_RETRY_ATTEMPTS")
_PIECE = 1024 * 1024
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_METHODS = ("file", "http", "https")
_NO_PROGRESS = "Aborted due to lack of progress"


# What stands for the URL's host in what is said of a kind of failure.
_HOST = object()
_UNKNOWN = "Unknown"
# Kinds of failure: the number that curl has for it, by which the reference's plug-in tells them,
# and what its TransferErrorData says (test_what_fails_is_told_by_its_kind).
Kind = tuple[int, Mapping[str, object]]
OTHER: Kind = (23, {})
MALFORMED: Kind = (
    3,
    {"ErrorType": "Parameter", "PluginLaunched": True, "PluginVersion": VERSION},
)
UNRESOLVED: Kind = (
    6,
    {"ErrorType": "Resolution", "FailedName": _HOST, "FailureType": _UNKNOWN},
)
UNREACHED: Kind = (7, {"ErrorType": "Contact", "FailedServer": _UNKNOWN})
UNREAD: Kind = (37, {"ErrorType": "Specification"})
TOO_SLOW: Kind = (
    42,
    {"ErrorType": "Transfer", "FailedServer": _UNKNOWN, "FailureType": "TooSlow"},
)
UNTRUSTED: Kind = (
    60,
    {"ErrorType": "Authorization", "FailedServer": _UNKNOWN, "FailureType": "Authentication"},
)
# What a connection that failed was about.
_BY_REASON: tuple[tuple[type, Kind], ...] = (
    (socket.gaierror, UNRESOLVED),
    (ssl.SSLCertVerificationError, UNTRUSTED),
    (ssl.SSLError, (35, UNREACHED[1])),
)
_HTTP = 22
_BY_STATUS: Mapping[int, Mapping[str, object]] = {
    400: {"ErrorType": "Specification", "FailedServer": _HOST},
    403: {
        "ErrorType": "Authorization",
        "FailureType": "Authorization",
        "FailedServer": _HOST,
    },
    404: {"ErrorType": "Specification", "FailedServer": _HOST},
}


class TransferError(Exception):
    """One file could not be moved; the text says why, `again` that another try may help.

    `kind` is what sort of failure it is, `status` what an HTTP server said.
    """

    def __init__(
        self, text: str, *, again: bool = False, kind: Kind = OTHER, status: int = 0
    ) -> None:
        super().__init__(text)
        self.again = again
        self.kind = kind
        self.status = status

    def data(self, url: str) -> ClassAd:
        """Return the ad that TransferErrorData has for this failure."""
        code, more = self.kind
        ad = ClassAd({"ErrorCode": code, "ErrorString": str(self)})
        for name, value in more.items():
            ad[name] = _host_of(url) if value is _HOST else value
        return ad


def _host_of(url: str) -> str:
    """Return a URL's host and port, without the user and password that may stand before."""
    try:
        return urllib.parse.urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def abilities() -> str:
    """Return the answer to -classad."""
    return (
        "MultipleFileSupport = true\n"
        f"PluginVersion = {quote_old(VERSION)}\n"
        'PluginType = "FileTransfer"\n'
        f"SupportedMethods = {quote_old(','.join(_METHODS))}\n"
    )


def fetch(url: str, path: str, fence: Fence | None = None) -> int:
    """Bring a URL's content into a file and return its size; TransferError if it cannot be."""
    scheme = _scheme_of(url)
    part = f"{path}.part{os.getpid()}"
    try:
        with (
            _told_by_kind(url),
            _open(url, scheme, fence) as source,
            open(part, "wb", opener=opener(fence)) as target,
        ):
            copy(source, target, time.monotonic)
            size = target.tell()
        os.replace(part, path)
    except OSError as error:
        raise TransferError(f"{url} to {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
    return size


def copy(source: IO[bytes], target: IO[bytes], clock: Callable[[], float]) -> None:
    """Copy what comes; TransferError if it comes slower than a byte a second."""
    read = getattr(source, "read1", source.read)
    began, since = clock(), 0
    while piece := read(_PIECE):
        target.write(piece)
        since += len(piece)
        took = clock() - began
        if took >= TIMEOUT_SECONDS:
            if since < took:
                text = f"{_NO_PROGRESS}: {since} bytes came in {took:.0f} seconds"
                raise TransferError(text, kind=TOO_SLOW)
            began, since = clock(), 0


def _open(url: str, scheme: str, fence: Fence | None) -> IO[bytes]:
    if scheme == "file":
        parts = urllib.parse.urlsplit(url)
        if parts.netloc not in ("", "localhost"):
            raise TransferError(f"{url} names another host", kind=MALFORMED)
        path = urllib.parse.unquote(parts.path)
        try:
            return open(path, "rb", opener=opener(fence))
        except OSError as error:
            text = f"{url}: couldn't open file {path}: {error.strerror or error}"
            raise TransferError(text, kind=UNREAD) from error
    request = urllib.request.Request(url, headers={"User-Agent": "Kettle"})  # noqa: S310
    response: IO[bytes] = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310
    return response


def put(url: str, path: str, fence: Fence | None = None) -> int:
    """Send a file to a URL and return its size; TransferError if it cannot be."""
    scheme, parts = _scheme_of(url), urllib.parse.urlsplit(url)
    try:
        source = open(path, "rb", opener=opener(fence))  # noqa: SIM115 - closed below
        size = os.fstat(source.fileno()).st_size
    except OSError as error:
        why = error.strerror or error
        raise TransferError(f"could not open local file {path}: {why}") from error
    with source:
        if scheme == "file":
            _put_file(source, urllib.parse.unquote(parts.path), fence)
            return size
        return _put_away(url, source, size)


def _put_file(source: IO[bytes], target: str, fence: Fence | None) -> None:
    folder = os.path.dirname(target) or "/"
    if fence is None:
        os.makedirs(folder, exist_ok=True)
    else:
        fence.make_directories(folder)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(target), os.fstat(source.fileno())):
            raise shutil.SameFileError(f"{source.name!r} and {target!r} are the same file")
    with open(target, "wb", opener=opener(fence)) as sink:
        shutil.copyfileobj(source, sink, _PIECE)


def _put_away(url: str, source: IO[bytes], size: int) -> int:
    with _told_by_kind(url):
        request = urllib.request.Request(  # noqa: S310
            url, data=source, method="PUT", headers={"Content-Length": str(size)}
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310
            return size


def _scheme_of(url: str) -> str:
    """Return the URL's scheme; TransferError if it is none of ours."""
    try:
        scheme = urllib.parse.urlsplit(url).scheme.lower()
    except ValueError as error:
        raise TransferError(f"{url}: {error}", kind=MALFORMED) from error
    if scheme not in _METHODS:
        raise TransferError(f"{scheme}:// is not served by this plug-in", kind=MALFORMED)
    return scheme


@contextlib.contextmanager
def _told_by_kind(url: str) -> Iterator[None]:
    """Make what HTTP and its connections raise the TransferError of its kind."""
    try:
        yield
    except urllib.error.HTTPError as error:
        raise TransferError(
            f"The URL {url} returned {error.code} {error.reason}",
            again=error.code in _RETRIED,
            kind=(_HTTP, _BY_STATUS.get(error.code, {})),
            status=error.code,
        ) from error
    except TimeoutError as error:
        text = f"{url}: {_NO_PROGRESS}: nothing came in {TIMEOUT_SECONDS:.0f} seconds"
        raise TransferError(text, kind=TOO_SLOW) from error
    except (http.client.InvalidURL, UnicodeError, ValueError) as error:
        raise TransferError(f"{url}: {error}", kind=MALFORMED) from error
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        kind = next((kind for sort, kind in _BY_REASON if isinstance(reason, sort)), UNREACHED)
        text = f"{url} cannot be reached: {reason}"
        raise TransferError(text, again=kind is UNREACHED, kind=kind) from error


def most_tries(environment: Mapping[str, str]) -> int:
    """Return how often a transfer is tried where another try may help.

    Compat: the reference tries again 20 times unless it is told, and a busy server's answer never;
    here a wrong port is told within seconds (test_a_transfer_is_tried_as_often_as_it_is_told).
    """
    told = next((environment[name] for name in _RETRIES if name in environment), "")
    retries = _number(told)
    return retries + 1 if retries > 0 else TRIES


def heed_environment(environment: MutableMapping[str, str]) -> None:
    """Follow what the environment says of redirections, proxies and certificates."""
    if (redirections := _number(environment.get("CURL_MAX_REDIRS", ""))) > 0:
        urllib.request.HTTPRedirectHandler.max_redirections = redirections
    if _number(environment.get("CURL_IGNORE_HTTP_PROXY", "")) > 0:
        environment.pop("http_proxy", None)
    if "X509_CERT_DIR" in environment:
        environment["SSL_CERT_DIR"] = environment["X509_CERT_DIR"]


def _number(text: str) -> int:
    """Return the number that a text begins with, 0 where it begins with none."""
    found = re.match(r"\s*\d{1,9}", text)
    return int(found.group()) if found else 0


def move(url: str, path: str, *, upload: bool, fence: Fence | None = None) -> ClassAd:
    """Move one file, with retries, and return its result as an ad."""
    began = time.time()
    result = ClassAd(
        {
            "TransferUrl": url,
            "TransferFileName": os.path.basename(path),
            "TransferProtocol": url.partition(":")[0].lower(),
            "TransferType": "upload" if upload else "download",
            "TransferStartTime": int(began),
        }
    )
    error = ""
    failures: list[ClassAd] = []
    size = tries = status = 0
    most = most_tries(os.environ)
    while tries < most:
        tries += 1
        try:
            size = put(url, path, fence) if upload else fetch(url, path, fence)
            error = ""
            break
        except TransferError as problem:
            error, status = str(problem), problem.status
            failures.append(problem.data(url))
            if not problem.again or tries == most:
                break
            time.sleep(tries)
        except OSError as problem:
            error = f"{path}: {problem.strerror or problem}"
            failures.append(TransferError(error).data(url))
            break
    result["TransferSuccess"] = not error
    if error:
        result["TransferError"] = error
    result["TransferFileBytes"] = size
    result["TransferTotalBytes"] = size
    ended = time.time()
    result["TransferEndTime"] = int(ended)
    result["ConnectionTimeSeconds"] = max(0.0, ended - began)
    developer = ClassAd({"TransferLocalMachineName": socket.gethostname(), "TransferTries": tries})
    if _host_of(url):
        developer["TransferHostName"] = _host_of(url)
    if status:
        developer["TransferHTTPStatusCode"] = status
    result["DeveloperData"] = developer
    if failures:
        result["TransferErrorData"] = failures
    return result


def move_many(requests: str, results: str, *, upload: bool, fence: Fence | None = None) -> int:
    """Move the files that a request file names; write a result for each."""
    opened = opener(fence)
    with open(requests, encoding="utf-8", errors=AS_IS, opener=opened) as file:
        wanted = list(parse_ads(file.read()))
    good = True
    with open(results, "w", encoding="utf-8", errors=AS_IS, opener=opened) as file:
        for ad in wanted:
            url, path = ad.string("Url") or "", ad.string("LocalFileName") or ""
            result = move(url, path, upload=upload, fence=fence)
            good = good and result.boolean("TransferSuccess") is True
            file.write(f"{unparse(result)}\n")
    return 0 if good else 1


def main(arguments: Sequence[str], fence: Fence | None = None) -> int:
    """Be the plug-in, which opens no file that the `fence` bars; the result is its exit code."""
    heed_environment(os.environ)
    if list(arguments) == ["-classad"]:
        sys.stdout.write(abilities())
        return 0
    if len(arguments) in (4, 5) and arguments[0] == "-infile" and arguments[2] == "-outfile":
        upload = arguments[4:] == ["-upload"]
        return move_many(arguments[1], arguments[3], upload=upload, fence=fence)
    if len(arguments) == 2:
        upload = "://" not in arguments[0]
        url, path = (arguments[1], arguments[0]) if upload else (arguments[0], arguments[1])
        result = move(url, path, upload=upload, fence=fence)
        if result.boolean("TransferSuccess") is True:
            return 0
        sys.stderr.write(f"{result.string('TransferError')}\n")
        return 1
    sys.stderr.write("usage: -classad | URL FILE | -infile FILE -outfile FILE [-upload]\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
