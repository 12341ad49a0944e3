"""The built-in URL plug-in: file://, http:// and https://, as a program of its own.

    python -m kettle.runtime.storage.url_plugin -classad
    python -m kettle.runtime.storage.url_plugin URL FILE
    python -m kettle.runtime.storage.url_plugin -infile REQUESTS -outfile RESULTS [-upload]

Speaks the contract that `plugins.py` describes, so that a site can put another program in its
place. HTTP goes through the standard library, which honours the usual proxy variables. Uploads are
HTTP PUT. A download appears under its name only when it is whole.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from typing import IO

from kettle.classad import ClassAd, parse_ads, unparse
from kettle.classad.text import quote_old

VERSION = "1.0"
# Limit: silence of a server, and the time in which it sends at least as many bytes as seconds: the
# reference's. And how often a failed HTTP transfer is tried.
TIMEOUT_SECONDS = 30.0
TRIES = 3
_PIECE = 1024 * 1024
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_METHODS = ("file", "http", "https")


class TransferError(Exception):
    """One file could not be moved; the text says why, `again` that another try may help."""

    def __init__(self, text: str, *, again: bool = False) -> None:
        super().__init__(text)
        self.again = again


def abilities() -> str:
    """Return the answer to -classad."""
    return (
        "MultipleFileSupport = true\n"
        f"PluginVersion = {quote_old(VERSION)}\n"
        'PluginType = "FileTransfer"\n'
        f"SupportedMethods = {quote_old(','.join(_METHODS))}\n"
    )


def fetch(url: str, path: str) -> int:
    """Bring a URL's content into a file and return its size; TransferError if it cannot be."""
    scheme = urllib.parse.urlsplit(url).scheme.lower()
    if scheme not in _METHODS:
        raise TransferError(f"{scheme}:// is not served by this plug-in")
    part = f"{path}.part{os.getpid()}"
    try:
        with _open(url, scheme) as source, open(part, "wb") as target:
            copy(source, target, time.monotonic)
            size = target.tell()
        os.replace(part, path)
    except urllib.error.HTTPError as error:
        again = error.code in _RETRIED
        text = f"The URL {url} returned {error.code} {error.reason}"
        raise TransferError(text, again=again) from error
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise TransferError(f"{url} cannot be reached: {reason}", again=True) from error
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
                raise TransferError(f"only {since} bytes came in {took:.0f} seconds", again=True)
            began, since = clock(), 0


def _open(url: str, scheme: str) -> IO[bytes]:
    if scheme == "file":
        parts = urllib.parse.urlsplit(url)
        if parts.netloc not in ("", "localhost"):
            raise TransferError(f"{url} names another host")
        return open(urllib.parse.unquote(parts.path), "rb")
    request = urllib.request.Request(url, headers={"User-Agent": "Kettle"})  # noqa: S310
    response: IO[bytes] = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310
    return response


def put(url: str, path: str) -> int:
    """Send a file to a URL and return its size; TransferError if it cannot be."""
    parts = urllib.parse.urlsplit(url)
    try:
        size = os.path.getsize(path)
    except OSError as error:
        why = error.strerror or error
        raise TransferError(f"could not open local file {path}: {why}") from error
    if parts.scheme == "file":
        target = urllib.parse.unquote(parts.path)
        os.makedirs(os.path.dirname(target) or "/", exist_ok=True)
        shutil.copyfile(path, target)
        return size
    if parts.scheme not in _METHODS:
        raise TransferError(f"{parts.scheme}:// is not served by this plug-in")
    try:
        with open(path, "rb") as source:
            request = urllib.request.Request(  # noqa: S310
                url, data=source, method="PUT", headers={"Content-Length": str(size)}
            )
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310
                return size
    except urllib.error.HTTPError as error:
        text = f"The URL {url} returned {error.code} {error.reason}"
        raise TransferError(text, again=error.code in _RETRIED) from error
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise TransferError(f"{url} cannot be reached: {reason}", again=True) from error


def move(url: str, path: str, *, upload: bool) -> ClassAd:
    """Move one file, with retries, and return its result as an ad."""
    began = time.time()
    result = ClassAd(
        {
            "TransferUrl": url,
            "TransferFileName": os.path.basename(path),
            "TransferProtocol": urllib.parse.urlsplit(url).scheme.lower(),
            "TransferType": "upload" if upload else "download",
            "TransferStartTime": int(began),
        }
    )
    error = ""
    size = tries = 0
    while tries < TRIES:
        tries += 1
        try:
            size = put(url, path) if upload else fetch(url, path)
            error = ""
            break
        except TransferError as problem:
            error = str(problem)
            if not problem.again or tries == TRIES:
                break
            time.sleep(0.5 * 2**tries)
        except OSError as problem:
            error = f"{path}: {problem.strerror or problem}"
            break
    result["TransferSuccess"] = not error
    if error:
        result["TransferError"] = error
    result["TransferFileBytes"] = size
    result["TransferTotalBytes"] = size
    result["TransferTries"] = tries
    result["TransferEndTime"] = int(time.time())
    return result


def move_many(requests: str, results: str, *, upload: bool) -> int:
    """Move the files that a request file names; write a result for each."""
    with open(requests, encoding="utf-8") as file:
        wanted = list(parse_ads(file.read()))
    good = True
    with open(results, "w", encoding="utf-8") as file:
        for ad in wanted:
            result = move(ad.string("Url") or "", ad.string("LocalFileName") or "", upload=upload)
            good = good and result.boolean("TransferSuccess") is True
            file.write(f"{unparse(result)}\n")
    return 0 if good else 1


def main(arguments: Sequence[str]) -> int:
    """Be the plug-in; the result is its exit code."""
    if list(arguments) == ["-classad"]:
        sys.stdout.write(abilities())
        return 0
    if len(arguments) in (4, 5) and arguments[0] == "-infile" and arguments[2] == "-outfile":
        return move_many(arguments[1], arguments[3], upload=arguments[4:] == ["-upload"])
    if len(arguments) == 2:
        upload = "://" not in arguments[0]
        url, path = (arguments[1], arguments[0]) if upload else (arguments[0], arguments[1])
        result = move(url, path, upload=upload)
        if result.boolean("TransferSuccess") is True:
            return 0
        sys.stderr.write(f"{result.string('TransferError')}\n")
        return 1
    sys.stderr.write("usage: -classad | URL FILE | -infile FILE -outfile FILE [-upload]\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
