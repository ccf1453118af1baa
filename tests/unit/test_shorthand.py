"""Shorthand: what people leave out when they type, put back; and all that must be left as it is."""

from __future__ import annotations

import pytest

from engram.english import shorthand
from engram.english.subjects import lead_length

WHOLE = [
    ("Lea and I got married.", "I got married to Lea"),
    ("Lea and I just got engaged last summer.", "I just got engaged to Lea last summer"),
    ("Lea and I are dating now.", "I'm dating Lea now"),
    ("New job: nurse.", "I work as a nurse now"),
    ("New job: Siltec!", "I work for Siltec now"),
    ("new physio: Dr. Tamm", "My physio is Dr. Tamm now"),
    ("Current book: Solaris.", "My book is Solaris now"),
    ("My new phone: a Fairphone 5", "My phone is a Fairphone 5 now"),
    ("Home: Graz.", "I live in Graz"),
    ("New address: Porto", "I live in Porto now"),
    ("Employer: Brightwater", "I work for Brightwater"),
    ("Dentist: Dr. Quist", "My dentist is Dr. Quist"),
    ("Rent: 640 euros.", "My rent is 640 euros"),
    ("Currently reading: Dune", "I'm currently reading Dune"),
    ("Still at Siltec.", "I'm still at Siltec"),
    ("Still working as a nurse.", "I'm still working as a nurse"),
    ("Back at Siltec!", "I'm back at Siltec"),
    ("Working for Siltec again!", "I'm working for Siltec again"),
    ("My employer's Siltec.", "My employer is Siltec"),
    ("my car's a Yaris", "my car is a Yaris"),
    ("My physio's still Dr. Quist.", "My physio is still Dr. Quist"),
    ("The rent's 640 euros a month.", "My rent is 640 euros a month"),
    ("Rent is 640 euros now.", "My rent is 640 euros now"),
    ("We drive a Yaris now.", "I drive a Yaris now"),
    ("We get our internet from Fibra.", "I get my internet from Fibra"),
    ("i live in Graz btw", "i live in Graz"),
    ("I think Blur is my favourite band now.", "Blur is my favourite band now"),
]

AS_IT_IS = [
    "New question: how tall is the tower?",
    "New idea: a pond.",
    "New plan: Lisbon.",
    "New rule: a test for each bug.",
    "New episode: The Return.",
    "New task: Fix the login.",
    "New message: Hello.",
    "New job: fix the sink.",
    "Job: clean the gutters.",
    "New recipe: Goulash.",
    "New release: Dune.",
    "Subject: Invoice",
    "Note: the shop shuts at six.",
    "Name: the function should be called run",
    "Update: still raining.",
    "Location: Berlin, Germany. Date: Monday.",
    "Weight: see below.",
    "Home: click here",
    "Now playing: Solaris.",
    "New dentist: no idea yet.",
    "New job: maybe Siltec?",
    "New address: TBD",
    "Q: who wrote Emma?",
    "Anna: my new dentist is Dr. Quist",
    "Boss: Anna: call me",
    "Still raining.",
    "Lea and Tom got married.",
    "My boss and I got married in the same year.",
    "Lea and I got married on the beach with friends.",
    "Lea and I got a dog.",
    "God and I are close.",
    "Still living in Graz.",
    "Still thinking about it.",
    "Still waiting for Anna.",
    "Back to work.",
    "Back in a minute.",
    "Back in 2019 it was cheaper.",
    "Back in Porto I used to swim.",
    "Working on it again.",
    "Working from home today.",
    "Living the dream.",
    "Living in Graz is expensive.",
    "Living in Graz would be nice.",
    "Reading is fun.",
    "My sister's birthday.",
    "My mother's Honda broke down.",
    "My sister's Anna.",
    "My boss's office is in Graz.",
    "My dog's name is Rex.",
    "My car's engine is loud.",
    "My car's broken.",
    "My dentist's great.",
    "The rent's too high.",
    "The rent is due on Monday.",
    "Rent is too high in Graz.",
    "The rent in Graz is 640 euros.",
    "We drive to Graz tomorrow.",
    "We drive a hard bargain.",
    "We get our orders from Graz.",
    "We use Postgres.",
    "We pay Anna 50 euros.",
    "I think Siltec is hiring.",
    "I think my rent is 640 euros.",
    "I think Blur is my sister's favourite band.",
    "Is my rent 640 euros?",
    "I live in Graz.",
    "My new job is hard.",
    "If only.",
    "",
    "Siltec: a great employer.",
    "Anna's new job: nurse.",
    "Her new job: nurse.",
    "Old job: nurse.",
    "Next job: nurse.",
    "Dream job: nurse.",
    "New job: nurse or baker.",
    "New job idea: nurse.",
    "Sister's employer: Siltec.",
    "Is that your new job: nurse?",
    "You: still at Siltec.",
    "Employer: Siltec or Ostra",
    "Dentist: call Dr. Quist",
]

LONE = [
    ("weight now 74 kilos", "My weight is 74 kilos now"),
    ("Weight 74 kilos", "My weight is 74 kilos"),
    ("New choir, Vocalis", "My choir is Vocalis now"),
    ("standup moved to 10:30", "My standup is 10:30 now"),
    ("Standup moved to 10:30", "My standup is 10:30 now"),
    ("bedtime moved to eleven", "My bedtime is eleven now"),
    ("Bedtime moved to eleven", "My bedtime is eleven now"),
    ("Bob moved to sales", None),
    ("Dentist moved to Dr. Kim", "My dentist is Dr. Kim now"),
    ("Blood group 4", "My blood group is 4"),
    ("my new oven takes 20 minutes", None),
    ("Mazda 3", None),
    ("Dentist 10:30", None),
    ("Dentist moved to 3 pm", None),
    ("Boss now at five", None),
    ("Work 9", None),
    ("New bank, 1822direkt", "My bank is 1822direkt now"),
    ("Shoe size 42", "My shoe size is 42"),
    ("Siltec employs 300 people.", None),
    ("Married since 2019", "I am married since 2019"),
    ("Summer trip 2024", None),
    ("Siltec fired 500 people.", None),
    ("Anna ate 3 pizzas", None),
    ("Anna moved to Rome.", None),
    ("anna moved to Rome", None),
    ("Anna has switched to Linux", None),
    ("Anna is now Catholic", None),
    ("Anna is happy now", None),
    ("Chelsea is the favourite now", None),
    ("Gym is Vocalis now", "My gym is Vocalis now"),
    ("Chelsea's my favourite team now", "Chelsea is my favourite team now"),
    ("Dr. Quist’s the new dentist", "Dr. Quist is the new dentist"),
    ("It's my birthday", None),
    ("Anna's my age", "Anna is my age"),
    ("iPhone 15", None),
]


@pytest.mark.parametrize(("said", "whole"), WHOLE)
def test_what_is_left_out_is_put_back(said: str, whole: str) -> None:
    assert shorthand.whole(said, lead=lead_length(said)) == whole


@pytest.mark.parametrize("said", AS_IT_IS)
def test_what_is_no_shorthand_of_the_user_stays_as_it_is(said: str) -> None:
    assert shorthand.whole(said, lead=lead_length(said)) is None


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("sertraline 50mg every morning", "I take sertraline 50mg every morning"),
        ("on iron tablets, twice a day", "I'm on iron tablets, twice a day"),
        ("on lates this week", "I'm on lates this week"),
        ("gym = Fit4Less, 3x a week", "My gym is Fit4Less"),
        ("bf is Callum, 2 yrs", "My boyfriend is Callum"),
        ("dissertation supervisor is dr lim", "My dissertation supervisor is dr lim"),
        ("cat's called Olive", "My cat is called Olive"),
        ("driving the old Corsa still", "I'm still driving the old Corsa"),
        ("working part time at Greggs", "I'm working part time at Greggs"),
        ("livin in Leeds rn", "I'm living in Leeds"),
        ("going vegan from today", "I'm vegan from today"),
        ("knocked the vaping on the head", "I knocked the vaping on the head"),
        ("done with the tablets, bloods fine", "I am done with the tablets"),
        ("swapped Spotify for Tidal", "I swapped Spotify for Tidal"),
        ("not working nights anymore", "I'm not working nights anymore"),
        ("break's at 12:30 these days", "My break is at 12:30 these days"),
        ("lectures dont start til 10 now", "My lectures start at 10 now"),
        ("yoga is mondays now", "My yoga is mondays now"),
        ("Leila's our CTO as of today", "Our CTO is Leila now"),
        ("Raj stepped down, Leila is our CTO", "Raj stepped down, and our CTO is Leila now"),
        ("I drink now green tea", "I drink green tea now"),
        ("Mr. Braun is not more my chief", "Mr. Braun is no longer my chief"),
    ],
)
def test_what_is_noted_down_or_said_as_it_is_spoken_is_a_whole_sentence(said: str, whole: str) -> None:
    assert shorthand.whole(said, lead=lead_length(said), lone=True) == whole


@pytest.mark.parametrize(
    "said",
    [
        "on my way to the gym",
        "on fire today",
        "on the bus",
        "on hold",
        "manager is angry",
        "dog is called back",
        "going vegan for lunch",
        "killed it at the gym",
        "done with this",
        "driving to work in the rain is awful",
        "driving the kids to school",
        "living in Paris sounds great",
        "working for Google pays well",
        "staying with friends gets old",
        "working on it",
        "sold out",
        "paracetamol 500mg tablets cost 2 pounds",
        "not sure anymore",
        "not my problem anymore",
        "Leila is still my dentist's assistant",
        "Paris is now my favourite city of all",
        "Is Leila our CTO now?",
        "it is not more than ten",
        "I have never been to Rome",
        "Tom is my flatmate now",
    ],
)
def test_what_only_looks_like_a_note_is_none(said: str) -> None:
    assert shorthand.whole(said, lead=lead_length(said), lone=True) is None


@pytest.mark.parametrize(("said", "whole"), LONE)
def test_what_somebody_else_did_is_no_thing_of_the_user(said: str, whole: str | None) -> None:
    assert shorthand.whole(said, lone=True) == whole


@pytest.mark.parametrize("said", ["Working for Siltec again!", "Still at Siltec.", "Back at Siltec!"])
def test_a_sentence_without_a_subject_is_the_users_only_after_one_about_them(said: str) -> None:
    assert shorthand.whole(said, after_self=False) is None
