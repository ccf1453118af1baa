"""Running jobs: claim them, run each by its kind, and give back what fails with its class, never as a silence."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from traceback import extract_tb
from types import MappingProxyType
from typing import Final, TypeVar

from engram import checkpoints, errors, inputs, jobs, sessions
from engram.channels import events, upkeep
from engram.database import Connection, ending, fetch_value
from engram.errors import EngramError, LeaseLost, class_of
from engram.ids import new_id
from engram.jobs import Job
from engram.operations import (
    checkpointing,
    cycling,
    deriving,
    extracting,
    pruning,
    rederiving,
    spaces,
    steps,
    summarising,
    tending,
    topics,
)
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.settings import Settings

T = TypeVar("T")
Work = Callable[[Setup, Job], Operation[None]]

SHORTEST_WAIT: Final = 1.0  # seconds before a job is tried again, whatever a provider says
LONGEST_WAIT: Final = 900.0  # seconds a provider may ask a job to wait
LONGEST_REST: Final = 86_400.0  # the same of a job that rests: a day, as budgets are of days
PATIENCE: Final = 5.0  # seconds that a caller who derives waits for another who has the job
FIRST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 0.1
REST: Final = 900.0  # seconds of a pause nobody has set an end to

logger = logging.getLogger("engram")

WORK: Final[Mapping[str, Work]] = MappingProxyType(
    {
        jobs.DERIVE: deriving.derive,
        jobs.EXTRACT: extracting.extract,
        jobs.EMBED: tending.embed,
        upkeep.KIND: tending.tend,
        events.KIND: tending.index_events,
        tending.PURGE: tending.purge,
        checkpoints.KIND: checkpointing.checkpoint,
        jobs.REDERIVE: rederiving.rederive,
        sessions.SUMMARY: summarising.summarise,
        sessions.CLOSE: summarising.close,
        topics.KIND: topics.tend,
        cycling.LOOK: cycling.look,
        cycling.KIND: cycling.work,
        pruning.LOOK: pruning.look,
        pruning.EXPIRE: pruning.expire,
    }
)
"""What runs a job of each kind. To add a kind, write its operation and add it here."""

HOUSE: Final = "engram"  # the tenant whose jobs are those of the whole database
DAY: Final = 86_400.0
TOGETHER: Final = 32  # jobs run as one

PERIODIC: Final[Mapping[str, float]] = MappingProxyType(
    {tending.PURGE: 3600.0, cycling.LOOK: 1800.0, pruning.LOOK: DAY}
)
"""Kinds of jobs of the whole database, and seconds from one to the next, where the settings say nothing else."""


def periodic(settings: Settings) -> Mapping[str, float]:
    """The same as the settings have it."""
    return {**PERIODIC, cycling.LOOK: settings.consolidate_every.total_seconds()}


def queue_periods(setup: Setup) -> Operation[None]:
    """Add the jobs of the present period: what a scheduler does, where a process runs none."""

    def work(conn: Connection) -> None:
        now = fetch_value(conn, "read_clock").timestamp()
        for kind, every in periodic(setup.settings).items():
            jobs.add(conn, kind=kind, dedup_key=f"{kind}/{int(now // every)}")

    yield from steps.write(HOUSE, work, key="periods")


def kinds(setup: Setup) -> tuple[str, ...]:
    """The kinds of jobs this process can run; a kind of another release, or one that needs a model, is left alone."""
    has_model = {jobs.EXTRACT: setup.asks(extracting.COMPONENT), jobs.EMBED: setup.embedder is not None}
    return tuple(kind for kind in WORK if has_model.get(kind, True))


def run_jobs(setup: Setup, limit: object) -> Operation[int]:
    """Claim due jobs of the tenant and run them here; how many were run."""
    return (yield from work(setup, limit=inputs.limit(limit), tenant_id=setup.scope.tenant_id))


def work(setup: Setup, *, limit: int, of: Sequence[str] | None = None, tenant_id: str | None = None) -> Operation[int]:
    """Claim up to `limit` due jobs, of one tenant or shared out between all, and run them here; how many were run.

    `of` are the kinds to take; None stands for all that this process can run.
    """
    ran = 0
    while ran < limit:
        claimed = yield from claim(setup, limit=limit - ran, of=of, tenant_id=tenant_id, rescue=True)
        if not claimed:
            break
        waiting = deque(claimed)
        while waiting:
            for job in (yield from run_together(setup, take_together(waiting, TOGETHER))):
                yield from run(setup, job)
        ran += len(claimed)
    return ran


def claim(
    setup: Setup, *, limit: int, of: Sequence[str] | None = None, tenant_id: str | None = None, rescue: bool = False
) -> Operation[list[Job]]:
    """Take up to `limit` due jobs under a lease, of one tenant or of all; with `rescue` those of lost workers too."""
    wanted = tuple(of) if of is not None else kinds(setup)

    token = new_id()

    def take(conn: Connection) -> list[Job]:
        if rescue:
            jobs.rescue(conn)
        return jobs.claim(ending(conn), wanted, limit, tenant_id=tenant_id, token=token)

    return (yield from steps.write(setup.scope.tenant_id, take, key="claim"))


def rescue(setup: Setup) -> Operation[int]:
    """Queue again the jobs of every tenant whose worker was lost; how many. A loop runs this, never a job."""
    return (yield from steps.write(setup.scope.tenant_id, jobs.rescue, key="rescue"))


def all_due_in(setup: Setup, tenant_ids: Sequence[str]) -> Operation[dict[str, float]]:
    """Seconds until a job that this process can run falls due or loses its lease, of each tenant that has one."""
    wanted = kinds(setup)
    return (
        yield from steps.read(setup.scope.tenant_id, lambda conn: jobs.all_due_in(ending(conn), wanted, tenant_ids))
    )


def derive_appended(setup: Setup, tenant_id: str, job_ids: Sequence[str]) -> Operation[bool]:
    """Run the jobs of an append here, those that nobody else has; False where none can be had or told of now.

    Failed work stays a job.
    """
    return (yield from after_all(_derived(setup, tenant_id, job_ids))) is not None


def _derived(setup: Setup, tenant_id: str, job_ids: Sequence[str]) -> Operation[bool]:
    # The first job reads its stream to the end and finishes the others with it; what another worker holds, it runs.
    first = yield from _taken(setup, tenant_id, job_ids[:1])
    yield from _taken(setup, tenant_id, job_ids[1:])
    if job_ids and not first and setup.settings.derives_inline:
        yield from _awaited(setup, tenant_id, job_ids)
    return True


def after_all(operation: Operation[T]) -> Operation[T | None]:
    """What follows a write that is durable, or None where it fails: then its jobs are left for whoever looks next.

    The write is not told as one that may be repeated: without a key of the caller's it would be done twice.
    """
    try:
        return (yield from operation)
    except EngramError as error:
        logger.warning("something was written, and what follows from it waits: %s", error)
        return None


def naming(event_ids: Sequence[str], operation: Operation[T]) -> Operation[T]:
    """What follows a durable write; an error of it names the events: who repeats the whole call says them twice."""
    try:
        return (yield from operation)
    except EngramError as error:
        error.facts["event_ids"] = tuple(event_ids)
        raise


def _taken(setup: Setup, tenant_id: str, job_ids: Sequence[str]) -> Operation[int]:
    """Run those of some jobs that nobody else has; how many these were."""
    if not job_ids:
        return 0
    token = new_id()  # a claim whose COMMIT was lost is found again by it

    def take(conn: Connection) -> list[Job]:
        return jobs.claim_these(ending(conn), job_ids, token=token)

    claimed = yield from steps.write(tenant_id, take, key="claim")
    for job in claimed:
        yield from run(setup, job)
    return len(claimed)


def _awaited(setup: Setup, tenant_id: str, job_ids: Sequence[str]) -> Operation[None]:
    """Wait until nobody else runs some jobs, such as the background of this process, for some seconds at most.

    Who derives inline reads what he has just written.
    """
    until, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while (yield from steps.read(tenant_id, lambda conn: jobs.are_open(conn, job_ids))):
        left = until - time.monotonic()
        if left <= 0:
            return
        yield from steps.pause(min(pause, left))
        pause = min(2 * pause, LONGEST_PAUSE)
        yield from _taken(setup, tenant_id, job_ids)


def run_unasked(setup: Setup, tenant_id: str, job_ids: Sequence[str]) -> Operation[None]:
    """Run jobs a call has caused by the way, where this process derives and no model would make the caller wait.

    Failed work stays a job; what is left to workers is rung for.
    """
    if not job_ids:
        return
    if setup.settings.derives_inline and setup.llm is None:
        yield from after_all(_taken(setup, tenant_id, job_ids))
    else:
        yield from steps.ring(tenant_id)


def take_together(waiting: deque[Job], most: int) -> list[Job]:
    """The first of some jobs, taken from them with those that are run along with it, so many at most.

    They derive from other streams of the same tenant, and none of them has lost a worker.
    """
    first = waiting.popleft()
    taken = [first]
    if first.kind != jobs.DERIVE or first.crashes:
        return taken
    streams = {first.stream_id}
    for job in list(waiting):
        fits = (job.kind, job.tenant_id, job.crashes) == (first.kind, first.tenant_id, 0)
        if fits and job.stream_id not in streams and len(taken) < most:
            streams.add(job.stream_id)
            taken.append(job)
            waiting.remove(job)
    return taken


def run_together(setup: Setup, several: Sequence[Job]) -> Operation[list[Job]]:
    """Run jobs that were taken together as one; those that are left, each to be run by itself.

    Where that fails all of them are left: which of them is to blame shows when each is run alone.
    """
    if len(several) == 1:
        return list(several)
    try:
        setup = yield from spaces.ready(setup, several[0].tenant_id)
        return (yield from deriving.derive_together(setup, several))
    except Exception:  # noqa: BLE001 - told when it is met again
        return list(several)


def run(setup: Setup, job: Job) -> Operation[None]:
    """Run one claimed job to its end; what fails goes back to the queue, or to the dead, with its class."""
    try:
        setup = yield from spaces.ready(setup, job.tenant_id)
        yield from WORK[job.kind](setup, job)
    except LeaseLost:
        return  # another worker has it: its effect is the one that counts
    except Exception as error:  # noqa: BLE001 - a mistake in the program ends a job in the end, never a worker
        name, fate = class_of(error), fate_of(error)
        if not isinstance(error, EngramError):
            # Where, not what: the text of an error may quote what somebody said.
            frames = extract_tb(error.__traceback__)
            places = "\n".join(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
            logger.error("a job of kind %s failed unexpectedly (%s)\n%s", job.kind, name, places)

        def give_back(conn: Connection) -> None:
            try:
                if fate.paused:
                    jobs.pause(conn, job, name, fate.retry_after or REST)
                else:
                    final = fate.permanent or (fate.most is not None and job.attempt >= fate.most)
                    jobs.fail(conn, job, name, permanent=final, counts=fate.counts, retry_after=fate.retry_after)
            except LeaseLost:
                return

        yield from steps.write(job.tenant_id, give_back, key=job.job_id)


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a job that failed: tried again after a pause, at the cost of an attempt, unless said otherwise.

    `permanent` buries it at once, `most` after so many tries; `paused` lets it rest at no cost until it comes back by
    itself; `counts=False` tries again at no cost. `retry_after` are the seconds to wait, None those of the backoff.
    """

    permanent: bool = False
    counts: bool = True
    paused: bool = False
    most: int | None = None
    retry_after: float | None = None


FATES: Final[tuple[tuple[type[Exception], Fate], ...]] = (
    (errors.RateLimited, Fate(counts=False)),
    (errors.BudgetSpent, Fate(paused=True)),
    (errors.ModelRejected, Fate(paused=True)),
    (errors.SchemaOutdated, Fate(paused=True)),  # a migration is under way, or this release is the older one
    (errors.Unavailable, Fate()),
    (errors.UnknownOutcome, Fate()),
    (errors.Conflict, Fate()),
    (EngramError, Fate(permanent=True)),  # the input is bad, and will be as bad next time
    (Exception, Fate()),
)
"""What a failure means for its job; the first class that fits decides."""

CANCELLED: Final = "57014"  # the statement took too long: it may have been the hour, but hardly three times
REFUSED: Final = ("0A", "22", "42", "54")  # PostgreSQL will refuse the same statement again


def fate_of(error: Exception) -> Fate:
    """What a failure means for its job. Pure."""
    fate = next(fate for kind, fate in FATES if isinstance(error, kind))
    if not isinstance(error, errors.Unavailable):
        return fate
    state = str(error.facts.get("sqlstate") or "")
    if state == CANCELLED:
        fate = replace(fate, most=3)
    elif state[:2] in REFUSED:
        fate = replace(fate, permanent=True)
    if not error.retry_after:  # a pause of no time is none: the backoff is waited for
        return fate
    limit = LONGEST_REST if fate.paused else LONGEST_WAIT
    return replace(fate, retry_after=max(SHORTEST_WAIT, min(error.retry_after, limit)))
