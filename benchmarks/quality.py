"""What is found, against labels: the share of a question's evidence, by Engram and by plainer ways over the same rows.

    python benchmarks/quality.py                                    the project's own conversation: needs no data
    python benchmarks/quality.py --data locomo=locomo10.json        a public set (see sets.py for all of them)
    python benchmarks/quality.py --data advice --data cues          chats with long answers; cues in other words
    python benchmarks/quality.py --data locomo=locomo10.json --cases 1 --ways search,deep_search --quick
                                                                    one conversation, two ways, nothing saved
    python benchmarks/quality.py --data locomo=locomo10.json --quick --rows new.json --against old.json
    python benchmarks/quality.py --data longmemeval=longmemeval_s.json --limit 50 --whole --ten
                                                                    fifty questions, drawn by a seed
    python benchmarks/quality.py --data longmemeval=longmemeval_s.json --book s.jsonl
                                                                    hours: goes on where it was when started again

Each turn becomes a verbatim memory of one user's scope, each conversation a scope of its own. No language model, no
judge; `recall` is asked when the set asks, otherwise at the time of the last turn. R@k is the share of a question's
evidence among the first k, as a mean over questions; the first ten are those of a search of ten, the first fifty those
of one of fifty (not asked for with --ten). Sessions are ranked by the first of their turns found among fifty, with
--ten among ten. all@k is the share of questions whose whole evidence is among the first k: LongMemEval's authors call
that recall. Intervals are 95 %, by the bootstrap over questions; those of differences are paired.

The ways: `search`, `recall` and `deep_search` are Engram's; `search:keyword`, `search:semantic` and
`search:hybrid:rrf` are searches in a mode, with a profile. The plain ways are what most products ship: `and` (ts_rank
of a query that wants every word), `or` (ts_rank of one that wants any), `bm25` (k1 1.2, b 0.75), `vector` (the cosine
of the question as it is), and `rrf` (rank fusion of the last two, k 60, equal weights).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import psycopg

sys.path.insert(0, str(Path(__file__).parent))

import report
from books import Book
from cases import Case, Look, Question, Turn, draw, look, only
from machine import address, database, number, some_of, versions
from minilm import DISTRIBUTION, MiniLM, is_installed
from sets import OWN, SETS, Chosen, chosen
from vectors import Kept

from engram import Engram, EngramError, ProfileWeights, Scope, intent, ranking
from engram.embedding import local
from engram.ids import new_id
from engram.recall import variants
from engram.settings import load
from engram.values import MODES

FEW, MANY = 10, 50
TURNS: Final = ("R@5", "R@10", "R@20", "R@50", "hit@10", "MRR@10", "nDCG@10")
SESSIONS: Final = ("R@5", "R@10", "hit@5", "all@5", "all@10", "MRR@10", "nDCG@10")
OF_SESSIONS: Final = "sessions "
BATCH: Final = 100
HALVES: Final = ("shown", "held-out")
ROUNDS: Final = 2_000
K1, B, RRF_K = 1.2, 0.75, 60
OURS: Final = ("search", "recall", "deep_search")
PARTS: Final = ("search:keyword", "search:semantic")
PLAIN: Final = ("and", "or", "bm25", "vector", "rrf")
VARIANTS: Final = 4  # that a deep search asks by default
SPARE: Final = "namespace"  # a term that is nothing where one namespace is read: it takes the weight of another
ABOUT: Final = (
    "Which share of a question's evidence is found, by Engram and by plainer ways over the same rows: no language"
    " model, no judge. `and`, `or`: ts_rank where every word or any is wanted; `bm25`: k1 1.2, b 0.75; `vector`: the"
    " question as it is; `rrf`: rank fusion of the last two, k 60, equal weights, as most products ship."
)
EMBEDDERS: Final[Mapping[str, Callable[[], Any]]] = {
    "wordllama": local.load,
    "minilm": lambda: Kept(MiniLM()),
}
FOR_ENGRAM: Final[Mapping[str, Callable[[Any], Any]]] = {"wordllama": lambda _: "wordllama", "minilm": lambda one: one}

SAME: Final = "same"  # says of a row that it is that of `search`, since what was left out had added nothing

Row = dict[str, Any]
Seek = Callable[[str, int], Sequence[str]]  # a question and how many: the keys of the turns, best first


@dataclass
class Noted:
    """What is noted of Engram's searches beside what they find."""

    late: Counter[str] = field(default_factory=Counter)  # searches that a channel was late for, by call
    added: set[str] = field(default_factory=set)  # the terms that added something to a score


# --- measures ---------------------------------------------------------------------------------------------------------


def measures(few: Sequence[str], many: Sequence[str] | None, evidence: frozenset[str]) -> dict[str, float]:
    """What a list of ten is worth, and one of fifty where there is one, for one question. Pure."""
    found = {key: place for place, key in reversed(list(enumerate(few[:FEW], start=1))) if key in evidence}
    places = sorted(found.values())  # of each turn's first appearance
    ideal = math.fsum(1 / math.log2(place + 1) for place in range(1, min(FEW, len(evidence)) + 1))
    return {
        "R@5": sum(place <= 5 for place in places) / len(evidence),
        "R@10": len(places) / len(evidence),
        **({} if many is None else {f"R@{k}": len(evidence & set(many[:k])) / len(evidence) for k in (20, MANY)}),
        "hit@5": float(any(place <= 5 for place in places)),
        "hit@10": float(bool(places)),
        "all@5": float(sum(place <= 5 for place in places) == len(evidence)),
        "all@10": float(len(places) == len(evidence)),
        "MRR@10": 1 / places[0] if places else 0.0,
        "nDCG@10": math.fsum(1 / math.log2(place + 1) for place in places) / ideal,
    }


def row_of(question: Question, few: Sequence[str], many: Sequence[str] | None, sessions: Mapping[str, str]) -> Row:
    """The measures of one question, by turns and by sessions, as far as it is labelled. Pure."""
    made: Row = {"category": question.category, "half": HALVES[question.held_out]}
    if question.evidence:
        made |= measures(few, many, question.evidence)
    if question.sessions:
        order = list(dict.fromkeys(sessions[key] for key in (few if many is None else many) if key in sessions))
        worth = measures(order, None, question.sessions)
        made |= {OF_SESSIONS + name: worth[name] for name in SESSIONS}
    return made


def interval(values: Sequence[float], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """The mean and its 95 % interval by the bootstrap, the same in every run. Pure."""
    given = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(0).integers(0, len(given), (rounds, len(given)))
    low, high = np.percentile(given[draws].mean(axis=1), (2.5, 97.5))
    return float(given.mean()), float(low), float(high)


def differences(new: Sequence[Row], old: Sequence[Row], measure: str = "R@10") -> list[float]:
    """By how many per cent each question is answered better than before, of those that both asked. Pure."""
    before = {row["question"]: row for row in old}
    both = [(row, before[row["question"]]) for row in new if row["question"] in before]
    return [100 * (row[measure] - was[measure]) for row, was in both if measure in row and measure in was]


def compared(name: str, new: Sequence[Row], old: Sequence[Row], measure: str = "R@10") -> str:
    """One line: how much better, over the questions that both asked. Pure."""
    both = differences(new, old, measure)
    if not both:
        return f"{name}: no question in common"
    mean, low, high = interval(both)
    return f"{name}: {measure} {mean:+.1f} ({low:+.1f} to {high:+.1f}), {len(both)} questions"


# --- plain ways -------------------------------------------------------------------------------------------------------


class Plain:
    """What most products ship, over the texts of one conversation: ts_rank, BM25, vectors, and a fusion of these."""

    def __init__(self, conn: psycopg.Connection[Any], turns: Sequence[Turn], embedder: Any) -> None:
        self.keys = [turn.key for turn in turns]
        self._conn, self._embedder = conn, embedder
        texts = [spoken(turn) for turn in turns]
        conn.execute("DROP TABLE IF EXISTS pg_temp.plain")
        conn.execute("CREATE TEMP TABLE plain AS SELECT place::int, to_tsvector('english', said) AS words"
                     " FROM unnest(%s::text[]) WITH ORDINALITY AS given(said, place)", (texts,))  # fmt: skip
        counted = conn.execute("SELECT place - 1, lexeme, cardinality(positions) FROM plain, unnest(words)").fetchall()
        self._lengths = np.zeros(len(texts))
        self._counts: dict[str, list[tuple[int, int]]] = {}
        for place, lexeme, count in counted:
            self._counts.setdefault(lexeme, []).append((place, count))
            self._lengths[place] += count
        self._vectors = _unit(embedder.embed(texts))

    def seek(self, way: str) -> Seek:
        """The search that a plain way is."""
        scores = {"and": self._every, "or": self._any, "bm25": self._bm25, "vector": self._cosine, "rrf": self._fused}
        return lambda text, limit: self._best(scores[way](text), limit)

    def _best(self, scores: Mapping[int, float], limit: int) -> list[str]:
        return [self.keys[place] for place in sorted(scores, key=lambda place: (-scores[place], place))[:limit]]

    def _ranked(self, query: str, text: str) -> dict[int, float]:
        found = self._conn.execute(
            f"SELECT place - 1, ts_rank(words, q) FROM plain, (SELECT {query} AS q) asked WHERE words @@ q",
            (text,),
        )
        return dict(found.fetchall())

    def _every(self, text: str) -> dict[int, float]:
        return self._ranked("websearch_to_tsquery('english', %s)", text)

    def _any(self, text: str) -> dict[int, float]:
        """Each lexeme of the question, any of which is enough."""
        words = "SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery FROM unnest(to_tsvector('english', %s))"
        return self._ranked(f"({words})", text)

    def _bm25(self, text: str) -> dict[int, float]:
        asked = self._conn.execute("SELECT lexeme FROM unnest(to_tsvector('english', %s))", (text,)).fetchall()
        scores: Counter[int] = Counter()
        average = float(self._lengths.mean()) or 1.0
        for (lexeme,) in asked:
            held = self._counts.get(lexeme, [])
            idf = math.log(1 + (len(self.keys) - len(held) + 0.5) / (len(held) + 0.5))
            for place, count in held:
                share = 1 - B + B * float(self._lengths[place]) / average
                scores[place] += idf * count * (K1 + 1) / (count + K1 * share)
        return dict(scores)

    def _cosine(self, text: str) -> dict[int, float]:
        return dict(enumerate((self._vectors @ _unit(self._embedder.embed([text]))[0]).tolist()))

    def _fused(self, text: str) -> dict[int, float]:
        scores: Counter[int] = Counter()
        for leg in (self._bm25(text), self._cosine(text)):
            order = sorted(leg, key=lambda place: (-leg[place], place))[: 2 * MANY]
            for rank, place in enumerate(order, start=1):
                scores[place] += 1 / (RRF_K + rank)
        return dict(scores)


def spoken(turn: Turn) -> str:
    """A turn as one text, with who says it where that is known. Pure."""
    name = turn.message.get("name")
    return f"{name}: {turn.message['content']}" if name else str(turn.message["content"])


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


# --- Engram's ways ----------------------------------------------------------------------------------------------------


def add(memory: Engram, turns: Sequence[Turn]) -> dict[str, str]:
    """Remember every turn; which key each event has."""
    keys: dict[str, str] = {}
    remember: Any = memory.remember
    for session, said in groupby(turns, key=lambda turn: turn.session):
        together = list(said)
        for start in range(0, len(together), BATCH):
            part = together[start : start + BATCH]
            messages = [{**turn.message, "event_id": str(turn.message.get("event_id") or new_id())} for turn in part]
            keys |= {str(message["event_id"]): turn.key for message, turn in zip(messages, part, strict=True)}
            remember(messages, session_id=session, derive="verbatim", wait=True)
    return keys


def seeker(
    memory: Engram, keys: Mapping[str, str], way: str, now: datetime | None = None, noted: Noted | None = None
) -> Seek:
    """The search that one of Engram's ways is: a call, for `search` with a mode and a profile after colons.

    `recall` is told what `now` is: a question about May means the one before the question was asked.
    """
    call, given = call_of(way)
    return _seek(memory, keys, call, now, noted or Noted(), **given)


def call_of(way: str) -> tuple[str, dict[str, Any]]:
    """The call that one of Engram's ways is, and its keywords. Raises ValueError where there is no such way. Pure."""
    call, *rest = way.split(":")
    given: dict[str, Any] = dict(zip(("mode", "profile"), rest, strict=False))
    if call not in OURS or (rest and call != "search") or len(rest) > 2 or given.get("mode", MODES[0]) not in MODES:
        raise ValueError(f"no way {way!r}: expected {', '.join((*OURS, *PARTS, *PLAIN))}, or search:MODE:PROFILE")
    ranking.weights_of(given.get("profile", ranking.DEFAULT_PROFILE))
    return call, given


def without(memory: Engram, keys: Mapping[str, str], left: Left, now: datetime | None, noted: Noted) -> Seek:
    """The search of a call from which something is left out."""

    def seek(text: str, limit: int) -> Sequence[str]:
        return _seek(memory, keys, left.call, now, Noted(noted.late), **left.keywords(text))(text, limit)

    return seek


def _seek(
    memory: Engram, keys: Mapping[str, str], call: str, now: datetime | None, noted: Noted, **options: Any
) -> Seek:
    asked: Any = getattr(memory, call)
    if call == "recall" and now is not None:
        options["now"] = now

    def seek(text: str, limit: int) -> Sequence[str]:
        found = asked(text, limit=limit, track=False, **options)
        noted.late.update([call] if found.degraded else [])
        rows = found.evidence if call == "recall" else found
        noted.added.update(name for one in rows for name, term in one.terms.items() if term.contribution)
        return [keys.get(one.memory.event_id, "") for one in rows]

    return seek


@dataclass(frozen=True)
class Left:
    """A call from which something is left out: the keywords that do so for a question, and the term if it is one."""

    call: str
    keywords: Callable[[str], Mapping[str, Any]]
    term: str | None = None


def _always(**keywords: Any) -> Callable[[str], Mapping[str, Any]]:
    return lambda _: keywords


def _own_words(question: str) -> Mapping[str, Any]:
    """The variants that a question's own words give, as many as a deep search takes."""
    return {"queries": variants.by_rules(question, intent.read(question).topic)[:VARIANTS]}


WITHOUT: Final[Mapping[str, Left]] = {
    "search without the channel of words": Left("search", _always(mode="semantic")),
    "search without the channel of vectors": Left("search", _always(mode="keyword")),
    "search without the channel of the graph": Left("search", _always(depth=0)),
    "search without going deep when weak": Left("search", _always(expand=False)),
    "recall without the time it reads": Left("recall", _always(window=(None, None))),
    "recall without the intent it reads": Left("recall", _always(intent="current")),
    "recall without either": Left("recall", _always(window=(None, None), intent="current")),
    "deep_search without variants": Left("deep_search", _always(n_queries=0)),
    "deep_search without words of the corpus": Left("deep_search", _own_words),
    "deep_search with scores in the place of ranks": Left("deep_search", _always(profile=ranking.DEFAULT_PROFILE)),
    "deep_search with the usual k of 60": Left("deep_search", _always(k=ranking.CLASSIC_K)),
}


def ablations(calls: Sequence[str] = OURS) -> dict[str, Left]:
    """What is left out of some calls in turn: channels, steps, and each term of the score of `search`."""
    weights = ranking.WEIGHTS[ranking.DEFAULT_PROFILE]
    made = dict(WITHOUT)
    for term, weight in weights.items():
        if term != SPARE and weight:
            without = ProfileWeights(ranking.DEFAULT_PROFILE, {term: 0.0, SPARE: weights[SPARE] + weight})
            made[f"search without the term {term}"] = Left("search", _always(profile=without), term)
    return {name: left for name, left in made.items() if left.call in calls}


def base(way: str) -> tuple[str, str] | None:
    """The call that something was left out of, and what; None for a way as it is. Pure."""
    call, mark, rest = way.partition(" with")
    return (call, (mark + rest).strip()) if mark else None


# --- the run ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """What a run is of: the ways, whether each part is left out in turn, and whether fifty are asked for too."""

    ways: tuple[str, ...]
    ablated: bool = True
    fifty: bool = True


def ask(case: Case, seek: Seek, *, fifty: bool = True) -> list[Row]:
    """Every question of a case, with what was found and how long the search of ten took."""
    sessions, rows = {turn.key: turn.session for turn in case.turns}, []
    for name, question in case.asked():
        if not question.labelled:
            continue
        started = time.perf_counter()
        few = seek(question.text, FEW)
        took = 1000 * (time.perf_counter() - started)
        if question.aside:
            few = beside(seek, question, FEW)
        many = beside(seek, question, MANY) if fifty else None
        made = row_of(question, few, many, sessions)
        rows.append({"question": name, "ms": round(took, 2), **made})
    return rows


def beside(seek: Seek, question: Question, limit: int) -> Sequence[str]:
    """So many turns without those that are not there for a question: as many more are asked for as that takes."""
    asked = limit
    while True:
        found = seek(question.text, asked)
        kept = [key for key in found if key not in question.aside][:limit]
        if len(kept) == limit or len(found) < asked or asked >= limit + len(question.aside):
            return kept
        asked = min(2 * asked, limit + len(question.aside))


def measured(
    case: Case, memory: Engram, conn: psycopg.Connection[Any], embedder: Any, wanted: Wanted, noted: Noted
) -> Iterator[tuple[str, list[Row]]]:
    """Each way with the rows of this case, as it is done; the turns are added first.

    What is left out is left out of all cases, so that its mean is over the questions of `search`. A term that added
    nothing to any row of this case takes the rows of `search`.
    """
    keys, of_search, added = add(memory, case.turns), list[Row](), set[str]()
    plain = Plain(conn, case.turns, embedder) if set(wanted.ways) & set(PLAIN) else None
    for way in wanted.ways:
        seen = Noted(noted.late)
        seek = plain.seek(way) if plain is not None and way in PLAIN else seeker(memory, keys, way, case.ended_at, seen)
        rows = ask(case, seek, fifty=wanted.fifty)
        if way == "search":
            of_search, added = rows, seen.added
        yield way, rows
    if wanted.ablated:
        for name, left in ablations(wanted.ways).items():
            if left.term is None or left.term in added:
                yield name, ask(case, without(memory, keys, left, case.ended_at, noted), fifty=False)
            else:
                yield name, [row | {SAME: True} for row in of_search]


def run(
    url: str,
    cases: Iterable[Case],
    embedder: str,
    wanted: Wanted,
    step: Callable[..., None] = lambda *_: None,
    book: Book | None = None,
    noted: Noted | None = None,
) -> dict[str, list[Row]]:
    """All cases by all ways, with one embedder, in a tenant of its own; but for those that the book has."""
    found: dict[str, list[Row]] = {}
    noted = noted or Noted()
    tenant, model, done = f"quality-{new_id()}", EMBEDDERS[embedder](), {} if book is None else book.lines
    with psycopg.connect(url.replace("postgresql+psycopg://", "postgresql://"), autocommit=True) as conn:
        for case in cases:
            name = f"{embedder} {case.name}"
            ways = dict(done[name]["ways"]) if name in done else {}
            asked = sum(question.labelled for _, question in case.asked())
            if not ways:
                step(f"{case.name}, remembering {len(case.turns):,} turns", 0)
                scope = Scope(tenant, user_id=case.name)
                with Engram(url, scope=scope, settings=load({}), embedder=FOR_ENGRAM[embedder](model)) as memory:
                    for way, rows in measured(case, memory, conn, model, wanted, noted):
                        ways[way] = rows
                        step(f"{case.name}, {way}", asked)
                if book is not None:
                    book.write({"case": name, "ways": ways, "late": dict(noted.late)})
            for way, rows in ways.items():
                found.setdefault(way, []).extend(rows)
    if isinstance(model, Kept):
        model.keep()
    return found


# --- what is shown ----------------------------------------------------------------------------------------------------

Runs = Mapping[str, Mapping[str, Sequence[Row]]]  # by embedder and way


def mean(rows: Sequence[Row], measure: str) -> float | None:
    """The mean of a measure over the questions that have it, in per cent. Pure."""
    values = [row[measure] for row in rows if measure in row]
    return round(100 * statistics.fmean(values), 1) if values else None


def _shown(runs: Runs) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Embedder, way and rows, but for what was left out; a way that needs no vectors is shown once."""
    known = set()
    for embedder, ways in runs.items():
        for way, rows in ways.items():
            needs_none = way in ("and", "or", "bm25", "search:keyword")
            if base(way) is not None or (needs_none and way in known):
                continue
            known.add(way)
            yield ("-" if needs_none else embedder), way, rows


def table(runs: Runs) -> report.Table:
    """Every way's measures by turns, with an interval of R@10. Pure."""
    lines: list[list[report.Cell]] = []
    for embedder, way, rows in _shown(runs):
        values = [100 * row["R@10"] for row in rows if "R@10" in row]
        if values:
            _, low, high = interval(values)
            lines.append([way, embedder, *(mean(rows, one) for one in TURNS), f"{low:.1f} to {high:.1f}", len(values)])
    return report.Table("By turns", ["way", "embedder", *TURNS, "R@10, 95 %", "questions"], lines)


def by_session(runs: Runs) -> report.Table:
    """Every way's measures by sessions. Pure."""
    lines: list[list[report.Cell]] = [
        [way, embedder, *(mean(rows, OF_SESSIONS + one) for one in SESSIONS)] for embedder, way, rows in _shown(runs)
    ]
    return report.Table("By sessions", ["way", "embedder", *SESSIONS], lines)


def by_category(runs: Runs) -> report.Table:
    """R@10 of each category, for every way. Pure."""
    kinds = sorted({row["category"] for ways in runs.values() for rows in ways.values() for row in rows})
    lines: list[list[report.Cell]] = [
        [way, embedder, *(mean([row for row in rows if row["category"] == kind], "R@10") for kind in kinds)]
        for embedder, way, rows in _shown(runs)
    ]
    return report.Table("R@10 by category", ["way", "embedder", *kinds], lines)


def categories_of(runs: Runs, way: str = "search") -> report.Table:
    """Every measure of each category, for one way, over its questions whose turns are labelled. Pure."""
    return _parts_of(runs, way, "category", f"Categories of `{way}`")


def halves_of(runs: Runs, way: str = "search") -> report.Table:
    """Every measure of the questions that were shown to who tuned, and of those held out, for one way. Pure."""
    return _parts_of(runs, way, "half", f"Halves of `{way}`")


def _parts_of(runs: Runs, way: str, name: str, title: str) -> report.Table:
    lines: list[list[report.Cell]] = []
    for embedder, ways in runs.items():
        rows = [row for row in ways.get(way, []) if "R@10" in row]
        for part in sorted({row[name] for row in rows}):
            some = [row for row in rows if row[name] == part]
            lines.append([part, embedder, *(mean(some, one) for one in TURNS), len(some)])
    return report.Table(title, [name, "embedder", *TURNS, "questions"], lines)


def left_out(runs: Runs) -> report.Table:
    """What each part is worth: the paired difference in R@10 to the call as it is, with its interval. Pure."""
    lines: list[list[report.Cell]] = []
    for embedder, ways in runs.items():
        for way, rows in ways.items():
            call, left = base(way) or ("", "")
            both = differences(rows, ways.get(call, []))
            if both and not all(row.get(SAME) for row in rows):
                value, low, high = interval(both)
                lines.append([call, left, embedder, mean(rows, "R@10"), f"{value:+.1f}", f"{low:+.1f} to {high:+.1f}",
                              mean(rows, "nDCG@10")])  # fmt: skip
    notes = (
        "A term is left out by a weight of 0; the difference is to the call as it is, question by question.",
        "Terms that added nothing to any row are not listed: without them all is as it was.",
        "Verbatim turns have no relations, and `search` knows no window: what lives on these is worth nothing here.",
    )
    columns = ["call", "changed", "embedder", "R@10", "difference", "95 %", "nDCG@10"]
    return report.Table("What each part is worth", columns, lines, notes)


def plot(title: str, runs: Runs) -> report.Plot:
    """R@10 of every way, with its interval. Pure."""
    series: dict[str, list[tuple[str, float, float, float]]] = {}
    for embedder, way, rows in _shown(runs):
        values = [100 * row["R@10"] for row in rows if "R@10" in row]
        if values:
            name = "no vectors" if embedder == "-" else embedder
            series.setdefault(name, []).append((way, *interval(values)))
    made = []
    for name, bars in series.items():
        ways, values, lows, highs = zip(*bars, strict=True)
        made.append(report.Series(name, ways, values, lows, highs))
    return report.Plot(title, "bars", made, "R@10, per cent, with its 95 % interval")


def tables(runs: Runs) -> list[report.Table]:
    """All tables that have a row. Pure."""
    halves = halves_of(runs)
    made = [table(runs), by_category(runs), categories_of(runs), by_session(runs), left_out(runs)]
    made[1:1] = [halves] if len({row[0] for row in halves.rows}) == len(HALVES) else []
    return [one for one in made if any(isinstance(cell, float) for row in one.rows for cell in row)]


def save(data: Chosen, found: Look, runs: Runs, with_versions: Mapping[str, str], noted: Noted) -> Path:
    """Write the results of a set for the report."""
    known = SETS[data.name]
    hash_ = report.sha256(*data.files)
    rows = f"{found.cases:,} conversations, {found.turns:,} turns, {len(found.names):,} questions"
    shown = tables(runs)
    plots = (
        [plot(f"{data.name}: evidence found in the first ten", runs)] if shown and shown[0].title == "By turns" else []
    )
    notes = [
        known.tuned_on(found.conversations),
        f"Evidence: {found.repaired} ids mended, {found.dropped} that name no turn left out. {late(noted)}",
    ]
    return report.save(
        f"quality-{data.name}",
        title=f"What is found: {data.name}",
        about=ABOUT,
        versions=with_versions,
        data=[report.Data(f"{data.name} ({known.source})", hash_, known.licence, rows)],
        tables=shown,
        plots=plots,
        notes=notes,
    )  # fmt: skip


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data",
        action="append",
        help=f"{', '.join(OWN)}, or NAME=PATH; may be given again. Names: {', '.join(SETS)}",
    )
    parser.add_argument(
        "--half", choices=HALVES, help="of a set that holds half of its questions out; nothing is saved"
    )
    parser.add_argument("--histories", type=Path, help="LoCoMo's file, for locomo-plus")
    parser.add_argument(
        "--url", type=database, help="a migrated database, as the application role; otherwise an embedded one"
    )
    parser.add_argument("--ways", type=_ways, help="separated by commas, otherwise all; nothing is saved")
    parser.add_argument(
        "--embedders",
        type=some_of(EMBEDDERS),
        help="separated by commas, otherwise those that are installed; nothing is saved",
    )
    parser.add_argument(
        "--cases", type=number, help="only the first so many conversations of each set; nothing is saved"
    )
    parser.add_argument(
        "--limit", type=number, help="only so many questions of each set, drawn by --seed; nothing is saved"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw: a larger one holds every smaller one")
    parser.add_argument(
        "--book", type=Path, help="keep what each conversation gave in this file, and go on from it when started again"
    )
    parser.add_argument("--adversarial", action="store_true", help="ask LoCoMo's questions of category 5, too")
    parser.add_argument(
        "--quick", action="store_true", help="the default embedder only, nothing left out, nothing saved"
    )
    parser.add_argument("--ten", action="store_true", help="ask for ten only: twice as fast, nothing saved")
    parser.add_argument("--whole", action="store_true", help="leave nothing out in turn: half the time, nothing saved")
    parser.add_argument("--rows", type=Path, help="write every question's measures to this file")
    parser.add_argument("--against", type=Path, help="compare with a file that --rows wrote")
    given = parser.parse_args()
    if given.against is not None and not given.against.is_file():
        parser.error(f"--against: expected a file that --rows wrote, found nothing at {given.against}")
    if given.rows is not None and not given.rows.absolute().parent.is_dir():
        parser.error(f"--rows: there is no folder {given.rows.parent}")
    if "minilm" in (given.embedders or ()) and not is_installed():
        parser.error("--embedders minilm: its weights are not installed, see benchmarks/minilm.py")
    return given


def _ways(given: str) -> tuple[str, ...]:
    ways = tuple(given.split(","))
    for way in ways:
        if way not in PLAIN:
            try:
                call_of(way)
            except (ValueError, EngramError) as error:
                raise argparse.ArgumentTypeError(str(error)) from None
    return ways


def is_whole(given: argparse.Namespace) -> bool:
    """Whether a run is of a set as a whole and may take the place of the record. Pure."""
    some = (given.ways, given.cases, given.limit, given.half, given.embedders)
    return not (given.quick or given.ten or given.whole) and all(one is None for one in some)


def main() -> None:
    """Measure every set that was named, print its tables, and save them for the report."""
    given = options()
    ways = given.ways or (*OURS, *PARTS, *PLAIN)
    wanted = Wanted(ways, ablated=not (given.quick or given.whole) and "search" in ways, fifty=not given.ten)
    installed = ["wordllama", *(["minilm"] if is_installed() and not given.quick else [])]
    embedders = given.embedders or installed
    written: dict[str, Any] = {}
    every = [chosen(word, given.histories) for word in given.data or ["demo"]]
    if given.book is not None and len(every) > 1:
        raise SystemExit("--book keeps one set: name one with --data")
    with address(given.url) as url:
        for data in every:
            found, runs, noted = _set(url, data, embedders, wanted, given)
            show(data.name, runs)
            print(f"\n{late(noted)}")
            if given.against is not None:
                against(runs, json.loads(given.against.read_text(encoding="utf-8")).get(data.name, {}))
            if is_whole(given):
                ran = versions(url, *([DISTRIBUTION] if "minilm" in embedders else []))
                saved = save(data, found, runs, ran, noted)
                print(f"\n{report.shown(saved)} is written, and docs/benchmarks.md")
            else:
                print(f"\n{report.PART}")
            written[data.name] = runs
    if given.rows is not None:
        given.rows.write_text(json.dumps(written, indent=1), encoding="utf-8")


def _set(
    url: str, data: Chosen, embedders: Sequence[str], wanted: Wanted, given: argparse.Namespace
) -> tuple[Look, dict[str, dict[str, list[Row]]], Noted]:
    """A set, first counted and then measured, with every embedder."""

    def cases() -> Iterator[Case]:
        return islice(data.cases(adversarial=given.adversarial), given.cases)

    found = look(cases(), lambda question: question.labelled and _is_of(question, given.half))
    print(f"{data.about}\n{found.told()}\n")
    if not found.names:
        raise SystemExit(f"{data.name} labels no evidence, so there is nothing to find: benchmarks/answers.py asks it")
    names = draw(found.names, given.limit, given.seed)
    book, noted = None, Noted()
    if given.book is not None:
        book = _book(given.book, data, embedders, wanted, given)
        for line in [*book.lines.values()][-1:]:  # each has all that came before it
            noted.late.update(line["late"])
    each = len(wanted.ways) + (len(ablations(wanted.ways)) if wanted.ablated else 0)
    with report.progress(data.name, len(embedders) * each * len(names)) as step:
        runs = {
            one: run(url, only(cases(), names), one, wanted, partial(_said, step, one), book, noted)
            for one in embedders
        }
    return found, runs, noted


def _is_of(question: Question, half: str | None) -> bool:
    """Whether a question is of the half that is asked. Pure."""
    return half is None or question.held_out == (half == "held-out")


def _book(path: Path, data: Chosen, embedders: Sequence[str], wanted: Wanted, given: argparse.Namespace) -> Book:
    """The book of a run, which only a run of the same on the same commit goes on with."""
    about = {
        "data": data.name, "sha256": report.sha256(*data.files), "commit": report.commit(), "ways": list(wanted.ways),
        "ablated": wanted.ablated, "fifty": wanted.fifty, "embedders": list(embedders),
        "adversarial": given.adversarial, "cases": given.cases, "limit": given.limit, "seed": given.seed,
        "half": given.half,
    }  # fmt: skip
    return Book(path, about, "case")


def _said(step: Callable[..., None], embedder: str, doing: str, done: int) -> None:
    step(f"{embedder}, {doing}", done)


def late(noted: Noted) -> str:
    """How many searches were answered without one of their channels. Pure."""
    told = ", ".join(f"{count} of `{call}`" for call, count in sorted(noted.late.items()))
    return f"Searches that a channel was late for: {told or 'none'}."


def show(name: str, runs: Runs) -> None:
    """Print the tables of a set."""
    for one in tables(runs):
        print(f"\n{name}: {one.title}\n{report.markdown(one.columns, one.rows)}")


def against(runs: Runs, before: Runs) -> None:
    """Print how every way differs from what was written before."""
    for embedder, ways in runs.items():
        for way, rows in ways.items():
            old = before.get(embedder, {}).get(way)
            if old is not None:
                print(compared(f"{way}, {embedder}, minus before", rows, old))


if __name__ == "__main__":
    main()
