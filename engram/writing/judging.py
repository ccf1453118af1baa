"""Judging: what becomes of a draft beside what its scope holds, by the gates and without writing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import embedding, gates, text
from engram.arrays import Blobs, Texts
from engram.channels import keyword, nearness
from engram.database import fetch_all, fetch_one
from engram.english import frames, subjects
from engram.english.opposites import are_opposites
from engram.lineage import Place
from engram.policies import MemoryPolicy
from engram.policies.classify import says_it_is_over, says_no_more, value_of
from engram.values import Memory, trust_rank
from engram.writing.desk import Desk, Draft, Looked, Seen, lineage_locks, lock

SAME_EVENT: Final = "same_event"
SUCCEEDS: Final = "said_to_have_changed"
NEAR_FETCHED: Final = 64  # evidence rows among them are left out
TYPE_COUNTED: Final = gates.COUNTED_TO  # rows of a type
NEAR_SIZE: Final = 1_000  # of a scope, for the rarity of words where no vector says what is near


@dataclass(frozen=True, slots=True)
class Judged:
    """A draft with what the gates decided and what they saw."""

    draft: Draft
    judgement: gates.Judgement
    lineage_id: str | None = None
    head_importance: float | None = None
    quarantined: bool = False

    @property
    def kind(self) -> str:
        """What becomes of the draft."""
        return self.judgement.kind


def judge(
    desk: Desk, draft: Draft, trust: str, now: datetime | None = None, *, head: Memory | None = None
) -> Judged:  # fmt: skip
    """What the gates make of a draft, given what its scope holds. Writes nothing.

    `now` is when expiry is judged: of what is derived, the time its event was recorded, so that deriving it later, or
    again, judges alike. `head` is what a revision is made on, where it was read already.
    """
    plain = judged_plainly(desk, draft, head)
    if plain is not None:
        return plain
    draft = alone(draft)
    if is_compared(desk, draft):
        seen, near = _look_around(desk, draft, now)
    else:
        [seen], near = look(desk, [draft], [now]), neighbours(desk, draft, now)
    turned = turning(draft, seen, near)
    after = None if turned is draft else _succession(desk, turned)
    return after or judged_by(desk, draft, trust, seen, near)


def is_looked_up(desk: Desk, draft: Draft) -> bool:
    """Whether judging a draft takes one look around, and nothing before it that needs an open desk. Pure."""
    told = is_plain(draft) or draft.supersedes or draft.parent_id
    return is_compared(desk, draft) and not told and desk.policy.write_mode != "report"


def look_around(desk: Desk, draft: Draft) -> Looked:
    """What a scope holds of a draft, by the clock, and the facts nearest it: for the desk that judges it later."""
    return Looked(draft, *_look_around(desk, draft, None))


def look(desk: Desk, drafts: Sequence[Draft], nows: Sequence[datetime | None]) -> list[Seen]:
    """What a scope holds of each draft, in one statement."""
    return [_seen(row) for row in fetch_all(desk.conn, "list_gate_rows", **_gated(desk, drafts, nows))]


def _look_around(desk: Desk, draft: Draft, now: datetime | None) -> tuple[Seen, Sequence[gates.Near]]:
    """What a scope holds of a draft and the facts nearest it by meaning, in one statement.

    In mode `report` also those of the same owner in `default`.
    """
    if desk.looked is not None and desk.looked.draft is draft and now is None:
        return desk.looked.seen, desk.looked.near
    scopes = [desk.scope_id, *(default_scopes(desk) if desk.policy.write_mode == "report" else ())]
    row = fetch_one(
        desk.conn, "look_at_draft", scope_ids=scopes, model_id=desk.model_id, vector=embedding.halves(draft.vector),
        private=draft.private, now=now, **_gated(desk, [draft], [now]),
    )  # fmt: skip
    assert row is not None
    near = [
        near_of(draft, _Found(**found), float(found["cosine"]), in_default=found["scope_id"] != desk.scope_id)
        for found in (
            {**one, "valid_from": datetime.fromisoformat(one["valid_from"]), "ended_at": _moment(one["ended_at"])}
            for one in row.near or ()
        )
    ]
    return _seen(row), as_near(near)


@dataclass(frozen=True, slots=True)
class _Found:
    """A fact near a draft, as the database tells it."""

    scope_id: int
    memory_id: str
    fact: str
    cosine: float
    conflict_key: str | None
    valid_from: datetime
    valid_from_stated: bool
    ended_at: datetime | None


def _gated(desk: Desk, drafts: Sequence[Draft], nows: Sequence[datetime | None]) -> dict[str, Any]:
    return {
        "tenant_id": desk.tenant_id, "scope_id": desk.scope_id,
        "fact_hashes": Blobs([text.fact_hash(draft.fact) for draft in drafts]),
        "conflict_keys": Texts([draft.classified.conflict_key for draft in drafts]),
        "memory_types": Texts([draft.classified.memory_type for draft in drafts]),
        "privates": [draft.private for draft in drafts], "nows": list(nows), "most": TYPE_COUNTED,
    }  # fmt: skip


def _seen(row: Row[Any]) -> Seen:
    return Seen(row.exact or [], row.head, row.lineage_id, int(row.same_type))


def is_plain(draft: Draft) -> bool:
    """Whether a draft is judged without what is near it, unless what it names is gone. Pure."""
    named = draft.revises is not None or draft.succeeds is not None
    return draft.refused is not None or draft.is_evidence or named


def judged_plainly(desk: Desk, draft: Draft, head: Memory | None = None) -> Judged | None:
    """The judgement of a draft that is compared with nothing, or only with the row it revises; else None."""
    if not is_plain(draft):
        return None
    if draft.refused is not None:
        return Judged(draft, gates.Judgement("reject", reasons=("failed" if draft.failed else "guard", draft.refused)))
    if draft.is_evidence:
        return Judged(draft, gates.Judgement("add", reasons=("evidence",)))
    if draft.revises is None:
        return _succession(desk, draft)
    return _revision(draft, desk.load(draft.revises) if head is None else head)


def alone(draft: Draft) -> Draft:
    """The draft as what it says by itself, where what it says is over is gone, or was never written. Pure.

    One that has a key is about what that holds by now.
    """
    is_so = draft.succeeds is None or draft.classified.conflict_key is not None
    return draft if is_so else replace(draft, succeeds=None)


def turning(draft: Draft, seen: Seen, near: Sequence[gates.Near]) -> Draft:
    """The draft as what takes the place of a memory near it, of which it says the opposite; else as it is. Pure.

    Without a key on either side, which would decide, and where nothing says the very same.
    """
    keyless = (one.fact for one in near if one.conflict_key is None and not one.in_default)
    opposite = None if seen.exact else opposed(draft, keyless)
    return draft if opposite is None else replace(draft, succeeds=opposite)


def opposed(draft: Draft, told: Iterable[str]) -> str | None:
    """The first of some facts without a key of which a draft says the opposite, None where it finds none. Pure.

    One that names a memory, has a key, or is wanted beside what it contradicts (`force`) is not asked.
    """
    if draft.succeeds is not None or draft.force or draft.classified.conflict_key is not None:
        return None
    own = subjects.plain(draft.fact)
    return next((fact for fact in told if are_opposites(own, subjects.plain(fact))), None)


def _succession(desk: Desk, draft: Draft) -> Judged | None:
    """A draft that says of a memory without a key that it is over or has changed; None where that is gone by now."""
    if draft.succeeds is None:
        return None
    row, held = _told_fact(desk, draft), None
    while row is not None and row.lineage_id != held:  # it may have changed until its lineage is ours
        held = row.lineage_id  # its text, too: who says the very same meanwhile restates it
        lock(desk, [draft], *lineage_locks(held, desk.scope_id, None))
        row = _told_fact(desk, draft)
    if row is None:
        return None
    return Judged(draft, gates.Judgement("revise", row.memory_id, (SUCCEEDS,)), row.lineage_id, row.importance)


def _told_fact(desk: Desk, draft: Draft) -> Row[Any] | None:
    """The current memory of the scope that tells just what a draft succeeds, has no key, and is as private.

    There is none for a draft whose own key has a memory by now: that is what it is news of.
    """
    assert draft.succeeds is not None
    found: Row[Any] | None = fetch_one(
        desk.conn, "find_told_fact", tenant_id=desk.tenant_id, scope_id=desk.scope_id,
        fact_hash=text.fact_hash(draft.succeeds), private=draft.private, conflict_key=draft.classified.conflict_key,
    )  # fmt: skip
    return found


def judged_by(desk: Desk, draft: Draft, trust: str, seen: Seen, near: Sequence[gates.Near]) -> Judged:
    """What the gates make of a draft, given what was seen. Pure."""
    if stands_beside(desk.policy, draft, None if seen.head is None or seen.head["gone"] else seen.head["fact"]):
        draft = replace(draft, classified=replace(draft.classified, conflict_key=None))
        seen = replace(seen, head=None, lineage_id=None)
    key = draft.classified.conflict_key
    head = _head_row(seen.head, key, desk.policy)
    judgement = gates.decide(
        gates.Statement(
            draft.fact,
            key,
            draft.valid_from,
            draft.valid_to,
            trust_rank(trust),
            draft.force,
            captured=draft.captured,
            value=_only_value(desk.policy, draft, head),
            embedded=is_compared(desk, draft),
        ),
        exact=_exact(seen.exact, draft),
        head=head,
        neighbours=near,
        same_type=seen.same_type,
        mode=desk.policy.write_mode,
        thresholds=desk.thresholds,
        scale=desk.scale,
        score_surprise=desk.policy.surprise != "off",
    )
    return Judged(draft, judgement, seen.lineage_id, None if seen.head is None else seen.head["importance"])


def stands_beside(policy: MemoryPolicy, draft: Draft, head: str | None) -> bool:
    """Whether a draft gives a key that may have several values another one than its head, and says of no change.

    Then both are so, and the draft has no key. Pure.
    """
    key = draft.classified.conflict_key
    if (
        head is None
        or not frames.may_have_another(key, draft.fact)
        or draft.classified.negates is not None
        or draft.succeeds is not None
    ):
        return False
    value, held = value_of(policy, draft.fact, key), value_of(policy, head, key)
    if value == held or frames.says_of_a_change(draft.fact, key or ""):
        return False
    return held is not None or not says_it_is_over(policy, head)


def _head_row(head: Mapping[str, Any] | None, key: str | None, policy: MemoryPolicy) -> gates.Row | None:
    """The head of a key as the gates see it; one that ended or expired says nothing any more, so it is told anew."""
    if head is None:
        return None
    fact = "" if head["gone"] else head["fact"]
    return gates.Row(
        head["memory_id"], fact, key, trust=head["trust"], value=value_of(policy, fact, key),
        stated_to=_moment(head["ended_at"]),
    )  # fmt: skip


def _only_value(policy: MemoryPolicy, draft: Draft, head: gates.Row | None) -> str | None:
    """The value a draft gives its key, where it says nothing that the head does not say."""
    if head is None or head.value is None or draft.valid_to is not None:
        return None
    value = value_of(policy, draft.fact, draft.classified.conflict_key)
    key = draft.classified.conflict_key
    known = f"{head.fact} {key}"  # the name of what it is the value of says nothing more
    return value if value is not None and says_no_more(draft.fact, known, value, key) else None


def _exact(rows: Sequence[Mapping[str, Any]], draft: Draft) -> gates.Row | None:
    """The row with the very same text: one under the same key before one without, then one of the stated times.

    Of several the eldest.
    """
    twins = [
        gates.Row(
            row["memory_id"], draft.fact, row["conflict_key"], _moment(row["valid_from"]), row["trust"],
            stated_to=_moment(row["ended_at"]),
        )
        for row in rows
    ]  # fmt: skip

    def strangeness(twin: gates.Row) -> tuple[bool, bool, bool, str]:
        begins_otherwise = draft.valid_from not in (None, twin.valid_from)
        ends_otherwise = draft.valid_to not in (None, twin.stated_to)
        return twin.conflict_key != draft.classified.conflict_key, begins_otherwise, ends_otherwise, twin.memory_id

    return min(twins, key=strangeness, default=None)


def _moment(said: str | None) -> datetime | None:
    return None if said is None else datetime.fromisoformat(said)


def _revision(draft: Draft, head: Memory | None) -> Judged:
    """A revision asked for by id: judged only against its own head. Pure."""
    assert head is not None
    same = (
        text.compared(head.fact) == text.compared(draft.fact) and draft.main_content == head.main_content
        and draft.valid_from in (None, head.valid_from)
    )  # fmt: skip
    made = gates.Judgement("reinforce" if same else "revise", head.memory_id, ("same_as_head" if same else "revised",))
    return Judged(draft, made, head.lineage_id, head.importance)


def conflict(judged: Judged, target_id: str, reason: str) -> Judged:
    """The same draft, not to be stored: it does not go together with a row it names."""
    made = replace(judged.judgement, kind="conflict", target_id=target_id, reasons=(*judged.judgement.reasons, reason))
    return replace(judged, judgement=made)


def stored(judged: Judged, reason: str) -> Judged:
    """The same draft, to be stored whatever the gates say: an explicit act asks for it."""
    made = replace(judged.judgement, kind="add", target_id=None, reasons=(*judged.judgement.reasons, reason))
    return replace(judged, judgement=made)


def rejected(judged: Judged, reason: str) -> Judged:
    """The same draft, not to be stored, with the reason why."""
    made = replace(judged.judgement, kind="reject", reasons=(reason,), options=(), contradicts_id=None)
    return replace(judged, judgement=made)


def quarantined(judged: Judged, reason: str) -> Judged:
    """The same draft, to be kept apart: a row of its own that no read shows unless asked, in nobody's lineage."""
    made = replace(judged.judgement, kind="add", target_id=None, reasons=(reason,), options=(), contradicts_id=None)
    return replace(judged, judgement=made, lineage_id=None, quarantined=True)


def told_before(judged: Judged, memory_id: str) -> Judged:
    """The same draft as one more citation of a memory of the same event: said once, however often derived."""
    made = replace(
        judged.judgement, kind="reinforce", target_id=memory_id, reasons=(SAME_EVENT,), options=(), contradicts_id=None
    )
    return replace(judged, judgement=made)


def follows(judged: Judged) -> str | None:
    """The lineage a draft joins by its key alone, naming and negating nothing; None where it does not. Pure."""
    draft = judged.draft
    plain = draft.revises is None and draft.succeeds is None and not draft.supersedes and not judged.quarantined
    keyed = draft.classified.conflict_key is not None and draft.classified.negates is None
    return judged.lineage_id if plain and keyed and judged.kind in ("add", "revise") else None


def with_place(judged: Judged, place: Place) -> Judged:
    """The judgement with the reason why its row did not become head, where it did not."""
    why = "moot" if place.moot else place.status if place.status != "active" else None
    if why is None:
        return judged
    return replace(judged, judgement=replace(judged.judgement, reasons=(*judged.judgement.reasons, why)))


def goes_along(judged: Judged) -> bool:
    """Whether a draft may be written together with others: it displaces nothing and joins no lineage."""
    if judged.kind in ("reject", "conflict"):
        return True
    draft, rules = judged.draft, judged.draft.classified
    joins = rules.negates is not None or (rules.conflict_key is not None and judged.lineage_id is not None)
    return judged.kind == "add" and not draft.supersedes and (judged.quarantined or not joins)


def neighbours(desk: Desk, draft: Draft, now: datetime | None) -> list[gates.Near]:
    """The facts nearest a draft that has no vector, by its words.

    Of the scope, and in mode `report` also of the same owner in `default`.
    """
    own = _near(desk, draft, desk.scope_id, now, in_default=False)
    if desk.policy.write_mode != "report":
        return own
    return own + [
        near for scope_id in default_scopes(desk) for near in _near(desk, draft, scope_id, now, in_default=True)
    ]


def _near(desk: Desk, draft: Draft, scope_id: int, now: datetime | None, *, in_default: bool) -> list[gates.Near]:
    rows = _near_by_words(desk, draft, scope_id, now)
    return [near_of(draft, row, row.cosine, in_default=in_default) for row in rows]


def is_compared(desk: Desk, draft: Draft) -> bool:
    """Whether a draft is compared by its vector, not by its words alone. Pure."""
    return draft.vector is not None and desk.model_id is not None


def near_of(draft: Draft, row: Any, cosine: float | None, *, in_default: bool) -> gates.Near:
    """A row near a draft, as the gates see it. Pure."""
    key = draft.classified.conflict_key
    return gates.Near(
        row.memory_id, row.fact, None if cosine is None else round(cosine, nearness.DIGITS), in_default,
        row.conflict_key,
        stated_from=row.valid_from if row.valid_from_stated else None, stated_to=row.ended_at,
        changed=("slot",) if None not in (key, row.conflict_key) and key != row.conflict_key else (),
    )  # fmt: skip


def as_near(found: Sequence[gates.Near]) -> list[gates.Near]:
    """Rows near a draft, those of the same words as near as each other and the oldest of them first. Pure.

    They have one vector. But the database adds up in another order than numpy does, by which a batch is compared, and
    the last digit would say which of them is nearer, and another one of them when the same is said again.
    """
    cosines: dict[str, float] = {}
    for one in found:
        if one.cosine is not None:
            cosines[one.fact] = max(one.cosine, cosines.get(one.fact, one.cosine))
    alike = [one if one.cosine == (near := cosines.get(one.fact)) else replace(one, cosine=near) for one in found]
    return sorted(alike, key=lambda one: (one.in_default, -(one.cosine or 0.0), one.memory_id))


def _near_by_words(desk: Desk, draft: Draft, scope_id: int, now: datetime | None) -> list[Row[Any]]:
    """Without a vector the words alone say what is near: enough for surprise, never for calling two facts one."""
    words = keyword.parse(draft.fact)
    sought = keyword.look_up(desk.conn, desk.tenant_id, [scope_id], words, size=NEAR_SIZE, config=desk.config)
    hits = keyword.find(desk.conn, desk.tenant_id, [scope_id], sought, limit=NEAR_FETCHED)
    ids_found = [hit.memory_id for hit in hits]
    if not ids_found:
        return []
    return fetch_all(
        desk.conn,
        "list_neighbours",
        tenant_id=desk.tenant_id,
        memory_ids=ids_found,
        own=desk.scope_id,
        private=draft.private,
        now=now,
    )


def default_scopes(desk: Desk) -> list[int]:
    """The scopes of the same owner in the shared namespace, which mode `report` looks at too."""
    own = desk.visible.scopes[desk.scope_id]
    return [
        scope_id
        for scope_id, scope in desk.visible.scopes.items()
        if scope.namespace == "default" != own.namespace
        and (scope.agent_id, scope.user_id) == (own.agent_id, own.user_id)
    ]
