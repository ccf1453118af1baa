"""Deep search: a question asked in several ways at once, and what they find made one; and when a search goes deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engram import inputs, intent, prompting, ranking, recall
from engram.channels import keyword
from engram.errors import BadOutput, BudgetSpent, EngramError, ModelRejected, Refused, Unavailable
from engram.operations import asking, reranking, searching, spaces, steps
from engram.operations import setup as doors
from engram.operations.reading import chosen_filter
from engram.operations.searching import Searched
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.recall import Asked, fusing, results, variants
from engram.values import SearchResults

COMPONENT: Final = "expand"
PROMPT: Final = "expand"
MOST_SHOWN: Final = 4_000  # characters of a question that a model is shown
ANSWER_TOKENS: Final = 1_024
OVERFETCH: Final = 5  # memories each channel brings for one that is returned
LEAST_FETCHED: Final = 50
VOCABULARY_OF: Final = 20  # first hits whose words may stand for those of the question
WEAK: Final = 0.25  # relevance of the best hit under which a search goes deep by itself, less where less can be reached
UNSURE: Final = 0.5  # relevance of the best hit under which level `auto` asks a model for variants
Note = Callable[[Searched, Sequence[results.Pair]], None]
"""What is told of a deep search: what was found, and its rows in their order, whatever their score."""
UNANSWERED: Final = (BadOutput, BudgetSpent, ModelRejected, Refused, Unavailable)


def _plain(value: str) -> str:
    """One line that could be searched for."""
    try:
        return " ".join(inputs.text(value, "variant", limit=2_000, empty=True).split())
    except EngramError as error:
        raise ValueError(error.code) from None


class Variants(BaseModel):
    """What a model answers: other ways to ask a question."""

    model_config = ConfigDict(extra="forbid")

    variants: Annotated[list[Annotated[str, AfterValidator(_plain)]], Field(max_length=variants.MOST)]


@dataclass(frozen=True, slots=True)
class Deep:
    """A deep search as it was asked for: at most so many variants or the caller's own, fused with the constant `k`."""

    asked: Asked
    most: int = 4
    own: tuple[str, ...] | None = None
    k: float = ranking.RRF_K


def wanted(
    setup: Setup, query: object, *, n_queries: object, queries: object, k: object, limit: object, filter: object,
    profile: object, rerank: object, tail: object,
) -> Deep:  # fmt: skip
    """The arguments of a deep search, checked. Pure."""
    asked = recall.prepare(
        setup.query(query), limit=inputs.limit(limit), filter=chosen_filter(filter), profile=_profile(setup, profile),
        rerank=inputs.flag(rerank, "rerank"), tail=inputs.flag(tail, "tail"),
    )  # fmt: skip
    asked = broad(asked)
    if asked.rerank:
        reranking.wanted(setup)
    most = inputs.whole(n_queries, "n_queries", 0, variants.MOST)
    return Deep(asked, most, None if queries is None else _own(setup, queries), inputs.number(k, "k", 0))


def broad(asked: Asked) -> Asked:
    """A search as a deep one makes it: what variants agree on may stand far down in each. Pure."""
    return replace(asked, fetched=max(OVERFETCH * asked.limit, LEAST_FETCHED))


def deepened(
    setup: Setup, reading: doors.Reading, first: Searched, deep: Deep, note: Note | None = None
) -> Operation[SearchResults]:
    """A search, and those of the variants of its question, at the same time, as one result.

    A variant that fails is named in `degraded` and the others answer. `note` is told of all rows, before any is cut.
    """
    asked = deep.asked
    light = not asked.rerank  # the reranker is shown the texts of far more than are returned
    first = first if light else (yield from searching.whole(first))
    scored = _before_fusing(asked)
    ordered = results.relevant(scored, first.looked, first.found)
    failed: tuple[str, ...] = ()
    if deep.own is not None:
        ways = variants.different(asked.query, deep.own)
    else:
        made, failed = yield from _ways(
            setup, reading, first, deep.most, ordered if scored.profile is asked.profile else None
        )
        ways = variants.different(asked.query, made)[: deep.most]
    # A variant is the same search by other words: what the question does without, its variants do without too.
    same = replace(scored, rerank=False)
    words = [keyword.parse(way).as_of(asked.words) for way in ways]
    prepared = [replace(same, query=way, words=of) for way, of in zip(ways, words, strict=True)]
    outcomes = yield from _all_found(setup, reading, prepared, light=light)
    first = replace(first, asked=scored)
    searched = [first, *(one for one in outcomes if not isinstance(one, EngramError))]
    lost = [f"variant {place}" for place, one in enumerate(outcomes, 1) if isinstance(one, EngramError)]
    parts = [fusing.Part(one.asked, one.looked, one.found, _share(first, one)) for one in searched]
    parts[0] = replace(parts[0], ordered=ordered)
    fused = fusing.pairs(asked, parts, k=deep.k, weight=variants.VARIANT)
    merged = replace(first, asked=asked, found=fusing.together(parts))
    if note is not None:
        every = replace(asked, min_score=0.0)
        note(merged, fusing.pairs(every, parts, k=deep.k, weight=variants.VARIANT))
    found = yield from (searching.shown(merged, asked, fused) if light else reranking.ordered(setup, merged, fused))
    return replace(
        found,
        variants=tuple(one.asked.query for one in searched[1:]),
        degraded=tuple(dict.fromkeys((*found.degraded, *failed, *lost))),
    )


def _all_found(
    setup: Setup, reading: doors.Reading, prepared: Sequence[Asked], *, light: bool
) -> Operation[Sequence[Searched | EngramError]]:
    """The searches of all variants, as one; where that fails each is made by itself, and those that fail are named."""
    if not prepared:
        return []
    try:
        wanted = [(one, reading.moment) for one in prepared]
        return (yield from searching.all_found(setup, reading, wanted, light=light))
    except EngramError:
        return (yield from steps.together([searching.found(setup, reading, one, light=light) for one in prepared]))


def expanded(
    setup: Setup, reading: doors.Reading, searched: Searched, made: SearchResults, expand: bool | None,
    note: Note | None = None,
) -> Operation[SearchResults]:  # fmt: skip
    """The results of a search, or those of a deep one where the first are weak and these are better.

    `expand=True` always goes deep, False never; None where the best relevance is under 0.25, or of a search by words
    or by meaning alone under the same share of what that can reach.
    """
    best = _best(made)
    asked = searched.asked
    if is_enough(asked, best, expand):
        return made
    deep = yield from deepened(setup, reading, searched, Deep(asked), note)
    return deep if expand or _best(deep) > best else made


def is_enough(asked: Asked, best: float, expand: bool | None) -> bool:
    """Whether a search whose best relevance is this goes no deeper. Pure."""
    if expand is not None:
        return not expand
    sure = best >= WEAK * ranking.reach(asked.profile, asked.mode)
    return sure or asked.limit == 0 or not variants.content(asked.query)


def _best(made: SearchResults) -> float:
    return max((results.relevance_of(one) for one in made), default=0.0)


def _ways(
    setup: Setup, reading: doors.Reading, first: Searched, most: int, ordered: Sequence[results.Pair] | None
) -> Operation[tuple[Sequence[str], tuple[str, ...]]]:
    """Other ways to ask: by a language model where one is asked, otherwise by rules; and what failed on the way.

    `ordered` is what the search found as it ranks it, where somebody has asked for that already.
    """
    if most == 0:
        return [], ()
    query = first.asked.query
    level = setup.level_of(COMPONENT)

    def hits() -> Sequence[results.Pair]:
        every = replace(first.asked, min_score=0.0)  # which is on the scale of what fusing makes of them
        return results.relevant(every, first.looked, first.found) if ordered is None else ordered

    failed: tuple[str, ...] = ()
    asks = level == "full"
    if level == "auto":
        asks = _best((yield from searching.shown(first, first.asked, hits()))) < UNSURE
    if asks:
        shown = query[:MOST_SHOWN]
        try:
            answer: asking.Said[Variants] = yield from asking.ask(
                setup, scope=reading.scope, component=COMPONENT, prompt=prompting.load(PROMPT), schema=Variants,
                values={"question": shown, "most": str(most), "mark": prompting.mark(shown)},
                max_tokens=ANSWER_TOKENS,
            )  # fmt: skip
        except UNANSWERED:
            failed = (COMPONENT,)
        else:
            return answer.value.variants, ()
    topic = intent.read(query).topic
    alike = yield from _alike(setup, first, hits)
    return variants.by_rules(query, topic, alike), failed


def _alike(setup: Setup, first: Searched, hits: Callable[[], Sequence[results.Pair]]) -> Operation[Sequence[str]]:
    """Words of the first hits that mean what the question's mean, where the model is here and costs nothing."""
    ready = yield from spaces.ready_for(setup, first.looked.tenant_id, first.looked.model_id)
    embedder = ready.embedder
    if embedder is None or not embedder.weighs_words or first.meaning.vector is None:
        return ()
    words = variants.content(first.asked.query)
    near = replace(first.found, candidates=tuple(one for one, _ in hits()[:VOCABULARY_OF]))
    read = yield from searching.whole(replace(first, found=near))
    others = variants.vocabulary(first.asked.query, [one.whole.fact for one in read.found.candidates])
    if not words or not others:
        return ()
    try:
        vectors = yield from steps.think(lambda: embedder.embed([*words, *others]))
    except Unavailable:
        return ()
    return variants.alike(words, others, vectors)


def _share(first: Searched, other: Searched) -> float:
    """How much of the question a variant asks; the question itself asks it whole."""
    if other is first:
        return 1.0
    one, two = first.meaning.vector, other.meaning.vector
    cosine = first.looked.told(float(one @ two)) if one is not None and two is not None else None
    return variants.share(first.looked, other.looked, cosine)


def _before_fusing(asked: Asked) -> Asked:
    """A search as each one is made before they are fused: `min_score` is on the scale of what fusing makes of them."""
    if ranking.name_of(asked.profile) != fusing.RRF:
        return asked
    return replace(asked, profile=ranking.DEFAULT_PROFILE, min_score=0.0)


def _profile(setup: Setup, profile: object) -> ranking.AnyProfile:
    return fusing.RRF if isinstance(profile, str) and profile == "default" else setup.profile(profile)


def _own(setup: Setup, queries: object) -> tuple[str, ...]:
    """The caller's own variants, checked: up to ten texts."""
    given = inputs.items(queries, "queries", variants.MOST)
    return tuple(setup.query(one, f"queries[{place}]") for place, one in enumerate(given))
