"""Merging: which of two like memories stays, and what it takes over of the other. Pure.

Two memories become one only where one text claims all that the other does, or where a language model wrote one that
holds every value and every word of both. Two that claim different things stay two, however alike they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from engram.lifecycle.deeds import NEW, Count, Deed, Effect, Tie, archived
from engram.lifecycle.keeping import may_be_reworded, says_all
from engram.lifecycle.pairing import LAYERS, Pair, Row
from engram.lifecycle.thresholds import Thresholds
from engram.writing import Draft

MOST_TAGS: Final = 20
MERGED: Final = "merged"

Judgement = Literal["merge", "ask", "apart", "far"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Two memories that become one: the winner stays, the loser is put away."""

    winner: Row
    loser: Row
    similarity: float

    @property
    def pair(self) -> Pair:
        """The two, as a pair."""
        low, high = sorted((self.winner.memory_id, self.loser.memory_id))
        return Pair(low, high, self.similarity)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a run makes of some pairs: those that become one, those to ask a model about, and those that stay two."""

    merges: tuple[Choice, ...] = ()
    asked: tuple[Choice, ...] = ()
    apart: tuple[Pair, ...] = ()


def judge(one: Row, two: Row, similarity: float, at: Thresholds, *, asks: bool = False) -> Judgement:
    """What becomes of two memories: one of them, one text a model is asked for, or two that claim different things."""
    if similarity < (at.merge_text if asks else at.merge):
        return "far"
    if one.memory_type != two.memory_type and similarity < at.merge_other_type:
        return "far"
    if is_bound_apart(one, two):
        return "apart"
    if any(_may_win(winner, loser) for winner, loser in ((one, two), (two, one))):
        return "merge" if similarity >= at.merge else "ask"
    if one.kept or two.kept:
        return "far"  # another day the veto may be another
    if asks and one.trust == two.trust and None is one.conflict_key is two.conflict_key:
        return "ask" if may_be_reworded(one.fact, two.fact) else "apart"
    return "apart"


def is_bound_apart(one: Row, two: Row) -> bool:
    """Whether slots, keys, stated times or expiry say that two memories are not one, whatever their words."""
    if None not in (one.conflict_key, two.conflict_key):
        return True
    if None not in (one.stated_from, two.stated_from) and one.stated_from != two.stated_from:
        return True
    return (one.expires_at, one.valid_to) != (two.expires_at, two.valid_to)


def choose(rows: Mapping[str, Row], pairs: Iterable[Pair], at: Thresholds, *, asks: bool = False) -> Chosen:
    """What becomes of pairs, the most alike first; a memory is put away once, and what it won goes with its winner.

    `rows` are the memories of the pairs; a pair of which one is missing is passed over.
    """
    held = dict(rows)
    merges: list[Choice] = []
    asked: list[Choice] = []
    apart: list[Pair] = []
    waiting: set[str] = set()  # in the text of a pair that a model is asked about: they stay as they are
    for pair in sorted(pairs, key=lambda pair: (-pair.similarity, pair.ids)):
        if pair.low_id not in held or pair.high_id not in held or waiting & set(pair.ids):
            continue
        one, two = held[pair.low_id], held[pair.high_id]
        judgement = judge(one, two, pair.similarity, at, asks=asks)
        if judgement == "apart":
            apart.append(pair)
        elif judgement == "merge":
            choice = winner_of(one, two, pair.similarity)
            merges.append(choice)
            held[choice.winner.memory_id] = united(choice)
            del held[choice.loser.memory_id]
        elif judgement == "ask":
            asked.append(winner_of(one, two, pair.similarity))
            waiting |= set(pair.ids)
    return Chosen(tuple(merges), tuple(asked), tuple(apart))


def winner_of(one: Row, two: Row, similarity: float) -> Choice:
    """Which of two stays: the one that says all, then the more important, the more used, the newer."""
    ranked = sorted((one, two), key=lambda row: row.memory_id)
    ranked.sort(key=lambda row: (row.importance, row.accesses, row.recorded_at), reverse=True)
    first, second = ranked
    if _may_win(first, second) or not _may_win(second, first):
        return Choice(first, second, similarity)
    return Choice(second, first, similarity)


def _may_win(winner: Row, loser: Row) -> bool:
    """A key and trust are never lost, nor anything that was said, nor what the policy keeps."""
    if loser.kept or loser.conflict_key is not None or winner.trust > loser.trust:
        return False
    return says_all(winner.fact, loser.fact)


def united(choice: Choice) -> Row:
    """The winner with all that it takes over."""
    winner, loser = choice.winner, choice.loser
    return replace(
        winner, importance=max(winner.importance, loser.importance),
        layer=max(winner.layer, loser.layer, key=LAYERS.index),
        tags=tuple(dict.fromkeys((*winner.tags, *loser.tags)))[:MOST_TAGS],
        accesses=winner.accesses + loser.accesses, repetitions=winner.repetitions + loser.repetitions,
    )  # fmt: skip


def deed(choice: Choice, ties: Sequence[Tie] = (), draft: Draft | None = None, because: str | None = None) -> Deed:
    """What is done of a choice: the winner, or `draft` as its new revision, takes over; the loser is put away."""
    why = because or f"alike by {choice.similarity:.3f}, and one says all that the other does"
    return joined(choice.winner, [choice.loser], ties, draft, because=why)


def joined(
    winner: Row, losers: Sequence[Row], ties: Sequence[Tie] = (), draft: Draft | None = None, *, because: str,
    of_all: bool = True,
) -> Deed:  # fmt: skip
    """What is done where some memories become one; `of_all` says that the draft has the trust of all of them."""
    whole, stays = winner, winner.memory_id if draft is None else NEW
    for loser in losers:
        whole = united(Choice(whole, loser, 1.0))
    taken: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name in ("importance", "layer", "tags")
        if (value := getattr(whole, name)) != getattr(winner, name) or draft is not None
    }
    effects = [archived(loser.memory_id, MERGED, because, superseded_by=stays) for loser in losers]
    if taken:
        effects.append(Effect(stays, taken, because))
    had = whole if draft is not None else replace(
        whole, accesses=whole.accesses - winner.accesses, repetitions=whole.repetitions - winner.repetitions
    )  # fmt: skip
    begun: list[Tie] = list(ties)
    ended: list[Tie] = []
    for loser in losers:
        changed = moved(begun, loser.memory_id, stays)
        ended += [tie for tie in changed if tie.ended]
        begun = [tie for tie in begun if loser.memory_id not in (tie.source_id, tie.target_id)]
        begun += [tie for tie in changed if not tie.ended]
    standing = set(ties)
    return Deed(
        effects=tuple(effects),
        counts=(Count(stays, had.accesses, had.repetitions),) if had.accesses or had.repetitions else (),
        ties=(
            *(tie for tie in ended if replace(tie, ended=False) in standing),
            *(tie for tie in begun if tie not in standing),
            *(Tie(stays, loser.memory_id, "derived_from") for loser in losers),
        ),
        draft=draft, of=(winner.memory_id, *(loser.memory_id for loser in losers)) if draft and of_all else (),
    )  # fmt: skip


def moved(ties: Iterable[Tie], loser_id: str, winner_id: str) -> list[Tie]:
    """The relations of the loser, ended, and begun again at the winner; none of the winner to itself."""
    found: list[Tie] = []
    for tie in ties:
        if loser_id not in (tie.source_id, tie.target_id):
            continue
        source, target = (winner_id if end == loser_id else end for end in (tie.source_id, tie.target_id))
        found.append(replace(tie, ended=True))
        if source != target:
            found.append(replace(tie, source_id=source, target_id=target))
    return found
