"""What an administrator set in a running daemon from afar (`condor_config_val -rset` and `-set`).

Whether that is allowed is ENABLE_RUNTIME_CONFIG's and ENABLE_PERSISTENT_CONFIG's to say, as they
were when the daemon began, and which names, by whom, that of SETTABLE_ATTRS_<LEVEL>. What was set
counts from the next reconfiguration on, over everything that files and environment say: with
`-rset` until the daemon ends, with `-set` until it is unset. A value is a value: nothing is
included or run.

What is set for good stands in the reference's files (test_remote_settings): <SUBSYS>_CONFIG, by
default `PERSISTENT_CONFIG_DIR/.config.<SUBSYS>` (`.config.<SUBSYS>@<local name>` where it has one),
lists the names, and a file beside it for each name, with that name at its end as it was sent, has
the setting.
What is set in a daemon counts in that daemon, not in shadows and starters, which are of another
subsystem: they read files of their own, `.config.SHADOW` and `.config.STARTER`. As whom it works is
read before (`daemon.run`): CONDOR_IDS cannot be set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from kettle.config import Config, load_config
from kettle.config.knobs.security import SecurityKnobs
from kettle.config.origin import Origin
from kettle.errors import ConfigError, NotFoundError, RefusedError
from kettle.levels import Level
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.storage.files import Files, SystemSources

# Limit: names that may be set in one daemon, and how long a value may be.
MOST_NAMES = 1000
LONGEST_VALUE = 64 * 1024
_SOURCE = "<Runtime>"
_LIST = "RUNTIME_CONFIG_ADMIN"
# The last configuration for each kind of child; those that a zygote forks have what it read.
_READ: dict[str, Config] = {}
_SETTING = re.compile(r"([A-Za-z_][\w.]*)\s*=[ \t]*([^\r\n]*)")


class KeptSettings:
    """The names that are set for good, with their texts; `path` is their list's file.

    `uid` is whom the daemon works as: it writes the files, and is believed as root is.
    """

    def __init__(self, files: Files, path: str, uid: int) -> None:
        self._files = files
        self._path = path
        self._trusted = frozenset((0, uid))
        self.texts: dict[str, str] = {}
        # How each name is spelled in the list and at the end of its file.
        self._spelled: dict[str, str] = {}
        # Whoever could write these could set anything.
        listed = self._read(path, _LIST) or ""
        for name in re.split(r"[\s,]+", listed):
            if name:
                self._spelled[name.upper()] = name
                self.texts[name.upper()] = self._read(self._file_of(name), name) or ""

    def _file_of(self, name: str) -> str:
        """Return the file that has a name's setting."""
        return f"{self._path}.{self._spelled.get(name.upper(), name)}"

    def change(self, name: str, text: str | None) -> None:
        """Set a name, or with None no longer; on disk before this returns. Raises StorageError."""
        key, path = name.upper(), self._file_of(name)
        if text is None:
            self.texts.pop(key, None)
            self._spelled.pop(key, None)
            self._write_list()
            self._files.remove(path)
            return
        self._files.write_atomically(path, f"{key} = {text}\n", durable=True)
        self._spelled.setdefault(key, name)
        self.texts[key] = text
        self._write_list()

    def _write_list(self) -> None:
        if self.texts:
            line = f"{_LIST} = {', '.join(self._spelled[key] for key in self.texts)}\n"
            self._files.write_atomically(self._path, line, durable=True)
        else:
            self._files.remove(self._path)

    def _read(self, path: str, name: str) -> str | None:
        """Return the text of the one setting in a file; None if there is no such file.

        Raises ConfigError if somebody else wrote it, and for what is no setting of that name.
        """
        try:
            owner = os.stat(path).st_uid
            text = self._files.read_text(path, limit=2 * LONGEST_VALUE)
            found = _SETTING.fullmatch(text.strip())
        except (FileNotFoundError, NotFoundError):
            return None
        if owner not in self._trusted:
            raise ConfigError(f"{path}: set for good by user {owner}, who is not this daemon's")
        if found is None or found[1].upper() != name.upper():
            raise ConfigError(f"{path}: that is no setting of {name}")
        return found[2]


class RemoteSettings:
    """The names that were set, with their texts."""

    def __init__(self, *, runtime: bool = False, kept: KeptSettings | None = None) -> None:
        self._runtime = runtime
        self._texts: dict[str, str] = {}
        self._kept = kept

    @classmethod
    def begin(cls, config: Config, files: Files, uid: int) -> RemoteSettings:
        """Return what a daemon that begins allows, with what was set in it for good before.

        `uid` is of the account that it works as (`Privileges.daemon`), whatever it is just now.
        Raises ConfigError for files that cannot be trusted, and if nothing says where they are.
        """
        runtime = bool(config[SecurityKnobs.ENABLE_RUNTIME_CONFIG])
        if not config[SecurityKnobs.ENABLE_PERSISTENT_CONFIG]:
            return cls(runtime=runtime)
        own = f"{config.subsystem}_CONFIG"
        folder = config.get("PERSISTENT_CONFIG_DIR")
        # Compat: the reference's daemons of one kind share a file, and each writes the list anew as
        # it knows it; ours have one for each local name, with the `@` that no name of a setting has
        # (test_daemons_of_one_kind_keep_what_is_theirs).
        local = f"@{config.local_name}" if config.local_name else ""
        path = config.get(own) or (f"{folder}/.config.{config.subsystem}{local}" if folder else "")
        if not path:
            raise ConfigError(
                "ENABLE_PERSISTENT_CONFIG is TRUE, but neither "
                f"{own} nor PERSISTENT_CONFIG_DIR is specified"
            )
        return cls(runtime=runtime, kept=KeptSettings(files, path, uid))

    def change(
        self,
        config: Config,
        holds: Callable[[Level], bool],
        name: str,
        setting: str,
        *,
        for_good: bool = False,
    ) -> None:
        """Set a name as `NAME = VALUE` says, or with an empty setting no longer.

        `holds` tells whether who asks has a level; only those that have a list are asked for.

        Raises RefusedError for who may not, for another name, for what is no setting or no value
        of its knob, and StorageError if what is to be set for good cannot be written.
        """
        self._check_allowed(config, holds, name, for_good=for_good)
        text = _read_setting(name, setting or f"{name} =")
        # Compat: the reference takes any text, and dies of it when it is read
        # (test_a_value_that_its_knob_does_not_take_is_not_set_from_afar).
        if setting:
            # All the tables of knobs, for those alone who set something.
            from kettle.config.declared import explain_wrong

            if wrong := explain_wrong(config, name, text):
                raise RefusedError(wrong)
        kept = self._kept if for_good else None
        texts = kept.texts if kept else self._texts
        if setting and name.upper() not in texts and len(texts) >= MOST_NAMES:
            raise RefusedError("too many names are set already")
        if kept:
            kept.change(name, text if setting else None)
        elif setting:
            texts[name.upper()] = text
        else:
            texts.pop(name.upper(), None)

    def _check_allowed(
        self, config: Config, holds: Callable[[Level], bool], name: str, *, for_good: bool
    ) -> None:
        """Raise RefusedError where nobody, or not who asks, may set a name."""
        if not (self._kept if for_good else self._runtime):
            which = "PERSISTENT" if for_good else "RUNTIME"
            raise RefusedError(f"ENABLE_{which}_CONFIG is off")
        if not any(_is_settable(config, level, name) and holds(level) for level in Level):
            raise RefusedError(f"{name} is in no SETTABLE_ATTRS of who asks")

    def apply(self, config: Config) -> None:
        """Set the names in a configuration that was just read."""
        for texts in (self._kept.texts if self._kept else {}, self._texts):
            for name, text in texts.items():
                config.assign(name, text, Origin(_SOURCE))


def load_for_child(subsystem: str) -> Config:
    """Return the configuration of a shadow host or starter, with what is set for its kind.

    It is born for a job while whoever bears it may still have an older configuration, so it
    forgives: for a knob that is set wrongly counts what the zygote read (see `Config.forgive`), and
    where the files are none at all all that it read does; its log says so.

    Raises ConfigError as `load_config` and `RemoteSettings.begin` do, where nothing was read yet.
    """
    try:
        config = load_config(SystemSources(), dict(os.environ), subsystem=subsystem)
        config.forgive(before=_READ.get(subsystem))
    except ConfigError as error:
        if subsystem not in _READ:
            raise
        config = _READ[subsystem]
        config.forgiveness.complain(
            "", f"{error}\nThe configuration that was there at the start counts."
        )
    daemons = Privileges.find(config.get("CONDOR_IDS")).daemon
    RemoteSettings.begin(config, Files(), daemons.uid).apply(config)
    _READ[subsystem] = config
    return config


def _read_setting(name: str, setting: str) -> str:
    """Return the value of `NAME = VALUE`; RefusedError for another name, and for more than that."""
    found = _SETTING.fullmatch(setting)
    if found is None or found[1].upper() != name.upper() or len(found[2]) > LONGEST_VALUE:
        raise RefusedError(f"that is no setting of {name}")
    return found[2]


def _is_settable(config: Config, level: Level, name: str) -> bool:
    """Tell whether a level's list has a name, in any case and with `*` for any letters."""
    lists = f"SETTABLE_ATTRS_{level.name}", f"{config.subsystem}_SETTABLE_ATTRS_{level.name}"
    patterns = [word for each in lists for word in config.words(each)]
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)
