"""Typing, pinning and keying one candidate under a policy: pure, and rather no slot than a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from engram.english import asides, courses, frames, phrases, verbs
from engram.english.claims import stem
from engram.english.subjects import SELF, UNKNOWN, Clause, Mood, clauses, is_self, leaves_self, plain, sentence_spans
from engram.policies.patterns import WINDOW
from engram.policies.rules import MemoryPolicy, SlotRule, TypeRule
from engram.policies.topics import duty
from engram.policies.values import CHECKS
from engram.regex import regex
from engram.text import normalise_key
from engram.values import MEMORY_TYPES, MemoryType

MAX_SENTENCES: Final = 20
"""A fact is one concept; rules read no more sentences of it than this."""
KEY_BYTES: Final = 1_100  # of a conflict key, as its column takes it
SLOT_BYTES: Final = 1_024
TYPED_MOODS: Final[tuple[Mood, ...]] = ("statement", "plan", "command")
SLOT_MOODS: Final[tuple[Mood, ...]] = ("statement", "command")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement of a document stands: the document, and the section where that is known."""

    document: str
    section: str | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is known of a memory before the policy has spoken; what the caller gave stays as given.

    `ended` says that the caller states when the thing stopped being true; only then may a statement in the past tense
    take a slot, since it can no longer be mistaken for the present. `place` is set for what a document says: a clause
    takes its slot by the section it stands in, and its key is of this document alone.
    """

    fact: str
    memory_type: MemoryType | None = None
    category: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    subject: str | None = None
    attribute: str | None = None
    topic_key: str | None = None
    critical_slot: str | None = None
    importance: float | None = None
    role: str | None = None
    user_name: str | None = None
    event_type: str | None = None
    ended: bool = False
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Classified:
    """What a policy makes of a proposal: type, slot, key, and the name of the rule that decided."""

    memory_type: MemoryType
    category: str | None = None
    importance: float | None = None
    critical_slot: str | None = None
    conflict_key: str | None = None
    subject: str | None = None
    rule: str | None = None
    expires_in: timedelta | None = None
    negates: str | None = None


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot a rule found: whose it is, and the value that a statement takes back."""

    rule: SlotRule
    slot: str
    owner: str | None
    negates: str | None


def classify(policy: MemoryPolicy, proposal: Proposal) -> Classified:
    """The type, slot and conflict key of a candidate under a policy; the caller's own values win."""
    evidence = proposal.category == "verbatim"
    read = () if evidence else tuple(_read(proposal))
    typed = _typed(policy, proposal, read)
    memory_type: MemoryType = proposal.memory_type or (
        typed.memory_type if typed else _named_type(proposal) or "semantic"
    )
    found = _find_slot(policy, proposal, read, memory_type)
    if not _is_slot_of_user(proposal, found):
        found = _attribute_slot(policy, proposal, read, memory_type) or found
    subject = _subject(proposal, read, found)
    if found and proposal.memory_type is None and typed is None and found.rule.memory_types:
        memory_type = found.rule.memory_types[0]
    slot = _pinned(policy, proposal, found, memory_type)
    decided = typed.name if typed else None
    return Classified(
        memory_type=memory_type,
        category=proposal.category or (typed.category if typed else None),
        importance=proposal.importance if proposal.importance is not None else (typed.importance if typed else None),
        critical_slot=slot,
        conflict_key=_key(policy, proposal, found, slot),
        subject=subject,
        rule=found.rule.name if found else decided,
        expires_in=typed.expires_in if typed else None,
        negates=found.negates if found and not (proposal.topic_key or proposal.critical_slot) else None,
    )


def _read(proposal: Proposal) -> Iterator[Clause]:
    """The clauses of a fact, of its first sentences, at most a window of each."""
    explicit = None if proposal.subject is None or is_self(proposal.subject, proposal.user_name) else proposal.subject
    after_self = True
    for start, end in sentence_spans(proposal.fact)[:MAX_SENTENCES]:
        sentence = clauses(
            proposal.fact[start : min(end, start + WINDOW)],
            role=proposal.role,
            user_name=proposal.user_name,
            subject=explicit,
            after_self=after_self,
        )
        after_self = leaves_self(sentence)
        yield from sentence


# ------------------------------------------------ type


def _typed(policy: MemoryPolicy, proposal: Proposal, read: tuple[Clause, ...]) -> TypeRule | None:
    """The first type rule that fits; none where the caller gave a type or the metadata names one."""
    if proposal.memory_type is not None or _named_type(proposal) is not None:
        return None
    said = _metadata_values(proposal)
    texts = [text for clause in read if clause.mood in TYPED_MOODS for text in (clause.compared, clause.canonical)]
    joined = policy.types_joined
    if joined is not None:
        texts = [text for text in texts if joined.is_in(text)]
    if not said and not texts:
        return None
    for rule in policy.type_rules:
        if any(plain(value) in said for value in rule.metadata_values):
            return rule
        if any(pattern.search(text) for pattern in rule.compiled for text in texts):
            return rule
    return None


def _named_type(proposal: Proposal) -> MemoryType | None:
    """The type that `metadata["category"]` or `metadata["type"]` names."""
    for name in ("category", "type"):
        value = proposal.metadata.get(name)
        if isinstance(value, str) and value in MEMORY_TYPES:
            return value  # type: ignore[return-value]
    return None


def _metadata_values(proposal: Proposal) -> frozenset[str]:
    return frozenset(
        plain(value) for value in proposal.metadata.values() if isinstance(value, str) and len(value) <= 200
    )


# ------------------------------------------------ slot


def _find_slot(policy: MemoryPolicy, proposal: Proposal, read: tuple[Clause, ...], memory_type: str) -> _Slot | None:
    """The first slot a rule finds; one that only takes a value back gives way to one that says a value."""
    over: _Slot | None = None
    # What a fact says first decides; a predicate that only shares its subject is asked where the rest says nothing.
    for shared in (False, True):
        asked = tuple(clause for clause in read if clause.shared == shared)
        for rule in policy.slot_rules if asked else ():
            if rule.says_value and len(read) > 1:
                continue  # a fact that says more than the attribute must not go with its value
            if _is_barred(rule, proposal, memory_type):
                continue
            if proposal.place is not None and not _reads_clauses_of(proposal.place, rule):
                continue
            for clause in asked if shared else _with_whole(rule, proposal, asked):
                found = _match(rule, proposal, clause)
                if found is not None and found.negates is None:
                    return found
                over = over or found
    return over


def _is_barred(rule: SlotRule, proposal: Proposal, memory_type: str) -> bool:
    """Whether a rule is not for memories of the type the caller gave."""
    return bool(rule.memory_types) and proposal.memory_type is not None and memory_type not in rule.memory_types


def _attribute_slot(
    policy: MemoryPolicy, proposal: Proposal, read: tuple[Clause, ...], memory_type: str
) -> _Slot | None:
    """The slot that a triple about the user names by its attribute, where its text states what is so."""
    if proposal.attribute is None or proposal.subject is None or not is_self(proposal.subject, proposal.user_name):
        return None
    rule = policy.slot_of(proposal.attribute)
    if rule is None or _is_barred(rule, proposal, memory_type):
        return None
    states = [clause.mood in SLOT_MOODS and (proposal.ended or not _is_over(clause.canonical)) for clause in read]
    return _Slot(rule, normalise_key(rule.slot), SELF, None) if states and all(states) else None


def _is_over(canonical: str) -> bool:
    """Whether a statement says what was so, and no longer is."""
    return taken_back(canonical) is not None or _PAST.search(canonical) is not None


_SECTIONS: Final = frozenset(("section", "section_duty"))
_PARTIES: Final = frozenset(("party_duty",))


def _names_section(rule: SlotRule) -> bool:
    return not _SECTIONS.isdisjoint(rule.groups)


def _reads_clauses_of(place: Place, rule: SlotRule) -> bool:
    """Whether a rule reads a document there: those of clauses only by their section, which two parties' may share."""
    return place.section is not None if _names_section(rule) else _PARTIES.isdisjoint(rule.groups)


def _with_whole(rule: SlotRule, proposal: Proposal, read: tuple[Clause, ...]) -> Iterator[Clause]:
    """The clauses a rule reads; for a rule whose slot names its subject also the fact as a whole."""
    yield from read
    if rule.subject == "named" and len(read) > 1 and all(clause.mood in SLOT_MOODS for clause in read):
        text = plain(proposal.fact[:WINDOW])
        yield Clause(proposal.fact[:WINDOW], text, text, UNKNOWN, "statement", 0, len(proposal.fact))


def _match(rule: SlotRule, proposal: Proposal, clause: Clause) -> _Slot | None:
    if clause.mood not in SLOT_MOODS or (rule.subject == "self" and _MORE.search(clause.canonical)):
        return None
    if courses.is_in_part(clause.canonical):
        return None
    owner = _owner(rule, proposal, clause)
    if owner is None:
        return None
    section = proposal.place.section if proposal.place is not None and _names_section(rule) else None
    texts: tuple[str, ...] = (
        (clause.canonical, clause.compared) if clause.canonical != clause.compared else (clause.compared,)
    )
    over = None if proposal.ended else _over(rule, clause.canonical)
    if over is not None:
        return _match_over(rule, clause, over, owner, texts, section)
    if not proposal.ended and _PAST.search(_CANNOT_NOW.sub(r"\1", clause.canonical)):
        return None
    plainer = frames.plainer(clause.canonical)
    if plainer != clause.canonical and not rule.says_value:
        texts = (*texts, plainer)
    if proposal.ended:
        texts = (*texts, *filter(None, [was_true(clause.canonical)]))
    for text in texts:
        slot = _fill(rule, clause, text, section)
        if slot is not None:
            return None if slot[0] in _MEASURES and owner != SELF else _Slot(rule, slot[0], owner, None)
    return None


_MEASURES: Final = frozenset(("profile:age", "profile:height", "profile:weight"))
"""Of somebody else it may be that of another: there are many sons, brothers and friends."""


def _over(rule: SlotRule, canonical: str) -> str | None:
    """What a statement says no longer holds, as a rule reads it."""
    over = taken_back(canonical)
    return frames.was_so(canonical) if over is None and rule.says_value else over


def _match_over(
    rule: SlotRule, clause: Clause, over: str, owner: str, texts: tuple[str, ...], section: str | None
) -> _Slot | None:
    """A statement that something no longer holds: it shares the slot, and says which value it takes back."""
    if rule.says_value:
        slot = _fill(rule, clause, over) or _fill(rule, clause, frames.was_so(clause.canonical) or "")
        return None if slot is None else _Slot(rule, slot[0], owner, slot[1])
    if rule.groups:
        if _USED_TO.search(clause.canonical):
            return None
        tried = (*texts, over)
        slots = [slot for text in tried if (slot := _fill(rule, clause, text, section)) is not None]
        return _Slot(rule, slots[0][0], owner, None) if slots else None
    slot = _fill(rule, clause, over)
    return _Slot(rule, slot[0], owner, slot[1]) if slot is not None and slot[1] else None


def _owner(rule: SlotRule, proposal: Proposal, clause: Clause) -> str | None:
    """Whose the slot would be: "self", a stated subject, a document, or None when that is not known."""
    if proposal.place is not None and _names_section(rule):
        return normalise_key(proposal.place.document)
    if proposal.subject is not None:
        return SELF if is_self(proposal.subject, proposal.user_name) else normalise_key(proposal.subject)
    if rule.subject == "named" or clause.subject == SELF:
        return SELF
    if clause.mood == "command" and proposal.role in ("user", None):
        return SELF
    return None


# A clause inside the clause, or another subject before the words that matched: "user visited a friend who lives in".
_INNER: Final = regex(
    r"\b(?:who|whom|whose|which|that|where|because|since|while|when|after|before|how|why|whether|he|she|they|it"
    r"|(?:user's|my|his|her|their|our|the|a|an) [\w-]+)\b"
)


def _fill(rule: SlotRule, clause: Clause, text: str, section: str | None = None) -> tuple[str, str | None] | None:
    """The slot with its groups filled in, and the value that is not in it; None where something is missing.

    A clause of a document is read as if it named its section, and filed under that and what it obliges somebody to.
    """
    text = text if section is None else f"{_UNDER}{text}"
    for pattern in rule.compiled:
        match = pattern.search(text[:WINDOW])
        if match is None or (rule.subject == "self" and _INNER.search(text[: match.start()])):
            continue
        if not rule.groups and _DENIED.search(text[: _said(match)]):
            continue
        values: dict[str, str] = {}
        for name, found in match.groupdict().items():
            check = CHECKS.get(name)
            if found is not None and section is not None and name in _SECTIONS:
                value: str | None = _of_section(section, clause)
            else:
                value = found if found is None or check is None else check(found, clause.text, clause.canonical)
            if value is None and (name in rule.groups or check is not None):
                break
            values[name] = normalise_key(value or "")
        else:
            if all(values.get(name) for name in rule.groups):
                rest = [value for name, value in values.items() if name not in rule.groups and value]
                return normalise_key(rule.slot.format_map(values)), (rest[-1] if rest else None)
    return None


_UNDER: Final = "section 1: "
"""What a clause of a document is read with, so that a pattern finds a section; its number is put in afterwards."""


def _of_section(section: str, clause: Clause) -> str:
    """A section of a document and what a clause there is about, since one section may say several things."""
    obliged = duty(clause.canonical, section)
    return f"{section}:{obliged}" if obliged else section


def _said(match: re.Match[str]) -> int:
    """Where a match begins to say its value: a "not" before it denies the value, one after it does not."""
    starts = [match.start(name) for name in match.groupdict() if match.group(name) is not None]
    return min(starts) if starts else match.end()


_PART_OF_TOWN: Final = regex(
    r"^ in (?:(?:the |a )?(?:city |town |historic )?(?:heart|cent(?:er|re)|middle|suburbs?|outskirts|north|south|east|"
    r"west) of |(?:downtown|central|north|south|east|west|northern|southern|eastern|western|greater|inner) )"
)
"""Who does not live in the middle of a town may live in the town."""
_MORE: Final = regex(r"(?:\b(?:not|no longer)|n't) (?:just|only|merely|simply|solely|exclusively)\b")
"""Who is not just a nurse is one."""
_NOT_FOR: Final = regex(r"\bnot (?!.*\b(?:any ?more|any longer|now)\b).* (?:because|unless|until)\b")
"""Who does not work there because of the money may work there."""
_ANY_MORE: Final = regex(r"\s*,?\s*\b(?:any ?more|any longer|nowadays|these days|at all|after all)\b")
_USED_TO: Final = regex(r"\b(?:used to|formerly|previously)\b")
_DENIED: Final = regex(r"\b(?:not|never|no longer|cannot|n't|neither|nor)\b(?! only\b| just\b)")
_CANNOT_NOW: Final = regex(r"(\buser (?:cannot|can't|can not|must not) .+?),? any ?(?:more|longer)$")
"""What is so now, and was not before: who cannot eat gluten any more has to avoid it."""
_PAST: Final = regex(
    r"\b(?:used to|formerly|previously|any ?more|in the past|back then|at (?:the|that) time|grew up|"
    r"as a (?:child|kid|teenager|student)|when (?:i|user) was|stopped|once lived|years? ago (?:i|"
    r"user) (?:lived|worked))\b"
)
_OVER: Final = (
    (
        regex(
            r"^(user) (?:no longer|doesn't|does not|do not|don't|did not) (?:still |actually |really |"
            r"currently |even |now )?([a-z]+)\b(?! (?:yet)\b)(.*)$"
        ),
        "verb",
    ),
    (regex(r"^(user) (?:used to|formerly used to) ([a-z]+)\b(.*)$"), "verb"),
    (regex(r"^(user) (?:formerly|previously) (lived|resided)\b(.*)$"), "lived"),
    (regex(r"^(user) (?:has )?(?:stopped|quit) (living|residing)\b(.*)$"), "lived"),
    (regex(r"^(user) (?:\w+ )?(?:moved|relocated) (?:away|out|back) (?:from|of) ((?:(?! to )[^,;])*)()$"), "left"),
    (regex(r"^(user) (?:\w+ )?(?:moved|relocated) from ((?:(?! to )[^,;])*)()$"), "left"),
    (regex(r"^(user) (?:has )?left (.*?)(?: for good| permanently| forever)()$"), "left"),
    (regex(r"^(user(?:'s [\w -]{1,60}?)?) (?:is|was) (?:not|no longer|never)((?: any ?more)?) (.*)$"), "be"),
    (regex(r"^(user(?:'s [\w -]{1,60}?)?) (?:isn't|wasn't|ain't)() (.*)$"), "be"),
    (regex(r"^(user's [\w -]{1,60}?) used to be()(.*)$"), "be"),
    (
        regex(
            r"^([\w'.-]{1,30}(?: [\w'.-]{1,30})?) (?:is (?:not|no longer)|isn't|stopped being)() "
            r"(?:user's|my) (manager|boss|supervisor)(?: any ?more| now| these days)?$"
        ),
        "role",
    ),
)


@lru_cache(maxsize=1024)
def taken_back(canonical: str) -> str | None:
    """What a statement says no longer holds, as a statement: "user no longer lives in oslo" → "user lives in oslo"."""
    if _MORE.search(canonical) or _NOT_FOR.search(canonical):
        return None
    for pattern, kind in _OVER:
        match = pattern.match(canonical)
        if match is None:
            continue
        who, verb, rest = (part or "" for part in match.groups())
        if kind == "verb" and _PART_OF_TOWN.match(rest):
            return None
        if kind == "role":
            return f"user's {rest} is {who}"
        if kind == "left":
            return f"{who} lives in {verb}".strip()
        if kind == "lived":
            return f"{who} lives{_ANY_MORE.sub('', rest)}"
        if kind == "be":
            return f"{who} is {_ANY_MORE.sub('', rest).strip()}"
        word = (
            verb
            if pattern is _OVER[0][0] and verb.endswith("s") and "no longer" in canonical
            else verbs.third_person(verb)
        )
        return f"{who} {word}{_ANY_MORE.sub('', rest)}"
    return None


def was_true(canonical: str) -> str | None:
    """A past state as if it were present, for statements whose end the caller gave: "user "
    "lived in" → "user lives in"."""
    over = taken_back(canonical)
    if over is not None:
        return over
    match = re.match(r"^(user) (lived|resided)\b(.*)$", canonical)
    if match:
        return f"user lives{match.group(3)}"
    match = re.match(r"^(user's [\w -]{1,60}?) was\b(.*)$", canonical)
    return f"{match.group(1)} is{match.group(2)}" if match else None


# ------------------------------------------------ value


def value_of(policy: MemoryPolicy, fact: str, conflict_key: str | None) -> str | None:
    """The value that a fact about the user gives the slot of its key; None where it gives none or takes one back."""
    if conflict_key is None or not conflict_key.startswith("slot:"):
        return None
    proposal = Proposal(fact)
    read = tuple(_read(proposal))
    if len(read) != 1:
        return None
    for rule in policy.slot_rules:
        for text in dict.fromkeys((read[0].canonical, read[0].compared, frames.plainer(read[0].canonical))):
            if read[0].mood not in SLOT_MOODS or _over(rule, read[0].canonical) is not None:
                continue
            slot = _fill(rule, read[0], text)
            if slot is not None and f"slot:{slot[0]}" == conflict_key:
                return slot[1]
    return None


def says_it_is_over(policy: MemoryPolicy, fact: str) -> bool:
    """Whether a fact about the user only says that something no longer holds."""
    read = tuple(_read(Proposal(fact)))
    return len(read) == 1 and any(_over(rule, read[0].canonical) is not None for rule in policy.slot_rules)


_GOES_ON: Final = regex(r"\bstill\b")
_PASSING_WORDS: Final = 4
"""Of what goes on a few words beside it tell nothing that was not so before: "still learning Spanish, slowly"."""
_FRAME_WORDS = """
    user user's still now again currently remains stays continues is are am a an the in at for as by with of to my
    i as said mentioned you know live lives living home city reside resides based work works working employed job
    employer company report reports manager boss supervisor called named name use uses using drive drives driving
    keep keeps keeping notes note take takes go goes gym partner favourite favorite colour color has have been
    follow follows eat eats diet by profession line directly both currently food dish meal film movie gp doctor title
    role from gets get got reads read weigh weighs weight
"""
_SAYS_NO_MORE: Final = frozenset(_FRAME_WORDS.split())
"""Words of the frames in which a value stands: a statement of these and the value says nothing beside it."""


def says_no_more(fact: str, known: str, value: str, key: str | None = None) -> bool:
    """Whether a fact that gives a value says nothing beside what a known one of the same key says."""
    said = plain(fact)
    if _GOES_ON.search(said[: asides.MAX_READ]):
        said = next((head for head in asides.left_out(said) if len(said[len(head) :].split()) <= _PASSING_WORDS), said)
    more = _bag(frames.plainer(said)) - _bag(known) - _bag(value) - _SAYS_NO_MORE
    more -= phrases.frame_words((key or "").removeprefix(frames.PROFILE))
    return {stem(word) for word in more} <= {stem(word) for word in _bag(known)}


def _bag(said: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w'.@-]*\w", plain(said).replace(":", " ")))


# ------------------------------------------------ key


def _subject(proposal: Proposal, read: tuple[Clause, ...], found: _Slot | None) -> str | None:
    """Whose the memory is: as the caller says, else as its first clause says; "user" for the user."""
    if proposal.subject is not None:
        return "user" if is_self(proposal.subject, proposal.user_name) else normalise_key(proposal.subject)
    if found is not None and found.rule.subject == "self":
        return "user"
    if not read or read[0].subject == UNKNOWN:
        return None
    return "user" if read[0].subject == SELF else read[0].subject


def _slot_of(found: _Slot) -> str:
    return _bounded(found.slot if found.owner in (SELF, None) else f"{found.slot}@{found.owner}", SLOT_BYTES)


def _bounded(key: str, most: int) -> str:
    """A key of at most so many bytes: of a longer one its beginning, and a hash by which it is told from others. Pure.

    What is evened out may be many times as long as what was said: one sign may stand for a sentence.
    """
    said = key.encode()
    if len(said) <= most:
        return key
    digest = sha256(said).hexdigest()
    return f"{said[: most - len(digest) - 1].decode(errors='ignore')}#{digest}"


def _pinned(policy: MemoryPolicy, proposal: Proposal, found: _Slot | None, memory_type: str) -> str | None:
    """The critical slot: the caller's, the rule's where it is about the user or names its subject, or the type's."""
    if proposal.critical_slot:
        return normalise_key(proposal.critical_slot)
    about = found is not None and (found.owner == SELF or found.rule.subject == "named")
    if found is not None and about and found.rule.critical and found.negates is None:
        return _slot_of(found)
    return f"type:{memory_type}" if memory_type in policy.critical_types else None


def _key(policy: MemoryPolicy, proposal: Proposal, found: _Slot | None, slot: str | None) -> str | None:
    """The conflict key, as long as a row can hold it."""
    key = _whole_key(policy, proposal, found, slot)
    return None if key is None else _bounded(key, KEY_BYTES)


def _whole_key(policy: MemoryPolicy, proposal: Proposal, found: _Slot | None, slot: str | None) -> str | None:
    """The conflict key: the caller's topic, a functional attribute of a subject, or the slot, in this order."""
    if proposal.topic_key:
        return f"topic:{normalise_key(proposal.topic_key)}"
    if proposal.subject and proposal.attribute and not _is_slot_of_user(proposal, found):
        attribute = normalise_key(proposal.attribute)
        if attribute in policy.functional:
            owner = "user" if is_self(proposal.subject, proposal.user_name) else normalise_key(proposal.subject)
            return f"fact:{owner}:{attribute}"
    if proposal.critical_slot and slot:
        named = proposal.subject is not None and not is_self(proposal.subject, proposal.user_name)
        return f"slot:{slot}@{normalise_key(str(proposal.subject))}" if named else f"slot:{slot}"
    return f"slot:{_slot_of(found)}" if found is not None else None


def _is_slot_of_user(proposal: Proposal, found: _Slot | None) -> bool:
    """Whether a triple about the user says what a slot says: then both must meet under one key, the slot's."""
    if found is None or found.owner != SELF or proposal.attribute is None:
        return False
    return normalise_key(proposal.attribute) == normalise_key(found.rule.attribute or "")
