"""The six write modes against the tables of value changes: whatever the mode, no corrected fact is lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import more_pairs
import pairs
import pytest

from engram import gates, writing
from engram.gates import WRITE_MODES, Near, Statement, Thresholds, WriteMode
from engram.policies import MemoryPolicy
from engram.policies.classify import Classified
from engram.text import jaccard, tokens
from engram.values import Neighbour, SurpriseTerms, WriteDecision
from engram.writing import judging

CHANGED = (*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES)
SAME = (*pairs.SAME, *more_pairs.SAME)
CLOSE = 5e-4
MAY_3, MAY_5 = datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 5, 5, tzinfo=UTC)


@pytest.mark.parametrize("mode", WRITE_MODES)
def test_a_corrected_fact_is_stored_in_every_mode_however_near_it_is(mode: WriteMode) -> None:
    lost = [
        (existing, candidate)
        for pair in CHANGED
        for existing, candidate in (pair, pair[::-1])
        if gates.decide(
            Statement(candidate), neighbours=[Near("a", existing, 0.9999)], same_type=1_000, mode=mode
        ).kind != "add"
    ]  # fmt: skip
    assert lost == []


@pytest.mark.parametrize("mode", ["return", "report", "merge", "absorb"])
def test_a_restatement_is_not_stored_twice_where_a_mode_says_so(mode: WriteMode) -> None:
    kinds = {
        gates.decide(Statement(two), neighbours=[Near("a", one, 0.9999)], mode=mode).kind
        for one, two in SAME
        if mode != "report" or jaccard(tokens(one), tokens(two)) >= 0.4
    }
    assert kinds == {"conflict" if mode == "report" else "reinforce"}


@pytest.mark.parametrize("captured", [False, True])
def test_what_says_more_is_stored_whatever_merges(captured: bool) -> None:
    for existing, candidate in pairs.EXTRA:
        near = [Near("a", existing, 0.9999)]
        assert gates.decide(Statement(candidate, captured=captured), neighbours=near, mode="merge").kind == "add"


# --- Surprise, with the numbers of the worked example -----------------------------------------------------------------
def test_the_worked_example_with_and_without_vectors() -> None:
    terms = gates.surprise([0.6], [2 / 5], 1)
    assert (terms.semantic, terms.keyword) == (pytest.approx(0.4), pytest.approx(0.6))
    assert terms.rarity == pytest.approx(0.6309, abs=CLOSE)
    assert terms.score == pytest.approx(0.483, abs=CLOSE)
    assert terms.score * 0.9 == pytest.approx(0.435, abs=CLOSE)
    assert gates.surprise(None, [2 / 5], 1).score == pytest.approx(0.606, abs=CLOSE)


def test_the_words_of_the_worked_example_share_two_of_five() -> None:
    near = Near("a", "User prefers TypeScript", 0.6)
    judged = gates.decide(Statement("User prefers dark mode"), neighbours=[near], same_type=1)
    assert judged.nearest[0].jaccard == pytest.approx(2 / 5)
    assert judged.surprise is not None
    assert judged.surprise.score == pytest.approx(0.483, abs=CLOSE)
    assert judged.kind == "add"


@pytest.mark.parametrize(("rows", "rarity"), [(0, 1), (1, 0.631), (10, 0.279), (100, 0.150), (5_000, 0.1248)])
def test_what_is_common_is_less_of_a_surprise(rows: int, rarity: float) -> None:
    assert gates.surprise([1.0], [1.0], rows).rarity == pytest.approx(rarity, abs=CLOSE)


@pytest.mark.parametrize(("embedded", "score"), [(True, 0.6 + 0.3 + 0.1 * 0.6309), (False, 0.8 + 0.2 * 0.6309)])
def test_with_nothing_near_all_is_new_and_the_words_alone_say_so_without_a_vector(embedded: bool, score: float) -> None:
    judged = gates.decide(Statement("User likes tea", embedded=embedded), same_type=1)
    assert judged.surprise is not None
    assert (judged.surprise.semantic is None) is not embedded
    assert judged.surprise.score == pytest.approx(score, abs=CLOSE)


def test_a_decision_of_the_gate_keeps_what_it_was_held_against() -> None:
    near = Near("a", "User prefers TypeScript", 0.99)
    at = Thresholds.of({"surprise": MemoryPolicy("p", surprise_threshold=0.3).surprise_threshold})
    gate = gates.decide(
        Statement("The user prefers TypeScript"), neighbours=[near], same_type=9, mode="gate", thresholds=at
    )
    assert gate.surprise is not None
    assert (gate.kind, gate.surprise.threshold) == ("reject", 0.3)
    other = gates.decide(Statement("The user prefers TypeScript"), neighbours=[near], same_type=9)
    assert other.surprise is not None
    assert other.surprise.threshold is None


@pytest.mark.parametrize(
    ("kind", "reasons", "told"),
    [
        ("reject", ("surprise_below_threshold",), ("Not stored: it is known already. Its surprise is 0.032, under the"
         " threshold of 0.150; the closest memory is mem-0000a001 (cosine 0.990, shared words 0.67).")),
        ("reject", ("surprise_below_threshold", "reworded"), "Its surprise is 0.032, under the threshold of 0.150"),
        ("reject", ("echo",), "Not stored: echo."),
        ("conflict", ("near_duplicate", "two_gates"), "Revise it, store both with force, or forget it."),
        ("conflict", ("less_trusted_than_superseded",), "Not stored: less trusted than superseded."),
        ("reinforce", ("exact_duplicate",), "Not stored anew: a memory says it already (exact duplicate)"),
        ("revise", ("same_key",), "Stored as a new revision (same key)."),
        ("add", ("new",), "Stored (new)."),
    ],
)  # fmt: skip
def test_a_decision_tells_itself_as_a_sentence(kind: str, reasons: tuple[str, ...], told: str) -> None:
    closest = "01890000-0000-7000-8000-00000000a001"
    near = Neighbour(closest, "User prefers TypeScript", 0.99, 2 / 3)
    terms = SurpriseTerms(0.01, 1 / 3, 0.15, 0.032, closest, 0.15)
    made = WriteDecision(kind, None, None, None, "e", reasons, (near,), terms)  # type: ignore[arg-type]
    assert told in made.explanation


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_exact_twins_the_eldest_under_the_same_key_is_meant_in_whatever_order_they_come(order: list[int]) -> None:
    """Rows come as they lie in the table, which another write may change: what is said again means the same one."""
    keys = (None, "topic:mast", "topic:mast")
    rows = [twin(f"0190-{n}", key) for n, key in enumerate(keys)]
    shuffled = [rows[place] for place in order]
    under_key = judging._exact(shuffled, tall("topic:mast"))
    without = judging._exact([row for row in shuffled if row["conflict_key"]], tall(None))
    assert under_key is not None
    assert without is not None
    assert (under_key.memory_id, without.memory_id) == ("0190-1", "0190-1")


def test_of_exact_twins_the_one_of_the_stated_times_is_meant() -> None:
    rows = [twin("0190-0", None), twin("0190-1", None, begins=MAY_5), twin("0190-2", None, ends=MAY_5)]
    asked: list[tuple[dict[str, Any], str]] = [
        ({}, "0190-0"), ({"valid_from": MAY_5}, "0190-1"), ({"valid_to": MAY_5}, "0190-2"),
    ]  # fmt: skip
    for told, wanted in asked:
        found = judging._exact(rows, replace(tall(None), **told))
        assert found is not None
        assert found.memory_id == wanted


def twin(
    memory_id: str, key: str | None, *, begins: datetime = MAY_3, ends: datetime | None = None
) -> dict[str, object]:  # fmt: skip
    """A row with the same text, as the database tells of it."""
    return {
        "memory_id": memory_id, "conflict_key": key, "valid_from": begins.isoformat(), "trust": 1,
        "ended_at": None if ends is None else ends.isoformat(),
    }  # fmt: skip


def tall(key: str | None) -> writing.Draft:
    """The same text as a candidate."""
    rules = Classified(
        memory_type="semantic", category=None, importance=None, critical_slot=None, conflict_key=key, subject=None,
        rule=None, expires_in=None, negates=None,
    )  # fmt: skip
    return writing.Draft("The mast is tall.", rules)
