"""A daemon at work takes a configuration as a whole, or stays as it is.

What a daemon reads while it works it reads as it needs it, long after the new configuration was
taken: a value that no knob takes would then stop a job, or everything. So everything is looked at
before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kettle.config import Config, load_config
from kettle.config.origin import Origin
from kettle.config.unread import find_own_unread
from kettle.errors import ConfigError, Form, KettleError
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.remote_settings import RemoteSettings
from kettle.runtime.sockets.security_settings import read_security
from kettle.runtime.storage.files import SystemSources
from kettle.wire.security.setting_words import OddWord, find_odd_words

if TYPE_CHECKING:
    from kettle.config.store import Macro

_SECURITY = ("SEC_", "ALLOW_", "DENY_")
# Limit: faults that a log names at once.
_MOST_NAMED = 20


def renew(
    identity: DaemonIdentity,
    settings: RemoteSettings,
    check: Callable[[Config], object] | None,
    complain: Callable[[str], object],
    current: Config | None = None,
) -> Config | None:
    """Read the daemon's configuration anew; None, with every fault told, if it is not to be used.

    `settings` is what was set from afar, `check` raises KettleError for what only the service of
    the daemon can find wrong. A value that is as wrong in the `current` configuration, with which
    the daemon works, keeps no other from being used: to refuse those would mend nothing.
    """
    try:
        config = load_config(
            SystemSources(),
            dict(os.environ),
            subsystem=identity.subsystem,
            local_name=identity.local_name,
        )
        settings.apply(config)
        known = [] if current is None else find_known_faults(config, current)
        if known:
            config.forgive()
        faults = list_faults(config, check, known)
        if not faults:
            for fault in known[:_MOST_NAMED]:
                complain(f"{fault}: so it was before, and it stays unused until it is mended")
            config.forgive(complain)
            return config
    except ConfigError as error:
        faults = [str(error)]
    for fault in faults[:_MOST_NAMED]:
        complain(fault)
    if len(faults) > _MOST_NAMED:
        complain(f"... and {len(faults) - _MOST_NAMED} more")
    complain("The new configuration is not used: the old configuration stays.")
    return None


def check_own_settings(config: Config) -> None:
    """Raise ConfigError, a line for each, if values that a daemon reads are no values.

    For its start: what it took for the default instead nobody would learn of.
    """
    # Whoever lives for long has it later in any case: it is `late`.
    from kettle.config.declared import find_own_faults

    faults = [str(fault) for fault in find_own_faults(config.strictly())]
    faults += _fatal_security(config)
    if faults:
        raise ConfigError("\n".join(faults[:_MOST_NAMED]))


def tell_own_settings(config: Config, before: Config | None = None) -> list[str]:
    """Return a line for a daemon's log about each of its settings that does not do what it says.

    That is what counts for nothing or makes no sense, and what the files themselves warn of;
    `before` is the configuration of which the log tells already, wherever a setting stood in it.
    """
    told = set() if before is None else {said for said, _ in _odd_settings(before)}
    return [line for said, line in _odd_settings(config) if said not in told]


def _odd_settings(config: Config) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each such setting, as its name with what is said of it, and its line for the log."""
    from kettle.config.declared import find_own_senseless

    for remark in config.warnings:
        # Older syntax does what it says.
        if remark.form == Form.PLACED and not remark.is_obsolete:
            place = Origin(remark.source, remark.line)
            yield (remark.source, remark.text), f"WARNING: {place}: {remark.text}"
    for macro, why in find_own_unread(config):
        line = f"WARNING: {macro.name} ({macro.origin}) counts for nothing: {why}"
        yield (macro.name.upper(), why), line
    for macro, sentence in find_own_senseless(config):
        yield (macro.name.upper(), sentence), f"WARNING: {macro.origin}: {sentence}"
    for macro, odd in find_odd_security(config):
        if not odd.is_fatal:
            yield (macro.name.upper(), odd.sentence), f"WARNING: {_place(macro, odd)}"


def find_odd_security(config: Config) -> Iterator[tuple[Macro, OddWord]]:
    """Yield each setting of security that means nothing, with what is wrong with it.

    At words that are no wishes the reference's daemons end, and so do ours: they are fatal. Others,
    such as an entry of ALLOW_WRITE that is nobody's name, do what they can.
    """
    for macro in config.entries():
        name = config.plain_name(macro.name)
        # Before any text is expanded: most settings are not about this.
        if not name.startswith(_SECURITY):
            continue
        try:
            text = config.get(name) or ""
        except ConfigError:
            # Told of as what cannot be expanded.
            continue
        for odd in find_odd_words(name, text):
            yield macro, odd


def _place(macro: Macro, odd: OddWord) -> str:
    meant = f" (did you mean {odd.near}?)" if odd.near else ""
    return f"{macro.origin}: {odd.sentence}{meant}"


def _fatal_security(config: Config) -> list[str]:
    return [_place(macro, odd) for macro, odd in find_odd_security(config) if odd.is_fatal]


def find_known_faults(config: Config, current: Config) -> list[str]:
    """Return what is wrong with a configuration and, with the same text, with the current one."""
    from kettle.config.declared import find_wrong

    before = dict(find_wrong(current.strictly()))
    return [
        str(fault)
        for name, fault in find_wrong(config)
        if name in before and config.raw(name) == current.raw(name)
    ]


def list_faults(
    config: Config, check: Callable[[Config], object] | None, known: Sequence[str] = ()
) -> list[str]:
    """Return what is wrong with a configuration, a sentence with its place for each fault.

    What is `known` is left out.
    """
    # For those alone who are reconfigured: these are all the tables of knobs.
    from kettle.config.declared import find_faults

    found = [str(fault) for fault in find_faults(config.strictly())]
    found += _fatal_security(config)
    faults = [fault for fault in found if fault not in known]
    for look in (read_security, check):
        if look is None or faults:
            continue
        try:
            look(config)
        except KettleError as error:
            faults.append(str(error))
    return faults
