"""News of a value: which values a statement names, what its signs say, and what two statements have in common."""

from __future__ import annotations

import pytest

from engram.english import news


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("They've moved User to locker 417", ("417",)),
        ("Mrs Doyle took over from Senka", ("Mrs Doyle", "Senka")),
        ("User sings with St Anne's now", ("St Anne's",)),
        ("Prescriptions go to Mercury instead", ("Mercury",)),
        ("User goes to bed at half past ten", ("half past ten",)),
        ("User has bought two of them", ()),
        ("User weighs 71 kilos", ("71 kilos",)),
        ("User pays Tom 20 euros a week", ("Tom", "20 euros")),
    ],
)
def test_values_are_names_numbers_and_hours(written: str, found: tuple[str, ...]) -> None:
    assert news.values(written) == found


@pytest.mark.parametrize(
    ("said", "held", "value", "over"),
    [
        ("giffon and user, that's finished", "user is on giffon for user's mobile", "giffon", True),
        ("no more physio with dr. amsel", "user sees dr. amsel for physio", "dr. amsel", True),
        ("user does not go to rowe for user's pills any more", "user's pharmacy is rowe", "rowe", True),
        ("user no longer swims at siltec", "user works at siltec", "siltec", False),
        ("user left user's umbrella at monzo", "user's bank is monzo", "monzo", False),
        ("user sold the tyres of the leaf", "user drives a leaf", "leaf", False),
        ("user sold the leaf last week", "user drives a leaf", "leaf", True),
        ("the concert with vocalis is over", "user's choir is vocalis", "vocalis", False),
        ("giffon is not user's provider any longer", "user pays giffon for user's line", "giffon", True),
        ("user never shouts at the owls any more", "user's club is the owls", "owls", False),
    ],
)
def test_an_end_is_of_what_a_memory_tells(said: str, held: str, value: str, over: bool) -> None:
    assert news.ends(said, held, value) is over


def test_of_two_values_the_one_that_is_denied_is_not_what_came() -> None:
    assert news.changes("the contract is with telmore, not vectone", "vectone", "telmore")
    assert not news.changes("user went to mcfit, not fitx", "fitx", "mcfit")
    assert not news.changes("dr. bell changed user's filling, not dr. hart", "dr. bell", "dr. hart")


def test_a_value_that_is_denied_has_not_come() -> None:
    assert news.denies("user's favourite band is no longer muse", "muse")
    assert news.denies("user's favourite film isn't alien anymore", "alien")
    assert not news.denies("user's favourite band is muse", "muse")
    assert not news.denies("user is not with fitx but mcfit", "mcfit")


def test_two_statements_are_alike_by_the_thing_they_name() -> None:
    held = "user is always going to the pharmacy linden"
    assert news.alike(held, "linden", "from now user goes to the pharmacy apollo", "apollo") > 0
    assert news.alike("user has a boat in kiel", "kiel", "user's boat is a bavaria now", "bavaria") == 0
    assert news.alike("user weighs 71 kilos", "71 kilos", "it's 69 kilos", "69 kilos") > 0
    assert news.alike("user's bike is a trek", "trek", "user's racing bike is a canyon now", "canyon") == 0
    assert news.alike("user's goal is 70 kilos", "70 kilos", "user is at 78 kilos now", "78 kilos") == 0
    assert news.alike("user lives in graz", "graz", "user's office is in linz now", "linz") == 0


def test_what_supposes_or_passes_is_doubtful() -> None:
    assert news.is_doubtful("user might move to linz")
    assert not news.is_doubtful("user goes to apollo now")
