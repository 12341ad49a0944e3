"""A daemon that ends by itself when its own ad says so: DAEMON_SHUTDOWN and DAEMON_SHUTDOWN_FAST.

Whoever is about to tell a collector of a daemon's own ad shows it here first. The daemon ends with
the code that asks its master not to start it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.config.knobs.daemon import DaemonKnobs

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.runtime.context import Runtime

# The faster one counts where both are true.
_WISHES = (
    (DaemonKnobs.DAEMON_SHUTDOWN_FAST, "DaemonShutdownFast", "fast"),
    (DaemonKnobs.DAEMON_SHUTDOWN, "DaemonShutdown", "graceful"),
)


class SelfShutdown:
    """Ends one daemon, each way once."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._begun: set[str] = set()

    def look(self, ad: ClassAd) -> None:
        """Begin to end the daemon if that is to be; the ad gets the expressions, as attributes."""
        runtime = self._runtime
        for knob, attribute, how in _WISHES:
            expression = runtime.config.value(knob)
            if expression is None:
                continue
            ad[attribute] = expression
            if ad.boolean(attribute) is not True:
                continue
            if how not in self._begun:
                self._begun.add(how)
                runtime.log(
                    f"{knob.name} is true of this daemon's ad: it ends until it is turned on."
                )
                runtime.stays_off = True
                runtime.stop(how)
            return
