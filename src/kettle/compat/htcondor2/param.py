"""`param` and `RemoteParam`: the configuration of this program and of a daemon, as mappings."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, Final

from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.addresses import address_of
from kettle.compat.htcondor2.errors import HTCondorException, said_as, words_of
from kettle.compat.htcondor2.process import PROCESS
from kettle.config.knob import parse_integer, parse_real
from kettle.errors import RefusedError

NOT_DEFINED: Final = "Not defined"


class Param(MutableMapping[str, Any]):
    """The configuration of this program; what is set counts for this program alone.

    Values are of the type that HTCondor gives a name: int, float, bool, else str. A name that is
    set to nothing is not there, or is what it is by default if that is a number or boolean.
    """

    def __getitem__(self, key: str) -> Any:
        _check_text(key, "key")
        with said_as(words_of):
            text = PROCESS.config.get(key)
        return self._of_nothing(key) if text is None else _typed(key, text)

    def _of_nothing(self, key: str) -> Any:
        """Return the value of a name that is set to nothing: a number's or boolean's default.

        As in the wheel, that is none where it mentions other names.
        """
        default = PROCESS.config.find_default(key)
        if default is None or not default.text or "$" in default.text or not _is_typed(key):
            raise KeyError(key)
        return _typed(key, default.text)

    def __setitem__(self, key: str, value: str) -> None:
        _check_text(key, "key")
        _check_text(value, "value")
        PROCESS.assign(key, value)

    def __delitem__(self, key: str) -> None:
        _check_text(key, "key")
        PROCESS.assign(key, "")

    def __iter__(self) -> Iterator[str]:
        config = PROCESS.config
        with said_as(words_of):
            return iter([name for name in config.known_names() if config.get(name) is not None])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_typed(key: str) -> bool:
    from kettle.compat.htcondor2.param_types import BOOLEANS, INTEGERS, REALS

    return any(key.upper() in names for names in (BOOLEANS, INTEGERS, REALS))


def _typed(key: str, text: str) -> Any:
    """Return a text as what its name says it is; one that is none counts as the default.

    Compat: the wheel ends the program over a number that is none; shown by
    test_a_number_that_is_none_raises_and_does_not_end_the_program.
    """
    from kettle.compat.htcondor2.param_types import BOOLEANS, INTEGERS, REALS

    name = key.upper()
    value: bool | int | float | None
    if name in BOOLEANS:
        return bool(PROCESS.config.boolean(key))
    if name in INTEGERS:
        value = parse_integer(text)
    elif name in REALS:
        value = parse_real(text)
    else:
        return text
    if value is None:
        raise HTCondorException(f"{key} = {text} is no number")
    return value


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string")


class RemoteParam(MutableMapping[str, str]):
    """The configuration of a daemon. What is set counts when the daemon has read its own anew.

    The names are asked for at once and by `refresh`, each value when it is wanted first.
    """

    def __init__(self, location: ClassAd) -> None:
        """Ask the daemon of this ad for its names."""
        self._location = location
        self._keys: list[str] = []
        self._cache: dict[str, str] = {}
        self.refresh()

    def refresh(self) -> None:
        """Ask the daemon for its names again and forget every value."""
        from kettle.client.daemon import read_config_details

        address = address_of(self._location)
        with said_as("Failed to connect to daemon."):
            names = read_config_details(PROCESS.connector, address, "?names")
        if not names or names == [NOT_DEFINED]:
            raise HTCondorException("Not authorized to query remote daemon.")
        if names[0].startswith("!"):
            raise HTCondorException("Remote daemon failed to get parameter names.")
        self._keys = names
        self._cache = {}

    def __getitem__(self, key: str) -> str:
        _check_text(key, "key")
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._cache:
            from kettle.client.daemon import read_config_value

            with said_as("Failed to connect to daemon."):
                found = read_config_value(PROCESS.connector, address_of(self._location), key)
            self._cache[key] = NOT_DEFINED if found is None else found
        return self._cache[key]

    def __setitem__(self, key: str, value: str) -> None:
        _check_text(key, "key")
        _check_text(value, "value")
        self._send(key, value)
        if key not in self._keys:
            self._keys.append(key)
        self._cache[key] = value

    def __delitem__(self, key: str) -> None:
        _check_text(key, "key")
        if key not in self._keys:
            raise KeyError(key)
        self._send(key, "")
        self._cache.pop(key, None)
        self._keys.remove(key)

    def _send(self, key: str, value: str) -> None:
        from kettle.client.daemon import set_config

        try:
            with said_as("Failed to connect to daemon."):
                set_config(
                    PROCESS.connector,
                    address_of(self._location),
                    key,
                    f"{key} = {value}",
                    persistent=False,
                )
        except HTCondorException as error:
            if isinstance(error.__cause__, RefusedError):
                raise HTCondorException("Failed to set remote daemon parameter.") from error
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._keys))

    def __len__(self) -> int:
        return len(self._keys)


param: Final = Param()
