"""What is somewhere, some day or so much: what takes its place, and what may be so beside it."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.english import moves
from engram.english.moves import Taken
from engram.english.subjects import plain


def taken(held: str, said: str) -> Taken | None:
    return moves.takes_place(plain(said), said, plain(held), held)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("The deadline is Friday", "The deadline moved to Monday"),
        ("The deadline was moved to Monday", "The deadline is Thursday now"),
        ("User's flight is on Tuesday", "User's flight was moved to Thursday"),
        ("User's flight is at 9:30", "User's flight was delayed until 11:15 because of fog"),
        ("User has a dentist appointment on May 3", "User rescheduled User's dentist appointment to May 10"),
        ("User has a meeting with Tom at 3pm", "The meeting with Tom was moved to 4pm"),
        ("User's standup is at half past nine", "We moved the standup to ten"),
        ("User's physio appointment is on Tuesday", "User had to move User's physio appointment to Friday"),
        ("The deadline is Friday", "The deadline's been moved to Monday"),
        ("The launch date is March 3", "The launch has been brought forward to February 20"),
        ("The launch is in March", "The launch was postponed to April 7"),
        ("The launch is in 2025", "The launch was pushed back to spring 2026"),
        ("The budget is 20,000 euros", "The budget was raised to 25,000 euros"),
        ("The budget is $900", "The budget was cut from $900 to 700 dollars"),
        ("User's phone plan costs 20 euros", "User's phone plan went up to 25 euros"),
        ("User's office is in Tower Nine", "User's office moved to Mill Lane"),
        ("User's office is in Tower Nine", "User's office is in Dock Road"),
        ("User's office is in Tower Nine", "User's office moved to Hamburg"),
        ("User's desk is in Dock Road", "User's desk is back in King Street"),
        ("User's desk is in Tower Nine", "They moved User's desk to Dock Road"),
        ("User's flight is at gate 4", "User's flight was moved to gate 12"),
        ("User's class is in room 4", "User's class was moved to room 7"),
        ("The yoga class is on Mondays", "The yoga class was moved to Tuesdays"),
        ("User's weekly meeting is on Monday", "User's weekly meeting was moved to Tuesday"),
        ("User's school is in Dock Road", "User's school moved to Mill Lane"),
        ("The meeting is at 3pm", "The meeting was moved to Tuesday at 4pm"),
        ("The meeting is also on Thursday", "The meeting was moved to Friday"),
        ("User has another meeting on Monday", "The meeting was moved to Friday"),
    ],
)
def test_another_day_place_or_amount_of_a_thing_takes_the_place_of_the_one_before(held: str, said: str) -> None:
    found = taken(held, said)
    assert found is not None
    assert found.whole


@pytest.mark.parametrize(
    ("held", "said", "old", "new"),
    [
        ("The server runs Ubuntu 20.04", "The server was upgraded to Ubuntu 22.04", "ubuntu 20.04", "ubuntu 22.04"),
        ("User's team uses Postgres 15", "User upgraded to Postgres 16", "postgres 15", "postgres 16"),
        ("User's laptop runs Windows 10", "User upgraded User's laptop to Windows 11", "windows 10", "windows 11"),
        ("User's project is called Apollo", "User's team renamed the project to Zeus", "apollo", "zeus"),
        ("The API is written in Go", "User's team rewrote the API in Rust", "go", "rust"),
        ("The API is written in Go", "The API was ported to Rust", "go", "rust"),
        ("User's letter is written in French", "User rewrote User's letter in English", "french", "english"),
        ("User takes 10 mg of lisinopril", "User's dose of lisinopril was increased to 20 mg", "10 mg", "20 mg"),
        ("User takes 10 mg of lisinopril", "User's doctor cut User's lisinopril dose to 5 mg", "10 mg", "5 mg"),
    ],
)
def test_of_a_statement_that_says_more_a_part_is_replaced(held: str, said: str, old: str, new: str) -> None:
    assert taken(held, said) == Taken(old, new, False)


def test_of_a_day_and_an_hour_the_hour_is_replaced_on_that_day_alone() -> None:
    said = "The meeting was moved to 4pm"
    assert taken("The meeting is on Tuesday at 3pm", said) == Taken("3pm", "4pm", False, "tuesday at 3pm")
    assert taken("The meeting is at 3pm on Mondays", said) != taken("The meeting is at 3pm on Thursdays", said)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        # another thing
        ("The deadline for the report is Friday", "The deadline for the slides moved to Monday"),
        ("User's flight to Rome is on Tuesday", "User's flight to Oslo was moved to Thursday"),
        ("User's flight to Rome is on Tuesday", "User's flight from Rome was moved to Thursday"),
        ("User has an appointment with Ann on Monday", "User's appointment with Ben was moved to Friday"),
        ("The budget is 20,000 euros", "The budget for travel was raised to 5,000 euros"),
        ("User's rent is 900 euros", "User's sister's rent went up to 950 euros"),
        ("User's office is in Tower Nine", "User's second office is in Dock Road"),
        ("The API is written in Go", "User's team rewrote parts of the API in Rust"),
        ("User's team uses Postgres 15", "User's brother upgraded to Postgres 16"),
        ("User's team uses Postgres 15", "User upgraded the server to Postgres 16"),
        ("User takes 10 mg of lisinopril", "User's mother's dose of lisinopril was increased to 20 mg"),
        ("User takes 10 mg of lisinopril", "User's dose of ramipril was increased to 20 mg"),
        # another kind of value
        ("The meeting is in room 4", "The meeting was moved to 4pm"),
        ("The meeting is on Monday", "The meeting was moved to room 5"),
        ("The meeting is on Monday", "The meeting was moved to tears"),
        ("User's flight is on Tuesday", "User's flight was moved to 3pm"),
        ("User's flight is at gate 4", "User's flight was moved to terminal 2"),
        ("The budget is 20,000 euros", "The budget was cut to three people"),
        ("The API is written in Go", "User's team rebuilt the API in Berlin"),
        ("User's app is written in Java", "User's app was ported to Android"),
        ("User's team uses Postgres 15", "They upgraded to Postgres 16"),
        ("The budget is 20,000 euros", "The budget was raised by 5,000 euros"),
        ("The project is in Berlin", "The project moved to Kubernetes"),
        ("User's team uses Postgres 15", "User upgraded to first class"),
        # what the old value holds
        ("The launch is in March", "The launch was moved to March 15"),
        ("The launch is in 2026", "The launch was moved to April"),
        ("User's office is in Berlin", "User's office moved to Mill Lane"),
        ("User's office is in Germany", "User's office is in Austria"),
        ("User's office is in Tower Nine", "User's office is on Dock Road"),
        ("User's office is in Tower Nine", "User's office is in Berlin"),
        ("User's desk is in Tower Nine", "User's desk is in room 7"),
        # what is not so, or passes
        ("The deadline is Friday", "The deadline was not moved to Monday"),
        ("The deadline is Friday", "The deadline might be moved to Monday"),
        ("The deadline is Friday", "The deadline will be moved to Monday"),
        ("The deadline is Friday", "The deadline was almost moved to Monday"),
        ("The deadline is Friday", "Tom said the deadline moved to Monday"),
        ("The deadline is Friday", "Nobody moved the deadline to Monday"),
        ("The deadline is Friday", "User would have to move the deadline to Monday"),
        ("The deadline is Friday", "The deadline was moved to Monday and then back to Friday"),
        ("The standup is at 9", "The standup was moved to 10 this week"),
        ("The standup is at 9", "The standup was moved to 10 for today"),
        ("The standup is at 9", "The standup was moved to 10 today"),
        ("The standup is at 9", "The standup was moved to 10 tomorrow"),
        ("The standup is at 9", "The standup was moved to 10 on Friday"),
        ("The standup is at 9", "The standup was moved to 10 for this week only"),
        ("User's train is at 8:15", "The train was delayed to 8:45 yesterday"),
        ("The yoga class is on Mondays at 6", "The yoga class was moved to May 3"),
        ("The yoga class is on Mondays", "The yoga class was moved to tomorrow"),
        ("User's team meeting is on Mondays", "The team meeting was moved to next Tuesday"),
        ("User's weekly meeting is on Monday", "The weekly meeting was moved to May 3"),
        # one more
        ("The meeting is on Monday", "The meeting is also on Thursday"),
        ("User's office is in Tower Nine", "User's office is also in Dock Road"),
        ("User's office is in Tower Nine", "User's office is in Dock Road too"),
        ("User's deadline is Friday", "The deadline moved to Monday as well"),
        ("User's practice is in Mill Lane", "User's practice is in Dock Road"),
        ("User's workshop is in Mill Lane", "User's workshop is in Dock Road"),
        # no word of a change, of what may be twice
        ("User has a meeting on Monday", "User has a meeting on Thursday"),
        ("User's class is in Room 4", "User's class is in Room 7"),
        ("User's degree is in Physics", "User's degree is in Law"),
        ("User has an iPhone 13", "User has an iPhone 15 now"),
    ],
)
def test_what_may_be_so_beside_it_takes_no_place(held: str, said: str) -> None:
    assert taken(held, said) is None


@pytest.mark.parametrize(
    ("held", "said", "both"),
    [
        ("The meeting is in room 4", "The meeting is at 4pm now", True),
        ("User's office is in Berlin", "User's office moved to Mill Lane", True),
        ("User's team is in Berlin", "User's team moved to Slack", True),
        ("The standup is at 9", "The standup was moved to 10 this week", True),
        ("The standup is at 9", "The standup on Friday was moved to 10", True),
        ("The standup is at 9", "The standup was moved to 10 just for today", True),
        ("The standup is at 9", "The standup moved to 10 for this week only", True),
        ("The standup is at 9", "The standup was moved to 10 on Friday", True),
        ("The yoga class is on Mondays", "The yoga class was moved to May 3", True),
        ("The release of version 2 is on May 3", "The release of version 3 was moved to June 4", True),
        ("The report is due on May 3", "The release was moved to June 4", False),
        ("User's class is in room 4", "User's class was moved to room 7", False),
        ("User's office is in Tower Nine", "User's office moved to Mill Lane", False),
        ("The deadline is Friday", "The deadline moved to Monday", False),
        ("User drinks chai", "User drinks cocoa now", False),
    ],
)
def test_a_place_and_a_time_or_a_town_and_a_street_may_both_be(held: str, said: str, both: bool) -> None:
    assert moves.may_both_be(plain(said), said, plain(held), held) is both


@pytest.mark.parametrize(
    ("said", "held", "may_be"),
    [
        ("The exam was moved to June 10", "User's sister has an exam on June 5", True),
        ("The exam was moved to June 10", "User's sister's exam is on June 5", True),
        ("User's exam was moved to June 10", "User's sister has an exam on June 5", False),
        ("The exam was moved to June 10", "User has an exam on June 5", False),
        ("The exam was moved to June 10", "User's team has an exam on June 5", False),
        ("The dose of lisinopril was increased to 20 mg", "User's dad takes 10 mg of lisinopril", True),
        ("The dose of lisinopril was increased to 20 mg", "User takes 10 mg of lisinopril", False),
        ("User's dose of lisinopril was increased to 20 mg", "User's dad takes 10 mg of lisinopril", False),
        ("User's brother postponed the wedding to August 1", "User's wedding is on July 8", True),
        ("User's brother postponed User's wedding to August 1", "User's wedding is on July 8", False),
        ("User's boss moved the deadline to Monday", "User's deadline is Friday", False),
        ("User's brother's boss moved the deadline to Monday", "User's deadline is Friday", False),
        ("User's office is in Dock Road", "User has two offices", True),
        ("User's office is in Dock Road", "User has offices in Berlin and Hamburg", True),
        ("User's office is in Dock Road", "User also has an office in Hamburg", True),
        ("User's office is in Dock Road", "User has an office in Berlin and an office in Hamburg", True),
        ("User's office is in Dock Road", "User has an office in Berlin and an aunt in Hamburg", False),
        ("User's meeting was moved to Monday", "User hates meetings", False),
        ("The meeting with Tom was moved to Monday", "User has two meetings on Friday", False),
    ],
)
def test_what_is_called_nobodys_or_is_one_of_several_may_be_of_another(said: str, held: str, may_be: bool) -> None:
    assert moves.may_be_of_another(plain(said), said, plain(held)) is may_be


@pytest.mark.parametrize(
    ("said", "held", "taken"),
    [
        ("Ada handed search over to Ilse", "Ada owns the search module", ("ada", "ilse")),
        ("Ada handed over the search module to Ilse", "Ada maintains search", ("ada", "ilse")),
        ("Ilse took over search", "Ada owns the search module", ("ada", "ilse")),
        ("Ilse took over search from Ada", "Ada Lind owns the search module", ("ada lind", "ilse")),
        ("Ilse owns the search module now", "Ada owns search", ("ada", "ilse")),
        ("Ilse took over search from Bo", "Ada owns the search module", None),
        ("Bo handed search over to Ilse", "Ada owns the search module", None),
        ("User handed search over to Ilse", "Ada owns the search module", None),
        ("Ilse owns the search module", "Ada owns search", None),
        ("Ilse owns the search module too", "Ada owns search", None),
        ("Ilse owns the search page now", "Ada owns search", None),
        ("Intervals moved to Fridays", "User does intervals on Tuesdays", ("tuesdays", "fridays")),
        ("Intervals moved to Rome", "User does intervals on Tuesdays", None),
        ("User's standup moved to 11:00", "The daily standup is at 9:30", ("9:30", "11:00")),
        ("The weekly sync moved to Friday", "The daily sync is on Monday", None),
        ("User's quota was raised to 90 euros", "User's quota this quarter is 70 euros", ("70 euros", "90 euros")),
    ],
)
def test_what_is_held_by_one_or_done_on_some_day_moves(said: str, held: str, taken: tuple[str, str] | None) -> None:
    found = moves.takes_place(plain(said), said, plain(held), held)
    assert (None if found is None else (found.old, found.new)) == taken


@pytest.mark.parametrize(
    "unit", ["the x to ", "user has a b on ", "user's a ", " is at ", "moved to ", "now ", "ann owns ", "over to "]
)
def test_reading_costs_no_more_than_in_proportion(unit: str) -> None:
    assert_linear(lambda text: moves.read(text, text), unit, 8_192)
