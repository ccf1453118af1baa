"""Telling: the decisions with their memories, as a caller gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from engram import memories
from engram.database import Connection, ending, send_now
from engram.memories import Moment
from engram.tenancy import Visible
from engram.values import Citation, Layer, Memory, Neighbour, SurpriseTerms, Trust, WriteDecision
from engram.writing.desk import Desk, Origin
from engram.writing.placing import HEAD
from engram.writing.settling import Settled, embed_state, expiry, importance_of, quote_of

UNTOLD: Final = {"semantic": None, "closest_id": None}  # of a surprise


def whole(desk: Desk, settled: Sequence[Settled]) -> list[WriteDecision]:
    """The decisions with their memories, as they stand now: read back, but for what could only be as it was written.

    With them the transaction ends: where nothing is to be read, COMMIT goes in the message of what was written.
    """
    alone = len(settled) == 1 or all(one.written is not None and not one.stirred for one in settled)
    plain = {one.memory_id: one for one in settled if alone and _is_plain(desk, one)}
    wanted = {one.decision[name] for one in settled for name in ("memory_id", "target_id")} - {None, *plain}
    if not wanted:
        send_now(ending(desk.conn))
    read = memories.load(desk.conn, desk.visible, sorted(wanted))
    found = {memory_id: _as_written(desk, one) for memory_id, one in plain.items()}
    found |= {memory.memory_id: memory for memory in read}
    pairs = [(found.get(one.decision["memory_id"]), found.get(one.decision["target_id"])) for one in settled]
    heads = _heads_of(desk.conn, desk.visible, pairs)
    return [
        _decided(one, memory, head, target) for one, (memory, target), head in zip(settled, pairs, heads, strict=True)
    ]


def _decided(settled: Settled, memory: Memory | None, head: Memory | None, target: Memory | None) -> WriteDecision:
    """A decision as `revive` would make it, of what was judged."""
    kept, judged = settled.decision, settled.judged
    return WriteDecision(
        kind=kept["kind"], memory=memory, head=head, target=target, event_id=kept["event_id"],
        reasons=tuple(kept["reasons"]), nearest=judged.judgement.nearest, surprise=judged.judgement.surprise,
        options=tuple(kept["options"]), hints=tuple(kept["hints"]), policy=kept["policy"], rule=kept["rule"],
    )  # fmt: skip


def _is_plain(desk: Desk, settled: Settled) -> bool:
    """Whether a memory that was just written is read as it was written; else only the database can tell. Pure.

    It is where a row is head, without an end or an expiry, and cites its own event alone; and where its metadata holds
    texts only, whose numbers JSON of the database might write otherwise.
    """
    written, draft = settled.written, settled.judged.draft
    if written is None or desk.scope_id not in desk.visible.scopes or written.new.place != HEAD:
        return False
    told = all(isinstance(value, str | bool | None) for value in draft.metadata.values())
    ends = draft.valid_to is not None or expiry(draft, settled.origin) is not None
    return told and not ends and not draft.citations and not draft.beside


def _as_written(desk: Desk, settled: Settled) -> Memory:
    """The memory that was just written, as it would be read, where it is plain. Pure."""
    written, judged, origin = settled.written, settled.judged, settled.origin
    assert written is not None
    draft, rules, surprise = judged.draft, judged.draft.classified, judged.judgement.surprise
    return Memory(
        memory_id=written.new.memory_id, scope=desk.visible.scopes[desk.scope_id], fact=draft.fact,
        main_content=draft.main_content,
        memory_type=rules.memory_type, category=rules.category, tags=draft.tags,
        importance=importance_of(judged), confidence=draft.confidence, trust=cast("Trust", origin.trust),
        layer=cast("Layer", written.layer), status="active", status_reason=None, critical_slot=rules.critical_slot,
        conflict_key=rules.conflict_key, topic_key=draft.topic_key, subject=rules.subject, attribute=draft.attribute,
        value=draft.value, lineage_id=written.new.lineage_id, revision=written.new.revision, superseded_by=None,
        superseded_at=None, consolidated_into=None, valid_from=draft.begins(origin),
        valid_from_stated=draft.valid_from is not None, valid_to=None, recorded_at=written.recorded_at,
        expires_at=None, surprise=None if surprise is None else surprise.score, source=draft.source,
        session_id=origin.session_id, task_run_id=origin.task_run_id, metadata=dict(draft.metadata),
        private=draft.private, deriver=origin.deriver, deriver_version=origin.deriver_version,
        policy=f"{desk.policy.name}@{desk.policy.version}", rule=rules.rule,
        embedded=embed_state(desk, draft) == "embedded", event_id=origin.event_id, actor=origin.actor,
        citations=(_citation(origin),),
    )  # fmt: skip


def _citation(origin: Origin) -> Citation:
    said = quote_of(origin)
    return Citation(
        origin.event_id, origin.char_start, origin.char_end, said["quote_hash"].hex(), None, said["verified"]
    )


def revive(kept: Mapping[str, Any], memory: Memory | None, head: Memory | None, target: Memory | None) -> WriteDecision:
    """A decision from the form the history keeps, with its memories."""
    return WriteDecision(
        kind=kept["kind"], memory=memory, head=head, target=target, event_id=kept["event_id"],
        reasons=tuple(kept["reasons"]),
        nearest=tuple(Neighbour.from_dict(near) for near in kept["nearest"]),
        surprise=None if kept["surprise"] is None else SurpriseTerms.from_dict({**UNTOLD, **kept["surprise"]}),
        options=tuple(kept["options"]), hints=tuple(kept["hints"]), policy=kept["policy"], rule=kept["rule"],
    )  # fmt: skip


def told(
    conn: Connection, visible: Visible, kept: Sequence[Mapping[str, Any]], moment: Moment = memories.NOW
) -> list[WriteDecision]:
    """Decisions from the form the history keeps, with their memories as they stand at a moment."""
    wanted = {decision[name] for decision in kept for name in ("memory_id", "target_id")} - {None}
    found = {memory.memory_id: memory for memory in memories.load(conn, visible, sorted(wanted), moment)}
    pairs = [(found.get(decision["memory_id"]), found.get(decision["target_id"])) for decision in kept]
    heads = _heads_of(conn, visible, pairs, moment)
    return [
        revive(decision, memory, head, target)
        for decision, (memory, target), head in zip(kept, pairs, heads, strict=True)
    ]


def _is_head(memory: Memory) -> bool:
    return memory.status == "active" and "moot" not in memory.labels


def _heads_of(
    conn: Connection, visible: Visible, pairs: Sequence[tuple[Memory | None, Memory | None]],
    moment: Moment = memories.NOW,
) -> list[Memory | None]:  # fmt: skip
    """The head of each memory's lineage, or of its target's where there is no memory; at a moment."""
    about = [memory or target for memory, target in pairs]
    behind = {one.lineage_id for one in about if one is not None and not _is_head(one)}
    heads = memories.heads(conn, visible, sorted(behind), moment)
    return [one if one is None or _is_head(one) else heads.get(one.lineage_id) for one in about]
