"""Which of two like memories stays (features Y-14)."""

from datetime import UTC, datetime, timedelta

import more_pairs
import pairs
import pytest

from engram.lifecycle.deeds import Tie
from engram.lifecycle.merging import Choice, Chosen, choose, deed, judge, moved, united, winner_of
from engram.lifecycle.pairing import Pair, Row
from engram.lifecycle.thresholds import Thresholds

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
AT = Thresholds()
CHANGED = (*pairs.CHANGED, *more_pairs.CHANGED, *more_pairs.LOOKALIKES)


def row(memory_id: str, fact: str, **more: object) -> Row:
    return Row(memory_id, fact, **{"memory_type": "preference", "recorded_at": NOON, **more})  # type: ignore[arg-type]


A = row("a", "User prefers TypeScript", importance=0.8, accesses=5)
B = row("b", "User likes TypeScript", importance=0.7, accesses=2)


def test_the_worked_example_keeps_the_more_important_with_seven_accesses() -> None:
    chosen = choose({"a": A, "b": B}, [Pair("a", "b", 0.92)], AT)
    assert [(one.winner, one.loser) for one in chosen.merges] == [(A, B)]
    assert united(chosen.merges[0]).accesses == 7
    assert united(chosen.merges[0]).importance == 0.8
    done = deed(chosen.merges[0])
    assert {(one.memory_id, one.accesses) for one in done.counts} == {("a", 2)}
    put_away = done.effects[0]
    assert (put_away.memory_id, put_away.set["status"], put_away.set["status_reason"]) == ("b", "archived", "merged")
    assert put_away.set["superseded_by"] == "a"
    assert Tie("a", "b", "derived_from") in done.ties


@pytest.mark.parametrize(("one", "two"), CHANGED)
@pytest.mark.parametrize("asks", [False, True])
def test_two_that_claim_different_things_stay_two_at_98(one: str, two: str, asks: bool) -> None:
    assert judge(row("a", one), row("b", two), 0.98, AT, asks=asks) == "apart"


def test_500_and_700_do_not_merge_at_98() -> None:
    rows = {"a": row("a", "The budget is $500"), "b": row("b", "The budget is $700")}
    chosen = choose(rows, [Pair("a", "b", 0.98)], AT, asks=True)
    assert (chosen.merges, chosen.asked) == ((), ())
    assert chosen.apart == (Pair("a", "b", 0.98),)


@pytest.mark.parametrize(
    ("similarity", "types", "asks", "judgement"),
    [
        (0.85, ("preference", "preference"), False, "merge"),
        (0.849, ("preference", "preference"), False, "far"),
        (0.849, ("preference", "preference"), True, "ask"),
        (0.78, ("preference", "preference"), True, "ask"),
        (0.779, ("preference", "preference"), True, "far"),
        (0.95, ("preference", "semantic"), False, "merge"),
        (0.949, ("preference", "semantic"), False, "far"),
        (0.949, ("preference", "semantic"), True, "far"),
    ],
)
def test_thresholds_of_a_merge(similarity: float, types: tuple[str, str], asks: bool, judgement: str) -> None:
    one, two = (
        row(name, fact, memory_type=kind) for name, fact, kind in zip("ab", (A.fact, B.fact), types, strict=True)
    )
    assert judge(one, two, similarity, AT, asks=asks) == judgement


def test_thresholds_are_those_of_the_model_and_the_policy_has_the_last_word() -> None:
    assert Thresholds.of(None) == AT
    assert Thresholds.of({"merge": 0.7, "near": 0.2}).merge == 0.7
    assert Thresholds.of({"merge": 0.7}, {"merge": 0.9}).merge == 0.9


@pytest.mark.parametrize(
    ("one", "two", "winner"),
    [
        ({"importance": 0.6}, {"importance": 0.5, "accesses": 9}, "a"),
        ({"accesses": 1}, {"accesses": 2}, "b"),
        ({}, {"recorded_at": NOON + timedelta(hours=1)}, "b"),
        ({}, {}, "a"),
    ],
)
def test_importance_then_accesses_then_age_say_who_stays(
    one: dict[str, object], two: dict[str, object], winner: str
) -> None:
    assert winner_of(row("a", A.fact, **one), row("b", B.fact, **two), 0.9).winner.memory_id == winner
    assert winner_of(row("b", B.fact, **two), row("a", A.fact, **one), 0.9).winner.memory_id == winner


def test_the_text_that_says_more_stays_whatever_is_more_important() -> None:
    more, less = row("a", "User prefers TypeScript for backends", importance=0.1), row("b", A.fact, importance=0.9)
    choice = choose({"a": more, "b": less}, [Pair("a", "b", 0.9)], AT).merges[0]
    assert (choice.winner, choice.loser) == (more, less)
    assert united(choice).importance == 0.9


def test_a_key_and_a_better_source_are_never_put_away() -> None:
    keyed, plain = row("a", A.fact, conflict_key="slot:x", importance=0.1), row("b", B.fact)
    assert choose({"a": keyed, "b": plain}, [Pair("a", "b", 0.9)], AT).merges[0].winner == keyed
    web, said = row("a", A.fact, trust=5, importance=1.0), row("b", B.fact, trust=1)
    assert choose({"a": web, "b": said}, [Pair("a", "b", 0.9)], AT).merges[0].winner == said
    longer = row("a", "User prefers TypeScript for backends", trust=5)
    assert judge(longer, said, 0.9, AT) == "apart"
    assert judge(longer, said, 0.9, AT, asks=True) == "apart"
    other = row("b", B.fact, conflict_key="slot:y")
    assert judge(keyed, other, 0.99, AT) == "apart"


def test_what_was_said_to_hold_at_different_times_or_to_end_stays_two() -> None:
    went = row("a", "User went to the gym", stated_from=NOON)
    again = row("b", "User went to the gym", stated_from=NOON + timedelta(days=2))
    assert judge(went, again, 1.0, AT) == "apart"
    assert judge(A, row("b", B.fact, expires_at=NOON), 0.95, AT) == "apart"


def test_the_most_alike_come_first_and_nobody_is_put_away_twice() -> None:
    rows = {name: row(name, A.fact, accesses=count) for name, count in (("a", 1), ("b", 2), ("c", 4))}
    near = [Pair("a", "b", 0.9), Pair("a", "c", 0.95), Pair("b", "c", 0.86)]
    chosen = choose(rows, near, AT)
    assert [(one.winner.memory_id, one.loser.memory_id) for one in chosen.merges] == [("c", "a"), ("c", "b")]
    assert united(chosen.merges[-1]).accesses == 7


def test_what_a_loser_had_won_goes_with_it() -> None:
    rows = {
        "a": row("a", A.fact, accesses=1, importance=0.6),
        "b": row("b", A.fact),
        "c": row("c", A.fact, importance=0.9),
    }
    chosen = choose(rows, [Pair("a", "b", 0.99), Pair("a", "c", 0.9)], AT)
    assert [(one.winner.memory_id, one.loser.memory_id) for one in chosen.merges] == [("a", "b"), ("c", "a")]
    assert united(chosen.merges[1]).accesses == 1


def test_no_more_than_twenty_tags_and_the_higher_layer_are_taken_over() -> None:
    winner = row("a", A.fact, tags=tuple(f"t{n}" for n in range(15)), layer="buffer")
    loser = row("b", B.fact, tags=tuple(f"u{n}" for n in range(15)), layer="core")
    whole = united(Choice(winner, loser, 0.9))
    assert whole.tags == (*winner.tags, "u0", "u1", "u2", "u3", "u4")
    assert whole.layer == "core"


def test_relations_of_the_loser_begin_again_at_the_winner() -> None:
    ties = [Tie("b", "x", "causes", 0.9, auto=False), Tie("y", "b", "supports", 0.4), Tie("a", "b", "related_to", 0.3)]
    assert moved(ties, "b", "a") == [
        Tie("b", "x", "causes", 0.9, auto=False, ended=True), Tie("a", "x", "causes", 0.9, auto=False),
        Tie("y", "b", "supports", 0.4, ended=True), Tie("y", "a", "supports", 0.4),
        Tie("a", "b", "related_to", 0.3, ended=True),
    ]  # fmt: skip


def test_a_memory_is_in_one_question_at_a_time() -> None:
    rows = {name: row(name, A.fact) for name in "abc"}
    chosen = choose(rows, [Pair("a", "b", 0.84), Pair("a", "c", 0.82), Pair("b", "c", 0.8)], AT, asks=True)
    assert [one.pair for one in chosen.asked] == [Pair("a", "b", 0.84)]


def test_two_that_end_at_different_times_stay_two() -> None:
    ends = row("b", B.fact, valid_to=NOON + timedelta(days=1))
    assert judge(A, ends, 0.98, AT) == "apart"
    assert judge(row("a", A.fact, valid_to=ends.valid_to), ends, 0.98, AT) == "merge"


def test_what_the_policy_keeps_is_no_loser_and_gets_no_new_words() -> None:
    kept = row("b", B.fact, kept=True, importance=0.1)
    (choice,) = choose({"a": A, "b": kept}, [Pair("a", "b", 0.92)], AT).merges
    assert (choice.winner, choice.loser) == (kept, A)
    both = {"a": row("a", A.fact, kept=True), "b": kept}
    for asks in (False, True):
        assert choose(both, [Pair("a", "b", 0.92)], AT, asks=asks) == Chosen()
