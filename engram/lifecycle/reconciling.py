"""Reconciling: which older and newer memories of the same thing a model may join, and what is done then. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from engram.lifecycle.deeds import NEW, Deed, Effect, Tie
from engram.lifecycle.keeping import is_rewording, may_be_reworded, says_all
from engram.lifecycle.merging import Choice, is_bound_apart
from engram.lifecycle.pairing import Pair, Row
from engram.writing import Draft

APART: Final = timedelta(hours=1)  # by which the newer of two must be newer
RECONCILED: Final = "reconciled"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Pairs to ask a model about, the newer as the winner, and pairs that stay two."""

    asked: tuple[Choice, ...] = ()
    apart: tuple[Pair, ...] = ()


def choose(rows: Mapping[str, Row], pairs: Iterable[Pair]) -> Chosen:
    """Which pairs a model may be asked about: newer by an hour, of one trust, without keys, of no changed value.

    A memory is in one question at most.
    """
    asked: list[Choice] = []
    apart: list[Pair] = []
    held: set[str] = set()
    for pair in pairs:
        if pair.low_id not in rows or pair.high_id not in rows or held & set(pair.ids):
            continue
        older, newer = sorted((rows[one] for one in pair.ids), key=lambda row: (row.recorded_at, row.memory_id))
        if newer.recorded_at - older.recorded_at < APART or older.kept or newer.kept:
            continue
        if not may_be_joined(newer, older):
            apart.append(pair)
            continue
        asked.append(Choice(newer, older, pair.similarity))
        held |= set(pair.ids)
    return Chosen(tuple(asked), tuple(apart))


def may_be_joined(newer: Row, older: Row) -> bool:
    """Whether the order of trust, keys, times and values let a newer memory take in an older one."""
    if newer.trust != older.trust or newer.conflict_key is not None or older.conflict_key is not None:
        return False
    return not is_bound_apart(newer, older) and may_be_reworded(newer.fact, older.fact)


def may_join(choice: Choice, text: str) -> bool:
    """Whether a text may stand for both: the newer one's own where that says all, else one that lost nothing."""
    if text == choice.winner.fact:
        return says_all(text, choice.loser.fact)
    return is_rewording((choice.winner.fact, choice.loser.fact), text)


def deed(choice: Choice, draft: Draft | None) -> Deed:
    """What is done: the newer gets the text as a revision, the older is superseded by it."""
    stays = choice.winner.memory_id if draft is None else NEW
    why = "a language model joined it with a newer memory, and no value was lost"
    older = Effect(
        choice.loser.memory_id, {"status": "superseded", "status_reason": RECONCILED, "superseded_by": stays}, why
    )
    return Deed(
        effects=(older,), ties=(Tie(stays, choice.loser.memory_id, "supersedes"),), draft=draft,
        of=() if draft is None else (choice.winner.memory_id, choice.loser.memory_id),
    )  # fmt: skip
