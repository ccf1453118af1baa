"""What recall answers when two facts speak against each other, or when the nearest fact is about someone else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engram import Engram, Filter, Scope

PEOPLE = ["Anna", "Ben", "Carla", "David", "Emil", "Fiona", "Greta", "Hanna", "Igor", "Jonas"]
CITIES = ["Rome", "Oslo", "Paris", "Lyon", "Bonn", "Graz", "Turin", "Genoa", "Porto", "Ghent"]


@pytest.fixture
def ada(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        yield door


def test_the_newer_of_two_facts_without_a_key_answers_and_the_other_is_noted(ada: Engram) -> None:
    ada.add("The monthly cloud budget of project Heron is 80,000 euros")
    newer = ada.add("The monthly cloud budget of project Heron is 95,000 euros")
    assert "value_changed" in newer.reasons
    answer = ada.recall("What is the monthly cloud budget of project Heron?")
    assert answer.answer_text == "The monthly cloud budget of project Heron is 95,000 euros"
    assert answer.conflict_note is not None
    assert "80,000" in answer.conflict_note


def test_a_less_trusted_contradiction_does_not_answer(ada: Engram) -> None:
    ada.add("The monthly cloud budget of project Heron is 80,000 euros")
    ada.add("The monthly cloud budget of project Heron is 95,000 euros", trust="web")
    answer = ada.recall("What is the monthly cloud budget of project Heron?")
    assert answer.answer_text == "The monthly cloud budget of project Heron is 80,000 euros"
    assert answer.conflict_note is not None


def test_what_spoke_against_a_fact_at_a_moment_is_what_held_then(ada: Engram) -> None:
    said = datetime(2024, 1, 1, tzinfo=UTC)
    ada.add("The monthly cloud budget of project Heron is 80,000 euros", valid_from=said)
    ada.add("The monthly cloud budget of project Heron is 95,000 euros", valid_from=said)
    question, then = "What is the monthly cloud budget of project Heron?", datetime(2024, 6, 1, tzinfo=UTC)
    (relation,) = ada.list_relations(ada.search(question)[0].memory.memory_id)
    ada.unrelate(relation.source_id, relation.target_id, "contradicts")
    assert ada.recall(question).conflict_note is None
    assert "80,000" in (ada.recall(question, as_of=then).conflict_note or "")


@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        ("Room {0} has {1} seats", "How many seats does room {0} have?", [(n, 2 * n) for n in range(300, 312)]),
        ("Widget {0} weighs {1} grams", "How much does widget {0} weigh?", [(n, 10 * n + 7) for n in range(20)]),
        ("Server web-{0:02} runs Debian {1}", "Which Debian does web-{0:02} run?", [(n, n % 4 + 9) for n in range(15)]),
        ("Flat {0} is rented to {1}", "Who rents flat {0}?", list(zip("ABCDEFGHIJ", PEOPLE, strict=True))),
        ("{1} lives in {0}", "Where does {1} live?", list(zip(CITIES, PEOPLE, strict=True))),
    ],
)  # fmt: skip
def test_what_a_question_names_by_a_number_or_a_name_is_what_it_is_answered_about(
    ada: Engram, facts: str, question: str, answer: list[tuple[object, object]]
) -> None:
    ada.add_many([{"fact": facts.format(*one)} for one in answer])
    told = {question.format(*one): ada.recall(question.format(*one)) for one in answer}
    assert {asked: one.answer_text for asked, one in told.items()} == {
        question.format(*one): facts.format(*one) for one in answer
    }
    assert {one.conflict_note for one in told.values()} == {None}


def test_whether_something_is_so_is_answered_by_what_became_of_it(ada: Engram) -> None:
    ada.add("Room 301 has 2 seats")
    ada.add("Room 301 has 3 seats")
    answer = ada.recall("Does room 301 have 2 seats?")
    assert answer.answer_text == "Room 301 has 3 seats"
    assert "2 seats" in (answer.conflict_note or "")


def test_a_rival_that_a_filter_keeps_out_is_not_told(ada: Engram) -> None:
    ada.add("The monthly cloud budget of project Heron is 80,000 euros", tags=["open"])
    ada.add("The monthly cloud budget of project Heron is 95,000 euros")
    answer = ada.recall("What is the monthly cloud budget of project Heron?", filter=Filter(tags_any=["open"]))
    assert answer.answer_text == "The monthly cloud budget of project Heron is 80,000 euros"
    assert answer.conflict_note is None


def test_a_question_about_me_is_not_answered_by_a_fact_about_my_sister(ada: Engram) -> None:
    ada.remember("My sister lives in Lisbon.")
    assert "Lisbon" not in ada.recall("Where do I live?").answer_text
    assert ada.recall("Where does my sister live?").answer_text == "User's sister lives in Lisbon"


def test_the_first_minute(ada: Engram) -> None:
    ada.remember("I'm allergic to peanuts and live in Ottawa")
    assert ada.recall("What am I allergic to?").answer_text == "User is allergic to peanuts"
    assert ada.recall("Where do I live?").answer_text == "User lives in Ottawa"
    ada.remember("I moved to Toronto last month")
    answer = ada.recall("Where do I live?")
    assert answer.answer_text == "User moved to Toronto last month"
    assert [memory.fact for memory in answer.previous] == ["User lives in Ottawa"]
    past = ada.recall("Where did I live before I moved?")
    assert (past.intent, past.answer_text) == ("historical", "User lives in Ottawa")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does my brother live?", "User's brother Tom lives in Leeds"),
        ("Where does Tom live?", "User's brother Tom lives in Leeds"),
        ("Where does my sister live?", ""),
        ("Does my boss live in Bonn?", ""),
        ("Where was my mother born?", "User's mum was born in Cork"),
        ("How old is my daughter?", "User's daughter Mia is 7"),
        ("How old is my nephew?", ""),
        ("What's my dog called?", "User's dog is called Rex"),
        ("What's my cat called?", ""),
        ("What car do I drive?", "User drives a blue Golf"),
        ("What car does my uncle drive?", ""),
        ("What's my job?", "User works at SAP as a data analyst"),
        ("Where did I go to school?", ""),
        ("Where am I from?", "User is from Chile"),
        ("When is my birthday?", ""),
        ("When is my mum's birthday?", "User's mum's birthday is June 6"),
        ("What is my mum's birthday?", "User's mum's birthday is June 6"),
    ],
)
def test_an_answer_is_of_whom_and_of_what_the_question_is(ada: Engram, question: str, answer: str) -> None:
    ada.remember(
        "My brother Tom lives in Leeds. My mum was born in Cork. My daughter Mia is 7. My dog is called Rex. "
        "I live in Bonn. I drive a blue Golf. I work at SAP as a data analyst. My birthplace is Trieste. "
        "My mum's birthday is June 6. I'm from Chile."
    )
    ada.remember("My son Ben just started school.")
    assert ada.recall(question).answer_text == answer


@pytest.mark.parametrize(
    ("said", "anew", "question", "answer"),
    [
        (
            "The API key rotates every 30 days.",
            "The API key rotates every 60 days now.",
            "How often do keys rotate?",
            "",
        ),
        ("The meeting room is B12.", "The meeting room has changed to C3.", "Which meeting room is it?", ""),
        ("Anna works at Siemens.", "Anna now works at Bosch.", "Where does Anna work?", "Anna now works at Bosch"),
    ],
)
def test_of_words_that_say_one_thing_of_two_values_the_last_ones_answer(
    ada: Engram, said: str, anew: str, question: str, answer: str
) -> None:
    for day, one in enumerate((said, "I play the lute.", anew), 1):
        ada.remember(one, occurred_at=datetime(2025, 1, day, tzinfo=UTC))
    assert ada.recall(question).answer_text == (answer or anew)


def test_what_is_supposed_does_not_answer_who_has_something(ada: Engram) -> None:
    for said in ("If I win the lottery I will buy a yacht.", "My friend Paul lives in Spain.", "Paul has a yacht."):
        ada.remember(said)
    assert ada.recall("Who has a yacht?").answer_text == "Paul has a yacht"


def test_what_ended_answers_whether_it_is_still_so(ada: Engram) -> None:
    for said in ("I bought a Tesla.", "I sold the Tesla and bought a bike."):
        ada.remember(said)
    assert ada.recall("Do I still have the Tesla?").answer_text == "User sold the Tesla"
    assert ada.recall("What did I buy?").answer_text.count("bought") > 0


def test_where_nothing_is_current_the_value_that_was_the_last_to_end_is_told(ada: Engram) -> None:
    ottawa, lyon, end = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2021, 2022))
    ada.add("User lives in Ottawa", topic_key="home", valid_from=ottawa)
    last = ada.add("User lives in Lyon", topic_key="home", valid_from=lyon, valid_to=end).memory
    assert last is not None
    assert last.revision == 2
    answer = ada.recall("Where do I live?")
    assert (answer.answer_text, answer.current) == ("Formerly: User lives in Lyon", None)
    assert ada.recall("Where do I live?", as_of=lyon).answer_text == "User lives in Lyon"


@pytest.mark.parametrize("question", ["Where have I lived?", "Which cities have I lived in so far?"])
def test_a_question_for_all_there_was_is_answered_by_all_values(ada: Engram, question: str) -> None:
    for said in ("I live in Berlin.", "I moved to Munich.", "I work at Zalando."):
        ada.remember(said)
    answer = ada.recall(question)
    assert answer.intent == "lineage"
    assert [line.split(": ", 1)[1] for line in answer.answer_text.splitlines()] == [
        "User lives in Berlin", "User moved to Munich",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("The API is written in Rust.", "What language is the API written in?"),
        ("My son goes to Jefferson High.", "Which school does my son go to?"),
        ("I take insulin.", "What medication do I take?"),
        ("My team has eight people.", "How big is my team?"),
    ],
)
def test_the_only_thing_that_is_known_answers_in_other_words(ada: Engram, said: str, question: str) -> None:
    """Of one memory every word is in all there are, and is no common one for it."""
    ada.remember(said)
    assert ada.recall(question).found
    assert not ada.recall("What is the capital of Peru?").found


def test_a_question_for_all_firms_is_answered_by_all_of_them(ada: Engram) -> None:
    for said in ("I work at Aldi.", "I work at Lidl now.", "I live in Berlin."):
        ada.remember(said)
    answer = ada.recall("Which firms have I worked for?").answer_text
    assert [line.split(": ", 1)[1] for line in answer.splitlines()] == [
        "User works at Aldi", "User works at Lidl now",
    ]  # fmt: skip


def test_the_cars_that_were_driven_are_told(ada: Engram) -> None:
    for said in ("I drive a Golf.", "I drive a Polo now."):
        ada.remember(said)
    answer = ada.recall("What cars have I driven?").answer_text
    assert "Golf" in answer
    assert "Polo" in answer


def test_the_friend_who_is_asked_for_is_the_one_told_of(ada: Engram) -> None:
    for said in ("My friends Anna and Ben live in Bath.", "My best friend Carl moved to Oslo.", "Carl plays chess."):
        ada.remember(said)
    assert ada.recall("Where does my best friend live?").answer_text == "User's best friend Carl moved to Oslo"
    assert "friends" in ada.recall("Where do my friends live?").answer_text


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        ("My dentist is Mr Baxter on Stafford Street.", "Who is my dentist?", "Mr Baxter"),
        ("My GP is Dr Farquhar at the Lorn Medical Centre.", "Who is my GP?", "Dr Farquhar"),
        ("My family doctor is Dr. Adeyemi.", "Who is my doctor?", "Dr. Adeyemi"),
        ("I have a Samsung Galaxy A14 phone.", "What phone do I have?", "Samsung"),
        ("My phone is an iPhone 12 mini.", "What phone do I have?", "iPhone 12"),
        ("My fiddle teacher is Angus MacPhail.", "Who is my fiddle teacher?", "Angus MacPhail"),
        ("My crop insurance agent is Bob Hruska.", "Who is my crop insurance agent?", "Bob Hruska"),
        ("My customer number is K-20817.", "What is my customer number?", "K-20817"),
        ("I live in Bristol with my husband Marco.", "Who is my husband?", "Marco"),
        ("My brother Pavel is a pilot. My brother is often late.", "What is my brother's name?", "Pavel"),
        ("My dog max loves the beach.", "What is my dog's name?", "max"),
        ("My sister teaches maths in Kiel.", "What does my sister do?", "maths"),
        ("My brother works at Google.", "What is my brother's job?", "Google"),
        ("My grandma turned 90 in May.", "How old is my grandma?", "90"),
        ("My friend Tom has moved to Oslo.", "Where does Tom live?", "Oslo"),
        ("My coach comes from Brazil.", "Where is my coach from?", "Brazil"),
        ("My cat is called Milo.", "What do I call my cat?", "Milo"),
        ("I'm Priya, nice to meet you!", "Do you remember my name?", "Priya"),
        ("Call me Sammy.", "What is my name?", "Sammy"),
        ("My daughter April plays chess.", "What's my daughter's name?", "April"),
        ("My son is a teenager.", "How old is my son?", "teenager"),
        ("My sister runs a bakery.", "Where does my sister work?", "bakery"),
        ("My hairdresser is Kim.", "What does Kim do?", "hairdresser"),
        ("Dr. Moreau is my dentist now.", "What's the name of my dentist?", "Moreau"),
        ("Our ticket system is Jira.", "Where do we track our tickets?", "Jira"),
        ("My boss is Spanish.", "Where is my boss from?", "Spanish"),
        ("We use SendGrid for emails.", "Do we use SendGrid?", "SendGrid"),
        ("I take iron pills in the evening.", "What medicine do I take?", "iron"),
        ("I take iron pills in the evening.", "What do I take?", "iron"),
        ("I make sourdough on Sundays.", "What bread do I make?", "sourdough"),
        ("I have a dog.", "What pets do I have?", "dog"),
        ("I use Vim. I switched from Vim to Emacs.", "Do I use Vim?", "Emacs"),
        ("I live in Bristol with my husband Marco.", "What's my husband's name?", "Marco"),
    ],
)
def test_what_holds_the_word_that_is_asked_for_answers(ada: Engram, said: str, question: str, answer: str) -> None:
    ada.remember(said, wait=30.0)
    assert answer in ada.recall(question).answer_text


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("My wife's doctor is Dr. Adeyemi.", "Who is my doctor?"),
        ("My sister's dentist is Mr Baxter.", "Who is my dentist?"),
        ("I have a dentist appointment on Friday.", "Who is my dentist?"),
        ("I'm a dentist in Leeds.", "Who is my dentist?"),
        ("My sister is a dentist.", "Who is my dentist?"),
        ("I go bouldering on Tuesdays with Femi.", "What is Femi's wife called?"),
        ("I live in Bristol with my husband.", "What's my husband's name?"),
        ("I live in Bristol with my ex-husband Marco.", "Who is my husband?"),
        ("We use Poetry for dependencies.", "Do we use Redis?"),
        ("I have a dog.", "Do I have a Tesla?"),
        ("I go bouldering on Tuesdays.", "Where did I go to university?"),
        ("I hate talking on the phone.", "What phone do I have?"),
        ("I keep a notebook by my bed.", "What laptop do I have?"),
        ("My sister lives in Madrid.", "Where does my sister work?"),
        ("My sister lives in Madrid.", "What is my sister's job?"),
        ("My brother works at Google.", "How old is my brother?"),
        ("My brother works at Google.", "Where does my brother live?"),
        ("My friend Tom is a nurse.", "Where does Tom live?"),
        ("My boss is from Spain.", "Where does my boss live?"),
        ("My son is 5 years old.", "What car does my son drive?"),
        ("My mum's birthday is May 3.", "Where was my mum born?"),
        ("My wife's name is Emma.", "How old is my wife?"),
        ("My wife's name is Emma.", "When did I get married?"),
        ("My wife plays the piano.", "Where did my wife study?"),
        ("My cat is called Milo.", "What breed is my cat?"),
        ("My brother is often late.", "What is my brother's name?"),
        ("I take the number 14 bus to the hospital.", "What medication do I take?"),
        ("Team meeting is on Monday at 10, we meet in room 4.", "When do I meet my therapist?"),
        ("Poker night is on the first Saturday of the month.", "When is pizza night?"),
        ("I'm flying to France in June.", "What's the capital of France?"),
        ("My car is blue.", "What year is my car?"),
        ("I have a master's degree from MIT.", "Where did I do my bachelor's?"),
        ("My best friend Aiko lives in Osaka.", "Who do I live with?"),
        ("My old team has three-week sprints.", "How long are our sprints?"),
        ("I keep bees, four hives behind the barn.", "Where did I do my bachelor's?"),
    ],
)
def test_what_is_anothers_or_another_thing_does_not(ada: Engram, said: str, question: str) -> None:
    ada.remember(said, wait=30.0)
    assert not ada.recall(question).found


@pytest.mark.parametrize(
    ("said", "question", "word"),
    [
        ("I take metoprolol every morning for my blood pressure.", "What medication do I take?", "metoprolol"),
        ("Our golden retriever Biscuit turned 6.", "What breed is my dog?", "retriever"),
        ("I got my degree from the University of Leeds.", "Where did I study?", "Leeds"),
        ("We have twins.", "How many kids do I have?", "twins"),
        ("I collect vinyl.", "What's my hobby?", "vinyl"),
        ("I keep kosher.", "Do I have any dietary restrictions?", "kosher"),
        ("My cardiologist put me on bisoprolol.", "What medication am I on?", "bisoprolol"),
        ("I'm putting money aside for a caravan.", "What am I saving for?", "caravan"),
        ("I go to archery on Saturdays.", "What's my hobby?", "archery"),
        ("I sing with Aurora.", "What is my choir?", "Aurora"),
        ("I take the Clarion Gazette.", "Which newspaper do I read?", "Gazette"),
        ("I do my big shop at Lidl.", "Where do I do my shopping?", "Lidl"),
        ("Lights out at eleven for me.", "What's my bedtime?", "eleven"),
        ("Petra drives the kids to school.", "Who drives my kids to school?", "Petra"),
        ("We're flying to Malta in May.", "Where are we flying in May?", "Malta"),
        ("Therapy is on Wednesdays at 5 with Dr. Hale.", "When do I meet my therapist?", "Wednesdays"),
        ("We got a new cat last week. Her name is Pixel.", "What's my cat's name?", "Pixel"),
        ("Dental cleaning is on the 8th of May.", "When do I go to the dentist?", "8th"),
        ("Next month I have a conference in Austin.", "What do I have next month?", "Austin"),
    ],
)
def test_what_is_asked_by_a_general_word_is_told_by_a_particular_one(
    ada: Engram, said: str, question: str, word: str
) -> None:
    ada.remember("I take the number 14 bus to the office.", wait=30.0)
    ada.remember("Team huddle is every Monday at 7:15.", wait=30.0)
    ada.remember(said, wait=30.0)
    assert word in ada.recall(question).answer_text


def test_the_later_of_two_days_of_one_thing_answers_however_it_is_asked_for(ada: Engram) -> None:
    ada.remember("The deadline for the audit is May 12.", occurred_at=datetime(2024, 1, 2, tzinfo=UTC), wait=30.0)
    ada.remember("The audit is due June 3.", occurred_at=datetime(2024, 2, 2, tzinfo=UTC), wait=30.0)
    ada.remember("The audit dinner is on June 9.", occurred_at=datetime(2024, 3, 2, tzinfo=UTC), wait=30.0)
    assert ada.recall("What's the deadline for the audit?").answer_text == "The audit is due June 3"
    assert ada.recall("Is the audit due on May 12?").answer_text == "The audit is due June 3"
    assert "May 12" in ada.recall("What was the audit deadline as of January 2024?").answer_text


def test_the_first_of_something_is_told_by_what_says_that_it_was(ada: Engram) -> None:
    ada.remember("My first car was a Fiat.", wait=30.0)
    ada.remember("I drive a Volvo.", wait=30.0)
    assert "Fiat" in ada.recall("What was my first car?").answer_text
    assert "Volvo" in ada.recall("What car do I drive?").answer_text
