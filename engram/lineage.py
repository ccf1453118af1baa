"""Lineage: which statement of one fact is the head. A pure function of the statements, not of their arrival."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from engram import text
from engram.values import Status

Order = tuple[datetime, datetime, str, int]


@dataclass(frozen=True, slots=True)
class Member:
    """A row of a lineage: where it stands, how far it is trusted, and what may keep it from being head.

    `order` is (when it was last said to hold, recorded_at of the event, event id, ordinal) of the latest of its best
    trusted statements; `trust` the stored rank, 0 best; `begins` since when it holds; `put_away` rows (archived,
    tombstones, explicitly superseded) keep their place but are never head; one that is `erased` gives way to what is
    derived anew of the very statement that put it there; `negates` is the value that the statement says no longer
    holds, in compared text.
    """

    memory_id: str
    order: Order
    trust: int
    says: str
    begins: datetime
    put_away: bool = False
    negates: str | None = None
    erased: bool = False

    @property
    def rank(self) -> tuple[Order, bool]:
        """Where it stands, so that no two are alike."""
        return self.order, not self.erased


@dataclass(frozen=True, slots=True)
class Place:
    """What the order says of a row: its status, its heir, and when the heir began to hold.

    Of one that is `put_away` it only says whether it is moot.
    """

    status: Status
    superseded_by: str | None = None
    valid_to: datetime | None = None
    moot: bool = False
    put_away: bool = False


def places(members: Iterable[Member]) -> dict[str, Place]:
    """The place of every member that is not put away, by memory id.

    A statement dominates an earlier one when it is not less trusted. The dominated are superseded by their next
    dominator; of the rest the most trusted is head, the others (later, but less trusted) are contested. A negation of
    something that was not believed when it was said is moot: it stays a fact of its own and displaces nothing, until
    somebody not less trusted says that very thing.
    """
    ordered = sorted(members, key=lambda member: member.rank)
    beside = _moot(ordered)
    standing = [member for member in ordered if member.memory_id not in beside]
    heirs = _next_dominators(standing)
    head = min((m for m in standing if m.memory_id not in heirs), key=lambda m: m.trust, default=None)
    placed = {
        member.memory_id: _beside(member, ordered[at + 1 :])
        for at, member in enumerate(ordered)
        if member.memory_id in beside and not member.put_away
    }
    for member in standing:
        heir = heirs.get(member.memory_id)
        if member.put_away:
            continue
        if heir is not None:
            placed[member.memory_id] = Place("superseded", heir.memory_id, heir.begins)
        else:
            placed[member.memory_id] = Place("active" if member is head else "contested")
    return placed


def moot(members: Iterable[Member]) -> set[str]:
    """The negations of what was not believed when they were said, by memory id, those put away too."""
    return _moot(sorted(members, key=lambda member: member.rank))


def _next_dominators(ordered: Sequence[Member]) -> dict[str, Member]:
    """For each member the next later one that is not less trusted: one pass from the right with a stack."""
    heirs: dict[str, Member] = {}
    stack: list[Member] = []
    for member in reversed(ordered):
        while stack and stack[-1].trust > member.trust:
            stack.pop()
        if stack:
            heirs[member.memory_id] = stack[-1]
        stack.append(member)
    return heirs


def _moot(ordered: Sequence[Member]) -> set[str]:
    found: set[str] = set()
    believed: Member | None = None
    for member in ordered:
        if member.negates is not None and not (
            believed and believed.negates is None and says(believed.says, member.negates)
        ):
            found.add(member.memory_id)
        elif believed is None or member.trust <= believed.trust:
            believed = member
    return found


def _beside(negation: Member, later: Iterable[Member]) -> Place:
    """The place of a moot negation: superseded where what it negates was said later, of its own otherwise."""
    heir = next((member for member in later if affirms(member, negation)), None)
    if heir is None:
        return Place("active", moot=True)
    return Place("superseded", heir.memory_id, heir.begins, moot=True)


def affirms(new: Member, negation: Member) -> bool:
    """Whether a statement that comes after a negation, and is not less trusted, says what that negates."""
    if new.negates is not None or negation.negates is None or new.trust > negation.trust:
        return False
    return new.rank > negation.rank and says(new.says, negation.negates)


def says(fact: str, value: str) -> bool:
    """Whether a fact states a value: the value's words stand in it, in order and next to each other."""
    words, wanted = _words(fact), _words(value)
    return bool(wanted) and any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1))


@lru_cache(maxsize=4096)
def _words(said: str) -> list[str]:
    return text.words(said)


def dominates_front(new: Member, front: Iterable[Member]) -> bool:
    """Whether a new statement comes after, and is trusted no less than, every row that is active or contested."""
    return all(new.rank > member.rank and new.trust <= member.trust for member in front)


def changed(before: Mapping[str, Place], after: Mapping[str, Place]) -> dict[str, Place]:
    """The places that differ."""
    return {member: place for member, place in after.items() if before.get(member) != place}
