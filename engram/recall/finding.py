"""Finding: one statement asks every channel, measures what each found by all the others, and brings it whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from engram import filters, memories, ranking, rerank
from engram.channels import SEARCHED, Part, graph, keyword, semantic, tail, temporal
from engram.database import MADE, Connection, fetch_kept, fetch_named, send_ahead, statement
from engram.english.worth import is_statement
from engram.errors import EngramError
from engram.memories import Moment
from engram.ranking import Brief, Used
from engram.recall import narrow, nearer, past, turns
from engram.recall.question import Asked, Looked, Meaning, names_in
from engram.recall.turns import Place
from engram.regex import regex
from engram.scope import Scope
from engram.values import TRUSTS, Memory, Watermark, Window, kind_of
from engram.wire import Kept

__all__ = ["Candidate", "Found", "allowed", "find", "is_of_a_channel"]

EVIDENCE: Final = ("verbatim", "source_chunk")
SUPERSEDED: Final = "m.status = 'superseded' AND m.consolidated_into IS NULL"
# What is so holds from its beginning on; what happened, happened then.
WITHIN: Final = """(m.valid_from < %(within_end)s::timestamptz
  AND (m.valid_from >= %(within_start)s::timestamptz OR m.valid_to > %(within_start)s::timestamptz
       OR (m.valid_to IS NULL AND m.memory_type NOT IN ('episodic', 'tool_result'))))"""
EXCLUDED: Final = (
    "coalesce((SELECT l.lexemes @@ %(without)s::tsquery FROM engram.memory_lexemes l"
    " WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = m.memory_id), false)"
)
ELIGIBLE: Final = "eligible AS MATERIALIZED (SELECT m.memory_id FROM /*memories*/ AND /*leading*/),\n"
# A row by its key, one by one: what is IS TRUE of it chooses no index.
SEEN: Final = "(m.scope_id = ANY(%(scope_ids)s) AND (NOT m.private OR m.scope_id = %(own)s)) IS TRUE"
ROW: Final = f"""CROSS JOIN LATERAL (
         SELECT m.* FROM engram.agent_memory m
          WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = /*of*/ AND {SEEN} OFFSET 0) m"""  # noqa: S608 - constants
ROWS: Final = ROW.replace("m.memory_id", "m.lineage_id")
ROW_OF: Final = regex(r"/\*row of ([\w.]+)\*/")
ROWS_OF: Final = regex(r"/\*rows of ([\w.]+)\*/")
HEIR: Final = 0.9  # of an earlier value's nearness that the current one takes over
OVERFETCH: Final = 3
LEAST_FETCHED: Final = 30
PINNED: Final = 50
CANCELLED: Final = "57014"
CROWDED: Final = "53300"  # no connection was left
MOOT: Final = ("moot",)
UNUSED: Final = Used()
# The channels that a row tells as a number: 1, 2, 4 and 8 together.
NUMBERED: Final = ((1, graph.NAME), (2, keyword.NAME), (4, semantic.NAME), (8, temporal.NAME))
FOUND_BY: Final = tuple(frozenset(name for one, name in NUMBERED if one & of) for of in range(16))
TIMEOUTS: Final[Mapping[str, float]] = {module.NAME: module.TIMEOUT for module in (semantic, keyword, temporal, graph)}
# What a channel that is not asked leaves out of the call.
UNASKED: Final = (
    "model_id", "vector", "window_start", "window_end", "window_centre", "window_half", "term_scopes", "labels",
    "terms", "idfs", "phrases", "sought", "unknown", "total", "most", "seeds", "seed_floor", "breadth", "considered",
    "named", "names", "structural", "unfollowed", "loose_cosine",
)  # fmt: skip
REFUSALS: Final = ("XX", "22", "42", "54", "53", "58")  # classes of failures that may be of one channel alone


def answers_as_words(memory: Memory) -> bool:
    """Whether a memory answers as somebody's words do: those, and statements of which no rule knows whose they are."""
    return memory.category in EVIDENCE or is_statement(memory.category, memory.deriver)


class Candidate(NamedTuple):
    """A memory some channel found, with each channel's own value for it and its rank by that value."""

    memory: Memory | Brief
    cosine: float | None = None
    coverage: float = 0.0
    matched: tuple[str, ...] = ()
    semantic_rank: int | None = None
    keyword_rank: int | None = None
    graph: float | None = None  # closeness to the best hits, or to who is named
    graph_rank: int | None = None
    seed_id: str | None = None  # the hit the graph came from
    temporal: float | None = None  # nearness to the window's centre
    temporal_rank: int | None = None
    by: frozenset[str] = frozenset()  # the channels that found it: of the others its values were measured afterwards
    stands: bool = True  # it may be returned: an earlier value stands where only the past is left of it
    derived: bool = True
    inherited: bool = False
    epochs: int = 0  # of its scope, since it was written
    place: Place | None = None  # of its event, where it was said in a session

    @property
    def whole(self) -> Memory:
        """The memory of a candidate that was brought whole, as all are but those of a light search."""
        assert isinstance(self.memory, Memory), "a light search brings no whole memories"
        return self.memory


@dataclass(frozen=True, slots=True)
class Found:
    """Everything the channels found, and what ranking must know besides."""

    candidates: tuple[Candidate, ...] = ()
    tail: tuple[tuple[tail.Hit, float | None], ...] = ()  # with their cosines
    watermark: Watermark = field(default_factory=Watermark)
    distilled: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    shadowed: frozenset[str] = frozenset()
    channels: Mapping[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    model_in_use: int | None = None  # at the moment of the statement; None where it brought nothing


def allowed(asked: Asked, meaning: Meaning) -> tuple[str, ...]:
    """The channels a search may ask in the database, by its mode and by what there is to ask with. Pure."""
    wanted = {
        semantic.NAME: asked.mode != "keyword" and meaning.vector is not None and meaning.model_id is not None,
        keyword.NAME: asked.mode != "semantic",
        temporal.NAME: asked.mode == "hybrid" and asked.window is not None,
        graph.NAME: asked.mode == "hybrid" and asked.depth > 0,
    }
    return tuple(name for name in SEARCHED if wanted[name])


def is_of_a_channel(error: EngramError) -> bool:
    """Whether a search may have failed by one of its channels alone: the server is there, and refused. Pure."""
    state = str(error.facts.get("sqlstate"))
    return state == CANCELLED or (state[:2] in REFUSALS and state != CROWDED)


def find(
    conn: Connection, asked: Asked, looked: Looked, meaning: Meaning, channels: Collection[str] | None = None
) -> Found:
    """Gather the candidates of every channel, or of some, cut to what the read may see."""
    return find_all(conn, [(asked, looked, meaning)], channels)[0]


def find_all(
    conn: Connection, searches: Sequence[tuple[Asked, Looked, Meaning]], channels: Collection[str] | None = None,
    *, light: bool = False,
) -> list[Found]:  # fmt: skip
    """The candidates of several searches, each as `find` gathers them; one statement for all.

    With `light` the candidates of searches of now are briefs: who returns some of them loads those. A request reads
    the texts of all of them, and so does a profile that compares words.
    """
    few = light and all(_may_be_brief(asked, looked) for asked, looked, _ in searches)  # in one statement: of one kind
    made = []
    for asked, looked, meaning in searches:
        given = allowed(asked, meaning) if channels is None else channels
        made.append(_Search(asked, looked, meaning, tuple(name for name in SEARCHED if name in given), few))
    asking = [one for one in made if one.may_find]
    tails = [  # in one message with what the channels are asked
        tail.score(conn, one.looked.tail, one.looked.sought, config=one.looked.config) for one in asking
    ]
    found = iter(zip(_rows(conn, asking), tails, strict=True))
    return [_gathered(conn, one, *next(found)) if one.may_find else one.nothing for one in made]


def _may_be_brief(asked: Asked, looked: Looked) -> bool:
    """Whether ranking needs no more of what a search finds than briefs tell. Pure.

    What has ended or was forgotten says so in its labels, which a brief has not: it is found where states are named.
    """
    if asked.request or ranking.compares_words(asked.profile):
        return False
    return looked.moment.is_now and (asked.filter is None or not asked.filter.names_statuses())


@dataclass(frozen=True, slots=True)
class _Search:
    asked: Asked
    looked: Looked
    meaning: Meaning
    channels: tuple[str, ...]
    light: bool = False  # its rows are briefs of memories

    @property
    def may_find(self) -> bool:
        return bool(self.looked.visible.scope_ids) and self.asked.limit > 0

    @property
    def nothing(self) -> Found:
        """What is found where there is nothing to look in, or nothing is asked for."""
        return Found(channels=dict.fromkeys(self.channels, 0), degraded=self.meaning.degraded)


def _gathered(conn: Connection, search: _Search, rows: Sequence[Any], scored: Callable[[], list[tail.Hit]]) -> Found:
    asked, looked, meaning = search.asked, search.looked, search.meaning
    candidates = _once(_candidates(asked, looked, rows, light=search.light))
    derived = {one.memory.event_id for one in candidates}
    near = [*meaning.tail, *[None] * (len(looked.tail) - len(meaning.tail))]
    waiting = zip(scored(), near, strict=True)
    counts = {name: sum([name in one.by for one in candidates if one.stands]) for name in search.channels}
    return Found(
        candidates=tuple(candidates),
        tail=tuple(
            (hit, cosine)
            for hit, cosine in waiting
            if hit.event.event_id not in derived and _is_near(asked, hit, cosine)
        ),
        watermark=looked.watermark,
        distilled=_distilled(rows),
        shadowed=nearer.shadowed(conn, looked.visible, [one.memory for one in candidates], looked.moment),
        channels=counts | ({tail.NAME: len(looked.tail)} if asked.tail and looked.moment.is_now else {}),
        degraded=meaning.degraded,
        model_in_use=rows[0].model_in_use if rows else None,
    )


def _is_near(asked: Asked, hit: tail.Hit, cosine: float | None) -> bool:
    """Whether an event that is not derived yet has to do with the question: of many that wait most have not. Pure.

    What has not is no result. As a question it might lend its answer a little, were that one near: it does not.
    """
    if hit.coverage > 0:
        return True
    return cosine is not None and (asked.mode == "semantic" or cosine > ranking.SEMANTIC_FLOOR)


# The statement -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Conditions on rows, over the alias `m`."""

    standing: str  # it may be returned
    leading: str  # or it leads to an heir that may be
    heir: str
    seed: str  # it may lead to its neighbours
    narrow: bool  # whether much may not fit


def _conditions(asked: Asked, moment: Moment) -> _Conditions:
    wanted = f"({filters.to_sql(asked.filter)[0]})" + (f" AND {WITHIN}" if asked.within is not None else "")
    standing = f"({_standing(asked, moment)}) AND {wanted}"
    head = f"{memories.current(moment)} AND NOT m.moot"
    if asked.filter is not None and asked.filter.names_statuses():
        heir = f"{head} AND {wanted}" if asked.include_superseded else "false"
        return _Conditions(standing, standing, heir, standing, narrow=True)
    leading = f"(({standing}) OR ({SUPERSEDED} AND {wanted}))"
    narrowed = asked.filter is not None or asked.within is not None
    return _Conditions(standing, leading, f"{head} AND {wanted}", head, narrowed)


def _standing(asked: Asked, moment: Moment) -> str:
    """The condition on `m` that makes a row one that a search may return."""
    now = "clock_timestamp()" if moment.is_now else memories.AT
    if asked.filter is not None and asked.filter.names_statuses():
        return "TRUE"
    if asked.include_superseded:
        own = "" if asked.include_consolidated else " AND m.consolidated_into IS NULL"
        return f"m.status IN ('active', 'superseded'){own} AND (m.expires_at IS NULL OR m.expires_at > {now})"
    # What was forgotten since is still shown where it was true then, and says so.
    gone = "" if moment.is_now else " OR m.status_reason = 'since_forgotten'"
    return memories.current(moment, consolidated=asked.include_consolidated) + gone


def _rows(conn: Connection, searches: Sequence[_Search]) -> list[list[Any]]:
    """The rows of each search."""
    if not searches:
        return []
    # A question that no channel can be asked about still takes a statement: of what is pinned, and what was named.
    # Together they may take no longer than the slowest of them may alone: then each is asked apart.
    longest = max((TIMEOUTS[name] for one in searches for name in one.channels), default=keyword.TIMEOUT)
    seconds = len(searches) * longest
    breadth = max(semantic.breadth(one.looked.size, fetched(one.asked)) for one in searches)
    send_ahead(conn, "set_search", breadth=str(breadth), milliseconds=max(1, int(1000 * seconds)))
    asked = [_asked(one) for one in searches]
    found = _sent(conn, searches, asked)
    return [
        rows if one.looked.moment.is_now else _then(conn, one, rows)
        for one, rows in zip(searches, found, strict=True)
    ]  # fmt: skip


def _sent(
    conn: Connection, searches: Sequence[_Search], asked: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[list[Any]]:
    # What is composed would be planned together every time, and is kept apart.
    if len(asked) == 1 or not all(isinstance(sql, Kept) for sql, _ in asked):
        return [_one(conn, of, *one) for of, one in zip(searches, asked, strict=True)]
    found: list[list[Any]] = [[] for _ in asked]
    for row in fetch_named(conn, *together(asked), binary=True):
        found[row.search].append(row)
    return found


def _one(conn: Connection, search: _Search, sql: str, params: Mapping[str, Any]) -> list[Any]:
    # What is composed asks functions, and for each memory by its key: a plan that knows no value is as good, but for
    # one that was made before there was a memory. Times and numbers come as the server keeps them: as text they take
    # both sides twice as long.
    composed = not isinstance(sql, Kept) and search.looked.size > 0
    return (fetch_kept if composed else fetch_named)(conn, sql, params, binary=True)


def _then(conn: Connection, search: _Search, rows: Sequence[Any]) -> list[Any]:
    """The rows of a search of the past: where what was reached for is not enough, of what lies farther."""
    enough, found = past.split(rows)
    for reach in past.reaches(fetched(search.asked))[1:]:
        if enough:
            break
        sql, params = composed(search.asked, search.looked, search.meaning, search.channels, reach)
        enough, found = past.split(_one(conn, search, sql, params))
    return found


def together(asked: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """One statement of several that have the same columns, each row with its statement's place as `search`. Pure."""
    parts: list[str] = []
    params: dict[str, Any] = {}
    for place, (sql, given) in enumerate(asked):
        named = re.sub(r"%\((\w+)\)s", rf"%(s{place}_\1)s", sql)
        parts.append(f"SELECT {place} AS search, s{place}.* FROM ({named}) s{place}")  # noqa: S608 - constants
        params |= {f"s{place}_{name}": value for name, value in given.items()}
    return "\nUNION ALL\n".join(parts), params


def fetched(asked: Asked) -> int:
    """How many memories a channel brings to a search: as many as a reranker is shown, where there is one. Pure."""
    judged = rerank.considered(asked.limit) if asked.rerank else 0
    return asked.fetched or max(OVERFETCH * asked.limit, LEAST_FETCHED, judged)


def _asked(search: _Search) -> tuple[str, Mapping[str, Any]]:
    given = search.asked, search.looked, search.meaning, search.channels
    if not is_ordinary(search.asked, search.looked):
        return composed(*given, light=search.light)
    return called(*given) if search.light else called_whole(*given)


def is_ordinary(asked: Asked, looked: Looked) -> bool:
    """Whether a search is one whose plan the server keeps: most are. Pure."""
    bounded = asked.filter is not None or asked.within is not None or looked.sought.without
    return looked.moment.is_now and not bounded and asked.depth <= 1


def called(asked: Asked, looked: Looked, meaning: Meaning, channels: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The call that asks these channels for the briefs of an ordinary search, and its parameters. Pure."""
    params: dict[str, Any] = memories.visible_params(looked.visible) | dict.fromkeys(UNASKED)
    for one in _parts(asked, looked, meaning, channels).values():
        params |= one.params
    params |= {
        "fetch": fetched(asked), "wanted": asked.limit, "most_pinned": PINNED, "also": list(asked.also),
        "superseded": asked.include_superseded, "consolidated": asked.include_consolidated,
        "graphed": list(looked.graphed), "depth": asked.depth if graph.NAME in channels else 0,
    }  # fmt: skip
    return statement("call_candidates"), params


def called_whole(asked: Asked, looked: Looked, meaning: Meaning, channels: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The same with whole memories: the columns of the composed statement. Pure."""
    light, params = called(asked, looked, meaning, channels)
    return statement("call_whole_candidates").replace("/*light*/", light), params


def composed(
    asked: Asked, looked: Looked, meaning: Meaning, channels: Sequence[str], reach: past.Reach | None = None,
    *, light: bool = False,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """The statement that asks these channels, and its parameters. Pure; its text is made of constants only.

    In the past it reaches so far, or as far as is tried first. With `light` it brings briefs.
    """
    moment = looked.moment
    conditions = _conditions(asked, moment)
    scope_ids = looked.visible.scope_ids
    parts = _parts(asked, looked, meaning, channels)
    excluded = f" AND NOT {EXCLUDED}" if looked.sought.without else ""
    is_worded = keyword.NAME in channels
    hops = graph.hops(asked.depth) if graph.NAME in channels else 0
    before = ""
    if not moment.is_now:
        before = past.world(is_worded, parts[temporal.NAME] is not temporal.NOTHING) + ELIGIBLE
        parts = past.parts(parts, is_worded, hops)
    elif conditions.narrow:
        before, parts = narrow.world(is_worded), narrow.parts(parts, is_worded)
    load = _loading(moment, light=light)
    replaced = {
        **{name: one.sql for name, one in parts.items()},
        "again": parts[semantic.NAME].again,
        "load": load if moment.is_now else statement("reach_evidence").replace("/*load*/", load),
        "world": before,
        "late_scores": keyword.scores("late") if is_worded else keyword.NO_SCORES,
        "strict": conditions.standing + excluded,
        "heir": conditions.heir + excluded,
        "standing": conditions.standing,
        "leading": conditions.leading,
        "seed": conditions.seed,
        "epochs": memories.EPOCHS,
        "memories": f"engram.agent_memory m WHERE {memories.VISIBLE}" if moment.is_now else "world m WHERE true",
        "visible": memories.VISIBLE,
    }
    sql = statement("find_candidates")
    for place, text in replaced.items():  # what is filled in first has places of its own
        sql = sql.replace(f"/*{place}*/", text)
    sql = _with_rows(sql) if moment.is_now else past.at_hand(sql)
    params: dict[str, Any] = memories.visible_params(looked.visible, moment) | filters.to_sql(asked.filter)[1]
    params["vector"] = None
    for one in parts.values():
        params |= one.params
    if asked.within is not None:
        start, end = asked.within
        params |= {"within_start": start or "-infinity", "within_end": end or "infinity"}
    params |= {
        "fetch": fetched(asked), "wanted": asked.limit, "most_pinned": PINNED, "also": list(asked.also),
        "model_id": meaning.model_id, "without": keyword.any_scoped(looked.sought.without, scope_ids),
    }  # fmt: skip
    if light:
        params |= {"ending": turns.ENDING, "asking": turns.ASKING}
    if not moment.is_now:
        params |= past.params(reach or past.reaches(fetched(asked))[0], looked.graphed, params)
    elif conditions.narrow:
        params |= narrow.params(fetched(asked), looked.size, looked.graphed)
    return sql, params


def _loading(moment: Moment, *, light: bool) -> str:
    """What brings the memories that were chosen, whole or as briefs, each with what ranking asks besides."""
    rows, more = statement("candidate_rows"), statement("candidate_columns")
    if light:
        return statement("load_briefs").replace("/*source*/", rows).replace("/*more*/", more)
    return memories.loading(moment, "true", rows, more)


def _parts(asked: Asked, looked: Looked, meaning: Meaning, channels: Sequence[str]) -> dict[str, Part]:
    """Every channel's part of the statement; one that is not asked finds nothing. Pure."""
    parts = {one.NAME: one.NOTHING for one in (semantic, temporal, keyword, graph)}
    has_vector = semantic.NAME in channels and meaning.vector is not None and meaning.model_id is not None
    if has_vector and meaning.vector is not None and meaning.model_id is not None:
        parts[semantic.NAME] = semantic.part(meaning.vector, meaning.model_id, graphed=looked.graphed)
    if keyword.NAME in channels:
        parts[keyword.NAME] = keyword.part(looked.sought, looked.visible.scope_ids)
    if temporal.NAME in channels and asked.window is not None:
        parts[temporal.NAME] = temporal.part(asked.window, now=looked.now)
    if graph.NAME in channels:
        names = names_in(asked.query)
        parts[graph.NAME] = graph.part(
            names, moment=looked.moment, depth=asked.depth, vector=has_vector, scale=looked.scale
        )
    return parts


def _with_rows(sql: str) -> str:
    """A statement whose memories are looked up by their ids or lineages. Pure."""
    for text, places in ((ROW, ROW_OF), (ROWS, ROWS_OF)):
        sql = places.sub(lambda found, text=text: text.replace("/*of*/", found[1]), sql)  # type: ignore[misc]
    return sql


def holds_in(memory: Memory, window: Window) -> bool:
    """Whether a memory held in a window; what happened, happened when it began. Pure."""
    start, end = window
    if memory.valid_to is not None and memory.valid_to <= memory.valid_from:
        return False  # corrected at once: it never held
    if end is not None and memory.valid_from >= end:
        return False
    if start is None or memory.valid_from >= start:
        return True
    return memory.valid_to > start if memory.valid_to is not None else kind_of(memory.memory_type) != "episodic"


# What came of it -----------------------------------------------------------------------------------------------------


def _candidates(asked: Asked, looked: Looked, rows: Sequence[Any], *, light: bool = False) -> list[Candidate]:
    """The candidates of the rows, and the heads of the lineages whose earlier values were found. Pure."""
    hybrid, visible, scopes, scale = asked.mode == "hybrid", looked.visible, looked.visible.scopes, looked.scale
    found: list[Candidate] = []
    past: dict[str, Candidate] = {}
    heads: dict[str, tuple[Memory | Brief, int]] = {}
    for row in rows:
        memory = _brief(row, scopes) if light else memories.made(row, visible)
        if row.heir:
            heads[row.lineage_id] = memory, row.epochs
        if not row.found:
            continue
        cosine = row.cosine if scale is None or row.cosine is None else scale.told(row.cosine)
        # What is merely the least far is not found by meaning, unless that is all that is asked for.
        far = hybrid and (cosine is None or cosine <= ranking.SEMANTIC_FLOOR)
        by = FOUND_BY[row.channels & ~4 if far else row.channels]
        place = None if row.place is None else turns.place_of(row.place)
        one: Candidate = MADE(
            Candidate,
            (memory, cosine, row.coverage or 0.0, tuple(row.matched or ()), None, None, row.closeness, None,
             row.seed_id, row.nearness, None, by, row.stands, True, False, row.epochs, place),
        )  # fmt: skip
        if row.status == "superseded":
            known = past.get(row.lineage_id)
            if known is None or _nearer(one) > _nearer(known):
                past[row.lineage_id] = one
            found.append(one)
        elif row.stands:
            found.append(one)
    return [*found, *(_heir(*heads[lineage_id], one) for lineage_id, one in past.items() if lineage_id in heads)]


def _brief(row: Any, scopes: Mapping[int, Scope]) -> Brief:
    # In the order of its fields, since by their names it takes several times as long, for every row of a search.
    used = row.access_count is not None
    made: Brief = MADE(
        Brief,
        (row.memory_id, scopes[row.scope_id], row.memory_type, row.category, row.importance, row.confidence,
         TRUSTS[row.trust], row.layer, row.status, row.critical_slot, row.conflict_key, row.lineage_id, row.valid_from,
         row.recorded_at, row.session_id, row.event_id, row.actor, MOOT if row.moot else (),
         MADE(Used, (row.access_count, row.last_accessed_at, row.repetition_count)) if used else UNUSED,
         row.asks is True),
    )  # fmt: skip
    return made


def _heir(head: Memory | Brief, epochs: int, earlier: Candidate) -> Candidate:
    """What was asked for has another value now."""
    cosine = None if earlier.cosine is None else earlier.cosine * HEIR
    shown = earlier._replace(memory=head, cosine=cosine, coverage=earlier.coverage * HEIR, epochs=epochs)
    return shown._replace(stands=True, inherited=True, place=None)


def _nearer(one: Candidate) -> float:
    return ranking.nearness(one.coverage, one.cosine)


def _once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate a memory: of itself and by its earlier values the nearer, with what led to the other. Pure."""
    best: dict[str, Candidate] = {}
    for one in candidates:
        memory_id = one.memory.memory_id
        best[memory_id] = _joined(best[memory_id], one) if memory_id in best else one
    return list(best.values())


def _joined(one: Candidate, other: Candidate) -> Candidate:
    nearer, farther = (other, one) if _nearer(other) > _nearer(one) else (one, other)
    linked = max((one, other), key=lambda each: each.graph or 0.0)
    dated = max((one, other), key=lambda each: each.temporal or 0.0)
    return nearer._replace(
        graph=linked.graph,
        seed_id=linked.seed_id,
        temporal=dated.temporal,
        by=nearer.by | farther.by,
        place=nearer.place or farther.place,
    )


def with_ranks(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with their ranks in each channel among those that are there. Pure."""
    ids = [one.memory.memory_id for one in candidates]
    near = _ranks([None if one.cosine is None else -one.cosine for one in candidates], ids)
    worded = _ranks([-one.coverage if one.coverage > 0 else None for one in candidates], ids)
    linked = _ranks([None if one.graph is None else -one.graph for one in candidates], ids)
    dated = _ranks([None if one.temporal is None else -one.temporal for one in candidates], ids)
    return [
        MADE(Candidate, (*one[:4], by_meaning, by_words, one[6], by_links, *one[8:10], by_time, *one[11:]))
        for one, by_meaning, by_words, by_links, by_time in zip(candidates, near, worded, linked, dated, strict=True)
    ]


def _ranks(values: Sequence[float | None], ids: Sequence[str]) -> list[int | None]:
    """The place of each value from the least on, equal ones in the order of their ids; None where there is none."""
    ranks: list[int | None] = [None] * len(values)
    found = [(value, ids[at], at) for at, value in enumerate(values) if value is not None]
    found.sort()
    for rank, (_, _, at) in enumerate(found, 1):
        ranks[at] = rank
    return ranks


def _distilled(rows: Sequence[Any]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The distilled memories, with their statuses, of the events that evidence among the candidates rests on."""
    return {row.event_id: tuple((str(i), str(status)) for i, status in row.distilled) for row in rows if row.distilled}
