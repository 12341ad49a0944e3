"""The configuration text of a personal pool."""

from __future__ import annotations

from kettle.config import Config
from kettle.pool.settings import (
    PoolSettings,
    is_configuration_of_a_pool,
    render_configuration,
)

SETTINGS = PoolSettings("/d", ("alice",), "here", "/opt/bin", extra="START = false")


def test_the_text_is_a_configuration_that_stays_on_loopback() -> None:
    config = Config.from_text(
        render_configuration(SETTINGS).replace("LOCAL_CONFIG_DIR = $(LOCAL_DIR)/config.d\n", "")
    )
    assert config.get("LOG") == "/d/log"
    assert config.get("NETWORK_INTERFACE") == "127.0.0.1"
    assert config.get("ALLOW_WRITE") == "alice@here"
    assert config.get("SEC_DEFAULT_AUTHENTICATION") == "REQUIRED"


def test_what_is_given_beats_what_is_written() -> None:
    text = render_configuration(SETTINGS)
    assert text.rindex("START = false") > text.index("START = true")


def test_a_pool_is_known_by_its_first_line() -> None:
    assert is_configuration_of_a_pool(render_configuration(SETTINGS))
    assert not is_configuration_of_a_pool("DAEMON_LIST = MASTER\n")
