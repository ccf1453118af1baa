"""The words of a question, and of what a memory is found by: the parts that need no database."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.channels import keyword, semantic
from engram.channels.keyword import Sought, SoughtTerm


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("Hello World", "hello world"),
        ("CAFÉ Zoë’s — naïve", "cafe zoe s   naive"),
        ("周末喝咖啡", "周末 末喝 喝咖 咖啡"),
        ("ＦＵＬＬ width", "full width"),
        ("v1.2 src/app/main.py", "1.2 src app main py"),
        ("HTML/CSS, done.Then e.g. at 5 p.m.", "html css, done then e.g. at 5 p.m."),
        ("PR-123 of 2024-03-15 for $1,200, 3.5%", "pr 123 of 2024 03 15 for $1200, 3.5%"),
        ("Result<Vec<Invoice>> if x <y", "result vec invoice   if x  y"),
        ("uploadLimitMb on GitHub by ada@sail.org", "uploadlimitmb upload limit mb on github by ada sail org"),
        ("café/bar naïve.py", "cafe bar naive py"),
        ("state-of-the-art pre-war 20-odd", "state-of-the-art pre-war 20-odd"),
        ("Straße", "strasse"),
        ("Łódź, đường, Ørsted", "lodz, duong, orsted"),
        ("IŞIK ışık İSTANBUL YAŞIYOR yaşıyor", "isik isik istanbul yasiyor yasiyor"),
        ("القَهْوَة أحمد إسلام العـربية", "القهوة احمد اسلام العربية"),
        ("בְּחֵיפָה", "בחיפה"),
        ("हिन्दी में चाय", "हिन्दी में चाय"),
    ],
)
def test_text_is_levelled_before_the_database_sees_it(said: str, seen: str) -> None:
    assert keyword.plain(said) == seen


def test_a_question_has_words_phrases_and_words_to_do_without() -> None:
    found = keyword.parse('Where is the "red car" of -Bob and “blue bike” -x10 -5')
    assert found.words == ("where", "is", "the", "red", "car", "of", "and", "blue", "bike", "-5")
    assert found.phrases == ("red car", "blue bike")
    assert found.without == ("bob", "x10")


@pytest.mark.parametrize(
    "query", ["well-known pre-war state-of-the-art", "a - b", "5 -3", "--- x", "grep -r x", "rm -rf -x1"]
)
def test_hyphens_inside_words_exclude_nothing(query: str) -> None:
    assert keyword.parse(query).without == ()


@given(st.text(max_size=300))
def test_any_question_is_read_and_bounded(query: str) -> None:
    found = keyword.parse(query * 30)
    assert len(found.words) <= keyword.QUERY_WORDS
    assert len(found.without) <= 8
    assert all(word and word == word.strip() for word in found.words)


def test_a_word_is_the_rarer_the_more_it_says() -> None:
    assert keyword.rarity(100, 0) > keyword.rarity(100, 1) > keyword.rarity(100, 50) > keyword.rarity(100, 100) > 0
    assert keyword.rarity(1, 1) == keyword.rarity(keyword.FEW_KNOWN, 1) > 2.5  # of one memory a word is not common yet
    assert keyword.rarity(10, 50) == keyword.rarity(10, 10)  # counts may be newer than the size


def test_a_word_of_form_counts_little_beside_others_and_is_sought_no_more_where_it_is_refused() -> None:
    rows = [("would", "would", 1), ("ada", "ada", 1), ("now?", None, 0), ("must", "must", 1)]
    words = keyword.Words(("would", "ada", "now?"), without=("must",))
    found = keyword.sought(None, words, rows, size=100)  # type: ignore[arg-type]
    whole = keyword.rarity(100, 1)
    assert {term.label: term.idf for term in found.terms} == {"would": keyword.FORM_SHARE * whole, "ada": whole}
    assert found.without == ("must",)
    assert found.weights == {"would": keyword.STOP_WEIGHT, "ada": whole, "now?": keyword.STOP_WEIGHT}
    alone = keyword.sought(None, keyword.Words(("would",)), rows[:1], size=100)  # type: ignore[arg-type]
    assert [term.idf for term in alone.terms] == [whole]


def _term(label: str, df: int) -> SoughtTerm:
    return SoughtTerm(label, f"'{label}'", df, keyword.rarity(10_000, df))


def test_candidates_come_from_the_rarest_words_within_a_budget() -> None:
    sought = Sought(
        (_term("common", 9_000), _term("rare", 3), _term("medium", 1_500), _term("other", 1_400), _term("none", 0))
    )
    assert [term.label for term in sought.rarest()] == ["rare", "other"]
    only_common = Sought((_term("common", 9_000), _term("also", 8_000), _term("third", 9_500)))
    assert [term.label for term in only_common.rarest()] == ["also", "common"]  # at least two
    assert Sought((_term("none", 0),)).rarest() == []


@pytest.mark.parametrize(
    ("query", "scoped"),
    [
        ("'hous'", "'12:hous':A"),
        ("'red' <-> 'car'", "'12:red':A <-> '12:car':A"),
        ("'it''s' & 'x'", "'12:it''s':A & '12:x':A"),
    ],
)
def test_every_lexeme_of_a_text_query_carries_its_scope(query: str, scoped: str) -> None:
    assert keyword.scoped(query, 12, "A") == scoped
    assert keyword.scoped(query, 12) == scoped.replace(":A", "")


def test_a_word_that_only_begins_so_keeps_its_mark() -> None:
    query = "('猫':* | '欢猫')"
    assert keyword.scoped(query, 12) == "('12:猫':* | '12:欢猫')"
    assert keyword.scoped(query, 12, "A") == "('12:猫':*A | '12:欢猫':A)"


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("猫", ("猫",)), ("猫？", ("猫",)), ("猫 沙发 茶", ("猫", "茶")), ("「猫」和狗", ("猫",)), ("ﾈ", ("ネ",)),
        ("猫猫", ()), ("3月5日", ()), ("a猫", ()), ("沙发 -猫", ()), ("cat", ()), ("", ()),
    ],
)  # fmt: skip
def test_a_character_stands_alone_where_nothing_is_beside_it(query: str, alone: tuple[str, ...]) -> None:
    assert keyword.parse(query).alone == alone


def _row(position: int, said: str, actor: str | None = "Ada", event_type: str = "user_message") -> Any:
    body = None if said is None else f'{{"content": "{said}"}}'.encode()
    moment = datetime(2024, 5, 7, tzinfo=UTC)
    return SimpleNamespace(position=position, event_type=event_type, actor=actor, occurred_at=moment, body=body)


def beside(row: Any) -> str:
    return keyword.plain(keyword._said(row))


def test_what_was_said_around_a_message_is_weighed_by_its_distance() -> None:
    rows = [_row(n, f"line {n}") for n in range(1, 10) if n != 5] + [_row(5, "")]
    around = keyword._around(5, sorted(rows, key=lambda row: row.position), beside)
    entry = keyword.Entry("id", "The centre", "stream", 5, datetime(2024, 5, 7, tzinfo=UTC))
    assert keyword._row(entry, around) == {
        "own": "ada: the centre",
        "before": "ada: line 4 ada: line 3",
        "after": "ada: line 6 ada: line 7",
        "farther": "ada: line 2 ada: line 1 7 may 2024",
    }


def test_a_long_neighbour_gives_only_its_first_words() -> None:
    said = keyword._said(_row(1, " ".join(str(n) for n in range(100)), None))
    assert said.split() == [str(n) for n in range(keyword.NEIGHBOUR_WORDS)]


def test_what_is_no_conversation_has_no_neighbours() -> None:
    rows = [_row(1, "before"), _row(2, "", event_type="memory_added")]
    entry = keyword.Entry("id", "A fact", "stream", 2, datetime(2024, 5, 7, tzinfo=UTC))
    assert keyword._row(entry, keyword._around(2, rows, beside)) == {
        "own": "a fact", "before": "", "after": "", "farther": "7 may 2024",
    }  # fmt: skip


def test_erased_and_unreadable_neighbours_say_nothing() -> None:
    erased, broken = _row(1, "x", None), _row(2, "x", None)
    erased.body, broken.body = None, b"\xff{"
    assert keyword._said(erased) == keyword._said(broken) == ""


def test_names_of_actors_are_found_and_taken_out_of_a_question() -> None:
    actors = ("Caroline Smith", "Jo", "A")
    assert semantic.named_actors("What did caroline say?", actors) == ("Caroline Smith",)
    assert semantic.named_actors("What about jogging?", actors) == ()
    assert semantic.without_names("What is Caroline's hobby, says Jo?", actors) == "What is hobby, says ?"
    assert semantic.without_names("Caroline?", actors) == "Caroline?"  # something must be left


@pytest.mark.parametrize(
    ("query", "english", "german"),
    [
        ("What is Caroline's hobby, says Jo?", "What is my hobby, says I ?", "What is hobby, says ?"),
        ("When did caroline smith move?", "When did I move?", "When did move?"),
        ("Where is Jo’s car?", "Where is my car?", "Where is car?"),
        ("Who likes jogging?", "Who likes jogging?", "Who likes jogging?"),
        ("Caroline’s?", "Caroline’s?", "Caroline’s?"),
    ],
)
def test_who_speaks_becomes_the_word_they_say_themselves_in_a_language_it_is_known_of(
    query: str, english: str, german: str
) -> None:
    actors = ("Caroline Smith", "Jo")
    assert semantic.without_names(query, actors, "english") == english
    assert semantic.without_names(query, actors, "german") == german


@pytest.mark.parametrize(
    ("query", "own"), [("Where do I live?", True), ("my cat", True), ("I’m tired", True), ("Where is Miami?", False)]
)
def test_a_question_about_its_asker_is_known(query: str, own: bool) -> None:
    assert semantic.is_first_person(query) is own


@pytest.mark.parametrize(
    ("query", "own"),
    [
        ("What did you tell me about the knee?", True),
        ("Can you remind me of the place that you’d recommended?", True),
        ("Where did you say we could turn around?", True),
        ("How have you divided the money?", True),
        ("What was your advice on pensions?", True),
        ("Did you know that I have a cat?", False),
        ("What have you noted about me?", False),
        ("Do you remember what I said?", False),
        ("Can you list what I told you, in order?", False),
        ("What would you suggest?", False),
        ("Is that your name?", False),
        ("Did you like my cake?", False),
        ("Have you been told my address?", False),
        ("Were you given my keys?", False),
    ],
)
def test_a_question_for_what_was_answered_before_is_known(query: str, own: bool) -> None:
    assert semantic.is_second_person(query) is own


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("I carried everything up to the attic, because of the thunder.", True),
        ("Yesterday we walked home instead", True),
        ("I carried everything up, why?", False),
        ("Tell me where I was in May", False),
        ("please summarise how I got there", False),
        ("What I said about the attic", False),
        ("On which day did I fly", False),
        ("should I call my mother", False),
        ("Hey, where did I park", False),
        ("my allergies", False),
        ("The attic is empty.", False),
    ],
)
def test_a_text_that_tells_and_asks_nothing_is_known(query: str, told: bool) -> None:
    assert semantic.tells(query) is told
