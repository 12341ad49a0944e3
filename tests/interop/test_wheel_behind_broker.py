"""The unmodified PyPI wheel is called back by our schedd, and FS knows it on that connection.

Known by: FS.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.wheel_pool import run_script, wheel_python
from kettle.testing.pool_fixture import personal_pool

pytestmark = pytest.mark.interop

# Whoever is in another network has the daemon call; only one method can tell who that is.
WALLED = """\
PRIVATE_NETWORK_NAME = outside
SCHEDD.PRIVATE_NETWORK_NAME = inside
SCHEDD.CCB_ADDRESS = $(COLLECTOR_HOST)
SEC_DEFAULT_AUTHENTICATION_METHODS = FS
"""


@pytest.mark.parametrize("shared", ["true", "false"], ids=["shared port", "own port"])
@pytest.mark.parametrize("bound", ["true", "false"], ids=["bound", "unbound"])
def test_a_schedd_that_calls_back_knows_the_wheels_user_by_fs(
    tmp_path: Path, shared: str, bound: str
) -> None:
    python = wheel_python()
    more = f"USE_SHARED_PORT = {shared}\nSEC_FS_ENFORCE_CHANNEL_BINDING = {bound}\n"
    with personal_pool(tmp_path, WALLED + more) as pool:
        report = run_script([python], pool, "behind_broker")
        assert report["called back"] is True
        assert (report["submit"], report["query"]) == (1, [5])
        assert report["method"] == "FS"
