"""Proposing: what an audit of a scope would change, with the reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engram.lifecycle import gate, merging
from engram.lifecycle.deeds import Deed, Effect
from engram.lifecycle.layers import Row as LifeRow
from engram.lifecycle.merging import Choice
from engram.lifecycle.pairing import Pair, Row
from engram.lifecycle.thresholds import Thresholds
from engram.policies.classify import Classified
from engram.values import Proposal

MOST: Final = 100  # proposals of a kind
ALIKE: Final = "alike by {:.2f}, and one says all that the other does"


def merges(rows: Mapping[str, Row], pairs: Iterable[Pair], at: Thresholds) -> list[Choice]:
    """Memories that are not alike enough to be merged by themselves, but say the same."""
    lower = replace(at, merge=at.audit_min, merge_text=at.audit_min, merge_other_type=1.0)
    near = [pair for pair in pairs if at.audit_min <= pair.similarity < at.audit_max]
    return list(merging.choose(rows, near, lower).merges)[:MOST]


def demotions(rows: Iterable[LifeRow]) -> list[tuple[LifeRow, str]]:
    """Core memories that the gate of the core would not let in today, and why."""
    found = []
    for row in rows:
        judged = gate.of_core(row)
        if not row.critical and row.layer == "core" and judged.verdict == "refuse":
            found.append((row, judged.because))
    return found[:MOST]


def reclassifications(rows: Iterable[tuple[LifeRow, Classified]]) -> list[tuple[LifeRow, Classified]]:
    """Memories without a type of their own that a rule of the policy would type."""
    return [
        (row, ruled) for row, ruled in rows
        if not row.critical and row.memory_type == "semantic" and row.category is None
        and ruled.rule is not None and ruled.memory_type != "semantic"
    ][:MOST]  # fmt: skip


def proposals(
    alike: Sequence[Choice], lower: Sequence[tuple[LifeRow, str]], typed: Sequence[tuple[LifeRow, Classified]]
) -> tuple[Proposal, ...]:
    """What is proposed, as it is shown."""
    return (
        *(
            Proposal("merge", (stays, goes), ALIKE.format(one.similarity), stays)
            for one in alike
            for stays, goes in [(one.winner.memory_id, one.loser.memory_id)]
        ),
        *(Proposal("demote", (row.memory_id,), because, "working") for row, because in lower),
        *(
            Proposal("reclassify", (row.memory_id,), f"the rule {ruled.rule} of the policy says so", ruled.memory_type)
            for row, ruled in typed
        ),
    )  # fmt: skip


def deeds(
    alike: Sequence[Choice], lower: Sequence[tuple[LifeRow, str]], typed: Sequence[tuple[LifeRow, Classified]]
) -> list[Deed]:
    """What is done of the proposals; a memory that is merged away is not moved besides."""
    gone = {one.loser.memory_id for one in alike}
    moved = [Effect(row.memory_id, {"layer": "working"}, because) for row, because in lower]
    named = [
        Effect(row.memory_id, {"memory_type": ruled.memory_type}, f"the rule {ruled.rule} of the policy says so")
        for row, ruled in typed
    ]
    return [Deed(effects=(one,)) for one in (*moved, *named) if one.memory_id not in gone]
