"""Topics: a scope's tree made, changed and named beside its writes, what is new tied to its nearest, and both read.

The tree is an index of now. Vectors are read in small transactions into a file, the tree is made of it with no
transaction open, and it is written at once, if nobody changed the tree meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from engram import inputs, jobs, memories, prompting, tenancy, writing
from engram.database import Connection, fetch_one
from engram.errors import (
    BadOutput,
    BudgetSpent,
    Conflict,
    InvalidInput,
    ModelRejected,
    NotFound,
    RateLimited,
    Refused,
    Unavailable,
)
from engram.jobs import Job
from engram.lifecycle import links, topics, trees
from engram.lifecycle.topics import Grown
from engram.lifecycle.trees import Said, Spool, State
from engram.operations import asking, living, spaces, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.scope import Scope
from engram.values import TRUSTS, LifecycleRun, Topic, TopicMemories

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND: Final = jobs.LINK
STEP: Final = "topics"
LINKING: Final = "links"
COMPONENT: Final = "naming"
ACTOR: Final = "engram"
NAMED: Final = 30  # topics that a model names at once
SHOWN: Final = 5  # texts of a topic that a model is shown
SHOWN_CHARACTERS: Final = 200
TELLING: Final = 20  # texts of a topic that its words are counted in
TRIES: Final = 3
MOST_IDS: Final = 50
SHAPE: Final = "the id of a topic, such as kb3"
UNKNOWN: Final = "no topic with that id in this scope"


class Name(BaseModel):
    """A name that a model gives."""

    model_config = ConfigDict(extra="forbid")

    topic: int
    name: str = Field(min_length=1, max_length=120)


class Names(BaseModel):
    """What a model answers when it names topics."""

    model_config = ConfigDict(extra="forbid")

    names: list[Name] = Field(max_length=NAMED)


@dataclass(frozen=True, slots=True)
class Named:
    """A name, who gave it, the rank of the least trusted text it was made of, and whether they are private."""

    name: str
    by: str
    trust: int
    private: bool


@dataclass(frozen=True, slots=True)
class Made:
    """A tree that is to be written: of each leaf and inner topic the old one it goes on with, and its telling rows."""

    grown: Grown
    leaves: Mapping[int, int]
    groups: Mapping[int, int]
    telling: Sequence[Sequence[int]]
    score: float


# Making the tree -----------------------------------------------------------------------------------------------------


def rebuild_topics(setup: Setup, given: Mapping[str, Any]) -> Operation[LifecycleRun]:
    """Make the tree of the scope anew, and let it take the place of the one there is unless it is worse."""
    call = setup.writing(given)
    setup = yield from spaces.ready(setup, call.tenant_id)
    run = yield from living.opened(call, STEP, later=True)
    before = yield from living.finished(run)
    if before is not None:
        return before
    scope_id = yield from steps.read(call.tenant_id, lambda conn: tenancy.find(conn, call.scope))
    if scope_id is not None and not call.dry_run:
        yield from _renewed(setup, call.scope, scope_id, anew=True)
    return (yield from living.at_once(setup, run, lambda _: []))


def rebuild_step(setup: Setup, scope: Scope, scope_id: int, *, job: Job | None = None) -> Operation[None]:
    """Put what is new into the tree and tie it to its nearest; the tree is made anew where much has changed."""
    yield from _renewed(setup, scope, scope_id, job=job)
    yield from _linked(setup, Writing(scope, actor=ACTOR), scope_id)


def queue(conn: Connection, scope_id: int, once: str) -> None:
    """Ask for that by a job, a few seconds from now, once for what caused it."""
    jobs.add(
        conn, kind=KIND, dedup_key=f"{scope_id}/{once}", scope_id=scope_id, delay=writing.LINK_DELAY,
        priority=writing.UPKEEP_PRIORITY,
    )  # fmt: skip


def tend(setup: Setup, job: Job) -> Operation[None]:
    """The same as a job."""
    scope_id = int(job.scope_id or 0)

    def find(conn: Connection) -> Scope | None:
        row = fetch_one(conn, "find_scope_by_id", tenant_id=job.tenant_id, scope_id=scope_id)
        return None if row is None else Scope(job.tenant_id, row.namespace, row.agent_id, row.user_id)

    scope = yield from steps.read(job.tenant_id, find)
    if scope is not None:
        yield from rebuild_step(setup, scope, scope_id, job=job)

    def finish(conn: Connection) -> None:
        jobs.hold(conn, job)
        jobs.finish(conn, job)

    yield from steps.write(job.tenant_id, finish, key=job.job_id)


def _renewed(
    setup: Setup, scope: Scope, scope_id: int, *, anew: bool = False, job: Job | None = None
) -> Operation[None]:
    for left in reversed(range(TRIES)):
        state = yield from steps.write(
            scope.tenant_id, lambda conn: trees.begin(conn, scope.tenant_id, scope_id, setup.policy.thresholds),
            key=f"{STEP}/{scope_id}",
        )  # fmt: skip
        if state.active_id is None or not (anew or state.changed):
            return
        try:
            if state.is_small and not anew:
                yield from _changed(setup, scope, scope_id, state, job)
            else:
                yield from _remade(setup, scope, scope_id, state, job)
        except Conflict:
            if not left:
                raise
        else:
            return


def _changed(setup: Setup, scope: Scope, scope_id: int, state: State, job: Job | None) -> Operation[None]:
    """Put a few memories in and take a few out."""
    import numpy as np

    tenant_id, model_id = scope.tenant_id, int(state.active_id or 0)

    def look(conn: Connection) -> tuple[list[Any], list[trees.Topic], dict[int, list[str]], dict[str, Said]]:
        fresh = trees.unplaced(conn, tenant_id, scope_id, model_id)
        kept = trees.tree(conn, tenant_id, scope_id)
        telling = trees.telling(conn, tenant_id, scope_id, SHOWN) if fresh else {}
        wanted = [row.memory_id for row in fresh] + [one for several in telling.values() for one in several]
        return fresh, kept, telling, trees.said(conn, tenant_id, scope_id, wanted)

    fresh, kept, telling, said = yield from steps.read(tenant_id, look)
    leaves = [topic for topic in kept if topic.centre is not None]
    placed: list[int] = []
    if fresh:
        vectors = topics.unit(np.stack([trees.vector_of(row.vector) for row in fresh]))
        centres = topics.unit(np.stack([leaf.centre for leaf in leaves])) if leaves else vectors[:0]
        placed = topics.put(vectors, centres, state.limits)
    opened = sorted({place for place in placed if place >= len(leaves)})
    number = {place: leaves[place].topic_id if place < len(leaves) else state.next_topic + opened.index(place)
              for place in placed}  # fmt: skip
    texts = {topic: [said[one] for one in several if one in said] for topic, several in telling.items()}
    for row, place in zip(fresh, placed, strict=True):
        if place in opened and row.memory_id in said:
            texts.setdefault(number[place], []).append(said[row.memory_id])
    names = yield from _names(setup, scope, texts, [number[place] for place in opened], job)
    made = [
        trees.Topic(
            topic_id=number[place], parent_id=None, name=names[number[place]].name, trust=names[number[place]].trust,
            named_by=names[number[place]].by, named_members=placed.count(place), private=names[number[place]].private,
            members=placed.count(place), shown=0, centre=vectors[placed.index(place)],
        )
        for place in opened
    ]  # fmt: skip

    def effect(conn: Connection) -> None:
        trees.set_tree(
            conn, tenant_id, scope_id, state, rows=max(0, state.rows + len(fresh) - state.gone), score=state.score,
            changes=state.changes + state.fresh + state.gone, next_topic=state.next_topic + len(opened),
        )  # fmt: skip
        touched = set(trees.drop_gone(conn, tenant_id, scope_id))
        trees.put(conn, tenant_id, scope_id, made, only=False)
        trees.place(
            conn,
            tenant_id,
            scope_id,
            [(row.memory_id, number[place]) for row, place in zip(fresh, placed, strict=True)],
        )
        trees.recount(conn, tenant_id, scope_id, model_id, sorted(touched | set(number.values())))

    yield from steps.write(tenant_id, effect, key=f"{STEP}/{scope_id}/{state.generation}")


def _remade(setup: Setup, scope: Scope, scope_id: int, state: State, job: Job | None) -> Operation[None]:
    """Make the tree of all vectors anew; the one there is stays, with what is new put in, where it tells more apart."""
    tenant_id, model_id = scope.tenant_id, int(state.active_id or 0)
    spool = Spool(state.dimensions)
    with spool.file:
        after: str | None = trees.FIRST
        while after is not None:
            rows = yield from steps.read(
                tenant_id, partial(_read, tenant_id=tenant_id, scope_id=scope_id, model_id=model_id, after=after)
            )
            spool.add(rows)
            after = rows[-1].memory_id if len(rows) == trees.READ else None

        def look(conn: Connection) -> tuple[int, list[trees.Topic], list[tuple[str, str, float]]]:
            return (
                trees.count(conn, tenant_id, scope_id), trees.tree(conn, tenant_id, scope_id),
                trees.edges(conn, tenant_id, scope_id),
            )  # fmt: skip

        total, kept, edges = yield from steps.read(tenant_id, look)
        kept = kept if state.stands else []
        sees = len(spool.ids) / total if total else 1.0
        if kept and sees < topics.SEEN:
            return
        made: Made = yield from steps.think(lambda: _grown(spool, kept, edges, state), job)
    wanted = sorted({spool.ids[row] for rows in made.telling for row in rows})
    said = yield from steps.read(tenant_id, lambda conn: trees.said(conn, tenant_id, scope_id, wanted))
    numbers, taken = _numbers(made, state.next_topic)
    old = {topic.topic_id: topic for topic in kept}
    members = _counted(made.grown, spool)
    asks = setup.asks(COMPONENT)
    unnamed = [
        topic_id for place, topic_id in numbers.items()
        if topic_id not in old or members[place][0] > 2 * old[topic_id].named_members
        or (asks and old[topic_id].named_by == trees.WORDS)
    ]  # fmt: skip
    names = yield from _names(setup, scope, _told(made, numbers, spool, said), unnamed, job)
    centres = topics.unit(made.grown.sums)
    written = [
        _grown_topic(
            made, numbers, place, members[place], None if place < 0 else centres[place],
            old.get(topic_id), names.get(topic_id),
        )
        for place, topic_id in numbers.items()
    ]  # fmt: skip
    if topics.is_worse(made.score, made.score if kept else None, names=[one.name for one in written], sees=sees):
        return

    def effect(conn: Connection) -> None:
        trees.set_tree(
            conn, tenant_id, scope_id, state, rows=len(spool.ids), score=made.score, changes=0, next_topic=taken
        )
        trees.put(conn, tenant_id, scope_id, written, only=True)
        placed = [numbers[int(leaf)] for leaf in made.grown.labels]
        trees.place(conn, tenant_id, scope_id, list(zip(spool.ids, placed, strict=True)))
        left = trees.drop_gone(conn, tenant_id, scope_id, among=set(spool.ids))
        if left:  # since it was read: it was counted
            trees.recount(conn, tenant_id, scope_id, model_id, left)

    yield from steps.write(tenant_id, effect, key=f"{STEP}/{scope_id}/{state.generation}")


def _told(made: Made, numbers: Mapping[int, int], spool: Spool, said: Mapping[str, Said]) -> dict[int, list[Said]]:
    """What each topic is named from: the memories that tell of a leaf, of a group some of each of its leaves. Pure."""
    texts = {
        numbers[leaf]: [said[spool.ids[row]] for row in rows if spool.ids[row] in said]
        for leaf, rows in enumerate(made.telling)
    }
    for group in range(made.grown.groups):
        under = [leaf for leaf in range(made.grown.leaves) if made.grown.inner[leaf] == group]
        texts[numbers[-1 - group]] = [one for leaf in under for one in texts[numbers[leaf]][:SHOWN]][:TELLING]
    return texts


def _grown_topic(
    made: Made, numbers: Mapping[int, int], place: int, members: tuple[int, int], centre: Any,
    same: trees.Topic | None, named: Named | None,
) -> trees.Topic:  # fmt: skip
    """The topic of a leaf, or of a group, whose place is below zero; who is not named anew keeps its name. Pure."""
    many, shown = members
    parent = -1 if place < 0 else int(made.grown.inner[place])
    given = named or (None if same is None else Named(same.name, same.named_by, same.trust, same.private))
    assert given is not None
    return trees.Topic(
        topic_id=numbers[place], parent_id=None if parent < 0 else numbers[-1 - parent], name=given.name,
        trust=given.trust, named_by=given.by,
        named_members=many if named is not None or same is None else same.named_members, private=given.private,
        members=many, shown=shown, centre=centre,
    )  # fmt: skip


def _read(conn: Connection, tenant_id: str, scope_id: int, model_id: int, after: str) -> list[Any]:
    return trees.read(conn, tenant_id, scope_id, model_id, after)


def _grown(spool: Spool, kept: Sequence[trees.Topic], edges: Sequence[tuple[str, str, float]], state: State) -> Made:
    """The tree to be written: a new one, or the old one with what is new put in where that tells more apart."""
    import numpy as np

    limits, rows = state.limits, len(spool.ids)
    grown = topics.grow(spool.blocks, rows, limits)
    places = {memory_id: row for row, memory_id in enumerate(spool.ids)}
    together = [
        [places[one] for one in nodes if one in places]
        for nodes in topics.communities(edges)
        if len(nodes) > topics.FEW
    ]
    if together and rows:
        grown = topics.regrown(spool.blocks, topics.adopted(grown, together), limits)
    leaf_ids = sorted({topic.topic_id for topic in kept if topic.centre is not None} & set(spool.topic))
    place = {topic_id: at for at, topic_id in enumerate(leaf_ids)}
    before = np.array([place.get(topic_id, -1) for topic_id in spool.topic], np.int32)
    made = topics.score(spool.blocks, grown.labels, limits)
    leaves = {new: leaf_ids[old] for new, old in topics.inherited(before, grown.labels).items()}
    if leaf_ids:
        updated = topics.completed(spool.blocks, before, limits)
        old_score = topics.score(spool.blocks, updated, limits)
        if topics.is_worse(made, old_score, names=(), sees=1.0) or made == old_score:
            grown, made = topics.regrown(spool.blocks, updated, limits), old_score
            leaves = dict(enumerate(leaf_ids))
    parents = {topic.topic_id: topic.parent_id or 0 for topic in kept}
    group_ids = sorted({parents[topic_id] for topic_id in leaf_ids} - {0})
    above = np.array([group_ids.index(g) if (g := parents.get(t, 0)) else -1 for t in spool.topic], np.int32)
    inner = grown.inner[grown.labels] if rows else np.empty(0, np.int32)
    groups = {new: group_ids[old] for new, old in topics.inherited(above, inner).items()}
    liked = np.array(
        [2 * private + (trust > trees.AGENT) for private, trust in zip(spool.private, spool.trust, strict=True)],
        np.int8,
    )
    telling = topics.nearest(spool.blocks, grown, liked, TELLING)
    return Made(grown, leaves, groups, telling, made)


def _numbers(made: Made, following: int) -> tuple[dict[int, int], int]:
    """The number of each leaf, and of inner topic g as -1 - g: the old one's or one that nothing had; and the next."""
    numbers: dict[int, int] = {}
    for place in (*range(made.grown.leaves), *(-1 - group for group in range(made.grown.groups))):
        known = made.leaves.get(place) if place >= 0 else made.groups.get(-1 - place)
        numbers[place] = following if known is None else known
        following += known is None
    return numbers, following


def _counted(grown: Grown, spool: Spool) -> dict[int, tuple[int, int]]:
    """How many members each leaf and inner topic has, and how many of them are not private."""
    import numpy as np

    public = np.array([not one for one in spool.private], bool)
    shown: NDArray[Any] = np.bincount(grown.labels[public], minlength=grown.leaves)
    found = {leaf: (int(grown.counts[leaf]), int(shown[leaf])) for leaf in range(grown.leaves)}
    for group in range(grown.groups):
        under = grown.inner == group
        found[-1 - group] = int(grown.counts[under].sum()), int(shown[under].sum())
    return found


# Names ---------------------------------------------------------------------------------------------------------------


def _names(
    setup: Setup, scope: Scope, texts: Mapping[int, Sequence[Said]], wanted: Sequence[int], job: Job | None
) -> Operation[dict[int, Named]]:
    """Names for some topics: by a model, 30 at a time, else their most telling words among all of `texts`."""
    if not wanted:
        return {}
    telling = {topic: tellers(several) for topic, several in texts.items()}
    order = sorted(telling)
    words = dict(
        zip(order, topics.telling_words([[one.fact for one in telling[topic]] for topic in order]), strict=True)
    )
    found = {
        topic: Named(
            topics.cut_name(words.get(topic, "")) or _type_of(telling.get(topic, ())), trees.WORDS,
            max((one.trust for one in telling.get(topic, ())), default=len(TRUSTS) - 1),
            any(one.private for one in telling.get(topic, ())),
        )
        for topic in wanted
    }  # fmt: skip
    if setup.asks(COMPONENT):
        for at in range(0, len(wanted), NAMED):
            batch = [topic for topic in wanted[at : at + NAMED] if telling.get(topic)]
            try:
                given = yield from _asked(setup, scope, {topic: telling[topic][:SHOWN] for topic in batch}, job)
            except (BadOutput, BudgetSpent, ModelRejected, RateLimited, Refused, Unavailable):
                break  # words name them, and the next time a model may
            found |= given
    return found


def tellers(several: Sequence[Said]) -> list[Said]:
    """The memories that may name a topic: private and less trusted ones only where there are no others. Pure."""
    shown = [one for one in several if not one.private] or list(several)
    return [one for one in shown if one.trust <= trees.AGENT] or shown


def _type_of(several: Sequence[Said]) -> str:
    return several[0].memory_type if several else "unnamed"


def _asked(
    setup: Setup, scope: Scope, texts: Mapping[int, Sequence[Said]], job: Job | None
) -> Operation[dict[int, Named]]:
    order = list(texts)
    lines = [
        json.dumps(
            {"topic": place, "texts": [" ".join(one.fact[:SHOWN_CHARACTERS].split()) for one in texts[topic]]},
            ensure_ascii=False,
        )
        for place, topic in enumerate(order, 1)
    ]  # fmt: skip
    answer: asking.Said[Names] = yield from asking.ask(
        setup, scope=scope, component=COMPONENT, prompt=prompting.load("naming"), schema=Names, job=job,
        values={"topics": "\n".join(lines)},
        event_ids=sorted({one.event_id for several in texts.values() for one in several}),
    )  # fmt: skip
    found = {}
    for given in answer.value.names:
        name = topics.cut_name(given.name)
        if 1 <= given.topic <= len(order) and name:
            several = texts[order[given.topic - 1]]
            found[order[given.topic - 1]] = Named(
                name, answer.model[:200], max(one.trust for one in several), any(one.private for one in several)
            )
    return found


# Links ---------------------------------------------------------------------------------------------------------------


def _linked(setup: Setup, call: Writing, scope_id: int) -> Operation[None]:
    """Tie memories that are new to their nearest; where two of these share a topic, put them there."""
    tenant_id = call.tenant_id
    run: living.Run | None = None

    def look(conn: Connection) -> tuple[dict[str, list[links.Neighbour]], list[Any], State]:
        state = trees.begin(conn, tenant_id, scope_id, setup.policy.thresholds)
        if not state.stands:
            return {}, [], state
        limits = links.Limits.of(state.thresholds, setup.policy.thresholds)
        found = links.unlinked(conn, tenant_id, scope_id, int(state.active_id or 0), state.dimensions, limits)
        return found, links.deeds(conn, tenant_id, found, limits), state

    for _ in range(links.MOST // links.BATCH):
        found, deeds, state = yield from steps.write(tenant_id, look, key=f"{LINKING}/{scope_id}")
        if not found:
            break
        if deeds and run is None:
            run = yield from living.opened(call, LINKING)
        moved = [
            (memory_id, topic) for memory_id, near in found.items()
            if (topic := links.shared_topic(near)) is not None
        ]  # fmt: skip

        def effect(
            conn: Connection, found: Any = found, deeds: Any = deeds, moved: Any = moved, state: State = state,
            run: living.Run | None = run,
        ) -> None:  # fmt: skip
            if deeds and run is not None:
                desk = setup.desk(conn, call.scope, reason=call.reason)
                living.perform(setup, desk, run, deeds)
            trees.move(conn, tenant_id, scope_id, int(state.active_id or 0), moved)
            links.mark(conn, tenant_id, scope_id, list(found))

        yield from steps.write(tenant_id, effect, key=f"{LINKING}/{scope_id}")
    if run is not None:
        yield from living.closed(run, ())


# Reading -------------------------------------------------------------------------------------------------------------


def list_topics(setup: Setup, given: Mapping[str, Any]) -> Operation[tuple[Topic, ...]]:
    """What the memories of the readable scopes are about, the largest topics first."""
    scope = setup.reading(_ids(given)).scope

    def work(conn: Connection) -> tuple[Topic, ...]:
        visible = tenancy.visible(conn, scope)
        return tuple(_topic(row, visible) for row in trees.seen(conn, visible))

    return (yield from steps.read(scope.tenant_id, work))


def get_topics(setup: Setup, topic_ids: object, given: Mapping[str, Any]) -> Operation[Mapping[str, TopicMemories]]:
    """Some topics with what is under them and the newest of their memories."""
    scope = setup.reading(_ids(given)).scope
    named = inputs.items(topic_ids, "topic_ids", MOST_IDS)
    wanted = {one: _parsed(one) for one in named}

    def work(conn: Connection) -> dict[str, TopicMemories]:
        visible = tenancy.visible(conn, scope)
        return {name: _opened(conn, visible, *place, setup.policy.thresholds) for name, place in wanted.items()}

    return (yield from steps.read(scope.tenant_id, work))


def _ids(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The words of a call that reads an index of now."""
    for name in ("as_of", "known_at"):
        if name in given:
            raise InvalidInput(name, "no moment: topics are an index of now", "a moment")
    return given


def _parsed(topic_id: object) -> tuple[int, int | None]:
    found = topics.ID.fullmatch(topic_id) if isinstance(topic_id, str) else None
    if found is None:
        raise InvalidInput("topic_ids", SHAPE, "something else")
    return int(found[1]), int(found[2]) if found[2] else None


def _opened(
    conn: Connection, visible: tenancy.Visible, number: int, elsewhere: int | None, given: Mapping[str, float]
) -> TopicMemories:
    scope_id = visible.own if elsewhere is None else elsewhere
    rows = trees.seen(conn, visible, [number], [scope_id]) if scope_id in visible.scope_ids else []
    found = next((row for row in rows if row.topic_id == number), None)
    if found is None or scope_id is None:
        raise NotFound(UNKNOWN)
    ids = trees.members_of(conn, visible, number, scope_id=scope_id)
    alike = trees.near_identical(conn, visible.scope.tenant_id, scope_id, ids, given)
    return TopicMemories(
        topic=_topic(found, visible),
        topics=tuple(_topic(row, visible) for row in rows if row.parent_id == number),
        memories=tuple(memories.load(conn, visible, ids)),
        redundant=tuple(alike),
    )


def _topic(row: Any, visible: tenancy.Visible) -> Topic:
    return Topic(
        topic_id=trees.id_of(row, visible), name=row.name, members=row.members,
        parent_id=None if row.parent_id is None else trees.id_of(row, visible, row.parent_id), trust=TRUSTS[row.trust],
        named_by=row.named_by, scope=visible.scopes[int(row.scope_id)],
    )  # fmt: skip
