"""Consolidating: groups of memories about one thing, and a summary of each that stands for its members in reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import inputs, prompting, tenancy
from engram.database import Connection
from engram.lifecycle import clusters, pairing
from engram.lifecycle.clusters import Group
from engram.lifecycle.deeds import Deed
from engram.lifecycle.pairing import Row
from engram.lifecycle.thresholds import CLUSTER_MEMBERS, MOST_CLUSTERS, Thresholds
from engram.operations import asking, changing, living, merging, spaces, steps
from engram.operations.living import Run
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.values import Change, Cluster, LifecycleRun
from engram.writing import Desk

STEP: Final = "consolidate_summaries"
COMPONENT: Final = "consolidate"
MOST_PAIRS: Final = 20_000  # of like memories that groups are made of at once
MOST_SUMMARIES: Final = 500
MOST_SHOWN: Final = 100  # groups that are found at once
ASKED: Final = 5  # groups a model is asked about at once
SHOWN: Final = 4_000  # characters of a group
ANSWER_TOKENS: Final = 4_096


class Told(BaseModel):
    """What a model writes for one group."""

    model_config = ConfigDict(extra="forbid")

    group: int
    text: Annotated[str, Field(max_length=clusters.LONGEST)] = ""


class Tolds(BaseModel):
    """What a model writes for groups."""

    model_config = ConfigDict(extra="forbid")

    groups: Annotated[list[Told], Field(max_length=ASKED)]


@dataclass(frozen=True, slots=True)
class Wished:
    """What groups a caller wants; what is None is as the policy and the model say."""

    max_distance: float | None = None
    min_jaccard: float | None = None
    min_size: int = CLUSTER_MEMBERS
    limit: int = MOST_CLUSTERS

    def over(self, at: Thresholds, *, by_words: bool) -> Thresholds:
        """The thresholds with the caller's laid over them; where words are all there is, they alone must be shared."""
        given = {
            "cluster": None if self.max_distance is None else 1.0 - self.max_distance,
            "cluster_words" if by_words else "cluster_jaccard": self.min_jaccard,
        }
        return replace(at, **{name: value for name, value in given.items() if value is not None})


DEFAULT: Final = Wished()


def find_clusters(
    setup: Setup, *, max_distance: object, min_jaccard: object, min_size: object, limit: object,
    given: Mapping[str, Any],
) -> Operation[tuple[Cluster, ...]]:  # fmt: skip
    """Groups of current memories of a scope that are about one thing."""
    call = setup.writing(given)
    wished = Wished(
        inputs.optional(inputs.unit, max_distance, "max_distance"),
        inputs.optional(inputs.unit, min_jaccard, "min_jaccard"),
        inputs.whole(min_size, "min_size", 2, clusters.MOST_MEMBERS), inputs.whole(limit, "limit", 1, MOST_SHOWN),
    )  # fmt: skip
    setup = yield from spaces.ready(setup, call.tenant_id)
    if (yield from steps.read(call.tenant_id, lambda conn: tenancy.find(conn, call.scope))) is None:
        return ()
    yield from merging.looked(setup, call, None)

    def look(conn: Connection) -> list[Group]:
        return _groups(setup, setup.desk(conn, call.scope), wished)

    found = yield from steps.write(call.tenant_id, look, key="clusters")
    return tuple(
        Cluster(
            tuple(row.memory_id for row in group.members), group.medoid.memory_id, group.medoid.fact, group.mean,
            group.deviation, group.redundant,
        )
        for group in found
    )  # fmt: skip


def _groups(setup: Setup, desk: Desk, wished: Wished = DEFAULT, *, fit: bool = False) -> list[Group]:
    """The groups of a scope; with `fit` only of memories that may leave their place to a summary."""
    by_words = desk.model_id is None
    at = wished.over(merging.thresholds(setup, desk.conn), by_words=by_words)
    pairs = pairing.alike(desk, pairing.LEAST_WORDS if by_words else at.cluster, limit=MOST_PAIRS)
    rows = pairing.rows(desk, {one for pair in pairs for one in pair.ids})
    if fit:
        rows = merging.candidates(setup, desk, rows)
        rows = {one: row for one, row in rows.items() if clusters.may_be_summarised(row)}
        pairs = [pair for pair in pairs if all(one in rows for one in pair.ids)]
        pairs = [pair for pair in pairs if rows[pair.low_id].trust == rows[pair.high_id].trust]
    return clusters.find(rows, pairs, at, by_words=by_words, least=wished.min_size, most=wished.limit)


def consolidate_summaries(setup: Setup, limit: object, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Write one summary for each group of memories about one thing."""
    call = setup.writing(given)
    most = inputs.whole(limit, "limit", 0, MOST_SUMMARIES)
    setup = yield from spaces.ready(setup, call.tenant_id)
    return (yield from merging.rehearsed(setup, call, lambda setup: _summarised(setup, call, most)))


def _summarised(setup: Setup, call: Writing, most: int) -> Operation[LifecycleRun]:
    run = yield from living.opened(call, STEP, asked={"limit": most})
    before = yield from living.finished(run)
    if before is not None:
        return before
    changes: list[Change] = []
    yield from merging.looked(setup, call, None)
    made = 0
    while made < most:
        groups = yield from steps.write(
            call.tenant_id, lambda conn: _groups(setup, setup.desk(conn, call.scope), fit=True), key=run.run_id
        )  # fmt: skip
        deeds = yield from _summaries(setup, run, groups[: most - made])
        done = yield from living.act(setup, run, deeds)
        changes += done
        made += len(deeds)
        if not done or call.dry_run:
            break
    return (yield from living.closed(run, changes))


def _summaries(setup: Setup, run: Run, groups: Sequence[Group]) -> Operation[list[Deed]]:
    texts = [clusters.text_of(group) for group in groups]
    ready = [(text, held) for text, held in texts if len(held) >= CLUSTER_MEMBERS]
    if setup.asks(COMPONENT):
        for place in range(0, len(ready), ASKED):
            part = yield from _worded(setup, run, ready[place : place + ASKED])
            ready[place : place + ASKED] = part
    drafts = [clusters.draft_of(text, held[0]) for text, held in ready]
    if not run.call.dry_run:
        drafts = yield from changing.with_vectors(setup, drafts)
    return [clusters.deed(held, draft) for (_, held), draft in zip(ready, drafts, strict=True)]


def _worded(
    setup: Setup, run: Run, ready: Sequence[tuple[str, tuple[Row, ...]]]
) -> Operation[list[tuple[str, tuple[Row, ...]]]]:
    """The groups with a model's words for those it told without losing anything; the others keep their own."""
    shown = "\n".join(
        json.dumps({"group": place, "memories": [row.fact for row in held]}, ensure_ascii=False)
        for place, (text, held) in enumerate(ready, 1)
        if len(text) <= SHOWN
    )
    events = sorted({row.event_id for _, held in ready for row in held if row.event_id})
    try:
        said: asking.Said[Tolds] = yield from asking.ask(
            setup, scope=run.call.scope, component=COMPONENT, prompt=prompting.load(COMPONENT), schema=Tolds,
            values={"groups": shown, "mark": prompting.mark(shown)}, max_tokens=ANSWER_TOKENS, event_ids=events,
        )  # fmt: skip
    except merging.UNANSWERED:
        return list(ready)
    told = {one.group: " ".join(one.text.split()) for one in said.value.groups}
    return [
        (told[place], held) if told.get(place) and clusters.may_tell(held, told[place]) else (text, held)
        for place, (text, held) in enumerate(ready, 1)
    ]
