"""The scheduler: periodic work becomes rows of work, once a period, by whichever process has its turn."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engram import jobs, streams
from engram.database import Connection, fetch_value
from engram.ids import new_id
from engram.operations import steps
from engram.operations.running import HOUSE, PERIODIC
from engram.worker import Run

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

TURN: Final = "scheduler"
LEASE: Final = 30.0  # seconds after which a leader that is not heard of any more has lost its turn
KEEP: Final = 10.0  # seconds from one renewal of the turn to the next
GRACE: Final = 60  # seconds by which a fire may be late

LOOK: Final = 60.0  # seconds from one look for a transaction that holds followers back to the next
LONG: Final = 60.0  # seconds after which such a transaction is worth a word

logger = logging.getLogger(__name__)


class Scheduler:
    """Adds a row of work a period for each kind of `PERIODIC`, while it is this process's turn.

    The turn is a lease on a row by the database's clock: it needs no session, so it holds behind a pooler, and a dead
    leader is followed by another within half a minute. That a period is never run twice does not rest on the turn: its
    row has a key of kind and period.
    """

    def __init__(self, run: Run, periodic: Mapping[str, float] = PERIODIC) -> None:
        self._run, self._periodic = run, periodic
        self._holder = new_id()
        self._clock: BackgroundScheduler | None = None
        self.leading = False

    def start(self) -> None:
        """Begin; returns at once."""
        from apscheduler.schedulers.background import BackgroundScheduler

        logging.getLogger("apscheduler").setLevel(logging.ERROR)  # a line a fire says nothing
        defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": GRACE}
        self._clock = BackgroundScheduler(timezone="UTC", job_defaults=defaults, daemon=True)
        self._clock.add_job(self.keep_turn, "interval", seconds=KEEP, jitter=KEEP / 5)
        self._clock.add_job(self.look, "interval", seconds=LOOK, jitter=LOOK / 5)
        for kind, every in self._periodic.items():
            self._clock.add_job(self.add, "interval", (kind, every), seconds=min(every, 60.0), jitter=2)
        self._clock.start()

    def stop(self) -> None:
        """End; another process takes the turn."""
        if self._clock is not None:
            self._clock.shutdown(wait=False)

    def keep_turn(self) -> bool:
        """Take the turn or keep it; whether it is ours."""
        was, self.leading = self.leading, self._try(partial(take_turn, name=TURN, holder=self._holder)) is not None
        if self.leading and not was:
            logger.info("this process schedules periodic work")
        return self.leading

    def add(self, kind: str, every: float) -> bool:
        """Add the row of the present period, if it is our turn and the row is not there; whether it was added."""
        return self._try(partial(add_period, holder=self._holder, kind=kind, every=every)) is not None

    def look(self) -> None:
        """Say who holds the followers of the ledger back for long, if it is our turn."""
        held = self._try(streams.horizon) if self.leading else None
        if held is not None and held.seconds > LONG:
            logger.warning("followers wait for %s (%s), for %.0f s", held.kind, held.holder, held.seconds)

    def _try(self, work: Any) -> Any:
        try:
            return self._run(steps.write(HOUSE, work, key=self._holder))
        except Exception as error:  # noqa: BLE001 - the next fire tries again, here or elsewhere
            logger.debug("the scheduler could not reach its rows: %s", error)
            return None


def take_turn(conn: Connection, *, name: str, holder: str, lease: float = LEASE) -> float | None:
    """Take a turn or keep it; the database's time in seconds, or None when it is another's."""
    found = fetch_value(conn, "take_turn", name=name, holder=holder, lease=f"{lease} seconds")
    return None if found is None else float(found)


def add_period(conn: Connection, *, holder: str, kind: str, every: float) -> str | None:
    """Add the job of the present period, in our turn and for the first time; its id, or None."""
    now = take_turn(conn, name=TURN, holder=holder)
    return None if now is None else jobs.add(conn, kind=kind, dedup_key=f"{kind}/{int(now // every)}")
