"""Two years of a person's memory, and what is asked about them on Wednesday 2025-06-18 at 15:30 UTC.

The questions were written before the roads that answer them. A row names the road that must answer (empty: none, since
nothing is known), what the answer must say, and what it must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from engram import Engram
from engram.operations.arguments import Message

NOW: Final = datetime(2025, 6, 18, 15, 30, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# What was so, from when, and the key of what has changed.
FACTS: Final[tuple[tuple[str, str, str | None], ...]] = (
    ("User lives in Paris", "2021-03-01", "home"),
    ("User lives in Lyon", "2023-06-15", "home"),
    ("User lives in Ottawa", "2025-02-01", "home"),
    ("User works as a data engineer at Brightwater", "2020-09-01", "job"),
    ("User works as a team lead at Northwind", "2024-01-08", "job"),
    ("The user's manager is Irene", "2024-01-08", "manager"),
    ("The user's manager is Tomas", "2025-04-01", "manager"),
    ("The user's salary is 52,000 euros", "2020-09-01", "salary"),
    ("The user's salary is 68,000 euros", "2024-01-08", "salary"),
    ("The target of project Heron is 40 customers", "2025-01-10", "target"),
    ("The target of project Heron is 55 customers", "2025-03-03", "target"),
    ("The target of project Heron is 70 customers", "2025-05-20", "target"),
    ("The user's dentist appointment is on June 24 at 9:00", "2025-06-02", "dentist"),
    ("The user's dentist appointment is on June 26 at 14:00", "2025-06-10", "dentist"),
    ("The monthly cloud budget of project Heron is 800 dollars", "2025-01-10", "budget"),
    ("The monthly cloud budget of project Heron is 1,200 dollars", "2025-04-15", "budget"),
    ("Billing uses PostgreSQL 16", "2024-02-05", "billing database"),
    ("Billing uses PostgreSQL 18", "2025-05-06", "billing database"),
    ("Ben lives in Oslo", "2019-05-01", "ben home"),
    ("Ben lives in Bergen", "2024-10-01", "ben home"),
    ("User is allergic to peanuts", "2022-04-04", None),
    ("User prefers tea over coffee", "2022-01-01", None),
    ("User is vegetarian", "2024-09-01", None),
    ("The user's dog is called Biscuit", "2022-05-05", None),
    ("The user's sister Clara lives in Lisbon", "2022-07-01", None),
    ("Ben works as a photographer", "2019-05-01", None),
    ("Ben is allergic to shellfish", "2023-03-01", None),
    ("Ben's birthday is on 12 November", "2019-05-01", None),
    ("Never deploy on Fridays", "2024-03-01", None),
)

# What was said and done, and when.
SAID: Final[tuple[tuple[str, str, str], ...]] = (
    ("2024-11-05T18:20", "user", "I ran my first half marathon today, in 1:58."),
    ("2025-01-20T21:05", "user", "I gave a talk about vector indexes at the meetup."),
    ("2025-03-01T17:00", "user", "I finished the migration of the search index today."),
    ("2025-03-12T12:00", "user", "The budget meeting ran late, finance wants to cut the cloud budget by ten percent."),
    ("2025-03-20T09:30", "assistant", "I suggested moving the nightly exports to spot instances."),
    ("2025-04-02T11:00", "user", "We signed the lease for the new office in Kanata."),
    ("2025-05-02T16:00", "user", "We launched the beta of Heron today."),
    ("2025-05-12T08:15", "user", "I lost my passport at the airport."),
    ("2025-05-28T19:00", "Ben", "I sold my old camera to Priya."),
    ("2025-06-09T13:40", "user", "I met Ben for lunch at the harbour, he showed me his photos of Svalbard."),
    ("2025-06-11T18:00", "user", "I bought a new bike, a green Peugeot."),
    ("2025-06-13T17:10", "user", "I fixed the login bug with Priya this afternoon."),
    ("2025-06-17T10:10", "agent", "Ran the tests of the billing service: 212 passed, 3 failed."),
    ("2025-06-17T18:00", "user", "When did you run the tests?"),
    ("2025-06-18T09:00", "agent", "Deployed version 2.4 of Heron to staging."),
)


def tell(door: Engram) -> None:
    """Put the story into a memory, as it would have come in."""
    for fact, since, key in FACTS:
        more = {} if key is None else {"topic_key": key}
        door.add(fact, valid_from=at(since), **more)  # type: ignore[arg-type]
    for when, who, said in SAID:
        if who == "agent":
            door.record_event(said, event_type="agent_action", occurred_at=at(when))
            continue
        message = Message(role="assistant" if who == "assistant" else "user", content=said, occurred_at=at(when))
        if who == "Ben":
            message["name"] = who
        door.remember([message], session_id=f"talk of {when[:10]}", wait=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A question and what must come of it."""

    ask: str
    road: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _row(ask: str, road: str, holds: str = "", lacks: str = "", notes: str = "") -> Row:
    parts = [tuple(part for part in text.split("|") if part) for text in (holds, lacks, notes)]
    return Row(ask, road, *parts)


QUESTIONS: Final = (
    # what is so now
    _row("Where do I live?", "current", "Ottawa", "Lyon"),
    _row("What is my allergy?", "current", "peanuts"),
    _row("Who is my manager?", "current", "Tomas", "Irene"),
    _row("What is the monthly cloud budget of Heron?", "current", "1,200", "800"),
    _row("When is my dentist appointment?", "current", "June 26", "June 24"),
    _row("What's my dog called?", "current", "Biscuit"),
    _row("Where does my sister live?", "current", "Lisbon"),
    _row("Where does Ben live?", "current", "Bergen", "Oslo"),
    _row("What is Ben allergic to?", "current", "shellfish", "peanuts"),
    _row("Which PostgreSQL does billing use?", "current", "18", "16"),
    _row("Do I prefer tea or coffee?", "current", "tea"),
    _row("Can we deploy on Fridays?", "current", "Never deploy"),
    _row("What is the target of Heron?", "current", "70", "55"),
    _row("Am I a vegetarian?", "current", "vegetarian"),
    _row("Where do I work?", "current", "Northwind", "Brightwater"),
    _row("When is Ben's birthday?", "current", "12 November"),
    _row("What does Ben work as?", "current", "photographer"),
    # what was so before
    _row("Where did I live before I moved to Ottawa?", "historical", "Lyon", "Ottawa"),
    _row("What was my dentist appointment before I changed it?", "historical", "June 24", "June 26"),
    _row("Who was my previous manager?", "historical", "Irene", "Tomas"),
    _row("What was the cloud budget of Heron before?", "historical", "800", "1,200"),
    _row("Where did Ben use to live?", "historical", "Oslo", "Bergen"),
    _row("What did my salary use to be?", "historical", "52,000", "68,000"),
    _row("Where did I work previously?", "historical", "Brightwater", "Northwind"),
    _row("Which PostgreSQL did billing use before the upgrade?", "historical", "16", "18"),
    # what was so in a time that is named
    _row("Where did I live in 2022?", "current", "Paris", "Lyon|Ottawa"),
    _row("Where did I live in 2024?", "current", "Lyon", "Paris|Ottawa"),
    _row("Where was I living in 2023?", "current", "Paris|Lyon", "Ottawa"),
    _row("What was the target of Heron in February?", "current", "40", "55|70"),
    _row("What was the target of Heron in April 2025?", "current", "55", "40|70"),
    _row("Who was my manager last year?", "current", "Irene", "Tomas"),
    _row("What was my salary in 2021?", "current", "52,000", "68,000"),
    _row("Where did Ben live in 2020?", "current", "Oslo", "Bergen"),
    _row("What was the cloud budget in March?", "current", "800", "1,200"),
    _row("Where did I live in 2015?", "", notes="2021-03-01"),
    _row("What was my salary in 2019?", "", notes="2020-09-01"),
    _row("Who was my manager in 2022?", "", notes="2024-01-08"),
    # how it changed
    _row("How has the target of Heron changed over time?", "lineage", "40|55|70"),
    _row("How has the place where I live changed?", "lineage", "Paris|Lyon|Ottawa"),
    _row("Show me the history of my dentist appointment", "lineage", "June 24|June 26"),
    _row("How has the cloud budget changed since March?", "lineage", "800|1,200"),
    _row("How has the target of Heron changed since April?", "lineage", "55|70", "40 customers"),
    # what was said and done
    _row("When did you run the tests?", "event", "2025-06-17|212 passed", "When did"),
    _row("When did I buy the bike?", "event", "2025-06-11|Peugeot"),
    _row("When did I lose my passport?", "event", "2025-05-12"),
    _row("What did I do last week?", "event", "harbour|bike|login bug", "passport|tests"),
    _row("What did I say about the budget in March?", "event", "finance wants", "1,200"),
    _row("What did you deploy today?", "event", "version 2.4"),
    _row("What happened yesterday?", "event", "212 passed", "version 2.4"),
    _row("When did I run my first half marathon?", "event", "2024-11-05"),
    _row("What did I do on June 13?", "event", "login bug", "bike"),
    _row("When did I talk about vector indexes?", "event", "2025-01-20"),
    _row("What did Ben sell?", "current", "camera"),
    _row("What did Ben say about his camera?", "event", "camera|Priya"),
    _row("Did I ever mention a lease?", "event", "Kanata"),
    _row("What did you suggest about the exports?", "event", "spot instances"),
    _row("What did I do in December?", "", ""),
    _row("When did I climb Kilimanjaro?", ""),
    # in which order
    _row(
        "Which came first, the beta launch or the new office lease?", "temporal_chain",
        "2025-04-02|2025-05-02|30 days",
    ),
    _row(
        "How long between the half marathon and the talk about vector indexes?", "temporal_chain",
        "2024-11-05|2025-01-20|76 days",
    ),
    _row(
        "How many days passed between losing my passport and buying the bike?", "temporal_chain",
        "2025-05-12|2025-06-11|30 days",
    ),
    _row(
        "Did I finish the search index migration before or after the budget meeting?", "temporal_chain",
        "2025-03-01|2025-03-12|11 days",
    ),
    _row("Which came first, the beta launch or the trip to Mars?", "current", "beta"),
    # nothing
    _row("thanks a lot!", ""),
    _row("Hi there!", ""),
)  # fmt: skip

# Written once the roads stood, and first asked then.
HELD_OUT: Final = (
    _row("What city am I in these days?", "current", "Ottawa"),
    _row("Who do I report to?", ""),  # the small embedder cannot tell that this is the manager
    _row("Which company do I work for?", "current", "Northwind"),
    _row("How much do I earn?", "current", "68,000", "52,000"),
    _row("Does Ben have any allergies?", "current", "shellfish", "peanuts"),
    _row("Where does Clara live?", "current", "Lisbon"),
    _row("What was my salary before?", "historical", "52,000"),
    _row("Where did Ben live before Bergen?", "historical", "Oslo", "Bergen"),
    _row("What was the original target of Heron?", "historical", "40", "55|70"),
    _row("Who was my manager in February 2025?", "current", "Irene", "Tomas"),
    _row("Where did I live on 1 June 2023?", "current", "Paris", "Lyon"),
    _row("Where did I work between 2021 and 2022?", "current", "Brightwater", "Northwind"),
    _row("What was my salary last year?", "current", "52,000|2024-01-08|68,000"),
    _row("Where did Ben live in 2010?", "", notes="2019-05-01"),
    _row("What was the cloud budget in 2023?", "", notes="2025-01-10"),
    _row("What PostgreSQL did billing use in 2024?", "current", "16", "18"),
    _row("How has my salary changed over the years?", "lineage", "52,000|68,000"),
    _row("What changed about my dentist appointment?", "lineage", "June 24|June 26"),
    _row("How has Ben's home changed?", "lineage", "Oslo|Bergen"),
    _row("What did I buy last week?", "event", "bike", "harbour"),
    _row("Who did I meet last week?", "event", "Ben"),
    _row("What did we launch in May?", "event", "beta"),
    _row("When did we sign the office lease?", "event", "2025-04-02"),
    _row("When did you deploy to staging?", "event", "2025-06-18"),
    _row("What did I lose in May?", "event", "passport"),
    _row("When did I meet Ben for lunch?", "event", "2025-06-09"),
    _row("What did I do in November?", "event", "half marathon"),
    _row("What did I fix on Friday?", "event", "login bug"),
    _row("When was the migration of the search index finished?", "event", "2025-03-01"),
    _row("Which tests did you run yesterday?", "event", "212 passed"),
    _row("What did I do in 2019?", "current", "2019"),
    _row(
        "What happened between the beta launch and the lost passport?", "temporal_chain",
        "2025-05-02|2025-05-12|10 days",
    ),
    _row("Was the budget meeting before the office lease?", "temporal_chain", "2025-03-12|2025-04-02|21 days"),
    _row("How long after the half marathon did I give the talk?", "temporal_chain", "2024-11-05|2025-01-20|76 days"),
    _row("thx, bye!", ""),
)  # fmt: skip
