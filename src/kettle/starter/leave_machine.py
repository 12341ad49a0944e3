"""How a job is made to leave its machine, by how far it is: a table.

Decides what an order to leave means for a job that is being prepared, runs, sends its files or is
over. Who gives the orders is `services/control.py`; signals, timers and connections are
`services/orders.py`'s. Sources: wire notes, Life of a vanilla job; starter exit notes; R082.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.choices import Choice


class Stage(Choice):
    """How far the job is."""

    PREPARING = "its input travels, or it waits for its time"
    RUNNING = "its programs run"
    SENDING = "they have ended, and its output travels"
    TELLING = "its end is being told"


class Order(Choice):
    """What is asked of it."""

    SOON = "to leave within some seconds"
    # So it is, too, when the seconds are over.
    NOW = "to leave at once"


class Effect(Choice):
    """What the shell does."""

    BLAME = "keep in mind why: the job has not ended by itself and goes back to the queue"
    START_NOTHING = "start none of its programs"
    SIGNAL = "send the job the signal by which it wants to be told"
    SET_TIMER = "order it to leave at once when the seconds are over"
    KILL = "kill all its processes"
    BREAK_OFF = "let no files travel any more; a job that loses output by it goes back to the queue"


S, W, F = Stage, Order, Effect
# fmt: off
ORDERS: Mapping[tuple[Stage, Order], tuple[Effect, ...]] = {
    (S.PREPARING, W.SOON): (F.BLAME, F.START_NOTHING, F.BREAK_OFF),
    (S.PREPARING, W.NOW): (F.BLAME, F.START_NOTHING, F.BREAK_OFF),
    (S.RUNNING, W.SOON): (F.BLAME, F.SIGNAL, F.SET_TIMER),
    # What travels now is a checkpoint.
    (S.RUNNING, W.NOW): (F.BLAME, F.KILL, F.BREAK_OFF),
    # The work is done; what it wrote has the seconds to arrive in.
    (S.SENDING, W.SOON): (F.SET_TIMER,),
    # Nobody is blamed before something is lost: a job without output has ended by itself.
    (S.SENDING, W.NOW): (F.BREAK_OFF,),
    (S.TELLING, W.SOON): (),
    (S.TELLING, W.NOW): (),
}
# fmt: on


def choose_stage(*, started: bool, ended: bool, sent: bool) -> Stage:
    """Return how far a job is.

    `started`: its own program was; `ended`: no program of it is active or will be; `sent`: its
    output has gone where it should, or cannot.
    """
    if sent:
        return Stage.TELLING
    if ended:
        return Stage.SENDING
    return Stage.RUNNING if started else Stage.PREPARING
