"""The write gates: what becomes of a candidate, decided in one fixed order. Pure.

    exact duplicate → value-change guard → conflict key → near-duplicate → two-gate conflict → surprise

How the write path calls it, with rows it has read under its locks:

    judgement = decide(
        Statement(fact, conflict_key=key, stated_from=when_someone_said_so, trust=1, force=force),
        exact=row_with_the_same_text,         # Row | None: active, same scope, same `text.fact_hash`
        head=head_of_the_conflict_key,        # Row | None: only where the candidate has a key
        neighbours=[Near(id, fact, cosine)],  # the nearest active, unexpired rows; cosine None without vectors
        same_type=active_rows_of_the_type,    # counted to 256
        mode=policy.write_mode,
        thresholds=Thresholds.of(policy.thresholds, model_thresholds),
    )

`judgement.kind` is the decision; `target_id` the row it is about (the row to reinforce or revise, the closest row of a
conflict or a rejection); `contradicts_id` asks for a `contradicts` relation. The caller compares slots and subjects,
which are columns, and passes what differs as `Near.changed=("slot",)`; who becomes head after `revise` is lineage's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from engram.english.claims import read
from engram.english.differences import are_of_two, changes, is_minimal_pair
from engram.layered import Layered
from engram.scales import REFERENCE, Scale
from engram.text import compared, jaccard, tokens
from engram.values import DecisionKind, Neighbour, SurpriseTerms

__all__ = [
    "WRITE_MODES", "Judgement", "Near", "Row", "Statement", "Thresholds", "WriteMode", "changes", "decide",
    "is_minimal_pair", "restates", "surprise",
]  # fmt: skip

WriteMode = Literal["return", "report", "gate", "merge", "absorb", "store"]
WRITE_MODES: tuple[WriteMode, ...] = ("return", "report", "gate", "merge", "absorb", "store")
# Differences that no surprise gate may reject; a word, of whatever kind, bars where the pair is otherwise equal.
_BARRING = frozenset({"quantity", "date", "polarity", "order", "name", "slot"})
COUNTED_TO = 256  # rows of a type: how rare a type is says no more beyond
_FEW = 2
# Nearer than this, in meaning or in words, what two facts claim is compared; nobody calls anything farther the same.
FAR = 0.5
UNLIKE = 0.4


@dataclass(frozen=True, slots=True)
class Thresholds(Layered):
    """Where the gates close; they belong to the embedding model, these are the fall-back."""

    near: float = 0.95
    conflict_distance: float = 0.12
    conflict_distance_default: float = 0.05
    conflict_jaccard: float = 0.40
    surprise: float = 0.15
    insert_dedup: float = 0.65
    captured_dedup: float = 0.60
    insert_merge: float = 0.80
    dedup_jaccard: float = 0.50
    dedup_cosine: float = 0.85
    absorb: float = 0.85


@dataclass(frozen=True, slots=True)
class Statement:
    """A candidate as the gates see it."""

    fact: str
    conflict_key: str | None = None
    stated_from: datetime | None = None  # valid_from where someone said it, else None
    stated_to: datetime | None = None  # valid_to, which is always said
    trust: int = 1  # 0 best … 5 worst
    force: bool = False
    evidence: bool = False  # a verbatim row or a chunk of a source: never compared with distilled facts
    captured: bool = False  # from captured traffic, where `merge` closes earlier
    value: str | None = None  # of its key, where the statement gives the value and says no more
    embedded: bool = True  # whether a vector was compared; without one the words alone say how new it is


@dataclass(frozen=True, slots=True)
class Row:
    """An existing row: the exact duplicate, or the head of a conflict key."""

    memory_id: str
    fact: str
    conflict_key: str | None = None
    valid_from: datetime | None = None
    trust: int = 1
    evidence: bool = False
    value: str | None = None  # of its key
    stated_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """An existing row close to the candidate in meaning or words."""

    memory_id: str
    fact: str
    cosine: float | None = None
    in_default: bool = False  # it lives in the shared namespace; only mode `report` looks there
    conflict_key: str | None = None
    evidence: bool = False
    stated_from: datetime | None = None
    stated_to: datetime | None = None
    changed: tuple[str, ...] = ()  # what the caller found to differ: "slot"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gates decided, and why."""

    kind: DecisionKind
    target_id: str | None = None
    reasons: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    surprise: SurpriseTerms | None = None
    contradicts_id: str | None = None
    contradicts_weight: float | None = None
    nearest: tuple[Neighbour, ...] = field(default=())


def decide(
    candidate: Statement,
    *,
    exact: Row | None = None,
    head: Row | None = None,
    neighbours: Sequence[Near] = (),
    same_type: int = 0,
    mode: WriteMode = "return",
    thresholds: Thresholds = Thresholds(),
    scale: Scale = REFERENCE,
    score_surprise: bool = True,
) -> Judgement:
    """What becomes of a candidate: add, reinforce, revise, conflict or reject, with the reasons.

    Thresholds are of the model's own cosines; surprise is told on the `scale` that all are judged by.
    """
    seen = [
        near for near in neighbours if near.evidence == candidate.evidence and (mode == "report" or not near.in_default)
    ]
    own = tokens(candidate.fact)
    nearest = tuple(_compare(candidate, near, own, mode, thresholds) for near in seen)
    duplicate = exact is not None and _is_exact(candidate, exact)
    asked = score_surprise or mode == "gate"
    terms = _terms(candidate, seen, nearest, same_type, duplicate, scale) if asked else None
    if terms is not None and mode == "gate":
        terms = replace(terms, threshold=thresholds.surprise)
    judged = (
        (_reinforce_exact(candidate, exact) if exact is not None and duplicate else None)
        or _by_key(candidate, head)
        or (None if candidate.force else _by_mode(candidate, seen, nearest, mode, thresholds, terms))
        or _add(candidate, seen, nearest, mode, thresholds)
    )
    return replace(judged, surprise=terms, nearest=nearest)


def surprise(
    cosines: Sequence[float] | None, jaccards: Sequence[float], same_type: int, closest_id: str | None = None
) -> SurpriseTerms:
    """How new a candidate is: its distance in meaning and words from what is there, and how rare its type is."""
    keyword = 1.0 - max(jaccards, default=0.0)
    rarity = 1.0 / math.log2(2 + min(max(same_type, 0), COUNTED_TO))
    if cosines is None:
        return SurpriseTerms(None, keyword, rarity, 0.8 * keyword + 0.2 * rarity, closest_id)
    semantic = 1.0 - max((min(max(cosine, 0.0), 1.0) for cosine in cosines), default=0.0)
    return SurpriseTerms(semantic, keyword, rarity, 0.6 * semantic + 0.3 * keyword + 0.1 * rarity, closest_id)


def restates(candidate: str, existing: str) -> bool:
    """Whether a fact under the same key and of the same words of a speaker gives no other value than an existing one.

    Saying more or less of it, or putting it otherwise, is the same statement; another number, name or "not" is none.
    """
    kinds = set(changes(candidate, existing))
    one, two = _values(candidate), _values(existing)
    other = {kind for kind in kinds & set(one) if not (one[kind] <= two[kind] or two[kind] <= one[kind])}
    return not (other or kinds & {"polarity", "order"})


def _values(fact: str) -> dict[str, frozenset[object]]:
    claim = read(fact)
    names = frozenset(unit.surface for unit in claim.units if unit.case == "mid")
    return {"quantity": frozenset(claim.quantities), "date": frozenset(claim.dates), "name": frozenset(names)}


# --- Exact duplicate and key: never skipped -----------------------------------------------------------------------
def _is_exact(candidate: Statement, row: Row) -> bool:
    """The same text under the same key, and no stated time that says it happened another time, or ends at one."""
    if row.evidence != candidate.evidence or compared(row.fact) != compared(candidate.fact):
        return False
    if candidate.conflict_key not in (None, row.conflict_key):
        return False
    return candidate.stated_from in (None, row.valid_from) and not _ends_otherwise(candidate, row.stated_to)


def _ends_otherwise(candidate: Statement, stated_to: datetime | None) -> bool:
    """Whether a candidate states an end, and a row another one or none."""
    return candidate.stated_to not in (None, stated_to)


def _reinforce_exact(candidate: Statement, row: Row) -> Judgement:
    raised = ("trust_raised",) if candidate.trust < row.trust else ()
    return Judgement("reinforce", row.memory_id, ("exact_duplicate", *raised))


def _by_key(candidate: Statement, head: Row | None) -> Judgement | None:
    if candidate.conflict_key is None or head is None or head.evidence != candidate.evidence:
        return None
    if compared(head.fact) == compared(candidate.fact) and not _ends_otherwise(candidate, head.stated_to):
        raised = ("trust_raised",) if candidate.trust < head.trust else ()
        return Judgement("reinforce", head.memory_id, ("same_key", "same_text", *raised))
    if candidate.value is not None and candidate.value == head.value and candidate.stated_from is None:
        raised = ("trust_raised",) if candidate.trust < head.trust else ()
        return Judgement("reinforce", head.memory_id, ("same_key", "same_value", *raised))
    return Judgement("revise", head.memory_id, ("same_key",))


# --- Near-duplicate, two-gate conflict, surprise: what `force` skips ----------------------------------------------
def _by_mode(
    candidate: Statement, seen: Sequence[Near], nearest: Sequence[Neighbour], mode: WriteMode, at: Thresholds,
    terms: SurpriseTerms | None,
) -> Judgement | None:  # fmt: skip
    if candidate.conflict_key is not None or mode == "store":
        return None  # a key says what the candidate may replace: nearness says nothing more
    if mode == "gate":
        return _by_surprise(candidate, nearest, at, terms)
    unchanged = [(near, seen_as) for near, seen_as in zip(seen, nearest, strict=True) if not seen_as.changed]
    close = [pair for pair in unchanged if _is_near(pair[0], pair[1].jaccard, candidate, mode, at)]
    if not close:
        return None
    target = max(close, key=lambda pair: pair[1].cosine or 0.0)[0]
    if mode == "report":
        return Judgement("conflict", target.memory_id, ("near_duplicate", "two_gates"), ("revise", "force", "forget"))
    return Judgement("reinforce", target.memory_id, ("near_duplicate",))


def _is_near(near: Near, shared: float, candidate: Statement, mode: WriteMode, at: Thresholds) -> bool:
    if near.cosine is None:
        return False
    if mode == "report":
        # Both gates must fire: like vectors with other words, or like words far apart, are two facts.
        limit = at.conflict_distance_default if near.in_default else at.conflict_distance
        return 1.0 - near.cosine < limit and shared >= at.conflict_jaccard
    if mode == "merge":
        net = shared > at.dedup_jaccard and near.cosine > at.dedup_cosine
        return net or near.cosine >= (at.captured_dedup if candidate.captured else at.insert_dedup)
    return near.cosine >= (at.absorb if mode == "absorb" else at.near)


def _by_surprise(
    candidate: Statement, nearest: Sequence[Neighbour], at: Thresholds, terms: SurpriseTerms | None
) -> Judgement | None:
    if terms is None or terms.score >= at.surprise or not nearest:
        return None
    closest = {max(nearest, key=lambda n: n.cosine or 0.0), max(nearest, key=lambda n: n.jaccard)}
    if any(_bars(candidate, neighbour) for neighbour in closest):
        return None
    reworded = ("reworded",) if any(neighbour.changed for neighbour in closest) else ()
    return Judgement("reject", terms.closest_id, ("surprise_below_threshold", *reworded), ("force", "revise"))


def _bars(candidate: Statement, neighbour: Neighbour) -> bool:
    changed = set(neighbour.changed)
    if changed & _BARRING:
        return True
    pair = candidate.fact, neighbour.fact
    return bool(changed) and (is_minimal_pair(*pair) or _differ_in_few(*pair))


def _differ_in_few(one: str, two: str) -> bool:
    """Whether two texts are equal but for one or two words, the small ones too: replaced, put in or left out."""
    first, second = ([word.strip(",.;:!?") for word in compared(text).split()] for text in (one, two))
    if len(first) == len(second):
        return sum(x != y for x, y in zip(first, second, strict=True)) <= _FEW
    head = next(
        (n for n, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), min(len(first), len(second))
    )
    left, right = first[head:], second[head:]
    tail = next((n for n, (x, y) in enumerate(zip(left[::-1], right[::-1], strict=False)) if x != y), len(left))
    return max(len(left), len(right)) - min(tail, len(left), len(right)) <= _FEW


# --- Add ----------------------------------------------------------------------------------------------------------
def _add(
    candidate: Statement, seen: Sequence[Near], nearest: Sequence[Neighbour], mode: WriteMode, at: Thresholds
) -> Judgement:
    forced = ("forced",) if candidate.force else ()
    if candidate.conflict_key is not None:
        return Judgement("add", None, ("new_key", *forced))
    pairs = [
        seen_as
        for near, seen_as in zip(seen, nearest, strict=True)
        if seen_as.changed and not near.in_default and _is_near(near, seen_as.jaccard, candidate, mode, at)
        and not are_of_two(candidate.fact, near.fact)
    ]  # fmt: skip
    if not pairs:
        return Judgement("add", None, ("new", *forced))
    other = max(pairs, key=lambda pair: pair.cosine or 0.0)
    if other.changed == ("extra",):  # it says the same and more: stored, but the two do not contradict
        return Judgement("add", other.memory_id, ("value_changed", "says_more", *forced))
    reasons = ("value_changed", *(f"changed:{kind}" for kind in other.changed), *forced)
    return Judgement("add", other.memory_id, reasons, contradicts_id=other.memory_id, contradicts_weight=other.cosine)


# --- Comparing ----------------------------------------------------------------------------------------------------
def _compare(
    candidate: Statement, near: Near, own: frozenset[str], mode: WriteMode, at: Thresholds
) -> Neighbour:  # fmt: skip
    shared = jaccard(own, tokens(near.fact))
    if mode != "gate" and _is_far(near, shared) and not _is_near(near, shared, candidate, mode, at):
        return Neighbour(near.memory_id, near.fact, near.cosine, shared, near.changed)
    kinds = {*changes(candidate.fact, near.fact), *near.changed}
    if candidate.stated_from is not None and near.stated_from not in (None, candidate.stated_from):
        kinds.add("date")
    if _ends_otherwise(candidate, near.stated_to):
        kinds.add("date")
    return Neighbour(near.memory_id, near.fact, near.cosine, shared, tuple(sorted(kinds)))


def _is_far(near: Near, shared: float) -> bool:
    return near.cosine is not None and near.cosine < FAR and shared < UNLIKE


def _terms(
    candidate: Statement, seen: Sequence[Near], nearest: Sequence[Neighbour], same_type: int, duplicate: bool,
    scale: Scale,
) -> SurpriseTerms:  # fmt: skip
    own = [neighbour for near, neighbour in zip(seen, nearest, strict=True) if not near.in_default]
    cosines = [scale.told(neighbour.cosine) for neighbour in own if neighbour.cosine is not None]
    measured = cosines if cosines or (candidate.embedded and not own) else None
    closest = max(own, key=lambda n: (n.cosine or 0.0, n.jaccard), default=None)
    closest_id = None if closest is None else closest.memory_id
    terms = surprise(measured, [neighbour.jaccard for neighbour in own], same_type, closest_id)
    return replace(terms, score=0.0) if duplicate else terms
