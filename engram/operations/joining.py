"""Joining: in the mode `merge` a new fact that says more than a near one becomes one text with it, worded by a model.

The fact is stored first, by the gates alone. Only then a model is asked, outside of any transaction, and what it wrote
is taken only if no value and no content word of either is lost: the held fact gets it as its next revision, and the new
one is put away as merged, by a run that can be taken back. Whatever fails, both facts stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import ids, memories, prompting, tenancy
from engram.database import Connection
from engram.lifecycle import merging as rules
from engram.lifecycle import pairing
from engram.lifecycle.deeds import Tie
from engram.lifecycle.keeping import is_rewording
from engram.lifecycle.pairing import Row
from engram.operations import asking, changing, living, merging, spaces, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.values import Memory, WriteDecision

COMPONENT: Final = "insert_merge"
MOST: Final = 12  # facts of one call that a model is asked about
SHOWN: Final = 1_000  # characters of a fact that a model is shown: longer ones are left as they are
ANSWER_TOKENS: Final = 1_024


class Joined(BaseModel):
    """What a model answers: one text for two facts, or nothing."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=2 * SHOWN)]


def add(setup: Setup, fact: object, given: Mapping[str, Any]) -> Operation[WriteDecision]:
    """Judge one fact, write what the judgement says, and join it with what it says more than."""
    made = yield from changing.add(setup, fact, given)
    return (yield from _all(setup, [made], given))[0]


def add_many(setup: Setup, items: object, given: Mapping[str, Any]) -> Operation[tuple[WriteDecision, ...]]:
    """The same of many facts."""
    made = yield from changing.add_many(setup, items, given)
    return tuple((yield from _all(setup, made, given)))


def _all(setup: Setup, made: Any, given: Mapping[str, Any]) -> Operation[list[WriteDecision]]:
    decisions: list[WriteDecision] = list(made)
    if setup.policy.write_mode != "merge" or not setup.asks(COMPONENT):
        return decisions
    call = setup.writing({name: value for name, value in given.items() if name not in changing.MEMORY_WORDS})
    open_ = [place for place, one in enumerate(decisions) if one.kind == "add" and "says_more" in one.reasons]
    if call.dry_run or not open_:
        return decisions
    setup = yield from spaces.ready(setup, call.tenant_id)
    for place in open_[:MOST]:
        decisions[place] = yield from _one(setup, call, decisions[place])
    return decisions


def _one(setup: Setup, call: Writing, made: WriteDecision) -> Operation[WriteDecision]:
    """The decision on one fact, after it was joined with the near one, or as it was."""
    if made.memory is None or made.target is None:
        return made
    new, held = made.memory.memory_id, made.target.memory_id
    pair = yield from steps.read(call.tenant_id, lambda conn: _pair(setup, conn, call, made))
    if pair is None:
        return (yield from steps.read(call.tenant_id, lambda conn: _before(conn, call, made)))
    rows, ties, head = pair
    shown = {"held": rows[held].fact, "new": rows[new].fact}
    try:
        said: asking.Said[Joined] = yield from asking.ask(
            setup, scope=call.scope, component=COMPONENT, prompt=prompting.load(COMPONENT), schema=Joined,
            values={**shown, "mark": prompting.mark(*shown.values())}, max_tokens=ANSWER_TOKENS,
            event_ids=sorted({row.event_id for row in rows.values() if row.event_id}),
        )  # fmt: skip
    except merging.UNANSWERED:
        return made
    text = " ".join(said.value.text.split())
    if len(text) > SHOWN or not is_rewording(tuple(shown.values()), text):
        return made
    (draft,) = yield from changing.with_vectors(setup, [changing.revision_of(head, text, None, None, None)])
    why = f"{said.model} put into one text what both say, and no value was lost"
    deed = rules.joined(rows[held], [rows[new]], ties, draft, because=why)
    run = yield from living.opened(call, COMPONENT, run_id=ids.id_of(new, call.tenant_id, COMPONENT))
    yield from living.closed(run, (yield from living.act(setup, run, [deed])))
    return (yield from steps.read(call.tenant_id, lambda conn: _before(conn, call, made)))


def _pair(
    setup: Setup, conn: Connection, call: Writing, made: WriteDecision
) -> tuple[dict[str, Row], tuple[Tie, ...], Memory] | None:
    """Both memories as they stand, if they are near enough and nothing but words says that they are two."""
    assert made.memory is not None
    assert made.target is not None
    desk = setup.desk(conn, call.scope)
    new, held = made.memory.memory_id, made.target.memory_id
    near = next((one for one in made.nearest if one.memory_id == held), None)
    if near is None or near.cosine is None or near.cosine < desk.thresholds.insert_merge:
        return None
    rows = pairing.rows(desk, [new, held])
    found = {one.memory_id: one for one in memories.load(conn, desk.visible, [new, held])}
    if len(rows) < 2 or len(found) < 2 or not all(one.is_current for one in found.values()):
        return None
    one, two = rows[held], rows[new]
    alike = one.trust == two.trust and one.memory_type == two.memory_type
    apart = rules.is_bound_apart(one, two) or not (None is one.conflict_key is two.conflict_key)
    pinned = any(memory.is_critical for memory in found.values())
    if not alike or apart or pinned or max(len(one.fact), len(two.fact)) > SHOWN:
        return None
    return dict(rows), merging.relations_of(desk, [new]), found[held]


def _before(conn: Connection, call: Writing, made: WriteDecision) -> WriteDecision:
    """The decision with what the fact was joined into, where it was."""
    assert made.memory is not None
    visible = tenancy.visible(conn, call.scope)
    now = next(iter(memories.load(conn, visible, [made.memory.memory_id])), None)
    if now is None or now.status_reason != rules.MERGED or now.superseded_by is None:
        return made
    whole = next(iter(memories.load(conn, visible, [now.superseded_by])), None)
    target = next(iter(memories.load(conn, visible, [made.target.memory_id])), None) if made.target else None
    if whole is None:
        return made
    return replace(made, kind="revise", memory=whole, head=whole, target=target, reasons=(*made.reasons, "merged_text"))
