"""Who is head of a lineage: a pure function of the statements, checked against a model of a few lines."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.lineage import Member, Place, dominates_front, places, says

START = datetime(2025, 1, 1, tzinfo=UTC)


def member(
    name: str, day: int, trust: int = 1, *, says: str = "", put_away: bool = False, negates: str | None = None
) -> Member:
    moment = START + timedelta(days=day)
    return Member(name, (moment, moment, name, 0), trust, says or name, moment, put_away, negates)


def model(members: list[Member]) -> dict[str, str]:
    """The statuses by definition: g dominates f when it is later and not less trusted."""
    rest = [f for f in members if not any(g.order > f.order and g.trust <= f.trust for g in members)]
    head = min(rest, key=lambda m: m.trust, default=None)
    status = {}
    for m in members:
        if not m.put_away:
            status[m.memory_id] = "superseded" if m not in rest else "active" if m is head else "contested"
    return status


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.booleans()), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_any_order_of_arrival_gives_the_places_of_the_model(
    drawn: list[tuple[int, int, bool]], shuffled: random.Random
) -> None:
    members = [member(f"m{i:02}", day, trust, put_away=away) for i, (day, trust, away) in enumerate(drawn)]
    expected = model(members)
    shuffled.shuffle(members)
    found = places(members)
    assert {name: place.status for name, place in found.items()} == expected
    assert sum(place.status == "active" for place in found.values()) <= 1


def test_an_heir_is_the_next_statement_that_dominates() -> None:
    found = places([member("a", 1), member("b", 2), member("c", 3)])
    assert found["a"] == Place("superseded", "b", START + timedelta(days=2))
    assert found["b"].superseded_by == "c"
    assert found["c"] == Place("active")


def test_a_back_dated_statement_takes_its_place_between_the_others() -> None:
    found = places([member("paris 2024", 0), member("rome 2026", 700), member("lyon 2025", 400)])
    assert found["paris 2024"].superseded_by == "lyon 2025"
    assert found["lyon 2025"].superseded_by == "rome 2026"
    assert found["rome 2026"].status == "active"


def test_a_less_trusted_statement_never_displaces_a_more_trusted_one() -> None:
    found = places([member("ottawa", 1, trust=1), member("oslo", 2, trust=5), member("bergen", 3, trust=5)])
    assert (found["ottawa"].status, found["oslo"].status, found["bergen"].status) == (
        "active",
        "superseded",
        "contested",
    )


def test_putting_the_newest_away_never_revives_an_older_value() -> None:
    found = places([member("ottawa", 1), member("toronto", 2, put_away=True)])
    assert "toronto" not in found
    assert found["ottawa"] == Place("superseded", "toronto", START + timedelta(days=2))


def test_a_negation_of_the_head_displaces_it() -> None:
    found = places([member("a", 1, says="User lives in Oslo"), member("b", 2, says="User left Oslo", negates="oslo")])
    assert found["a"].superseded_by == "b"
    assert found["b"] == Place("active")


def test_a_negation_of_something_else_is_moot_and_displaces_nothing() -> None:
    found = places([member("a", 1, says="User lives in Ottawa"), member("b", 2, says="User left Oslo", negates="oslo")])
    assert found["a"] == Place("active")
    assert found["b"] == Place("active", moot=True)


def test_a_negation_finds_its_place_when_what_it_negates_is_told_late() -> None:
    late = [member("no", 5, negates="oslo"), member("oslo", 1, says="User lives in Oslo")]
    assert places(late)["oslo"].superseded_by == "no"


def test_a_newcomer_dominates_the_front_only_when_it_is_later_and_no_less_trusted() -> None:
    front = [member("head", 5, trust=1), member("contested", 6, trust=3)]
    assert dominates_front(member("new", 7, trust=1), front)
    assert not dominates_front(member("old", 4, trust=1), front)
    assert not dominates_front(member("web", 7, trust=5), front)


def test_a_value_is_said_only_as_whole_words_in_order() -> None:
    assert says("User lives in New York City", "new york")
    assert not says("User lives in Yorkshire", "york")
    assert not says("User lives in Oslo", "")
