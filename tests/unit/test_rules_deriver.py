"""The verbatim and the rules deriver: what they take, what they leave, and the exact characters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from compounds import COMPOUND
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import NO_KEY, RIGHT_KEY

from engram.derivation import DERIVERS, rules, verbatim
from engram.derivation.proposals import Proposed
from engram.derivation.times import Stated, resolve
from engram.policies import get_policy
from engram.policies.classify import Proposal, classify
from engram.values import Event

SAID = datetime(2026, 6, 10, 12, tzinfo=UTC)  # a Wednesday


def event(
    content: str | None, role: Any = "user", kind: str = "user_message", payload: Mapping[str, Any] | None = None
) -> Event:
    return Event(
        "e1",
        "s1",
        1,
        role,
        kind,
        "user",
        content,
        payload or {},
        {},
        SAID,
        SAID,
        None,
        None,
        None,
        False,
        "00",
    )


def facts(content: str) -> list[str]:
    return [proposed.fact for proposed in stated(content)]


def stated(content: str, user_name: str | None = None) -> list[Proposed]:
    """What a message states by itself, without what only points back at what was told before."""
    return [one for one in rules.derive(event(content), user_name=user_name) if one.echo is None or not one.echo.whole]


def keys(content: str) -> list[str | None]:
    policy = get_policy("default")
    return [
        classify(
            policy,
            Proposal(found.fact, memory_type=found.memory_type, subject=found.subject, role="user", user_name="ada"),
        ).critical_slot
        for found in stated(content, "ada")
    ]


@pytest.mark.parametrize(("sentence", "key"), RIGHT_KEY)
def test_a_message_becomes_a_fact_with_the_right_slot(sentence: str, key: str) -> None:
    assert key.removeprefix("slot:") in keys(sentence)


@pytest.mark.parametrize("sentence", NO_KEY)
def test_a_message_about_something_else_pins_nothing(sentence: str) -> None:
    assert [slot for slot in keys(sentence) if slot is not None] == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I live in Ottawa.", ["User lives in Ottawa"]),
        ("Actually, I moved to Toronto!", ["User moved to Toronto"]),
        ("Remember that my manager is Priya", ["User's manager is Priya"]),
        ("Please note: I'm allergic to nuts.", ["User is allergic to nuts"]),
        ("I live in Ottawa and I work at Shopify.", ["User lives in Ottawa", "User works at Shopify"]),
        ("I'm allergic to peanuts and shellfish", ["User is allergic to peanuts", "User is allergic to shellfish"]),
        ("Hi, I'm Ada, a nurse from Lyon", ["User's name is Ada", "User is a nurse", "User is from Lyon"]),
        (
            "My brother used to live in Rome, now he lives in Oslo.",
            ["User's brother used to live in Rome, now he lives in Oslo"],
        ),
        ("My sister lives in Toronto and she loves it", ["User's sister lives in Toronto"]),
        ("Call me Ada.", ["User wants to be called Ada"]),
        ("Call me Ada from now on.", ["User wants to be called Ada"]),
        ("In future please call me Ada.", ["User wants to be called Ada"]),
        ("Call me later, please.", []),
        ("Call me later from now on.", ["Call me later from now on"]),
        ("Call me tomorrow, please.", []),
        ("Please answer in French.", ["Please answer in French"]),
        ("Going forward, answer in English.", ["Answer in English"]),
        ("Send me the weekly report from now on.", ["Send me the weekly report from now on"]),
        ("Answer in one word.", []),
        ("Show me the news from today.", []),
        ("Remind me two hours from now.", []),
        ("Predict what happens in the future.", []),
        ("I was in sales, now I'm a nurse.", ["User was in sales", "User is a nurse now"]),
        (
            "I used to live in Rome but now I live in Oslo.",
            ["User used to live in Rome", "User lives in Oslo now"],
        ),
        ("If I lived in Rome, now I would be happy.", []),
        ("We got divorced last month.", ["User got divorced last month"]),
        ("My boss was late. We split up.", ["User's boss was late"]),
        ("Never deploy on Fridays.", ["Never deploy on Fridays"]),
        ("We switched to Postgres", ["User's team switched to Postgres"]),
        ("Our deadline is May 3.", ["User's deadline is May 3"]),
        ("The launch date is May 3.", ["The launch date is May 3"]),
        ("The meeting with Tom was moved to 4pm.", ["The meeting with Tom was moved to 4pm"]),
        ("They extended the deadline to next week.", ["They extended the deadline to next week"]),
        ("They extended the film to two hours.", []),
        ("They said the deadline moved to Monday.", []),
        ("deadline moved to Monday", ["The deadline moved to Monday"]),
        ("Maybe the exam moved to Monday.", []),
        ("I don't eat meat. Thanks!", ["User does not eat meat"]),
        ("I smoke.", ["User smokes"]),
        ("We finished the renovation.", ["User finished the renovation"]),
        ("We gave the sofa away.", ["User gave the sofa away"]),
        ("Honestly, I drink.", ["User drinks"]),
        ("I went to Rome and I loved the food there", ["User went to Rome", "User loved the food there"]),
        ("I'm not allergic to nuts, just peanuts.", ["User is not allergic to nuts, just peanuts"]),
        ("I don't live in Rome because I moved to Oslo.", ["User does not live in Rome", "User moved to Oslo"]),
        ("Because I moved to Oslo, I don't live in Rome.", ["User moved to Oslo", "User does not live in Rome"]),
        ("I don't live in Rome because I like it.", ["User does not live in Rome because User likes it"]),
        ("If I don't live in Rome because I moved to Oslo, say so.", []),
        ("I don't live in Rome because I moved to Oslo. Just kidding!", []),
        ("i don't live in rome 'cause i moved to oslo", ["User does not live in rome", "User moved to oslo"]),
    ],
)
def test_a_sentence_worth_remembering_is_taken_in_the_third_person(said: str, expected: list[str]) -> None:
    assert facts(said) == expected


@pytest.mark.parametrize(("said", "expected"), COMPOUND)
def test_each_predicate_of_a_sentence_is_a_fact_of_its_own(
    said: str, expected: tuple[tuple[str, str | None], ...]
) -> None:
    assert tuple(zip(facts(said), keys(said), strict=True)) == expected


def test_a_predicate_without_its_subject_is_cited_by_its_own_characters() -> None:
    said = "Hi! 🥜 I'm allergic to peanuts and live in Ottawa."
    found = rules.derive(event(said))
    assert [(one.fact, said[one.char_start : one.char_end], one.subject) for one in found] == [
        ("User is allergic to peanuts", "I'm allergic to peanuts", "user"),
        ("User lives in Ottawa", "live in Ottawa", "user"),
    ]
    sister = "My sister lives in Berlin and works as a nurse"
    assert [(one.subject, sister[one.char_start : one.char_end]) for one in rules.derive(event(sister))] == [
        ("user's sister", "My sister lives in Berlin"),
        ("user's sister", "works as a nurse"),
    ]


def test_a_time_in_front_is_shared_by_predicates_of_the_same_tense() -> None:
    joined = rules.derive(event("Last month I moved to Porto and started a new job"))
    assert [one.valid_from for one in joined] == [day(2026, 5, 1), day(2026, 5, 1)]
    mixed = rules.derive(event("Last month I moved to Porto and now work at Acme"))
    assert [(one.fact, one.valid_from) for one in mixed] == [
        ("Last month User moved to Porto", day(2026, 5, 1)),
        ("User now works at Acme", None),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Hello!",
        "Hi there",
        "Thanks so much!",
        "Thank you, that helps a lot",
        "How are you?",
        "Can you write me a poem?",
        "Write me a poem about the sea",
        "I need help with my homework",
        "I want you to act as a pirate",
        "I have a question",
        "I love it!",
        "I agree with that",
        "I'm so tired today",
        "I think we should use Redis",
        "Never mind",
        "Don't worry about it",
        "If I move, I will tell you",
        "I might move to Berlin",
        "I wish I had a dog",
        '"I live in Paris," he said',
        "> I live in Paris",
        "```\nI live in Paris\n```",
        "#nomem I live in Paris",
        "I live in Paris #NoMem",
        "You live in Paris",
        "It was nice",
        "I see",
        "I try",
        "Do I smoke?",
        "ok",
        "👍",
        "Let's go",
        "Sounds good",
        "What do you think about my plan?",
        "I wonder where I live",
        "",
    ],
)
def test_talk_questions_orders_and_quotations_are_left(said: str) -> None:
    assert facts(said) == []


def test_fences_and_quoted_lines_are_skipped_and_spans_stay_exact() -> None:
    content = "> I live in Paris\n```\nI live in Rome\n```\nI live in Ottawa.\n> My name is Bob"
    (found,) = rules.derive(event(content))
    assert (found.fact, content[found.char_start : found.char_end]) == ("User lives in Ottawa", "I live in Ottawa")


def test_what_switches_memory_on_is_no_part_of_what_is_said_with_it() -> None:
    for said in ("#mem-on I moved to Oslo.", "I moved to Oslo. #MEM-ON", "I moved #mem-on to Oslo"):
        [made] = stated(said)
        assert (made.fact, keys(said)) == ("User moved to Oslo", ["profile:current_city"])
        assert said[made.char_start : made.char_end].replace("#mem-on ", "") == "I moved to Oslo"
    assert facts("#mem-on") == []
    assert facts("#mem-online is my favourite word") == ["#mem-online is User's favourite word"]


def test_at_most_twelve_candidates_are_taken_and_counted_in_order() -> None:
    found = rules.derive(event(" ".join(f"I own {number} blue cars." for number in range(2, 40))))
    assert [one.ordinal for one in found] == list(range(12))
    assert found[0].fact == "User owns 2 blue cars"


def test_a_fact_said_twice_is_taken_once() -> None:
    assert facts("I live in Ottawa. I live in Ottawa!") == ["User lives in Ottawa"]


def test_third_persons_carry_their_own_subject() -> None:
    found = rules.derive(event("My sister lives in Toronto. Bob is my brother. I live in Rome."))
    assert [one.subject for one in found] == ["user's sister", "bob", "user"]


def test_assistant_messages_and_unknown_types_give_nothing() -> None:
    assert rules.derive(event("I live in Ottawa", role="assistant", kind="assistant_message")) == ()
    assert rules.derive(event("I live in Ottawa", role="system", kind="system_note")) == ()
    assert rules.derive(event(None)) == ()


# ------------------------------------------------ times


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("I moved yesterday", day(2026, 6, 9), None),
        ("I moved last week", day(2026, 6, 1), None),
        ("I moved last month", day(2026, 5, 1), None),
        ("I moved last year", day(2025, 1, 1), None),
        ("I moved in March", day(2026, 3, 1), None),
        ("I moved in August", day(2025, 8, 1), None),
        ("I live here since June 1", day(2026, 6, 1), None),
        ("from 1 May I work from home", day(2026, 5, 1), None),
        ("starting July 1 I work from home", day(2026, 7, 1), None),
        ("The review is next Friday", day(2026, 6, 12), None),
        ("I saw him last Friday", day(2026, 6, 5), None),
        ("I saw him on Monday", day(2026, 6, 8), None),
        ("Two days ago I moved", day(2026, 6, 8), None),
        ("I moved 3 months ago", day(2026, 3, 10), None),
        ("I moved a couple of weeks ago", day(2026, 5, 27), None),
        ("I moved twenty-five days ago", day(2026, 5, 16), None),
        ("I moved a hundred and twenty days ago", day(2026, 2, 10), None),
        ("I moved fifteen years ago", day(2011, 6, 10), None),
        ("I moved 1,000 days ago", day(2023, 9, 14), None),
        ("I moved 1.5 years ago", None, None),
        ("I moved half a year ago", None, None),
        ("I moved on 2024-02-29", day(2024, 2, 29), None),
        ("I moved on 3 May 2025", day(2025, 5, 3), None),
        ("I moved on May 3rd, 2025", day(2025, 5, 3), None),
        ("I moved in 2019", day(2019, 1, 1), None),
        ("I have lived here since 2019", day(2019, 1, 1), None),
        ("I worked there from 2010 to 2015", day(2010, 1, 1), day(2015, 1, 1)),
        ("I lived there until 2019", None, day(2019, 1, 1)),
        ("I was away from March 3 to March 9", day(2026, 3, 3), day(2026, 3, 9)),
        ("I moved last summer", day(2025, 6, 1), None),
        ("The exam is tomorrow", day(2026, 6, 11), None),
        ("I moved on 2024-02-30", None, None),
        ("I live here now", None, None),
        ("I moved today", None, None),
        ("My birthday is on March 3", None, None),
        ("It costs 2019 dollars", None, None),
        ("I may move", None, None),
        ("I ran 999 years ago", None, None),
        ("I love the song Last Friday Night", None, None),
        ('I like the film "Yesterday"', None, None),
        ("I ran a marathon on Easter Sunday 2021", day(2021, 4, 4), None),
        ("I married Bob on Valentine’s Day 2018", day(2018, 2, 14), None),
        ("I have been vegan since Christmas", None, None),
        ("I drive a Fiat since last Christmas", None, None),
        ("I got engaged last Easter", day(2026, 4, 5), None),
        ("We are moving next Easter", day(2027, 3, 28), None),
        ("I stay with Bob until Halloween", None, day(2026, 10, 31)),
        ("We visit my parents at Christmas", None, None),
        ("I love the song Last Christmas", None, None),
        ('I saw the film "Tomorrow" yesterday', day(2026, 6, 9), None),
    ],
)
def test_dates_are_read_against_the_day_they_were_said(text: str, start: datetime | None, end: datetime | None) -> None:
    stated = resolve(text, SAID)
    assert (stated.valid_from, stated.valid_to) == (start, end)


@pytest.mark.parametrize(
    ("text", "said", "start"),
    [
        ("I signed up for a run on October 5", (2025, 7, 10), None),
        ("I registered for the marathon on October 5", (2025, 7, 10), None),
        ("I booked a flight for March 3", (2025, 6, 10), None),
        ("I signed up for a run on October 5, 2025", (2025, 7, 10), (2025, 10, 5)),
        ("I signed up for a gym in May", (2025, 6, 1), (2025, 5, 1)),
        ("In May I signed up for a gym", (2025, 6, 1), (2025, 5, 1)),
        ("I wrote the report in May", (2025, 6, 1), (2025, 5, 1)),
        ("I wrote the report in May", (2025, 5, 15), (2025, 5, 1)),
        ("I wrote the report in May and it is long", (2025, 6, 1), (2025, 5, 1)),
        ("In May I wrote the report, which is long", (2025, 6, 1), (2025, 5, 1)),
        ("I moved on October 5, which is my lucky day", (2025, 7, 10), (2024, 10, 5)),
        ("I ran a race on October 5", (2025, 7, 10), (2024, 10, 5)),
        ("The review is on October 5", (2025, 7, 10), (2025, 10, 5)),
        ("The review is scheduled for October 5", (2025, 7, 10), (2025, 10, 5)),
        ("I will move in May", (2025, 6, 1), (2026, 5, 1)),
    ],
)
def test_a_past_event_lies_in_the_past_and_an_arranged_one_where_it_is_said(
    text: str, said: tuple[int, int, int], start: tuple[int, int, int] | None
) -> None:
    assert resolve(text, day(*said)).valid_from == (day(*start) if start is not None else None)


def test_the_text_keeps_its_words_and_says_whether_it_still_holds() -> None:
    (moved,) = rules.derive(event("I moved to Toronto last month"))
    assert (moved.fact, moved.valid_from, moved.still) == ("User moved to Toronto last month", day(2026, 5, 1), True)
    (went,) = rules.derive(event("I went to Toronto last month"))
    assert (went.valid_from, went.still) == (day(2026, 5, 1), False)
    (decided,) = rules.derive(event("We decided to launch in September"))
    assert decided.valid_from is None
    (moved,) = rules.derive(event("The launch was moved to May 3"))
    assert moved.valid_from is None


def test_when_a_thing_is_to_be_is_so_from_when_it_is_said() -> None:
    (ahead,) = rules.derive(event("The launch is on October 5"))
    assert (ahead.valid_from, ahead.ahead) == (day(2026, 10, 5), True)
    (works,) = rules.derive(event("I will work at Acme from October 5"))
    assert not works.ahead


def test_what_ended_lately_has_ended_and_what_ended_long_ago_may_have_begun_anew() -> None:
    (left,) = stated("I left Tesco last month")
    assert (left.valid_from, left.still) == (day(2026, 5, 1), True)
    (long_ago,) = stated("I left Tesco in 2010")
    assert (long_ago.valid_from, long_ago.still) == (day(2010, 1, 1), False)


@pytest.mark.parametrize(
    "joke", ["Just kidding!", "Kidding.", "No, I'm just joking.", "lol jk.", "That was a joke.", "April fools!"]
)
def test_a_joke_is_nothing_that_is_so(joke: str) -> None:
    assert facts(f"My boss is Anna. I live on Mars. {joke} I like tea.") == ["User's boss is Anna", "User likes tea"]


@pytest.mark.parametrize("said", ["Bob's dentist, Dr. Lee, is my dentist now", "Dr. Lee, Bob's dentist, is my dentist"])
def test_what_is_anothers_by_name_may_be_the_users_too(said: str) -> None:
    assert facts(said) == [said.replace("my", "User's")]


@pytest.mark.parametrize("earnest", ["No joke!", "No kidding!", "no kidding", "I'm not joking."])
def test_who_says_that_it_is_no_joke_means_it(earnest: str) -> None:
    assert facts(f"I like tea. {earnest}") == ["User likes tea"]


def test_what_leaves_out_what_it_denies_is_no_fact() -> None:
    assert facts("People think I live in Rome but I don't.") == []


@pytest.mark.parametrize("said", ["Siltec fired 500 people.", "Anna moved to Rome.", "Anna now likes 3 bands"])
def test_what_others_did_is_no_value_of_the_user(said: str) -> None:
    assert not any(fact.startswith("User") for fact in facts(said))


def test_the_day_is_the_day_in_utc() -> None:
    late = datetime.fromisoformat("2026-06-10T23:30:00-05:00")
    assert resolve("I moved yesterday", late).valid_from == day(2026, 6, 10)


def test_what_is_corrected_at_once_is_remembered_as_it_was_meant() -> None:
    said = "I live in Rome, sorry, I mean Milan. I have a dog."
    found = rules.derive(event(said))
    assert [one.fact for one in found] == ["User lives in Milan", "User has a dog"]
    assert said[found[0].char_start : found[0].char_end] == "I live in Rome, sorry, I mean Milan."
    assert [one.fact for one in rules.derive(event("My sister lives in Rome, sorry, I mean my brother."))] == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("I start at Acme on July 1st", (2026, 7, 1)),
        ("I fly to Rome on May 3rd", (2026, 5, 3)),
        ("We get the keys on April 9th", (2026, 4, 9)),
        ("The shop opens on June 1", (2026, 6, 1)),
        ("I take my exam in June", (2026, 6, 1)),
        ("I have my driving test on April 20", (2026, 4, 20)),
        ("I have a call with Acme on the 24th at 2pm", (2026, 4, 24)),
        ("The board meeting is on the 1st", (2026, 5, 1)),
        ("I met Sam on the 1st", (2026, 4, 1)),
        ("My desk is on the 14th floor", None),
        ("I have worked there since the 2nd quarter", None),
        ("I speak at PyCon on May 12", None),
        ("My contract ends in December", None),
        ("My visa expires in October 2027", None),
        ("I pay rent on March 1", (2026, 3, 1)),
        ("I live here since June", (2025, 6, 1)),
        ("I read Dune in June", (2025, 6, 1)),
        ("I have been to Rome in June", (2025, 6, 1)),
        ("I started at Acme on July 1st", (2025, 7, 1)),
        ("I left in June and live in Oslo", (2025, 6, 1)),
        ("The start on July 1 was rough", (2025, 7, 1)),
        ("The sale ended on March 1", (2026, 3, 1)),
    ],
)
def test_the_present_speaks_of_no_day_of_a_year_ago(text: str, start: tuple[int, int, int] | None) -> None:
    assert resolve(text, day(2026, 4, 2)).valid_from == (day(*start) if start is not None else None)


@pytest.mark.parametrize(
    "text",
    ["Ann lives at 78 May Street", "I need 40 march badges", "I stay until May 45", "I moved in on the 31st of June"],
)
def test_a_number_that_no_month_has_is_no_day_of_it(text: str) -> None:
    assert resolve(text, SAID) == Stated()


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=200), st.datetimes(day(1900, 1, 1).replace(tzinfo=None), day(2199, 12, 31).replace(tzinfo=None))
)
def test_any_text_and_any_day_resolve_to_years_that_are_kept(text: str, said: datetime) -> None:
    stated = resolve(text + " 3 years ago and next month or 99 days ago", said.replace(tzinfo=UTC))
    for moment in (stated.valid_from, stated.valid_to):
        assert moment is None or 1900 <= moment.year < 2200


# ------------------------------------------------ tools, decisions, meetings


def test_a_tool_result_gives_the_lines_that_say_how_it_ended() -> None:
    content = "collecting ...\nexit code 1 in suite billing\n  3 failed, 20 passed  \nbye"
    found = rules.derive(event(content, role="tool", kind="tool_result"))
    assert [(one.fact, one.memory_type) for one in found] == [
        ("exit code 1 in suite billing", "tool_result"),
        ("3 failed, 20 passed", "tool_result"),
    ]
    assert [content[one.char_start : one.char_end] for one in found] == [one.fact for one in found]


def test_a_decision_event_is_one_decision() -> None:
    (found,) = rules.derive(event("  We use Postgres for jobs.\n", role="agent", kind="decision"))
    assert (found.fact, found.memory_type, found.char_start) == ("We use Postgres for jobs.", "decision", 2)


def test_a_meeting_gives_its_summary_decisions_and_action_items() -> None:
    content = "We agreed to ship. Ann writes the notes."
    payload = {
        "title": "Weekly",
        "attendees": ["Ann", "Bob"],
        "decisions": ["Ship on Monday", 7],
        "topics": ["Release"],
        "date": "2026-06-08",
        "action_items": [{"what": "Write the notes", "who": "Ann", "due": "2026-06-12"}, {"who": "Bob"}, "nonsense"],
        "summary": "We agreed to ship.",
    }
    found = rules.derive(event(content, role="system", kind="meeting", payload=payload))
    assert [(one.fact, one.memory_type) for one in found] == [
        ("We agreed to ship.", "episodic"),
        ("Ship on Monday", "decision"),
        ("Ann: Write the notes, due 2026-06-12 (Weekly)", "task"),
    ]
    assert {one.valid_from for one in found} == {day(2026, 6, 8)}
    assert found[0].tags == ("release",)
    assert (found[0].char_start, found[0].char_end) == (0, 18)
    assert (found[1].char_start, found[1].char_end) == (0, len(content))


def test_what_a_meeting_decided_is_kept_to_its_end() -> None:
    decided = "We ship the new billing service " + "after the review " * 100 + "on Monday"
    todo = {"what": "Write the notes " + "and send them round " * 80 + "to everyone", "who": "Ann", "due": "Friday"}
    payload = {"decisions": [decided], "action_items": [todo], "summary": "Long."}
    found = rules.derive(event("Long.", role="system", kind="meeting", payload=payload))
    assert [one.fact[-20:] for one in found[1:]] == [decided[-20:], "everyone, due Friday"]
    assert [one.main_content for one in found] == [None, None, None]


@pytest.mark.parametrize("kind", ["meeting", "decision"])
def test_what_is_longer_than_a_fact_is_cut_between_words_and_kept_whole_beside_it(kind: str) -> None:
    decided = "We ship " + "after the review " * 700 + "on Monday"
    payload = {"decisions": [decided], "summary": "Long."}
    content = "Long." if kind == "meeting" else decided
    found = rules.derive(event(content, role="agent", kind=kind, payload=payload))[-1]
    assert found.main_content == decided
    assert 8_100 < len(found.fact) <= 8_192
    assert decided.startswith(f"{found.fact} ")


@given(
    st.dictionaries(
        st.sampled_from(["title", "decisions", "action_items", "topics", "date", "summary"]),
        st.none() | st.integers() | st.text() | st.lists(st.text() | st.dictionaries(st.text(), st.text())),
    )
)
def test_any_meeting_payload_is_read_without_an_exception(payload: dict[str, Any]) -> None:
    found = rules.derive(event("text", role="system", kind="meeting", payload=payload))
    assert len(found) <= rules.MAX_CANDIDATES


# ------------------------------------------------ verbatim


def test_the_verbatim_deriver_keeps_the_words_with_their_place() -> None:
    (found,) = verbatim.derive(event("  I live in Rome.\n"))
    assert found == Proposed("I live in Rome.", 2, 17, memory_type="episodic", category="verbatim")
    assert verbatim.derive(event("   ")) == verbatim.derive(event(None)) == verbatim.derive(event("x #nomem")) == ()


def test_a_long_event_is_cut_at_a_word() -> None:
    (found,) = verbatim.derive(event("word " * 5_000))
    assert len(found.fact) <= 8192
    assert found.fact.endswith("word")
    (solid,) = verbatim.derive(event("x" * 20_000))
    assert (solid.char_end, len(solid.fact)) == (8192, 8192)


# ------------------------------------------------ always


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=500)
    | st.lists(
        st.sampled_from(
            [
                "I live in ",
                "Oslo",
                ". ",
                '"',
                "my sister ",
                "```\n",
                "> ",
                "\n",
                "if ",
                "?",
                " and I ",
                "not ",
                "’",
                "\u200b",
                "İ",
                "ß",
                "😀",
                "moved to ",
                "yesterday ",
                "1 May ",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_text_gives_exact_spans_and_the_same_answer_twice(text: str) -> None:
    for deriver in DERIVERS:
        found = deriver.derive(event(text), user_name="ada")
        assert found == deriver.derive(event(text), user_name="ada")
        assert len(found) <= rules.MAX_CANDIDATES
        for number, one in enumerate(found):
            assert 0 <= one.char_start < one.char_end <= len(text)
            assert one.fact.strip()
            assert one.ordinal == number


@pytest.mark.parametrize(
    "unit",
    [
        "I live in Oslo. ",
        "a",
        "I ",
        "and I ",
        '"',
        "'",
        "'a ",
        "my my ",
        "> ",
        "``` ",
        ",",
        "in May ",
        "...",
        "\n",
        "(",
        "I'm ",
        "漢字。",
        "1 ",
        "if ",
    ],
)
def test_the_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    assert_linear(lambda text: rules.derive(event(text)), unit, 500_000)


@pytest.mark.parametrize("unit", ["-", "I and ", "no, ", "I we, ", ":my", "have, ", "be, 3pm, İ ", "us, I'm "])
def test_the_time_grows_with_a_sentence_and_hardly_faster(unit: str) -> None:
    """As long as a sentence may be: a few hundred of them stand in one message."""

    def read(text: str) -> None:
        rules.derive(event("\n".join(f"I like {text} {number}." for number in range(40))))

    assert_linear(read, unit, 960)


def test_a_name_told_by_a_pronoun_is_that_of_whom_the_sentence_before_speaks() -> None:
    assert facts("We got a new cat last week. Her name is Pixel.") == [
        "User got a new cat last week", "User has a cat named Pixel",
    ]  # fmt: skip
    (_, named) = stated("We got a new cat last week. Her name is Pixel.")
    assert (named.char_start, named.char_end) == (28, 46)
    assert facts("My brother got a dog. His name is Rex.") == ["User's brother got a dog"]
