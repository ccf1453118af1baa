"""One subject, several predicates: "I'm allergic to peanuts and live in Ottawa" says two things. Pure.

`split()` cuts a clause where a new predicate of the same subject begins, and says which words that predicate is given
from the left ("I", "My sister", "I'm"). It cuts only where the words after the "and" must be a predicate that agrees
with the subject of the clause: "tea and coffee", "rock and roll", "work and play" stay whole. It does not cut

- inside a subordinate clause ("because I like snow and hate heat", "who lives in Rome and works as a nurse"),
- where the words before may govern the verb after ("want to quit and live in Rome", "can't live here and work there"),
- before a predicate that undoes or refers back to what was said ("moved to Rome but came back", "bought a car and
  love it"), since neither half would be true or understood alone.

A doubt leaves the clause whole. A cut too few costs a separate memory; a cut too many makes the user say what they
never said.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from engram.english import names, verbs
from engram.english.phrases.words import INSTRUMENTS, SPORTS
from engram.regex import regex
from engram.wordlists import word_set

Person = Literal["i", "we", "one", "many"]
Kind = Literal["finite", "bare", "past", "shared", "having"]
MOST: Final = 6
"""Predicates taken from one clause; more is a list, not a sentence."""
_MOST_JOINTS: Final = 40  # of a clause that are looked at, whether something begins there


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate: its characters in the clause, and the subject it is given from the left ("" for the first)."""

    start: int
    end: int
    given: str = ""
    joint: str = ""


class _Token(NamedTuple):
    word: str  # in small letters
    start: int
    end: int
    capital: bool


class _Subject(NamedTuple):
    """Who the clause is about: its words, its person, and where its predicate and its verb begin among the tokens."""

    start: int
    text: str
    person: Person
    first: int
    verb: int
    be: str  # "I'm" of "I'm allergic"; "" where the verb is not a form of be
    lead: str  # "Last month" of "Last month I moved"


# ------------------------------------------------ words that begin a predicate

# Never a noun in front of an object: "hate coffee", "have two cats".
_STRONG: Final = word_set(
    "have hate prefer eat speak teach own enjoy dislike adore wear avoid suffer attend go come do know manage "
    "maintain raise collect need belong bake sing struggle earn spend volunteer want love reside loathe possess lack "
    "freelance tutor coach"
)
# Nouns too: "work at Acme" is a predicate, "work" and "work clothes" are not.
_WEAK: Final = word_set(
    "live work like drink play run study drive visit cook travel commute walk cycle swim paint hope plan rent "
    "train code practise practice report smoke hike garden dance fish sleep lead write read sell build grow breed "
    "miss support share watch use take get keep stay fear"
)
_LEXICON: Final = _STRONG | _WEAK
_PREPOSITIONS: Final = {
    "live": word_set(
        "in at near with alone on by downtown outside close just there here off above below under between abroad behind"
    ),
    "work": word_set("at as for in on from with remotely part-time full-time nights freelance mostly there here"),
    "report": word_set("to"),
    "commute": word_set("to by from in daily every"),
    "stay": word_set("in at with"),
    "travel": word_set("to for often every"),
    "study": word_set("at in for"),
    "volunteer": word_set("at for in with"),
    "walk": word_set("to"),
    "train": word_set("for at in"),
    "play": word_set("in for with"),
    "run": word_set("every"),
    "smoke": word_set("about"),
    "drive": word_set("to"),
    "cycle": word_set("to"),
}
_OBJECTS: Final = {
    "like": word_set("short shorter concise brief detailed long longer"),
    "drink": word_set("coffee tea wine beer alcohol milk water soda whisky whiskey juice decaf only"),
    "play": SPORTS | INSTRUMENTS | word_set("chess poker"),
    "study": word_set("law medicine biology physics chemistry history economics maths math engineering art psychology"),
    "run": word_set("marathons ultras daily"),
    "smoke": word_set("cigars cigarettes weed"),
    "drive": word_set("trucks taxis buses"),
}
# After "she" no nouns: "likes maths".
_NEVER_PLURAL: Final = word_set("like read write sell grow keep get take miss stay")
_SPORTS: Final = word_set("swim run cycle hike walk dance paint train travel cook garden fish")
_BARELY: Final = word_set("songs stories letters poems life affair of for from and or island since")  # "love songs"
_DETERMINERS: Final = word_set(
    "a an the my our his her their its some any no every each all several many few two three four five six seven "
    "eight nine ten twelve both more most another user's"
)
_OBJECTIVE: Final = word_set("it them him her you me this that")
_PAST: Final = word_set(
    "moved relocated started joined got bought became had went quit switched adopted sold studied worked lived grew "
    "graduated retired began took spent learned learnt met found ran finished visited founded built wrote settled "
    "stopped left changed used lost won broke developed"
)
_FINITE_I: Final = word_set(
    "would might could will should must am was had don't didn't can't cannot won't haven't wasn't couldn't hadn't did"
)
_FINITE_WE: Final = word_set(
    "would might could will should must are aren't were was had don't didn't can't cannot won't haven't weren't did"
)
_FINITE_ONE: Final = word_set(
    "would might could will should must is isn't has hasn't was wasn't had does doesn't didn't can't cannot won't "
    "couldn't hadn't did"
)
# After "don't" these are what somebody says of themselves; "don't suggest", "don't use" may be an order to the reader.
_OF_ONESELF: Final = word_set(
    "eat drink smoke like have want live work drive own know speak enjoy need care believe watch play cook sleep "
    "own mind trust tolerate do wear celebrate"
)
_ADVERBS: Final = word_set(
    "also now currently still never always usually often sometimes mostly just recently finally really actually "
    "nowadays presently rarely seldom generally absolutely secretly originally then"
)
_NOW: Final = word_set("now currently still nowadays presently")
# Verbs that never make an order to the reader: enough without an "and".
_PLAIN: Final = word_set("live lives reside resides am is")

_SHARED_BE = regex(
    r"(?:(?:also|now|currently|still|severely|highly|very|deathly|extremely|badly|mildly|slightly|happily|just)\s+)*"
    r"(?:allergic\s+to\b|(?:based|living|residing|settled)\s+(?:\w+\s+)?in\b|(?:lactose|gluten|fructose)[\s-]intolerant\b)",
    re.I,
)
_SHARED_HAVE = regex(
    r"an?\s+(?:(?:severe|mild|bad|serious|terrible|strong|slight|life-threatening)\s+)?"
    r"(?:allergy\s+to\b|[\w-]+(?:\s+[\w-]+)?\s+allergy\b)",
    re.I,
)
_SLOTTED = regex(
    r"(?:(?:also|now|currently|still|just|recently|finally|really|happily)\s+)*(?:(?:lives?|resides?)\s+(?:\w+\s+){0,2}?in\s+"
    r"|(?:am|is|'m)\s+(?:\w+\s+)?(?:allergic|based|living)\b|(?:moved|relocated)\s+(?:\w+\s+)?to\s+[^\W\d_]"
    r"|reports?\s+to\s+|allergic\s+to\b|(?:based|living|residing)\s+in\b"
    r"|(?:have|has)\s+(?:\w+\s+)?(?:lived|moved)\b|prefers?\s"
    r"|(?:have|has)\s+(?:an?\s+)?(?:[\w-]+\s+){0,2}allerg(?:y|ies)\b)",
    re.I,
)

# ------------------------------------------------ what forbids a cut

_JOINT = regex(r"(?:\s*,)?\s+(?:and\s+also|and\s+then|but\s+also|and|but|yet)\s+|\s*,\s+(?:then\s+)?(?=[^\W\d_])", re.I)
_SUBORDINATE = regex(
    r"\b(?:(?:because|who|whom|whose|which|that|where|if|unless|although|though|while|whenever|whether|how|why|what|so)\b|"
    r"(?:when|since|after|before|until|as|once|than|like)\s+(?:i|i'm|i've|we|my|our|he|she|they|it|you|the|user|"
    r"user's)\b)(?!\s+said\b)",
    re.I,
)
_BECAUSE = regex(r"\b(?:because|since)\s+(?:i'm|i|we're|we|user)\b", re.I)
_NEITHER = regex(
    r"\b(?:neither|either|both|not\s+only|between|nothing|anything|everything|all)$|\b(?:neither|either|not\s+only)\b",
    re.I,
)
_NEGATED = regex(r"\b(?:not|never|no\s+longer|\w+n't|cannot|nor|hardly|rarely|seldom|without)\b", re.I)
_NOT_DO = regex(r"^(?:do\s+not|don't|does\s+not|doesn't|never)\s+(\w+)", re.I)
_MODAL = regex(r"\b(?:can|can't|cannot|will|won't|would|could|might|must|should|shall|may|\w+'ll|\w+'d)\b", re.I)
_CAUSES = regex(r"\b(?:help|helps|let|lets|make|makes|made|watch|watched|see|saw|hear|heard|helped)\b", re.I)
_GOVERNORS: Final = word_set(
    "want wants wanted need needs needed plan plans planned hope hopes hoped like likes love loves hate hates prefer "
    "prefers decided going have has had used try tries tried trying able ready ought supposed about wish wishes "
    "expect intend aim learn learning started began continue refuse refused forgot remember happy glad excited "
    "eager chose way time chance opportunity happen agreed promised managed afford wait tend mean how where what "
    "quit hoping planning wanting willing looking choose decide got due determined nervous scared afraid born"
)
_NOT_VERBS: Final = word_set(
    "the a an my our his her their this that these those it them him me you us school college church bed"
)
_MOTION: Final = word_set(
    "go went goes going walk drive cycle bike commute get got bus back due thanks according close next"
)
_BACK = regex(
    r"\b(?:(?-i:[Ii]t)|there|them|they|he|she|him|here|you|me|itself)\b|\b(?:this|that|these|those)\b"
    r"(?!\s+(?:year|month|week|summer|spring|winter|fall|autumn|morning|monday|tuesday|wednesday|thursday|friday))"
    r"|\b(?:one|ones|so|mine|theirs)$",
    re.I,
)
_HERS = regex(r"\b(?:her|his|their)\b", re.I)
_UNDONE = regex(
    r"(?:(?:then|later|soon|quickly|eventually|now|just)\s+)*(?:came\s+back|returned|left(?:\s*$|\s+(?:after|for\s+good|"
    r"again|soon|within))|went\s+back|moved\s+(?:back|out|away|on)(?!\s+(?:to|from|of\b.*\bto)\b)|regretted|hated|gave\s+up|changed\s+my)",
    re.I,
)
_LIMIT = regex(
    r"\b(?:for\s+(?:the|this|a|one|two|three|\d+|a\s+few)\s+(?:\w+\s+)?(?:days?|weeks?|weekend|nights?|months?|summer|"
    r"winter|semester|term|season)|temporarily|back\s+then|at\s+the\s+time|as\s+a\s+(?:child|kid|teenager|student))\b",
    re.I,
)
_PARTICIPLES: Final = word_set(
    "named called based born located made used retired married divorced engaged tired interested worried dedicated "
    "diagnosed trained divided owned run set left built"
)
_BEFORE_PARTICIPLE: Final = word_set(
    "i'm im we're am is are was were be been being have has had get got i've we've a an the my our some of to with "
    "and very so do does don't doesn't didn't did can can't cannot will won't would "
    "just recently now finally already also never not his her their two three user's"
)
_INNER: Final = word_set(
    "is are was were has lives works likes loves wants said says moved will am thinks i we he she they it you"
)
_INNER_BARE: Final = word_set("live work like love want need have own hate")
_KNOWING: Final = word_set(
    "know believe feel guess mean bet realize realise notice see hear remember wish imagine knew"
)

_TOKEN = regex(r"[^\W_]+(?:['-][^\W_]+)*")
_APOSTROPHES: Final = {"’": "'", "‘": "'", "ʼ": "'", "＇": "'"}
_SPACES: Final = {chr(code): " " for code in range(0x3001) if chr(code).isspace()}
_ALIKE = str.maketrans(_APOSTROPHES | _SPACES)
"""One kind of apostrophe and of space, in their places."""
_QUICK = regex(r"(?i)[\s,](?:and|but|yet)\s|,\s")


@lru_cache(maxsize=4096)
def split(clause: str, place: int, lead: int) -> tuple[Predicate, ...]:
    """The predicates of a clause, in order; the whole clause where it holds one, or where that is in doubt.

    `place` is where the words that only lead in end, `lead` where a time in front ends ("Last month, I moved").
    """
    whole = (Predicate(0, len(clause)),)
    if _QUICK.search(clause) is None:
        return whole
    text = clause.translate(_ALIKE)
    tokens = _tokens(text)
    subject = _subject(text, tokens, place, lead)
    if subject is None:
        return whole
    cuts = _cuts(text, tokens, subject)
    if not cuts:
        return whole
    found: list[Predicate] = []
    start, given, joint = 0, "", ""
    for cut, opens, kind, word in cuts[: MOST - 1]:
        found.append(Predicate(start, cut, given, joint))
        start, joint = opens, word
        given = _given(text, tokens, subject, opens, kind)
    found.append(Predicate(start, len(clause), given, joint))
    return tuple(found)


def _given(text: str, tokens: list[_Token], subject: _Subject, opens: int, kind: Kind) -> str:
    """The subject, with the time in front of it where both predicates are in the same tense."""
    if kind == "shared":
        return subject.be
    if kind == "having":
        return f"{subject.text} {'has' if tokens[subject.verb].word == 'has' else 'have'}"
    if not subject.lead:
        return subject.text
    first = tokens[subject.verb].word
    was = verbs.is_past(first) or first in ("was", "were", "had")
    past = kind == "past" or re.match(r"(?:was|were|had|did|didn't|wasn't)\b", text[opens:]) is not None
    return f"{subject.lead} {subject.text}" if was == past else subject.text


_OTHER_JOINT = regex(
    r"(?=[\s,])(?:"  # most characters are neither
    r"(?:\s*,)?\s+(?:and\s+then|and|but|or|nor)\s+|\s*,\s+(?:then\s+)?(?=[^\W\d_]))",
    re.I,
)
_MYSELF: Final = word_set("i i'm im i've ive we we're we've")
# What somebody does: verbs that stand behind a joint with their object, though some are nouns elsewhere.
_ACTIONS: Final = word_set(
    "admire advise arrange ask bill boil borrow bring buy call carry catch check cherish chop clean close count "
    "deploy donate drop edit enter feed fix follow fry give grill groom harvest hear help hit host invest invite "
    "iron join jump kick leave lend lift load make meet mend mow open order organise organize owe pack pay phone "
    "pick plant post prepare publish pull put record rely repair respect ride roast rush save say schedule see send "
    "serve set shave ship shop show solve tell test throw treat trust turn unpack wash water wipe"
)
_DEEDS: Final = _LEXICON | _ACTIONS | verbs.COMMON
_NOUNS_TOO: Final = word_set(
    "iron clean water plant ship pull open order test lift fish load record bill check count fix drop hit jump kick "
    "ride roast shop show wash wipe book model work play run drink dance build report train code practise practice "
    "support share watch use rent plan hope visit study travel cycle swim hike smoke sell grow miss fear like garden "
    "drive land call carry catch close host post phone repair treat trust rush save plan paint travel love want need"
)
_CAUSED: Final = regex(
    r"\b(?:told|tells?|asks?|asked|wants?|helps?|makes?|made|lets?|reminds?|reminded|got|gets?)\b", re.I
)
_PARTICLES: Final = word_set("up out off down back in on away over to")
_ALSO_MINE: Final = word_set("am don't dont haven't")
_WHO: Final = regex(r"\b(?:who|which|that|people|those)\b", re.I)
_WHAT_HAPPENS: Final = word_set(
    "regret miss feel hear see sleep stay go plan intend expect understand recognise remember"
)
_MAX_JOINED: Final = 300  # characters: a longer clause is no list of what somebody does
_SECOND = regex(r"\b(?:where|that|because|when|while|if|who|which|whose|since|though|although|so)\b")


def joined(clause: str) -> frozenset[int]:
    """Where verbs stand that go on with "I" after an "and" and take its ending: "I study law and teach piano".

    After a comma they do where more is to come ("I wake up, make coffee and read"), or behind a "then".
    """
    if len(clause) > _MAX_JOINED or _OTHER_JOINT.search(clause) is None:
        return frozenset()
    text = clause.translate(_ALIKE)
    tokens = _tokens(text)
    found: set[int] = set()
    waiting: list[int] = []  # verbs after a comma
    places = {token.start: n for n, token in enumerate(tokens)}
    for joint in _OTHER_JOINT.finditer(text):
        at = next((n for n in reversed(range(len(tokens))) if _is_subject(tokens, n, joint.start())), None)
        opened = places.get(joint.end())
        if at is None or opened is None or at + 1 >= len(tokens):
            continue
        subject = _first_person(text, tokens, at, "")
        start = tokens[waiting[-1] if waiting else subject.first].start
        left = _Left(text[start : joint.start()], tokens, subject, start, joint.start())
        word = " ".join(joint.group().replace(",", " ").lower().split())
        verb = _goes_on(tokens, opened, left, word, listed=bool(waiting))
        if verb is None:
            waiting = []
        elif word == "":
            waiting.append(verb)
        else:
            found.update(tokens[one].start for one in (*waiting, verb))
            waiting = []
    return frozenset(found)


def is_compound(before: str) -> bool:
    """Whether the words before an "I" are somebody who does it too: "My wife and", not "Ann cooks and".

    They are a statement where they have a verb of their own.
    """
    before = before[-_MAX_JOINED:]
    before = before[max((found.end() for found in _SECOND.finditer(before)), default=0) :]
    tokens = _tokens(before.translate(_ALIKE))
    for n, token in enumerate(tokens):
        if token.capital and n:
            continue  # "my husband Will and I"
        if token.word in _FINITE_ONE or token.word in _FINITE_WE or token.word in ("does", "did", "do", "i", "it"):
            return False
        acts = n > 0 and (verbs.is_past(token.word) or verbs.base_form(token.word) in _DEEDS)
        if acts and not (tokens[n - 1].word in _DETERMINERS or before[tokens[n - 1].end : token.start].strip()):
            return False  # behind a determiner it is a noun: "my work and I"
    return True


def is_verb(word: str) -> bool:
    """Whether a word in small letters may be a verb in the form after "she", or in the past."""
    return verbs.is_past(word) or (word.endswith("s") and verbs.base_form(word) in _DEEDS)


def is_third(word: str) -> bool:
    """Whether a word may be a verb in the form after "she"."""
    return word.endswith("s") and not word.endswith("ss") and verbs.base_form(word.casefold()) in _DEEDS


def _is_subject(tokens: list[_Token], n: int, before: int) -> bool:
    return tokens[n].end <= before and tokens[n].word in _MYSELF and (n == 0 or tokens[n - 1].word not in ("and", "me"))


def _goes_on(tokens: list[_Token], at: int, left: _Left, joint: str, *, listed: bool) -> int | None:
    """The verb after a joint that goes on with the subject of the left; None where that is in doubt.

    `listed` where one after a comma is waiting already.
    """
    denied = re.match(r"(?:do\s+not|don't|dont|didn't)\b", left.text, re.I) is not None
    while at + 1 < len(tokens) and tokens[at].word in _ADVERBS:
        at += 1
    word = tokens[at].word
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    past = verbs.is_past(tokens[left.subject.verb].word)
    if word in _ALSO_MINE or (word == "do" and following is not None and following.word == "not"):
        of_me = following is not None and (word in ("am", "haven't") or _is_of_oneself(tokens, at))
        free = not (_holds_clause(left) or _WHO.search(left.text))
        return at if of_me and joint in ("and", "but") and free else None
    if not left.text or _governed(left) or (denied and joint != "but"):
        return None
    if word not in _DEEDS or verbs.is_past(word) or (past and word in verbs.SAME_IN_PAST):
        return None
    if _lacks_object(left) and not denied:
        return None if past or (joint == "" and not _is_bare(tokens, at)) else at
    if joint in ("or", "nor") and not listed:
        return at if joint == "nor" else None
    if _holds_clause(left):
        return None
    if joint.endswith("then") and _CAUSED.search(left.text):
        return None  # "I told Ann to wait, then call me"
    if (joint.endswith("then") or (denied and joint == "but") or (listed and word not in _NOUNS_TOO)) and not past:
        return at
    shown = following is not None and following.word not in ("and", "or", "but", "of")
    return at if shown and following is not None and _is_done(word, following, tokens, at, joint) else None


def _is_of_oneself(tokens: list[_Token], at: int) -> bool:
    """Whether "don't" at a place denies what somebody does, and gives no order: "don't eat", not "don't suggest"."""
    after = next((one.word for one in tokens[at + 1 :] if one.word != "not" and not verbs.is_adverb(one.word)), "")
    return after in _OF_ONESELF or after in _WHAT_HAPPENS


def _is_bare(tokens: list[_Token], at: int) -> bool:
    """Whether a verb after a comma has nothing behind it but the next one: "I cook, clean and iron"."""
    return at + 1 < len(tokens) and (tokens[at + 1].word == "and" or tokens[at + 1].word in _DEEDS)


def _is_done(word: str, following: _Token, tokens: list[_Token], at: int, joint: str) -> bool:
    """Whether what follows a verb that may be a noun shows that it is one: "pick up the kids", "make coffee"."""
    if (word in _LEXICON and _completes(word, following, joint or "and")) or (word == "go" and following.word == "for"):
        return True
    if word in _STRONG or word not in _ACTIONS | verbs.COMMON:
        return False
    if following.word in _PARTICLES and at + 2 < len(tokens):
        following = tokens[at + 2]
    return (
        following.word in _DETERMINERS
        or following.word in _OBJECTIVE
        or following.word.isdigit()
        or (joint == "" and word not in _NOUNS_TOO)
    )


def _tokens(text: str) -> list[_Token]:
    return [_Token(m.group().lower(), m.start(), m.end(), m.group()[0].isupper()) for m in _TOKEN.finditer(text)]


# ------------------------------------------------ subject


def _subject(text: str, tokens: list[_Token], place: int, lead: int) -> _Subject | None:
    at = next((n for n, token in enumerate(tokens) if token.start >= lead), None)
    if at is None or at + 1 >= len(tokens):
        return None
    before = text[place:lead].strip(" ,")
    first = tokens[at]
    if first.word in ("i", "i'm", "im", "i've", "ive", "we", "we're", "we've"):
        return _first_person(text, tokens, at, before)
    if first.word in ("my", "our", "user's") or (first.word == "the" and tokens[at + 1].word in ("user", "user's")):
        return _owned(text, tokens, at, before)
    if first.word == "user" or first.capital:
        return _named(text, tokens, at, before)
    return None


def _first_person(text: str, tokens: list[_Token], at: int, lead: str) -> _Subject:
    token = tokens[at]
    person: Person = "we" if token.word.startswith("we") else "i"
    name = "We" if person == "we" else "I"
    if token.word in ("i'm", "im", "we're"):
        return _Subject(token.start, name, person, at, at, "I'm" if person == "i" else "We're", lead)
    if token.word in ("i've", "ive", "we've"):
        return _Subject(token.start, name, person, at, at, "", lead)
    return _with_verb(text, tokens, at, at, person, lead)


def _with_verb(text: str, tokens: list[_Token], at: int, last: int, person: Person, lead: str) -> _Subject:
    """The subject that ends with the token `last`; its verb is the next word that is no adverb."""
    verb = last + 1
    while verb + 1 < len(tokens) and verbs.stands_before_verb(tokens[verb].word, tokens[verb + 1].word):
        verb += 1
    name = text[tokens[at].start : tokens[last].end]
    be = f"{name} {tokens[verb].word}" if tokens[verb].word in ("am", "is", "are") else ""
    return _Subject(tokens[at].start, name, person, last + 1, verb, be, lead)


def _owned(text: str, tokens: list[_Token], at: int, lead: str) -> _Subject | None:
    """A subject of the user's: "My sister", "My best friend", "My wife and I"."""
    if tokens[at].word == "the" and tokens[at + 1].word == "user":
        return _with_verb(text, tokens, at, at + 1, "one", lead) if at + 2 < len(tokens) else None
    joined = False
    start = at + 2 if tokens[at].word == "the" else at + 1
    for n in range(start, min(start + 6, len(tokens))):
        word = tokens[n].word
        gap = text[tokens[n - 1].end : tokens[n].start]
        if gap.strip():
            return None
        if n == start:
            continue
        if word in ("and", "&"):
            joined = True
        elif joined and word == "i" and n + 1 < len(tokens):
            return _with_verb(text, tokens, at, n, "we", lead)
        elif tokens[n - 1].word != "and" and not verbs.is_adverb(word):
            form = _form(word)
            if form is not None:
                plural = form == "bare" or joined or (form == "past" and _plural(tokens[n - 1].word))
                return _with_verb(text, tokens, at, n - 1, "many" if plural else "one", lead)
        elif verbs.is_adverb(word):
            return None
    return None


def _plural(word: str) -> bool:
    return (word.endswith("s") and not word.endswith("ss") and word != "boss") or word in (
        "children",
        "people",
        "twins",
    )


def _form(word: str) -> Literal["one", "bare", "past"] | None:
    """Whether a word is a verb in the form after "she", after "they", or in the past."""
    if word in ("is", "has", "does", "isn't", "hasn't", "doesn't") or (
        word.endswith("s") and word not in _LEXICON and verbs.base_form(word) in _LEXICON
    ):
        return "one"
    if word in ("are", "aren't", "have", "don't", "haven't") or word in ("live", "work", "own", "love", "like", "want"):
        return "bare"
    if word in ("was", "were", "had", "wasn't", "weren't", "didn't", "can't", "won't") or word in _PAST:
        return "past"
    return None


def _named(text: str, tokens: list[_Token], at: int, lead: str) -> _Subject | None:
    """A person by name in front of a verb: "Bob lives", "User moved"."""
    last = at
    while (
        last + 1 < len(tokens) and last < at + 2 and tokens[last + 1].capital and _form(tokens[last + 1].word) is None
    ):
        last += 1
    if last + 1 >= len(tokens) or (tokens[at].word in names.NOT_NAMES and tokens[at].word != "user"):
        return None
    subject = _with_verb(text, tokens, at, last, "one", lead)
    gap = text[tokens[last].end : tokens[subject.verb].start]
    return (
        subject
        if not gap.strip(" abcdefghijklmnopqrstuvwxyz") and _form(tokens[subject.verb].word) in ("one", "past")
        else None
    )


# ------------------------------------------------ cuts


def _cuts(text: str, tokens: list[_Token], subject: _Subject) -> list[tuple[int, int, Kind, str]]:
    """Where predicates end and begin, with the kind of the one that begins; commas only with more to come."""
    found: list[tuple[int, int, Kind, str]] = []
    start = tokens[subject.first].start
    number = subject.verb + 1
    for joint in itertools.islice(_JOINT.finditer(text, tokens[subject.verb].end), _MOST_JOINTS):
        while number < len(tokens) and tokens[number].start < joint.end():
            number += 1
        if number >= len(tokens) or tokens[number].start != joint.end():
            continue
        word = joint.group().strip(" ,").lower()
        left = _Left(text[start : joint.start()], tokens, subject, start, joint.start())
        kind = _opens(text, tokens, number, subject, left, word)
        if kind is None or not _may_cut(text, left, joint.end(), kind, subject):
            continue
        found.append((joint.start(), joint.end(), kind, word))
        start = joint.end()
    return _without_loose_commas(text, found)


def _without_loose_commas(text: str, cuts: list[tuple[int, int, Kind, str]]) -> list[tuple[int, int, Kind, str]]:
    """Without an "and" to come, a comma may begin an order or a greeting: "I live in Ottawa, have a nice day"."""
    kept: list[tuple[int, int, Kind, str]] = []
    joined = False
    for cut in reversed(cuts):
        joined = joined or cut[3] not in ("", "then")
        plain = _SLOTTED.match(text, cut[1]) or text[cut[1] :].split(" ")[0].lower() in _PLAIN
        if joined or plain:
            kept.append(cut)
    return kept[::-1]


class _Left(NamedTuple):
    """The predicate in front of a joint."""

    text: str
    tokens: list[_Token]
    subject: _Subject
    start: int
    end: int

    @property
    def be(self) -> bool:
        """Whether its verb is the form of be that stands with the subject: "I'm a nurse"."""
        return bool(self.subject.be) and self.start == self.tokens[self.subject.first].start

    def inside(self) -> list[_Token]:
        return [token for token in self.tokens if self.start <= token.start and token.end <= self.end]


def _opens(text: str, tokens: list[_Token], at: int, subject: _Subject, left: _Left, joint: str) -> Kind | None:
    """What kind of predicate of the subject begins at a token; None where none must."""
    place = tokens[at].start
    if left.be and _SHARED_BE.match(text, place) and (joint != "" or re.search(r"\b(?:an?|old)\b", left.text)):
        return "shared" if _be_goes_on(left, joint) else None
    if _SHARED_HAVE.match(text, place) and tokens[subject.verb].word in ("have", "has", "i've", "ive") and joint:
        return _shared_have(left)
    marked = False
    while at + 1 < len(tokens) and (tokens[at].word in _ADVERBS or tokens[at].word in ("no", "longer")):
        marked = marked or tokens[at].word in _NOW
        at += 1
    word = tokens[at].word
    adverb = tokens[at].start > place
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is None or following.word in ("and", "or", "but", "of"):
        return None
    auxiliary = {"i": _FINITE_I, "we": _FINITE_WE, "many": _FINITE_WE, "one": _FINITE_ONE}[subject.person]
    if word in auxiliary:
        return "finite" if _stands(word, following) else None
    if word in _PAST:
        return "past" if _completes(word, following, joint, past=True) else None
    base = word
    if subject.person == "one":
        base = verbs.base_form(word)
        if base == word:
            return None
    if base not in _LEXICON or not (adverb or _completes(base, following, joint, third=subject.person == "one")):
        return None
    return "finite" if marked else "bare"


def _stands(word: str, following: _Token) -> bool:
    """Whether what follows an auxiliary makes it a statement of the subject about themselves."""
    if word in ("don't", "doesn't"):
        return following.word in _OF_ONESELF or following.word in ("really", "actually")
    if word in ("would", "might", "could", "will", "should", "must"):
        return following.word not in _DETERMINERS and following.word not in ("in", "at", "of", "to", "for", "with")
    return following.word not in ("in", "at", "of") or word in ("am", "is", "are", "was", "were")


def _completes(base: str, following: _Token, joint: str, *, past: bool = False, third: bool = False) -> bool:
    """Whether the word after a verb that may be a noun shows that it is a verb."""
    word = following.word
    if past:
        return (
            word in _DETERMINERS
            or word in ("to", "from", "in", "at", "for", "into", "with", "up", "back", "as", "on", "house", "out")
            or word.endswith(("ing", "ed"))
            or following.capital
            or word.isdigit()
            or base in ("got", "became", "went", "left", "quit")
        )
    if base in _STRONG:
        return word not in _BARELY
    if word in _PREPOSITIONS.get(base, ()) or word in _OBJECTS.get(base, ()):
        return True
    if base in ("live", "work"):
        return False
    if third and base in _NEVER_PLURAL:
        return word not in _BARELY
    if base in _SPORTS and word in ("on", "every", "twice", "once", "daily"):
        return True
    shown = word in _DETERMINERS or word in _OBJECTIVE or word == "to" or word.isdigit() or following.capital
    return shown or (word.endswith("ing") and len(word) > 4) or (joint == "but" and word not in _BARELY)


def _be_goes_on(left: _Left, joint: str) -> bool:
    """Whether "I'm" of the left also carries the words after the joint."""
    words = [token.word for token in left.inside()]
    if _NEGATED.search(left.text) and joint not in ("but", "yet"):
        return False
    if _SUBORDINATE.search(left.text) or _NEITHER.search(left.text):
        return False
    gerunds = [n for n, word in enumerate(words) if word.endswith("ing") and len(word) > 4]
    return not gerunds or (len(gerunds) == 1 and gerunds[0] <= 2 and words[gerunds[0]] in _DOING)


_DOING: Final = word_set("working studying living training teaching doing staying freelancing volunteering")


def _shared_have(left: _Left) -> Kind | None:
    return None if _NEGATED.search(left.text) or _SUBORDINATE.search(left.text) else "having"


def _may_cut(text: str, left: _Left, place: int, kind: Kind, subject: _Subject) -> bool:
    """Whether the predicate that begins at a place can stand alone, and nothing on the left governs it."""
    right = text[place:]
    slotted = _SLOTTED.match(right) is not None
    if _NEITHER.search(left.text) or _UNDONE.match(right) or _LIMIT.search(right):
        return False
    if not slotted and _refers_back(right, subject):
        return False
    if kind in ("shared", "having"):
        return True
    if _SUBORDINATE.search(left.text) and not (
        slotted and _BECAUSE.search(left.text) and len(_SUBORDINATE.findall(left.text)) == 1
    ):
        return False
    if kind == "finite" and subject.person != "one":
        return not _holds_clause(left) or re.match(r"(?:also |now |still )?am\b", right) is not None
    denies = re.match(r"(?:never|always)\b", right, re.I) is not None
    if not denies and _negation_reaches(left, kind, slotted):
        return False
    if kind == "bare" and (_lacks_object(left) or (subject.person != "one" and _governed(left))):
        return False
    return not _holds_clause(left)


def _refers_back(right: str, subject: _Subject) -> bool:
    if _BACK.search(right):
        return True
    return subject.person in ("i", "we") and _HERS.search(right) is not None


def _negation_reaches(left: _Left, kind: Kind, slotted: bool) -> bool:
    """Whether a negation on the left may also deny the words after the joint: "I never drink and drive"."""
    if _NEGATED.search(left.text) is None:
        return False
    if kind == "past":
        return re.search(r"\b(?:never|haven't|hasn't|hadn't|not)\b", left.text, re.I) is not None
    if left.subject.person == "one":
        return re.search(r"\b(?:never|rarely|seldom|hardly)\b", left.text, re.I) is not None
    if left.be or (kind == "bare" and _PERFECT.match(left.text)):
        return False  # "I'm not vegan and live in Lyon": "live" cannot follow "I'm not" or "I've never"
    denied = _NOT_DO.match(left.text)
    return not (slotted and denied is not None and denied.group(1).lower() in _OF_ONESELF - {"live", "work", "want"})


_PERFECT = regex(r"(?:i've|ive|have|haven't|had|hadn't|was|wasn't)\s+(?!to\b)", re.I)


def _governed(left: _Left) -> bool:
    """Whether a verb on the left may govern a bare verb after the joint: "want to quit and live in Rome"."""
    inside = left.inside()
    if _MODAL.search(left.text) or (_CAUSES.search(left.text) and _acts(inside)):
        return True
    for n, token in enumerate(inside[:-1]):
        after = inside[n + 1].word
        if token.word != "to" or after in _NOT_VERBS or inside[n + 1].capital or after.endswith("ing"):
            continue
        governor = inside[n - 1].word if n else ""
        if governor in _GOVERNORS and after not in names.CITIES and not (governor in _MOTION and after == "work"):
            return True
        if (after in _LEXICON or after in _COMMON) and not (governor in _MOTION and after == "work"):
            return True
    return re.search(r"\b(?:gonna|wanna)\b", left.text, re.I) is not None


def _acts(inside: list[_Token]) -> bool:
    """Whether somebody in the left is made to do something: "I help people move"."""
    return any(
        after.word in (_LEXICON | _COMMON) and before.word not in _DETERMINERS
        for before, after in itertools.pairwise(inside[1:])
    )


_COMMON: Final = verbs.COMMON | word_set(
    "be become find see move settle quit leave start join change buy help meet earn save"
)


def _lacks_object(left: _Left) -> bool:
    """Whether the left is a bare verb that shares what follows the right one: "I live and work in Perth"."""
    inside = left.inside()
    rest = [token for token in inside if not verbs.stands_before_verb(token.word)]
    return len(rest) < 2 and not left.be


def _holds_clause(left: _Left) -> bool:
    """Whether the left holds another subject with a verb, to which the words after the joint may belong."""
    inside = left.inside()
    if any(token.word in _KNOWING for token in inside[:2]):
        return True
    for before, token in itertools.pairwise(inside):
        if before.word in _BEFORE_PARTICIPLE or verbs.is_adverb(before.word) or before.word in _LEXICON:
            continue
        if token.word in _INNER or (
            token.word in _INNER_BARE and before.word not in _DETERMINERS and before.word != "to"
        ):
            return True
        if verbs.is_past(token.word) and token.word not in _PARTICIPLES:
            return True
    return False
