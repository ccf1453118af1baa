"""Garbage for questions: no query in any script raises what it should not, or gets a letter into a statement's text."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any, Final

import pytest
import sqlalchemy.event as hooks
from quiet import quiet

from engram import Engram, InvalidInput, LimitExceeded, Scope
from engram.recall import finding

FACTS: Final = (
    "User lives in Ottawa", "User's cat is called Miso", "User bought a red bicycle on 3 May", "用户喜欢喝绿茶",
    "ユーザーは東京に住んでいます", "사용자는 부산에 산다", "Пользователь живёт в Москве", "يعيش المستخدم في القاهرة",
    "The parser is written in Rust", "SELECT is a word of SQL",
)  # fmt: skip
OPERATORS: Final = ("&", "|", "!", "<->", "<2>", ":*", ":a", "(", ")", "'", '"', "\\", "*", "''", '""', "$$", "%", "-")
INJECTIONS: Final = (
    "'; DROP TABLE engram.agent_memory; --", "' OR 1=1 --", '"; SELECT pg_sleep(10); --', "$$; SELECT 1; $$",
    "x'); DELETE FROM engram.agent_events; --", "1; SET ROLE postgres", "/*row of x*/", "/*strict*/", "/*which*/",
    "-- a comment", "E'\\x00'", "\\copy", "UNION SELECT NULL", "%(tenant_id)s", "%s", "%%", "%(", "%d %x %n", "{}",
    "{0}", "{query}", "{{}}", "${query}", ":query", "$1", "?", "@@", "::tsquery", "to_tsquery('a & b')",
    '{"query": "tea"}', '{"a": [1, {"b": null}]}', "[1, 2", "null", "NaN", "Infinity", "-Infinity", "true",
    "<script>alert(1)</script>", "../../etc/passwd", "\r\nSet-Cookie: a=b", "```sql\nselect 1\n```", "a\tb\vc\fd",
)  # fmt: skip
DATES: Final = (
    "0000-00-00", "9999-99-99", "32 January", "February 30", "in the year 999999999", "-5 days ago", "1e400 weeks ago",
    "between 2020 and 2010", "between and", "since since", "before before I changed it", "until", "at 25:61",
    "999999999999999999999 days ago", "last last last week", "2024-02-30T99:99:99+99:99",
    "the day before the day after", "three thousand million years ago", "yesterday tomorrow", "in Q9 2024",
    "13/13/1313", "from now to then",
    "what did I say 0 days ago", "week 54 of 2023", "0001-01-01", "9999-12-31T23:59:59Z", "1900", "2200",
    "in 0 BC", "between 9999-12-31 and tomorrow", "১২ মে ২০২৪", "昨日", "vorgestern", "в прошлом году",
    "١٢ مايو", "the 31st of June",
)  # fmt: skip
STOPS: Final = ("the", "a", "of", "and", "is", "was", "to", "in", "it", "I", "what", "who", "when", "not")
EMOJI: Final = ("👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇨🇦", "❤️‍🔥", "☃️", "1️⃣", "🧑🏿‍🚀", "\U000e0067")
MARKS: Final = (
    "\u0301",
    "\u0308",
    "\u20dd",
    "\u0e31",
    "\u0bcd",
    "\u200d",
    "\u200b",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\u00ad",
)
CONTROLS: Final = (
    "\u0001",
    "\u0007",
    "\u001b[31m",
    "\u007f",
    "\u0085",
    "\u2028",
    "\u2029",
    "\ufffe",
    "\uffff",
    "\U0010ffff",
)


def blocks() -> list[list[str]]:
    """The assigned characters of every run of 128 code points that has some, from the first plane to the last."""
    found = []
    for start in range(0x80, 0x110000, 128):
        letters = [
            chr(point) for point in range(start, start + 128) if unicodedata.category(chr(point)) not in ("Cn", "Cs")
        ]
        if letters:
            found.append(letters)
    return found


def garbage(dice: random.Random, count: int) -> list[str]:
    """So many questions nobody means, of every sort in turn."""
    every = blocks()
    scripts = [block for block in every if ord(block[0]) < 0x4E00 or 0xA000 <= ord(block[0]) < 0xAC00
               or 0xF900 <= ord(block[0]) < 0x20000]  # fmt: skip
    tame = " ".join(FACTS).split()

    def script() -> str:
        return "".join(dice.choices(dice.choice(scripts), k=dice.randint(1, 24)))

    def mixed() -> str:
        return " ".join(
            "".join(dice.choices(dice.choice(every), k=dice.randint(1, 6))) for _ in range(dice.randint(2, 6))
        )

    def operators() -> str:
        return dice.choice(("", " ")).join(dice.choices([*OPERATORS, *tame[:6]], k=dice.randint(1, 16)))

    def injected() -> str:
        return " ".join((dice.choice(tame), dice.choice(INJECTIONS), dice.choice(INJECTIONS)))

    def dated() -> str:
        return f"{dice.choice(('what did I say', 'where did I live', '', 'how long ago'))} {dice.choice(DATES)}"

    def stops() -> str:
        return " ".join(dice.choices(STOPS, k=dice.randint(1, 9)))

    def marked() -> str:
        return "".join(letter + dice.choice(MARKS) * dice.randint(0, 3) for letter in dice.choice(tame))

    def emoji() -> str:
        return "".join(dice.choices([*EMOJI, *tame[:3], *MARKS], k=dice.randint(1, 9)))

    def digits() -> str:
        return "".join(dice.choices("0123456789.,-+e/: ", k=dice.randint(1, 40)))

    def punctuation() -> str:
        return "".join(dice.choices("!?.,;:…—-_#@^~`|/\\[]{}<>()'\"«»„“”、。！？", k=dice.randint(1, 30)))

    def controls() -> str:
        return dice.choice(tame).join(dice.choices(CONTROLS, k=dice.randint(1, 4)))

    def long() -> str:
        whole = dice.choice((dice.choice(tame), dice.choice(OPERATORS), "\u0301", "猫")) * dice.randint(200, 2_000)
        return whole[:8_000]

    def cjk() -> str:
        return "".join(chr(dice.randint(*dice.choice(((0x4E00, 0x9FFF), (0x3040, 0x30FF), (0xAC00, 0xD7A3)))))
                       for _ in range(dice.randint(1, 30)))  # fmt: skip

    def quoted() -> str:
        return f'"{dice.choice(tame)} {dice.choice(INJECTIONS)}" -{dice.choice(tame)} -"{script()}'

    sorts = (script, script, script, mixed, operators, injected, dated, stops, marked, emoji, digits, punctuation,
             controls, cjk, quoted)  # fmt: skip
    made = [sorts[place % len(sorts)]() for place in range(count - 20)]
    return [*made, *(long() for _ in range(20))]


# Questions that somebody means, of every form that chooses other statements.
TAME: Final = (
    "tea", "Where does the user live?", "Where did the user live in 2022?", "Where did I live before Ottawa?",
    "What did I do last week?", "What did I say yesterday?", "How has my home changed over time?",
    "Which came first, the cat or the bicycle?", "bicycle -red", '"red bicycle" -cat', "the", "", "?", "2024-05-03",
    "When did I buy the bicycle?", "What happened between May and July?", "What is Miso?", "Miso", "Miso -red",
    "What did I say about Miso last week?", "Where does Miso live now?", "用户喝什么", "who is Miso since 2020",
    "before 2020", "since 2020", "Miso before 2020", "Miso since 2020 -red", "last week -red", "cat before 2020 -red",
    "What is airspeed, and who is Miso? Where is the cat; what is red!", "cat since 2020",
    "the bicycle that user bought and the cat that is called Miso or the parser that is written in Rust",
    "What did Miso do?", "What did I do?", "What did I say?", "What did the assistant say?", "Who said what?",
)  # fmt: skip

Call = Callable[[Engram, str, str], object]
CALLS: Final[dict[str, Call]] = {
    "hybrid": lambda door, query, start: door.search(query, track=False),
    "semantic": lambda door, query, start: door.search(query, mode="semantic", track=False),
    "keyword": lambda door, query, start: door.search(query, mode="keyword", track=False),
    "deep": lambda door, query, start: door.deep_search(query, track=False),
    "recall": lambda door, query, start: door.recall(query, track=False),
    "events": lambda door, query, start: door.search_events(query),
    "context": lambda door, query, start: door.build_context(query),
    "walk": lambda door, query, start: door.traverse(start, query=query),
    "expanded": lambda door, query, start: door.search(query, expand=True, include_superseded=True, track=False),
}
WITHOUT_A_MODEL: Final = ("hybrid", "keyword", "recall")  # asked at a door without one too


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No channel is given up, however busy the machine is."""
    monkeypatch.setattr(finding, "TIMEOUTS", dict.fromkeys(finding.TIMEOUTS, 30.0))


@pytest.fixture
def doors(database_url: str, tenant: str) -> Iterator[tuple[list[Engram], str]]:
    """A door with a model and one without, to one scope with something of every script in it."""
    scope = Scope(tenant, user_id="ada")
    with Engram(database_url, scope=scope) as door, Engram(database_url, scope=scope, embedder="none") as without:
        quiet(door)
        quiet(without)
        made = [decision.memory for decision in door.add_many([{"fact": fact} for fact in FACTS])]
        ids = [one.memory_id for one in made if one is not None]
        for other in ids[1:]:
            door.relate(ids[0], other, "has_to_do_with")
        for said in ("I like tea", "Miso sleeps all day"):
            door.remember(said)
        yield [door, without], ids[0]


PLACE: Final = re.compile(r"^SELECT \d+ AS search, s\d+\.\* FROM \(|\) s\d+$")


def parts(sql: str) -> set[str]:
    """A statement, or those it is put together of: several searches are one statement."""
    if not sql.startswith("SELECT 0 AS search"):
        return {sql}
    found = re.split(r"\) s\d+\nUNION ALL\nSELECT \d+ AS search, s\d+\.\* FROM \(", PLACE.sub("", sql))
    return {re.sub(r"%\(s\d+_", "%(", one) for one in found}


@contextmanager
def statements(doors: Sequence[Engram]) -> Iterator[set[str]]:
    """The texts of the statements that some doors send meanwhile, each once."""
    sent: set[str] = set()

    def note(_conn: Any, _cursor: Any, sql: str, *_: Any) -> None:
        sent.add(sql)

    engines = [door._core.database().engine for door in doors]
    for engine in engines:
        hooks.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        for engine in engines:
            hooks.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    ("count", "each"), [(510, False), pytest.param(3_000, True, marks=pytest.mark.slow)], ids=["500", "3000"]
)
def test_no_garbage_raises_or_gets_into_the_text_of_a_statement(
    doors: tuple[list[Engram], str], count: int, each: bool
) -> None:
    """In turn through every call, or each through all of them."""
    both, start = doors
    with statements(both) as ours:
        for query in TAME:
            for name, call in CALLS.items():
                for door in both if name in WITHOUT_A_MODEL else both[:1]:
                    call(door, query, start)
    with statements(both) as sent:
        for place, query in enumerate(garbage(random.Random(20_260), count)):
            for name, call in list(CALLS.items()) if each else [list(CALLS.items())[place // 15 % len(CALLS)]]:
                door = both[place // 7 % 2 if name in WITHOUT_A_MODEL else 0]
                try:
                    call(door, query, start)
                except Exception as error:
                    raise AssertionError(f"{name} of {query!r} ({place})") from error
    files = (resources.files("engram") / "sql").iterdir()  # upkeep comes by chance: its statements are ours too
    known = {part for sql in (*ours, *(file.read_text() for file in files)) for part in parts(sql)}
    assert {part for sql in sent for part in parts(sql)} <= known
    assert all(sql.isascii() for sql in ours | sent)


def test_a_question_of_nothing_finds_nothing_by_meaning(doors: tuple[list[Engram], str]) -> None:
    both, _ = doors
    for query in ("", "?", "   ", "\u200b"):
        assert both[0].search(query, mode="semantic").degraded == ()


def test_what_is_no_text_is_refused_before_anything_is_asked(doors: tuple[list[Engram], str]) -> None:
    both, start = doors
    with statements(both) as sent:
        for name, call in CALLS.items():
            for query in ("\0", "tea\0", "\ud800", "tea \udfff", "\udc00\ud800"):
                with pytest.raises(InvalidInput):
                    call(both[0], query, start)
            for query in ("a" * 40_000, "猫" * 20_000):
                with pytest.raises(LimitExceeded):
                    call(both[0], query, start)
            assert not sent, name
