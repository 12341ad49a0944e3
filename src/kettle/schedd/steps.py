"""Steps of which a later one is owed whatever becomes of those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def do_all(steps: Iterable[Callable[[], object]]) -> None:
    """Do every step, in order, also behind one that fails; raise the first failure in the end.

    Those after it are noted in it. Where the process ends in a step nothing more is done: who is
    killed does nothing more.
    """
    failure: Exception | None = None
    for step in steps:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - raised below
            if failure is None:
                failure = error
            else:
                failure.add_note(f"and then: {error!r}")
    if failure is not None:
        raise failure
