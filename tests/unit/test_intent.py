"""What a question asks for, by its cues."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import HELD_OUT, TABLE, window_of

from engram import intent
from engram.intent import Reading


@pytest.mark.parametrize(
    "question", ["", "   ", "?!", "hi", "Hello there!", "Thanks a lot", "ok great", "Good morning everyone"]
)
def test_small_talk_asks_for_nothing(question: str) -> None:
    assert intent.read(question).intent == "chat"


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How has my project target changed over time?", "my project target"),
        ("What is the history of my address?", "my address"),
        ("Show me the full history of the budget", "the budget"),
        ("How did the deadline evolve?", "the deadline"),
        ("my weight over time", "my weight"),
    ],
)
def test_questions_for_a_chain_of_values(question: str, topic: str) -> None:
    found = intent.read(question)
    assert (found.intent, found.topic) == ("lineage", topic)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What was my meeting before I changed it?", "what was my meeting"),
        ("Where did I live before I moved to Toronto?", "where did i live"),
        ("What did I used to drink?", "what did i drink"),
        ("What was my previous address?", "what was my address"),
        ("Who is my former manager?", "who is my manager"),
        ("What is my old phone number?", "what is my phone number"),
        ("Where was the office before?", "where was the office"),
    ],
)
def test_questions_for_what_was_true_before(question: str, topic: str) -> None:
    found = intent.read(question)
    assert (found.intent, found.topic) == ("historical", topic)


@pytest.mark.parametrize(
    "question",
    [
        "What is my allergy?",
        "Where do I live?",
        "How old am I?",
        "How old is my daughter?",
        "What should I do before the meeting?",
        "Hi, where do I live?",
        "我住在哪里",
        "What does my older brother do?",
        "Is the house 20 years old?",
    ],
)
def test_everything_else_asks_for_what_is_current(question: str) -> None:
    found = intent.read(question)
    assert found.intent == "current"
    assert found.topic == question


def test_a_question_is_never_left_without_words() -> None:
    assert intent.read("previously?").topic == "previously?"


NOW = datetime(2025, 6, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def read(question: str) -> Reading:
    return intent.read(question, now=NOW)


@pytest.mark.parametrize(("question", "wanted"), [(row[0], row[1]) for row in TABLE])
def test_the_intent_of_a_question_is_read(question: str, wanted: str) -> None:
    assert read(question).intent == wanted


@pytest.mark.parametrize(("question", "window"), [(row[0], row[2]) for row in TABLE])
def test_the_window_of_a_question_stands_in_its_reading(question: str, window: str) -> None:
    assert read(question).window == window_of(window, NOW)


def test_questions_the_rules_were_not_made_with_are_read_as_well() -> None:
    wrong = [row for row in HELD_OUT if (read(row[0]).intent, read(row[0]).window) != (row[1], window_of(row[2], NOW))]
    assert len(wrong) <= 0.05 * len(HELD_OUT), wrong


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is my allergy?", "current"),
        ("What was my meeting before I changed it?", "historical"),
        ("When did you run the tests?", "event"),
        ("How has my project target changed over time?", "lineage"),
        # the first that fits from the top
        ("How has the plan changed between the audit and the release?", "lineage"),
        ("Did we talk about it before or after I changed it?", "temporal_chain"),
        ("What did you say before I changed it?", "event"),
        ("Thanks! What did you run before?", "event"),
        # of one thing there is no order
        ("Which came first?", "current"),
        ("What did we do between 9 and 11?", "event"),
        # others' doings are told by memories, and what they said by events
        ("What did Anna buy?", "current"),
        ("What did Anna say about the car?", "event"),
        ("What did I like?", "current"),
        ("Am I used to the cold?", "current"),
        ("What did Nate use to make the cake?", "current"),
        ("Who used to live here?", "historical"),
        ("the one-year-old child", "current"),
        ("Remind me what I bought", "event"),
        ("last week?", "event"),
        ("What about yesterday?", "event"),
    ],
)
def test_the_first_rule_that_fits_decides(question: str, wanted: str) -> None:
    assert read(question).intent == wanted


@pytest.mark.parametrize(
    ("question", "anchors"),
    [
        ("Which came first, the launch or the outage?", ("the launch", "the outage")),
        ("How long after the launch did the outage happen?", ("the launch", "the outage happen")),
        ("How many days passed between the order and the delivery?", ("the order", "the delivery")),
        ("How long from signing the contract to moving in?", ("signing the contract", "moving in")),
        ("What happened between the launch and the outage?", ("the launch", "the outage")),
        ("Did I move to Ottawa before or after I changed jobs?", ("i move to ottawa", "i changed jobs")),
        ("In what order did we visit Rome, Paris and Berlin?", ("we visit rome", "paris", "berlin")),
        ("What did you run yesterday?", ()),
    ],
)
def test_the_anchors_of_a_chain_are_what_it_orders(question: str, anchors: tuple[str, ...]) -> None:
    assert read(question).anchors == anchors


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between the pro plan and the team plan?",
        "What did we decide in the meeting between Anna and Ben?",
        "How long does the train from Ottawa to Toronto take?",
    ],
)
def test_between_two_things_there_may_be_no_time(question: str) -> None:
    assert read(question).anchors == ()


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("When did you run the tests?", "run the tests"),
        ("What did you say about the invoice last week?", "the invoice"),
        ("What did I do last night?", ""),
        ("What happened on Monday?", ""),
        ("What did Anna say in July about the trip?", "anna say about the trip"),
        ("When was the invoice paid?", "the invoice paid"),
        ("Where did I live in March?", "Where did I live?"),
        ("What was my previous address in 2020?", "what was my address"),
        ("What did I recently read?", "read"),
        ("What plan of weeks did you make for the training?", "plan of weeks make for the training"),
        ("Which recipe did you give me?", "recipe give me"),
        ("Which tip did you mention about sleep?", "tip sleep"),
        ("What time of day did I wake up?", "wake up"),
        ("Where was the office prior to 2020?", "Where was the office?"),
    ],
)
def test_the_topic_is_the_question_without_its_cues_and_times(question: str, topic: str) -> None:
    assert read(question).topic == topic


def test_a_reading_keeps_the_question_as_it_was_asked() -> None:
    found = read("  What did I say yesterday?  ")
    assert (found.question, found.recent, found.notes) == ("What did I say yesterday?", False, ())
    assert read("What did I buy recently?").recent
    assert read("What was the plan on 05/06/2025?").notes == ("two days may be meant: on 05/06/2025",)


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("What is my allergy?", True),
        ("Do I like tea?", True),
        ("when's my appointment?", True),
        ("When did you run the tests?", True),
        ("What was my budget?", False),
        ("我住在哪里?", False),
        ("Which came first?", False),
        ("and when was that?", False),
    ],
)
def test_the_rules_say_how_sure_they_are(question: str, sure: bool) -> None:
    assert (read(question).confidence >= intent.SURE) is sure


@given(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from([w for r in TABLE for w in r[0].split()])).map(" ".join))
)
def test_any_text_has_a_reading(text: str) -> None:
    found = read(text)
    assert found.intent in intent.INTENTS
    assert 0 < found.confidence <= 1
    assert found.intent in ("chat", "event") or found.topic
    assert (found.intent == "temporal_chain") is (len(found.anchors) > 1)
    intent.is_follow_up(text)
    intent.complete(found, [intent.Said(text, NOW), intent.Said("A B", NOW)])


# Follow-ups


@pytest.mark.parametrize(
    "question",
    ["and when was that?", "what did she say about it?", "Who?", "why?", "And then?", "What is it?", "and where?"],
)
def test_a_question_of_pronouns_points_back(question: str) -> None:
    assert intent.is_follow_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who am I?",
        "What did Anna say about it?",
        "thanks",
        "how are you?",
        "",
        "What did I say?",
        "where do I live?",
        "我是谁?",
    ],
)
def test_a_question_with_words_of_its_own_does_not(question: str) -> None:
    assert not intent.is_follow_up(question)


def completed(question: str, *said: str) -> Reading:
    return intent.complete(read(question), [intent.Said(text, NOW) for text in said])


def test_a_follow_up_is_about_what_was_said_last() -> None:
    found = completed("and when was that?", "I met Anna at the conference in Lyon", "I like tea")
    assert (found.intent, found.topic) == ("event", "I met Anna at the conference in Lyon")
    assert found.question == "and when was that? (I met Anna at the conference in Lyon)"


def test_the_question_itself_may_have_been_said_already() -> None:
    found = completed("and when was that?", "And when was  that?", "Thanks!", "I met Anna in Lyon", "I like tea")
    assert found.topic == "I met Anna in Lyon"


def test_only_the_last_two_messages_complete_a_follow_up() -> None:
    found = completed("why?", "and then?", "who?", "I met Anna in Lyon")
    assert (found.intent, found.topic) == ("chat", "")
    assert found.notes == ("nothing was said before that would complete the question",)


def test_a_person_is_looked_for_in_the_message_before_as_well() -> None:
    found = completed("what did she say about it?", "The budget is too small", "I had lunch with Anna")
    assert found.question == "what did she say about it? (The budget is too small / I had lunch with Anna)"
    assert found.intent == "event"
    assert "Anna" in found.topic
    assert "Anna" not in completed("what is it?", "the budget is too small", "I had lunch with Anna").topic
    assert "Ben" not in completed("what did she say?", "I had lunch with Anna", "I called Ben").topic


def test_a_question_hands_on_its_intent_and_its_time() -> None:
    found = completed("and why?", "Where did I live before I moved in March 2024?")
    assert (found.intent, found.window) == ("historical", window_of("2024-03-01..2024-04-01", NOW))
    told = completed("and why?", "I moved in March 2024")
    assert (told.intent, told.window) == ("current", None)
    own = completed("and what was it yesterday?", "What was my weight in March?")
    assert own.window == window_of("06-17..06-18", NOW)


def test_a_long_message_is_shortened() -> None:
    assert len(completed("why?", "word " * 500).question) < 400
