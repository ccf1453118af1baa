"""The question of a search: its words, what they mean in the scopes that are read, and its vector."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from engram import derivation, ranking, streams, tenancy, text
from engram.channels import keyword, semantic, tail
from engram.channels.keyword import Sought, Words
from engram.database import Connection, fetch_all
from engram.english import brands, wishes
from engram.errors import Unavailable
from engram.filters import Filter
from engram.memories import NOW, Moment
from engram.ranking import AnyProfile, Cut, Sort
from engram.recall import kinds
from engram.regex import regex
from engram.scales import Scale, of_model
from engram.scope import Scope
from engram.tenancy import Shelves, Visible
from engram.values import Mode, Watermark, Window

if TYPE_CHECKING:
    from engram.embedding import CachedEmbedder, Vectors

CHUNK: Final = "source_chunk"  # the category of the chunks of documents
MOST_NAMES: Final = 300  # runs of words of a question that may name somebody
LONGEST_NAME: Final = 3  # words
WORD: Final = regex(r"\w[\w'’.-]*\w|\w")
OWNING: Final = ("'s", "’s")
PART: Final = regex(r"\w+")
CONTRACTED: Final = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it was asked for, its words read."""

    query: str
    words: Words
    mode: Mode = "hybrid"
    limit: int = 10
    fetched: int | None = None  # that each channel brings; by itself three times the limit
    filter: Filter | None = None
    profile: AnyProfile = ranking.DEFAULT_PROFILE
    min_score: float = 0.0
    include_superseded: bool = False
    include_consolidated: bool = False  # also what a summary stands for
    tail: bool = True
    keep_pinned: bool = False  # pinned memories stay among the results, however many others hold the words
    window: Window | None = None  # in time, for the temporal channel
    within: Window | None = None  # only what held then, or happened then
    depth: int = 1  # hops of the graph channel; 0 leaves it out
    also: tuple[str, ...] = ()  # memories that are measured whether a channel finds them or not
    recent: bool = False  # the last days count more
    rerank: bool = False
    cut: Cut = "none"
    per_session: int | None = None
    good_enough: float | None = None
    sort: Sort = "score"
    shelves: Shelves = "without"  # the chunks of documents are searched where they are asked for
    request: bool = False  # something new is asked for: then wishes count, for which texts are read

    @property
    def current_only(self) -> bool:
        """Whether only what is current may be found."""
        return not self.include_superseded and (self.filter is None or not self.filter.names_statuses())

    def takes(self, score: float) -> bool:
        """Whether a score is as high as it was asked to be."""
        return not self.min_score or score >= self.min_score


@dataclass(frozen=True, slots=True)
class Looked:
    """What the readable scopes say about a question: its words' rarity, who speaks there, what is not derived yet."""

    visible: Visible
    moment: Moment
    now: datetime
    sought: Sought
    size: int = 0
    actors: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    graphed: tuple[int, ...] = ()
    model_id: int | None = None
    scale: Scale | None = None  # of that model, where it was calibrated
    config: str = "english"
    tail: tuple[tail.Hit, ...] = ()
    watermark: Watermark = field(default_factory=Watermark)

    @property
    def tenant_id(self) -> str:
        """The tenant that is read."""
        return self.visible.scope.tenant_id

    def told(self, cosine: float) -> float:
        """A cosine of the model on the scale by which all are judged."""
        return cosine if self.scale is None else self.scale.told(cosine)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vector of a question, or None; the cosines of what is not derived yet; and what failed on the way."""

    vector: Vectors | None = None
    model_id: int | None = None
    tail: tuple[float | None, ...] = ()
    degraded: tuple[str, ...] = ()


def asks_for_chunks(asked: Filter | None) -> bool:
    """Whether a filter asks for the chunks of documents, which no read sees otherwise. Pure."""
    return asked is not None and asked.names_category(CHUNK)


def prepare(query: str, **options: Any) -> Asked:
    """Read a question's words. Pure."""
    asked = Asked(query, words_of(query), **{"request": wishes.is_request(query), **options})
    if asked.shelves == "without" and asks_for_chunks(asked.filter):
        asked = replace(asked, shelves="with")
    ranking.weights_of(asked.profile)  # an unknown profile is refused before anything is asked
    return asked


def words_of(query: str, said: str = "") -> Words:
    """The words of a question, with the names of what it asks for by a general word: "Stripe" for a payment provider.

    A topic is of what was `said` as a whole. Pure.
    """
    words, sort = keyword.parse(query), kinds.sort_asked(query)
    if sort is None:
        return words
    wanted = {word for one in sort.words for word in keyword.plain(one).split()}
    general = tuple(word for word in words.words if not wanted.isdisjoint(PART.findall(word)) or word in wanted)
    names = [tuple(keyword.plain(name).split()) for name in brands.looked_for(sort.names)]
    # One that the question names itself is looked for as it is: what was before the Pixel is another.
    known = set(PART.findall(keyword.plain(f"{query} {said}")))
    others = (name for name in names if not known.issuperset(name) and all(map(_is_telling, name)))
    return replace(words, general=general, particular=tuple(others))


def _is_telling(word: str) -> bool:
    return len(word) > 1 or word.isdigit()


def look(conn: Connection, visible: Visible, asked: Asked, *, moment: Moment = NOW, config: str = "english") -> Looked:
    """Ask the readable scopes what a search must know before it can be made, and what no deriver has come to yet.

    The tail is read first: an event that is derived meanwhile is found as a memory, one that is not is in the tail.
    """
    asked_with = _asked_with([asked], moment, config) | {"tenant_id": visible.scope.tenant_id}
    rows = fetch_all(conn, "look_at_question", scope_ids=list(visible.scope_ids), **asked_with)
    return _looked(conn, visible, asked, moment, rows[0], _waiting(rows))


def look_from(
    conn: Connection, scope: Scope, several: Sequence[Asked], *, shelves: Shelves = "without", moment: Moment = NOW,
    config: str = "english",
) -> list[Looked]:  # fmt: skip
    """The same for several searches of a scope whose readable scopes are not known yet: one statement tells all."""
    rows = fetch_all(
        conn, "look_from_scope", **_asked_with(several, moment, config) | tenancy.asked_for(scope, shelves)
    )
    visible = tenancy.seen(scope, [tenancy.Row(*one) for one in rows[0].scopes], shelves=shelves)
    waiting = _waiting(rows)
    return [_looked(conn, visible, asked, moment, rows[0], waiting) for asked in several]


def _waiting(rows: Sequence[Any]) -> tuple[tail.Hit, ...]:
    """What no deriver has come to yet, of the rows of a look."""
    return tail.read([row for row in rows if row.place is not None])


def _asked_with(several: Sequence[Asked], moment: Moment, config: str) -> dict[str, Any]:
    """What the scopes are asked with, of everything a search must know before it can be made."""
    words = Words(tuple(dict.fromkeys(word for asked in several for word in asked.words.all)))
    return keyword.wanted(words) | {
        "config": config,
        "derivers": [one.NAME for one in derivation.DERIVERS],
        "versions": [one.VERSION for one in derivation.DERIVERS],
        "tail": tail.MOST_EVENTS if any(_has_tail(asked, moment) for asked in several) else 0,
    }


def _has_tail(asked: Asked, moment: Moment) -> bool:
    """Whether a search finds what no deriver has come to yet: not in the past. Pure."""
    return asked.tail and moment.is_now and asked.limit > 0


def _looked(
    conn: Connection, visible: Visible, asked: Asked, moment: Moment, row: Any, waiting: tuple[tail.Hit, ...]
) -> Looked:
    """What one search is told of what was asked for all."""
    config = row.config
    sought, watermark = Sought(), Watermark()
    if visible.scope_ids:
        by_word: dict[str, list[Any]] = {}
        for one in row.words:
            by_word.setdefault(one[0], []).append(one)
        told = [one for word in dict.fromkeys(asked.words.all) for one in by_word.get(word, ())]
        sought = keyword.sought(conn, asked.words, told, size=row.size, config=config, waiting=bool(waiting))
        tenant = visible.scope.tenant_id
        sought = keyword.widened(conn, tenant, visible.scope_ids, asked.words, sought, size=row.size)
        marks = [streams.mark_of(*mark) for mark in row.marks]
        watermark = max(marks, key=lambda mark: mark.behind, default=watermark)  # of the slowest deriver
    waiting = waiting if _has_tail(asked, moment) else ()
    if sought.without:  # what is refused is to take no place of others where few are embedded
        waiting = tail.allowed(conn, waiting, sought, config=config)
    actors = tuple(row.actors)
    return Looked(
        visible=visible,
        moment=moment,
        now=moment.clock or row.now,
        sought=sought,
        size=row.size,
        actors=actors,
        named=frozenset(semantic.named_actors(asked.query, actors)),
        graphed=tuple(row.graphed),
        model_id=row.model_id,
        scale=of_model(row.thresholds),
        config=config,
        tail=waiting,
        watermark=watermark,
    )


def embed(embedder: CachedEmbedder | None, asked: Asked, looked: Looked) -> Meaning:
    """The vector of a question, without the names of its scope's actors, and how near the tail is to it: one call.

    A model that fails is named in `degraded`. In mode `semantic` there is nothing to fall back to: then it raises
    Unavailable.
    """
    return embed_all(embedder, [(asked, looked)])[0]


def embed_all(embedder: CachedEmbedder | None, searches: Sequence[tuple[Asked, Looked]]) -> list[Meaning]:
    """The vectors of several questions to the same scopes, as `embed` makes one; one call for all of them."""
    if embedder is None and any(asked.mode == "semantic" for asked, _ in searches):
        raise Unavailable("there is no embedding model: search by keyword")
    told: dict[str, Mapping[str, float] | None] = {}
    topics: list[str | None] = []
    for asked, looked in searches:
        silent = asked.mode == "keyword" or not re.search(r"\w", asked.query) or not looked.visible.scope_ids
        if embedder is None or silent:
            topics.append(None)
            continue
        # A model that weighs the words weighs those of the question: none is put in for it.
        topic = semantic.without_names(asked.query, looked.actors, "" if embedder.weighs_words else looked.config)
        told[topic] = _word_weights(topic, looked.sought.weights) if embedder.weighs_words else None
        topics.append(topic)
    if embedder is None or not told:
        return [Meaning()] * len(searches)
    waiting = list(dict.fromkeys(hit.fact for _, looked in searches for hit in looked.tail))
    waiting = waiting[: tail.MOST_EMBEDDED + 1 - len(told)]
    try:
        vectors, others = embedder.embed_questions(list(told.items()), waiting)
    except Unavailable:
        if any(asked.mode == "semantic" for asked, _ in searches):
            raise
        return [Meaning() if topic is None else Meaning(degraded=(semantic.NAME,)) for topic in topics]
    vector_of, other_of = dict(zip(told, vectors, strict=True)), dict(zip(waiting, others, strict=True))
    return [
        Meaning() if topic is None else _meaning(vector_of[topic], embedder.model_id, looked, other_of)
        for topic, (_, looked) in zip(topics, searches, strict=True)
    ]


def _meaning(vector: Vectors, model_id: int, looked: Looked, others: Mapping[str, Vectors]) -> Meaning:
    near = [None if hit.fact not in others else looked.told(float(others[hit.fact] @ vector)) for hit in looked.tail]
    return Meaning(vector, model_id, tuple(near))


def names_in(query: str) -> list[str]:
    """The runs of words by which a question may name somebody a memory is about, in each way to write them. Pure."""
    words = WORD.findall(query)
    longer = [" ".join(words[at : at + size]) for size in range(2, LONGEST_NAME + 1) for at in range(len(words))]
    telling = [run for run in dict.fromkeys([*words, *longer]) if run.casefold() not in text.STOP_WORDS]
    whole = [
        way
        for run in telling
        for way in (run, run.lower(), run.title(), run[:-2] if run.endswith(OWNING) else run)
    ]  # fmt: skip
    return list(dict.fromkeys(whole))[:MOST_NAMES]


def _word_weights(topic: str, weights: Mapping[str, float]) -> dict[str, float]:
    most = max(weights.values(), default=1.0)
    known = _part_weights(weights)
    found = {}
    for word in PART.findall(topic):
        if word.isascii():  # one part, which is the word itself
            small = word.lower()
            found[small] = known.get(small, most)
            continue
        parts = [known.get(part, most) for part in keyword.plain(word).split()]
        found[word.casefold()] = max(parts, default=most)
    return found


def _part_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of words without the marks around and in them; what is left of "is" or "not" is a stop word."""
    found: dict[str, float] = {}
    for word, weight in weights.items():
        parts = PART.findall(word)
        if len(parts) > 1 and parts[-1] in CONTRACTED:
            found.setdefault(parts.pop(), keyword.STOP_WEIGHT)
        found |= {part: max(weight, found.get(part, 0.0)) for part in parts}
    return found
