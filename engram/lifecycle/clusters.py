"""Clusters: groups of memories that are about one thing, and the text of one that stands for such a group. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from engram.lifecycle.deeds import NEW, Deed, Effect, Tie
from engram.lifecycle.keeping import is_rewording, says_all
from engram.lifecycle.pairing import LAYERS, SUMMARY, Pair, Row
from engram.lifecycle.thresholds import CLUSTER_MEMBERS, MOST_CLUSTERS, SUMMARY_IMPORTANCE, Thresholds
from engram.policies.classify import Classified
from engram.text import jaccard, tokens
from engram.writing import Draft

MOST_MEMBERS: Final = 40
LONGEST: Final = 4_000  # characters of a summary: what does not fit in stays by itself


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that are like one of them, the first: how alike its pairs are on average, and how much that differs."""

    members: tuple[Row, ...]
    mean: float
    deviation: float
    redundant: bool

    @property
    def medoid(self) -> Row:
        """The member the others are most like."""
        return self.members[0]


def find(
    rows: Mapping[str, Row], pairs: Iterable[Pair], at: Thresholds, *, by_words: bool = False,
    least: int = CLUSTER_MEMBERS, most: int = MOST_CLUSTERS,
) -> list[Group]:  # fmt: skip
    """At most `most` groups of at least `least`, greedily from the memory with the most others near it.

    Near are two from the similarity `cluster` on that share words too (`cluster_jaccard`); where words are all there
    is, from `cluster_words` on. A memory is in one group.
    """
    near: dict[str, dict[str, float]] = {}
    known: dict[tuple[str, str], float] = {}
    words = {one: tokens(row.fact) for one, row in rows.items()}
    for pair in pairs:
        if pair.low_id not in rows or pair.high_id not in rows:
            continue
        known[pair.ids] = pair.similarity
        if _is_near(pair, words, at, by_words=by_words):
            near.setdefault(pair.low_id, {})[pair.high_id] = pair.similarity
            near.setdefault(pair.high_id, {})[pair.low_id] = pair.similarity
    groups: list[Group] = []
    left = set(near)
    while len(groups) < most and left:
        seed = min(left, key=lambda one: (-len(near[one].keys() & left), -sum(near[one].values()), one))
        others = sorted(near[seed].keys() & left, key=lambda one: (-near[seed][one], one))[: MOST_MEMBERS - 1]
        if len(others) + 1 < least:
            break
        groups.append(_group([rows[one] for one in (seed, *others)], known, at))
        left -= {seed, *others}
    return groups


def _is_near(pair: Pair, words: Mapping[str, frozenset[str]], at: Thresholds, *, by_words: bool) -> bool:
    shared = jaccard(words[pair.low_id], words[pair.high_id])
    if by_words:
        return shared >= at.cluster_words
    return pair.similarity >= at.cluster and shared >= at.cluster_jaccard


def _group(members: Sequence[Row], known: Mapping[tuple[str, str], float], at: Thresholds) -> Group:
    ids = sorted(row.memory_id for row in members)
    alike = [known[one, two] for place, one in enumerate(ids) for two in ids[place + 1 :] if (one, two) in known]
    mean = round(sum(alike) / len(alike), 9)
    deviation = sqrt(sum((one - mean) ** 2 for one in alike) / len(alike))
    return Group(tuple(members), mean, deviation, mean >= at.redundant and deviation <= at.redundant_deviation)


# ------------------------------------------------ summaries


def text_of(group: Group) -> tuple[str, tuple[Row, ...]]:
    """The medoid's text, then those of the others that say more, and the members it stands for: nothing is lost.

    A member whose text does not fit in is none of them. One is left out of the text only where another says all of it:
    words that stand in different sentences do not add up to what it said.
    """
    said, held = [group.medoid.fact], [group.medoid]
    for row in group.members[1:]:
        if not any(says_all(fact, row.fact) for fact in said):
            if len(" ".join(map(_ended, (*said, row.fact)))) > LONGEST:
                continue
            said.append(row.fact)
        held.append(row)
    return (" ".join(map(_ended, said)) if len(said) > 1 else said[0]), tuple(held)


def _ended(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", "。", "！", "？")) else f"{text.rstrip()}."


def may_be_summarised(row: Row) -> bool:
    """Whether a memory may leave its place to a summary: one with a key or an end has a life of its own."""
    return not row.kept and row.conflict_key is None and row.expires_at is None and row.valid_to is None


def may_tell(members: Sequence[Row], text: str) -> bool:
    """Whether what a model wrote of memories may stand for them: none says what another does not allow."""
    return len(text) <= LONGEST and is_rewording([row.fact for row in members], text)


def deed(members: Sequence[Row], draft: Draft) -> Deed:
    """What is done of a summary: it is written, and those it stands for leave default reads."""
    return put_together(members, draft, f"it stands in a summary of {len(members)} memories")


def put_together(members: Sequence[Row], draft: Draft, why: str) -> Deed:
    """One memory in the highest layer of several is written to stand for them, and they leave default reads."""
    layer = max((row.layer for row in members), key=LAYERS.index)
    return Deed(
        effects=(
            Effect(NEW, {"layer": layer}, "it is in the highest layer of those it stands for"),
            *(Effect(row.memory_id, {"consolidated_into": NEW}, why) for row in members),
        ),
        ties=tuple(
            tie for row in members
            for tie in (Tie(NEW, row.memory_id, "derived_from"), Tie(row.memory_id, NEW, "summarized_by"))
        ),
        draft=draft, of=tuple(row.memory_id for row in members),
    )  # fmt: skip


def draft_of(text: str, medoid: Row) -> Draft:
    """The memory that a summary becomes."""
    return Draft(
        fact=text, classified=Classified(medoid.memory_type, category=SUMMARY, importance=SUMMARY_IMPORTANCE),
        tags=(SUMMARY,), source="life_cycle",
    )  # fmt: skip


def same_trust(rows: Iterable[Row]) -> list[Row]:
    """Those that are as trusted as the first: what stands for several has the worst trust of them."""
    kept = list(rows)
    return [row for row in kept if row.trust == kept[0].trust]
