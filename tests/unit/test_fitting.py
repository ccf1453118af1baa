"""Whether a fact holds the number or the time that a question asks for."""

from __future__ import annotations

import pytest

from engram.recall.fitting import fits


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("How many guests fit in?", "The hall takes 650 people"), ("How many children do I have?", "User has a son"),
        ("How many cats do we have?", "User's cats are Tom and Lea"), ("How much is a ticket?", "Tickets are free"),
        ("How much do I like Oslo?", "User loves Oslo"), ("When is the party?", "The party begins at noon"),
        ("What time do we open?", "Doors open at 8:15"), ("When did I move?", "User moved to Oslo"),
        ("Since when do I live here?", "User lives in Oslo"),
        ("Until when may I hand it in?", "Papers are due on the third Friday"),
        ("What time zone am I in?", "User's time zone is Europe/Berlin"),
        ("When should I escalate?", "Escalate bugs that block a release"),
        ("When are invoices paid?", "Invoices are paid on receipt"), ("When do I take it?", "User takes it at bedtime"),
        ("How many years have I lived in Oslo?", "User lives in Oslo"),
        ("How many jobs have I had?", "User works at Acme"),
        ("How many days until my flight?", "User flies on Friday"),
        ("How many languages do I speak?", "German, Italian"),
        ("How many children do I have?", "Ich habe zwei Töchter"), ("How much longer is my lease?", "It ends in March"),
        ("Where is the party?", "The party is on the lake"), ("How much time is left?", "The clock is ticking"),
        ("What is Kim's phone number?", "Kim can be reached at 0171 2345"),
        ("What's my lucky number?", "User's lucky number is seven"),
        ("What is my email?", "User writes from me@home.org"), ("What is my address?", "User lives at 4 Elm Street"),
        ("What's Kim's email address?", "Kim's e-mail is on the card"),
        ("What is my address?", "User's address is 4 Elm Street, the email address a@b.org"),
        ("What is the IP address?", "The IP is 10.0.0.1"),
        ("What is my mail address?", "User's email address is a@b.org"),
        ("What's my favourite number?", "User loves seven"), ("What is the room number?", "We meet in room B"),
        ("What is the number of the bus?", "The bus is the blue one"),
        ("What year was I born?", "User was born in 1951"), ("Which year of my degree am I in?", "User is a sophomore"),
        ("How many kids do I have?", "We have twins"), ("Who do I live with?", "User shares a flat with Nina"),
        ("What is the capital of Peru?", "Lima is the capital of Peru"), ("Who wrote Emma?", "Jane Austen wrote Emma"),
        ("What's our boiling point of water?", "Here water has its boiling point at 93 degrees"),
        ("What's the population of my village?", "User's village has 200 people"),
        ("Who is the president of our chess club?", "Bo runs User's chess club"),
        ("Who wrote the onboarding guide?", "Ann is the author of the onboarding guide"),
        ("Who's the author of the onboarding guide?", "Ann wrote the onboarding guide"),
        ("How many rooms are free on May 3?", "Two rooms are free on May 3"),
        ("How big is the hall?", "The hall seats 650"), ("How much rent do we pay?", "We don't pay rent"),
        ("How big is our garden?", "User's garden is tiny"), ("How long is a talk?", "Talks are 30 minutes"),
        ("How big is the house?", "The house is enormous"), ("How long is the warranty?", "The warranty is for life"),
        ("How long is her hair?", "Her hair is short"), ("How long do we test?", "We test until noon"),
        ("How long am I in Oslo?", "User lives in Oslo"), ("On which day are we paid?", "Salaries go out on the 27th"),
        ("What day do we meet?", "We meet on Fridays"), ("Who audits our books?", "Ann audits the books"),
        ("Who audits our books?", "The books are audited by a firm"), ("Who cooks?", "User cooks"),
        ("Who waters the plants?", "The caretaker waters the plants"), ("Who signs?", "The contracts need User's OK"),
        ("Who drives?", "ann drives"), ("Who pays?", "The flat is paid for by Ben"),
        ("How many tools do we use?", "User's team uses Slack, Jira, Notion"),
        ("What's the upload limit?", "Uploads may have 20 MB"), ("What's my glove size?", "User's gloves are medium"),
        ("What's my marathon time?", "User ran the marathon in 3:58"),
        ("Where is Halden based?", "Halden is an Oslo company"),
        ("Who is my physio?", "Physio is with Joost"), ("When is the class?", "The class is now on Mondays"),
        ("What is the address of the vet?", "The vet is on North Street"), ("What's my address?", "User lives in Bonn"),
    ],
)  # fmt: skip
def test_a_fact_that_may_hold_it_fits(question: str, fact: str) -> None:
    assert fits(question, fact)


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("How many guests fit in?", "Keep the guest list sorted by company"),
        ("So how much is the rent?", "User rents in Leeds"), ("When's the party?", "The party is on the lake"),
        ("What is Kim's phone number?", "User's new manager is Kim"),
        ("What's my customer number?", "User is a customer of Telco"),
        ("What is Kim's email?", "User's new manager is Kim"),
        ("What is my address?", "User's email address changed: it is a@b.org now"),
        ("What is my address?", "User is deaf, so phone calls are useless anyway"),
        ("How much money is there for the fair?", "The fair is on May 21 and 22"),
        ("How many guests came?", "The party was on 3 June 2024"),
        ("How big is the team?", "User's team answers by chat"),
        ("Who agrees to a hire?", "User's average time to hire is 52 days"),
        ("Who audits our books?", "The costs of travel are booked to 4120"),
        ("How many developers are we?", "User's team uses pnpm, not npm"),
        ("How many people are on the team?", "User's team uses yarn, not npm, in this repo"),
        ("What's my glove size?", "User's new gloves are by Roeckl"),
        ("What's the upload limit?", "The upload endpoint is at v4 since May"),
        ("What's my marathon time?", "User runs the Oslo marathon on 12 September"),
        ("When are my ballet classes?", "User's ballet class costs 30 euros now"),
        ("Who is my physio?", "Physio is on Tuesday at 8:30"),
        ("Where is Halden based?", "The Halden call is on Thursday at 11"),
        ("Where is Halden based?", "Halden is a Salesforce customer"),
    ],
)  # fmt: skip
def test_a_fact_without_any_does_not(question: str, fact: str) -> None:
    assert not fits(question, fact)
    assert fits(question, fact, is_dated=True) is question.startswith("When")


def test_what_is_paid_is_no_time() -> None:
    assert not fits("On which day are we paid?", "Payments over 2,500 need a signature")
    assert not fits("When are bonuses due?", "Bonuses are 8 percent of sales")
    assert fits("When are bonuses due?", "Bonuses of 8 percent are due in May")


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("What year is my car?", "User's car is blue"),
        ("How long is a slot for a speaker?", "Speakers get a bottle of gin"),
        ("How many hives do I have?", "User is allergic to penicillin, that's important"),
        ("Who do I live with?", "User's best friend Aiko lives in Osaka"),
        ("What's the capital of France?", "User is flying to France in June"),
        ("What's the capital of France?", "User raised some capital last year"),
        ("What is the boiling point of water?", "User boils water for tea every morning"),
        ("Who wrote Hamlet?", "User was reading Hamlet last night"),
        ("What's the speed of light?", "User's new light has three modes"),
        ("What's the population of Berlin?", "User loves living in Berlin"),
    ],
)
def test_what_is_asked_of_the_world_or_of_a_year_is_told_by_that_alone(question: str, fact: str) -> None:
    assert not fits(question, fact)
