"""Session keyrings: left for a new one where the kernel has them, and nothing fails elsewhere."""

from __future__ import annotations

import pytest

from kettle.runtime.process import kernel
from kettle.runtime.process.privileges import Account, Privileges


def test_where_the_kernel_has_no_keyrings_for_us_nothing_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Privileges(Account("own", 54321, 54321, (54321,)), can_switch=False)
    # A call that no kernel has, and a machine whose number for it is not known.
    for number in (100_000, 0):
        monkeypatch.setattr(kernel, "_SYS_KEYCTL", number)
        assert not own.leave_keyring()
