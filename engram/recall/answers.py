"""Answers: the roads of a question's intent, and what each of them says of what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from engram import memories, text
from engram.channels import keyword
from engram.database import Connection, fetch_all
from engram.errors import NotFound
from engram.intent import Reading
from engram.recall.finding import EVIDENCE
from engram.recall.question import Asked, Looked
from engram.recall.results import WEAK, relevance_of
from engram.subjects import is_self
from engram.values import Intent, Lineage, Memory, RecallAnswer, RecallTrace, SearchResult, SearchResults, trust_rank

FORMERLY: Final = "Formerly: "
SELF_WORDS: Final = frozenset({"user", "user's", "the", "a", "an", "of"})
NEAR_TOP: Final = 0.75  # share of the best relevance within which the better made memory answers

ROADS: Final[Mapping[Intent, tuple[Intent, ...]]] = {
    "chat": (),
    "lineage": ("lineage", "current", "historical"),
    "historical": ("historical", "current"),
    "current": ("current", "historical"),
}


def roads(reading: Reading) -> tuple[Intent, ...]:
    """The roads to try for a question, in order, until one finds something. Pure."""
    return ROADS.get(reading.intent, ROADS["current"])


def on_road(asked: Asked, road: Intent, reading: Reading) -> Asked:
    """The search of a road: by the question's topic, with what was superseded where the past is asked for. Pure."""
    past = road in ("historical", "lineage")
    topic = reading.topic or asked.query
    return replace(asked, query=topic, words=keyword.parse(topic), include_superseded=past or asked.include_superseded)


def empty_answer(
    question: str,
    reading: Reading,
    *,
    tried: Sequence[Intent] = (),
    results: SearchResults | None = None,
) -> RecallAnswer:
    """The answer that nothing is known, or that nothing was asked. Pure."""
    seen = results or SearchResults(())
    trace = RecallTrace(
        question,
        intent=reading.intent,
        roads=tuple(tried),
        search_ids=tuple(one.memory.memory_id for one in seen),
        degraded=seen.degraded,
    )
    return RecallAnswer(
        answer_text="", intent=reading.intent, intent_confidence=reading.confidence, found=False, current=None,
        previous=(), when_changed=None, sources=(), conflict_note=None, evidence=seen.results, events=(), window=None,
        watermark=seen.watermark, degraded=seen.degraded, trace=trace,
    )  # fmt: skip


def answer(
    conn: Connection,
    question: str,
    looked: Looked,
    reading: Reading,
    road: Intent,
    results: SearchResults,
    *,
    tried: Sequence[Intent] = (),
) -> RecallAnswer:
    """The answer a road gives from its search; `found` is False where the search was too weak to answer."""
    empty = empty_answer(question, reading, tried=(*tried, road), results=results)
    best = best_hit(results, road, question)
    if best is None:
        return empty
    rivals = _rivals(conn, looked, best.memory) if road == "current" else []
    if rivals and rivals[0] != best.memory:
        best = replace(best, memory=rivals[0])
    line = _lineage(conn, looked, best.memory)
    if line is None:
        line = Lineage(best.memory.lineage_id, None, best.memory, (best.memory,))
    previous = tuple(one for one in _by_time(line.revisions) if one != line.head and one.status == "superseded")
    texts = {"current": _current_text, "historical": _historical_text, "lineage": _lineage_text}
    answer_text = texts[road](line, previous)
    if not answer_text:
        return empty
    if road == "historical" and reading.intent == "current":
        answer_text = f"{FORMERLY}{answer_text}"  # nothing of it is current: an old value must not pass for one
    head = line.head
    shown = head if road != "historical" or not previous else previous[0]
    return replace(
        empty,
        answer_text=answer_text,
        found=True,
        current=head,
        previous=previous,
        when_changed=head.valid_from if head is not None and previous else None,
        sources=(shown or best.memory).citations,
        conflict_note=_conflict_note(line, results, best, rivals),
        trace=replace(
            empty.trace, kept_ids=(best.memory.memory_id,), superseded_ids=tuple(p.memory_id for p in previous)
        ),
    )


def best_hit(results: SearchResults, road: Intent, question: str = "") -> SearchResult | None:
    """The hit that answers: the best, or on roads to the past the best of a fact that has changed. Pure."""
    if not len(results) or results.weak:
        return None
    asked = set(text.words(question))
    telling = [one for one in results if not _asks(one.memory) and not _is_about_another(one.memory, asked)]
    if not telling:
        return None
    strong = [one for one in telling if relevance_of(one) >= max(WEAK, 0.5 * relevance_of(telling[0]))]
    if road in ("historical", "lineage"):
        changed = [one for one in strong if one.memory.status == "superseded" or one.memory.revision > 1]
        strong = changed or strong
    shown = [one for one in strong if "shadowed" not in one.labels]
    # Near the top what was distilled and pinned tells more than the words someone happened to use.
    near = [one for one in shown if relevance_of(one) >= NEAR_TOP * relevance_of(shown[0])]
    return min(near, key=_tier, default=None)


def _is_about_another(memory: Memory, asked: Set[str]) -> bool:
    """Whether a memory tells of someone the question does not name: "User's sister" for "Where do I live?". Pure."""
    owner = memory.scope.user_id if isinstance(memory.scope.user_id, str) else None
    if memory.subject is None or is_self(memory.subject, owner):
        return False
    named = [word for word in text.words(memory.subject) if word not in SELF_WORDS]
    return bool(named) and asked.isdisjoint(named)


def _rivals(conn: Connection, looked: Looked, memory: Memory) -> list[Memory]:
    """A memory and those that contradict it without a key to order them, the newest that is trusted as much first."""
    rows = fetch_all(
        conn,
        "list_contradictions",
        memory_id=memory.memory_id,
        **memories.visible_params(looked.visible, looked.moment),
    )
    others = memories.load(conn, looked.visible, [row.memory_id for row in rows], looked.moment)
    current = [one for one in others if one.is_current]
    if not current:
        return []
    best = min(trust_rank(one.trust) for one in (memory, *current))
    return sorted(
        (memory, *current),
        key=lambda one: (trust_rank(one.trust) == best, one.valid_from, one.recorded_at),
        reverse=True,
    )


def _tier(one: SearchResult) -> int:
    """How well a memory is made to answer: pinned facts, then distilled ones, then somebody's words. Pure."""
    if one.memory.category in EVIDENCE:
        return 2
    return 0 if one.memory.is_critical else 1


def _asks(memory: Memory) -> bool:
    """Whether a memory is a question someone asked: it is no answer to another. Pure."""
    return memory.category in EVIDENCE and memory.fact.rstrip().endswith(("?", "？"))


def _lineage(conn: Connection, looked: Looked, memory: Memory) -> Lineage | None:
    try:
        return memories.lineage(conn, looked.visible, memory.lineage_id, looked.moment)
    except NotFound:
        return None  # an event that is not derived yet


def _by_time(revisions: Iterable[Memory]) -> list[Memory]:
    return sorted(revisions, key=lambda one: (one.status == "active", one.valid_from, one.revision), reverse=True)


def _current_text(line: Lineage, _previous: Sequence[Memory]) -> str:
    return line.head.fact if line.head is not None else ""


def _historical_text(line: Lineage, previous: Sequence[Memory]) -> str:
    if previous:
        return previous[0].fact
    ended = [one for one in line.revisions if one.status == "active"]
    return ended[0].fact if line.head is None and ended else ""


def _lineage_text(line: Lineage, _previous: Sequence[Memory]) -> str:
    chain = [one for one in _by_time(line.revisions) if one.status in ("active", "superseded")][::-1]
    return "\n".join(f"{one.valid_from:%Y-%m-%d}: {one.fact}" for one in chain)


def _conflict_note(line: Lineage, results: SearchResults, best: SearchResult, rivals: Sequence[Memory]) -> str | None:
    """What speaks against the answer: later statements of less trust, or a trusted one farther away."""
    notes = [f"{one.trust} said later, with less trust: {one.fact}" for one in _by_time(line.contested)]
    if best.memory.conflict_key is not None:
        notes += [
            f"{other.memory.trust} says for {other.memory.scope.namespace}: {other.memory.fact}"
            for other in results
            if other.memory.conflict_key == best.memory.conflict_key
            and other.memory.scope != best.memory.scope
            and other.memory.status == "active"
            and "shadowed" not in other.labels
        ]
    notes += [f"said before, and not taken back: {one.fact}" for one in rivals[1:]]
    return "; ".join(notes) or None
