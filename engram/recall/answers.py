"""Answers: the roads of a question's intent, and what each of them says of what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final, Literal

from engram import citations, filters, intent, memories, served, text
from engram.channels import events, keyword, semantic, tail
from engram.channels.events import Narrowed
from engram.channels.keyword import Words
from engram.database import Connection, fetch_all
from engram.english import attributes, courses, differences, frames, moves, phrases, verbs, windows
from engram.english.claims import stem
from engram.english.subjects import plain
from engram.errors import NotFound
from engram.filters import Filter
from engram.intent import Reading
from engram.memories import Moment
from engram.recall import anew, fitting, others, sayings, telling
from engram.recall.finding import answers_as_words, holds_in
from engram.recall.question import Asked, Looked, Meaning, words_of
from engram.recall.results import WEAK, as_memory, relevance_of
from engram.regex import regex
from engram.values import (
    Citation,
    Event,
    EventHit,
    Intent,
    Lineage,
    Memory,
    RecallAnswer,
    RecallTrace,
    SearchResult,
    SearchResults,
    Window,
    kind_of,
    trust_rank,
)

FORMERLY: Final = "Formerly: "
NOW: Final = "Now: "
SINCE: Final = "Said since, "
NEAR_TOP: Final = 0.75  # share of the best relevance within which the better made memory answers
ANCHORED: Final = 0.3  # relevance from which a memory is of a thing to be put in order that shares no word with it
MOST_EVENTS: Final = 5  # told of a question that does not ask when; one that names no topic asks for all there are
NEAR_ALONE: Final = 0.3  # cosine from which an event that shares no word with the question is told
OVERFETCH: Final = 3  # events looked at for each that is told: questions are not
AT_ONCE: Final = timedelta(hours=1)  # what was recorded within it of the time it has was given none
VALUES: Final = ("active", "superseded")

ROADS: Final[Mapping[Intent, tuple[Intent, ...]]] = {
    "chat": (),
    "lineage": ("lineage", "current", "historical"),
    "temporal_chain": ("temporal_chain", "current", "historical"),
    "event": ("event", "current", "historical"),
    "historical": ("historical", "current"),
    "current": ("current", "historical"),
}
_SELF_FACT: Final = regex(r"(?:the )?user\b", re.IGNORECASE)
_ORIGINAL: Final = regex(
    r"\b(?:original|initial)(?:ly)?\b|\bat first\b|\b(?:was|were) (?:my|our) first\b", re.IGNORECASE
)
_FIRST_OF_ALL: Final = regex(r"\b(?:was|were) (?:my|our) first (?P<what>[\w-]+)", re.IGNORECASE)
_EVER: Final = regex(r"(?:and |so )?(?:have|had|did|was|were) (?:i|we) ever\b", re.IGNORECASE)
_BEFORE: Final = regex(
    r"\bbefore (?:the |my |an? |i (?:moved|switched|changed|went) to )?(?P<what>[^?.!]+)", re.IGNORECASE
)
_SINCE: Final = regex(
    r"\bsince when\b|\bhow long (?:have|has|am|(?:is|are) (?:we|you|he|she|they|it)\b)(?!.*\b(?:take|until|left)\b)",
    re.IGNORECASE,
)
_TELLS_OF_BEFORE: Final = regex(
    r"\b(?:was|were|had|used to|former(?:ly)?|previous(?:ly)?|original(?:ly)?|before|"
    r"until (?:last|yesterday|recently|(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
_WHEN: Final = regex(r"\bwhen\b|\b(?:what|which) (?:day|date|time)\b", re.IGNORECASE)
_LAST: Final = regex(r"\blast time\b|\bdid (?:i|you|we) last\b|\bmost recently\b", re.IGNORECASE)
_FIRST: Final = regex(r"\bfirst time\b|\bdid (?:i|you|we) first\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """What a road said: the answer, and how many events are in no index yet, where it searched the ledger."""

    answer: RecallAnswer
    waiting: int = 0
    unread: bool = False


def roads(reading: Reading) -> tuple[Intent, ...]:
    """The roads to try for a question, in order, until one finds something. Pure."""
    return ROADS[reading.intent]


def on_road(asked: Asked, road: Intent) -> Asked:
    """The search of a road: what was superseded is seen where the past is asked for. Pure."""
    return replace(asked, include_superseded=asked.within is not None or road not in ("current", "event"))


def about(asked: Asked, topic: str, question: str = "") -> Asked:
    """The same search for another topic, of a question. Pure."""
    return replace(asked, query=topic, words=words_of(topic, question))


def plan(asked: Asked, reading: Reading, moment: Moment, *, wider: bool = False) -> list[tuple[Asked, Moment]]:
    """The searches of a question, all to be made at once, each at its moment. Pure.

    First that of its topic, wide enough for every road; then one for each thing to be put in order; and last, where it
    asks for a time, one that knows no such bound, so that it can be said what is known of another. A `wider` one goes
    before that: for the whole question with the words of its time, which are what may tell of it at another.
    """
    wide = replace(asked, include_superseded=True, recent=reading.recent, window=reading.window, within=reading.window)
    anchors = reading.anchors if reading.intent == "temporal_chain" else ()
    if names_what_came(reading):
        anchors = (reading.question,)  # what tells of a change may share no word with it but what came
    searches = [(about(wide, topic, reading.question), moment) for topic in (asked.query, *anchors)]
    unbound = replace(wide, window=None, within=None)
    searches += [(about(unbound, reading.question), any_time(moment))] if wider else []
    if is_bounded(reading, moment):
        searches.append((unbound, any_time(moment)))
    return searches


def is_bounded(reading: Reading, moment: Moment) -> bool:
    """Whether a question asks for a time. Pure."""
    return reading.window is not None or moment.as_of is not None


def any_time(moment: Moment) -> Moment:
    """The same moment without what was true then: all that is known at it. Pure."""
    return Moment(known_at=moment.known_at)


def empty_answer(
    question: str,
    reading: Reading,
    *,
    tried: Sequence[Intent] = (),
    results: SearchResults | None = None,
    notes: Sequence[str] = (),
) -> RecallAnswer:
    """The answer that nothing is known, or that nothing was asked. Pure."""
    seen = SearchResults(()) if results is None else results  # what is empty still says what it did without
    trace = RecallTrace(
        reading.question or question,
        intent=reading.intent,
        window=reading.window,
        roads=tuple(tried),
        search_ids=tuple(one.memory.memory_id for one in seen),
        notes=(*reading.notes, *notes),
        degraded=seen.degraded,
    )
    return RecallAnswer(
        answer_text="", intent=reading.intent, intent_confidence=reading.confidence, found=False, current=None,
        previous=(), when_changed=None, sources=(), conflict_note=None, evidence=seen.results, events=(),
        window=reading.window, watermark=seen.watermark, degraded=seen.degraded, trace=trace,
    )  # fmt: skip


def with_told(answer: RecallAnswer, limit: int) -> tuple[SearchResult, ...]:
    """So much of an answer's evidence, with what it tells in the last places where that is not among the best. Pure."""
    told, first = set(answer.trace.kept_ids), answer.evidence[:limit]
    late = [one for one in answer.evidence[limit:] if one.memory.memory_id in told]
    if not late:
        return first
    spare = [one for one in first if one.memory.memory_id not in told]
    left_out = {one.memory.memory_id for one in spare[::-1][: len(late)]}
    listed = [*(one for one in first if one.memory.memory_id not in left_out), *late][:limit]
    return tuple(replace(one, rank=place) for place, one in enumerate(listed, 1))


# What is so, and what was -------------------------------------------------------------------------------------------


def answer(
    conn: Connection,
    question: str,
    looked: Looked,
    reading: Reading,
    road: Intent,
    results: SearchResults,
    *,
    tried: Sequence[Intent] = (),
    least: float = 0.0,
    only: Filter | None = None,
    tz: tzinfo = UTC,
) -> RecallAnswer:
    """The answer a road gives from its search; `found` is False where the search was too weak to answer.

    `least` is the relevance that an answer needs, `only` the filter that each memory it tells passes, `tz` the zone of
    the dates it tells.
    """
    empty = empty_answer(question, reading, tried=(*tried, road), results=results)
    window = reading.window
    if reading.intent == "event" and not reading.topic:
        return _begun(empty, [one.memory for one in results], window, tz)
    if road == "current" and _asks_what_there_is(reading, looked.now):
        begun = _begun(empty, [one.memory for one in results], window, tz)
        if begun.found:
            return begun
    name = None if looked.named else _attribute_of(reading, reading.question or question)
    name = None if _is_told_as_first(results, question) else name
    best = None if name is None else _of_attribute(conn, looked, results, name, window, only)
    best = best or best_hit(_of_the_named(results, looked, question), road, question, least=least)
    if best is None:
        return empty
    said_since = None
    if road == "current" and window is None:
        if semantic.NAME not in results.degraded:
            said_since = sayings.ahead(conn, looked, best.memory)
        line, rivals = _line(conn, looked, best.memory, only, question)
        if rivals and rivals[0] != best.memory:
            best = replace(best, memory=rivals[0])
            line = lineage_of(conn, looked, best.memory, only)
    else:
        line, rivals = lineage_of(conn, looked, best.memory, only), []
    values, told = _told_on(line, best.memory, road, question, window)
    if not told:
        return empty
    later = [] if said_since is None or len(told) > 1 else said_since(told[0])
    later = [one for one in later if may_be_told(one, only)][: sayings.TOLD]
    later.sort(key=lambda one: (one.valid_from, one.memory_id), reverse=True)
    answer_text, notes = _in_words(told, later, road, question, reading, looked.moment, tz)
    over = _end_told(line, told, road, question, reading)
    if over is not None:
        told, answer_text = [over, *told], f"{over.fact}\n{answer_text}"
    conflict_note = _conflict_note(line, results, best, rivals)
    return filled(empty, line, values, (*told, *later), answer_text, notes, since=later, conflict_note=conflict_note)


def filled(
    empty: RecallAnswer, line: Lineage, values: Sequence[Memory], told: Sequence[Memory], answer_text: str,
    notes: Sequence[str], *, since: Sequence[Memory] = (), conflict_note: str | None = None,
) -> RecallAnswer:  # fmt: skip
    """An answer that tells some values of a lineage, and what was said of it since. Pure."""
    head = line.head
    previous = tuple(one for one in values if one != head and one.status == "superseded")
    return replace(
        empty,
        answer_text=answer_text,
        found=True,
        current=head,
        previous=previous,
        when_changed=head.valid_from if head is not None and previous else None,
        sources=sources_of(told),
        conflict_note=conflict_note,
        since=tuple(since),
        trace=replace(
            empty.trace,
            notes=(*empty.trace.notes, *notes),
            kept_ids=tuple(one.memory_id for one in told),
            superseded_ids=tuple(one.memory_id for one in previous),
        ),
    )


def _told_on(
    line: Lineage, found: Memory, road: Intent, question: str, window: Window | None
) -> tuple[list[Memory], list[Memory]]:
    """The values of a lineage, of a time where one is asked for, and those of them that a road tells. Pure."""
    if window is not None:
        values = held_in(line, window)
        return values, values if road == "lineage" else of_a_time(values, found)
    values = [one for one in by_time(line.revisions) if one.status in VALUES]
    told = _TOLD[road](line, values)
    if road == "historical":
        told = values[-1:] if _ORIGINAL.search(question) else _before_the_named(values, question) or told
    if _EVER.match(question) is not None:
        told = _once(line, values, question) or told
    return values, told


def _end_told(line: Lineage, told: Sequence[Memory], road: Intent, question: str, reading: Reading) -> Memory | None:
    """What says that what was asked for is no more, where only what it was is told: an appointment was cancelled."""
    head = line.head
    is_asked_for = road == "historical" and reading.intent == "current" and reading.window is None
    if not is_asked_for or head is None or head in told or _EVER.match(question) is not None:
        return None
    return head if _ENDS.search(head.fact) is not None else None


def _is_told_as_first(results: SearchResults, question: str) -> bool:
    """Whether a question asks for the first of something, and a fact says which it was. Pure."""
    asked = _FIRST_OF_ALL.search(question)
    return asked is not None and any(
        f"first {asked['what'].casefold()}" in one.memory.fact.casefold() for one in results
    )


def _once(line: Lineage, values: Sequence[Memory], question: str) -> list[Memory]:
    """The values that a question names by a word the current one has not: "Have I ever lived in Rome?". Pure."""
    asked = others.plain_words(question) - text.STOP_WORDS
    now = frozenset[str]() if line.head is None else others.plain_words(line.head.fact)
    return [one for one in values if not (asked & others.plain_words(one.fact)) <= now]


def _in_words(
    told: Sequence[Memory], later: Sequence[Memory], road: Intent, question: str, reading: Reading, moment: Moment,
    tz: tzinfo,
) -> tuple[str, tuple[str, ...]]:  # fmt: skip
    """An answer's text, a line for each memory, and what is to be noted of it. Pure."""
    first = told[0]
    notes: tuple[str, ...] = ()
    lines = [dated_line(one, tz) for one in told[::-1]] if len(told) > 1 or road == "lineage" else [first.fact]
    if road == "current" and len(told) == 1 and _SINCE.search(question):
        known = "Since" if first.valid_from_stated or first.revision > 1 else "Known since"
        lines = [f"{known} {first.fact if reading.window is not None else dated_line(first, tz)}"]
    is_over_now = first.status == "active" and (_ENDS.search(first.fact) or _DENIAL.match(first.fact)) is not None
    was_so = (road == "historical" and not is_over_now) or (
        first.status == "superseded" and _EVER.match(question) is not None
    )
    if was_so and reading.intent == "current" and reading.window is None:
        lines[0] = f"{FORMERLY}{lines[0]}"  # nothing of it is current: an old value must not pass for one
    is_asked_for_the_past = reading.intent == "historical" and not is_bounded(reading, moment)
    gone = _gone(first, question) if is_asked_for_the_past and first.status != "superseded" else None
    if gone is not None:
        lines[0] = f"{FORMERLY}{gone}\n{lines[0]}"  # what says how it changed says what it was
    elif road == "current" and is_asked_for_the_past and all(map(_tells_what_is_so, told)):
        lines[0] = f"{NOW}{lines[0]}"  # nor must what is current pass for what was before it
        notes = ("nothing is known of what was before: told is what is so now",)
    lines += [f"{SINCE}{' '.join(dated_line(one, tz).split())}" for one in later]
    return "\n".join(lines), notes


def _gone(memory: Memory, question: str) -> str | None:
    """What a memory that tells of a change says was before, where no other thing is asked for than what came. Pure."""
    said = plain(memory.fact)
    course = courses.read(_OF_US.sub("user", said))
    if course is None or course.old is None or course.new is None:
        return None
    named = _BEFORE.search(question)
    words = others.plain_words(named["what"]) if named is not None else frozenset[str]()
    if not words <= others.plain_words(course.new):
        return None
    place = re.search(rf"(?<!\w){re.escape(course.old)}(?!\w)", memory.fact, re.IGNORECASE)
    return None if place is None else f"{place.group()[:1].upper()}{place.group()[1:]}"


_OF_US: Final = regex(r"^user's (?:team|group)\b")


def tells_of_a_change(answer: RecallAnswer) -> bool:
    """Whether an answer says what was before something by a memory of the change. Pure."""
    return answer.found and answer.answer_text.startswith(FORMERLY)


def names_what_came(reading: Reading) -> bool:
    """Whether a question asks for what was before something that it names. Pure."""
    return reading.intent == "historical" and _BEFORE.search(reading.question) is not None


def _begun(empty: RecallAnswer, found: Sequence[Memory], window: Window | None, tz: tzinfo) -> RecallAnswer:
    """What began in a window, where no more was asked than what there was in it. Pure."""
    if window is None:
        return empty
    since = [one for one in found if one.valid_from_stated and one.status in VALUES and holds_in(one, window)]
    since = [one for one in since if not _was_put_off(one)]
    begun = sorted(
        (one for one in since if window[0] is None or one.valid_from >= window[0]),
        key=lambda one: (one.valid_from, one.memory_id),
    )
    if not begun:
        return empty
    trace = replace(empty.trace, kept_ids=tuple(one.memory_id for one in begun))
    answer_text = "\n".join(dated_line(one, tz) for one in begun)
    return replace(empty, answer_text=answer_text, found=True, sources=sources_of(begun), trace=trace)


def _was_put_off(memory: Memory) -> bool:
    """Whether something else was told of what a memory says is to be, before that day had come. Pure."""
    return memory.superseded_at is not None and memory.superseded_at < memory.valid_from


_PLANS: Final = "plan plans planned planning schedule scheduled calendar agenda diary booked free busy available up"
_PLANNED: Final = frozenset(_PLANS.split())
"""What says of a day to come no more than that something is asked of it."""


def _asks_what_there_is(reading: Reading, now: datetime) -> bool:
    """Whether a question names nothing but a time to come: "What do I have on Friday?". Pure."""
    if reading.window is None or (reading.window[1] is not None and reading.window[1] <= now):
        return False
    rest = " ".join(word for word in text.words(reading.searched) if word not in _PLANNED)
    return intent.is_hollow(rest)


def best_hit(results: SearchResults, road: Intent, question: str = "", *, least: float = 0.0) -> SearchResult | None:
    """The hit that answers: the best, or on roads to the past the best of a fact that has changed. Pure.

    Of words that say one thing of several values the last ones answer what is so.
    """
    strong = telling.strong(results, question, least)
    best = _best_of(strong, road, question)
    if best is None or road != "current":
        return best
    best = _told_beside(best, results, question)
    if best.memory.conflict_key is not None:
        return best
    before = best.memory
    may_answer = {one.memory.memory_id for one in strong}
    later = [
        one for one in results
        if one.memory.conflict_key is None and one.memory.valid_from > before.valid_from
        and "shadowed" not in one.labels and trust_rank(one.memory.trust) <= trust_rank(before.trust)
        and _says_another(one, before, question, is_strong=one.memory.memory_id in may_answer)
    ]  # fmt: skip
    return max(later, key=lambda one: one.memory.valid_from, default=best)


def _told_beside(best: SearchResult, results: SearchResults, question: str) -> SearchResult:
    """What was told in one breath with a denial, where a value is asked for: it holds one, a denial does not. Pure.

    "No, he switched to fencing" says that a son plays no handball, and which sport he does.
    """
    if _ASKS_A_VALUE.match(question) is None or _DENIAL.match(best.memory.fact) is None:
        return best
    whose = _whose(best.memory.fact)
    beside = [
        one for one in results
        if one.memory.event_id == best.memory.event_id and not telling.is_verbatim(one)
        and _DENIAL.match(one.memory.fact) is None and _whose(one.memory.fact) == whose
        and set(best.matched) <= set(one.matched) and fitting.fits(question, one.memory.fact)
    ]  # fmt: skip
    return max(beside, key=relevance_of, default=best)


_ASKS_A_VALUE: Final = regex(r"(?i)\W*(?:(?:and|so|in|at|on|by|for|with|to) )*(?:what|which|where|whom?|how|when)\b")
_DENIAL: Final = regex(
    r"(?i)(?:user['’]s )?[\w'’-]+(?: [\w'’-]+)? (?:does|do|is|are|has|have|can|will) (?:not|never)\b"
)


def _whose(fact: str) -> tuple[str, ...]:
    words = plain(fact).split()
    return tuple(words[: 2 if words[:1] == ["user's"] else 1])


def _says_another(one: SearchResult, before: Memory, question: str, *, is_strong: bool) -> bool:
    """Whether a hit gives another value to what one before it told of, in its words or of a thing and when it is.

    The same words may be of two things, so they have to be as near to the question; a thing is known by its name.
    """
    fact, held = one.memory.fact, before.fact
    if (is_strong and anew.is_said_anew(fact, held)) or anew.is_of_another_name(fact, held):
        return not anew.asks_for_the_former(question, fact, held)
    is_another = one.derived and moves.gives_another(plain(fact), fact, plain(held), held)
    return is_another and not _asks_of_one(question, held, fact)


def _best_of(strong: list[SearchResult], road: Intent, question: str) -> SearchResult | None:
    """The hit that answers among those that may. Pure."""
    if road in ("historical", "lineage"):
        changed = [one for one in strong if one.memory.status == "superseded" or one.memory.revision > 1]
        strong = changed or strong
    shown = [one for one in strong if "shadowed" not in one.labels]
    # Near the top what was distilled and pinned tells more than the words someone happened to use.
    near = [one for one in shown if relevance_of(one) >= NEAR_TOP * relevance_of(shown[0])]
    # What a question names by a number or a letter is that very thing: "flat C", "web-10".
    codes = telling.words_by(telling.CODE, question)
    if codes:
        near = [one for one in near if codes <= others.plain_words(one.memory.fact)] or near
    best = min(near, key=_tier, default=None)
    if best is not None and road == "current" and _STILL.search(question):
        # What ended it says that it is no more, though it tells of no state: "User sold the Tesla".
        since = [one for one in shown if _tier(one) == _tier(best) and set(best.matched) <= set(one.matched)]
        return max(since, key=lambda one: one.memory.valid_from)
    if best is None or road != "current" or not semantic.is_first_person(question):
        return best
    if _ENDS.search(best.memory.fact):  # what is so by now tells more than what no longer is
        since = [one for one in shown if _tells_as_much(one, best) and not _ENDS.search(one.memory.fact)]
        return max(
            (one for one in since if one.memory.valid_from > best.memory.valid_from), key=relevance_of, default=best
        )
    return max((one for one in near if one is best or _tells_as_much(one, best)), key=lambda one: one.memory.valid_from)


_STILL: Final = regex(r"(?i)^(?:and |so )?(?:do|does|am|is|are|have|has) .*\bstill\b")
_ENDS: Final = regex(
    r"\b(?:no longer|not|any ?more|any longer|stopped|quit|given up|gave up|cancell?ed|called off|dropped|left)\b|"
    r"\b(?:is|are) off$"
)


def _tells_as_much(one: SearchResult, best: SearchResult) -> bool:
    """Whether a hit tells what is so in all the words by which the best was found: then the newer of both holds."""
    alike = _tier(one) == _tier(best) and one.memory.conflict_key in (None, best.memory.conflict_key)
    return alike and _tells_what_is_so(one.memory) and set(best.matched) <= set(one.matched)


def least_of(anytime: SearchResults, question: str) -> float:
    """The relevance that an answer about some time needs, by what is known of any: less is of something else. Pure."""
    best = best_hit(anytime, "current", question)
    return 0.0 if best is None else telling.STRONG * relevance_of(best)


def held_in(line: Lineage, window: Window) -> list[Memory]:
    """The values of a lineage that held in a window, what is so still first, then the newest. Pure."""
    return [one for one in by_time(line.revisions) if one.status in VALUES and holds_in(one, window)]


def of_a_time(values: Sequence[Memory], found: Memory) -> list[Memory]:
    """The values of a time, newest first; where the one that was found has no history, that one."""
    return list(values) if any(one.memory_id == found.memory_id for one in values) else list(values[:1])


def _current(line: Lineage, _values: Sequence[Memory]) -> list[Memory]:
    return [line.head] if line.head is not None else []


def _historical(line: Lineage, values: Sequence[Memory]) -> list[Memory]:
    """The value that was the last to end; where nothing is current, that of the latest statement may be it. Pure."""
    previous = [one for one in values if one != line.head and (one.status == "superseded" or line.head is None)]
    return sorted(previous, key=_end_of, reverse=True)[:1]


def _end_of(memory: Memory) -> tuple[bool, datetime]:
    """When a value ended, to order values by; one without an end comes before all that have one. Pure."""
    return memory.valid_to is not None, memory.valid_to or memory.valid_from


def _before_the_named(values: Sequence[Memory], question: str) -> list[Memory]:
    """The value that came before the one a question names: "Where did I live before Leeds?". Pure."""
    named = _BEFORE.search(question)
    words = others.plain_words(named["what"]) if named is not None else frozenset[str]()
    for after, before in pairwise(values):
        if words and words <= others.plain_words(after.fact):
            return [before]
    return []


def _all(_line: Lineage, values: Sequence[Memory]) -> list[Memory]:
    return list(values)


_TOLD: Final = {"current": _current, "historical": _historical, "lineage": _all}


def _tells_what_is_so(memory: Memory) -> bool:
    """Whether a memory tells how things are, and not what happened, was said or was before. Pure."""
    if kind_of(memory.memory_type) == "episodic" or answers_as_words(memory):
        return False
    return _TELLS_OF_BEFORE.search(memory.fact) is None


def dated_line(memory: Memory, tz: tzinfo) -> str:
    return f"{memories.day_of(memory, tz)}: {memory.fact}"


def sources_of(told: Iterable[Memory]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for one in told for citation in one.citations))


# What was said and done ---------------------------------------------------------------------------------------------


def of_events(
    conn: Connection,
    question: str,
    looked: Looked,
    meaning: Meaning,
    reading: Reading,
    asked: Asked,
    results: SearchResults,
    *,
    tried: Sequence[Intent] = (),
    tz: tzinfo = UTC,
) -> Told:
    """What the ledger says: the events that were asked for, each on a line; and what was remembered as an event."""
    empty = empty_answer(question, reading, tried=(*tried, "event"), results=results)
    prefer = events.preferred(question)
    found = events.find(
        conn, looked.visible, _in_the_past(keyword.parse(reading.topic)),
        # Without a topic everything is asked for that one of us did: then who did it is no preference.
        Narrowed(reading.window, roles=prefer if prefer and not reading.topic else None),
        limit=OVERFETCH * asked.limit, moment=looked.moment, prefer=prefer,
        vector=meaning.vector if reading.topic else None, model_id=meaning.model_id, config=looked.config,
    )  # fmt: skip
    own = others.plain_words(question) if reading.topic and telling.asks_what_is_so(question) else None
    hits = [
        hit for hit in found.hits
        if _is_of_its_own(hit)
        and not _is_question(hit.event, question)
        and _passes(hit.event, asked.filter, looked)
        and (own is None or hit.event.role != "user" or others.tells_of_the_asker(hit.event.content or "", own))
    ]  # fmt: skip
    happened = [one for one in results if one.derived and _happened(one.memory, reading.window)]
    told = _told_events(question, reading, hits, happened, asked.limit)
    degraded = tuple(dict.fromkeys((*empty.degraded, *found.degraded)))
    waiting = Told(replace(empty, degraded=degraded), found.waiting, events.UNREAD in found.degraded)
    if not told:
        return waiting
    told_events = [one for one in told if isinstance(one, Event)]
    told_memories = [one for one in told if isinstance(one, Memory)]
    notes = empty.trace.notes
    known = len(hits) + (len(_apart(hits, happened)) if reading.window is not None else 0)
    if not reading.topic and len(told) < known:
        more = " or more" if len(found.hits) == OVERFETCH * asked.limit else ""
        notes = (*notes, f"told are the last {len(told)} of {known}{more}")
    cited = {citation.event_id: citation for one in told_events for citation in (_citation(one),)}
    shown = [one.event_id for one in told_events]
    rest = [hit.event for hit in hits if hit.event.event_id not in shown] if reading.topic else []
    return replace(
        waiting,
        answer=replace(
            waiting.answer,
            answer_text="\n".join(
                events.line(one, tz) if isinstance(one, Event) else dated_line(one, tz) for one in told
            ),
            found=True,
            sources=(*cited.values(), *sources_of(told_memories)),
            events=(*told_events, *rest)[: asked.limit],
            trace=replace(empty.trace, notes=notes, kept_ids=tuple(one.memory_id for one in told_memories)),
        ),
    )


def _in_the_past(words: Words) -> Words:
    """The words of what was done, in the forms in which it was told: "buy" is "bought". Pure."""
    forms = (form for word in words.words for form in verbs.past_of(word))
    return replace(words, words=tuple(dict.fromkeys((*words.words, *forms)))[: keyword.QUERY_WORDS])


def _told_events(
    question: str, reading: Reading, hits: Sequence[EventHit], happened: Sequence[SearchResult], limit: int
) -> list[Event | Memory]:
    """What answers, in the order of time: all there is where no topic was named, else the best. Pure."""
    if not reading.topic:
        apart = _apart(hits, happened) if reading.window is not None else []
        everything: list[Event | Memory] = [*(hit.event for hit in hits), *apart]
        return sorted(everything, key=_at)[-limit:]
    hits = [hit for hit in hits if hit.matched or _nearness(hit) >= NEAR_ALONE]
    best = hits[0].score if hits else 0.0
    memory = max(happened, key=relevance_of, default=None)
    if memory is not None and relevance_of(memory) >= max(WEAK, best / NEAR_TOP):
        same = [hit.event for hit in hits if hit.event.event_id == memory.memory.event_id]
        return [*same[:1]] or [memory.memory]
    near = [hit.event for hit in hits if hit.score >= max(WEAK, NEAR_TOP * best)]
    if _LAST.search(question) or _FIRST.search(question):
        near.sort(key=_at, reverse=_LAST.search(question) is not None)
    return list(near[:1]) if _WHEN.search(question) or len(near) < 2 else sorted(near[:MOST_EVENTS], key=_at)


def _nearness(hit: EventHit) -> float:
    """How near an event is to a question by its vector. Pure."""
    found = hit.channels.get(events.SEMANTIC)
    return 0.0 if found is None else found.value


def _apart(hits: Sequence[EventHit], happened: Sequence[SearchResult]) -> list[Memory]:
    """What happened by memories that are not of one of the events. Pure."""
    known = {hit.event.event_id for hit in hits}
    return [one.memory for one in happened if one.memory.event_id not in known]


def _at(one: Event | Memory) -> tuple[datetime, str]:
    return (one.occurred_at, one.event_id) if isinstance(one, Event) else (one.valid_from, one.memory_id)


def _happened(memory: Memory, window: Window | None) -> bool:
    """Whether a memory tells of something that happened, and not only of words that are an event themselves. Pure."""
    if kind_of(memory.memory_type) != "episodic" or answers_as_words(memory) or memory.status not in VALUES:
        return False
    return window is None or holds_in(memory, window)


def _is_of_its_own(hit: EventHit) -> bool:
    """Whether an event is found for words of its own, and not for a context of Engram's that stands in it. Pure."""
    said = hit.event.content or ""
    own = served.without(said)
    if own == said:
        return True
    words = frozenset(map(stem, others.plain_words(own)))
    return bool(words) and (not hit.matched or any(stem(one.casefold()) in words for one in hit.matched))


def _passes(event: Event, asked: Filter | None, looked: Looked) -> bool:
    """Whether an event would pass the caller's filter, were a memory made of its words. Pure."""
    if asked is None:
        return True
    scope_id = next(iter(looked.visible.scopes))
    return filters.matches(asked, as_memory(tail.Hit(event, scope_id, event.content or ""), looked))


def _is_question(event: Event, question: str) -> bool:
    """Whether an event is this question or another: it is no answer, unless who asked it is asked for. Pure."""
    said = served.without(event.content or "").strip()
    if event.role != "user":
        return text.ends_in_question(said) and _OF_SAYING.search(question) is None
    return text.ends_in_question(said) or text.compared(said) == text.compared(question)


_OF_SAYING: Final = regex(
    r"(?i)\b(?:ask(?:ed|ing)?|questions?|sa(?:y|id|ying)|t[eo]ll?d?|talk(?:ed|ing)?|mention(?:ed)?|suggest(?:ed|ion)?|"
    r"offer(?:ed)?|propos(?:ed?|al)|recommend(?:ed|ation)?|wr(?:ote|itten)|discuss(?:ed)?|conversation|chat(?:ted)?|you|"
    r"assistant|agent)\b"
)


def _citation(event: Event) -> Citation:
    return citations.whole_of(event.event_id, event.content or "")


# In which order -----------------------------------------------------------------------------------------------------


def of_order(
    question: str, reading: Reading, found: Sequence[SearchResults], *, tried: Sequence[Intent] = (), tz: tzinfo = UTC
) -> RecallAnswer:
    """The things a question names, put in the order of time; `found` False where nothing is known of one. Pure.

    Nor is there an order of what has a time and what was only recorded at one.
    """
    whole, *each = found
    missing: list[str] = []
    chosen: dict[int, SearchResult] = {}
    places = sorted(range(len(each)), key=lambda at: -max(map(relevance_of, each[at]), default=0.0))
    for place in places:  # two things are never one memory: the nearer takes it
        taken = {one.memory.event_id or one.memory.memory_id for one in chosen.values()}
        hits = tuple(
            one for one in each[place]
            if (one.memory.event_id or one.memory.memory_id) not in taken
            and (one.matched or relevance_of(one) >= ANCHORED)
        )  # fmt: skip
        best = best_hit(replace(each[place], results=hits), "temporal_chain", question)
        if best is None:
            missing.append(reading.anchors[place])
        else:
            chosen[place] = best
    notes = [f"nothing is known of: {anchor}" for anchor in missing]
    known = {one.memory.memory_id for one in whole}
    apart = [chosen[place] for place in sorted(chosen) if chosen[place].memory.memory_id not in known]
    results = replace(whole, results=(*whole.results, *apart))
    empty = empty_answer(question, reading, tried=(*tried, "temporal_chain"), results=results, notes=notes)
    if missing or len(chosen) < 2:  # one thing has no order, nor has a question that names none
        return empty
    dated = in_order([one.memory for one in chosen.values()], tz)
    undated = [one.memory.fact for one in dated if one.kind == "recorded"]
    if undated and len(undated) < len(dated):  # when one was recorded says nothing of when another was
        notes += [f"no time is known of: {fact}" for fact in undated]
        return empty_answer(question, reading, tried=(*tried, "temporal_chain"), results=results, notes=notes)
    return replace(
        empty,
        answer_text=chain_text(dated),
        found=True,
        sources=sources_of(one.memory for one in dated),
        trace=replace(empty.trace, kept_ids=tuple(one.memory.memory_id for one in dated)),
    )


@dataclass(frozen=True, slots=True)
class Dated:
    """A memory and the time it has in an order: its first day and the one after its last.

    It is the day that was stated, or of which it was said; the span its words name ("in 2010"); or, where nobody knows
    more, the day it was recorded.
    """

    memory: Memory
    first: date
    end: date
    kind: Literal["day", "span", "recorded"]

    def __str__(self) -> str:
        if self.kind != "span":
            shown = f"{'recorded ' if self.kind == 'recorded' else ''}{self.first}"
        elif (self.first.month, self.first.day, self.end) == (1, 1, date(self.first.year + 1, 1, 1)):
            shown = str(self.first.year)
        else:
            shown = f"{self.first} to {self.end - timedelta(days=1)}"
        return f"{self.memory.fact.rstrip(' .')} ({shown})"


def in_order(found: Iterable[Memory], tz: tzinfo = UTC) -> list[Dated]:
    """Memories in the order of time, as days of a time zone. Pure."""
    return sorted(
        (_when(one, tz) for one in found),
        key=lambda one: (one.first, one.end, one.memory.valid_from, one.memory.memory_id),
    )


def _when(memory: Memory, tz: tzinfo) -> Dated:
    day = memories.day_of(memory, tz)
    if not memory.valid_from_stated:
        start, end = windows.find(memory.fact, now=memory.valid_from, tz=tz).window or (None, None)
        if start is not None and end is not None:
            first, last = start.astimezone(tz).date(), (end - timedelta(microseconds=1)).astimezone(tz).date()
            return Dated(memory, first, last + timedelta(days=1), "day" if first == last else "span")
        if abs(memory.recorded_at - memory.valid_from) < AT_ONCE:
            return Dated(memory, day, day + timedelta(days=1), "recorded")
    return Dated(memory, day, day + timedelta(days=1), "day")


def chain_text(dated: Sequence[Dated]) -> str:
    """What is in order, with the days between where they are known.

    "A (2024-03-01) before B (2024-05-02), 62 days"; "A (2010) before B (2015)"; "A (recorded 2024-03-01) said before B
    (recorded 2024-03-01)".
    """
    line = str(dated[0])
    for before, after in pairwise(dated):
        days = (after.first - before.first).days
        if after.kind == "recorded":
            apart = f"said before {after}"
        elif {before.kind, after.kind} == {"day"}:
            apart = (
                f"before {after}, {days} {'day' if days == 1 else 'days'}" if days else f"on the same day as {after}"
            )
        else:
            apart = f"before {after}" if before.end <= after.first else f"about the same time as {after}"
        line = f"{line}{' ' if before is dated[0] else '; '}{apart}"
    return line


# What is shared -----------------------------------------------------------------------------------------------------


def of_its_key(
    conn: Connection, looked: Looked, reading: Reading, question: str, results: SearchResults, only: Filter | None
) -> list[Memory]:  # fmt: skip
    """What is kept of the attribute that the asker asks for by name, whatever words it has; nothing where none is."""
    name = None if looked.named else _attribute_of(reading, reading.question or question)
    found = None if name is None else _of_attribute(conn, looked, results, name, None, only)
    return [] if found is None else [found.memory]


def _attribute_of(reading: Reading, question: str) -> str | None:
    """The attribute that the asker asks for by name; how something changed is asked of what it is. Pure."""
    name = attributes.asked(plain(question))
    if name is None and reading.intent == "lineage":
        return attributes.asked(f"what is {plain(reading.topic)}")
    return name


def _of_attribute(
    conn: Connection, looked: Looked, results: SearchResults, name: str, window: Window | None, only: Filter | None
) -> SearchResult | None:
    """The memory that holds what the asker asks for by name: of the nearest scope, where its words were not found too.

    What somebody asks for by name ("Where do I work?") has a key: then nearness of words decides nothing. Where the key
    had no value at the time that is asked for, what was told without it may.
    """
    key = frames.PROFILE + name
    seen = [one for one in results if "shadowed" not in one.labels]
    found = next((one for one in seen if one.memory.conflict_key == key), None)
    if found is not None and window is None:
        several = [found, *(_stand_beside(seen, name) if frames.is_loose(key) else ())]
        newest: SearchResult = max(several, key=lambda one: one.memory.valid_from)
        return newest
    values = _values_of(conn, looked, name, window, only)
    for other in () if values else phrases.relatives(name):
        values = values or _values_of(conn, looked, other, window, only)
    if not values and name == "occupation":
        held = _values_of(conn, looked, "employer", window, only)
        values = [one for one in held if telling.AS_WHAT.search(one.fact) is not None]
    return SearchResult(values[0], 0.0, 1, {}, {}) if values else None


def _stand_beside(results: Iterable[SearchResult], name: str) -> list[SearchResult]:
    """What gives a loose attribute another value and stands beside the one under its key, with no key. Pure."""
    free = (one for one in results if one.memory.conflict_key is None and one.memory.is_current)
    read = ((one, frames.read(plain(one.memory.fact), one.memory.fact)) for one in free if not telling.is_verbatim(one))
    return [one for one, sets in read if sets is not None and sets.name == name]


def _values_of(
    conn: Connection, looked: Looked, name: str, window: Window | None, only: Filter | None
) -> list[Memory]:  # fmt: skip
    """The values of an attribute that may be told; of a window those that held in it, the newest first."""
    line = memories.lineage_of_key(conn, looked.visible, frames.PROFILE + name, looked.moment)
    values = [] if line is None else [one for one in line.revisions if one.status in VALUES and may_be_told(one, only)]
    return values if window is None else [one for one in by_time(values) if holds_in(one, window)]


def _of_the_named(results: SearchResults, looked: Looked, question: str) -> SearchResults:
    """What was found of those who are named, where it is not the asker the question is about. Pure.

    What is so of the user is no answer to a question about another; what names nobody is, where nothing names them.
    """
    if not looked.named or semantic.is_first_person(question):
        return results
    names = {word for actor in looked.named for word in others.plain_words(actor)}
    own = [one for one in results if one.memory.actor in looked.named or names & others.plain_words(one.memory.fact)]
    if not any(map(telling.is_enough, own)):
        own = [one for one in results if one in own or not _SELF_FACT.match(one.memory.fact)]
    return replace(results, results=tuple(own))


def _line(
    conn: Connection, looked: Looked, memory: Memory, only: Filter | None, question: str
) -> tuple[Lineage, list[Memory]]:
    """The values of a memory that may be told, and it with its rivals, where it has any; those of now at once."""
    if looked.moment.is_now:
        line, beside = memories.lineage_and_rivals(conn, looked.visible, memory.lineage_id, memory.memory_id)
        return _told_of(memory, line, only), _rivals(memory, beside, only, question)
    rows = fetch_all(
        conn,
        "list_contradictions",
        memory_id=memory.memory_id,
        **memories.visible_params(looked.visible, looked.moment),
    )
    others = memories.load(conn, looked.visible, [row.memory_id for row in rows], looked.moment)
    return lineage_of(conn, looked, memory, only), _rivals(memory, others, only, question)


def _rivals(memory: Memory, others: Iterable[Memory], only: Filter | None, question: str) -> list[Memory]:
    """A memory and those that contradict it without a key to order them, the newest trusted as much first. Pure."""
    current = [
        one
        for one in others
        if one.is_current and may_be_told(one, only) and not _asks_of_one(question, memory.fact, one.fact)
    ]
    if not current:
        return []
    best = min(trust_rank(one.trust) for one in (memory, *current))
    return sorted(
        (memory, *current),
        key=lambda one: (trust_rank(one.trust) == best, one.valid_from, one.recorded_at),
        reverse=True,
    )


def _asks_of_one(question: str, fact: str, other: str) -> bool:
    """Whether a question names, by a number or a name, what one fact speaks of and another does not. Pure.

    Whether something is so names the value too ("Is the deadline on May 3?"), which may have become another since.
    """
    if differences.are_of_two(fact, other):
        return True
    named = telling.words_by(telling.NAMING, question) & others.plain_words(fact) - others.plain_words(other)
    return bool(named) and not telling.WHETHER.match(question)


def _tier(one: SearchResult) -> int:
    """How well a memory is made to answer: pinned facts, then distilled ones, then somebody's words. Pure."""
    if answers_as_words(one.memory):
        return 2
    return 0 if one.memory.is_critical else 1


def lineage_of(conn: Connection, looked: Looked, memory: Memory, only: Filter | None) -> Lineage:
    """The values of a memory that may be told: a search finds no more of them."""
    try:
        line = memories.lineage(conn, looked.visible, memory.lineage_id, looked.moment)
    except NotFound:
        line = None
    return _told_of(memory, line, only)


def _told_of(memory: Memory, line: Lineage | None, only: Filter | None) -> Lineage:
    """The values of a lineage that may be told. Pure."""
    if line is None:  # an event that is not derived yet
        return Lineage(memory.lineage_id, None, memory, (memory,))
    return replace(
        line,
        head=line.head if line.head is not None and may_be_told(line.head, only) else None,
        revisions=tuple(one for one in line.revisions if may_be_told(one, only)),
        contested=tuple(one for one in line.contested if may_be_told(one, only)),
    )


def may_be_told(memory: Memory, only: Filter | None) -> bool:
    """Whether a value may be told: it has not expired, stands for itself, and passes the caller's filter. Pure."""
    if "expired" in memory.labels or memory.consolidated_into is not None:
        return False
    return only is None or filters.matches(only, memory)


def by_time(revisions: Iterable[Memory]) -> list[Memory]:
    return sorted(revisions, key=lambda one: (one.status == "active", one.valid_from, one.revision), reverse=True)


def _conflict_note(line: Lineage, results: SearchResults, best: SearchResult, rivals: Sequence[Memory]) -> str | None:
    """What speaks against the answer: later statements of less trust, or a trusted one farther away."""
    notes = [f"{one.trust} said later, with less trust: {one.fact}" for one in by_time(line.contested)]
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
