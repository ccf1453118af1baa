"""The worker: threads that claim due jobs and run them, in a process of their own or behind a door."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from engram import jobs
from engram.database import Connection
from engram.errors import EngramError, LeaseLost
from engram.jobs import Job
from engram.operations import running, steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation

POLL: Final = 2.0  # seconds, give or take half, from one look for jobs to the next when no bell rings
BATCH: Final = 8  # jobs a thread claims at once where all threads are busy
SLOW: Final = 2.0  # seconds of one job after which those claimed with it go back to the others
LATER: Final = 1.0  # seconds until a job that should run alone is looked at again
TICK: Final = 1.0  # seconds from one tidying to the next
RESCUE: Final = 10.0  # seconds from one rescue of lost jobs to the next
REPORT: Final = 60.0  # seconds from one line about progress to the next
PATIENCE: Final = 25.0  # seconds that jobs under way may take after the word to stop
LINGER: Final = 0.05  # seconds a background thread waits for more rings before it looks
LONGEST: Final = 60.0  # seconds it sleeps at most while jobs wait for their hour
FRESH: Final = 30.0  # seconds for which an answer of the database makes a worker ready

logger = logging.getLogger(__name__)

Run = Callable[[Operation[Any]], Any]


@dataclass(eq=False, slots=True)
class Hand:
    """What one thread has claimed: the jobs it runs, since when, and those it has not begun."""

    waiting: deque[Job]
    current: list[Job] = field(default_factory=list)
    since: float = 0.0


@dataclass(slots=True)
class Tally:
    """What a worker has done since its last report."""

    ran: int = 0
    seconds: float = 0.0
    rescued: int = 0
    trouble: dict[str, int] = field(default_factory=dict)


class Worker:
    """Threads that claim due jobs of every tenant, run them, and give back what they cannot finish.

    `wake()` makes one of them look at once; without it each looks every few seconds. What is killed here is found
    again by its lease, by whichever worker looks next.
    """

    def __init__(self, run: Run, setup: Setup, threads: int = 4) -> None:
        self.threads = threads
        self._run, self._setup = run, setup
        self._bell = threading.Condition()
        self._rung = self._stopping = False
        self._idle = 0
        self._guard, self._alone = threading.Lock(), threading.Lock()
        self._hands: set[Hand] = set()
        self._unfinished: deque[Job] = deque()
        self._crew: list[threading.Thread] = []
        self._answered = 0.0
        self._away = self._settled = False
        self._tally = Tally()

    @property
    def ready(self) -> bool:
        """Whether the database has answered lately, and new jobs are taken."""
        return not self._stopping and self._answered > 0 and time.monotonic() - self._answered < FRESH

    def start(self) -> None:
        """Begin; returns at once."""
        works = [self._work] * self.threads + [self._tidy_on]
        self._crew = [threading.Thread(target=work, name="engram-worker", daemon=True) for work in works]
        for thread in self._crew:
            thread.start()

    def wake(self) -> None:
        """Look for jobs now."""
        with self._bell:
            self._rung = True
            self._bell.notify_all()  # one of them hears it; who tidies waits here too, and would keep it to himself

    def stop(self, patience: float = PATIENCE) -> int:
        """Claim no more, wait for what runs, and give the rest back, uncounted; how many jobs were given back."""
        deadline = time.monotonic() + patience
        with self._bell:
            self._stopping = True
            self._bell.notify_all()
        given = self._give_back(self._take_waiting(0.0))
        for thread in self._crew:
            thread.join(max(0.0, deadline - time.monotonic()))
        with self._guard:
            running_still = [job for hand in self._hands for job in hand.current]
        return given + self._give_back([*running_still, *self._unfinished])

    # What each thread does

    def _work(self) -> None:
        while not self._stopping:
            try:
                taken = self._turn()
            except BaseException as error:  # noqa: BLE001
                # A model may do what ends a thread, as sys.exit does: its job comes back as one that has lost a worker.
                self._note(error)
                continue
            if not taken:
                self._rest(POLL * random.uniform(0.5, 1.5))  # noqa: S311 - so that workers do not look in step

    def _turn(self) -> int:
        """Claim and run once; how many jobs were taken. Raises only what is no Exception, if a model raised it."""
        claimed = self._take_over()
        # No more than there are threads for: what waits here another process could run. A batch where all are busy.
        limit = self._idle + 1 if self._idle else BATCH
        if not claimed:
            try:
                claimed = self._run(self._claim(limit))
            except Exception as error:  # noqa: BLE001
                self._note(error)
                return 0
            self._answered = time.monotonic()
            if self._away:
                self._away = False
                logger.info("PostgreSQL answers again")
        hand = Hand(deque(sorted(claimed, key=lambda job: job.crashes)))
        with self._guard:
            self._hands.add(hand)
            more = len(claimed) == limit or sum(len(one.waiting) for one in self._hands) > 1
        if more:
            self.wake()  # another thread may take what waits here, or claim what is left there
        try:
            while several := self._next(hand):
                if several[0].crashes:
                    self._attempt_alone(hand, several[0])
                else:
                    self._attempt(several)
        finally:
            with self._guard:
                self._hands.discard(hand)
                self._unfinished.extend(hand.waiting)
        return len(claimed)

    def _claim(self, limit: int) -> Operation[list[Job]]:
        return running.claim(self._setup, limit=limit)

    def _take_over(self) -> list[Job]:
        """One job that another thread has claimed and not begun: it does not wait where a thread is free."""
        with self._guard:
            hand = max(self._hands, key=lambda hand: len(hand.waiting), default=None)
            return [hand.waiting.popleft()] if hand is not None and hand.waiting else []

    def _next(self, hand: Hand) -> list[Job]:
        most = 1 if self._idle else running.TOGETHER  # what is left goes to threads that are free, one job each
        with self._guard:
            goes_on = hand.waiting and not self._stopping
            hand.current = running.take_together(hand.waiting, most) if goes_on else []
            hand.since = time.monotonic()
            return hand.current

    def _attempt_alone(self, hand: Hand, job: Job) -> None:
        """Run a job that has lost a worker before with no other of its kind in this process.

        If it ends this process too, nothing that was lost with it the first time is lost with it again: only a job
        that does it by itself comes to be dead.
        """
        with self._guard:
            behind, hand.waiting = list(hand.waiting), deque()
        self._give_back(behind)
        if self._alone.acquire(blocking=False):
            try:
                self._attempt([job])
            finally:
                self._alone.release()
        else:
            self._give_back([job], LATER)

    def _attempt(self, several: list[Job]) -> None:
        began = time.monotonic()
        for job in self._run(running.run_together(self._setup, several)):
            try:
                self._run(running.run(self._setup, job))
            except Exception as error:  # noqa: BLE001
                self._note(error)
                self._unfinished.append(job)  # nobody could be told: it is given back once the database answers
        self._tally.ran += len(several)
        self._tally.seconds += time.monotonic() - began

    def _rest(self, seconds: float) -> None:
        with self._bell:
            self._idle += 1
            self._bell.wait_for(lambda: self._rung or self._stopping, seconds)
            self._idle -= 1
            self._rung = False

    # What one thread does for all

    def _tidy_on(self) -> None:
        rescue_at = time.monotonic() + RESCUE * random.random()  # noqa: S311 - so that workers do not rescue in step
        report_at = time.monotonic() + REPORT
        while not self._stopping:
            try:
                self._settle()
                self._tidy()
                if time.monotonic() >= rescue_at:
                    rescue_at += RESCUE
                    self._tally.rescued += self._run(running.rescue(self._setup))
            except Exception as error:  # noqa: BLE001
                self._note(error)
            if time.monotonic() >= report_at:
                report_at += REPORT
                self._report()
            with self._bell:
                self._bell.wait_for(lambda: self._stopping, TICK)

    def _settle(self) -> None:
        """Leave what the first jobs have loaded out of the collector's walks, once: it lives as long as this process.

        A walk over all of it stops every thread for a tenth of a second, many times a minute where much is derived.
        """
        if self._tally.ran and not self._settled:
            self._settled = True
            gc.collect()
            gc.freeze()

    def _tidy(self) -> None:
        """Give back what waits behind a slow job, and what could not be given back before."""
        if self._give_back(self._take_waiting(SLOW)):
            self.wake()  # a thread of ours may be free
        left = [self._unfinished.popleft() for _ in range(len(self._unfinished))]
        self._give_back(left)

    def _take_waiting(self, seconds: float) -> list[Job]:
        """The jobs not begun of every thread whose present job has run so long, taken away from it."""
        taken: list[Job] = []
        with self._guard:
            for hand in self._hands:
                if time.monotonic() - hand.since >= seconds:
                    taken += hand.waiting
                    hand.waiting.clear()
        return taken

    def _give_back(self, several: list[Job], delay: float = 0.0) -> int:
        given = 0
        for place, job in enumerate(several):
            try:
                work = partial(_released, job=job, delay=delay)
                given += self._run(steps.write(job.tenant_id, work, key=job.job_id))
            except EngramError as error:
                self._note(error)
                self._unfinished.extend(several[place:])
                break
        return given

    def _note(self, error: BaseException) -> None:
        name = error.code if isinstance(error, EngramError) else type(error).__name__
        self._tally.trouble[name] = self._tally.trouble.get(name, 0) + 1
        if not isinstance(error, EngramError):
            logger.error("something unexpected went wrong (%s)", name, exc_info=error)
        elif not self._away and not self._stopping:
            self._away = True
            logger.warning("no work for now: %s", error)

    def _report(self) -> None:
        tally, self._tally = self._tally, Tally()
        if tally.ran or tally.rescued or tally.trouble:
            trouble = "".join(f", {count} x {name}" for name, count in sorted(tally.trouble.items()))
            each = 1000 * tally.seconds / max(1, tally.ran)
            logger.info(
                "%d jobs in %.0f s, %.0f ms each, %d rescued%s", tally.ran, REPORT, each, tally.rescued, trouble
            )


def _released(conn: Connection, *, job: Job, delay: float) -> int:
    try:
        if delay:
            jobs.fail(conn, job, job.error_class or "worker_lost", counts=False, retry_after=delay)
        else:
            jobs.release(conn, job)
    except LeaseLost:
        return 0
    return 1


class Background(Worker):
    """The doorbell of a process without Redis: one thread runs what the callers leave over, for tenants they wrote for.

    The thread begins with the first ring and ends when nothing of these tenants is left to do. A process that ends with
    its door open calls `end` at once and gives back what runs: an interpreter that is ending starts no threads, so that
    a model could not be called any more, and its failure would be counted. With `keeps_house` it also queues the
    periodic work that elsewhere a scheduler does, and runs it: nobody else looks after an embedded database.
    """

    def __init__(self, run: Run, setup: Setup, end: Callable[[float], None], *, keeps_house: bool = False) -> None:
        super().__init__(run, setup, threads=1)
        self._end, self._keeps_house = end, keeps_house
        self._kept_at = -LONGEST
        self._pid = os.getpid()
        self._tenants: set[str] = set()
        self._due: list[str] = []  # of them those that had a job to run when they were last looked at
        self._closing = False

    def ring(self, tenant_id: str) -> None:
        """Say that a tenant may have jobs."""
        with self._bell:
            self._tenants.add(tenant_id)
            self._rung = True
            self._bell.notify()
            # A model may have ended the thread, as sys.exit does: its job comes back as one that has lost a worker.
            if not any(thread.is_alive() for thread in self._crew) and not self._closing:
                thread = threading.Thread(target=self._work, name="engram-background", daemon=True)
                with suppress(RuntimeError):  # a process that is ending, or has as many as it may, can start no thread
                    thread.start()
                    self._crew = [thread]
                    atexit.register(self._end, 0.0)

    def close(self, drain: float) -> None:
        """Run what is due for so many seconds at most, then give back what runs; the rest stays in its rows."""
        if self._pid != os.getpid():
            return  # a child of a fork has no such thread
        with self._bell:
            self._closing = True
            self._bell.notify()
            crew = list(self._crew)
        for thread in crew:
            thread.join(drain)
        self.stop(0.0)
        atexit.unregister(self._end)

    def _work(self) -> None:
        busy = False
        while not self._stopping:
            if not busy:
                with self._bell:
                    self._bell.wait_for(lambda: self._closing, LINGER)  # a burst of writes is one look
                    self._rung = False
                self._keep_house()
            pause = self._due_in()
            due = pause is not None and pause <= 0
            busy = due and self._turn() > 0
            if busy:
                continue
            with self._bell:
                if self._closing or (pause is None and not self._rung):
                    self._crew, self._tenants = [], set()
                    if not self._closing:
                        atexit.unregister(self._end)
                    break
                # What is due and cannot be had waits for a job of the same stream elsewhere.
                self._bell.wait_for(lambda: self._rung or self._closing, LATER if due else min(pause or 0, LONGEST))
        self._tidy()

    def _keep_house(self) -> None:
        """Queue the jobs of the present period, once each, and take them for ours."""
        if not self._keeps_house or self._closing:
            return
        if time.monotonic() - self._kept_at >= LONGEST:
            self._kept_at = time.monotonic()
            try:
                self._run(running.queue_periods(self._setup))
            except Exception as error:  # noqa: BLE001
                self._note(error)
        with self._bell:
            self._tenants.add(running.HOUSE)

    def _due_in(self) -> float | None:
        """Seconds until one of the tenants has a job to run; None when none has any."""
        try:
            found = self._run(running.all_due_in(self._setup, sorted(self._tenants)))
        except Exception as error:  # noqa: BLE001
            self._note(error)
            return POLL
        self._due = [tenant_id for tenant_id, seconds in found.items() if seconds <= 0]
        return min(found.values(), default=None)

    def _claim(self, limit: int) -> Operation[list[Job]]:
        for tenant_id in random.sample(self._due, len(self._due)):
            claimed = yield from running.claim(self._setup, limit=min(limit, 1), tenant_id=tenant_id, rescue=True)
            if claimed:
                return claimed
        return []
