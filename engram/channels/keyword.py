"""The keyword channel: memories by the words of a question, each weighed by its rarity, never all of them required.

The index holds the memory's own words and, at lower weights, those said around it: two messages before (B), two after
(C), two farther back and the date (D). What is said in no session has words around it only where it answers a question:
those of the question. A question's *coverage* is the share of its words' rarity that a memory holds.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Final

from engram import inputs, text
from engram.arrays import Texts
from engram.channels import Part
from engram.database import (
    Connection,
    execute,
    fetch_ahead,
    fetch_all,
    fetch_together,
    fetch_value,
    send_ahead,
    statement,
)
from engram.english import replies
from engram.regex import regex

NAME: Final = "keyword"
TIMEOUT: Final = 5.0  # seconds
NOTHING: Final = Part("""asked AS (SELECT 0 AS nothing),
worded AS (SELECT NULL::uuid AS memory_id WHERE false),
scored AS (SELECT NULL::uuid AS memory_id, NULL::text[] AS matched, NULL::float8 AS coverage WHERE false),
keyword AS (SELECT NULL::uuid AS memory_id, NULL::float8 AS coverage WHERE false)""")
NO_SCORES: Final = "SELECT NULL::uuid AS memory_id, NULL::text[] AS matched, NULL::float8 AS coverage WHERE false"
NEIGHBOUR_WORDS: Final = 40
BEFORE, AFTER, FARTHER = 2, 2, 2
QUERY_CHARACTERS: Final = 4_096
QUERY_WORDS: Final = 64
BUDGET: Final = 2_000  # rows the rarest words may bring
LEAST_WORDS: Final = 2
LOOK_BACK: Final = 8  # events before one, among which those that were spoken are sought
LOOK_ON: Final = 5
MOST_ROWS: Final = 20_000
COUNTED_ROWS: Final = 10_000
LEAST_COUNTED: Final = 5
PAIRS_ROWS: Final = 5_000  # memories of scopes without frequencies, among whose words those are sought that end alike
MOST_PAIRS: Final = 200
LARGE: Final = 1_000  # memories of a scope from which document frequencies are kept
FEW_KNOWN: Final = 30
STOP_WEIGHT: Final = 0.15  # of a word that says nothing, in a question's vector
# Words of form that PostgreSQL does not stop: rare in most scopes, which makes nothing of them that is asked for.
FORM_WORDS: Final = frozenset({
    "also", "could", "else", "ever", "every", "get", "got", "let", "many", "might", "much", "must", "please", "shall",
    "tell", "would", "yet",
})  # fmt: skip
FORM_SHARE: Final = 0.2  # of the rarity of such a word counts
# Events in which someone speaks; the engine's own and calls of tools are no conversation.
SPOKEN: Final = ("user_message", "assistant_message", "observation", "tool_result", "agent_action", "decision")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

Score = tuple[float, tuple[str, ...]]
"""How a text covers a question, and the words that matched."""

_PHRASE: Final = regex(r'"([^"]{1,200})"|“([^”]{1,200})”')
# A word of one or two letters is a flag, as in "grep -r".
_WITHOUT: Final = regex(r"(?:^|(?<=\s))-(?=[^\W\d_])(?![A-Za-z0-9]{1,2}(?!\w))(\w[\w'’.-]*)")
# What the server's parser takes for one word, a path, a tag, a host or a sign: apart as it is asked for.
_JOINTS: Final = regex(r"[/\\<>=@~|]|(?<=\w)[-–](?=\d)")
_DOTTED: Final = regex(r"(?<=[^\W\d_])\.(?=[^\W_]{2})|(?<=\w\w)\.(?=[^\W\d_])")  # main.py, no 3.5
_VERSION: Final = regex(r"(?<!\w)v(?=\d+(?:\.\d+)+)", re.IGNORECASE)
_THOUSANDS: Final = regex(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_GLUED: Final = regex(r"[/\\<>=@~|\d]|\w\.\w")  # what any of these needs
_CAMEL: Final = regex(r"(?<!\w)[a-z]+(?:[A-Z][a-z0-9]+|[A-Z]+(?![a-z]))+(?!\w)")
_HUMPED: Final = regex(r"[a-z][A-Z]")
_HUMP: Final = regex(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
# What many write and many leave out: accents, the points of Hebrew, the vowels, hamzas and long joints of Arabic. In
# other scripts a mark is a letter.
_MARKS: Final = regex(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)
_WITHOUT_STROKES: Final = str.maketrans("ıłđøħŧ", "ildoht")  # letters that are taken apart into none and a mark
PICTURE: Final = "picture"  # begins the word that stands for an emoji in the index; its code follows
_PICTURE: Final = regex("[\u2600-\u2793\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")  # no shades of skin
_LETTER: Final = regex(r"[^\W_]")
_PICTURED: Final = regex(f"{PICTURE}[0-9a-f]{{4,5}}")
_LEXEME: Final = regex(r"'((?:[^']|'')*)'(?::(\*))?")
_ALONE: Final = regex(rf"(?<!\w)[{text.CJK}](?!\w)")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question: to look for, to keep together, and to do without."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()  # of the words, characters of CJK with nothing beside them
    general: tuple[str, ...] = ()  # of the words, those that any of some names stands for as well
    particular: tuple[tuple[str, ...], ...] = ()  # those names, in words

    @property
    def all(self) -> tuple[str, ...]:
        """The words to look up: the question's own, and those of the names."""
        return (*self.words, *self.without, *(word for name in self.particular for word in name))

    def as_of(self, question: Words) -> Words:
        """The words of another way to ask a question: without what that does without, with the names it is told by."""
        general = tuple(word for word in question.general if word in self.words)
        particular = question.particular if general else ()
        return replace(self, without=question.without, general=general, particular=particular)


@dataclass(frozen=True, slots=True)
class SoughtTerm:
    """A lexeme or phrase to look for: as a text query without its scope, and how many memories hold it.

    A `phrase` is looked for in a memory's own words alone, and counts as one word that is said once.
    """

    label: str
    query: str
    df: int
    idf: float
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question's words mean in some scopes: the terms with their rarity, and the lexemes to do without."""

    terms: tuple[SoughtTerm, ...] = ()
    without: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)  # of the question's words, for its vector

    @property
    def total(self) -> float:
        """The rarity of all the question's terms together."""
        return sum(term.idf for term in self.terms)

    def rarest(self) -> list[SoughtTerm]:
        """The terms that choose the candidates: the rarest, up to a budget of rows, but at least two."""
        chosen: list[SoughtTerm] = []
        rows = 0
        for term in sorted((t for t in self.terms if t.df > 0), key=lambda t: (t.df, t.label)):
            if len(chosen) >= LEAST_WORDS and rows + term.df > BUDGET:
                break
            chosen.append(term)
            rows += term.df
        return chosen


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory the words found: its coverage, the words that matched, its place in the channel from 1."""

    memory_id: str
    coverage: float
    matched: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory to be indexed, and where in its stream it was said."""

    memory_id: str
    fact: str
    stream_id: str | None = None
    position: int | None = None
    occurred_at: datetime | None = None


def plain(said: str) -> str:
    """Text as the index sees it: compared, without accents and signs, where no spaces are in pairs of letters. Pure.

    The server may run with a locale that knows no Unicode, so that case, accents and punctuation are settled here.
    Words of code stand apart: paths, versions, and the parts of a `camelCase` name behind the whole.
    """
    said = _apart(said)
    if said.isascii():
        return said.lower()
    decomposed = unicodedata.normalize("NFD", text.compared(said))
    bare = unicodedata.normalize("NFC", _MARKS.sub("", decomposed).translate(_WITHOUT_STROKES))
    bare = _PICTURE.sub(lambda sign: f" {PICTURE}{ord(sign[0]):x} ", bare)
    signs = "".join([c if c < "\x7f" or unicodedata.category(c)[0] not in "PSZC" else " " for c in bare])
    return text.with_bigrams(signs)


def _apart(said: str) -> str:
    """Text in which no sign glues words together that the server's parser would take for one."""
    if _HUMPED.search(said):
        said = _CAMEL.sub(lambda name: " ".join([name[0], *_HUMP.findall(name[0])]), said)
    if not _GLUED.search(said):
        return said
    counted = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), said)
    return _DOTTED.sub(" ", _VERSION.sub("", _JOINTS.sub(" ", counted)))


def _told(said: str) -> str:
    """The words of a question: beside them a picture is how it is asked, and not what for; alone it is that."""
    found = plain(said).split()
    pictures = [word for word in found if _PICTURED.fullmatch(word)]
    told = [word for word in found if word not in pictures]
    return " ".join(told if any(map(_LETTER.search, told)) else pictures or told)


def as_asked(matched: Sequence[str]) -> tuple[str, ...]:
    """The words that matched as they are shown: a picture as it looks. Pure."""
    return tuple(
        chr(int(word.removeprefix(PICTURE), 16)) if _PICTURED.fullmatch(word) else word for word in matched
    )  # fmt: skip


def parse(query: str) -> Words:
    """The words, quoted phrases and excluded words of a question. Pure."""
    cut = query[:QUERY_CHARACTERS]
    phrases = [_told(first or second) for first, second in _PHRASE.findall(cut)]
    rest = _PHRASE.sub(lambda found: " " + (found[1] or found[2]) + " ", cut)
    without = [plain(word) for word in _WITHOUT.findall(_PHRASE.sub(" ", cut))]
    asked = _WITHOUT.sub(" ", rest)
    words = tuple(dict.fromkeys(_told(asked).split()))[:QUERY_WORDS]
    alone = [plain(one) for one in _ALONE.findall(text.compared(asked))] if text.has_cjk(asked) else []
    return Words(
        words,
        tuple(dict.fromkeys(phrase for phrase in phrases if len(phrase.split()) > 1))[:8],
        tuple(dict.fromkeys(without))[:8],
        tuple(one for one in dict.fromkeys(alone) if one in words)[:8],
    )


def rarity(size: int, df: int) -> float:
    """The inverse document frequency of a term: how much finding it says. Pure.

    A scope of few memories counts as one of `FEW_KNOWN`: that all three hold a word does not make it a common one.
    """
    held = min(df, size)
    return math.log(1 + (max(size, FEW_KNOWN) - held + 0.5) / (held + 0.5))


def config_of(conn: Connection, tenant_id: str, default: str) -> str:
    """The text search configuration of a tenant; the default before its first memory."""
    return fetch_value(conn, "get_text_config", tenant_id=tenant_id) or default


def ensure_config(conn: Connection, tenant_id: str, default: str) -> str:
    """The text search configuration of a tenant, noted now where it has none: every process reads words alike."""
    known = fetch_value(conn, "get_text_config", tenant_id=tenant_id)
    if known is None:
        execute(conn, "add_text_config", tenant_id=tenant_id, config=default)
        known = fetch_value(conn, "get_text_config", tenant_id=tenant_id)
    return str(known)


def look_up(
    conn: Connection, tenant_id: str, scope_ids: Sequence[int], words: Words, *, size: int, config: str = "english"
) -> Sought:
    """What a question's words mean in these scopes."""
    asked = wanted(words)
    shared = {"tenant_id": tenant_id, "scope_ids": list(scope_ids), "config": config}
    rows = fetch_all(conn, "look_up_words", **asked, **shared) if asked["words"] else []
    return sought(conn, words, [tuple(row) for row in rows], size=size, config=config)


def wanted(words: Words) -> dict[str, Any]:
    """What `look_up_words` asks about a question's words. Pure."""
    return {"words": list(dict.fromkeys(words.all)), "most": COUNTED_ROWS}


def sought(
    conn: Connection,
    words: Words,
    rows: Sequence[Sequence[Any]],
    *,
    size: int,
    config: str = "english",
    waiting: bool = False,
) -> Sought:
    """What a question's words mean, of the rows of `look_up_words`: word, lexeme and how many memories hold it.

    Names that no memory holds are looked for only in what is `waiting` to become one.
    """
    names = _names(words, rows, least=0 if waiting else 1)
    rows = [row for row in rows if row[0] in words.words or row[0] in words.without] if words.particular else rows
    refused = {lexeme for word, lexeme, _ in rows if word in words.without and lexeme is not None}
    formal = _formal(rows) if config == "english" else frozenset()
    terms: dict[str, SoughtTerm] = {}
    weights: dict[str, float] = {}
    for word, lexeme, df in rows:
        if lexeme is None:
            weights.setdefault(word, STOP_WEIGHT)
        elif lexeme in refused:
            continue
        elif word in formal:
            terms.setdefault(lexeme, SoughtTerm(lexeme, _quoted(lexeme), df, FORM_SHARE * rarity(size, df)))
            weights[word] = STOP_WEIGHT
        else:
            idf = rarity(size, df)
            terms[lexeme] = SoughtTerm(lexeme, _quoted(lexeme), df, idf)
            if names and word in words.general:
                terms[lexeme] = _with_names(terms[lexeme], names, size)
            weights[word] = max(idf, weights.get(word, 0.0))
    phrases = _phrases(conn, words.phrases, config, terms, size)
    return Sought((*terms.values(), *phrases), tuple(sorted(refused)), weights)


def _names(words: Words, rows: Sequence[Sequence[Any]], *, least: int) -> dict[str, int]:
    """The names that stand for a general word, as text queries, and how many memories hold each; at `least` so many."""
    known = {word: (lexeme, df) for word, lexeme, df in rows if lexeme is not None and df >= least}
    held = [[known[word] for word in name] for name in words.particular if all(word in known for word in name)]
    return {" & ".join(_quoted(lexeme) for lexeme, _ in name): min(df for _, df in name) for name in held}


def _with_names(term: SoughtTerm, names: Mapping[str, int], size: int) -> SoughtTerm:
    """A term that is met by any of some names too: "provider" by "stripe"."""
    df = min(size, term.df + sum(names.values()))
    query = " | ".join(f"({one})" for one in (term.query, *names))
    return SoughtTerm(term.label, f"({query})", df, rarity(size, df), phrase=True)


def _formal(rows: Sequence[Sequence[Any]]) -> frozenset[str]:
    """The words of form among those of a question; none where it has no others."""
    kept = {word for word, lexeme, _ in rows if lexeme is not None}
    formal = frozenset(word for word in kept if word.strip(string.punctuation) in FORM_WORDS)
    return formal if formal < kept else frozenset()


def _phrases(
    conn: Connection, phrases: Sequence[str], config: str, terms: Mapping[str, SoughtTerm], size: int
) -> list[SoughtTerm]:
    # A phrase is as rare as its rarest word at least: that is what it counts for, on top of its words.
    found = []
    for row in fetch_all(conn, "look_up_phrases", phrases=list(phrases), config=config) if phrases else []:
        df = min((terms[word].df for word in _lexemes(row.query) if word in terms), default=0)
        found.append(SoughtTerm(f'"{row.phrase}"', row.query, df, rarity(size, df), phrase=True))
    return found


def widened(
    conn: Connection, tenant_id: str, scope_ids: Sequence[int], words: Words, sought: Sought, *, size: int
) -> Sought:
    """The same, where a character of CJK that stands alone is looked for in the pairs of characters it is in too.

    The index knows those that begin with it; those that end with it are sought among the words that are counted in
    large scopes, and among those of the memories of others.
    """
    alone = [term.label for term in sought.terms if term.label in words.alone]
    if not alone:
        return sought
    shared = {"tenant_id": tenant_id, "scope_ids": list(scope_ids)}
    rows = fetch_all(conn, "list_pairs_ending", chars=alone, looked=PAIRS_ROWS, **shared)
    ending = {row.char: row.pairs[:MOST_PAIRS] for row in rows}
    queries = {one: f"({' | '.join([_quoted(one) + ':*', *map(_quoted, ending[one])])})" for one in alone}
    asked = [_any_of(scoped(queries[one], scope_id, "A") for scope_id in scope_ids) for one in alone]
    counted = fetch_all(conn, "count_matches", labels=alone, queries=asked, most=COUNTED_ROWS, **shared)
    found = {row.label: row.df for row in counted}
    terms = [
        SoughtTerm(term.label, queries[term.label], found[term.label], rarity(size, found[term.label]), phrase=True)
        if term.label in found
        else term
        for term in sought.terms
    ]
    return replace(sought, terms=tuple(terms))


def part(sought: Sought, scope_ids: Sequence[int]) -> Part:
    """The memories that hold the words of a question, and the coverage of those that other channels found. Pure."""
    return Part(_text(), _params(sought, scope_ids))


@cache
def _text() -> str:
    return statement("channel_keyword").replace("/*matched*/", matched()).replace("/*scores*/", scores("worded"))


def matched() -> str:
    """The words of a question, and the memories that hold the rarest of them: two common table expressions. Pure."""
    return statement("match_words").rstrip()


def scores(rows: str) -> str:
    """The statement that scores the rows of a common table expression by the terms of another, `asked`. Pure."""
    return statement("score_words").replace("/*rows*/", rows)


def find(conn: Connection, tenant_id: str, scope_ids: Sequence[int], sought: Sought, *, limit: int) -> list[Hit]:
    """The best `limit` memories by words alone, in order: what a write compares itself with."""
    if not sought.rarest() or not scope_ids:
        return []
    sql = statement("find_by_words").replace("/*keyword*/", part(sought, scope_ids).sql)
    given = {"tenant_id": tenant_id, "scope_ids": list(scope_ids), "fetch": limit, **_params(sought, scope_ids)}
    rows = conn.exec_driver_sql(sql, given)
    return [Hit(str(row.memory_id), row.coverage, tuple(row.matched), place) for place, row in enumerate(rows, 1)]


def _params(sought: Sought, scope_ids: Sequence[int]) -> dict[str, Any]:
    terms = sorted(sought.terms, key=lambda term: (-term.idf, term.label))
    rarest = sought.rarest()
    asked = [(scope_id, term) for scope_id in scope_ids for term in terms]
    rare = {scope_id: _any_of(scoped(term.query, scope_id) for term in rarest) for scope_id in scope_ids}
    texts = [scoped(term.query, scope_id, "A" if term.phrase else "") for scope_id, term in asked]
    return {
        "term_scopes": [scope_id for scope_id, _ in asked],
        "labels": [term.label for _, term in asked],
        "terms": texts,
        "idfs": [term.idf for _, term in asked],
        "phrases": [term.phrase for _, term in asked],
        "sought": [_sought(term, said, rarest, rare[of]) for (of, term), said in zip(asked, texts, strict=True)],
        "unknown": [term.df == 0 for _, term in asked],
        "candidates": _any_of(rare.values()) if rarest else None,
        "without": any_scoped(sought.without, scope_ids),
        "total": sought.total or 1.0,
        "most": MOST_ROWS,
    }


def _sought(term: SoughtTerm, said: str, rarest: Sequence[SoughtTerm], rare: str) -> str | None:
    """What the index is asked for a term: a rare word alone, a phrase and any other word where a rare one is. Pure."""
    if not rarest:
        return None
    return said if term in rarest and not term.phrase else f"{said} & ({rare})"


def score_texts(
    conn: Connection, texts: Sequence[str], sought: Sought, *, config: str = "english"
) -> Callable[[], dict[int, Score]]:
    """The coverage of texts that are in no index yet, by their place, once the next statement is answered.

    Of a place that is missing nothing matches.
    """
    if not texts or not sought.terms:
        return dict
    rows = fetch_ahead(conn, "score_texts", **_scoring(texts, sought, config))
    return lambda: {int(row.place): (row.coverage, tuple(row.matched)) for row in rows() if row.matched}


def refused_texts(conn: Connection, texts: Sequence[str], sought: Sought, *, config: str = "english") -> set[int]:
    """The places of the texts that hold a word the question does without."""
    if not texts or not sought.without:
        return set()
    return {int(row.place) for row in fetch_all(conn, "score_texts", **_scoring(texts, sought, config)) if row.refused}


def _scoring(texts: Sequence[str], sought: Sought, config: str) -> dict[str, Any]:
    return {
        "texts": [plain(said) for said in texts],
        "labels": [term.label for term in sought.terms],
        "terms": [term.query for term in sought.terms],
        "idfs": [term.idf for term in sought.terms],
        "phrases": [term.phrase for term in sought.terms],
        "without": _any_of(_quoted(word) for word in sought.without),
        "held": _any_of([*(term.query for term in sought.terms), *map(_quoted, sought.without)]),
        "total": sought.total or 1.0,
        "config": config,
    }


def index(
    conn: Connection, entries: Sequence[Entry], *, tenant_id: str, scope_id: int, config: str = "english"
) -> None:
    """Write the words of memories, and of what was said around them, to the index; again for those that are there."""
    index_all(conn, tenant_id, [Indexed(scope_id, config, entries)])


@dataclass(frozen=True, slots=True)
class Indexed:
    """What is written to the index of a scope, and where it begins in each stream: what was said just before is too."""

    scope_id: int
    config: str
    entries: Sequence[Entry]
    firsts: Mapping[str, int] = field(default_factory=dict)


def index_all(conn: Connection, tenant_id: str, several: Sequence[Indexed]) -> None:
    """The same for several scopes; and again for what was said just before, which is now followed by it."""
    asked = [
        (one, _asked(tenant_id, stream_id=stream_id, scope_id=one.scope_id, first=first, last=first, before=AFTER))
        for one in several
        for stream_id, first in one.firsts.items()
        if first > 1
    ]
    again: dict[int, list[Entry]] = {}
    found = fetch_together(conn, "list_indexable", [params for _, params in asked])
    for (one, _), rows in zip(asked, found, strict=True):
        again.setdefault(one.scope_id, []).extend(map(_entry, rows))
    whole = [
        (one, {entry.memory_id: entry for entry in (*again.get(one.scope_id, ()), *one.entries)}) for one in several
    ]
    around = _surroundings(conn, tenant_id, [entry for _, entries in whole for entry in entries.values()])
    for one, entries in whole:
        _write(conn, tenant_id, one, list(entries.values()), around)


def _write(
    conn: Connection,
    tenant_id: str,
    where: Indexed,
    entries: Sequence[Entry],
    around: Mapping[tuple[Any, Any], _Around],
) -> None:
    if not entries:
        return
    near = {(entry.stream_id, entry.position): around.get((entry.stream_id, entry.position)) for entry in entries}
    rows = [_row(entry, near[entry.stream_id, entry.position]) for entry in entries]
    send_ahead(
        conn,
        "index_words",
        tenant_id=tenant_id,
        scope_id=where.scope_id,
        config=where.config,
        memory_ids=Texts([entry.memory_id for entry in entries]),
        **{name: Texts([row[name] for row in rows]) for name in ("own", "before", "after", "farther")},
    )
    actors = sorted({one.actor[:200] for one in near.values() if one is not None and one.actor})
    if actors:
        send_ahead(conn, "add_actors", tenant_id=tenant_id, scope_id=where.scope_id, actors=actors)


def reindex(conn: Connection, memory_ids: Sequence[str], *, tenant_id: str, config: str = "english") -> int:
    """Write the words of these memories to the index again; how many there were."""
    return _reindex(conn, tenant_id, config, memory_ids=list(memory_ids))


def reindex_neighbours(
    conn: Connection,
    stream_id: str,
    first: int,
    last: int | None = None,
    *,
    tenant_id: str,
    scope_id: int | None = None,
    after: bool = False,
    config: str = "english",
) -> int:
    """Index again what was said just before the events `first` to `last`, which now follow it.

    With `after`, also what was said after them: when their words have changed or were erased. Of one scope, or of all.
    """
    return _reindex(
        conn,
        tenant_id,
        config,
        stream_id=stream_id,
        scope_id=scope_id,
        first=first,
        last=first if last is None else last,
        before=AFTER,
        after=BEFORE + FARTHER if after else 0,
    )


def reindex_around(conn: Connection, memory_id: str, *, tenant_id: str, config: str = "english") -> None:
    """Index again what was said around what told a memory: private words are lent to nobody, public ones are."""
    for place in fetch_all(conn, "list_tellings", tenant_id=tenant_id, memory_id=memory_id, spoken=list(SPOKEN)):
        reindex_neighbours(conn, place.stream_id, place.position, tenant_id=tenant_id, after=True, config=config)


def refresh_terms(conn: Connection, tenant_id: str, scope_id: int) -> int:
    """Count the document frequencies of a large scope anew; how many words it keeps. A job's work."""
    execute(conn, "clear_terms", tenant_id=tenant_id, scope_id=scope_id)
    return execute(conn, "count_terms", tenant_id=tenant_id, scope_id=scope_id, least=LEAST_COUNTED)


@dataclass(frozen=True, slots=True)
class _Around:
    """Who said something, and what was said beside it: each text as the index sees it, made once for all beside it."""

    actor: str | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    farther: tuple[str, ...]
    spoken: bool


def _surroundings(conn: Connection, tenant_id: str, entries: Iterable[Entry]) -> dict[tuple[Any, Any], _Around]:
    places = sorted({(e.stream_id, e.position) for e in entries if e.stream_id is not None and e.position is not None})
    if not places:
        return {}
    spans = _spans(places)
    rows = fetch_all(
        conn,
        "list_surroundings",
        tenant_id=tenant_id,
        spoken=list(SPOKEN),
        stream_ids=[stream_id for stream_id, _, _ in spans],
        firsts=[first for _, first, _ in spans],
        lasts=[last for _, _, last in spans],
        most=max(last - first + 1 for _, first, last in spans),
    )
    known = {(row.stream_id, row.position): row for row in rows}
    said = {place: plain(_said(row)) for place, row in known.items()}
    around = {}
    for stream_id, centre in places:
        own = known.get((stream_id, centre))
        if own is not None and not own.in_session:
            asked = _asked_before(own, known.get((stream_id, centre - 1)))
            if asked is not None:
                around[stream_id, centre] = _Around(None, (plain(asked),), (), (), True)
            continue
        near = [known.get((stream_id, position)) for position in range(centre - LOOK_BACK, centre + LOOK_ON + 1)]
        spoken = [row for row in near if row is not None and (row.position == centre or row.event_type in SPOKEN)]
        if spoken:
            around[stream_id, centre] = _around(centre, spoken, lambda row: said[row.stream_id, row.position])
    return around


def _spans(places: Sequence[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """The positions around some places, in order, those that overlap in one span. Pure."""
    spans: list[tuple[str, int, int]] = []
    for stream_id, position in places:
        first, last = position - LOOK_BACK, position + LOOK_ON
        if spans and spans[-1][0] == stream_id and first <= spans[-1][2] + 1:
            first = spans.pop()[1]
        spans.append((stream_id, first, last))
    return spans


def _around(centre: int, rows: Sequence[Any], said: Callable[[Any], str]) -> _Around:
    own = next((row for row in rows if row.position == centre), None)
    spoken = own is not None and own.event_type in SPOKEN
    before = [said(row) for row in rows if row.position < centre][::-1]
    after = [said(row) for row in rows if row.position > centre]
    return _Around(
        own.actor if spoken and own is not None else None,
        tuple(before[:BEFORE]),
        tuple(after[:AFTER]),
        tuple(before[BEFORE : BEFORE + FARTHER]),
        spoken,
    )


def _asked_before(own: Any, before: Any) -> str | None:
    """The question that a message answers which was said in no session; what else stands before one is of anything."""
    if before is None or (before.event_type, own.event_type) != ("assistant_message", "user_message"):
        return None
    content = _content(before)
    if replies.question_of(content) is None or not replies.is_in_time(before.occurred_at, own.occurred_at):
        return None
    return " ".join(content.split()[-NEIGHBOUR_WORDS:])


def _said(row: Any) -> str:
    words = _content(row).split()[:NEIGHBOUR_WORDS]
    return " ".join([f"{row.actor}:", *words] if row.actor else words)


def _content(row: Any) -> str:
    body = None if row.body is None else inputs.load_json(bytes(row.body))
    content = body.get("content") if isinstance(body, dict) else None
    return content if isinstance(content, str) else ""


def _row(entry: Entry, around: _Around | None) -> dict[str, str]:
    date = [] if entry.occurred_at is None else [plain(_date(entry.occurred_at))]
    if around is None or not around.spoken:
        return {"own": plain(entry.fact), "before": "", "after": "", "farther": " ".join(date)}
    own = f"{around.actor}: {entry.fact}" if around.actor else entry.fact
    return {
        "own": plain(own),
        "before": " ".join(around.before),
        "after": " ".join(around.after),
        "farther": " ".join([*around.farther, *date]),
    }


def _date(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _reindex(conn: Connection, tenant_id: str, config: str, **which: Any) -> int:
    rows = fetch_all(conn, "list_indexable", **_asked(tenant_id, **which))
    by_scope: dict[int, dict[str, Entry]] = {}
    for row in rows:
        by_scope.setdefault(int(row.scope_id), {})[row.memory_id] = _entry(row)
    index_all(
        conn, tenant_id,
        [Indexed(scope_id, config, list(entries.values())) for scope_id, entries in sorted(by_scope.items())],
    )  # fmt: skip
    return len(rows)


def _asked(tenant_id: str, **which: Any) -> dict[str, Any]:
    """What `list_indexable` is asked. Pure."""
    chosen = {
        "memory_ids": [], "scope_id": None, "stream_id": None, "first": 0, "last": 0, "before": 0, "after": 0,
    } | which  # fmt: skip
    return {"tenant_id": tenant_id, "spoken": list(SPOKEN), **chosen}


def _entry(row: Any) -> Entry:
    return Entry(row.memory_id, row.fact, row.stream_id, row.position, row.occurred_at)


def scoped(query: str, scope_id: int, weight: str = "") -> str:
    """A text query with every lexeme carrying its scope, and a weight it must have. Pure."""

    def carrying(found: re.Match[str]) -> str:
        marks = (found[2] or "") + weight
        return f"'{scope_id}:{found[1]}'" + (f":{marks}" if marks else "")

    return _LEXEME.sub(carrying, query)


def any_scoped(lexemes: Iterable[str], scope_ids: Sequence[int]) -> str:
    """A text query for any of the lexemes among a memory's own words in any of the scopes. Pure."""
    return _any_of(scoped(_quoted(lexeme), scope_id, "A") for lexeme in lexemes for scope_id in scope_ids)


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _lexemes(query: str) -> list[str]:
    return [found[1].replace("''", "'").replace("\\\\", "\\") for found in _LEXEME.finditer(query)]


def _any_of(queries: Iterable[str]) -> str:
    return " | ".join(f"({query})" for query in queries)
