"""Settling: a judged draft becomes a memory, a restatement or a refusal, with its statement, relations and jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import embedding, jobs, memories, text
from engram.arrays import Texts
from engram.channels import keyword, semantic, upkeep
from engram.database import Connection, Jsonb, fetch_ahead, send_ahead
from engram.lineage import Place
from engram.policies import TYPE_WEIGHTS
from engram.values import Memory, trust_rank
from engram.writing.deciding import as_kept, decision_of, kept_hints
from engram.writing.desk import BESIDE_ORDINAL, Desk, Draft, Origin, iso
from engram.writing.judging import SAME_EVENT, Judged, follows, is_compared, with_place
from engram.writing.noting import note_change
from engram.writing.placing import HEAD, Front, entry_of, fronts, newcomer, reorder, supersede, take_place

UPKEEP_EVERY: Final = 512  # writes: the ids are random at their end, so this needs no counter
UPKEEP_PRIORITY: Final = 200  # after derivation
LINK_DELAY: Final = 5.0  # seconds in which many writes of a scope are one job of its links and topics
MOST_TAGS: Final = 20  # of a memory
ENTRIES: Final = {
    "add": "added",
    "revise": "revised",
    "reinforce": "reinforced",
    "conflict": "conflict",
    "reject": "rejected",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A memory that was just written: its place, and what the database made of it, once it was sent to it."""

    new: New
    made: Callable[[], Mapping[str, Row[Any]]]

    @property
    def recorded_at(self) -> datetime:
        """When the database wrote it."""
        at: datetime = self.made()[self.new.memory_id].recorded_at
        return at

    @property
    def layer(self) -> str:
        """The layer it was put into."""
        return str(self.made()[self.new.memory_id].layer)


@dataclass(frozen=True, slots=True)
class Settled:
    """What was written: the decision as the history keeps it, and what there is to index."""

    decision: Mapping[str, Any]
    origin: Origin
    judged: Judged
    entry: keyword.Entry | None = None
    pending: bool = False  # whether it waits for its vector
    stirred: bool = False  # whether it changed what the gates see of other rows than its own
    moved: tuple[str, ...] | None = ()  # the other memories it changed; None where it may be any, by their summaries
    written: Written | None = None  # where a memory was written

    @property
    def memory_id(self) -> str | None:
        """The memory that came of it, new or reinforced."""
        found: str | None = self.decision["memory_id"]
        return found

    @property
    def is_quarantined(self) -> bool:
        """Whether a row was written that is kept apart."""
        return "quarantined" in self.decision["reasons"]


def settle(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    """Write what was decided, resting on the event of `origin`; `index` must follow in the same transaction."""
    judged = rejoined(desk, judged, origin)
    if judged.kind in ("reject", "conflict"):
        return _refuse(desk, judged, origin)
    made = _reinforce(desk, judged, origin) if judged.kind == "reinforce" else _store(desk, judged, origin)
    _cite_beside(desk, [made])
    return made


def rejoined(desk: Desk, judged: Judged, origin: Origin) -> Judged:
    """A draft that a replay makes anew, in its lineage, where nothing but what was erased holds that by now."""
    key = judged.draft.classified.conflict_key
    if desk.left is None or key is None or judged.lineage_id is not None or judged.kind != "add" or judged.quarantined:
        return judged
    return replace(judged, lineage_id=desk.left(judged.draft, origin))


def index(desk: Desk, settled: Sequence[Settled]) -> None:
    """Put what was written into the text index, and index again what was said just before it."""
    index_all([(desk, settled)])


def index_words(desk: Desk, settled: Sequence[Settled]) -> None:
    """Let words find what was written, for what is compared by them before `index` follows in the same transaction."""
    keyword.index_all(desk.conn, desk.tenant_id, [_indexed(desk, settled)])


def index_all(several: Sequence[tuple[Desk, Sequence[Settled]]]) -> None:
    """The same for what was written at several desks of one tenant and transaction."""
    conn, tenant_id = several[0][0].conn, several[0][0].tenant_id
    keyword.index_all(conn, tenant_id, [_indexed(desk, settled) for desk, settled in several])
    for desk, settled in several:
        _take_words_back(desk, [one.origin for one in settled if one.judged.draft.private])
        _queue_work(desk, settled)


def _indexed(desk: Desk, settled: Sequence[Settled]) -> keyword.Indexed:
    entries = [one.entry for one in settled if one.entry is not None]
    firsts: dict[str, int] = {}
    for entry in entries:
        if entry.stream_id is not None and entry.position is not None:
            firsts[entry.stream_id] = min(entry.position, firsts.get(entry.stream_id, entry.position))
    return keyword.Indexed(desk.scope_id, desk.config, entries, firsts)


def _take_words_back(desk: Desk, origins: Sequence[Origin]) -> None:
    """Index again what was said around messages that are private now that they are derived: it may hold their words."""
    told = {(one.stream_id, one.position) for one in origins if one.deriver is not None}
    for stream_id, position in sorted((place, at) for place, at in told if place is not None and at is not None):
        keyword.reindex_neighbours(
            desk.conn, stream_id, position, tenant_id=desk.tenant_id, after=True, config=desk.config
        )


def _queue_work(desk: Desk, settled: Sequence[Settled]) -> None:
    """Ask for what is done with memories once they are written."""
    entries = [one.entry for one in settled if one.entry is not None]
    if desk.building_id is not None and desk.scope_id > 0:  # what is in a shadow is owed them once it is live
        semantic.owe(desk.conn, desk.tenant_id, desk.building_id, [entry.memory_id for entry in entries])
    pending = [one.entry.memory_id for one in settled if one.entry is not None and one.pending]
    if pending:
        jobs.add(desk.conn, kind=jobs.EMBED, dedup_key=pending[0], scope_id=desk.scope_id)
    if entries and desk.policy.links == "write" and desk.scope_id > 0:
        queue_links(desk.conn, desk.scope_id)
    due = [entry.memory_id for entry in entries if int(entry.memory_id[-3:], 16) % UPKEEP_EVERY == 0]
    if due and desk.scope_id > 0 and upkeep.is_wanted(desk.conn, desk.tenant_id, desk.scope_id):
        jobs.add(desk.conn, kind=upkeep.KIND, dedup_key=due[0], scope_id=desk.scope_id, priority=UPKEEP_PRIORITY)


def queue_links(conn: Connection, scope_id: int) -> None:
    """Ask for the links and topics of what was just written; all writes of a few seconds are one job."""
    window = int(time.time() // LINK_DELAY)
    jobs.add(
        conn, kind=jobs.LINK, dedup_key=f"{scope_id}/{window}", scope_id=scope_id, delay=LINK_DELAY,
        priority=UPKEEP_PRIORITY,
    )  # fmt: skip


def _store(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    draft, rules = judged.draft, judged.draft.classified
    memory_id, fresh = desk.name(draft, origin)
    known = judged.lineage_id if rules.conflict_key is not None or judged.kind == "revise" else None
    if known is not None and draft.supersedes:
        named = [row.stands_at for row in fronts(desk, [known])[known].rows if row.memory_id in draft.supersedes]
        draft = replace(draft, over=max(named, default=None))
        judged = replace(judged, draft=draft)
    lineage_id, member = known or fresh, newcomer(draft, origin, memory_id)
    if judged.quarantined:
        place, moved, revision = Place("quarantined"), dict[str, Place](), 1
    else:
        place, moved, revision = take_place(desk, lineage_id, member) if known or rules.negates else (HEAD, {}, 1)
    new = New(memory_id, lineage_id, revision, place)
    judged = with_place(judged, place)
    decision = decision_of(desk, judged, origin, memory_id=memory_id, target_id=judged.judgement.target_id)
    written = _write(desk, [_columns(desk, judged, origin, new, decision)], [(new, draft)])
    _relate(desk, _edges(memory_id, judged, origin, moved))
    summarised = [_put_away(desk, old, memory_id, origin) for old in draft.supersedes]
    for other, placed in moved.items():
        if other not in draft.supersedes:
            summarised.append(_note(desk, other, entry_of(placed), origin))
    pending = embed_state(desk, draft) == "pending"
    entry = _entry(memory_id, draft, origin)
    changed = None if any(summarised) else (*draft.supersedes, *moved)
    return Settled(decision, origin, judged, entry, pending, True, changed, written[memory_id])


def settle_together(
    desk: Desk, several: Sequence[tuple[Judged, Origin]], fronts_of: Mapping[str, Front] = MappingProxyType({})
) -> list[Settled]:
    """Write what was decided of drafts that go along with each other, restate quiet rows, or lead lineages at once.

    Each row is restated once, with tags it has room for, and each lineage gets one draft; `fronts_of` are as these
    were. `index` must follow in the same transaction.
    """
    moves = [_superseded(desk, judged, origin, fronts_of) for judged, origin in several]
    if None in moves:  # the clock went back
        at = moves.index(None)
        before = settle_together(desk, several[:at], fronts_of)
        return [*before, _store(desk, *several[at]), *settle_together(desk, several[at + 1 :], fronts_of)]
    rows: list[dict[str, Any]] = []
    restated: list[dict[str, Any]] = []
    settled: list[Settled] = []
    stored: list[tuple[New, Draft]] = []
    edges: list[Edge] = []
    superseded: dict[str, Place] = {}
    repeated = _repeated(desk, [judged for judged, _ in several])
    for (judged, origin), moved in zip(several, moves, strict=True):
        if judged.kind in ("reject", "conflict"):
            decision = decision_of(desk, judged, origin, memory_id=None, target_id=judged.judgement.target_id)
            rows.append(_refusal(judged, origin, decision))
            settled.append(Settled(decision, origin, judged))
            continue
        if judged.kind == "reinforce":
            target_id = judged.judgement.target_id
            decision = decision_of(desk, judged, origin, memory_id=target_id, target_id=target_id)
            decision["hints"] += _hints(desk, judged.draft, origin, repeated.get(target_id or ""))
            restated.append(_restatement(desk, judged, origin, repeated.get(target_id or "")))
            rows.append({**_marked("reinforced", origin, _as_private(judged, decision)), "restates": target_id})
            settled.append(Settled(decision, origin, judged))
            continue
        draft, (memory_id, fresh) = judged.draft, desk.name(judged.draft, origin)
        known = follows(judged)
        new = New(
            memory_id, known or fresh, 1 if known is None else fronts_of[known].revision,
            Place("quarantined") if judged.quarantined else HEAD,
        )  # fmt: skip
        placed = with_place(judged, new.place)
        decision = decision_of(desk, placed, origin, memory_id=memory_id, target_id=judged.judgement.target_id)
        rows.append(_columns(desk, placed, origin, new, decision))
        rows += [{**_noted("superseded", origin), "restates": other} for other in moved or ()]
        pending = embed_state(desk, draft) == "pending"
        entry = _entry(memory_id, draft, origin)
        settled.append(Settled(decision, origin, placed, entry, pending, known is not None, tuple(moved or ())))
        stored.append((new, draft))
        edges += _edges(memory_id, judged, origin, moved or {})
        superseded |= moved or {}
    if restated:
        send_ahead(desk.conn, "restate_memories", tenant_id=desk.tenant_id, rows=Jsonb(restated), at=desk.at)
    supersede(desk, superseded)
    written = _write(desk, rows, stored)
    _relate(desk, edges)
    _cite_beside(desk, settled)
    return [one if one.entry is None else replace(one, written=written[one.entry.memory_id]) for one in settled]


def _superseded(desk: Desk, judged: Judged, origin: Origin, fronts_of: Mapping[str, Front]) -> dict[str, Place] | None:
    """The rows that a draft supersedes as the next revision of its lineage, none where it is of none. Pure.

    None where it may not be the head at once.
    """
    known = follows(judged)
    if known is None:
        return {}
    return fronts_of[known].moved_by(newcomer(judged.draft, origin, desk.name(judged.draft, origin)[0]))


def _write(
    desk: Desk, rows: Sequence[Mapping[str, Any]], stored: Sequence[tuple[New, Draft]] = ()
) -> dict[str, Written]:
    """Write rows of memories and refusals, and the vectors of those that became memories; these by their ids.

    They go in one message with the next statement.
    """
    if not rows:
        return {}
    vectors = [(new.memory_id, draft) for new, draft in stored if is_compared(desk, draft)]
    rows_of = fetch_ahead(
        desk.conn, "write_memories", tenant_id=desk.tenant_id, scope_id=desk.scope_id, rows=Jsonb(rows),
        policy=desk.policy.name, policy_version=desk.policy.version, reason=desk.reason, run_id=desk.run_id,
        at=desk.at, model_id=desk.model_id,
        memory_ids=Texts([memory_id for memory_id, _ in vectors]),
        vectors=embedding.all_halves([draft.vector for _, draft in vectors]),
        windowed=[desk.is_long is not None and desk.is_long(draft.fact) for _, draft in vectors],
    )  # fmt: skip
    made = cache(lambda: {row.memory_id: row for row in rows_of()})
    return {new.memory_id: Written(new, made) for new, _ in stored}


@dataclass(frozen=True, slots=True)
class New:
    """The ids and the place of a row about to be written."""

    memory_id: str
    lineage_id: str
    revision: int = 1
    place: Place = HEAD


def _entry(memory_id: str, draft: Draft, origin: Origin) -> keyword.Entry:
    return keyword.Entry(memory_id, draft.fact, origin.stream_id, origin.position, origin.occurred_at)


def _columns(desk: Desk, judged: Judged, origin: Origin, new: New, decision: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a new memory, of its first statement and of its first entry in the history, as JSON keeps them."""
    draft, rules, place = judged.draft, judged.draft.classified, new.place
    surprise, quoted = judged.judgement.surprise, quote_of(origin)
    written = {
        "memory_id": new.memory_id, "lineage_id": new.lineage_id, "revision": new.revision, "status": place.status,
        "superseded_by": place.superseded_by, "heir_from": iso(place.valid_to), "moot": place.moot,
        "embed_state": embed_state(desk, draft),
    }  # fmt: skip
    said = {
        "fact": draft.fact, "fact_hash": text.fact_hash(draft.fact).hex(), "main_content": draft.main_content,
        "tags": list(draft.tags), "confidence": draft.confidence, "topic_key": draft.topic_key,
        "attribute": draft.attribute, "value": draft.value, "source": draft.source, "private": draft.private,
        "metadata": dict(draft.metadata), "valid_from": iso(draft.begins(origin)),
        "holds_at": iso(draft.stands(origin)), "valid_from_stated": draft.valid_from is not None,
        "ended_at": iso(draft.ends(origin)), "expires_at": iso(expiry(draft, origin)),
    }  # fmt: skip
    ruled = {
        "memory_type": rules.memory_type, "category": rules.category, "importance": importance_of(judged),
        "layer": _layer(desk, draft), "critical_slot": rules.critical_slot,
        "conflict_key": rules.conflict_key, "subject": rules.subject, "negates": rules.negates, "rule": rules.rule,
        "surprise": None if surprise is None else surprise.score,
    }  # fmt: skip
    came = {
        "event_id": origin.event_id, "ordinal": origin.ordinal, "deriver": origin.deriver,
        "deriver_version": origin.deriver_version, "model": origin.model, "prompt_hash": origin.prompt_hash,
        "actor": origin.actor, "trust": trust_rank(origin.trust),
        "session_id": origin.session_id, "task_run_id": origin.task_run_id,
        "stated_recorded_at": iso(origin.recorded_at), **quoted,
    }  # fmt: skip
    noted = {
        "entry": ENTRIES[judged.kind], "decision": as_kept(decision),
        "previous_id": judged.judgement.target_id if judged.kind == "revise" else None,
    }  # fmt: skip
    columns = {**written, **said, **ruled, **came, **noted, "quote_hash": quoted["quote_hash"].hex()}
    return {name: value for name, value in columns.items() if value is not None}


def _refusal(judged: Judged, origin: Origin, decision: Mapping[str, Any]) -> dict[str, Any]:
    """What the history keeps of a draft that is not stored."""
    return _marked(ENTRIES[judged.kind], origin, _as_private(judged, decision))


def _as_private(judged: Judged, decision: Mapping[str, Any]) -> Mapping[str, Any]:
    """A decision by which no row is added, with whether the draft was private: that is said by no row of its own."""
    return {**decision, "private": True} if judged.draft.private else decision


def _marked(entry: str, origin: Origin, decision: Mapping[str, Any]) -> dict[str, Any]:
    """What the history keeps of a decision by which no row is added."""
    return {**_noted(entry, origin), "decision": as_kept(decision)}


def _noted(entry: str, origin: Origin) -> dict[str, Any]:
    return {"entry": entry, "actor": origin.actor, "event_id": origin.event_id}


def _restatement(desk: Desk, judged: Judged, origin: Origin, held: Memory | None) -> dict[str, Any]:
    """A statement more of a memory, and what it gives the row, as JSON keeps them; `held`: whose, of a private one."""
    draft, quoted = judged.draft, quote_of(origin)
    return {
        "memory_id": judged.judgement.target_id, "event_id": origin.event_id, "ordinal": origin.ordinal,
        "valid_from": iso(draft.begins(origin)), "holds_at": iso(draft.stands(origin)),
        "stated_recorded_at": iso(origin.recorded_at), "tags": list(_tags_for(held, draft)),
        "trust": trust_rank(origin.trust),
        "importance": draft.classified.importance if desk.policy.write_mode == "absorb" else None,
        "deriver": origin.deriver, "deriver_version": origin.deriver_version, "model": origin.model,
        "prompt_hash": origin.prompt_hash, **quoted, "quote_hash": quoted["quote_hash"].hex(),
    }  # fmt: skip


def _layer(desk: Desk, draft: Draft) -> str:
    """The layer of a new memory: what is pinned is core, and evidence waits in no buffer."""
    if draft.classified.critical_slot is not None:
        return "core"
    return "working" if draft.is_evidence else desk.policy.intake


def _reinforce(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    draft, target_id = judged.draft, judged.judgement.target_id
    target = desk.load(target_id)
    assert target is not None
    if SAME_EVENT in judged.judgement.reasons:
        return _cite_again(desk, judged, origin, target.memory_id)
    tags = united(target.tags, _tags_for(target, draft))
    send_ahead(desk.conn, "count_repetition", tenant_id=desk.tenant_id, memory_id=target_id, at=desk.at)
    send_ahead(
        desk.conn, "restate_memory", tenant_id=desk.tenant_id, memory_id=target.memory_id,
        holds_at=draft.stands(origin),
        stated_recorded_at=origin.recorded_at, event_id=origin.event_id, ordinal=origin.ordinal,
        tags=tags, trust=trust_rank(origin.trust),
        importance=draft.classified.importance if desk.policy.write_mode == "absorb" else None,
    )  # fmt: skip
    cite(desk, target.memory_id, origin, draft)
    decision = decision_of(desk, judged, origin, memory_id=target_id, target_id=target_id)
    if not set(draft.tags) <= set(tags):
        decision["hints"].append("tags_full")
    decision["hints"] += _hints(desk, draft, origin, target)
    stirred = _note(desk, target.memory_id, "reinforced", origin, decision=_as_private(judged, decision))
    stirred = bool(reorder(desk, target.lineage_id, origin.event_id, origin.actor)) or stirred
    return Settled(decision, origin, judged, stirred=stirred, moved=None if stirred else ())


def _tags_for(held: Memory | None, draft: Draft) -> Sequence[str]:
    """The tags that a repetition gives a memory: those of a private one are for no memory that others see. Pure."""
    return () if draft.private and held is not None and not held.private else draft.tags


def _repeated(desk: Desk, several: Sequence[Judged]) -> dict[str, Memory]:
    """The memories repeated by drafts that are private, or of which a caller stated more than a repetition changes."""
    told = [judged for judged in several if judged.kind == "reinforce"]
    stating = [judged for judged in told if judged.draft.stated or judged.draft.private]
    wanted = sorted({judged.judgement.target_id for judged in stating if judged.judgement.target_id is not None})
    return {one.memory_id: one for one in memories.load(desk.conn, desk.visible, wanted)} if wanted else {}


def _hints(desk: Desk, draft: Draft, origin: Origin, held: Memory | None) -> list[str]:
    """What was stated beside a repetition and is not taken over."""
    if not draft.stated or held is None:
        return []
    return kept_hints(draft, held, expiry(draft, origin), absorbs=desk.policy.write_mode == "absorb")


def united(held: Sequence[str], new: Sequence[str]) -> list[str]:
    """The tags of a memory that is said again: those it has, and as many new ones as there is room for. Pure."""
    more = [tag for tag in dict.fromkeys(new) if tag not in held]
    return sorted({*held, *more[: max(0, MOST_TAGS - len(held))]})


def _cite_again(desk: Desk, judged: Judged, origin: Origin, memory_id: str) -> Settled:
    """One statement that two derivers found: a citation more, and neither a repetition nor another standing."""
    cite(desk, memory_id, origin, judged.draft)
    decision = decision_of(desk, judged, origin, memory_id=memory_id, target_id=memory_id)
    stirred = _note(desk, memory_id, "annotated", origin, decision=decision)
    return Settled(decision, origin, judged, stirred=stirred, moved=None if stirred else ())


def _refuse(desk: Desk, judged: Judged, origin: Origin) -> Settled:
    decision = decision_of(desk, judged, origin, memory_id=None, target_id=judged.judgement.target_id)
    _write(desk, [_refusal(judged, origin, decision)])
    return Settled(decision, origin, judged)


def importance_of(judged: Judged) -> float:
    """What a new memory weighs: what was asked for, else its surprise by its type; no less than the head it revises."""
    rules, surprise = judged.draft.classified, judged.judgement.surprise
    weight = TYPE_WEIGHTS.get(rules.category or "") or TYPE_WEIGHTS.get(rules.memory_type, 0.8)
    own = rules.importance if rules.importance is not None else surprise.score * weight if surprise is not None else 0.5
    return max(own, judged.head_importance) if judged.kind == "revise" and judged.head_importance is not None else own


def expiry(draft: Draft, origin: Origin) -> datetime | None:
    """When a memory of this draft expires, if ever. Pure."""
    length = draft.expires_in if draft.expires_in is not None else draft.classified.expires_in
    return origin.recorded_at + length if draft.expires_at is None and length else draft.expires_at


def embed_state(desk: Desk, draft: Draft) -> str:
    """Whether a new memory has its vector, waits for it, or gets none."""
    if not desk.embeds:
        return "none"
    return "embedded" if draft.vector is not None and desk.model_id is not None else "pending"


def cite(desk: Desk, memory_id: str, origin: Origin, draft: Draft) -> None:
    """Keep the statement a memory rests on: the event, the exact characters, and since when it holds."""
    send_ahead(
        desk.conn, "add_source", tenant_id=desk.tenant_id, memory_id=memory_id, event_id=origin.event_id,
        ordinal=origin.ordinal,
        valid_from=draft.begins(origin), holds_at=draft.stands(origin), deriver=origin.deriver,
        deriver_version=origin.deriver_version, trust=trust_rank(origin.trust), stated_recorded_at=origin.recorded_at,
        model=origin.model, prompt_hash=origin.prompt_hash, **quote_of(origin),
    )  # fmt: skip


def _cite_beside(desk: Desk, settled: Sequence[Settled]) -> None:
    """Keep of what was read with earlier messages that it rests on these, too; it stands where its own event does."""
    for one in settled:
        draft, origin = one.judged.draft, one.origin
        for said in draft.beside if one.memory_id is not None else ():
            send_ahead(
                desk.conn, "add_source", tenant_id=desk.tenant_id, memory_id=one.memory_id, event_id=said.event_id,
                ordinal=BESIDE_ORDINAL + origin.ordinal, valid_from=draft.begins(origin), holds_at=draft.stands(origin),
                deriver=origin.deriver, deriver_version=origin.deriver_version, trust=trust_rank(said.trust),
                stated_recorded_at=said.recorded_at, model=None, prompt_hash=None, **quote_of(said),
            )  # fmt: skip


def quote_of(origin: Origin) -> dict[str, Any]:
    """The characters that a statement rests on, and their hash; `verified` where there are any."""
    quote = (origin.content or "")[origin.char_start : origin.char_end]
    return {
        "char_start": origin.char_start, "char_end": origin.char_end, "verified": bool(quote),
        "quote_hash": bytes.fromhex(text.quote_hash(quote)),
    }  # fmt: skip


Edge = tuple[str, str, str, float, bool, str]
"""A relation about to be written: source, target, type, weight, whether the engine found it, and the event."""


def _edges(memory_id: str, judged: Judged, origin: Origin, moved: Mapping[str, Place]) -> list[Edge]:
    event_id = origin.event_id
    edges = _over(memory_id, moved, event_id)
    if judged.judgement.contradicts_id is not None:
        weight = judged.judgement.contradicts_weight
        held = 1.0 if weight is None else min(1.0, max(0.0, weight))
        edges.append((memory_id, judged.judgement.contradicts_id, "contradicts", held, True, event_id))
    if judged.draft.parent_id is not None:
        edges.append((memory_id, judged.draft.parent_id, "part_of", 1.0, False, event_id))
    return edges


def _over(memory_id: str, moved: Mapping[str, Place], event_id: str) -> list[Edge]:
    """The relations of a row to those among the moved whose place it took. Pure."""
    return [
        (memory_id, old, "supersedes", 1.0, False, event_id)
        for old, place in moved.items()
        if place.superseded_by == memory_id and not place.put_away
    ]


def tie_superseded(desk: Desk, memory_id: str, moved: Mapping[str, Place], event_id: str) -> None:
    """Relate a row that an act raised to the rows that it superseded by that, as a new revision is to the old ones."""
    _relate(desk, _over(memory_id, moved, event_id))


def _relate(desk: Desk, edges: Sequence[Edge]) -> None:
    if edges:
        sources, targets, types, weights, autos, events = zip(*edges, strict=True)
        send_ahead(
            desk.conn, "add_relation", tenant_id=desk.tenant_id, source_ids=list(sources), target_ids=list(targets),
            relation_types=list(types), weights=list(weights), autos=list(autos), event_ids=list(events), at=desk.at,
        )  # fmt: skip


def _put_away(desk: Desk, old: str, new: str, origin: Origin) -> bool:
    """W-11: an explicit act supersedes a row of any lineage, whatever the order says. Whether summaries told of it."""
    send_ahead(
        desk.conn, "put_away_memory", tenant_id=desk.tenant_id, memory_id=old, superseded_by=new, at=origin.recorded_at
    )
    _relate(desk, [(new, old, "supersedes", 1.0, False, origin.event_id)])
    return _note(desk, old, "superseded", origin)


def _note(
    desk: Desk,
    memory_id: str,
    entry: str,
    origin: Origin,
    *,
    decision: Mapping[str, Any] | None = None,
    previous_id: str | None = None,
) -> bool:
    return note_change(desk, memory_id, entry, origin.event_id, origin.actor, decision, previous_id)
