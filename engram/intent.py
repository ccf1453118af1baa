"""From a question to what it asks for: its intent, its topic and its window, by rules that read its cues. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final, get_args

from engram import text
from engram.english import attributes, verbs, windows
from engram.regex import regex
from engram.values import Intent, Window

INTENTS: Final[tuple[Intent, ...]] = get_args(Intent)
OPENERS: Final = frozenset(
    {"hi", "hello", "hey", "hiya", "yo", "thanks", "thank", "thx", "cheers", "bye", "goodbye", "ok", "okay", "cool"}
    | {"great", "nice", "welcome", "good", "yes", "yeah", "yep", "no", "nope", "sure", "please", "lol", "haha", "wow"}
    | {"awesome", "perfect", "sorry", "hola", "hallo", "bonjour", "danke", "merci", "gracias", "ciao"}
)
SMALL_TALK: Final = OPENERS | frozenset(
    {"morning", "afternoon", "evening", "night", "day", "there", "you", "very", "much", "so", "a", "lot"}
    | {"all", "again", "everyone", "how", "are", "doing", "it", "s", "is", "going", "that", "job", "work", "one"}
)
_SAID_IN_PASSING: Final = regex(
    r"(?:and |so |well )?(?:how (?:are|r) (?:you|u|things)(?: doing| going)?|how(?:'s| is) (?:it|everything|life)"
    r"(?: going)?|(?:what'?s|wassup|what is) up|how do you do|(?:nice|good|pleased|great) to (?:meet|see) you|"
    r"see (?:you|ya)(?: later| soon| then)?|have a (?:nice|good|great|lovely) \w+|take care|well done|good luck|"
    r"(?:great|good|nice) (?:job|work|one)(?: well done)?|talk to you (?:soon|later)|never ?mind|you too|no problem)"
)

# Words of a question that say nothing of what it is about.
_EMPTY = """
    what when where which who whom whose why how what's when's where's who's that's it's he's she's not no yes ok okay
    really also too again else more just now please say said says tell told mean means happen happened happens go goes
    went come came anything something everything thing things other one ones same any some all ever here exactly
    know think remember long much many often happening going done doing made make makes get got getting
"""
EMPTY_WORDS: Final = text.STOP_WORDS | frozenset(_EMPTY.split())
# What points at something said before.
_POINTERS = "it its that this those these he she they him her his hers them their theirs there then one ones same"
POINTERS: Final = frozenset(_POINTERS.split())
PERSONS: Final = frozenset(("he", "she", "they", "him", "her", "his", "hers", "them", "their", "theirs"))
UNITS: Final = frozenset(("time", "date", "minute", "hour", "day", "night", "week", "month", "year"))
ASKING: Final = frozenset(("what", "which", "who", "whom", "whose", "where", "when", "why", "how"))
SELF: Final = frozenset(("i", "me", "my", "mine", "we", "us", "our", "you", "your"))

_ONE = r"(?:i|we|you|it|he|she|they|the user|that|this)"
_HOW_CHANGED = r"how (?:has|have|had|did) (?P<topic>.+?) (?:been )?(?:chang\w*|evolv\w*|develop\w*)(?: over time)?"
_HOW_IT_CHANGED = r"\bhow (?P<topic>.+?) (?:has|have|had) (?:been )?(?:chang\w*|evolv\w*|develop\w*)"
_HISTORY_OF = (
    r"(?:(?:what is|what's|show(?: me)?|give me|tell me) )?(?:the |my )?(?:full |whole )?"
    r"(?:(?<!\ba )(?<!any )(?<!no )(?<!family )(?<!medical )history|evolution|timeline|chronology) of (?P<topic>.+)"
)
_WHAT_CHANGED = r"\bwhat(?:'s| is| has| have)?(?: been)? chang(?:ed|ing) (?:about|in|with|on) (?P<topic>.+)"
_ALL_CHANGES = r"\b(?:changes|revisions|versions|edits|updates)(?: made)? (?:to|of) (?P<topic>.+)"
_ALL_HAD = (
    r"\b(?:all|every|each)(?: of)?(?: the| my| our)? (?P<topic>.+?) (?:that )?(?:i|we|you|he|she|they)"
    r"(?:'ve|'d| have| had)(?: ever)? (?:had|used|owned|held|lived|worked|been|tried)"
)
_SO_FAR = r"(?: (?:so far|until now|up to now|before|over the years|in my life))?[?.! ]*$"
_WHERE_SO_FAR = (
    r"\bwhere (?:have|has) (?:i|we|he|she|they|my [\w-]+) (?:all |ever |already |previously )?"
    rf"(?P<topic>(?:lived|worked|studied|banked|been (?:living|working|studying))){_SO_FAR}"
)
_WHICH_SO_FAR = (
    r"\b(?:what|which) (?P<topic>[\w' -]{2,30}? (?:have|has) (?:i|we|he|she|they|my [\w-]+) (?:ever |already )?"
    rf"(?:lived|worked|owned|used|driven|dated|held|studied|had))(?: (?:in|at|for|as|with))?{_SO_FAR}"
)
_OVER_TIME = r"(?P<topic>.+?) over (?:time\b(?! off)|the (?:years|months|weeks)\b)"
LINEAGE: Final = tuple(
    regex(pattern)
    for pattern in (
        _HOW_CHANGED,
        _HISTORY_OF,
        _HOW_IT_CHANGED,
        _WHAT_CHANGED,
        _ALL_HAD,
        _ALL_CHANGES,
        _OVER_TIME,
        _WHERE_SO_FAR,
        _WHICH_SO_FAR,
    )
)

_HOW_LONG = r"\bhow (?:long|much time|many (?:minutes|hours|days|nights|weeks|months|years))\b"
# What stands between two things without any time passing there.
_APART = (
    r"differen\w+|distance|relation\w*|connection|conflict|choose|choice|chose|decided?|compar\w+|agreement|"
    r"similarit\w+|conversation|discussion|talks?|chat|calls?|meeting|emails?|messages?|"
    r"switch\w*|far|border|link|room|split|trust"
)
OWN_TOPICS: Final[tuple[Intent, ...]] = ("lineage", "historical")  # how one asks for these says nothing of the topic
CHAIN: Final = tuple(
    regex(pattern)
    for pattern in (
        (
            r"\b(?:which|what|who|where)\b.*?\b(?:first|earlier|sooner|later|last)\b *[,:-]? *(?:of )?"
            r"(?P<a>.+?),? or (?P<b>.+)"
        ),
        r"\b(?:did|was|were) (?P<a>.+?) or (?P<b>.+?) (?:(?:come|happen|start|begin) )?(?:first|earlier|sooner)\b",
        rf"{_HOW_LONG}.*?\bbetween (?P<a>.+?) and (?P<b>.+)",
        rf"{_HOW_LONG}[^?]{{0,40}}?\b(?:after|before) (?P<a>.+?),? (?:did|was|were|had) (?P<b>.+)",
        (
            rf"{_HOW_LONG}(?!.*\b(?:take|takes|drive|walk|flight|ride|trip|commute|train|bus)\b).*?\bfrom (?P<a>.+?) "
            r"(?:to|until|till) (?P<b>.+)"
        ),
        rf"{_HOW_LONG} (?:did|was|were) (?P<a>.+?) (?:after|before) (?P<b>.+)",
        (
            rf"\b(?:happen\w*|occur\w*|did|done|went on|chang\w*|passed|elapsed)\b(?!.*\b(?:{_APART})\b.* between)"
            r".*?\bbetween (?P<a>.+?) and (?P<b>.+)"
        ),
        (
            rf"^(?:and |so |but )?(?:did|was|were|has|have) (?P<a>.+?) (?:before or after|after or before|before|after)"
            rf" (?!{_ONE} \w+ (?:it|that|this|them)\b)(?P<b>.+)"
        ),
        r"\bin (?:what|which) order\b.*?\b(?:did|were|was|have|had) (?P<a>.+?)(?:, (?P<more>.+?))?,? and (?P<b>.+)",
    )
)
_NUMBER: Final = regex(r"[0-9][0-9:.,]*(?: ?(?:am|pm))?")
_ORDER: Final = regex(r"\b(?:came|come|happened|happen|was|did \w+ \w+) first\b|\bin (?:what|which) order\b")

# Verbs of a state: "what did I like" asks what was so, "what did I buy" what was done.
_STATIVE = """
    be been have had like love hate prefer want need own use used live work weigh believe know think mean cost belong
    look seem appear feel taste smell sound drive drink study grow call name consider care wish hope trust contain
    enjoy dislike fear understand matter got earn wear speak play sleep smoke lived worked owned liked loved wanted
    needed preferred known
"""
STATIVE: Final = frozenset(_STATIVE.split())
DOERS: Final = frozenset(("i", "we", "you"))
_SAYING = """
    say said tell told ask asked mention mentioned report reported reply replied answer answered return returned
    promise promised suggest suggested recommend recommended write written announce announced
"""
SAYING: Final = frozenset(_SAYING.split())
_ADVERBS = r"(?:(?:not|already|just|also|actually|really|ever|last|first|even|exactly|only|finally|both|all) )*"
_WHO_DID = r"(?!(?:to|been|a|an|any|not) )(?P<subject>(?:the |my |our |your |his |her |their )?[\w'-]+)"
_OPENING = r"(?:^|[,;.?!:] ?|\b(?:and|but|so|know|remember|me|hey|hi|ok) )"
_WHEN_DID = regex(rf"\bwhen (?:did|have|had) (?P<topic>{_WHO_DID} .+)")
_LAST_TIME = regex(
    r"\b(?:when(?: was|'s| is)|what was|since) the (?:very )?(?:last|first) time (?:that )?(?P<topic>.+)"
)
_WHEN_DONE = regex(r"\bwhen (?:was|were) (?P<topic>.+? (?P<done>\w+)(?: (?:by|on|in|at|from|to|for|with|up) .+)?)$")
_WHAT_DID = regex(
    r"\b(?:what|which|who|whom|whose|where|why|how|how many)(?P<object>(?: [\w'-]+){0,4}?) "
    rf"(?:did|have|has|had) {_WHO_DID} "
    rf"(?P<topic>{_ADVERBS}(?P<verb>[\w']+)\b.*)"
)
_WHAT_SAID = regex(r"\b(?:what|which [\w'-]+|who|where) (?P<subject>i|we|you) (?P<topic>(?P<verb>\w+)\b.*)")
_HAPPENED = regex(
    r"\bwhat(?: \w+)?(?:'s| has| have| had)? (?:happen(?:e?d)?|went (?:on|wrong|well)|occurred)\b(?P<topic>.*)"
)
_WHAT_WAS_DONE = regex(r"\bwhat (?:was|were|has been|have been|got|had been) (?P<topic>(?P<done>\w+)\b.*)")
_DID = regex(rf"{_OPENING}(?:did|have|has|had) {_WHO_DID} (?P<topic>{_ADVERBS}(?P<verb>[\w']+)\b.*)")
_NOT_DONE = "born founded established supposed planned needed required used named called scheduled located based left"
NOT_DONE: Final = frozenset(_NOT_DONE.split())
_SAID_ABOUT = regex(
    r"^(?:say|said|tell|told|talk|talked|ask|asked|mention|mentioned|discuss|discussed|write|wrote|do|done|speak|chat)\b"
    r"(?: (?:to |with )?(?:you|me|us|him|her|them))?(?: (?:about|on|regarding|of|concerning))?(?P<topic>.*)"
)

# "What I said my password is" asks for the password.
_REPORTED = regex(
    r"(?:said|told|mentioned|thought|could|would|should|must|might|can|will|may)\b(?! (?:(?:to |with )?\w+ )?about\b).+"
)

_CHANGES = r"(?:chang\w*|switch\w*|mov\w*|updat\w*|edit\w*|replac\w*|resched\w*)"
_BEFORE_CHANGE = rf"\bbefore {_ONE} (?:was |were |got )?{_CHANGES}\b.*"
HISTORICAL: Final = tuple(
    regex(pattern)
    for pattern in (
        _BEFORE_CHANGE,
        (
            r"^(?!.*\b(?:am|is|are|get|got|getting|be|been)\b(?: \w+){0,2} used to)"
            r".*?(?P<tail>\bused to (?:be |have )?)"
        ),
        r"\b(?:where|who|how|when|why)\b.*?\bdid\b.*?(?P<tail>\buse to (?:be |have )?)",
        (
            r"\bdid\b.*?(?P<tail>\buse to (?=(?:be|have|do|eat|drink|like|love|hate|own|drive|work|live|play|call|"
            r"believe|look|wear|smoke|watch|read|want|say|take|use)\b)(?:be |have )?)"
        ),
        r"\bdid (?:i|we)\b.*?(?P<tail>\buse to )(?=\w+[ ?.!]*$)",
        r"\b(?:was|were) (?:my|our) (?:last|first)\b(?! name)",
        r"\b(?:previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?)\b",
        r"\bprior\b(?! to)",
        r"(?<!wake up )(?<!get up )(?<!wake )(?<!leave )(?<!start )(?<!come )(?<!arrive )(?<!go )\bearlier\b(?! than)",
        r"(?<!-)\bold\b(?!er| enough| am| are| is| was| were|[ -]fashioned| town| school| friends?| age)\b",
        (
            r"\b(?:was|were|did|had|lived|used|worked|\w+ed)\b(?!.*\b(?:supposed|need|needed|have|planned) to\b)"
            r".*?(?P<tail>\b(?:before|prior to) (?!or ).+)"
        ),
        (
            r"(?:\b(?:was|were|did|had)\b|^(?:and |so )?who (?:[a-z]+ed|ran|led|held|kept|taught|drove|made|took) ).*"
            r"(?P<tail>\bbefore\b[ ?.!]*$)"
        ),
        r"\bex-(?=\w)",
        r"\b(?:no longer|any ?more|back then|in the past|in those days|at first|back when .+)\b",
    )
)
HOW_OLD: Final = regex(r"\bhow old\b|\b(?:years?|months?|weeks?|days?) old\b")
WORD: Final = regex(r"\w+")
MOST_READ: Final = windows.MOST_READ
MOST_SAID: Final = 300  # characters of what was said before that complete a follow-up
MOST_CUES: Final = 400  # characters in which cues are looked for
SMALL: Final = 0.9  # how sure it is that small talk is that
SURE: Final = 0.65  # a reading the rules are less sure of may be put to a language model

_PRESENT = regex(
    r"^(?:(?:hi|hey|hello|so|and|ok|please)[, ]+)*(?:(?:what|where|who|which|whose|how|when)\b.{0,60}?"
    r"(?:'s|'re|\b(?:is|are|am|do|does|can|should|will|would))\b|(?:is|are|am|do|does|can|should|will|would|may|"
    r"tell me|remind me|show me)\b)"
)
_UNREAD_TIME = regex(r"\b(?:was|were|did|had|before|after|since|until|first|chang\w+|ago|order)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question asks for, how sure the rules are, and the question without the words that told them.

    `window` is the time it names, half-open; `anchors` are the things a `temporal_chain` puts in order, two or more;
    `recent` asks that the last days count more; `question` is what was read: a follow-up stands there completed;
    `searched` is what is searched for: the question in its own words, without its times. The topic of an `event` may be
    empty: then everything done in the window is asked for.
    """

    intent: Intent
    confidence: float
    topic: str
    window: Window | None = None
    anchors: tuple[str, ...] = ()
    recent: bool = False
    notes: tuple[str, ...] = ()
    question: str = ""
    searched: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """Something a user said before a question, and when."""

    text: str
    at: datetime


def read(question: str, *, now: datetime | None = None, tz: tzinfo = UTC) -> Reading:
    """What a question asks for by its cues, its times seen at `now` (default: the clock here) from `tz`.

    The first rule that fits decides, and everything without a cue asks for what is current. Never raises.
    """
    named = windows.find(question, now=now or datetime.now(UTC), tz=tz)
    rest = windows.cut(question, named.spans) if named.spans else question
    found = _read(rest)
    if named.window is not None and found.intent == "chat" and found.confidence != SMALL:
        found = Reading("event", 0.6, "")  # "last week?", "what about yesterday?"
    own = found.intent in OWN_TOPICS and not is_hollow(found.topic)
    wanted = found.topic if own else rest.strip()
    return replace(
        found, window=named.window, recent=named.recent, notes=named.notes, question=question.strip(), searched=wanted
    )


def _read(question: str) -> Reading:
    """The intent, topic and anchors of a question whose times are taken out."""
    plain = _in_short(
        " ".join(unicodedata.normalize("NFKC", question[:MOST_READ]).casefold().replace("’", "'").split())
    )
    words = WORD.findall(plain)
    if not words or _is_small_talk(plain, words):
        return Reading("chat", 1.0 if not words else SMALL, "")
    for rule in (_lineage, _chain, _event, _historical):
        found = rule(plain)
        if found is not None:
            return found
    if is_hollow(question) and not SELF & set(words):
        return Reading("chat", 0.6, "")
    return Reading("current", _plain_confidence(plain), question.strip())


def _in_short(plain: str) -> str:
    """A text without its middle where it is long: a question stands at an end of it."""
    half = MOST_CUES // 2
    return plain if len(plain) <= MOST_CUES else f"{plain[:half]} … {plain[-half:]}"


def is_hollow(question: str) -> bool:
    """Whether a question has no word of its own that says what it is about."""
    return all(word.removesuffix("'s") in EMPTY_WORDS for word in text.words(question[:MOST_READ]))


def is_follow_up(question: str) -> bool:
    """Whether a question only points at what was said before: "and when was that?", "what did she say about it?"."""
    words = text.words(question[:MOST_READ])
    if not words or not is_hollow(question) or _is_small_talk(" ".join(words), words):
        return False
    first = words[1:] if words[0] in ("and", "but", "so", "then", "ok") else words
    bare = len(words) <= 3 and bool(first) and first[0] in ("when", "where", "who", "why", "how", "which", "what")
    return bool(POINTERS & set(words)) or (bare and not SELF & set(words))


def complete(reading: Reading, said: Sequence[Said], *, tz: tzinfo = UTC) -> Reading:
    """The reading of a follow-up with what it points at: what was said before it, newest first. Pure.

    What was said last and has words of its own is meant; where the question speaks of a person and that names none,
    what was said before it too. What was itself a question hands on its intent and window.
    """
    asked = text.compared(reading.question)
    told = [one for one in said if text.compared(one.text) != asked][:2]
    meant = [one for one in told if not is_hollow(one.text) and _read(one.text).intent != "chat"]
    if not meant:
        return replace(reading, notes=(*reading.notes, "nothing was said before that would complete the question"))
    if not PERSONS & set(text.words(reading.question)) or _names_someone(meant[0].text):
        meant = meant[:1]
    last = read(meant[0].text, now=meant[0].at, tz=tz)
    was_question = _ASKS.search(meant[0].text.strip().casefold()) is not None
    topic = " ".join(_shortened(read(one.text, now=one.at, tz=tz).topic or one.text) for one in meant)
    wanted = reading.intent
    if wanted == "chat":
        when = "when" in text.words(reading.question)
        wanted = "event" if when else last.intent if was_question and last.intent != "temporal_chain" else "current"
    return replace(
        reading,
        intent="current" if wanted == "chat" else wanted,
        confidence=0.6,
        topic=topic,
        searched=topic,
        window=reading.window or (last.window if was_question else None),
        question=f"{reading.question} ({' / '.join(_shortened(one.text) for one in meant)})",
    )


_ASKS = regex(
    rf"[{text.QUESTION_MARKS}]$|"
    r"^(?:what|when|where|who|which|how|why|did|do|does|is|are|was|were|can|tell me|show me)\b"
)


def _names_someone(said: str) -> bool:
    """Whether a text names someone: a word with a capital that is none of those a sentence begins with."""
    words = [word for word in re.findall(r"\w[\w'’-]*", said) if word[0].isupper()]
    return any(len(word) > 1 and re.split("['’]", word)[0].casefold() not in EMPTY_WORDS for word in words)


def _shortened(said: str) -> str:
    plain = " ".join(said.split())
    return plain if len(plain) <= MOST_SAID else plain[:MOST_SAID].rsplit(" ", 1)[0]


def _is_small_talk(plain: str, words: list[str]) -> bool:
    if len(words) <= 8 and words[0] in OPENERS and all(word in SMALL_TALK for word in words):
        return True
    told = [word for word in re.findall(r"[\w']+", plain) if word not in OPENERS or word in ("good", "nice", "great")]
    return len(told) <= 8 and _SAID_IN_PASSING.fullmatch(" ".join(told)) is not None


def _lineage(plain: str) -> Reading | None:
    for cue in LINEAGE:
        found = cue.search(plain)
        if found and found["topic"].strip(" ?.!"):
            return Reading("lineage", 0.9, found["topic"].strip(" ?.!"))
    return None


def _chain(plain: str) -> Reading | None:
    """Two things in the order of time; without the second it is no chain."""
    for cue in CHAIN:
        found = cue.search(plain)
        if found is None:
            continue
        more = (found.groupdict().get("more") or "").split(",")
        anchors = [part.strip(" ?.!,;:") for part in (found["a"], *more, found["b"])]
        anchors = [part for part in anchors if part]
        if len(anchors) > 1 and not all(_NUMBER.fullmatch(one) for one in anchors):
            return Reading("temporal_chain", 0.9, plain.strip(" ?.!"), anchors=tuple(anchors))
    if _ORDER.search(plain):
        return Reading("current", 0.5, plain.strip(" ?.!"))
    return None


def _event(plain: str) -> Reading | None:
    plain = plain.rstrip(" ?.!")
    if attributes.asked(plain) is not None:
        return None  # a state, however it is asked: "Where did I keep my notes?"
    for cue in (_WHEN_DID, _LAST_TIME):
        found = cue.search(plain)
        if found:
            return Reading("event", 0.85, _done(found["topic"]))
    found = _HAPPENED.search(plain)
    if found:
        return Reading("event", 0.8, _about(found["topic"]))
    found = _WHEN_DONE.search(plain)
    if found and _is_done(found["done"]):
        return Reading("event", 0.8, _about(found["topic"]))
    found = _WHAT_WAS_DONE.search(plain)
    if found and _is_done(found["done"]):
        return Reading("event", 0.7, _about(found["topic"]))
    found = _WHAT_DID.search(plain)
    if found and _acts(found):
        return Reading("event", 0.85, f"{_object(found)}{_about(_named(found) + found['topic'])}".strip())
    found = _WHAT_SAID.search(plain)
    if found and verbs.is_past(found["verb"]) and _acts(found) and not _REPORTED.match(found["topic"]):
        return Reading("event", 0.75, _about(found["topic"]))
    found = _DID.search(plain)
    if found and _acts(found):
        return Reading("event", 0.7, _about(_named(found) + found["topic"]))
    return None


def _is_done(word: str) -> bool:
    return verbs.is_past(word) and word not in NOT_DONE


def _acts(found: re.Match[str]) -> bool:
    """Whether one of us did something, not was, had or liked something; of others it is what they said that counts."""
    verb = found["verb"]
    if found["subject"] not in DOERS:
        return verb in SAYING
    return verb not in STATIVE and verbs.base_form(verb) not in STATIVE and not verbs.is_adverb(verb)


def _named(found: re.Match[str]) -> str:
    """Who did it, where that is a name that may be searched for."""
    return "" if found["subject"] in SELF | POINTERS else f"{found['subject']} "


def _object(found: re.Match[str]) -> str:
    """What it was done with, where a question names it: "recipe" of "Which recipe did you give me?"."""
    named = found["object"].strip()
    words = {word.removesuffix("s") for word in WORD.findall(named)} - UNITS
    return "" if is_hollow(" ".join(words)) or words & ASKING else f"{named} "


def _done(topic: str) -> str:
    """What was done, without who asks or is asked: "you run the tests" is "run the tests"."""
    return _about(re.sub(rf"^(?:(?:{'|'.join(sorted(SELF | POINTERS))}) )?{_ADVERBS}", "", topic))


def _about(topic: str) -> str:
    topic = topic.strip(" ?.!,;:")
    said = _SAID_ABOUT.match(topic)
    topic = topic if said is None else said["topic"].strip(" ?.!,;:")
    return "" if is_hollow(topic) else topic


def _historical(plain: str) -> Reading | None:
    if HOW_OLD.search(plain):
        return None
    for cue in HISTORICAL:
        found = cue.search(plain)
        if found:
            return Reading("historical", 0.85, _without(plain, found))
    return None


def _plain_confidence(plain: str) -> float:
    """How sure it is that a question without a cue asks for what is current."""
    if not re.search(r"[a-z]{2}", plain) or _UNREAD_TIME.search(plain):
        return 0.5
    return 0.8 if _PRESENT.search(plain) else 0.6


def _without(plain: str, found: re.Match[str]) -> str:
    cut = found.span("tail") if "tail" in found.re.groupindex else found.span()
    rest = " ".join((plain[: cut[0]] + " " + plain[cut[1] :]).split()).strip(" ?.!,")
    return rest or plain
