"""Recall: from a question to memories with reasons, and to an answer.

A search goes in steps, because no model is called while a transaction is open:

1. `prepare` reads the question (pure); 2. `look` asks the scopes what its words mean there (transaction); 3. `embed`
makes its vector (model); 4. `find` gathers candidates from the channels (transaction); 5. `embed_tail` compares what is
not derived yet (model, only where there is any); 6. `rank` scores, explains and cuts (pure).

For `recall`, `intent.read` comes first; `roads` says which searches to try, in order, and `answer` (transaction) makes
the answer of the first that found something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from engram import derivation, filters, memories, ranking, streams, text
from engram.channels import keyword, semantic, tail
from engram.channels.keyword import Sought, Words
from engram.database import Connection, execute, fetch_all, fetch_one
from engram.errors import NotFound, Unavailable
from engram.filters import Filter
from engram.intent import Reading
from engram.memories import NOW, Moment
from engram.ranking import ProfileWeights, Scored, Signals
from engram.subjects import is_self
from engram.tenancy import Visible
from engram.values import (
    TRUSTS,
    ChannelHit,
    Event,
    Intent,
    Lineage,
    Memory,
    Mode,
    RecallAnswer,
    RecallTrace,
    SearchResult,
    SearchResults,
    Watermark,
    trust_rank,
)

if TYPE_CHECKING:
    from engram.embedding import CachedEmbedder, Vectors

FORMERLY: Final = "Formerly: "
SELF_WORDS: Final = frozenset({"user", "user's", "the", "a", "an", "of"})
EVIDENCE: Final = ("verbatim", "source_chunk")
GONE: Final = ("superseded", "deleted")
SUPERSEDED: Final = "m.status = 'superseded' AND m.consolidated_into IS NULL"
HEIR: Final = 0.9  # of an earlier value's nearness that the current one takes over
OVERFETCH: Final = 5
LEAST_FETCHED: Final = 50
PINNED: Final = 50
WHOLE_FETCH: Final = 1_000
WEAK: Final = 0.20  # relevance under which the best hit is no answer
NEAR_TOP: Final = 0.75  # share of the best relevance within which the better made memory answers
TOUCHED: Final = 0.5  # relevance over which a returned row counts as accessed

ROADS: Final[Mapping[Intent, tuple[Intent, ...]]] = {
    "chat": (),
    "lineage": ("lineage", "current", "historical"),
    "historical": ("historical", "current"),
    "current": ("current", "historical"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it was asked for, its words read."""

    query: str
    words: Words
    mode: Mode = "hybrid"
    limit: int = 10
    filter: Filter | None = None
    profile: str | ProfileWeights = ranking.DEFAULT_PROFILE
    min_score: float = 0.0
    include_superseded: bool = False
    tail: bool = True
    keep_pinned: bool = False  # pinned memories stay among the results, however many others hold the words

    @property
    def current_only(self) -> bool:
        """Whether only what is current may be found."""
        return not self.include_superseded and (self.filter is None or not self.filter.names_statuses())


@dataclass(frozen=True, slots=True)
class Looked:
    """What the readable scopes say about a question: its words' rarity, who speaks there, and the clock of the read."""

    visible: Visible
    moment: Moment
    now: datetime
    sought: Sought
    size: int = 0
    actors: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    graphed: tuple[int, ...] = ()
    model_id: int | None = None
    config: str = "english"

    @property
    def tenant_id(self) -> str:
        """The tenant that is read."""
        return self.visible.scope.tenant_id


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vector of a question, or None; and what failed on the way to it."""

    vector: Vectors | None = None
    model_id: int | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory some channel found, with each channel's own value for it."""

    memory: Memory
    cosine: float | None = None
    coverage: float = 0.0
    matched: tuple[str, ...] = ()
    semantic_rank: int | None = None
    keyword_rank: int | None = None
    derived: bool = True
    inherited: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Everything the channels found, and what ranking must know besides."""

    candidates: tuple[Candidate, ...] = ()
    tail: tuple[tail.Hit, ...] = ()
    watermark: Watermark = field(default_factory=Watermark)
    distilled: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    shadowed: frozenset[str] = frozenset()
    degraded: tuple[str, ...] = ()


# 1-3: the question ---------------------------------------------------------------------------------------------------


def prepare(query: str, **options: Any) -> Asked:
    """Read a question's words. Pure."""
    asked = Asked(query, keyword.parse(query), **options)
    ranking.weights_of(asked.profile)  # an unknown profile is refused before anything is asked
    return asked


def look(
    conn: Connection,
    visible: Visible,
    asked: Asked,
    *,
    moment: Moment = NOW,
    config: str = "english",
) -> Looked:
    """Ask the readable scopes what a search must know before it can be made."""
    tenant_id, scope_ids = visible.scope.tenant_id, list(visible.scope_ids)
    row = fetch_one(conn, "look_at_scopes", tenant_id=tenant_id, scope_ids=scope_ids)
    assert row is not None
    sought = Sought()
    if scope_ids:
        sought = keyword.look_up(conn, tenant_id, scope_ids, asked.words, size=row.size, config=config)
    actors = tuple(row.actors)
    return Looked(
        visible=visible,
        moment=moment,
        now=moment.clock or row.now,
        sought=sought,
        size=row.size,
        actors=actors,
        named=frozenset(semantic.named_actors(asked.query, actors)),
        graphed=tuple(row.graphed),
        model_id=row.model_id,
        config=config,
    )


def embed(embedder: CachedEmbedder | None, asked: Asked, looked: Looked) -> Meaning:
    """The vector of a question, without the names of its scope's actors; a model that fails is named in `degraded`.

    In mode `semantic` there is nothing to fall back to: then it raises Unavailable.
    """
    if embedder is None:
        if asked.mode == "semantic":
            raise Unavailable("there is no embedding model: search by keyword")
        return Meaning()
    if asked.mode == "keyword" or not re.search(r"\w", asked.query) or not looked.visible.scope_ids:
        return Meaning()
    topic = semantic.without_names(asked.query, looked.actors)
    weights = _word_weights(topic, looked.sought.weights) if embedder.weighs_words else None
    try:
        return Meaning(embedder.embed_query(topic, weights), embedder.model_id)
    except Unavailable:
        if asked.mode == "semantic":
            raise
        return Meaning(degraded=(semantic.NAME,))


def _word_weights(topic: str, weights: Mapping[str, float]) -> dict[str, float]:
    most = max(weights.values(), default=1.0)
    found = {}
    for word in re.findall(r"\w+", topic):
        parts = [weights.get(part, most) for part in keyword.plain(word).split()]
        found[word.casefold()] = max(parts, default=most)
    return found


# 4-5: the channels ---------------------------------------------------------------------------------------------------


def find(conn: Connection, asked: Asked, looked: Looked, meaning: Meaning) -> Found:
    """Gather the candidates of every channel, cut to what the read may see."""
    if not looked.visible.scope_ids or asked.limit == 0:
        return Found(degraded=meaning.degraded)
    candidates = _candidates(conn, asked, looked, meaning)
    watermark = _watermark(conn, looked.visible.scope_ids)
    return Found(
        candidates=tuple(candidates),
        tail=tuple(_tail(conn, asked, looked)) if watermark.behind else (),
        watermark=watermark,
        distilled=_distilled(conn, looked, candidates),
        shadowed=_shadowed(conn, looked, candidates),
        degraded=meaning.degraded,
    )


def embed_tail(embedder: CachedEmbedder | None, meaning: Meaning, found: Found) -> list[float | None]:
    """The cosine of each underived event; None each where there is no vector."""
    if embedder is None or meaning.vector is None or not found.tail:
        return [None] * len(found.tail)
    try:
        vectors = embedder.embed([hit.fact for hit in found.tail])
    except Unavailable:
        return [None] * len(found.tail)
    return [float(cosine) for cosine in vectors @ meaning.vector]


def _candidates(conn: Connection, asked: Asked, looked: Looked, meaning: Meaning) -> list[Candidate]:
    fetch = max(OVERFETCH * asked.limit, LEAST_FETCHED)
    past: list[Candidate] = []
    # A search for what is current now takes the nearest rows first and cuts afterwards: few are not current. Whatever
    # narrows further is cut before ranking, and so is a search that came back with less than it was asked for.
    if asked.filter is None and asked.current_only and looked.moment.is_now:
        found, more = _gather(conn, asked, looked, meaning, fetch, "")
        kept = [one for one in found if memory_is_current(one.memory)]
        past = [one for one in found if one.memory.status == "superseded"]
        if len({one.memory.lineage_id for one in kept}) < asked.limit and more:
            kept = _gather(conn, asked, looked, meaning, WHOLE_FETCH, _standing(asked, looked.moment))[0]
    else:
        kept = _gather(conn, asked, looked, meaning, fetch, _standing(asked, looked.moment))[0]
        past = [one for one in kept if asked.include_superseded and one.memory.status == "superseded"]
        if asked.current_only:
            past = _gather(conn, asked, looked, meaning, LEAST_FETCHED, _standing(asked, looked.moment, SUPERSEDED))[0]
    return _ranked([*kept, *_heirs(conn, asked, looked, past)])


def _heirs(conn: Connection, asked: Asked, looked: Looked, past: Sequence[Candidate]) -> list[Candidate]:
    """The heads of the lineages whose earlier values were found: what was asked for has another value now."""
    best: dict[str, Candidate] = {}
    for one in past:
        known = best.get(one.memory.lineage_id)
        if known is None or _nearer(one) > _nearer(known):
            best[one.memory.lineage_id] = one
    if not best:
        return []
    sql = (
        f"SELECT m.memory_id::text FROM {memories.source(looked.moment)} WHERE {memories.VISIBLE}"  # noqa: S608 - constants
        f" AND {memories.current(looked.moment)} AND NOT m.moot AND m.lineage_id = ANY(%(lineage_ids)s::uuid[])"
        f" AND ({filters.to_sql(asked.filter)[0]})"
    )
    params = memories.visible_params(looked.visible, looked.moment) | filters.to_sql(asked.filter)[1]
    rows = conn.exec_driver_sql(sql, params | {"lineage_ids": sorted(best)})
    heads = memories.load(conn, looked.visible, [row.memory_id for row in rows], looked.moment)
    return [_heir(head, best[head.lineage_id]) for head in heads]


def _heir(head: Memory, earlier: Candidate) -> Candidate:
    cosine = None if earlier.cosine is None else earlier.cosine * HEIR
    return replace(earlier, memory=head, cosine=cosine, coverage=earlier.coverage * HEIR, inherited=True)


def _nearer(one: Candidate) -> float:
    return one.coverage**2 + 0.5 * (one.cosine or 0.0)


def _ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate a memory, the nearer where there are two, with its ranks among those that are left. Pure."""
    best: dict[str, Candidate] = {}
    for one in candidates:
        known = best.get(one.memory.memory_id)
        if known is None or _nearer(one) > _nearer(known):
            best[one.memory.memory_id] = one
    kept = list(best.values())
    by_vector = _places({i: one.cosine for i, one in best.items() if one.cosine is not None})
    by_words = _places({i: one.coverage for i, one in best.items() if one.coverage > 0})
    return [
        replace(one, semantic_rank=by_vector.get(one.memory.memory_id), keyword_rank=by_words.get(one.memory.memory_id))
        for one in kept
    ]


def _places(values: Mapping[str, float]) -> dict[str, int]:
    return {memory_id: place for place, memory_id in enumerate(sorted(values, key=lambda i: (-values[i], i)), 1)}


def _gather(
    conn: Connection, asked: Asked, looked: Looked, meaning: Meaning, fetch: int, standing: str
) -> tuple[list[Candidate], bool]:
    """The candidates of both channels, and whether a channel had more than was fetched."""
    scope_ids, tenant_id = looked.visible.scope_ids, looked.tenant_id
    params = memories.visible_params(looked.visible, looked.moment) | filters.to_sql(asked.filter)[1]
    near: list[semantic.Hit] = []
    words: list[keyword.Hit] = []
    if meaning.vector is not None and meaning.model_id is not None:
        near = semantic.find(
            conn, tenant_id, scope_ids, meaning.model_id, meaning.vector,
            limit=fetch, graphed=looked.graphed, among=standing.replace("ALIAS", "e"), params=params,
        )  # fmt: skip
    if asked.mode != "semantic":
        # Only where nothing narrows the search: `also` is asked about without its condition.
        also = [*(hit.memory_id for hit in near), *(() if standing else _pinned(conn, looked))]
        words = keyword.find(
            conn, tenant_id, scope_ids, looked.sought,
            limit=fetch, also=also, among=standing.replace("ALIAS", "c"), params=params,
        )  # fmt: skip
    cosines = {hit.memory_id: hit.cosine for hit in near}
    if meaning.vector is not None and meaning.model_id is not None:
        lone = [hit.memory_id for hit in words if hit.memory_id not in cosines]
        cosines |= semantic.measure(conn, tenant_id, scope_ids, meaning.model_id, meaning.vector, lone)
    more = len(near) >= fetch or sum(hit.place <= fetch for hit in words) >= fetch
    return _load(conn, asked, looked, near, words, cosines), more


def _pinned(conn: Connection, looked: Looked) -> list[str]:
    """The pinned memories, few as they are, are asked about in every search, however many rows hold its words."""
    params = memories.visible_params(looked.visible)
    return [row.memory_id for row in fetch_all(conn, "list_pinned", limit=PINNED, **params)]


def _load(
    conn: Connection,
    asked: Asked,
    looked: Looked,
    near: Sequence[semantic.Hit],
    words: Sequence[keyword.Hit],
    cosines: Mapping[str, float],
) -> list[Candidate]:
    by_words = {hit.memory_id: hit for hit in words}
    found = list(dict.fromkeys([hit.memory_id for hit in near] + [hit.memory_id for hit in words]))
    if asked.words.without and near:
        # The words left out bind the vector's rows too; the keyword channel says which rows it has seen.
        found = _without(conn, looked, found)
    return [
        Candidate(
            memory,
            cosines.get(memory.memory_id),
            by_words[memory.memory_id].coverage if memory.memory_id in by_words else 0.0,
            by_words[memory.memory_id].matched if memory.memory_id in by_words else (),
        )
        for memory in memories.load(conn, looked.visible, found, looked.moment)
    ]


def _without(conn: Connection, looked: Looked, memory_ids: Sequence[str]) -> list[str]:
    rows = fetch_all(
        conn,
        "list_without_words",
        tenant_id=looked.tenant_id,
        scope_ids=list(looked.visible.scope_ids),
        memory_ids=list(memory_ids),
        without=keyword.any_scoped(looked.sought.without, looked.visible.scope_ids),
    )
    left = {row.memory_id for row in rows}
    return [memory_id for memory_id in memory_ids if memory_id in left]


def _standing(asked: Asked, moment: Moment, only: str | None = None) -> str:
    """The condition that cuts candidates to the rows a read may return; `ALIAS` is the channel's."""
    now = "clock_timestamp()" if moment.is_now else "coalesce(%(as_of)s::timestamptz, %(known_at)s::timestamptz)"
    if only is not None:
        standing = only
    elif asked.filter is not None and asked.filter.names_statuses():
        standing = "TRUE"
    elif asked.include_superseded:
        standing = (
            "m.status IN ('active', 'superseded') AND m.consolidated_into IS NULL"
            f" AND (m.expires_at IS NULL OR m.expires_at > {now})"
        )
    elif moment.is_now:
        standing = memories.current(moment)
    else:
        # What was forgotten since is still shown where it was true then, and says so.
        standing = f"({memories.current(moment)} OR m.status_reason = 'since_forgotten')"
    wanted = filters.to_sql(asked.filter)[0]
    chosen = (
        f"SELECT m.memory_id FROM {memories.source(moment)}"  # noqa: S608 - constants only
        f" WHERE {memories.VISIBLE} AND {standing} AND ({wanted})"
    )
    if moment.is_now:
        return f" AND ALIAS.memory_id IN ({chosen})"
    # An array is made once; a subquery may be run again for every row, and the past is put together by a function.
    return f" AND ALIAS.memory_id = ANY(ARRAY({chosen}))"


def memory_is_current(memory: Memory) -> bool:
    """Whether a memory, as loaded now, is current. Pure."""
    return memory.is_current and memory.consolidated_into is None


def _tail(conn: Connection, asked: Asked, looked: Looked) -> list[tail.Hit]:
    if not asked.tail or not looked.moment.is_now:
        return []
    derivers = [(module.NAME, module.VERSION) for module in derivation.DERIVERS]
    scope_ids = looked.visible.scope_ids
    return tail.find(conn, looked.tenant_id, scope_ids, looked.sought, derivers, config=looked.config)


def _watermark(conn: Connection, scope_ids: Sequence[int]) -> Watermark:
    """How far the slowest deriver has come."""
    marks = [streams.watermark(conn, scope_ids, one.NAME, one.VERSION) for one in derivation.DERIVERS]
    return max(marks, key=lambda mark: mark.behind, default=Watermark())


def _distilled(
    conn: Connection, looked: Looked, candidates: Sequence[Candidate]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """The distilled memories, with their statuses, of the events that evidence among the candidates rests on."""
    events = sorted({one.memory.event_id for one in candidates if one.memory.category in EVIDENCE})
    if not events:
        return {}
    params = memories.visible_params(looked.visible, looked.moment)
    name = "list_distilled" if looked.moment.is_now else "list_distilled_at"
    found: dict[str, list[tuple[str, str]]] = {}
    for row in fetch_all(conn, name, event_ids=events, **params):
        found.setdefault(row.event_id, []).append((row.memory_id, row.status))
    return {event_id: tuple(facts) for event_id, facts in found.items()}


def _shadowed(conn: Connection, looked: Looked, candidates: Sequence[Candidate]) -> frozenset[str]:
    """The candidates whose conflict key a nearer scope of the same agent holds, with no less trust."""
    visible = looked.visible
    keyed = [one.memory for one in candidates if one.memory.conflict_key is not None and one.memory.status == "active"]
    if len(visible.scope_ids) < 2 or not keyed or not looked.moment.is_now:
        return frozenset()
    keys = sorted({str(memory.conflict_key) for memory in keyed})
    holders = fetch_all(conn, "list_key_holders", conflict_keys=keys, **memories.visible_params(visible))
    near = {scope: visible.nearness[scope_id] for scope_id, scope in visible.scopes.items()}

    def hidden(memory: Memory) -> bool:
        return any(
            row.conflict_key == memory.conflict_key
            and visible.nearness[int(row.scope_id)] < near[memory.scope]
            and visible.scopes[int(row.scope_id)].agent_id == memory.scope.agent_id
            and row.trust <= TRUSTS.index(memory.trust)
            for row in holders
        )

    return frozenset(memory.memory_id for memory in keyed if hidden(memory))


# 6: ranking ----------------------------------------------------------------------------------------------------------


def rank(
    asked: Asked,
    looked: Looked,
    found: Found,
    tail_cosines: Sequence[float | None] = (),
    *,
    now: datetime | None = None,
) -> SearchResults:
    """Score what was found, best first, with every reason; cut to the limit. Pure."""
    clock = now or looked.now
    candidates = [*found.candidates, *_tail_candidates(asked, looked, found, tail_cosines)]
    best = max((one.coverage for one in candidates), default=0.0)
    scored = [
        (one, _score(asked, looked, one, best, clock)) for one in candidates if not _is_hidden(asked, found, one.memory)
    ]
    kept = [(one, scores) for one, scores in scored if _is_relevant(asked, one, scores)]
    kept.sort(key=lambda pair: (-pair[1].score, -pair[0].memory.recorded_at.timestamp(), pair[0].memory.memory_id))
    if asked.current_only:
        kept = _one_a_lineage(kept)
    chosen, evidence = _join_evidence(kept, found.distilled, asked.limit)
    if asked.keep_pinned:
        chosen += [pair for pair in kept if pair[0].memory.is_critical and pair not in chosen]
    results = tuple(
        _result(asked, found, one, scores, place, evidence) for place, (one, scores) in enumerate(chosen, 1)
    )
    profile = asked.profile if isinstance(asked.profile, str) else asked.profile.base
    weak = not chosen or max(scores.relevance for _, scores in chosen) < WEAK
    return SearchResults(
        results=results,
        profile=ranking.DEFAULT_PROFILE if profile == "default" else profile,
        watermark=found.watermark,
        degraded=found.degraded,
        weak=weak,
    )


def _score(asked: Asked, looked: Looked, one: Candidate, best: float, clock: datetime) -> Scored:
    memory = one.memory
    last = memory.activity.last_accessed_at or memory.recorded_at
    signals = Signals(
        cosine=one.cosine,
        coverage=one.coverage,
        semantic_rank=one.semantic_rank,
        keyword_rank=one.keyword_rank,
        keyword_relevance=one.coverage / best if best > 0 else 0.0,
        actor=_speaks(asked, looked, memory),
        memory_type=memory.memory_type,
        layer=memory.layer,
        critical=memory.is_critical,
        importance=memory.importance,
        confidence=memory.confidence,
        age_days=max(0.0, (clock - memory.recorded_at).total_seconds() / 86_400),
        idle_hours=max(0.0, (clock - last).total_seconds() / 3_600),
        accesses=memory.activity.access_count,
        repetitions=memory.activity.repetition_count,
        nearness=_nearness(looked, memory),
        mode=asked.mode,
    )
    if _profile(asked) == "lifecycle":
        signals = ranking.with_dual_hit(signals)
    return ranking.score(signals, asked.profile)


def _profile(asked: Asked) -> str:
    return ranking.weights_of(asked.profile)[0]


def _nearness(looked: Looked, memory: Memory) -> Any:
    if memory.scope.namespace == looked.visible.scope.namespace:
        return "own"
    return "default" if memory.scope.namespace == "default" else "other"


def _speaks(asked: Asked, looked: Looked, memory: Memory) -> bool:
    """Whether a memory is of the actor the question names, or of the user where the question is about its asker."""
    if looked.named:
        return memory.actor in looked.named
    return memory.trust in ("operator", "user") and semantic.is_first_person(asked.query)


def _is_relevant(asked: Asked, one: Candidate, scores: Scored) -> bool:
    if scores.score < asked.min_score or not scores.relevant:
        return False
    if one.coverage > 0:
        return asked.mode != "semantic" or one.cosine is not None
    if one.cosine is None:
        return False
    return asked.mode == "semantic" or one.cosine > ranking.SEMANTIC_FLOOR


def _is_hidden(asked: Asked, found: Found, memory: Memory) -> bool:
    """Evidence all of whose facts were superseded or forgotten is not shown where only the current is asked for."""
    return asked.current_only and _evidence_state(found, memory) == "gone"


def _evidence_state(found: Found, memory: Memory) -> str:
    facts = found.distilled.get(memory.event_id, ()) if memory.category in EVIDENCE else ()
    gone = [status in GONE for _, status in facts]
    return "gone" if gone and all(gone) else "partly" if any(gone) else "whole"


def _one_a_lineage(kept: Sequence[tuple[Candidate, Scored]]) -> list[tuple[Candidate, Scored]]:
    seen: set[str] = set()
    chosen = []
    for one, scores in kept:
        # A moot negation stands beside its lineage: it takes nobody's place, and nobody takes its.
        key = one.memory.memory_id if "moot" in one.memory.labels else one.memory.lineage_id
        if key not in seen:
            seen.add(key)
            chosen.append((one, scores))
    return chosen


def _join_evidence(
    kept: Sequence[tuple[Candidate, Scored]], distilled: Mapping[str, tuple[tuple[str, str], ...]], limit: int
) -> tuple[list[tuple[Candidate, Scored]], dict[str, str]]:
    """The first `limit` rows, where evidence joins a fact made of it that is among them instead of taking a place.

    Also which evidence joined which fact.
    """
    joined: dict[str, str] = {}
    while True:
        chosen = [pair for pair in kept if pair[0].memory.memory_id not in joined][:limit]
        there = {one.memory.memory_id for one, _ in chosen}
        more = {}
        for one, _ in chosen:
            if one.memory.category in EVIDENCE:
                facts = [fact for fact, _ in distilled.get(one.memory.event_id, ()) if fact in there]
                if facts:
                    more[one.memory.memory_id] = facts[0]
        if not more:
            return chosen, joined
        joined |= more


def _result(
    asked: Asked, found: Found, one: Candidate, scores: Scored, place: int, evidence: Mapping[str, str]
) -> SearchResult:
    memory = one.memory
    channels: dict[str, ChannelHit] = {}
    if one.semantic_rank is not None and one.cosine is not None:
        channels[semantic.NAME] = ChannelHit(one.semantic_rank, one.cosine)
    if one.keyword_rank is not None:
        channels[keyword.NAME] = ChannelHit(one.keyword_rank, one.coverage)
    if not one.derived:
        channels = {tail.NAME: ChannelHit(one.keyword_rank or 1, one.coverage)}
    return SearchResult(
        memory=memory,
        score=scores.score,
        rank=place,
        terms=scores.terms,
        channels=channels,
        matched=one.matched,
        labels=_labels(asked, found, memory, evidence) + (("by an earlier value",) if one.inherited else ()),
        derived=one.derived,
    )


def _labels(asked: Asked, found: Found, memory: Memory, evidence: Mapping[str, str]) -> tuple[str, ...]:
    labels = list(memory.labels)
    state = _evidence_state(found, memory)
    if not asked.current_only:
        labels.append("SUPERSEDED" if state == "gone" else memory.status.upper())
    if state == "partly":
        labels.append("partly superseded")
    if memory.memory_id in found.shadowed:
        labels.append("shadowed")
    labels.extend(f"evidence {key}" for key, fact in evidence.items() if fact == memory.memory_id)
    return tuple(labels)


def _tail_candidates(asked: Asked, looked: Looked, found: Found, cosines: Sequence[float | None]) -> list[Candidate]:
    padded = [*cosines, *[None] * (len(found.tail) - len(cosines))]
    made = []
    for hit, cosine in zip(found.tail, padded, strict=True):
        memory = _as_memory(hit, looked)
        if asked.filter is None or filters.matches(asked.filter, memory):
            made.append((hit, cosine, memory))
    ranked = sorted(made, key=lambda item: (-item[0].coverage, -(item[1] or 0.0), item[2].memory_id))
    return [
        Candidate(memory, cosine, hit.coverage, hit.matched, None, place, derived=False)
        for place, (hit, cosine, memory) in enumerate(ranked, 1)
    ]


def _as_memory(hit: tail.Hit, looked: Looked) -> Memory:
    """An event that no memory rests on yet, in the form of one; its id is the event's."""
    event: Event = hit.event
    return Memory(
        memory_id=event.event_id, scope=looked.visible.scopes[hit.scope_id], fact=hit.fact, main_content=None,
        memory_type="episodic", category="verbatim", tags=(), importance=0.5, confidence=0.5, trust=event.trust,
        layer="working", status="active", status_reason=None, critical_slot=None, conflict_key=None, topic_key=None,
        subject=None, attribute=None, value=None, lineage_id=event.event_id, revision=1, superseded_by=None,
        superseded_at=None, consolidated_into=None, valid_from=event.occurred_at, valid_from_stated=False,
        valid_to=None, recorded_at=event.recorded_at, expires_at=None, surprise=None, source=None,
        session_id=event.session_id, task_run_id=event.task_run_id, metadata={}, private=False, deriver=None,
        deriver_version=None, policy="", rule=None, embedded=False, event_id=event.event_id,
        actor=event.actor or event.role, labels=("not derived yet",),
    )  # fmt: skip


def accessed(results: SearchResults) -> tuple[str, ...]:
    """The memories of a result that count as read: relevant ones, derived already. Pure."""
    return tuple(one.memory.memory_id for one in results if one.derived and _relevance(one) > TOUCHED)


def track(conn: Connection, tenant_id: str, memory_ids: Sequence[str]) -> None:
    """Count that memories were returned; best effort, in a transaction of its own."""
    if memory_ids:
        execute(conn, "count_accesses", tenant_id=tenant_id, memory_ids=sorted(memory_ids))


def _relevance(one: SearchResult) -> float:
    if "relevance" in one.terms:
        return one.terms["relevance"].value
    parts = [
        term.contribution for name, term in one.terms.items() if name in ("coverage", "cosine", "actor", "keyword")
    ]
    return sum(parts)


# Recall --------------------------------------------------------------------------------------------------------------


def roads(reading: Reading) -> tuple[Intent, ...]:
    """The roads to try for a question, in order, until one finds something. Pure."""
    return ROADS.get(reading.intent, ROADS["current"])


def on_road(asked: Asked, road: Intent, reading: Reading) -> Asked:
    """The search of a road: by the question's topic, with what was superseded where the past is asked for. Pure."""
    past = road in ("historical", "lineage")
    topic = reading.topic or asked.query
    return replace(asked, query=topic, words=keyword.parse(topic), include_superseded=past or asked.include_superseded)


def empty_answer(
    question: str,
    reading: Reading,
    *,
    tried: Sequence[Intent] = (),
    results: SearchResults | None = None,
) -> RecallAnswer:
    """The answer that nothing is known, or that nothing was asked. Pure."""
    seen = results or SearchResults(())
    trace = RecallTrace(
        question,
        intent=reading.intent,
        roads=tuple(tried),
        search_ids=tuple(one.memory.memory_id for one in seen),
        degraded=seen.degraded,
    )
    return RecallAnswer(
        answer_text="", intent=reading.intent, intent_confidence=reading.confidence, found=False, current=None,
        previous=(), when_changed=None, sources=(), conflict_note=None, evidence=seen.results, events=(), window=None,
        watermark=seen.watermark, degraded=seen.degraded, trace=trace,
    )  # fmt: skip


def answer(
    conn: Connection,
    question: str,
    looked: Looked,
    reading: Reading,
    road: Intent,
    results: SearchResults,
    *,
    tried: Sequence[Intent] = (),
) -> RecallAnswer:
    """The answer a road gives from its search; `found` is False where the search was too weak to answer."""
    empty = empty_answer(question, reading, tried=(*tried, road), results=results)
    best = best_hit(results, road, question)
    if best is None:
        return empty
    rivals = _rivals(conn, looked, best.memory) if road == "current" else []
    if rivals and rivals[0] != best.memory:
        best = replace(best, memory=rivals[0])
    line = _lineage(conn, looked, best.memory)
    if line is None:
        line = Lineage(best.memory.lineage_id, None, best.memory, (best.memory,))
    previous = tuple(one for one in _by_time(line.revisions) if one != line.head and one.status == "superseded")
    texts = {"current": _current_text, "historical": _historical_text, "lineage": _lineage_text}
    answer_text = texts[road](line, previous)
    if not answer_text:
        return empty
    if road == "historical" and reading.intent == "current":
        answer_text = f"{FORMERLY}{answer_text}"  # nothing of it is current: an old value must not pass for one
    head = line.head
    shown = head if road != "historical" or not previous else previous[0]
    return replace(
        empty,
        answer_text=answer_text,
        found=True,
        current=head,
        previous=previous,
        when_changed=head.valid_from if head is not None and previous else None,
        sources=(shown or best.memory).citations,
        conflict_note=_conflict_note(line, results, best, rivals),
        trace=replace(
            empty.trace, kept_ids=(best.memory.memory_id,), superseded_ids=tuple(p.memory_id for p in previous)
        ),
    )


def best_hit(results: SearchResults, road: Intent, question: str = "") -> SearchResult | None:
    """The hit that answers: the best, or on roads to the past the best of a fact that has changed. Pure."""
    if not len(results) or results.weak:
        return None
    asked = set(text.words(question))
    telling = [one for one in results if not _asks(one.memory) and not _is_about_another(one.memory, asked)]
    if not telling:
        return None
    strong = [one for one in telling if _relevance(one) >= max(WEAK, 0.5 * _relevance(telling[0]))]
    if road in ("historical", "lineage"):
        changed = [one for one in strong if one.memory.status == "superseded" or one.memory.revision > 1]
        strong = changed or strong
    shown = [one for one in strong if "shadowed" not in one.labels]
    # Near the top what was distilled and pinned tells more than the words someone happened to use.
    near = [one for one in shown if _relevance(one) >= NEAR_TOP * _relevance(shown[0])]
    return min(near, key=_tier, default=None)


def _is_about_another(memory: Memory, asked: Set[str]) -> bool:
    """Whether a memory tells of someone the question does not name: "User's sister" for "Where do I live?". Pure."""
    owner = memory.scope.user_id if isinstance(memory.scope.user_id, str) else None
    if memory.subject is None or is_self(memory.subject, owner):
        return False
    named = [word for word in text.words(memory.subject) if word not in SELF_WORDS]
    return bool(named) and asked.isdisjoint(named)


def _rivals(conn: Connection, looked: Looked, memory: Memory) -> list[Memory]:
    """A memory and those that contradict it without a key to order them, the newest that is trusted as much first."""
    rows = fetch_all(
        conn,
        "list_contradictions",
        memory_id=memory.memory_id,
        **memories.visible_params(looked.visible, looked.moment),
    )
    others = memories.load(conn, looked.visible, [row.memory_id for row in rows], looked.moment)
    current = [one for one in others if one.is_current]
    if not current:
        return []
    best = min(trust_rank(one.trust) for one in (memory, *current))
    return sorted(
        (memory, *current),
        key=lambda one: (trust_rank(one.trust) == best, one.valid_from, one.recorded_at),
        reverse=True,
    )


def _tier(one: SearchResult) -> int:
    """How well a memory is made to answer: pinned facts, then distilled ones, then somebody's words. Pure."""
    if one.memory.category in EVIDENCE:
        return 2
    return 0 if one.memory.is_critical else 1


def _asks(memory: Memory) -> bool:
    """Whether a memory is a question someone asked: it is no answer to another. Pure."""
    return memory.category in EVIDENCE and memory.fact.rstrip().endswith(("?", "？"))


def _lineage(conn: Connection, looked: Looked, memory: Memory) -> Lineage | None:
    try:
        return memories.lineage(conn, looked.visible, memory.lineage_id, looked.moment)
    except NotFound:
        return None  # an event that is not derived yet


def _by_time(revisions: Iterable[Memory]) -> list[Memory]:
    return sorted(revisions, key=lambda one: (one.status == "active", one.valid_from, one.revision), reverse=True)


def _current_text(line: Lineage, _previous: Sequence[Memory]) -> str:
    return line.head.fact if line.head is not None else ""


def _historical_text(line: Lineage, previous: Sequence[Memory]) -> str:
    if previous:
        return previous[0].fact
    ended = [one for one in line.revisions if one.status == "active"]
    return ended[0].fact if line.head is None and ended else ""


def _lineage_text(line: Lineage, _previous: Sequence[Memory]) -> str:
    chain = [one for one in _by_time(line.revisions) if one.status in ("active", "superseded")][::-1]
    return "\n".join(f"{one.valid_from:%Y-%m-%d}: {one.fact}" for one in chain)


def _conflict_note(line: Lineage, results: SearchResults, best: SearchResult, rivals: Sequence[Memory]) -> str | None:
    """What speaks against the answer: later statements of less trust, or a trusted one farther away."""
    notes = [f"{one.trust} said later, with less trust: {one.fact}" for one in _by_time(line.contested)]
    if best.memory.conflict_key is not None:
        notes += [
            f"{other.memory.trust} says for {other.memory.scope.namespace}: {other.memory.fact}"
            for other in results
            if other.memory.conflict_key == best.memory.conflict_key
            and other.memory.scope != best.memory.scope
            and other.memory.status == "active"
            and "shadowed" not in other.labels
        ]
    notes += [f"said before, and not taken back: {one.fact}" for one in rivals[1:]]
    return "; ".join(notes) or None
