"""Where the steps of the life cycle begin and end: similarities, which belong to a model, and counts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engram.layered import Layered

DISTILL_MEMBERS: Final = 10  # a topic with as many members is distilled
DISTILL_PER_CYCLE: Final = 2  # topics distilled in one cycle
DISTILL_NOTES: Final = 3  # notes of sessions that have not been distilled, from which they are
DISTILL_NEWEST: Final = 10  # of those notes, how many are read
DISTILL_CHARACTERS: Final = 250  # of what is made of them
DISTILLED_IMPORTANCE: Final = 0.7
SUMMARY_IMPORTANCE: Final = 0.5
CLUSTER_MEMBERS: Final = 3
MOST_CLUSTERS: Final = 10


@dataclass(frozen=True, slots=True)
class Thresholds(Layered):
    """The similarities of the life cycle; they belong to the embedding model, these are the fall-back.

    `merge` begins a merge of like memories and `merge_text` one that a language model words; memories of different
    types need `merge_other_type`. Between `reconcile_min` and `reconcile_max` a model reconciles, between `audit_min`
    and `audit_max` an audit proposes merges. The names in `MemoryPolicy.thresholds` are these.
    """

    merge: float = 0.85
    merge_text: float = 0.78
    merge_other_type: float = 0.95
    reconcile_min: float = 0.55
    reconcile_max: float = 0.78
    audit_min: float = 0.65
    audit_max: float = 0.78
    core_overlap: float = 0.70
    triage_dedup: float = 0.75
    cluster: float = 0.85
    cluster_jaccard: float = 0.20
    cluster_words: float = 0.30
    redundant: float = 0.95
    redundant_deviation: float = 0.03
