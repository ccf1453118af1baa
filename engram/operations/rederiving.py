"""Rederiving: statements of events are derived again, each by itself.

What an erased memory also rested on is, since a redaction takes no more than its event; and what failed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from engram import batching, jobs, ledger, writing
from engram.database import Connection, fetch_all
from engram.derivation import llm
from engram.errors import EngramError
from engram.jobs import Job
from engram.operations import changing, deriving, echoing, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.values import Event
from engram.writing import Draft, Origin

TIMES: Final = ("valid_from", "valid_to", "expires_at")
UNTOLD: Final = ("supersedes", "parent_id", "sources", "force")  # acts on other memories, done once already


def queue(conn: Connection, tenant_id: str, redaction_id: str, event_id: str, memory_ids: Sequence[str]) -> list[str]:
    """Queue the derivation of what else these erased memories rested on, a job each; the ids of the jobs.

    What a language model found is asked of it again, a job an event.
    """
    if not memory_ids:
        return []
    rows = fetch_all(conn, "list_other_sources", tenant_id=tenant_id, memory_ids=list(memory_ids), event_id=event_id)
    told: dict[str, tuple[int, list[list[Any]]]] = {}
    for row in rows:
        if row.deriver != llm.NAME:
            told.setdefault(row.memory_id, (row.scope_id, []))[1].append([row.event_id, row.ordinal, row.deriver])
    made = [
        jobs.add(
            conn,
            kind=jobs.REDERIVE,
            dedup_key=f"{redaction_id}/{memory_id}",
            scope_id=scope_id,
            payload={"sources": sources},
        )
        for memory_id, (scope_id, sources) in told.items()
    ]
    made += [
        jobs.add(
            conn, kind=jobs.EXTRACT, dedup_key=f"{redaction_id}/{row.event_id}", scope_id=row.scope_id,
            stream_id=row.stream_id, position=row.position,
            payload={"after": row.position - 1, "upto": row.position},
        )
        for row in {row.event_id: row for row in rows if row.deriver == llm.NAME}.values()
    ]  # fmt: skip
    return [job_id for job_id in made if job_id is not None]


def rederive(setup: Setup, job: Job) -> Operation[None]:
    """Write as their events said it what an erased memory rested on beside the redacted one, or what failed before."""
    sources: list[tuple[str, int, str | None]] = [tuple(one) for one in job.payload["sources"]]

    def look(conn: Connection) -> tuple[Scope, Mapping[str, Event], Mapping[str, Sequence[Event]]]:
        row = fetch_all(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=job.scope_id)[0]
        events = ledger.get_many(conn, [event_id for event_id, *_ in sources])
        own = Scope(job.tenant_id, row.namespace, row.agent_id, row.user_id)
        return own, events, deriving.preceding(conn, list(events.values()))

    scope, events, before = yield from steps.read(job.tenant_id, look)
    pairs = [
        pair
        for event_id, ordinal, deriver in sources
        if (event := events.get(event_id)) is not None and not event.erased
        for pair in _statements(setup, scope, event, ordinal, deriver, before.get(event_id, ()))
    ]
    pairs = yield from echoing.resolved(setup, job.tenant_id, int(job.scope_id or 0), pairs, parks=False)
    vectors = yield from deriving.vectors(setup, [draft.fact for draft, _ in pairs], job)
    drafts = [(replace(draft, vector=vector), origin) for (draft, origin), vector in zip(pairs, vectors, strict=True)]

    def effect(conn: Connection) -> None:
        jobs.hold(conn, job)
        desk = replace(setup.desk(conn, scope), scope_id=int(job.scope_id or 0))
        streams = {writing.deriving_lock(event.stream_id) for event in events.values()}
        writing.lock(desk, [draft for draft, _ in drafts], *streams)
        there = ledger.get_many(conn, [one for pair in drafts for one in deriving.rests_on(*pair)])
        left = [pair for pair in drafts if not any(there[one].erased for one in deriving.rests_on(*pair))]
        batching.write_all(desk, left)
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, effect, key=job.job_id)


def _statements(
    setup: Setup, scope: Scope, event: Event, ordinal: int, deriver: str | None, before: Sequence[Event]
) -> Iterable[tuple[Draft, Origin]]:
    """What one statement of an event said: by its deriver, or by the request of a direct change."""
    if deriver is not None:
        found = deriving.drafts_of(setup, scope, event, deriver, before, parks=False)
        return [pair for pair in found if ordinal in (pair[1].ordinal, deriving.WHOLE)]
    request = event.payload.get("request")
    if ordinal or not isinstance(request, Mapping) or not request.get("fact"):
        return []
    asked = {
        name: datetime.fromisoformat(value) if name in TIMES and isinstance(value, str) else value
        for name, value in request.items()
        if name == "fact" or (name in changing.MEMORY_WORDS and name not in UNTOLD)
    }
    try:
        draft = changing.asked_for(setup, Writing(scope, occurred_at=event.occurred_at), asked).draft
    except EngramError:  # a form that this release no longer takes
        return []
    origin = Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=event.occurred_at, trust=event.trust,
        content=event.content, session_id=event.session_id, task_run_id=event.task_run_id, actor=event.actor,
        char_end=len(event.content or ""),
    )  # fmt: skip
    return [(draft, origin)]
