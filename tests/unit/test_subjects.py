"""Whose statement a sentence is, in which mood, and what it says in the third person."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.english import subjects
from engram.english.subjects import clause_spans, clauses, mood_of, sentence_spans, subject_of, third_person


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I live in Ottawa", "User lives in Ottawa"),
        ("I'm allergic to my cat", "User is allergic to User's cat"),
        ("I’ve moved", "User has moved"),
        ("I don't like it when people call me", "User does not like it when people call User"),
        ("I study law and teach piano", "User studies law and teaches piano"),
        ("I usually watch films", "User usually watches films"),
        ("I went home and I slept", "User went home and User slept"),
        ("My sister is older than me", "User's sister is older than User"),
        ("I can't swim", "User cannot swim"),
        ("I wasn't there", "User was not there"),
        ("I no longer work here", "User no longer works here"),
        ("I need a visa", "User needs a visa"),
        ("I read 40 books last year", "User read 40 books last year"),
        ("We switched to Postgres", "User's team switched to Postgres"),
        ("We relocated to Toronto", "User relocated to Toronto"),
        ("My wife and I live in Rome", "User's wife and User live in Rome"),
        ("I'd rather walk", "User would rather walk"),
    ],
)
def test_first_person_becomes_third_person(said: str, written: str) -> None:
    assert third_person(said) == written


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("My email is me@home.org", "User's email is me@home.org"),
        ("My address is my.name@mail.us", "User's address is my.name@mail.us"),
        ("I read https://my.site.com/me daily", "User reads https://my.site.com/me daily"),
        ("We deploy to us-east-1", "User's team deploys to us-east-1"),
        ("My repo is my-app", "User's repo is my-app"),
        ("I keep notes in /home/me/notes", "User keeps notes in /home/me/notes"),
        ("I set my_var and our-key", "User sets my_var and our-key"),
        ("I take I-95 to work", "User takes I-95 to work"),
        ("My job is I/O on drivers", "User's job is I/O on drivers"),
        ("I live in the US", "User lives in the US"),
        ("I hold US passports, she wrote to us", "User holds US passports, she wrote to User's group"),
    ],
)
def test_what_is_written_as_one_name_has_no_speaker_in_it(said: str, written: str) -> None:
    assert third_person(said) == written


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("It is me.", "It is User."),
        ("I live in rome.my wife is from Oslo", "User lives in rome.User's wife is from Oslo"),
        ("We moved to Rome-my wife too", "User moved to Rome-User's wife too"),
        ("My wife/my kids are here", "User's wife/User's kids are here"),
        ("My pets (my dog, my cat) are fine", "User's pets (User's dog, User's cat) are fine"),
        ("My friends: my dog and me", "User's friends: User's dog and User"),
        ("CALL US AT NOON", "CALL User's group AT NOON"),
        ("My half-sister and I met", "User's half-sister and User met"),
    ],
)
def test_a_speaker_beside_a_mark_is_still_the_speaker(said: str, written: str) -> None:
    assert third_person(said) == written


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [
        ("I live in Ottawa", "self"),
        ("Last month, I moved", "self"),
        ("The user lives in Ottawa", "self"),
        ("User's name is Ada", "self"),
        ("My name is Ada", "self"),
        ("My sister lives in Toronto", "user's sister"),
        ("My best friend moved", "user's best friend"),
        ("My manager lives in Chicago", "user's manager"),
        ("My manager is Priya", "self"),
        ("Bob lives in Rome", "bob"),
        ("Ada lives in Rome", "self"),
        ("The client is late", "unknown"),
        ("He lives in Rome", "unknown"),
        ("Bob now lives in Rome", "bob"),
        ("Bob isn't a vegan", "bob"),
        ("Bob can’t eat nuts", "bob"),
        ("Pixel must not get grapes", "pixel"),
        ("It isn't far", "unknown"),
        ("My sister visits me", "user's sister"),
        ("My dentist appointment was cancelled", "self"),
        ("My doctor's appointment is on Friday", "self"),
        ("My doctor bills me", "user's doctor"),
        ("My customer number is K-20817", "self"),
        ("My student ID is 5512", "self"),
        ("My bank account number is 5512", "self"),
        ("My customer is Siemens", "user's customer"),
        ("My friend no longer lives in Rome", "user's friend"),
        ("My client numbers his invoices", "user's client"),
        ("My brother's account is closed", "user's brother"),
        ("My mother's prescription is ready", "user's mother"),
    ],
)
def test_the_subject_of_a_sentence_is_known_or_unknown(sentence: str, subject: str) -> None:
    assert subject_of(sentence, role="user", user_name="ada") == subject


def test_first_person_in_a_tool_or_assistant_message_is_not_the_user() -> None:
    for role in ("assistant", "tool", "agent", "system"):
        assert subject_of("I live in Ottawa", role=role) == "unknown"
        assert subject_of("My sister lives in Ottawa", role=role) == "unknown"
        assert subject_of("User lives in Ottawa", role=role) == "self"


@pytest.mark.parametrize(
    ("sentence", "mood"),
    [
        ("I live in Ottawa.", "statement"),
        ("Where do I live", "question"),
        ("Do I live in Ottawa?", "question"),
        ("I wonder whether I live here", "question"),
        ("If I lived in Oslo I would ski", "conditional"),
        ("I might move", "hypothetical"),
        ("I wish I lived in Oslo", "hypothetical"),
        ('"I live in Paris," she said', "quotation"),
        ("Bob said I live in Paris", "reported"),
        ("I live in Kyoto, he explained", "reported"),
        ("I live in Kyoto - that is what Ann told me", "reported"),
        ("My manager is Bob, or so my wife says", "reported"),
        ("I live in Kyoto, she lives in Rome", "statement"),
        ("Write me a poem", "command"),
        ("Never deploy on Fridays", "command"),
        ("I'm going to move", "plan"),
        ("Since 3 May I live in Rome", "statement"),
        ("When I was young I lived in Rome", "statement"),
        ("I would rather have short answers", "statement"),
        ("My neighbour has a key in case of fire", "statement"),
        ("I carry an EpiPen, just in case", "statement"),
        ("I take the bus in case of rain", "conditional"),
        ("In case of rain I have the car", "conditional"),
        ("I have to move in case I lose my job", "conditional"),
    ],
)
def test_the_mood_of_a_sentence(sentence: str, mood: str) -> None:
    assert mood_of(sentence) == mood


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Kyoto, he wrote",
        "I am allergic to nuts, he once told me.",
        "My manager is Bob, she said in her letter",
        "I live in Kyoto and I work at Acme, my mother says",
        "I live in Kyoto - that is what Ann told me",
        "I live in Kyoto; that's what she says",
        "My manager is Bob, I was told",
        "User is allergic to nuts, he told User",
        "User's manager is Bob, User heard",
    ],
)
def test_what_is_laid_to_somebody_else_at_the_end_is_all_reported(sentence: str) -> None:
    assert [(one.text, one.mood) for one in clauses(sentence)] == [(sentence, "reported")]


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("I live in Kyoto, she lives in Rome", "I live in Kyoto"),
        ("I live in Kyoto, he told me about a flat", "I live in Kyoto"),
        ("I live in Kyoto, but my boss hates it, he said", "I live in Kyoto"),
        ("I live in Kyoto, I said", "I live in Kyoto"),
        ("I live in Kyoto, and she moved away", "I live in Kyoto"),
        ("I'm allergic to nuts, so my wife told them", "I'm allergic to nuts"),
    ],
)
def test_what_the_user_says_stays_a_statement_beside_what_others_say(sentence: str, said: str) -> None:
    first = clauses(sentence)[0]
    assert (first.text, first.mood) == (said, "statement")


def test_sentences_are_split_with_exact_spans() -> None:
    text = "I met Dr. Smith.  He lives in St. John's!\n- First point\n2) Second point. 我住在北京。我喜欢茶"
    found = [text[start:end] for start, end in sentence_spans(text)]
    assert found == [
        "I met Dr. Smith.", "He lives in St. John's!", "First point", "Second point.", "我住在北京。", "我喜欢茶",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I moved from Lindenstr. 4 to Ahornweg 19. It is bigger.", 2),
        ("I live in Apt. 4B. It is small.", 2),
        ("The check-up is on Tue. 3 March.", 1),
        ("We met on Jan. 3 in Bonn.", 1),
        ("I ran 5 km. 3 of us came.", 2),
        ("I have 2 kids. 1 is at school.", 2),
        ("We live in Lindenstr. My wife likes it.", 2),
        ("It was sunny in the dec. I liked it.", 2),
    ],
)
def test_what_is_shortened_before_a_number_ends_no_sentence(text: str, sentences: int) -> None:
    assert len(sentence_spans(text)) == sentences


def test_a_clause_with_a_subject_of_its_own_is_read_alone() -> None:
    sentence = "I'd love to live in Paris, but I live in Ottawa and my sister lives in Rome"
    parts = [(clause.canonical, clause.subject, clause.mood) for clause in clauses(sentence, role="user")]
    assert parts == [
        ("user would love to live in paris", "self", "hypothetical"),
        ("user lives in ottawa", "self", "statement"),
        ("user's sister lives in rome", "user's sister", "statement"),
    ]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("I live with my wife Inês and our two daughters in a small flat near the river.", 1),
        ("I see my mum and my brother at Christmas", 1),
        ("My favourite player used to be Messi, now it's Kane.", 1),
        ("I used to work at IBM, now I work at Oracle.", 2),
        ("I live in Rome and my parents in Oslo", 2),
        ("I work at SAP and my wife works at Bosch.", 2),
        ("I love my wife and my kids at home are great.", 2),
        ("I live with my dog and my neighbour in Rome is nice", 2),
    ],
)
def test_somebody_somewhere_is_no_clause_without_a_verb(sentence: str, parts: int) -> None:
    assert len(clauses(sentence, role="user")) == parts


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            "Hi! I'm Daniel, a 38-year-old architect from Porto.",
            ["My name is Daniel", "I'm 38 years old", "I'm an architect from Porto"],
        ),
        ("I'm Sarah, a nurse.", ["My name is Sarah", "I'm a nurse"]),
        ("My name is Li Wei, a data scientist at Baidu.", ["My name is Li Wei", "I'm a data scientist at Baidu"]),
        ("I'm Tom, a friend of Ada.", ["I'm Tom, a friend of Ada."]),
        ("I'm Anna, a bit tired today.", ["I'm Anna, a bit tired today."]),
        ("My sister is Anna, a nurse.", ["My sister is Anna, a nurse."]),
        ("I'm Italian, a nurse.", ["I'm Italian, a nurse."]),
        ("I'm Sorry, a nurse.", ["I'm Sorry, a nurse."]),
        ("I'm Gemini, a typical one.", ["I'm Gemini, a typical one."]),
        ("I'm Team Lead, a role I like.", ["I'm Team Lead, a role I like."]),
        ("My name is Lee, a name I hate.", ["My name is Lee, a name I hate."]),
        ("My name is Kim, a Korean name.", ["My name is Kim, a Korean name."]),
        ("This is Rome, a city of art.", ["This is Rome, a city of art."]),
        ("This is Bruno, a colleague.", ["This is Bruno, a colleague."]),
    ],
)
def test_who_somebody_is_and_what_are_told_apart(sentence: str, told: list[str]) -> None:
    [span] = sentence_spans(sentence)[-1:]
    assert [clause.text for clause in clauses(sentence[slice(*span)], role="user")] == told


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    spans = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    for start, end in spans:
        sentence = text[start:end]
        assert all(sentence[a:b] is not None for a, b, _ in clause_spans(sentence))
        assert subject_of(sentence, role="user", user_name=text[:20]) != ""
        assert clauses(sentence, role="user") == clauses(sentence, role="user")


@given(st.lists(st.sampled_from(["x", "She", "we", "Bob is", " ", ",", ";", "—", "–", "-", "AND", "ſo", "yet", "now"])))
def test_no_clause_is_cut_where_no_word_of_a_cut_stands(parts: list[str]) -> None:
    sentence = " ".join(parts)
    if not any(mark in sentence.casefold() for mark in subjects._CUT_AT):
        assert subjects._CUT.search(sentence) is None


def test_what_somebody_did_is_a_clause_before_a_comma() -> None:
    def parts(said: str) -> list[str]:
        return [one.text for one in clauses(said, role="user")]

    assert parts("Noa got promoted, my boss is Eli now.") == ["Noa got promoted", "my boss is Eli now."]
    assert parts("Noa left, so Eli owns the ledger now.") == ["Noa left", "Eli owns the ledger now."]
    assert parts("Noa met Eli, my brother, in Rome") == ["Noa met Eli, my brother, in Rome"]
    assert parts("Noa moved, my friend") == ["Noa moved, my friend"]
