"""Proposing: an audit of a scope, which says what it would change and why, and does it only where it is told to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import inputs, prompting, tenancy
from engram.database import Connection, fetch_value
from engram.lifecycle import merging as choosing
from engram.lifecycle import pairing, proposing
from engram.lifecycle.deeds import Deed, Tie
from engram.lifecycle.layers import Row
from engram.lifecycle.merging import Choice
from engram.operations import asking, living, merging, spaces, steps, sweeping
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.policies.classify import Classified, classify
from engram.policies.classify import Proposal as Candidate
from engram.values import AuditReport

COMPONENT: Final = "audit"
STEP: Final = "audit"
PAIRS: Final = 500
LOOKED_AT: Final = 5_000  # memories of a layer
ASKED: Final = 40  # proposals a model is asked about at once
SHOWN: Final = 400


class Kept(BaseModel):
    """The proposals a model would keep, by their numbers."""

    model_config = ConfigDict(extra="forbid")

    keep: Annotated[list[int], Field(max_length=ASKED)]


@dataclass(frozen=True, slots=True)
class Found:
    """What is proposed, with what is needed to do it."""

    alike: tuple[Choice, ...]
    lower: tuple[tuple[Row, str], ...]
    typed: tuple[tuple[Row, Classified], ...]
    ties: tuple[Tie, ...] = ()

    @property
    def shown(self) -> list[dict[str, Any]]:
        """Each proposal as a model is shown it, in their order."""
        return [
            *({"change": "merge", "one": one.winner.fact[:SHOWN], "two": one.loser.fact[:SHOWN]} for one in self.alike),
            *({"change": "demote", "memory": row.fact[:SHOWN], "because": why} for row, why in self.lower),
            *({"change": "reclassify", "memory": row.fact[:SHOWN], "to": to.memory_type} for row, to in self.typed),
        ]  # fmt: skip

    @property
    def events(self) -> list[str]:
        """The events whose words are shown."""
        ids: list[str | None] = [row.event_id for one in self.alike for row in (one.winner, one.loser)]
        ids += [row.event_id for row, _ in self.lower] + [row.event_id for row, _ in self.typed]
        return sorted({one for one in ids if one})

    def only(self, places: frozenset[int]) -> Found:
        """Those with these places, from 1."""
        first, second = len(self.alike), len(self.alike) + len(self.lower)
        return Found(
            tuple(one for place, one in enumerate(self.alike, 1) if place in places),
            tuple(one for place, one in enumerate(self.lower, first + 1) if place in places),
            tuple(one for place, one in enumerate(self.typed, second + 1) if place in places),
            self.ties,
        )


def audit(setup: Setup, apply: object, given: Mapping[str, Any]) -> Operation[AuditReport]:
    """What a scope could do with; done only with `apply`."""
    call = setup.writing(given)
    does = inputs.flag(apply, "apply")
    setup = yield from spaces.ready(setup, call.tenant_id)
    return (yield from merging.rehearsed(setup, call, lambda setup: _audited(setup, call, does)))


def _audited(setup: Setup, call: Writing, does: bool) -> Operation[AuditReport]:
    if (yield from steps.read(call.tenant_id, lambda conn: tenancy.find(conn, call.scope))) is None:
        return AuditReport(())
    run = None
    if does:
        run = yield from living.opened(call, STEP)
        before = yield from living.finished(run)
        if before is not None:
            return AuditReport((), before)
    yield from merging.looked(setup, call, None)
    found = yield from steps.write(call.tenant_id, lambda conn: _found(setup, conn, call), key="audit")
    if setup.asks(COMPONENT):
        found = yield from _checked(setup, call, found)
    proposals = proposing.proposals(found.alike, found.lower, found.typed)
    if run is None:
        return AuditReport(proposals)
    changes = yield from living.act(setup, run, _deeds(found))
    return AuditReport(proposals, (yield from living.closed(run, changes)))


def _found(setup: Setup, conn: Connection, call: Writing) -> Found:
    desk = setup.desk(conn, call.scope)
    at = merging.thresholds(setup, conn)
    pairs = pairing.pairs(desk, at.audit_min, at.audit_max, limit=PAIRS)
    alike = proposing.merges(merging.candidates(setup, desk, [one for pair in pairs for one in pair.ids]), pairs, at)
    now = fetch_value(conn, "read_clock")
    core, working = (
        list(islice(sweeping.stream(conn, sweeping.layer_of(desk.tenant_id, desk.scope_id, layer, now)), LOOKED_AT))
        for layer in ("core", "working")
    )  # fmt: skip
    ruled = [(row, classify(desk.policy, Candidate(row.fact, role="user"))) for row in (*core, *working)]
    ties = merging.relations_of(desk, [one.loser.memory_id for one in alike])
    return Found(
        tuple(alike), tuple(proposing.demotions(core)), tuple(proposing.reclassifications(ruled)), ties
    )  # fmt: skip


def _checked(setup: Setup, call: Writing, found: Found) -> Operation[Found]:
    """The proposals that a model would keep; all of those it cannot be asked about."""
    shown, kept = found.shown, set()
    for first in range(0, len(shown), ASKED):
        part = shown[first : first + ASKED]
        told = "\n".join(json.dumps({"proposal": n, **one}, ensure_ascii=False) for n, one in enumerate(part, 1))
        try:
            said: asking.Said[Kept] = yield from asking.ask(
                setup, scope=call.scope, component=COMPONENT, prompt=prompting.load(COMPONENT), schema=Kept,
                values={"proposals": told, "mark": prompting.mark(told)}, event_ids=found.events,
            )  # fmt: skip
        except merging.UNANSWERED:
            return found
        kept |= {first + place for place in said.value.keep if 0 < place <= len(part)}
    return found.only(frozenset(kept))


def _deeds(found: Found) -> Sequence[Deed]:
    return [
        *(choosing.deed(one, found.ties) for one in found.alike),
        *proposing.deeds(found.alike, found.lower, found.typed),
    ]
