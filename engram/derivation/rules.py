"""The rules deriver: sentences worth remembering, in the third person, without any model.

It reads user messages, decisions, meetings, results of tools and chunks of documents. From a message it takes
statements of the user about themselves, their people, their projects and their rules; everything else stays with the
verbatim deriver.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any, Final

from engram import served, sessions
from engram.derivation import documents
from engram.derivation.proposals import MAX_FACT, Proposed, fitted
from engram.derivation.times import Stated, resolve
from engram.english import (
    asides,
    attributes,
    callings,
    contrasts,
    courses,
    frames,
    introductions,
    moves,
    names,
    news,
    orders,
    pronouns,
    replies,
    shorthand,
    slips,
    worth,
)
from engram.english.courses import Course
from engram.english.feasts import MONTHS
from engram.english.subjects import (
    MAX_SENTENCE,
    SELF,
    UNKNOWN,
    Clause,
    clauses,
    introduction,
    lead_length,
    leaves_self,
    mood_of,
    plain,
    sentence_spans,
    subject_of,
    tail_length,
    third_person,
    we_are,
)
from engram.policies.classify import Proposal, classify
from engram.policies.default import DEFAULT, STYLE
from engram.policies.values import allergen
from engram.regex import regex
from engram.values import Event
from engram.wording import worded

NAME: Final = "rules"
VERSION: Final = 19
MAX_CANDIDATES: Final = 12
MAX_SENTENCES: Final = 200
"""Sentences read of one message; longer text belongs to the long-input road."""
MOST_BESIDE: Final = 2 * MAX_CANDIDATES
"""Facts of one sentence for which it is looked what the words beside them say."""
LONG: Final = 1_000
"""A longer decision is read by its sentences; a longer line of a tool's output says nothing of how it ended."""
NO_MEMORY: Final = "#nomem"


def derive(event: Event, *, user_name: str | None = None, preceding: Sequence[Event] = ()) -> tuple[Proposed, ...]:
    """The memories an event's words give by rules alone: at most twelve, each with its exact characters.

    What answers a question, or begins with a pronoun, is put whole by the messages `preceding` it, nearest first.
    """
    event = _own(event)
    if event.content is None or NO_MEMORY in event.content.casefold():
        return ()
    if event.event_type == "meeting":
        found = _meeting(event)
    elif event.event_type == "decision":
        found = _decision(event, event.content)
    elif documents.is_chunk(event):
        found = documents.sentences(event, event.content)
    elif event.event_type in ("tool_result", "error"):
        found = _results(event.content)
    elif event.role == "user":
        found = _message(event, event.content, user_name, preceding)
    else:
        return ()
    return _numbered(found)


def _own(event: Event) -> Event:
    """The event without what Engram itself printed, character for character; of a document everything is its own."""
    said = event.content
    own = said if said is None or documents.is_chunk(event) else served.blanked(said)
    return event if own is said else replace(event, content=own)


def _numbered(found: Iterator[Proposed]) -> tuple[Proposed, ...]:
    """The first candidates, each said once, counted from 0."""
    seen: dict[str, Proposed] = {}
    for proposed in found:
        seen.setdefault(plain(proposed.fact), proposed)
        if len(seen) == MAX_CANDIDATES:
            break
    return tuple(replace(proposed, ordinal=ordinal) for ordinal, proposed in enumerate(seen.values()))


# ------------------------------------------------ messages

_LINE = regex(r"[^\n]*\n?")


def readable(content: str) -> str:
    """The content with code fences and quoted mail lines blanked out, character for character."""
    content = worth.without_mail(content)
    if "```" not in content and ">" not in content and "~~~" not in content:
        return content
    out: list[str] = []
    fence = ""
    for match in _LINE.finditer(content):
        line = match.group()
        mark = line.lstrip()[:3]
        skip = bool(fence) or line.lstrip().startswith(">")
        if mark in ("```", "~~~") and (not fence or fence == mark):
            closed = line.count(mark) > 1 and not fence
            fence = "" if fence or closed else mark
            skip = True
        out.append("\n" * len(line) if skip else line)
    return "".join(out)


def reads_on(event: Event) -> bool:
    """Whether an event may say what only the messages before it make whole: only then the rules want these."""
    event = _own(event)
    if event.role != "user" or event.content is None:
        return False
    return replies.may_answer(event.content) or _POINTS_BACK.match(event.content) is not None


_POINTS_BACK: Final = regex(r"(?i)^\W*(?:(?:and|but|so|also|oh|yes|yeah|no|btw|by the way),? )?(?:s?he|his|her)\b")


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a message says first, put whole by the messages before it, and where all of it stands."""

    whole: tuple[str, ...]
    start: int
    end: int
    size: int  # parts of the message
    beside: tuple[tuple[str, int, int], ...]


def _begun(event: Event, text: str, parts: Sequence[tuple[int, int]], preceding: Sequence[Event]) -> _Begun | None:
    """What a message says first in answer to a question, or of whom the user spoke before; None for anything else."""
    said = [one for one in map(_own, preceding) if one.content is not None and NO_MEMORY not in one.content.casefold()]
    if not parts or not said or said[0].position != event.position - 1:
        return None
    nearest, earlier = said[0], next((one for one in said if one.role == "user"), None)
    answer = _answer(text, parts, nearest, earlier) if nearest.role == "assistant" else None
    if answer is not None:
        return answer
    return None if earlier is None else _of_whom(text, parts[0], earlier)


def _answer(text: str, parts: Sequence[tuple[int, int]], question: Event, earlier: Event | None) -> _Begun | None:
    """What a message says first in answer to a question: its first sentence, with the second behind a bare yes or no.

    Whom "he" or "she" of the question stands for is told by what was said before it, last of all by the user.
    """
    content = question.content or ""
    start, end = parts[0]
    ends = [(2, parts[1][1])] if len(parts) > 1 and replies.is_bare(text[start:end]) else []
    answers = [(size, upto) for size, upto in [*ends, (1, end)] if replies.is_short(text[start:upto])]
    asked = replies.question_of(content) if answers else None
    if asked is None:
        return None
    question_text, before = content[slice(*asked)], content[: asked[0]]
    beside: tuple[tuple[str, int, int], ...] = ((question.event_id, *asked),)
    told = None if earlier is None or replies.tells_whom(question_text, before) else _last_sentence(earlier)
    if earlier is not None and told is not None:
        of_user = replies.as_asked((earlier.content or "")[slice(*told)])
        before, beside = f"{before.rstrip()} {of_user}", (*beside, (earlier.event_id, *told))
    for size, upto in answers:
        whole = replies.whole(question_text, text[start:upto], before)
        if whole:
            return _Begun(whole, start, upto, size, beside)
    return None


def _of_whom(text: str, part: tuple[int, int], earlier: Event) -> _Begun | None:
    """What a message says first of somebody whom the user's message before it speaks of: "She works as a nurse"."""
    told = _last_sentence(earlier)
    if told is None:
        return None
    before, said = (earlier.content or "")[slice(*told)], text[slice(*part)]
    whole = callings.whole(before, said) or pronouns.whole(before, said)
    return None if whole is None else _Begun((whole,), *part, 1, ((earlier.event_id, *told),))


def _last_sentence(event: Event) -> tuple[int, int] | None:
    """Where the last sentence of a message stands."""
    spans = sentence_spans(readable(event.content or ""))
    return spans[-1] if spans and spans[-1][1] - spans[-1][0] <= MAX_SENTENCE else None


def _message(event: Event, content: str, user_name: str | None, preceding: Sequence[Event]) -> Iterator[Proposed]:
    content = sessions.SWITCH.sub(lambda mark: " " * len(mark.group()), content)  # it says nothing of the user
    text = readable(content)
    after_self = True
    spans = sentence_spans(text)[:MAX_SENTENCES]
    meant = [
        span for span, after in zip_longest(spans, spans[1:])
        if span[1] - span[0] <= MAX_SENTENCE and not (after is not None and _JOKE.match(text[slice(*after)]))
    ]  # fmt: skip
    parts = [part for span in meant for part in _reason_apart(text, *span)]
    slip: str | None = None
    last, spoken = "", ""
    begun = _begun(event, text, parts, preceding)
    if begun is not None:
        parts = parts[begun.size :]
        yield from _made_whole(event, begun, content, user_name)
    for (start, end), after in zip_longest(parts, parts[1:]):
        said = text[start:end]
        last, spoken = spoken, said
        two = None if after is None else slips.meant(said, text[slice(*after)])
        if two is not None and after is not None:
            yield _correction(content, start, after[1], *two)
            slip = _SAID_AT_ONCE
            continue
        before, slip = slip, slips.named(said)
        if before is _SAID_AT_ONCE or (slip is not None and " but " not in said):
            continue
        echo = attributes.corrected(said)
        if echo is not None and mood_of(said) != "command":
            yield _correction(content, start, end, echo.old or "", echo.new or "")
            continue
        renewed = attributes.renewed(said)
        if renewed is not None:
            fact = f"{attributes.sentence_of(*renewed)} now"
            yield Proposed(fact, start, end, subject="user", echo=attributes.Echo(otherwise=True))
            continue
        as_meant = slips.amended(said)
        if as_meant == "":
            continue  # what was said is not so, and what is so instead cannot be told
        wholes = _whole(last, said, as_meant)
        lone = len(spans) == 1
        found: list[Proposed] = []
        for whole in wholes or (shorthand.whole(said, lead=lead_length(said), after_self=after_self, lone=lone),):
            spoken = whole or said
            sentence = clauses(spoken, role=event.role, user_name=user_name, after_self=after_self)
            after_self = leaves_self(sentence)
            found += _sentence(said, sentence, whole, start, content, event.occurred_at, lone=lone and len(wholes) < 2)
        found = [one for one in found if one.echo is not None or not worth.is_small_talk(plain(one.fact), one.fact)]
        if not found and not slip:
            found += _specific(last, said, start)
        for one in found:
            if slip is None or plain(one.fact) not in (f"user {verb} {plain(slip)}" for verb in _SAID):
                yield one if before is None else _instead(one, before)


def _made_whole(event: Event, begun: _Begun, content: str, user_name: str | None) -> Iterator[Proposed]:
    """What a sentence gives that was put whole by earlier messages: as it stands where no rule reads more of it."""
    start, end = begun.start, begun.end
    for whole in begun.whole:
        sentence = clauses(whole, role=event.role, user_name=user_name)
        lone = len(begun.whole) == 1
        made = list(_sentence(content[start:end], sentence, whole, start, content, event.occurred_at, lone=lone))
        made = made or [replace(one, char_start=start, char_end=end) for one in _specific("", whole, 0)]
        if not made and mood_of(whole) in ("statement", "plan", "command"):
            mine = subject_of(whole, role="user") == SELF or mood_of(whole) == "command"
            category = None if mine else worth.STATEMENT
            fact = _written(third_person(whole))
            made = [Proposed(fact, start, end, subject="user" if mine else None, category=category)]
        yield from (replace(one, beside=begun.beside) for one in made)


def _whole(before: str, said: str, as_meant: str | None) -> tuple[str, ...]:
    """What a sentence says put whole, by the one before it or as several; empty where it stands for itself."""
    one = as_meant or callings.whole(before, said) or pronouns.whole(before, said)
    return (one,) if one else introductions.apart(said) or pronouns.apart(said)


def _specific(before: str, sentence: str, offset: int) -> Iterator[Proposed]:
    """A sentence of which no rule knows what it is about, as it stands, where it gives something to ask for."""
    start, end = _words_at(sentence, offset)
    loose = worth.LOOSE_LEAD.match(sentence, start - offset, end - offset)
    start += 0 if loose is None else loose.end() - loose.start()
    words = sentence[start - offset : end - offset]
    if start >= end or len(words.split()) < worth.FEWEST:
        return
    if worth.is_rule(sentence.strip()):
        yield Proposed(_written(" ".join(words.split())), start, end, subject="user")
        return
    readings = ((worth.of_topic(before, words), False), (worth.with_subject(words), True), (words, False))
    for text, is_of_user in readings:
        if text is None:
            continue
        fact, main = third_person(" ".join(text.split())), worth.main_part(text)
        if worth.is_small_talk(plain(fact), fact):
            return
        if mood_of(main) in ("statement", "plan") and (is_of_user or worth.is_specific(text, main)):
            whose = subject_of(text, role="user")
            if whose == SELF:
                yield Proposed(_written(fact), start, end, subject="user")
            else:
                about = None if whose == UNKNOWN else whose
                yield Proposed(_written(fact), start, end, subject=about, category=worth.STATEMENT)
            return


_SAID: Final = ("said", "wrote", "typed")
_SAID_AT_ONCE: Final = ""
"""Stands for a slip that the sentence before corrected together with this one."""


def _correction(content: str, start: int, end: int, old: str, new: str) -> Proposed:
    """The correction of something said before, which means nothing alone."""
    course = Course(old=plain(old), new=plain(new))
    echo = attributes.Echo(old, new, alone=True, course=course, loosely=True)
    return Proposed(" ".join(content[start:end].split())[:MAX_FACT], start, end, echo=echo)


def _instead(one: Proposed, slip: str) -> Proposed:
    """What a sentence gives after one that named a slip: it says what is so instead."""
    if one.echo is not None and one.echo.course is not None:
        return one
    return _marked(one, course=Course(old=plain(slip), says=plain(one.fact)), loosely=True)


def _sentence(
    said: str,
    sentence: Sequence[Clause],
    whole: str | None,
    start: int,
    content: str,
    said_at: datetime,
    *,
    lone: bool,
) -> Iterator[Proposed]:
    """What the clauses of one sentence give; of one that was made `whole` the characters are those of its words."""
    if whole is None:
        made = [one for clause in sentence for one in _from_clause(clause, start, content, said_at)]
        if not lone:
            made = [one for one in made if not _GROUP_PARTED.match(one.fact)]
        told = list(_with_course(said, start, content, made)) or list(_pointing(said, start, content))
        if not made and len(told) == 1 and _WE.match(told[0].fact):  # of nothing that is held it is told by itself
            told.extend(one for one in _loosely(said, start, content, []) if one.echo is None or not one.echo.whole)
        moved = list(_moving(said, start, content, list(_loosely(said, start, content, told)), said_at))
        beside = list(_beside(said, start, content, list(_akin(said, start, content, moved))))
        yield from _ordering(said, start, content, beside)
        return
    made = [one for clause in sentence for one in _from_clause(clause, 0, whole, said_at)]
    told = list(_with_course(whole, 0, whole, made))
    moved = list(_moving(whole, 0, whole, list(_loosely(whole, 0, whole, told)), said_at))
    akin = [replace(one, char_start=start, char_end=start + len(said)) for one in _akin(whole, 0, whole, moved)]
    yield from _ordering(said, start, content, akin)


def _beside(sentence: str, offset: int, content: str, told: Sequence[Proposed]) -> Iterator[Proposed]:
    """What a sentence gives, each with what the words beside it say of since when it is so, or against something."""
    for place, one in enumerate(told):
        if (
            place >= MOST_BESIDE
            or _is_whole(one)
            or mood_of(sentence) not in _STATED
            or news.is_doubtful(plain(one.fact))
        ):
            yield one
            continue
        before = plain(third_person(content[offset : one.char_start]))
        behind = plain(third_person(content[one.char_end : offset + len(sentence)]))
        if contrasts.begins(before) or contrasts.is_slip(before) or contrasts.says_since(plain(one.fact)):
            yield _marked(one, otherwise=True)
            continue
        against = contrasts.set_against(before, behind)
        yield _marked(one, beside=against) if against else one


def _ordering(sentence: str, offset: int, content: str, told: Sequence[Proposed]) -> Iterator[Proposed]:
    """What a sentence gives, marked where it is an order for good or says what becomes of one.

    What only takes an order back, or sets something in its place, counts where there is such an order.
    """
    said = " ".join(sentence.split())
    start, end = _words_at(sentence, offset)
    words, mood = " ".join(content[start:end].split()), mood_of(sentence)
    change = orders.change(words)
    is_standing = (mood in _ORDERED or _REMIND.match(words) is not None) and orders.is_standing(words)
    lone = len(told) == 1
    if told and not (is_standing and lone and told[0].echo is not None and told[0].echo.alone):
        for one in told:
            said_of_one = orders.read(one.fact) is not None or orders.change(one.fact) is not None
            if (said_of_one and (lone or not _is_whole(one))) or (lone and change is not None):
                yield _marked(one, order=said if lone else one.fact)
            else:
                yield one
        return
    is_change = change is not None and (mood in _ORDERED or (mood == "hypothetical" and change.kind == "allow"))
    if is_standing or is_change:
        echo = attributes.Echo(alone=not is_standing, order=said)
        yield Proposed(_written(words), start, end, subject="user", memory_type="constraint", echo=echo)


_ORDERED: Final = ("statement", "command", "plan")
_REMIND: Final = regex(r"(?i)(?:please )?remind (?:me|us) to \w")
_STATED: Final = ("statement", "reported")
_WE: Final = regex(
    r"User's (?:group|team) (?:\w+ly |just |has |now )*(?:finished|sold|gave|given|rehomed|cancell?ed|donated)\b"
)
_GROUP_PARTED: Final = regex(r"User's group (?:\w+ly |just |has |now )*(?:split up|separated)\b")
"""What a couple does as well as a group on its way: which it was is told by nothing where it is one of several
sentences."""
_JOKE: Final = regex(
    r"(?i)\W*(?!no (?:kidding|joking|jk|a joke)\b)(?:(?:no|nah|lol|haha),? )?"
    r"(?:(?:i['’]m|i am|i was|that was|it was|was) )?"
    r"(?:(?:just|only) )?(?:kidding|joking|jk|a joke|april fools?)\W*$"
)
"""What makes a joke of the sentence before it."""


def _reason_apart(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where a sentence stands, or its two parts: what it denies, and a reason that says what is so instead.

    Of "I don't live in Rome because I moved to Oslo" both are told. "I don't live in Rome because I like it" may deny
    the reason alone, and stays whole.
    """
    said = text[start:end]
    if not _GIVES_A_REASON.search(said) or mood_of(said) != "statement":
        return [(start, end)]
    for pattern in (_BECAUSE, _BECAUSE_FIRST):
        match = pattern.match(said)
        if match is not None and _says_instead(match["denied"], match["reason"]):
            parts = (match.span("denied"), match.span("reason"))
            return sorted((start + first, start + last) for first, last in parts)
    return [(start, end)]


_REASON: Final = r"(?<!\w)(?:'?\bcause|\b(?:because|since|as|now that|seeing that|given that))\b"
_WHY: Final = rf"(?i:{_REASON})"
_GIVES_A_REASON: Final = worded(_REASON, re.IGNORECASE)
_BECAUSE: Final = regex(rf"(?P<denied>.+?)[\s,;–—-]+{_WHY}\s+(?P<reason>(?:[Ii]|[Ww]e)\b.+)", re.DOTALL)
_BECAUSE_FIRST: Final = regex(rf"{_WHY}\s+(?P<reason>[Ii]\b[^,;]+?),?\s+(?P<denied>[Ii]\b.+)", re.DOTALL)
_NOT_THIS: Final = regex(r"(?i)\bbut (?:because|since|for|due|rather)\b")  # "not because I moved but because"
_MOVED: Final = regex(
    r"^user (?:(?:has|had|just|recently|now|finally|already|since) )*(?:moved|relocated|emigrated)"
    r"(?: (?:away|out|abroad|elsewhere))?$"
)


def _says_instead(denied: str, reason: str) -> bool:
    """Whether a reason gives another value to what a statement denies of the user, or says that they moved away."""
    if mood_of(denied) != "statement" or mood_of(reason) != "statement":
        return False
    over = classify(DEFAULT, Proposal(third_person(denied)))
    if over.negates is None or over.conflict_key is None or over.subject != "user":
        return False
    first = clauses(reason, role="user")[0]
    same = re.search(rf"\b{re.escape(over.negates)}\b", first.canonical) is not None
    if same or first.mood != "statement" or _NOT_THIS.search(reason):
        return False
    if over.conflict_key == frames.HOME and _MOVED.match(first.canonical.replace("user's group", "user")):
        return True
    new = classify(DEFAULT, Proposal(third_person(first.text)))
    return new.conflict_key == over.conflict_key and new.negates is None and new.subject == "user"


def _with_course(sentence: str, offset: int, content: str, made: list[Proposed]) -> Iterator[Proposed]:
    """What the clauses of a sentence give, with what the sentence says of the course of things."""
    start = offset + lead_length(sentence)
    end = offset + len(sentence)
    while end > start and content[end - 1] in " \t\n.!,;:…。！":
        end -= 1
    words = content[start:end]
    said = plain(words)
    course = courses.read(plain(third_person(words)).replace("user's group", "user")) if _COURSE.search(said) else None
    if course is None and len(made) == 1 and made[0].fact.startswith("User ") and not _OF_SELF.match(said):
        course = courses.read(plain(made[0].fact))  # "I" is left out: "Got fired from Tesco"
    beside = len(made) > 1 and course is not None and (course.over or course.says)  # each clause may tell it by itself
    if course is not None and (not _tells_of_a_course(sentence, course) or beside):
        course = None
    if course is None:
        for one in made:
            otherwise = courses.says_otherwise(plain(one.fact))
            own = None
            if len(made) > 1 and not otherwise and one.subject == "user" and _TOLD_BY_ITSELF.search(plain(one.fact)):
                own = courses.read(plain(one.fact))
            yield _marked(one, course=own, otherwise=otherwise) if own is not None or otherwise else one
        return
    fact = _written(third_person(" ".join(words.split())).strip())
    if len(made) == 1 and plain(made[0].fact) == plain(fact):
        yield _marked(made[0], course=course, otherwise=False)
        return
    whole = attributes.Echo(alone=True, course=course, whole=True)
    yield Proposed(fact, start, end, subject=made[0].subject if made else "user", echo=whole)
    yield from made


_OF_SELF: Final = regex(r"(?:i|i'm|im|i've|ive|i'd|we|we've|we're|my|our|user|user's)\b")
_TOLD_BY_ITSELF: Final = regex(
    r",? not |^user (?:\w+ly |just |now |also |has )*(?:stopped|quit|gave up|given up|finished|cancell?ed|resigned|"
    r"retired)\b"
)
"""An end or a correction that a clause tells by itself; who left or lost something beside something else may have it
tomorrow."""


def _pointing(sentence: str, offset: int, content: str) -> Iterator[Proposed]:
    """What a sentence that states nothing by itself says of what was told before: "Goodbye X, hello Y"."""
    if len(sentence) > courses.MAX_POINTED or mood_of(sentence) != "statement":
        return
    start, end = _words_at(sentence, offset)
    lead = start - offset
    named = shorthand.pointing(sentence, lead=lead)
    if named is not None:
        yield Proposed(
            third_person(named), start, end, subject="user", echo=attributes.Echo(alone=True, otherwise=True)
        )
        return
    course = courses.pointed(plain(third_person(sentence[lead:])))
    if course is not None:
        fact = third_person(" ".join(content[start:end].split()))
        echo = attributes.Echo(alone=True, course=course, whole=True)
        yield Proposed(_written(fact), start, end, subject="user", echo=echo)


def _loosely(sentence: str, offset: int, content: str, told: list[Proposed]) -> Iterator[Proposed]:
    """What a sentence gives, with the sentence as a whole where its values may be news of what was told before.

    What no rule reads is kept in its own words where it is the user's.
    """
    if not (news.may_tell(sentence) or (not told and len(sentence) <= news.MAX_READ and _ME.search(sentence))):
        yield from told
        return
    mood = mood_of(sentence)
    if mood not in ("statement", "reported") or (not told and " you" in sentence and " told you" not in sentence):
        yield from told
        return
    start, end = _words_at(sentence, offset)
    fact = third_person(" ".join(content[start:end].split())).replace("User's group", "User")
    said, named = plain(fact), news.values(fact)
    mine = bool(told) or _may_be_of_user(sentence, said)
    if not told and mine and mood == "statement" and _says_of_user(said, named):
        told = [Proposed(_written(fact), start, end, subject="user")]
    if (
        not news.may_be_news(said, named)
        or not (mine and _may_be_of_user(sentence, said))
        or news.is_doubtful(said)
        or not (mood == "statement" or _MISSAID.match(said))
    ):
        yield from told
        return
    covered = bool(told) and all(any(value in one.fact for one in told) for value in named)
    if covered and (len(told) == 1 or _is_whole(told[0]) or not news.is_pair(said, named)):
        yield from (_marked(one, loosely=True) for one in told)
        return
    whole = attributes.Echo(alone=True, whole=True, loosely=True)
    yield Proposed(_written(fact), start, end, subject="user", echo=whole)
    yield from told


def _akin(sentence: str, offset: int, content: str, told: Sequence[Proposed]) -> Iterator[Proposed]:
    """What a sentence gives, marked where it says what has become of something that it need not name.

    Where none of what it gives says so, the sentence as a whole does; but what is new has to be read of itself.
    """
    said = plain(third_person(sentence))
    sign = news.sign(said) if len(sentence) <= news.MAX_READ else None
    stated = mood_of(sentence) == "statement" or (sign == "slip" and _MISSAID.match(said))
    if sign is None or not stated or not _may_be_of_user(sentence, said):
        yield from told
        return
    start, end = _words_at(sentence, offset)
    signs = [news.sign(plain(one.fact)) for one in told]
    if told and (
        _is_whole(told[0]) or (len(told) == 1 and told[0].char_end - told[0].char_start > (end - start) * _NEARLY_ALL)
    ):
        yield _marked(told[0], akin=sign)
        told, signs = told[1:], signs[1:]
    elif sign != "new" and sign not in signs:
        fact = third_person(" ".join(content[start:end].split())).replace("User's group", "User")
        whole = attributes.Echo(alone=True, whole=True, akin=sign)
        yield Proposed(_written(fact), start, end, subject="user", echo=whole)
    for one, own in zip(told, signs, strict=True):
        yield one if own is None else _marked(one, akin=own)


_NEARLY_ALL: Final = 0.8


def _moving(
    sentence: str, offset: int, content: str, told: Sequence[Proposed], said_at: datetime
) -> Iterator[Proposed]:
    """What a sentence gives, marked where it states that something is at another day, place or amount by now.

    One that is worth nothing by itself ("The exam moved to June 10") counts where that thing was told of before.
    """
    if len(sentence) > moves.MAX_READ or mood_of(sentence) != "statement" or _is_hearsay(sentence):
        yield from told
        return
    for one in told:
        may_move = moves.may_move(plain(one.fact), one.fact)
        yield one if not may_move else _dated_anew(_marked(one, moved=True), said_at)
    if told:
        return
    start, end = _words_at(sentence, offset)
    fact = third_person(" ".join(content[start:end].split()))
    for words in (f"The {fact[:1].lower()}{fact[1:]}", fact):
        found = moves.read(plain(words), words)
        if found is not None and found.changed and (words is fact or plain(fact).startswith(" ".join(found.thing))):
            echo = attributes.Echo(alone=True, moved=True)
            yield _dated_anew(Proposed(words[:1].upper() + words[1:], start, end, echo=echo), said_at)
            return


def _dated_anew(one: Proposed, said_at: datetime) -> Proposed:
    """What says that a thing was moved to a day that is to come, as of that day."""
    found = moves.read(plain(one.fact), one.fact)
    day = "" if found is None else next((value.said for value in found.values if value.kind == "day"), "")
    since = resolve(f"It is on {day}", said_at).valid_from if day and found is not None and found.changed else None
    if since is None or not said_at < since <= said_at + _SOON or _BACK_AND_FORTH.search(one.fact):
        return one
    return replace(one, valid_from=since, valid_to=None, ahead=True)


_SOON: Final = timedelta(days=183)
"""What is farther away may as well be a day of the past."""
_BACK_AND_FORTH: Final = regex(r"(?i)\b(?:every|each|from now on|starting|as of)\b|days\b")
"""What is on another day of each week from now on, and not of one that is to come."""
_HEARSAY: Final = worded(
    r"(?i)\bi (?:think|guess|believe|suppose|assume|hope|heard|doubt|wish|dreamt|dreamed)\b|"
    r"\b(?:maybe|perhaps|probably|possibly|apparently|supposedly|allegedly|almost|nearly|if|unless|whether|"
    r"not sure|"
    r"rumou?rs?|says?|said|told|tells|wants?|asked|suggested|proposed|would|could|might|should|will|temporarily|"
    r"for now|just for|this (?:once|time)|thinks?|believes?|claims?|changed (?:my|our|his|her|their) minds?|"
    r"rolled back|undid|undone|reverted)\b"
)
"""What may not be so, somebody else's words, and what passes."""


def _is_hearsay(sentence: str) -> bool:
    return "?" in sentence or _HEARSAY.search(sentence) is not None


_ME: Final = regex(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Ww]e|[Oo]ur|us)\b")


def _says_of_user(said: str, named: Sequence[str]) -> bool:
    """Whether a sentence that no rule reads states something of the user: it speaks of them and says more than that."""
    if len(said.split()) < _LEAST or len(said) > news.MAX_READ or not _OF_USER.search(said) or _TO_YOU.search(said):
        return False
    if news.is_doubtful(said):
        return False
    if _TALK.match(said) or _FEELING.match(said) or _DEICTIC.match(said):
        return False
    return bool(named) or len(courses.topic(said)) >= _PAIR


_MISSAID: Final = regex(r"user (?:said|told you|called|wrote|typed|thought|mentioned)\b")
_LEAST: Final = 4
_OF_USER: Final = regex(r"\buser(?:'s)?\b")
_TO_YOU: Final = regex(r"\b(?:you|your|let user|tell user|ask user|thank|it|that|this)\b")
_PAIR: Final = 2


def _is_whole(one: Proposed) -> bool:
    return one.echo is not None and one.echo.whole


_THEIRS: Final = regex(
    r"\b(?!(?:User|The|It|That|There|Here|What|Who|Where|He|She)['’])[A-ZÀ-ÖØ-Þ][\w-]*['’]s "
    r"(?P<np>[a-z][a-z-]*(?: [a-z][a-z-]*)?)"
)
"""A thing of somebody by name: "Anna's dentist", "Kim's favourite team"."""
_IS_MINE: Final = regex(r"(?i)\b(?:is|became|has become) (?:now |also )?(?:my|our) ")


def _may_be_of_user(sentence: str, said: str) -> bool:
    """Whether a sentence may tell of the user: it says so, or nobody else is known to be its subject."""
    subject = subject_of(sentence, role="user")
    theirs = _THEIRS.search(sentence)
    is_theirs = theirs is not None and any(map(attributes.noun, (theirs["np"], theirs["np"].split()[0])))
    if is_theirs and _IS_MINE.search(sentence) is None:
        return False
    if subject in (SELF, UNKNOWN):
        return re.match(r"(?:he|she|you|your|his|her|their|somebody|someone|people)\b", said) is None
    return not subject.startswith("user's ")


def _marked(one: Proposed, **signs: Any) -> Proposed:
    """A proposal whose echo has some signs, beside those that it had."""
    return replace(one, echo=(one.echo or attributes.Echo())._replace(**signs))


def _words_at(sentence: str, offset: int) -> tuple[int, int]:
    """Where the words of a sentence begin, behind what leads in, and where they end."""
    return offset + lead_length(sentence), offset + len(sentence.rstrip(" \t\n.!,;:…"))


def _written(fact: str) -> str:
    """A fact as it is written: with a capital, and no longer than one may be."""
    return (fact[:1].upper() + fact[1:])[:MAX_FACT]


_COURSE: Final = worded(
    r"\b(?:i|i'm|i've|i'd|me|my|we|we've|our|user|user's|it's|died|passed|stolen|gone|cancelled|canceled|scrapped|past|"
    r"over|history|is off$|(?:been|was|were|got|being) (?:replaced|exchanged|swapped|traded)(?: in| out)? (?:by|for|"
    r"with)|(?:been|was|got) (?:axed|binned|ditched|shelved|withdrawn|phased out)|made way for|put (?:down|to sleep)|"
    r"(?:doctor|doc|gp|physician|consultant|specialist|cardiologist|neurologist|dermatologist|psychiatrist|nurse|"
    r"surgeon|pharmacist|vet) (?:has |have )?(?:just |now |finally )?(?:replaced|swapped|exchanged|stopped|ended|"
    r"discontinued)|(?:has|have) (?:just |now |finally )?replaced(?!.* (?:in|at|on|for) (?!my\b|our\b|user)))\b"
)
"""What is of the asker's life; what replaced another somewhere or for others is not."""


def _tells_of_a_course(sentence: str, course: Course) -> bool:
    """Whether a sentence states that something is over or has changed: it asks, supposes and reports nothing."""
    if course.alone and courses.is_scrapped(plain(sentence)):
        return True
    said = plain(sentence)
    subject = subject_of(sentence, role="user")
    of_user = subject in (SELF, UNKNOWN) or _TO_ME.search(said) is not None
    of_user = of_user or (course.alone and course.over == subject)  # "Rex had to be put to sleep"
    of_user = of_user or (course.over is not None and said.startswith("the ")) or course.new is not None
    return of_user and mood_of(sentence) == "statement"


_TO_ME: Final = regex(r"\b(?:me|and i)\b")  # "my doctor took me off it", "Anna and I broke up"


def _from_clause(clause: Clause, offset: int, content: str, said_at: datetime) -> Iterator[Proposed]:
    echo = attributes.pointed(clause.canonical) if clause.mood in ("statement", "command") else None
    subject = "user" if echo is not None and echo.name is not None else _worth(clause)
    if subject is None:
        return
    start, end = _trimmed(clause, offset, content)
    if start >= end:
        return
    words = clause.text.strip(" \t\n.,;:!…。！") if clause.completed else content[start:end]
    stated = Stated() if _AIM.search(clause.canonical) else resolve(words, said_at)
    still = (
        stated.valid_from is not None
        and stated.valid_to is None
        and ((echo is not None and echo.fits is not None) or _goes_on(clause, stated.valid_from, said_at))
    )
    for fact in _facts(clause, words):
        since = stated.valid_from
        is_dated = since is not None and moves.is_dated(plain(fact), fact)
        ahead = is_dated and since is not None and since > said_at
        may_move = since is not None and moves.may_move(plain(fact), fact)
        if is_dated and not ahead and may_move:
            stated = Stated()  # the day in "The launch was moved to May 3" is that of the launch
        yield Proposed(
            fact,
            start,
            end,
            valid_from=stated.valid_from,
            valid_to=stated.valid_to,
            subject=subject or None,
            echo=echo if echo is not None and (clause.subject == SELF or echo.name is not None) else None,
            still=(still or may_move) and stated.valid_from is not None and stated.valid_from <= said_at,
            ahead=ahead,
        )


# "We decided to launch in September" was decided now; the date belongs to the launch.
_AIM: Final = regex(r"\b(?:decided|agreed|chose|needs|has|wants|hopes) to [a-z]+\b")
# The event began some time ago and what it brought about is so now.
_HOLDS: Final = regex(
    r"^(?:user|user's [\w -]{1,60}?) (?:\w+ly |now |just |finally |recently )*(?:lives|works|is|has|uses|"
    r"moved|relocated|switched|started|joined|became|changed|got|adopted|settled|owns|speaks|plays|studies|"
    r"migrated|replaced|chose|decided|reports|manages|leads|married)\b"
)


_ENDED: Final = regex(
    r"^user (?:\w+ly |now |just |has )*(?:left|quit|stopped|resigned|retired|gave up|given up|sold|cancelled|"
    r"canceled|divorced|turned \d+)\b"
)
_LATELY: Final = timedelta(days=366)


def _goes_on(clause: Clause, since: datetime, said_at: datetime) -> bool:
    """Whether what an event of some time ago brought about is so now: who quit yesterday has quit.

    What ended years ago may be a story, and have begun anew.
    """
    if _HOLDS.search(clause.canonical) is not None:
        return True
    return said_at - since <= _LATELY and _ENDED.search(clause.canonical) is not None


def still_holds(fact: str) -> bool:
    """Whether a fact about the user tells of a state that an earlier event brought about and that is so now."""
    return _HOLDS.search(plain(fact)) is not None


def _trimmed(clause: Clause, offset: int, content: str) -> tuple[int, int]:
    """The characters of a clause without what leads in to it and without its full stop."""
    start, end = offset + clause.start, offset + clause.end
    start += lead_length(content[start:end])
    end -= tail_length(content[start:end])
    while end > start and content[end - 1] in " \t\n.!,;:…。！":
        end -= 1
    while start < end and content[start] in " \t\n.,;:!\"“”'*_-–—":
        start += 1
    return start, end


def _facts(clause: Clause, words: str) -> Iterator[str]:
    """The third-person facts of a clause: one, or one an allergen."""
    if clause.mood == "command":
        yield from _asked(words)
        return
    introduced = introduction(clause.text)
    fact = third_person(introduced if introduced is not None else words).strip()
    fact = " ".join(fact.split())
    fact = _COUPLE.sub("User", fact[:1].upper() + fact[1:])
    first = _NOW_FIRST.match(fact)
    if first is not None:
        fact = f"{first['said']} now"
    parts = _ALLERGENS.match(fact)
    values = re.split(r",? (?:and|or) |, ", parts.group(2)) if parts and not _SET_AGAINST.search(parts.group(2)) else []
    if parts and len(values) > 1 and all(0 < len(v.split()) <= 2 and allergen(plain(v), v, "") for v in values):
        yield from (parts.group(1) + value for value in values)
        return
    yield fact[:MAX_FACT]


_COUPLE: Final = regex(
    r"^User's group(?= (?:\w+ly |just |has |now )*(?:got(?:ten)? (?:divorced|a divorce)|divorced)\b)"
)
_NOW_FIRST: Final = regex(r"^Now,? (?P<said>User(?:'s)? (?!.*\b(?:now|these days|nowadays|any ?more)\b)[^,;:]{3,120})$")
_SET_AGAINST: Final = regex(r"\b(?:just|only|but|except|not)\b")  # "not allergic to nuts, just peanuts"
_ALLERGENS: Final = regex(
    r"^(User is (?:(?:not|no longer|also|now|severely|very|extremely|highly|deathly|mildly) ){0,2}allergic "
    r"to )([^.;:()]{1,120})$"
)


def _asked(words: str) -> Iterator[str]:
    """A standing wish as a fact: "Call me Ada" becomes a preference, a rule stays as it was put."""
    called = re.match(
        r"(?i)(?:please )?(?:always )?(?:just )?(?:call|address) me (?:as )?"
        r"(?!(?:when|if|later|back|at|on|tomorrow)\b)([^\W\d_][\w'’-]*(?: [A-Z][\w'’-]*)?)$",
        attributes.without_henceforth(words),
    )
    if called:
        yield f"User wants to be called {called.group(1)}"
        return
    fact = " ".join(words.split())
    yield _written(fact)


# ------------------------------------------------ worth remembering

_MOODS: Final = ("statement", "plan", "reported")
_TALK: Final = regex(
    r"^user (?:really |just |still |also |already |totally |completely |would |only |do |does |did |even )*(?:"
    r"(?:needs?|wants?|like|likes) (?:you|help|some help|a hand|your|some advice|advice|a (?:list|summary|"
    r"poem|recipe|script|function|table|plan|quick|short)|an? (?:example|explanation|idea|answer)|some "
    r"(?:ideas|suggestions|tips|recommendations|examples)|to (?:know|ask|understand|see|hear|thank|say|"
    r"check|make sure|clarify))\b"
    r"|is (?:looking for (?:a way|some|ideas|suggestions|recommendations|advice|help|tips)|trying to "
    r"(?:understand|figure|find out)|wondering|curious|asking|sorry|afraid(?! of\b)|not sure|unsure|confused|stuck|"
    r"here|back|ready|done|good|fine|ok|okay|well|sure|glad|in a hurry|all ears|so proud of you|proud of "
    r"you|happy for you|with you|on it|listening|joking|kidding|just)\b(?! (?:at|from|in|with|(?:living|working|"
    r"using|doing|driving|playing|eating|"
    r"studying))\b)"
    r"|has (?:a |another |one more |some |two |a quick )(?:question|questions|doubt|favor|favour|request|"
    r"problem|issue)\b|has no (?:idea|clue|doubt)|has not (?:decided|thought)|has to (?:say|go|run|admit)|"
    r"(?:thinks?|guesses?|means?|meant|understands?|agrees?|knows?|appreciates?|hears?|heard|hopes?|"
    r"hoped|bets?|supposes?|wonders?|wondered|remembers?|forgets?|figures?|figured|apologi[sz]es|asks?|"
    r"asked|thanks?|promises?|swears?|assumes?|believes?|feels?|felt|doubts?|says?|sees(?! .* (?:for|about|every|"
    r"twice|once)\b)|"
    r"gets? it|loves? "
    r"(?:it|you|that|this)|likes? (?:it|you|that|this))\b"
    r"|(?:cannot|does not|did not|do not|could not) (?:know|understand|get|see|think|mind|care|believe|"
    r"remember|find|figure|wait|thank|agree|tell|say|help|imagine|want you|need you|need anything|have "
    r"(?:any|a) (?:question|idea|questions))\b"
    r"|will (?:try|do|check|let|get back|see|think|be (?:right )?back|keep|take a look|look|give it|have a "
    r"look|definitely|tell|ask|send|share|show|talk|wait)\b"
    r"|(?:goes|went) ahead\b|(?:was|is) (?:just )?(?:going to|about to) (?:say|ask)\b)"
)
_FEELING: Final = regex(
    r"^user (?:is|was|feels|felt) (?:(?:so|very|really|a bit|a little|pretty|quite|too|super|just|also|now|"
    r"still|not|feeling|all|kind of) ){0,3}(?:tired|excited|happy|sad|hungry|bored|busy|late|early|sleepy|"
    r"thirsty|angry|mad|upset|annoyed|nervous|worried|scared|thrilled|grateful|"
    r"thankful|impressed|surprised|amazed|exhausted|stressed|overwhelmed|better|great|good|fine|okay|ok|"
    r"cold|hot|sick|lost|confused|stuck|ready|curious|jealous|proud|relieved|frustrated|inspired|pumped|"
    r"interested|blown away|down|right|wrong|back|home|here|in|out|done|available|free|online|offline)(?: "
    r"(?:now|today|too|again|about (?:it|that|this)|right now|for you|with (?:it|that|this)|to (?:hear|see|"
    r"know) .*|at the moment|tonight))?$"
)
_DEICTIC: Final = regex(
    r"^(?:user|user's (?:team|group)) (?:[\w']+ ){1,4}(?:it|this|that|them|so|these|those|him|her|you|one|"
    r"ones)(?: (?:too|very much|a lot|so much|now|all|idea|again|yesterday|today|before|soon|already|as "
    r"well|out|in|for me|again soon|here|there|then))?$"
)
_ABOUT_NAMES: Final = regex(
    r"^(?:the|our|user's(?: team's| group's)?) (?:[\w'/.-]+ ){0,4}?(?:deadline|budget|launch|release|"
    r"project|database|repo|repository|api|port|staging|production|client|customer|contract|stand-?up|"
    r"sprint|retro|retrospective|refinement|scrum|office|password policy|server|"
    r"roadmap|milestone|backend|frontend|codebase|app|service|pipeline|stack|team|company|school|wedding|"
    r"flight|appointment|meeting|conference|rent|lease|landlord|policy|domain|hosting|license|licence|plan|"
    r"destination|venue|convention|standard)"
    r"(?: date| time)?(?: (?:for|of|in|at|on|with) [\w' .-]{1,40}?)? "
    r"(?:is|are|was|will be|uses|runs|starts|ends|moved|moves|has|went|rose|fell|"
    r"needs|must|requires|lives|belongs|costs|expires|begins|opens|closes|takes|changed|switched)\b"
)
_IS_DUE: Final = regex(
    r"^(?:the|our|user's(?: team's| group's)?) (?:[\w'/.-]+ ){1,4}?(?:is|are) (?:(?:now|still|back) )*due (?:back )?"
    r"(?:(?:on|by|in|at) )?(?:the )?(?:\d|[a-z]+day\b|"
    rf"{MONTHS}|(?:end|start|middle|beginning) of|next|this|noon|midnight|tomorrow)"
)
"""What has to be there by some day."""
_RULE: Final = regex(
    r"^(?:please )?(?:from now on,? )?(?:always|never|do not ever|don't ever|under no circumstances|do not|"
    r"don't|only)\b"
)
_NO_RULE: Final = regex(
    r"^(?:please )?(?:never mind|nevermind|(?:do not|don't) (?:worry|bother|mention|forget|be|you|get me "
    r"wrong|stop|hesitate|think|know|give up|panic|ask|sweat|tell|let|take|want|have|need|like|care|see)|"
    r"always (?:a pleasure|nice|good|happy|fun|[a-z]+ing\b)|never (?:again|ever)?$|only (?:if|when|because|kidding|"
    r"joking|one|two|the|a|an|this|that|you|in|on|for|at|then|now|time|problem|thing)|never (?:have|had|"
    r"been|heard|thought|knew))"
)
_ONCE: Final = regex(
    r"\b(?:this|that|these|those|it|here|above|below|the (?:code|text|email|following|list|answer|poem|"
    r"story|essay|header|last one|first one)|yet|now|just yet|today|tonight|tomorrow)\b"
)
_AT_HOME: Final = regex(
    r"^user (?:\w+ )?(?:(?:lives|resides) in|(?:moved|relocated) to|is (?:\w+ )?allergic to)"
    r" (?!it\b|this\b|that\b|one\b)\w"
)
_IT: Final = regex(r"\bI\.?T\b")
_HABIT: Final = regex(r"^user (?:smokes|vapes|drinks|drives|swims|cooks)$")
"""What somebody does or does not do, of which two words say enough."""
_NO_PERSON: Final = frozenset(("he", "she", "they", "it", "you"))


def _worth(clause: Clause) -> str | None:
    """Whose memory a clause makes: "user", somebody's name, "" where it is a thing, None when it is not worth one."""
    text = clause.canonical
    if clause.mood == "command":
        return "user" if _standing_wish(clause) else None
    if clause.mood not in _MOODS or _ELLIPSIS.match(text) or (len(text.split()) < 3 and _HABIT.match(text) is None):
        return None
    if clause.subject == SELF:
        said = any(_says_something(clause, one) for one in (text, *asides.left_out(text)))
        return "user" if said and worth.says_enough(text, third_person(clause.text)) else None
    if clause.compared.startswith("they ") and _moved_by_others(clause):
        return ""
    if clause.subject != UNKNOWN:
        return clause.subject if _people(clause, text) else None
    if text.startswith(("user's team ", "user's wife and user ", "user's husband and user ")) or re.match(
        r"^user's [\w-]+ and user ", text
    ):
        return "user" if not _DEICTIC.match(text) else None
    if not _ONCE_ABOUT.search(text) and any(one.match(text) for one in (_ABOUT_NAMES, _IS_DUE)):
        return ""
    for_user = _FOR_USER.match(clause.text.strip()[lead_length(clause.text.strip()) :])
    return plain(for_user["who"]) if for_user is not None and plain(for_user["who"]) not in names.NOT_NAMES else None


def _moved_by_others(clause: Clause) -> bool:
    """Whether they, whoever they are, gave another day or place to a thing of which it is told: "the deadline"."""
    moved = moves.read(clause.canonical, clause.text)
    return moved is not None and moved.changed and _ABOUT_NAMES.match(f"the {' '.join(moved.thing)} is") is not None


_ELLIPSIS: Final = regex(
    r"(?:user(?:'s [\w-]+)?|[\w-]+) (?:does|did|is|was|has|had|can|could|will|would|should)(?: not|n't)?$"
)
"""What leaves out what it denies: "Bob smokes but I don't" says nothing by itself."""
# Somebody by name who does something for what is the user's: "Dr. Bell supervises my thesis".
_FOR_USER: Final = regex(
    r"(?P<who>(?:Dr\. |Mr\. |Mrs\. |Ms\. |Prof\. )?[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}) "
    r"(?:(?:now|still|also|always|usually|no longer|currently) )*(?!is\b|was\b|has\b|does\b|goes\b|means\b|"
    r"makes\b|looks\b(?! after\b)|"
    r"seems\b|sounds\b|lost\b|needs\b|likes\b|loves\b|wants\b|says\b)[a-z]+(?<!s)s "
    r"(?:(?:up|after|for|out) )?(?:my|our) [\w'-]+(?: [\w'-]+)?"
    r"(?: (?:from|to|at|after|on) (?:(?:the|my|our) )?[\w'-]+(?: at [\w:]+)?)?(?: (?:now|again|"
    r"these days|any ?more))?[.!]?$"
)
_ONCE_ABOUT: Final = worded(r"\b(?:you|hotel|restaurant|movie|film|book|airbnb)\b")


def _says_something(clause: Clause, text: str) -> bool:
    if re.match(r"^(?:we|our)\b", clause.compared) and we_are(clause.text) is None and clause.compared.startswith("we"):
        return False
    if any(pattern.search(text) for pattern in STYLE.compiled):
        return True
    if _AT_HOME.match(text):
        return True
    if re.match(r"^user (?:in|at|on|from|with|to|for)\b", text):
        return False  # "my sister works in Rome and I in Oslo": the verb is left out
    if _TALK.match(text) or _FEELING.match(text) or (_DEICTIC.match(text) and not _IT.search(clause.text)):
        return False
    return not re.search(r"\byou(?:r|'re|'ve|'ll)?\b", text) or re.search(r"\bprefers?\b|\bcalled\b", text) is not None


def _people(clause: Clause, text: str) -> bool:
    """Whether a statement about somebody else says enough, and is about the user's people or a named person."""
    if clause.subject in _NO_PERSON or re.search(r"\byou\b", text):
        return False
    rest = text[len(clause.subject) :] if text.startswith(clause.subject) else text
    called = re.search(r"\b(?:is|named|called) ([A-ZÀ-ÖØ-Þ][\w'’-]+)[\s.!]*$", clause.text)
    if called is not None and text.startswith("user's ") and plain(called[1]) not in names.NOT_NAMES:
        return True  # "my friend is Anna" says who that is
    return clause.completed or (
        len(rest.split()) >= 2
        and re.search(
            r"^ (?:is|was|says|said) (?!\d|vegan|vegetarian|pescatarian|pregnant|diabetic|married|divorced|"
            r"engaged|single|retired|widowed|deaf|blind|autistic|celiac|unemployed)(?:it|that|this|so|right|"
            r"wrong|there|here|\w+)$",
            rest,
        )
        is None
    )


def _standing_wish(clause: Clause) -> bool:
    """Whether an order is a rule to keep rather than a thing to do now."""
    for_good = attributes.is_henceforth(clause.text)
    text = attributes.without_henceforth(clause.canonical)
    if len(text.split()) < 3:
        return False
    if (
        attributes.asks_language(text)
        or any(pattern.search(text) for pattern in STYLE.compiled)
        or re.match(
            r"^(?:please )?(?:always )?(?:just )?(?:call|address) (?:me|user) (?:as )?(?!when|if|later|back|at|on|"
            r"tomorrow|crazy|a |an |the )[\w'-]+(?: [\w'-]+)?$",
            text,
        )
    ):
        return True
    return (
        (for_good or _RULE.match(text) is not None)
        and _NO_RULE.match(text) is None
        and (for_good or len(text.split()) >= 4)
        and _ONCE.search(text) is None
    )


# ------------------------------------------------ decisions, tools, meetings


def _decision(event: Event, content: str) -> Iterator[Proposed]:
    """A recorded decision: its text as one memory, or a sentence each where it is long."""
    start, end = _stripped(content, 0, len(content))
    spans = [(start, end)] if end - start <= LONG else sentence_spans(content)
    for first, last in spans[:MAX_CANDIDATES]:
        if first < last:
            fact = " ".join(content[first:last].split())
            if event.role == "user":
                fact = third_person(fact)
            stated = resolve(fact, event.occurred_at)
            fact, whole = fitted(fact)
            yield Proposed(
                fact, first, last, stated.valid_from, stated.valid_to, memory_type="decision", main_content=whole
            )


def _stripped(content: str, start: int, end: int) -> tuple[int, int]:
    while start < end and content[start].isspace():
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    return start, end


_OUTCOME: Final = regex(
    r"\bexit(?:ed with)? (?:code|status)[ :=]+\d{1,3}\b|\b\d{1,7} (?:tests? )?(?:passed|failed|failures?|"
    r"errors?|skipped)\b|\b(?:tests?|builds?|build|suite|lint|ci|pipeline) (?:[\w./:-]{1,80} )?(?:passed|"
    r"failed|succeeded|is green|is red)\b"
    r"|^(?:[\w.]{1,80}(?:error|exception)): ", re.I
)  # fmt: skip


def _results(content: str) -> Iterator[Proposed]:
    """The lines of a tool's output that say how it ended."""
    place = 0
    for line in content.splitlines(keepends=True)[:5_000]:
        start, end = _stripped(content, place, place + len(line))
        place += len(line)
        if 0 < end - start <= LONG and _OUTCOME.search(content[start:end]):
            yield Proposed(" ".join(content[start:end].split()), start, end, memory_type="tool_result")


def _meeting(event: Event) -> Iterator[Proposed]:
    """A meeting's decisions, action items and summary; each cites the event as a whole."""
    payload, content = event.payload, event.content or ""
    when = _meeting_date(payload, event.occurred_at)
    title = _text(payload.get("title"))
    about = f" ({title})" if title else ""

    def one(fact: str, **fields: Any) -> Proposed:
        start = content.find(fact) if fact else -1
        span = (start, start + len(fact)) if start >= 0 else (0, len(content))
        said, whole = fitted(fact)
        return Proposed(said, *span, valid_from=when, category="meeting", main_content=whole, **fields)

    summary = _text(payload.get("summary")) or " ".join(content.split())
    if summary:
        yield one(summary, memory_type="episodic", tags=_tags(payload))
    for decision in _list(payload.get("decisions")):
        if _text(decision):
            yield one(_text(decision), memory_type="decision")
    for item in _list(payload.get("action_items")):
        if isinstance(item, Mapping) and _text(item.get("what")):
            who, due = _text(item.get("who")), _text(item.get("due"))
            fact = f"{who + ': ' if who else ''}{_text(item['what'])}{f', due {due}' if due else ''}{about}"
            yield one(fact, memory_type="task", subject=plain(who) or None)


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _tags(payload: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plain(_text(topic))[:32] for topic in _list(payload.get("topics")) if _text(topic)))[:20]


def _meeting_date(payload: Mapping[str, Any], said_at: datetime) -> datetime | None:
    """The day the payload names, as it is written or as words."""
    text = _text(payload.get("date"))
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        stated: Stated = resolve(text, said_at)
        return stated.valid_from
    day = day if day.tzinfo is not None else day.replace(tzinfo=UTC)
    return day if 1900 < day.year < 2199 else None
