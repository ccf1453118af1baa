"""The LLM deriver: what a model is shown, what it may answer, and what code makes of the answer. Pure, no model here.

A model proposes facts and nothing else: the answer has no field for scope, trust, status or ids. Every fact quotes the
characters it rests on; code looks for the quote in what was said, resolves its dates, sorts the facts and numbers them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engram import inputs, text
from engram.derivation import documents, rules
from engram.derivation.proposals import Proposed
from engram.derivation.times import Stated, is_no_validity, resolve
from engram.errors import EngramError
from engram.regex import regex
from engram.values import Event, MemoryType, trust_rank

NAME: Final = "llm"
VERSION: Final = 2
FIRST_ORDINAL: Final = 100  # those below belong to the derivers that need no model
MOST_FACTS: Final = 64
MOST_TURNS: Final = 16
TOKENS: Final = 3_000  # of turns in one question
NO_MEMORY: Final = rules.NO_MEMORY
CONTEXT_TOKENS: Final = 800
# What a model may say of two facts: never `supersedes`, `contradicts` or another word that the engine acts on.
Relation = Literal[
    "related_to", "causes", "caused_by", "supports", "precedes", "follows", "references", "mentioned_with", "part_of",
    "contains",
]  # fmt: skip


def _plain(value: str) -> str:
    """One line that can be stored: no NUL, no half characters, no invisible fill."""
    try:
        return " ".join(inputs.text(value, "text", limit=4_000).split())
    except EngramError as error:
        raise ValueError(error.code) from None


Words = Annotated[str, AfterValidator(_plain)]


class Link(BaseModel):
    """How a fact of an answer relates to another fact of the same answer, counted from 0."""

    model_config = ConfigDict(extra="forbid")

    to: Annotated[int, Field(ge=0, lt=MOST_FACTS)]
    type: Relation
    weight: Annotated[float, Field(ge=0, le=1)] = 0.5


class Fact(BaseModel):
    """One fact as a model puts it."""

    model_config = ConfigDict(extra="forbid")

    turn: Annotated[int, Field(ge=1, le=1_000)]
    fact: Annotated[Words, Field(min_length=1, max_length=1_000)]
    quote: Annotated[str, Field(min_length=1, max_length=2_000)]
    type: MemoryType | None = None
    subject: Annotated[Words, Field(min_length=1, max_length=200)] | None = None
    attribute: Annotated[Words, Field(min_length=1, max_length=64)] | None = None
    value: Annotated[Words, Field(min_length=1, max_length=500)] | None = None
    when: Annotated[str, Field(max_length=200)] | None = None
    date: Annotated[str, Field(max_length=40)] | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    relations: Annotated[list[Link], Field(max_length=8)] = []


class Extraction(BaseModel):
    """An answer: at most 64 facts; none is an answer too."""

    model_config = ConfigDict(extra="forbid")

    facts: Annotated[list[Fact], Field(max_length=MOST_FACTS)]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of an event that a model reads as one numbered turn; `start` is where it begins in the content."""

    event: Event
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """A fact with its event, whether its quote was found, and its links to others by their place in the result."""

    event: Event
    proposed: Proposed
    verified: bool
    links: tuple[tuple[int, str, float], ...] = ()


# ------------------------------------------------ what a model is shown


def passages(event: Event, said: str, *, tokens: int = TOKENS) -> tuple[Passage, ...]:
    """An event as turns of at most so many tokens, cut between sentences, or between words where it must be."""
    found: list[Passage] = []
    start, end = 0, len(said)
    while start < end:
        stop = _cut(said, start, tokens)
        if said[start:stop].strip():
            found.append(Passage(event, start, said[start:stop]))
        start = stop
    return tuple(found)


def _cut(said: str, start: int, tokens: int) -> int:
    stop = min(len(said), start + tokens * 4)
    while text.count_tokens(said[start:stop]) > tokens:
        stop = start + max(1, (stop - start) * 3 // 4)
    if stop == len(said):
        return stop
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(said, start + (stop - start) // 2, stop)]
        if ends:
            return ends[-1]
    return stop


_SENTENCE_END: Final = regex(r"[.!?。！？]\s+|[。！？]|\n+")
_SPACE: Final = regex(r"\s+")


def batches(turns: Sequence[Passage]) -> Iterator[tuple[Passage, ...]]:
    """The turns in groups that one question can hold."""
    group: list[Passage] = []
    for turn in turns:
        weight = sum(text.count_tokens(one.text) for one in (*group, turn))
        if group and (weight > TOKENS or len(group) == MOST_TURNS):
            yield tuple(group)
            group = []
        group.append(turn)
    if group:
        yield tuple(group)


def halves(turns: Sequence[Passage]) -> tuple[tuple[Passage, ...], ...]:
    """The same turns as two shorter questions; a single turn is cut in two."""
    if len(turns) > 1:
        return tuple(turns[: len(turns) // 2]), tuple(turns[len(turns) // 2 :])
    [turn] = turns
    middle = _cut(turn.text, 0, max(1, text.count_tokens(turn.text) // 2))
    if middle >= len(turn.text):
        return (tuple(turns),)
    return (replace(turn, text=turn.text[:middle]),), (
        replace(turn, start=turn.start + middle, text=turn.text[middle:]),
    )


def shown(turns: Sequence[Passage], context: Sequence[Event]) -> dict[str, str]:
    """What fills the prompt: the numbered turns, and what was said before them, one JSON object a line."""
    return {
        "turns": "\n".join(_line(turn.event, turn.text, number) for number, turn in enumerate(turns, 1)),
        "context": "\n".join(_line(event, (event.content or "")[: CONTEXT_TOKENS * 4]) for event in context) or "none",
    }


def _line(event: Event, said: str, number: int | None = None) -> str:
    at = event.occurred_at.astimezone(UTC)
    line = {"turn": number, "speaker": event.actor or event.role, "role": event.role, "said_at": f"{at:%A %Y-%m-%d}"}
    return json.dumps({name: value for name, value in {**line, "text": said}.items() if value}, ensure_ascii=False)


def weight(said: str) -> int:
    """About how many tokens a text costs."""
    return text.count_tokens(said)


def worst_trust(events: Iterable[Event]) -> str:
    """The trust of what a model made of these: the worst of everything it was shown, set here and nowhere else."""
    return max((event.trust for event in events), key=trust_rank)


# ------------------------------------------------ the agent's own words

SHINGLE: Final = 3
ECHOED: Final = 0.6
_SENTENCE: Final = regex(r"[^.!?\n。！？]+[.!?\n。！？]*")


def without_echoes(said: str, known: Sequence[str]) -> str:
    """What an agent said with every sentence blanked out that repeats a memory, character for character."""
    kept = [_shingles(fact) for fact in known]
    return _SENTENCE.sub(
        lambda one: " " * len(one.group()) if _echoes(_shingles(one.group()), kept) else one.group(), said
    )


def is_echo(said: str, known: Iterable[str]) -> bool:
    """Whether an agent's words repeat one of some memories."""
    return _echoes(_shingles(said), [_shingles(fact) for fact in known])


def _echoes(own: frozenset[tuple[str, ...]], known: Iterable[frozenset[tuple[str, ...]]]) -> bool:
    return any(one and own and len(own & one) >= ECHOED * min(len(own), len(one)) for one in known)


_PERSON: Final = {
    "you": "user", "your": "user", "yours": "user", "user's": "user", "i": "user", "my": "user", "you're": "user",
    "you've": "user",
}  # fmt: skip


def _shingles(said: str) -> frozenset[tuple[str, ...]]:
    """Runs of words, with whoever is spoken to as the user and verbs without their ending."""
    found = [_PERSON.get(word, word) for word in text.words(said)]
    found = [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in found]
    if len(found) < SHINGLE:
        return frozenset([tuple(found)]) if found else frozenset()
    return frozenset(tuple(found[i : i + SHINGLE]) for i in range(len(found) - SHINGLE + 1))


# ------------------------------------------------ quotes


def find_quote(content: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, in code points: exactly, else as compared text; never inside a word."""
    wanted = text.stored(quote).strip()
    place = _whole_words(content, wanted)
    if place is not None:
        return place
    folded, back = _folded(content)
    for sought in (wanted, wanted.strip(_MARKS)):
        place = _whole_words(folded, _folded(sought)[0].strip())
        if place is not None:
            last = back[place[1] - 1]
            return back[place[0]], last + _length(content, last)
    return None


_MARKS: Final = " \t\"'“”‘’«»…"


def _whole_words(content: str, wanted: str) -> tuple[int, int] | None:
    start = content.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        if not (_joined(content, start) or _joined(content, end)):
            return start, end
        start = content.find(wanted, start + 1)
    return None


def _joined(content: str, place: int) -> bool:
    """Whether a word goes on over a place; scripts without spaces have no such places."""
    if not 0 < place < len(content):
        return False
    pair = content[place - 1 : place + 1]
    return all(char.isalnum() for char in pair) and not text.has_cjk(pair)


_SAME: Final = str.maketrans("’‘ʼ“”«»‐‑–—", '\'\'\'""""----')


@lru_cache(maxsize=64)
def _folded(content: str) -> tuple[str, tuple[int, ...]]:
    """The compared text of a content, and for each of its characters the place it came from."""
    out: list[str] = []
    back: list[int] = []
    place = 0
    while place < len(content):
        length = _length(content, place)
        piece = unicodedata.normalize("NFKC", content[place : place + length].translate(_SAME))
        piece = "".join(char for char in piece if char < "\x7f" or unicodedata.category(char) != "Cf")
        for char in unicodedata.normalize("NFKC", piece.casefold()):
            if char.isspace():
                if out and out[-1] != " ":
                    out.append(" ")
                    back.append(place)
                continue
            out.append(char)
            back.append(place)
        place += length
    return "".join(out), tuple(back)


def _length(content: str, place: int) -> int:
    """How many code points belong to the character at a place: itself and the marks upon it."""
    end = place + 1
    while end < len(content) and unicodedata.combining(content[end]):
        end += 1
    return end - place


# ------------------------------------------------ what code makes of an answer


def extracted(answers: Sequence[tuple[Sequence[Passage], Extraction]]) -> tuple[Extracted, ...]:
    """The facts of some answers in one order that depends on nothing but what they say, each said once an event.

    Of a chunk of a document there are no more than were asked for: those whose quotes were found, as they stand in it.
    """
    found: list[tuple[Extracted, list[tuple[int, Link]], int]] = []
    for number, (turns, answer) in enumerate(answers):
        found.extend((_one(turns, fact), [(number, link) for link in fact.relations], number) for fact in answer.facts)
    first = {
        number: next((i for i, item in enumerate(found) if item[2] == number), 0) for number in range(len(answers))
    }
    order = sorted(range(len(found)), key=lambda place: _key(found[place][0]))
    kept: dict[tuple[str, str], int] = {}
    place_of: dict[int, int] = {}
    chosen: list[int] = []
    made: Counter[str] = Counter()
    for place in order:
        one = found[place][0]
        same = (one.event.event_id, text.compared(one.proposed.fact))
        if same not in kept:
            most = documents.most_facts(one.event)
            if most is not None and made[one.event.event_id] >= most:
                continue
            made[one.event.event_id] += 1
            kept[same] = len(chosen)
            chosen.append(place)
        place_of[place] = kept[same]
    ordinals: dict[str, int] = {}
    out = []
    for place in chosen:
        one, links, number = found[place]
        ordinal = ordinals[one.event.event_id] = ordinals.get(one.event.event_id, FIRST_ORDINAL - 1) + 1
        last = first[number] + len(answers[number][1].facts)
        named = ((first[number] + link.to, link) for _, link in links)
        targets = [(place_of[to], link) for to, link in named if to < last and to in place_of]
        own = place_of[place]
        linked = sorted({(to, link.type): link.weight for to, link in targets if to != own}.items())
        out.append(
            replace(
                one,
                proposed=replace(one.proposed, ordinal=ordinal),
                links=tuple((to, kind, weight) for (to, kind), weight in linked),
            )
        )
    return tuple(out)


def _key(one: Extracted) -> tuple[int, str, int, int, str, str]:
    proposed = one.proposed
    start, end = (proposed.char_start, proposed.char_end) if one.verified else (1 << 30, 1 << 30)
    return one.event.position, one.event.event_id, start, end, text.compared(proposed.fact), proposed.fact


def _one(turns: Sequence[Passage], fact: Fact) -> Extracted:
    """A fact laid to its event; the quote is looked for in the turn it names, then in the others of its event."""
    named = turns[min(fact.turn, len(turns)) - 1]
    asked = (named, *(turn for turn in turns if turn is not named and turn.event is named.event))
    for turn in asked if fact.turn <= len(turns) else ():
        place = find_quote(turn.text, fact.quote)
        if place is not None:
            words = turn.text[place[0] : place[1]]
            proposed = _proposed(fact, turn.start + place[0], turn.start + place[1], _when(fact, turn, words))
            return Extracted(turn.event, proposed, True)
    return Extracted(named.event, _proposed(fact, 0, 0, Stated()), False)


def _proposed(fact: Fact, start: int, end: int, stated: Stated) -> Proposed:
    return Proposed(
        fact.fact, start, end, valid_from=stated.valid_from, valid_to=stated.valid_to, memory_type=fact.type,
        subject=fact.subject, attribute=fact.attribute, value=fact.value, importance=fact.importance,
        still=stated.valid_from is not None and stated.valid_to is None and rules.still_holds(fact.fact),
    )  # fmt: skip


def _when(fact: Fact, turn: Passage, words: str) -> Stated:
    """When the fact began: as code reads the quoted words, else the words the model named, else its date for them.

    A date without words that were said is no date: the model made it up.
    """
    said_at = turn.event.occurred_at
    stated = resolve(words, said_at)
    if stated != Stated() or is_no_validity(words):
        return stated
    if not fact.when or find_quote(turn.text, fact.when) is None:
        return Stated()
    named = resolve(fact.when, said_at)
    return named if named != Stated() else Stated(_day(fact))


def _day(fact: Fact) -> datetime | None:
    try:
        day = date.fromisoformat((fact.date or "")[:10])
    except ValueError:
        return None
    years = re.findall(r"(?<!\d)(?:19|20|21)\d\d(?!\d)", fact.when or "")
    if not 1900 <= day.year < 2200 or (years and str(day.year) not in years):
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
