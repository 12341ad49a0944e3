"""Which texts make up a configuration, in which order.

The root file, the folders of LOCAL_CONFIG_DIR, the files of LOCAL_CONFIG_FILE, the user's own
file, then the environment; later settings win (R024, R025). How a text is read is `reader.py`.
"""

from __future__ import annotations

import os.path
import re
from collections import deque
from typing import TYPE_CHECKING

from kettle.config import knob
from kettle.config.origin import DEFAULT_SOURCE, ENVIRONMENT_SOURCE, Origin
from kettle.config.reader import StatementReader, complain
from kettle.config.sources import (
    command_in,
    describe_failure,
    is_command,
    split_command,
    wait_status,
)
from kettle.errors import ConfigError, EndingConfigError, Form, Remark
from kettle.octets import BLANKS, to_bytes
from kettle.patterns import error_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kettle.config.sources import Sources
    from kettle.config.table import Loaded

ROOT_FILES = ("/etc/condor/condor_config", "/usr/local/etc/condor_config")
# Programs that people run read the person's own file; daemons do not, nor does root.
PERSONAL_SUBSYSTEMS = frozenset({"TOOL", "SUBMIT", "DAGMAN"})
# What the names of settings begin with that use a template by themselves.
AUTOMATIC = "AUTO_USE_"
# Limit: local files may name further local files, but not for ever.
MOST_LOCAL_FILES = 1000


def fill(
    config: Loaded,
    *,
    root: str | None = None,
    more: Sequence[str] = (),
    tell: Callable[[ConfigError], object] | None = None,
) -> None:
    """Read everything that makes up the configuration of one program; raise ConfigError.

    What the arguments mean is `load_config`'s to say.
    """
    sources, environment = config.sources, config.environment
    reader = StatementReader(config, sources, tell)
    reader.asked = config.asked
    reader.wordy = config.wordy
    path = root if root is not None else find_root(sources, environment)
    if path is not None:
        config.own_facts["CONFIG_ROOT"] = os.path.dirname(path) or "."
        text = read_source(sources, path, "global config source")
        config.files.append(path)
        reader.read_root(text, path, "global config source")
        for other in more:
            read_local_file(config, reader, other)
        config.settle_host_name()
        folders = config.get("LOCAL_CONFIG_DIR")
        read_local_folders(config, reader)
        # Compat: a list has no way to name a folder with a blank in it
        # (test_a_folder_s_own_knob_names_one_folder_whatever_its_name).
        single = config.get("KETTLE_CONFIG_DIR")
        if single:
            read_local_folder(config, reader, single)
        read_local_files(config, reader)
        if config.get("LOCAL_CONFIG_DIR") != folders:
            # One of those files has changed it: all of it is read, once.
            read_local_folders(config, reader)
        read_personal_file(config, reader)
    read_environment(config, environment)
    config.settle_host_name()
    apply_automatic_templates(config, reader)


def find_root(sources: Sources, environment: Mapping[str, str]) -> str | None:
    """Return the first file to read, None if only the environment counts; raise ConfigError."""
    named = environment.get("CONDOR_CONFIG")
    if named is not None:
        if named == "ONLY_ENV":
            return None
        wrong = _why_no_root(sources, named)
        if wrong:
            said = "File specified in CONDOR_CONFIG environment variable:"
            raise ConfigError(f'{said}\n"{named}" {wrong}', source=named)
        return named
    home = sources.home_directory("condor")
    candidates = [*ROOT_FILES, *([f"{home}/condor_config"] if home else [])]
    for path in candidates:
        if sources.exists(path):
            return path
    raise ConfigError(
        "No configuration: the environment variable CONDOR_CONFIG is not set and there is no "
        + " and no ".join(candidates),
        hint="set CONDOR_CONFIG to a file, or to ONLY_ENV; kettle env prints it for a pool",
    )


def _why_no_root(sources: Sources, path: str) -> str:
    """Return what is wrong with a name for the first file, empty for one that can be read."""
    if sources.exists(path):
        return "is a directory.  Please specify a file." if _is_folder(sources, path) else ""
    try:
        sources.read_text(path)
    except PermissionError as error:
        return f"cannot be read: {error.strerror}"
    except (OSError, ValueError):
        pass
    return "does not exist."


def read_source(sources: Sources, path: str, what: str) -> str:
    """Return the text of a file, or of a command if the path ends in `|`; raise ConfigError."""
    if is_command(path):
        return _said_by_command(sources, path, what)
    try:
        return sources.read_text(path)
    except (OSError, ValueError) as error:
        # Compat: the reference says no more of any file (test_why_a_file_cannot_be_read_is_said).
        why = f": {error.strerror}" if isinstance(error, PermissionError) else ""
        raise ConfigError(f"ERROR: Can't read {what} {path}{why}", source=path) from None


def _said_by_command(sources: Sources, path: str, what: str) -> str:
    """Return what the command says; ConfigError if it cannot be run or ends with a failure."""
    before = after = text = ""
    try:
        status, text = sources.run_command(split_command(command_in(path) or ""))
        if status:
            before = f'Error "{path}": command terminated with exit code {wait_status(status)}'
    except (OSError, ValueError) as error:
        after = describe_failure(error)
    if before or after:
        head = Remark(f"{what} {path}", path, form=Form.READING)
        raise complain((Remark(before), head, Remark(after)), path, 0)
    return text


def read_local_folders(config: Loaded, reader: StatementReader) -> None:
    """Read the files of the folders in LOCAL_CONFIG_DIR."""
    for folder in config.words("LOCAL_CONFIG_DIR"):
        read_local_folder(config, reader, folder)


def read_local_folder(config: Loaded, reader: StatementReader, folder: str) -> None:
    """Read the files of a folder in lexical order."""
    excluded = _read_excluded(config)
    try:
        names = sorted(reader.sources.list_directory(folder))
    except OSError:
        # Compat: a folder that is not there counts as empty, as in the reference
        # (test_a_folder_of_settings_that_is_not_there_counts_as_empty).
        return
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if excluded is None or not excluded.search(to_bytes(name)):
            read_local_file(config, reader, path)


def _read_excluded(config: Loaded) -> re.Pattern[bytes] | None:
    """Return what the names of files match that are not read; EndingConfigError for no pattern.

    It is Perl's, as those of the ClassAd functions.

    Compat: the reference names a line of its own source, here it is the place of the value; what is
    wrong with the pattern is a number where that is known (test_condor_config_val.py).
    """
    name = "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP"
    pattern = config.get(name) or ""
    origin = config.origin(name)
    is_default = origin is None or origin.source == DEFAULT_SOURCE
    try:
        return _compile(pattern, is_default=is_default) if pattern else None
    except (re.error, OverflowError, RecursionError) as error:
        why = (error_number(error) or error.msg) if isinstance(error, re.error) else error
        source, line = (origin.source, origin.line) if origin is not None else (DEFAULT_SOURCE, 0)
        raise EndingConfigError(
            f'ERROR "{name} config parameter is not a valid regular expression.  '
            f'Value: {pattern},  Error Code: {why}" at line {line} in file {source}',
            source=source,
            line=line,
        ) from None


def _compile(pattern: str, *, is_default: bool) -> re.Pattern[bytes]:
    if is_default:
        return re.compile(to_bytes(pattern))
    # For those alone who set it: in the default there is nothing to translate.
    from kettle.patterns.perl import compile_perl

    return compile_perl(to_bytes(pattern))


def read_local_files(config: Loaded, reader: StatementReader) -> None:
    """Read the files of LOCAL_CONFIG_FILE, as often as each is named.

    Where one changes the list, what the new one names and was not read yet is read instead of the
    rest. Raises ConfigError for more than MOST_LOCAL_FILES: a setting of one that is left out is
    missed.
    """
    done: set[str] = set()
    value = config.get("LOCAL_CONFIG_FILE")
    waiting = deque(_local_files(value))
    count = 0
    while waiting:
        path = waiting.popleft()
        if count == MOST_LOCAL_FILES:
            raise _too_many_files(config, path)
        count += 1
        done.add(path)
        # A command has to end well in any case.
        required = is_command(path) or config.boolean("REQUIRE_LOCAL_CONFIG_FILE") is not False
        if not read_local_file(config, reader, path, required=required):
            # It counts as one of the configuration's all the same, as in the reference.
            config.files.append(path)
        changed = config.get("LOCAL_CONFIG_FILE")
        if changed != value:
            value = changed
            waiting = deque(path for path in _local_files(value) if path not in done)


def _local_files(value: str | None) -> list[str]:
    """Return the files, or the one command, that LOCAL_CONFIG_FILE names."""
    text = (value or "").strip(BLANKS)
    return [text] if is_command(text) else list(knob.split_list(text))


def _too_many_files(config: Loaded, path: str) -> ConfigError:
    # Compat: the reference reads them all (test_more_local_files_than_the_bound_are_refused).
    origin = config.origin("LOCAL_CONFIG_FILE")
    source, line = (origin.source, origin.line) if origin is not None else ("", 0)
    return ConfigError(
        f"LOCAL_CONFIG_FILE names more than {MOST_LOCAL_FILES} files; {path} is one too many",
        source=source,
        line=line,
        hint="put them into one folder and name it in LOCAL_CONFIG_DIR",
    )


def read_local_file(
    config: Loaded, reader: StatementReader, path: str, *, required: bool = True
) -> bool:
    """Read one more file and tell whether it could be read.

    Raises ConfigError if it could not and is required; a folder is never.
    """
    try:
        text = read_source(reader.sources, path, "config source")
    except ConfigError:
        if required and not _is_folder(reader.sources, path):
            raise
        return False
    config.files.append(path)
    reader.read_root(text, path, "config source")
    return True


def _is_folder(sources: Sources, path: str) -> bool:
    try:
        sources.list_directory(path)
    except OSError:
        return False
    return True


def read_personal_file(config: Loaded, reader: StatementReader) -> None:
    """Read `~/.condor/user_config` for programs that a person other than root runs."""
    if config.subsystem not in PERSONAL_SUBSYSTEMS or config.raw("REAL_UID") == "0":
        return
    name = config.get("USER_CONFIG_FILE")
    home = config.environment.get("HOME") or config.sources.home_directory("")
    if not name or (not home and not name.startswith("/")):
        return
    path = name if name.startswith("/") else f"{home}/.condor/{name}"
    if config.sources.exists(path):
        read_local_file(config, reader, path)


def read_environment(config: Loaded, environment: Mapping[str, str]) -> None:
    """Enter the variables that begin with `_CONDOR_` in any case."""
    for name, value in environment.items():
        if name[:8].upper() == "_CONDOR_" and len(name) > 8:
            config.assign(name[8:], value.lstrip(BLANKS), Origin(ENVIRONMENT_SOURCE))


def apply_automatic_templates(config: Loaded, reader: StatementReader) -> None:
    """Carry out `use CATEGORY:NAME` for every AUTO_USE_<CATEGORY>_<NAME> that is true."""
    names = ["AUTO_USE_FEATURE_PelicanRetryPolicy"]
    names += [entry.name for entry in config.entries() if entry.name.upper()[:9] == AUTOMATIC]
    for name in names:
        if config.boolean(name):
            category, _, template = name[9:].partition("_")
            statement = f"use {category}:{template}"
            reader.read_root(statement, name, "the automatic template")
