"""Distilling: the steps of a cycle that make less of more: of notes of sessions, of the buffer, and of large topics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import prompting, tenancy
from engram.database import Connection, fetch_all
from engram.lifecycle import distilling, trees
from engram.lifecycle.cycle import Cycle
from engram.lifecycle.deeds import Deed
from engram.lifecycle.distilling import Note
from engram.lifecycle.pairing import Row
from engram.lifecycle.thresholds import DISTILL_MEMBERS, DISTILL_NEWEST, DISTILL_PER_CYCLE
from engram.operations import asking, changing, living, merging, spaces, steps, sweeping
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.text import jaccard, tokens
from engram.values import Change, LifecycleRun
from engram.writing import Desk, Draft

COMPONENT: Final = "distill"
MOST_SHOWN: Final = 40  # memories of a topic that a model is shown
SHOWN: Final = 600  # characters of one of them
DEDUPED: Final = 500  # memories of the buffer that one step may put away
ANSWER_TOKENS: Final = 4_096


class Status(BaseModel):
    """What a model says of where things stand."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=2_000)]


class Group(BaseModel):
    """Memories of a topic that overlap, and the text that stands for them."""

    model_config = ConfigDict(extra="forbid")

    memories: Annotated[list[int], Field(max_length=MOST_SHOWN)]
    text: Annotated[str, Field(max_length=4_000)]


class Groups(BaseModel):
    """What a model makes of a topic."""

    model_config = ConfigDict(extra="forbid")

    groups: Annotated[list[Group], Field(max_length=MOST_SHOWN)]


# ------------------------------------------------ notes of sessions


def session_distillation(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """The step of a cycle that says in one short memory what the newest notes of sessions came to."""
    setup = yield from spaces.ready(setup, call.tenant_id)

    def look(conn: Connection) -> list[Note]:
        rows = fetch_all(
            conn, "list_session_notes", tenant_id=call.tenant_id, scope_id=tenancy.ensure(conn, call.scope),
            limit=DISTILL_NEWEST,
        )  # fmt: skip
        return [Note(row.memory_id, row.fact, row.trust, row.marks, row.event_id) for row in rows]

    def work(run: Run) -> Operation[list[Change]]:
        notes = yield from steps.write(call.tenant_id, look, key=run.run_id)
        if not distilling.enough(notes):
            return []
        text = yield from _status(setup, run, notes)
        if not text:
            return (yield from living.act(setup, run, [distilling.status_deed(notes, None)]))
        (draft,) = yield from changing.with_vectors(setup, [distilling.status_draft(text)])
        earlier = yield from steps.write(
            call.tenant_id, lambda conn: _earlier(setup, conn, run, draft), key=run.run_id
        )  # fmt: skip
        deed = distilling.status_deed(notes, draft, distilling.replaced(notes, earlier))
        if distilling.is_told(text, earlier):
            deed = distilling.status_deed(notes, None)
        return (yield from living.act(setup, run, [deed]))

    return (yield from sweeping.step(call, "session_distillation", cycle, work))


def _status(setup: Setup, run: Run, notes: Sequence[Note]) -> Operation[str]:
    own = distilling.status_of(notes)
    if not setup.asks(COMPONENT):
        return own
    shown = "\n".join(json.dumps({"note": " ".join(note.fact.split())[:SHOWN]}, ensure_ascii=False) for note in notes)
    try:
        said: asking.Said[Status] = yield from asking.ask(
            setup, scope=run.call.scope, component=COMPONENT, prompt=prompting.load("status"), schema=Status,
            values={"notes": shown, "mark": prompting.mark(shown)}, event_ids=sorted({one.event_id for one in notes}),
        )  # fmt: skip
    except merging.UNANSWERED:
        return own
    text = " ".join(said.value.text.split())
    return text if not text or distilling.may_stand(text, notes) else own


def _earlier(setup: Setup, conn: Connection, run: Run, draft: Draft) -> list[Row]:
    """The earlier memories of where things stand that are like a new one."""
    desk = setup.desk(conn, run.call.scope)
    least = merging.thresholds(setup, conn).triage_dedup
    rows = fetch_all(
        conn, "list_statuses", tenant_id=desk.tenant_id, scope_id=desk.scope_id, model_id=desk.model_id or 0
    )
    own = tokens(draft.fact)
    alike = merging.candidates(setup, desk, [row.memory_id for row in rows if _alike(draft, row, own) >= least])
    return [row for row in alike.values() if row.category == distilling.CATEGORY]


def _alike(draft: Draft, row: Any, own: frozenset[str]) -> float:
    if draft.vector is None or row.vector is None:
        return jaccard(own, tokens(row.fact))
    import numpy as np

    one, two = np.asarray(draft.vector, dtype=float), np.asarray(row.vector, dtype=float)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(one @ two) / lengths if lengths else 0.0


# ------------------------------------------------ the buffer


def buffer_dedup(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """The step of a cycle that makes one of those memories of the buffer that say the same."""
    setup = yield from spaces.ready(setup, call.tenant_id)
    left = DEDUPED if cycle.most is None else min(cycle.most, DEDUPED)

    def plan(desk: Desk) -> list[Deed]:
        nonlocal left
        at = merging.thresholds(setup, desk.conn)
        deeds = merging.plan_merges(
            setup, desk, at.triage_dedup, asks=True, layers=("buffer",), most=min(left, merging.PAIRS)
        )
        left -= len(deeds)
        return deeds

    def work(run: Run) -> Operation[list[Change]]:
        yield from merging.looked(setup, call)
        return (yield from living.planned(setup, run, plan))

    return (yield from sweeping.step(call, "buffer_dedup", cycle, work))


# ------------------------------------------------ large topics


def topic_distillation(setup: Setup, call: Writing, cycle: Cycle) -> Operation[LifecycleRun | None]:
    """The step of a cycle in which a model makes one of those memories of a large topic that truly overlap.

    None where there is no model to ask.
    """
    if not setup.asks(COMPONENT):
        return None
    setup = yield from spaces.ready(setup, call.tenant_id)

    def look(conn: Connection) -> list[list[Row]]:
        desk = setup.desk(conn, call.scope)
        found: list[list[Row]] = []
        large = trees.large(conn, desk.tenant_id, desk.scope_id, DISTILL_MEMBERS)
        first = cycle.epoch * DISTILL_PER_CYCLE % max(1, len(large))  # each cycle goes on with others
        for topic in (*large[first:], *large[:first]):
            ids = trees.members_of(conn, desk.visible, topic.topic_id, scope_id=desk.scope_id, limit=MOST_SHOWN)
            rows = merging.candidates(setup, desk, ids)
            fresh = [
                rows[one] for one in ids
                if one in rows and "distilled" not in rows[one].tags and len(rows[one].fact) <= SHOWN
            ]  # fmt: skip
            if len(fresh) > 1:
                found.append(fresh)
            if len(found) == DISTILL_PER_CYCLE:
                break
        return found

    def work(run: Run) -> Operation[list[Change]]:
        changes: list[Change] = []
        for rows in (yield from steps.write(call.tenant_id, look, key=run.run_id)):
            told = yield from _groups(setup, run, rows)
            drafts = yield from changing.with_vectors(
                setup, [distilling.topic_draft(text, members) for members, text in told]
            )
            deeds = [distilling.topic_deed(members, draft) for (members, _), draft in zip(told, drafts, strict=True)]
            changes += yield from living.act(setup, run, deeds)
        return changes

    return (yield from sweeping.step(call, "topic_distillation", cycle, work))


def _groups(setup: Setup, run: Run, rows: Sequence[Row]) -> Operation[list[tuple[list[Row], str]]]:
    shown = "\n".join(
        json.dumps({"memory": place, "text": row.fact}, ensure_ascii=False) for place, row in enumerate(rows, 1)
    )
    try:
        said: asking.Said[Groups] = yield from asking.ask(
            setup, scope=run.call.scope, component=COMPONENT, prompt=prompting.load(COMPONENT), schema=Groups,
            values={"memories": shown, "mark": prompting.mark(shown)}, max_tokens=ANSWER_TOKENS,
            event_ids=sorted({row.event_id for row in rows if row.event_id}),
        )  # fmt: skip
    except merging.UNANSWERED:
        return []
    return distilling.groups(rows, [(one.memories, one.text) for one in said.value.groups])
