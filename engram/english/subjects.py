"""Whose statement a sentence is, and whether it states anything: subjects and moods, by rules that rather say no.

A memory is pinned or keyed only when it is known whose it is. So every function here answers "unknown" or a mood other
than "statement" wherever English leaves a doubt: a question, an if, a wish, words that somebody else said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Final, Literal

from engram.english import attributes, names, predicates, verbs
from engram.regex import regex
from engram.text import QUESTION_MARKS, compared
from engram.wording import Worded, worded, words_of
from engram.wordlists import word_set

Mood = Literal["statement", "plan", "command", "question", "conditional", "hypothetical", "quotation", "reported"]
SELF: Final = "self"
UNKNOWN: Final = "unknown"
USER: Final = "User"
SELF_NAMES: Final = ("user", "the user", "self", "me", "i", "myself")
FIRST_PERSON_ROLES: Final = ("user", None)
MAX_SENTENCE: Final = 1_000
"""A longer run of text without an end is not a sentence; nothing is read from it."""

# ------------------------------------------------ sentences

_END = regex(rf"[.!…{QUESTION_MARKS}]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』”]*|\n")
_ABBREVIATION = regex(
    r"(?:^|[\s(\"“])(?:dr|mr|mrs|ms|mx|prof|st|mt|ft|vs|e\.g|i\.e|cf|no|nr|approx|dept|gen|sen|rep|jr|sr|"
    r"fig|sec|art|al|[b-hj-z])\.$",
    re.I,
)
# Shortened where a number follows: "Lindenstr. 4", "Apt. 12"; a sentence may end with one too.
_NUMBERED = regex(
    r"(?:(?:^|[\s(\"“])(?:apt|ext|bldg|rm|vol|ch|pp|ave|blvd|rd|tel|jan|feb|apr|aug|sept?|oct|nov|dec|tue|tues|thu|thurs|"
    r"fri)|[^\W\d_]{2}(?:str|pl))\.$",
    re.I,
)
_NUMBER_AHEAD = regex(r"\s+\d")
_DOTTED = regex(r"(?:^|\s)(?:[a-z]\.){2,}$|(?:^|\s|\d)(?:etc|inc|ltd|corp|co|llc|a\.m|p\.m)\.$", re.I)
_NEW_SENTENCE = regex(
    r"\s+(?:I|My|We|Our|The|It|He|She|They|This|That|These|A|An|You|If|When|But|And|So|In|On|At|For|Please|"
    r"What|Where|How)\b"
)
# Pictures and arrows in front of a sentence are no part of it.
_SYMBOLS = regex("[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+\\s*(?=\\w)")
_LIST_MARK = regex(r"[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text starts and ends, without the white space and list marks around it."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if _goes_on(text, start, end):
            continue
        _add_span(spans, text, start, end.end())
        start = end.end()
    _add_span(spans, text, start, len(text))
    return spans


def _add_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    if not text[start].isalpha():
        symbols = _SYMBOLS.match(text, start, end)
        start = start if symbols is None else symbols.end()
        mark = _LIST_MARK.match(text, start, end)
        start = start if mark is None else mark.end()
    if start < end:
        spans.append((start, end))


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether what looks like the end of a sentence is inside one: "Dr. Smith", a line that only wraps."""
    if end.group() == "\n":
        before = text[max(start, end.start() - 1) : end.start()]
        after = text[end.end() : end.end() + 1]
        return before.isalnum() and after.islower() and after.isalpha() and end.start() - start >= 40
    if end.group() != ".":
        return False
    tail = text[max(start, end.start() - 12) : end.start() + 1]
    if _ABBREVIATION.search(tail) or (_NUMBER_AHEAD.match(text, end.end()) and _NUMBERED.search(tail)):
        return True
    if _DOTTED.search(tail):
        return end.end() < len(text) and _NEW_SENTENCE.match(text, end.end()) is None
    return False


# ------------------------------------------------ words

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'"})


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Compared text with one kind of apostrophe: what every rule here reads."""
    return compared(text if text.isascii() else text.translate(_APOSTROPHES))


_LEAD = regex(
    r"(?:[\s\"“'(>*_]*)(?:(?:"
    r"(?:actually|correction|update|edit|note|fyi|btw|by the way|for the record|just so you know|so you "
    r"know|heads up|also|oh|ah|well|ok|okay|so|yes|yeah|yep|yup|no|nope|nah|ugh|argh|aww|ooh|yay|omg|heh|ha|haha|"
    r"anyway|sorry|hey|hi|hello|hi there|hey there|hello there|good morning|good evening|thanks|thank you|"
    r"no,? wait|wait,? no|oh,? wait|hang on|hold on|no,? sorry|sorry,? no|"
    r"oops|whoops|wait|hmm|um|uh|right|sure|and|but|plus|in fact|to be clear|to clarify|as you know|as i said|again|"
    r"honestly|frankly|personally|in general|generally|from now on|going forward|in future|in the future|"
    r"basically|anyways|great|cool|nice|perfect|lol|"
    r"(?:so|oh|ah|ok|okay|well|and|but|hey|yeah|yes|um)[, ]+(?:so|yeah|yes|and|well|btw|by the way|anyway|hey|no|now|"
    r"guess what|then|actually)|"
    r"wow|ok good news|good news|bad news|sad news|great news|exciting news|fun fact|big news|news|quick update|quick "
    r"note|small update|"
    r"one more thing|another thing|"
    r"important|reminder|fwiw|ps|p\.s\.|as of today|as of now|as it happens|incidentally|unfortunately|"
    r"sadly|luckily|fortunately|finally|guess what|turns out|it turns out|turns out that|it turns out that|"
    r"done|for context|context|background|mind you|truth is|pardon|my mistake|my bad|apologies|typo|scratch that|"
    r"strike that|let me correct (?:that|myself)|(?:sorry,? )?(?:that|this) was wrong|i misspoke|i was wrong|"
    r"i (?:got|had|said|put) (?:it|that|this|them) wrong|i mixed (?:it|that|this|them) up|i made a (?:typo|mistake|"
    r"slip)|"
    r"what can i say|to be honest|tbh|believe it or not|what a (?:day|week|month|year)|long story short|at long last)"
    r"(?:\s*[:,;!.…—–-]+\s*|\s+(?=(?:i|i['’]m|i['’]ve|i['’]ll|i['’]d|my|we|we['’]ve|we['’]re|our|note|"
    r"remember|please|the)\b)))"
    r"|(?:lol|lmao|haha)\s+(?=[a-z])"
    r"|after (?:much|long|some|a lot of|lots of) (?:deliberation|thought|thinking|discussion|consideration|back and "
    r"forth),?\s+(?=(?:i|we|my|our)\b)"
    r"|(?:from now on|going forward|in future)\s+(?=(?:please |always |only )?(?:answer|reply|respond|call|use|write|"
    r"speak|talk|address)\b)"
    r"|(?:(?:please |pls |can you |could you )?(?:remember|note|keep in mind|bear in mind|don['’]t forget|"
    r"do not forget|be aware|know|make a note|take note|save|store|record|memorize|memorise|write down)"
    r"(?: for later| please| this)?(?: that\b|\s*[:,])\s*)"
    r"|(?:hey|hi|hello|yo|wow|aww?|thanks|well|oh),? (?-i:(?!I\b)[A-ZÀ-ÖØ-Þ][\w'’-]+)(?:\s*[,!.:]+\s*|\s+[–—-]\s+)"
    r"|(?:i mean|i meant|what i meant(?: to say)? (?:is|was)|i meant to (?:say|write))(?:\s*[:,]\s*|\s+that\s+|\s+)"
    r"(?=(?:i|i['’]m|i['’]ve|my|we|our)\b)"
    r"|(?:(?:i (?:should|want to|wanted to|just wanted to|have to|must|forgot to) (?:mention|add|say|tell "
    r"you|let you know|note)|let me (?:mention|add|note)|you should know|(?:just )?letting you know)"
    r"(?: that\b|\s*[:,])\s*))",
    re.I,
)
_MAX_LEADS: Final = 5
# How most sentences begin, and nothing that only leads in: what does is looked for in others alone.
_NO_LEAD = regex(
    r"i['’][a-z]+ |i (?!got|had|said|put|mixed|made|misspoke|was|mean|meant|should|want|just|have|"
    r"must|forgot)|my (?!mistake|"
    r"bad)|(?:the|he|she|they|we|our|his|her|their|it['’]s|is|are|do|does|did|where|who|how|which|"
    r"when|if|on|with|a|an|user|"
    r"user['’]s|every|there|these|those|some|two|both) ",
    re.I,
)
# Words that only say that the user says so, or that the listener knows: they leave the statement the user's own.
_OWN_WORDS: Final = (
    r"(?:(?:just |so,? )?(?:as|like) (?:"
    r"(?:i|we)(?:['’]ve|['’]d|['’]m)?(?: (?:have|had|was|am|already|just|also|once|always|keep|kept|often|may|might))*"
    r" (?:say|says|said|saying|told|tell|telling|mention|mentioned|wrote|written|noted|explained|discussed|stated|"
    r"talked about|pointed out|described|posted|promised)(?: (?!that\b|if\b|whether\b|where\b|i\b)[\w'’]+){0,4}"
    r"|you(?:['’]ve|['’]d|['’]re)?(?: (?:all|may|might|can|could|will|must|should|probably|already|surely|well|have|"
    r"are))*"
    r" (?:know|remember|recall|see|heard|guess|guessed|aware)(?: (?:already|by now|from before|well))?"
    r"|(?:mentioned|stated|noted|discussed|said|explained|promised)(?: (?:above|before|earlier|previously|already|"
    r"yesterday|last time|last week))?))"
)
_OWN_LEAD = regex(rf"[\s\"“'(]*{_OWN_WORDS}(?:\s*[,:—–]\s*|\s+-\s+)", re.I)
_OWN_TAIL = regex(rf"\s*,\s*{_OWN_WORDS}[\s.!]*$", re.I)


@lru_cache(maxsize=4096)
def lead_length(sentence: str) -> int:
    """How many characters at the start only lead in: "Actually, ", "Please remember that "."""
    place = 0
    for _ in range(_MAX_LEADS):
        if _NO_LEAD.match(sentence, place):
            break
        lead = _OWN_LEAD.match(sentence, place) or _LEAD.match(sentence, place)
        if lead is None or lead.end() == place or lead.end() >= len(sentence):
            break
        place = lead.end()
    return place


def tail_length(sentence: str) -> int:
    """How many characters at the end only say that the user said so: ", as I told you"."""
    tail = _OWN_TAIL.search(sentence) if "," in sentence else None
    return len(sentence) - tail.start() if tail is not None and tail.start() > 0 else 0


# ------------------------------------------------ clauses

_SUBJECT_START = r"(?:I|im|ive|I['’](?:m|ve|ll|d)|my|we|we['’](?:re|ve|ll|d)|our|she|he|they|it|his|her|their)\b"
# A person by name in front of a verb in the present: "and Bob lives in Rome".
_NAME_START = (
    r"(?-i:(?!I\b|It\b|That\b|This\b|He\b|She\b)[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+)? "
    r"(?:(?:is|isn't|isn’t|lives|works|has|likes|loves|hates|prefers|wants|needs|speaks|manages|teaches|studies|became)"
    r"\b|(?:now )?[a-z]{2,}(?<!s)s (?:(?:after|for|to|over) )?(?:my|our|me|us|the)\b))"
)
_CUT = regex(
    r"(?=[\s,;:—])(?:"  # most characters are none of these
    rf"(?:\s*,\s*|\s+)(?:and also|and now|and|but|so|yet|though|although|whereas|while)\s+(?={_SUBJECT_START})"
    rf"|(?:\s*,\s*(?:(?:and|but|so|yet)\s+)?|\s+(?:but|so|yet)\s+)(?=(?:now|these days|nowadays),?\s+"
    rf"{_SUBJECT_START})(?!\w+(?: \w+)?,?\s+(?:he|she|they|it|that|this)\b)(?![^,;:]*\b(?:them|him|it|there)\b)"
    rf"|\s*;\s*|\s+[—–]\s+|\s+-\s+|(?<=\w)—(?=\w)|\s*,\s*(?={_SUBJECT_START})"
    rf"|(?<=[a-zA-Z]):\s+(?=(?:I|I['’](?:m|ve)|we|we['’](?:re|ve)|my|our)\b)"
    rf"|(?:\s*,\s*|\s+)(?:and|but|so)\s+(?={_NAME_START})|\s*,\s*(?={_NAME_START}))",
    re.I,
)
# Each cut holds one of these.
_CUT_AT: Final = (",", ";", ": ", "—", "–", "-", "and", "but", "so", "yet", "though", "whereas", "while")
_OTHERS_SAY: Final = (
    r"says?|said|puts?(?: it)?|claims?|claimed|tells?|told|goes|sees? it|has it|would (?:have it|say|put it)|thinks?|"
    r"thought|believes?|believed|writes?|wrote|reports?|reported|mentions?|mentioned|notes?|noted|explains?|explained|"
    r"sings?|sang|insists?|insisted|suggests?|suggested|shows?|states?|stated|predicted|predicts?|guessed|tweeted|"
    r"posted"
)
# Words that lay what is said to somebody else: "according to Bob", "as my mother says", "in Ann's words".
_ATTRIBUTION: Final = (
    r"(?:according to [^,;]{1,60}"
    r"|(?:just )?(?:as|like|the way|how) (?!(?:i|we|you|i['’]ve|we['’]ve|you['’]ve)\b)[^,;]{1,60}? "
    rf"(?:{_OTHERS_SAY})\b[^,;]{{0,40}}"
    r"|(?:in|from|by) (?:[^,;]{1,40}(?:['’]s|s['’])|his|her|their|your) (?:own )?(?:words?|opinion|view|eyes|mind|"
    r"telling|account|version|story|book|perspective|point of view|reckoning|logic|estimation|theory)\b"
    r"|in the (?:words|opinion|view|eyes|mind) of [^,;]{1,40}"
    r"|(?:as )?per (?!year\b|month\b|week\b|day\b|hour\b)[^,;]{1,40}"
    r"|to hear [^,;]{1,40} tell(?: it)?"
    r"|(?:as far as|for all) (?!(?:i|we)\b)[^,;]{1,40} (?:knows?|can tell|is concerned|are concerned)"
    r"|(?:rumou?r|legend|word|gossip|tradition) has it(?: that)?|(?:the )?(?:story|saying|song|joke|theory) goes"
    r"|(?:so )?(?:they|people|some|others|folks) (?:all |always |often )?(?:say|claim|think|believe|tell me)\b)"
)
_ATTRIBUTED = regex(rf"(?:^|[\s,(]){_ATTRIBUTION}(?=\s*[,.;:!?)—–]|$)", re.I)
_SAID_SO = regex(rf"(?:^|(?<=[\s,;]))(?:{_ATTRIBUTION}|{_OWN_WORDS})\s*$", re.I)
# Words at the end that lay what stands before them to somebody else: ", he wrote", " - that is what Ann told me".
_SOMEBODY: Final = (
    r"(?:he|she|they|you|somebody|someone|(?:my|our|user['’]s|his|her|their|the(?! user\b)) [\w'’-]+(?: [\w'’-]+)?"
    r"|(?-i:(?!I\b|We\b|User\b|It\b|This\b|That\b)[A-ZÀ-ÖØ-Þ][\w'’.-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*){0,2}))"
)
_TOLD_ONCE: Final = r"(?:(?:has|have|had|once|just|also|always|often|later|then|recently|already|keeps?|kept) ){0,2}"
_TOLD_SO: Final = (
    r"(?:says?|said|saying|tells?|told|telling|writes?|wrote|written|claims?|claimed|insists?|insisted|swears?|swore|"
    r"thinks?|thought|believes?|believed|reckons?|reckoned|replied|answered|mentioned|explained|added|whispered|"
    r"shouted|announced|reported|stated|texted|emailed|messaged|posted|tweeted)\b"
    r"(?: (?:to )?(?:me|us|user(?:['’]s group)?|him|her|them|everyone|everybody))?"
    r"(?: (?:so|yesterday|today|tonight|once|again|recently|earlier|before|later|(?:last|this) [a-z]+|on [a-z]+day|"
    r"in (?:an?|the|his|her|their) (?:text|e-?mail|letter|message|mail|note|post|chat)))?"
)
_TAG = worded(
    rf"(?:[,;]\s*|\s[—–-]+\s+|(?<=\w)—(?=\w))(?:(?:(?:or )?at least|or) (?:so )?|"
    r"so (?=[^,;]{1,30} (?:says?|said|claims?)\b))?"
    rf"(?:(?:that|this|it)(?: is|['’]s| was) what )?(?:{_SOMEBODY} {_TOLD_ONCE}{_TOLD_SO}|"
    r"(?:I|User) (?:heard|(?:was|am|is|have been|has been) told)|I['’](?:m|ve been) told)[\s.!…)]*$",
    re.I,
)
_JOINED_BY = regex(r"(?:[,;]?\s+(?:and|but|so|yet|though|although|while|whereas),?|;|\s[—–-])\s*$", re.I)
_HAS_SUBJECT = regex(
    r"\b(?:i|i'm|i've|i'll|i'd|my|we|our|he|she|they|it|you|is|are|was|were|has|have|said|the|this|that)\b"
)


def clause_spans(sentence: str) -> list[tuple[int, int, str]]:
    """Where the clauses of a sentence that have subjects of their own start and end, and the joint before each."""
    spans: list[tuple[int, int, str]] = []
    start, joint = 0, ""
    tag = _TAG.search(sentence)
    folded = sentence.casefold()
    for cut in _CUT.finditer(sentence) if any(mark in folded for mark in _CUT_AT) else ():
        if tag is not None and (cut.end() > tag.start() or plain(cut.group()).strip(" ,") not in _SET_APART):
            continue  # "I live in Rome and like it, he wrote": all of it is what he wrote
        left = sentence[start : cut.start()]
        if cut.group().lstrip().startswith(":") and not _DID_BEFORE.match(left):
            continue  # "He said: I live in Rome" are his words
        if not left.strip() or (
            not _HAS_SUBJECT.search(plain(left))
            and "," in cut.group()
            and not _TELLS_A_DEED.match(left)
            and not (_tells_what_somebody_did(left) and _IS_CLAUSE.match(sentence, cut.end()))
            and not (_SO.search(cut.group()) and _tells_of_something(left))
        ):
            continue  # "Last month, I moved": the words before belong to the clause
        if plain(cut.group()) == "and" and _joins_nouns(left, sentence, cut.end()):
            continue
        said_so = _SAID_SO.search(left)
        if said_so is not None and not _CONJUNCTION.search(cut.group()):
            before = _JOINED_BY.search(left[: said_so.start()])
            if before is not None and left[: before.start()].strip():
                spans.append((start, start + before.start(), joint))
                start, joint = start + said_so.start(), before.group().strip(" ,").casefold()
            continue  # "According to Bob, I live in Rome": whose words they are belongs to them
        if _BY_NAME.match(sentence, cut.end()) and not _says_already(left):
            continue
        spans.append((start, cut.start(), joint))
        start, joint = cut.end(), cut.group().strip(" ,").casefold()
    spans.append((start, len(sentence), joint))
    return spans


_DID_BEFORE = regex(
    r"(?i)\W*(?:(?:so|well|ok|okay|finally|news|update),? )?(?:i|we)(?:['’]ve| have)? (?:(?:just|"
    r"finally|recently|now|also) )*"
    r"(?:quit|left|sold|dropped|ditched|cancelled|canceled|stopped|moved|switched|changed|swapped|replaced|gave up|"
    r"given up|got rid|finished|closed|lost|ended|started|joined|found|bought|adopted) "
)
"""What somebody did, of which a colon says what came of it."""
_SO = regex(r"(?i)\bso\b")
_CAME_OF_IT = regex(
    r"(?i)\b(?:made|makes|got|gets|turned|became|cost|costs|took|takes|needs|kept|keeps|didn['’]t|doesn['’]t|closed|"
    r"broke) "
)


def _tells_what_somebody_did(left: str) -> bool:
    """Whether words are a name and what somebody of that name did: "Louise got promoted", and not "Last Tuesday"."""
    named = _NAME_AND_VERB.match(left)
    return named is not None and verbs.is_past(named["verb"]) and named["verb"] not in _SAYS


_SAYS: Final = word_set(
    "said told wrote asked replied texted thought claimed mentioned answered added explained announced insisted swore "
    "shouted whispered admitted called emailed messaged reckoned believed guessed felt knew heard"
)
_IS_CLAUSE = regex(
    r"(?i)(?:i|i['’](?:m|ve)|we|we['’](?:re|ve))\b|"
    r"(?:my|our) (?:[\w'’-]+ ){1,3}?(?:is|are|was|will|has|have|goes|went)\b|"
    r"(?-i:[A-ZÀ-ÖØ-Þ])[\w-]+(?: (?-i:[A-ZÀ-ÖØ-Þ])[\w-]+)?(?: (?:is|has become|became)|['’]s) (?:now )?(?:my|our)\b"
)
_NAME_AND_VERB = regex(
    r"\W*(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?!(?:I|We|My|Our|The|An?|All|After|Before|Since|When|As|If|Once|Last|Next)\b)"
    r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+)? (?:(?:has|just|recently|also|finally|sadly|unfortunately) )*"
    r"(?P<verb>[a-z]+)\b"
)


def _tells_of_something(left: str) -> bool:
    """Whether words without a subject that is known have a verb: "Rome made me ill", and not "Last month"."""
    return _CAME_OF_IT.search(left) is not None or any(map(verbs.is_past, plain(left).split()))


_TELLS_A_DEED = regex(
    r"\W*(?:(?:just|finally|recently)\s+)?(?:packed|dumped|ditched|traded|sold|quit|left|moved|"
    r"finished|cancelled|canceled|"
    r"dropped|stopped|swapped|switched|changed|handed|gave|got|went|started|signed|bought|settled|"
    r"said|closed|ended|put)\s",
    re.I,
)  # without "I": "Packed up everything, and now I'm living in Rome"
_SET_APART: Final = ("but", "though", "although", ";", "whereas")
"""What keeps a doubt about one clause from the next."""
_CONJUNCTION = regex(r"[a-z;]", re.I)
_BY_NAME = regex(_NAME_START)
_SAID_ALREADY = regex(
    r"^(?!if\b|when\b|as\b|since\b|because\b|while\b|although\b)(?:.* )?(?:i'm|is|isn't|am|are|was|has|have|live|lives|"
    r"work|works|like|likes|love|loves|hate|hates|prefer|moved|report|reports|want|need|speak|became) \S"
)


def _says_already(left: str) -> bool:
    """Whether the words before a name are a clause of their own: "I live in Rome" are, "My friends Tom" are not."""
    return _SAID_ALREADY.match(plain(left)) is not None or _tells_what_somebody_did(left)


_NOUN = regex(r"(?i)(?:I|(?:my|our|his|her|their) [\w-]+)\s*(?:[.,;!?]|$)")
_NOUN_ONLY = regex(r"(?i)^\W*(?:(?:my|our|his|her|the) [\w'’-]+(?: [\w'’-]+)?|(?!thanks|stop|yes|no|wait)[\w'’-]+)$")


def _joins_nouns(left: str, sentence: str, place: int) -> bool:
    """Whether "and" joins two subjects ("my wife and I live") or two objects rather than two clauses."""
    if _NOUN.match(sentence, place) is not None or _NOUN_ONLY.match(left.strip()) is not None:
        return True
    somewhere = _NOUN_SOMEWHERE.match(sentence, place)  # "with my wife and our two daughters in a small flat"
    if somewhere is None or _ENDS_WITH_OWN.search(left.strip()) is None:
        return False
    return not any(map(_may_be_verb, plain(somewhere.group()).split()))


_NOUN_SOMEWHERE = regex(
    r"(?i)(?:my|our) [\w-]+(?: [\w-]+){0,2} (?:in|at|near|on|by|from|with|of) [^,;:.!?]{1,60}[.!]?$"
)
_ENDS_WITH_OWN = regex(r"\b(?:[Mm]y|[Oo]ur) (?:[a-z-]+ )?[a-z-]+(?: [A-ZÀ-ÖØ-Þ][\w-]*)?$")
_VERBS_BESIDE: Final = word_set("is are was were am be been has have had do does did will would can could may 's isn't")


def _may_be_verb(word: str) -> bool:
    """Whether a word may say that something is done or so: then what holds it may be a clause."""
    base = word.removesuffix("s")
    return word in _VERBS_BESIDE or verbs.is_past(word) or word in verbs.COMMON or base in verbs.COMMON


# ------------------------------------------------ moods

_QUESTION = regex(
    r"^(?:(?:does|did|is|are|was|were|can|could|would|will|should|shall|am|has|isn't|aren't|wasn't|don't|"
    r"doesn't|didn't|can't|couldn't|wouldn't|won't|shouldn't|haven't|hasn't)"
    r" (?:i|you|we|he|she|it|they|my|your|our|his|her|their|the|this|that|there|these|those|any|anyone|"
    r"someone|somebody|everyone)\b"
    r"|(?:do|have|may|might) (?:i|you|we|they|my|your|our|the|any|these|those)\b"
    r"|(?:who|what|where|when|why|how|which|whose)(?:'s|'re|'d)?(?: (?!i\b|my\b|we\b|he\b|she\b|"
    r"they\b)\w+){0,2} (?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|am)\b(?! i\b.* "
    r"(?:is|was)\b)"
    r"|(?:who|what|where|when|why|how)'s\b|(?:how|what) about\b|why not\b|how (?:much|many|long|often|far|"
    r"come)\b|any (?:idea|chance|suggestions|thoughts)\b)"
)
_INDIRECT = regex(
    r"\b(?:i wonder|i was wondering|i'm wondering|(?:can|could|would|will) you|do you|did you|are you|have "
    r"you|tell me|remind me|guess (?:where|what|who|how)|(?:i'd|i would) like to know|i want to know|i "
    r"need to know|let me know|"
    r"(?:don't|do not|not) (?:know|sure|remember|recall|understand) (?:if|whether|where|who|what|when|how|"
    r"why)|not sure (?:if|whether|that|where|about)|i forgot (?:where|who|what|how|whether)|(?:asked|asks|"
    r"asking|curious) (?:me |him |her |us )?(?:if|whether|where|what|who|about)|"
    r"(?:you|should|does|did|do) (?:know|remember|think|guess) (?:if|whether|where|who|what|that))\b"
)
_CONDITIONAL = regex(
    r"\b(?:if|unless|in case|provided|providing|assuming|suppose|supposing|whether|as long as|on condition|"
    r"otherwise|should i|had i|were i|even if|in the event|depending on|until i|once i|when i|whenever|as "
    r"soon as i)\b"
)
_TIME_WHEN = worded(
    r"\b(?:when i (?:was|lived|worked|moved|got|went|came|started|first|met|had|left|grew)|once i (?:was|had))\b"
)
# What is had is had, whatever it is kept for: "she has our key in case of emergencies".
_KEPT_IN_CASE = regex(
    r"(?P<kept>\b(?:has|have|had|keeps?|kept|carry|carries|carried|holds?|stores?|leaves?|left|packs?|packed|brings?|"
    r"brought|bought|got|gave)\b(?! to\b)[^;]{0,200}?)\bin case\b"
)
_HYPOTHETICAL = regex(
    r"\b(?:would|could|might|(?<!\d )(?<!\bin )(?<!\bof )(?<!since )(?<!from )(?<!last )(?<!next )(?<!this "
    r")(?<!\bby )(?<!until )(?<!early )(?<!late )\bmay (?!\d|last\b|this\b|of\b|and\b|\w+day\b)(?:be|have|"
    r"move|live|go|get|need|want|change|switch|well|soon|even|also|not|just|never|still|end|take|start|"
    r"become|\w+)|wouldn't|couldn't|i'd|we'd|wish|wishes|wished|dream|dreams|dreamt|dreamed|dreaming|"
    r"imagine|imagines|imagined|imagining|pretend|pretends|pretending|"
    r"maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|apparently|reportedly|almost|nearly|"
    r"hypothetically|theoretically|in theory|what if|as if|as though|let's say|should have|shouldn't have|"
    r"ought to|"
    r"(?<!is not )(?<!am not )(?<!'m not )supposed to|thinking (?:of|about)|considering|tempted|i guess|i suppose|"
    r"i think|i feel like|i doubt|toying|in another life|one day|someday|some day|"
    r"role ?-?play|fictional|fiction|make-believe|my character|the character|main character|protagonist|in "
    r"(?:my|a|the|this|our|her|his) (?:\w+ )?(?:dream|dreams|novel|book|story|game|film|movie|play|script|"
    r"song|poem|screenplay|sims|simulation|campaign|fantasy|nightmare|imagination|mind|head|example|"
    r"scenario|next life|past life|test data|tv show|show|series|comic)|"
    r"for example|e\.g\.|for instance|sort of|kind of like|just kidding|joking|jk|as a joke|not really|too "
    r"bad|on paper|mentally|in spirit)\b"
)
_PLAN = regex(
    r"\b(?:will|won't|i'll|we'll|"
    r"(?<!started )(?<!stopped )(?<!quit )(?<!back to )(?<!always )(?<!usually )going to|gonna|wanna|"
    r"wants? to(?! be (?:called|addressed)\b)|wanted to|hope to|hopes to|hoping|"
    r"plan to|plans to|planned to|planning|intend|intends|aim to|aims to|about to|"
    r"look forward|looking forward|trying to|try to|tries to|tried to|need to|needs to|have to|has to|"
    r"would like to|due to move|decided to move|getting ready|preparing to|scheduled to|can't wait|hope|hopes|"
    r"(?:am|is|are|i'm|we're|be) (?:\w+ )?(?:moving|relocating)|(?:am|is|are|i'm|we're) (?:\w+ "
    r")?(?:changing|switching|leaving|starting|joining)\b.*\b(?:next|soon|tomorrow|in \w+ (?:days|weeks|"
    r"months)))\b"
)
_REPORTED = regex(
    r"\b(?:said|says|saying|told|tells|telling|claim|claims|claimed|mentioned|mentions|wrote|heard|hears|"
    r"according to|rumou?r|rumou?rs|thinks|thought|believes|believed|assumed|assumes|insists|insisted|"
    r"swears|quote|quoted|"
    r"stated|announced|lied|lying|pretended|joked|reports that|(?:writes|reads|means|states) that|reported|"
    r"asked|replied|answered|shouted|whispered|texted|emailed|posted|tweeted|sang|translate|translates|"
    r"repeat after|convinced)\b"
)
_NORMATIVE = regex(r"^(?!if\b|shall\b).*\b(?:shall|may not)\b")
_SAYING = regex(
    r"\b(?:said|says|told|tells|asked|replied|answered|wrote|writes|shouted|whispered|sang|sings|texted|"
    r"posted|sign|headline|quote|line|lyrics?|sentence|phrase|translate|says that|read|reads|called out|"
    r"like)\b"
)
_FIRST = regex(r"\b(?:i|i'm|i've|i'd|i'll|me|my|we|our)\b")
_COMMAND_VERBS = """
    write give show tell explain summarize summarise list make create generate help find search look check open
    run fix add remove delete translate compare suggest recommend describe draft send book schedule set play try
    continue stop wait let go do put use keep call answer reply respond speak talk read build implement refactor
    rename update change move switch convert format print calculate compute consider imagine pretend note remember
    remind avoid prefer always never don't please only stay be ensure ship deploy follow prefix default
"""
_COMMANDS: Final = frozenset(_COMMAND_VERBS.split())
_ENDS_ASKING = regex(rf"[{QUESTION_MARKS}]+[\"'”’)\]!]*$")
_DO_NOT = regex(r"^(?:do not|don't|never|always|please)\b")
# Most sentences hold no word of most of these.
_ASKS, _OBLIGES, _SUPPOSES, _IMAGINES, _REPORTS, _ATTRIBUTES, _PLANS = map(
    Worded, (_INDIRECT, _NORMATIVE, _CONDITIONAL, _HYPOTHETICAL, _REPORTED, _ATTRIBUTED, _PLAN)
)


@lru_cache(maxsize=8192)
def mood_of(sentence: str) -> Mood:
    """What a sentence does: states, plans, asks, supposes, quotes, reports or orders."""
    bare = sentence.strip()
    body, quoted = _without_quotes(bare)
    text = plain(_CALLED_SO.sub(r"\1 Named", body) if "Will" in body or "Hope" in body else body)
    if quoted:
        return "quotation"
    text = text[lead_length(text) :]
    text = _OWN_TAIL.sub("", text) if "," in text else text
    held = words_of(text)
    if _ENDS_ASKING.search(bare) or _QUESTION.match(text) or _ASKS.search(text, held):
        return "question"
    if _OBLIGES.search(text, held) and not _FIRST.match(text):
        return "statement"  # "the Supplier shall pay unless ..." is an obligation, not a supposition
    unconditional = _TIME_WHEN.sub(" ", text, held)
    unconditional = _KEPT_IN_CASE.sub(r"\g<kept>", unconditional) if "in case" in unconditional else unconditional
    if _SUPPOSES.search(unconditional, held):
        return "conditional"
    first = _FIRST_WORD.match(text)
    if first and first.group() in _COMMANDS and not _ASKS_TO.match(text):
        return "command"
    if _IMAGINES.search(_WANTS.sub(" ", text, held), held):
        return "hypothetical"
    if _REPORTS.search(text, held) or _ATTRIBUTES.search(text, held) or _TAG.search(body):
        return "reported"
    return "plan" if _PLANS.search(text, held) else "statement"


_FIRST_WORD = regex(r"[\w']+")
_ASKS_TO = regex(r"(?:be|will|do|does)\b.*\?")
_WANTS = worded(r"\b(?:would|i'd) (?:rather|prefer|always|like (?!to\b))")
_CALLED_SO = regex(r"\b((?i:name is|name['’]s|call (?:me|user)|to be called)) (?:Will|Hope)\b")
"""A name that would say that something is planned, were it not one."""
_DOUBLE = regex(r"[\"“”«»„「」『』]([^\"“”«»„「」『』]*)[\"“”«»„「」『』]|(?<![\w])['‘]([^'‘’]{3,})['’](?!\w)")
_QUOTE_MARK = regex(r"[\"“”«»„「」『』'‘](?<!\w['‘])")
_OPEN_QUOTE = regex(r"^[\"“«„「『]")


def _without_quotes(sentence: str) -> tuple[str, bool]:
    """The sentence with quoted words masked, and whether the quoted words are the statement."""
    if not _QUOTE_MARK.search(sentence):
        return sentence, False
    said = False
    spoken = _SAYING.search(plain(_DOUBLE.sub(" ", sentence))) is not None

    def mask(match: re.Match[str]) -> str:
        nonlocal said
        inner = match.group(1) if match.group(1) is not None else match.group(2)
        words = plain(inner).split()
        if len(words) <= 3 and not _FIRST.search(" ".join(words)):
            return inner
        whole = match.start() == 0 and len(sentence) - match.end() < 40
        said = said or whole or spoken
        return " Quoted "

    masked = _DOUBLE.sub(mask, sentence)
    unclosed = _OPEN_QUOTE.match(sentence) is not None and masked == sentence
    return masked, said or unclosed


# ------------------------------------------------ third person

_TOKEN = regex(r"[^\W_]+(?:['’][^\W_]+)*|[,;:()]")
_STOPS: Final = frozenset(",;:()")
_CONTRACTED: Final = {
    "i'm": "User is",
    "i've": "User has",
    "i'll": "User will",
    "i'd": "User would",
    "im": "User is",
    "ive": "User has",
    "we're": "{we} is",
    "we've": "{we} has",
    "we'll": "{we} will",
    "we'd": "{we} would",
}
_AUXILIARY: Final = {
    "am": "is",
    "are": "is",
    "ain't": "is not",
    "aren't": "is not",
    "isn't": "is not",
    "have": "has",
    "haven't": "has not",
    "do": "does",
    "don't": "does not",
    "dont": "does not",
    "doesn't": "does not",
    "didn't": "did not",
    "didnt": "did not",
    "won't": "will not",
    "wont": "will not",
    "can't": "cannot",
    "cant": "cannot",
    "couldn't": "could not",
    "wouldn't": "would not",
    "shouldn't": "should not",
    "wasn't": "was not",
    "weren't": "was not",
    "were": "was",
    "hadn't": "had not",
    "mustn't": "must not",
    "hasn't": "has not",
    "will": "will",
    "can": "can",
    "cannot": "cannot",
    "could": "could",
    "would": "would",
    "should": "should",
    "shall": "shall",
    "must": "must",
    "may": "may",
    "might": "might",
    "was": "was",
    "had": "had",
    "did": "did",
    "is": "is",
    "has": "has",
    "does": "does",
}
_OWN: Final = {
    "my": "User's",
    "mine": "User's",
    "me": "User",
    "myself": "themselves",
    "our": "User's",
    "ours": "User's",
    "us": "User's group",
    "ourselves": "themselves",
}
# Whatever `third_person` may change begins with one of these, or is a verb that goes on after one.
_SPEAKER: Final = regex(rf"(?<![^\W_])(?:i|im|ive|we|{'|'.join(_OWN)})(?![^\W_])")
_TEAM = regex(
    r"^we(?:'ve| have| are|'re)? (?:(?:now|just|finally|also|all|recently|already|have|then) )*(?:decided|"
    r"chose|chosen|switched|agreed|picked|adopted|migrated|use|using|ship|shipped|deploy|deployed|launched|"
    r"released|settled|run|rely|standardi[sz]ed|"
    r"went|going with|must|never|always|don't|do not|build|built|host|hired|renamed|replaced|dropped|"
    r"deprecated|merged|rewrote|moved (?:\w+ )?(?:from|to|off|away from) (?:postgres\w*|mysql|sqlite|"
    r"mongo\w*|redis|kafka|aws|gcp|azure|github|gitlab|\w+db|kubernetes|docker))\b"
)
_HOME = regex(
    r"^we(?:'re|'ve| are| have)? (?:(?:now|just|finally|also|both|all|recently|currently|already|still) "
    r")*(?:live|living|lived|moved|relocated|reside|based|settled (?:down )?in|made (?:the|our) move|bought|rent|own|"
    r"(?:have|got|adopted|rescued) (?:an?|two|three) (?:(?:\w+ ){0,3}?(?:dogs?|cats?|pupp(?:y|ies)|kittens?|"
    r"rabbits?|parrots?|"
    r"hamsters?|budgies?|tortoises?|birds?|pets?|horses?|pon(?:y|ies)|fish|guinea pigs?|child|baby|son|daughter)|"
    r"(?:\w+ ){1,3}?(?:called|named)))\b(?! (?:together|"
    r"apart|happily)\b)"
)
_NO_VERBS: Final = word_set("in at on from of to with for by")
_PARTICIPLES: Final = word_set("been had gone done seen made got lived taken known worked moved become better")
_BE: Final = word_set("is was has had will cannot can could would should must may might shall does did")


def we_are(clause: str) -> str | None:
    """Who "we" is in a clause that begins with it: "User", "User's team", or None where it is not clear."""
    text = plain(clause)
    if "we" not in text:
        return None
    text = without_lead(text)
    if _HOME.match(text) or _JOURNEY.match(clause.strip().translate(_APOSTROPHES)):
        return USER
    return "User's team" if _TEAM.match(text) or _HAS_TO.match(text) else None


_HAS_TO: Final = regex(
    r"^we(?:'ve)? (?:(?:now|also|all|still) )*(?:have|need|got|are due) to (?:ship|launch|release|"
    r"deliver|deploy|submit|"
    r"publish|go live|hand in|migrate|finish)\b"
)
"""What a team has to do, where no household does it."""
_JOURNEY: Final = regex(
    r"(?i:(?:(?:so|well|ok|okay|news|actually|this (?:year|summer|winter|autumn|spring|christmas|easter)|"
    r"next (?:year|month|week|summer|winter|spring)),? )?we(?:'re| are) (?:(?:all|both|now|still|just|really) )*"
    r"(?:going|off|flying|travelling|traveling|heading|driving)(?: on holiday)? to )(?:the )?[A-ZÀ-ÖØ-Þ][\w'-]+"
)
"""Who goes somewhere together, the user among them: a place has its capital, and what is going to be done has none."""


_PAST_TIME = worded(r"(?i)\b(?:yesterday|last|ago|in (?:19|20)\d\d|earlier)\b")


_SPEAKING: Final = frozenset(("i", "we", *_CONTRACTED, *_OWN))
_JOINERS: Final = frozenset("@_\\/.:-")
_ADDRESS = regex(r"[@_\\]|://|\w\.[a-z0-9]|/.*/|\w[-/:]\d")
_LONGEST_ADDRESS: Final = 100  # characters of an address that are looked at on each side of a word
_NAMED_ON = regex(r"-\w|/[A-Z]\b")


def _is_of_a_name(clause: str, found: re.Match[str], previous: str) -> bool:
    """Whether a word is no speaker but a part of something written as one: "me@home.org", "us-east-1", "the US"."""
    word, start, end = found.group(), found.start(), found.end()
    if word in ("US", "us") and (previous == "the" or (word == "US" and not clause.isupper())):
        return True
    before, after = clause[max(start - 2, 0) : start], clause[end : end + 2]
    goes_on = len(after) == 2 and after[0] in _JOINERS and after[1].isalnum()
    if not goes_on and before[-1:] not in _JOINERS:
        return False
    if goes_on and _NAMED_ON.match(clause, end):
        return True
    if not goes_on and before[-1] in ".-" and word not in ("me", "us"):
        return False  # a space was left out: "in Rome.my wife too"
    if not goes_on and before[-1] == "-":
        return before[0].isalnum()
    near = max(start - _LONGEST_ADDRESS, 0)
    whole = f"{clause[near:start].rpartition(' ')[2]}{clause[start : start + _LONGEST_ADDRESS].partition(' ')[0]}"
    return _ADDRESS.search(whole.strip(".,;:!?()\"'")) is not None


@lru_cache(maxsize=4096)
def third_person(clause: str) -> str:
    """A first-person clause as a statement about the user: "I'm in my flat" → "User is in User's flat"."""
    if _SPEAKER.search(clause.translate(_APOSTROPHES).casefold()) is None:
        return clause  # nobody speaks of themselves in it: nothing is said otherwise
    group = we_are(clause) or "User's group"
    past = _PAST_TIME.search(clause) is not None
    out: list[str] = []
    told = 0  # where what is not in `out` yet begins
    awaiting = False  # whether the next word that is no adverb is the verb of "I"
    beside = 0  # where what is put in behind the subject ends: "I, however, like tea"
    previous = ""
    compounds = 0
    joined = predicates.joined(clause)
    ascii_only = clause.isascii()
    for match in _TOKEN.finditer(clause):
        raw, place = match.group(), match.start()
        if place < beside:
            continue
        if raw in _STOPS:
            put_in = _PUT_IN.match(clause, place) if awaiting else None
            beside = 0 if put_in is None else put_in.end()
            awaiting = put_in is not None
            continue
        word = raw.casefold() if ascii_only else raw.translate(_APOSTROPHES).casefold()
        goes_on = place in joined and not awaiting
        is_said = not _is_of_a_name(clause, match, previous) if word in _SPEAKING else awaiting or goes_on
        if not is_said:
            previous = word  # most words are nobody's
            continue
        if goes_on:
            written = _AUXILIARY.get(word) or verbs.third_person(word)
        elif awaiting and _is_put_before(word, previous, clause[match.end() : match.end() + _AHEAD]):
            written = _OWN.get(word, raw)
        else:
            together = previous == "and" and word in ("i", "we") and compounds < _MOST_COMPOUNDS
            compounds += together
            together = together and predicates.is_compound(clause[: match.start()])
            written, awaiting = _third(raw, word, previous, awaiting, group, past, together)
        out += clause[told:place], written
        told, previous = match.end(), word
    return "".join(out) + clause[told:]


_AHEAD: Final = 24
_MOST_COMPOUNDS: Final = 8  # places of a clause at which it is looked whether "and I" names one who does it too
# What somebody puts in behind "I" before the verb: ", however,", "(still)".
_PUT_IN = regex(
    r"(?i)(?:,(?! (?:and|or|but|who|which)\b)(?: (?!(?:i|we|my|me|our|us)\b)[\w'’-]+){1,4},|"
    r"\((?! ?(?:i|we|my|me|our|us)\b)[^()]{1,30}\))"
)
_NEXT = regex(r"\s+([\w'’]+)")


def _is_put_before(word: str, previous: str, ahead: str) -> bool:
    """Whether a word behind "I" stands before the verb: an adverb, "myself", a number ("I 100% agree")."""
    if word == "myself" or not word.isascii() or not word[0].isalpha():
        return word == "myself" or word[0].isdigit()
    if word == "of" and previous in ("kind", "sort"):
        return True
    following = _NEXT.match(ahead)
    return verbs.stands_before_verb(word, "" if following is None else following[1].casefold())


def _third(
    raw: str, word: str, previous: str, awaiting: bool, group: str, past: bool, together: bool
) -> tuple[str, bool]:  # fmt: skip
    """One word of a clause in the third person, and whether its verb is to come; `together` with somebody before."""
    if word in _CONTRACTED and (word not in ("im", "ive") or not previous):
        return _CONTRACTED[word].replace("{we}", group), False
    if word in ("i", "we") and (word == "we" or raw == "I" or not previous or previous in _JOINTS):
        return (USER if word == "i" else group), not together
    if word in _OWN:
        return _OWN[word], False
    if not awaiting or word in _NO_VERBS or word in ("and", "or", "who", "that", "better"):
        return raw, False  # "and I in Oslo" leaves the verb out
    if word in _AUXILIARY:
        return _AUXILIARY[word], False
    formed = word if past and word in verbs.SAME_IN_PAST else verbs.third_person(word)
    return (formed if formed != word else raw), False


_INTRODUCED = regex(
    r"(?i:\W*(?:hi|hello|hey|greetings|good (?:morning|evening|afternoon))(?: there| everyone| "
    r"all)?)[\s,!.:–—-]+(?:I['’]?m|I am|this is)\s+([A-ZÀ-ÖØ-Þ][\w'’-]*(?: "
    r"[A-ZÀ-ÖØ-Þ][\w'’-]*){0,2})(?=\s*(?:[.,!;]|$)|\s+(?:and|from|here)\b)"
)


# Without a greeting it may be how somebody is, "I'm Cherokee", but for one who is glad to be met.
_MET = regex(
    r"\W*(?i:I['’]?m|I am)\s+([A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*){0,2})"
    r"(?i:\s*[,.!–—-]+\s*(?:nice|pleased|glad|good|great|lovely) to meet you\b)"
)
_SHORT_NAME = regex(r"(?i:\W*(?:(?:hi|hello|hey)(?: there)?[\s,!.:–—-]+)?my name['’]s\s+)(?=\S)")


@lru_cache(maxsize=1024)
def introduction(sentence: str) -> str | None:
    """ "Hi, I'm Ada" as what it means: "My name is Ada"; None for every other sentence."""
    short = _SHORT_NAME.match(sentence)
    if short is not None:
        return "My name is " + sentence[short.end() :]
    match = _INTRODUCED.match(sentence) or _MET.match(sentence)
    if match is None or any(
        plain(word) in names.NOT_NAMES or plain(word) in _NO_PERSON for word in match.group(1).split()
    ):
        return None
    return f"My name is {match.group(1)}"


_JOINTS: Final = word_set("and but so because that when while since as though although if where before after until")

# ------------------------------------------------ subjects

_PEOPLE = """
    mother father mom mum dad mommy daddy parent parents sister sisters brother brothers sibling siblings son sons
    daughter daughters child children kid kids baby wife husband spouse partner girlfriend boyfriend fiance fiancé
    fiancee fiancée ex ex-wife ex-husband ex-girlfriend ex-boyfriend aunt uncle cousin cousins niece nephew
    grandma grandpa grandmother grandfather grandparents grandson granddaughter granny twin twins stepmother
    stepfather stepmom stepdad stepson stepdaughter stepsister stepbrother mother-in-law father-in-law
    sister-in-law brother-in-law in-laws family relatives friend friends buddy pal bestie roommate roommates
    flatmate flatmates housemate neighbour neighbor neighbours neighbors colleague colleagues coworker coworkers
    co-worker co-workers teammate teammates team boss manager supervisor lead mentor mentee intern assistant
    employee employees client clients customer customers boss's teacher professor tutor coach trainer therapist
    doctor dentist lawyer accountant landlord landlady tenant nanny babysitter advisor adviser student students
    classmate classmates guest guests date crush godmother godfather dog cat puppy kitten parrot hamster rabbit
    horse pet pets fish company employer startup school university ceo cto cfo vendor supplier contractor agent
    realtor barber hairdresser vet hotel bank gym
"""
PEOPLE: Final = frozenset(_PEOPLE.split())
PERSONS: Final = PEOPLE - {"bank", "company", "employer"}
"""Those of them who are somebody, and no firm."""
_ADJECTIVE = r"(?:[\w'-]+ ){0,3}?"
_KIN_VALUE = r"(?:'s name)? (?:is|was|will be|became|changed|has been)\b"
_VERB_AHEAD = regex(r"^(?P<np>(?:my|our|user's|the user's) (?:[\w'\-]+ ){0,3}?(?P<head>[\w\-]+))(?P<own>'s)?(?= |$|,)")
_SELF_START = regex(r"^(?:i|i'm|im|i've|ive|i'll|i'd|(?:the )?user)\b(?!'s)(?! (?:and|or) )")
_WE_START = regex(r"^(?:we|we're|we've|we'll)\b")
_TEMPORAL_LEAD = regex(
    rf"^(?!(?:(?!(?:i|my|we|user|user's) )[\w']+ ){{1,4}}(?:{_OTHERS_SAY}|means?|meant|proves?|implies|"
    r"indicates?|lists?|assumes?) )"
    r"(?:(?:last|this|next|in|on|since|from|as of|at|during|until|after|before|starting|for|back in|early|"
    r"late|over|by|instead of)(?: (?:the|last|past|about|around))? (?:\w+ ?){1,3}?(?:,|(?= i\b| i'm\b| i've\b| "
    r"my\b| we\b| user\b| user's\b| the user\b))"
    r"|the (?:\w+ ){0,2}?(?:(?:day|week|weekend|month|year|summer|spring|winter|morning|evening|afternoon|night|"
    r"time|moment|"
    r"minute|hour|semester|term|quarter|decade|holiday)s?|autumn|fall)(?: (?:after|before|of) (?:\w+ ?){1,2}?)?"
    r"(?:,|(?= i\b| i'm\b| i've\b| my\b| we\b| user\b| user's\b| the user\b))"
    r"|(?:yesterday|today|tonight|now|nowadays|currently|recently|lately|these days|right now|at the "
    r"moment|this morning|(?:\w+ ){1,2}(?:days?|weeks?|months?|years?) ago|at work|at home|in total|"
    r"because|as|since|now that|and|but|so|that|like i said|[\w']+,(?= (?:i|i'm|i've|my|we|user|user's)\b)|"
    r"as a result|for work|for years|"
    r"\d{4}-\d\d-\d\d),?) +"
)


@lru_cache(maxsize=1024)
def without_lead(text: str) -> str:
    """Compared text without what leads in to its subject: "last month, i moved" → "i moved"."""
    text = text[lead_length(text) :]
    for _ in range(2):
        lead = _TEMPORAL_LEAD.match(text)
        if lead is None or lead.end() >= len(text):
            break
        text = text[lead.end() :].lstrip(" ,")
    return text


def is_self(subject: str, user_name: str | None) -> bool:
    """Whether a stated subject is the user themselves."""
    name = plain(subject)
    return name in SELF_NAMES or (user_name is not None and name == plain(user_name))


@lru_cache(maxsize=1024)
def subject_of(sentence: str, *, role: str | None = None, user_name: str | None = None) -> str:
    """Whose statement a sentence is: "self", "unknown", or the name of somebody else as compared text."""
    text = without_lead(plain(sentence)).strip(" .!,;:\"'")
    first_person = role in FIRST_PERSON_ROLES
    if user_name:
        name = re.escape(plain(user_name))
        text = re.sub(rf"^{name}(?='s\b|\b)", "user", text)
    if _SELF_START.match(text):
        return SELF if first_person or text.startswith(("user", "the user")) else UNKNOWN
    if _WE_START.match(text):
        return SELF if first_person and we_are(sentence) is not None else UNKNOWN
    if text.startswith(("me and ", "user and ")) and first_person:
        return SELF
    if _WITH_USER.match(text) and (first_person or "user" in text):
        return SELF
    said = sentence.strip()[lead_length(sentence.strip()) :]
    if first_person and attributes.is_of_user(said, plain(said).strip(" .!,;:\"'")):
        return SELF
    owned = _owned(text)
    if owned is not None:
        if not first_person and text.startswith(("my ", "our ")):
            return UNKNOWN
        return owned
    named = _NAMED.match(sentence.strip()[lead_length(sentence.strip()) :])
    return plain(named.group(1)) if named and plain(named.group(1)) not in _NOT_NAMED else UNKNOWN


_NAMED = regex(
    r"((?:Dr\. |Mr\. |Mrs\. |Ms\. |Prof\. )?[A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*){0,2})(?= "
    r"(?:(?:now|currently|still|also|just|recently|already|no longer) )?(?:is|was|"
    r"lives?|lived|works?|worked|likes?|loves?|prefers?|has|had|moved|manages?|owns?|leads?|wants?|got|"
    r"uses?|"
    r"needs?|hates?|speaks?|teaches|studies|plays?|left|joined|said|told|will|and (?!I\b)|can|does|did|must|cannot|"
    r"(?:is|was|does|did|has|ca|wo)n['’]t)\b)"
)
_NOT_NAMED: Final = word_set(
    "i it he she they we you this that there these those the a an what who where when how why my our his "
    "her their your its everyone someone nobody if but and so no yes not user"
)


# The user is in the sentence, though not in front: "my wife and I live in Rome", "Priya is my manager now".
_WITH_USER = worded(
    r"^(?:(?:my|user's) [\w-]+ and (?:i|user) (?:\w+ly |now |just |both |all |currently )?(?:live|reside|"
    r"moved|relocated|settled|are|have|decided|chose|bought)\b"
    r"|[\w' .-]{1,40} (?:is|became|has become|remains|is no longer|is not|isn't|stopped being) (?:now |still )?"
    r"(?:user's|my) (?:\w+ )?(?:manager|boss|supervisor)(?: now| these days| again| any ?more)?$"
    r"|[\w' .-]{1,40} (?:became|has become) (?:user's|my) (?:\w+ )?(?:manager|boss|supervisor) (?:last|this|in|on|"
    r"since|yesterday|today|recently|two|three|a)\b)"
)


def _owned(text: str) -> str | None:
    """The subject of a clause that begins with something of the user's: the person owned, or the user."""
    if not text.startswith(("my ", "our ", "user's ", "the user's ")):
        return None
    words = re.sub(r"^(?:my|our|user's|the user's) ", "", text).split(" ")
    taken: list[str] = []
    for word, after in zip_longest(words[:5], words[1:6], fillvalue=""):
        bare = word.strip(",.;:!?")
        if bare.removesuffix("'s") in _VISITED and after.strip(",.;:!?") in _VISITS:
            return SELF  # "my dentist appointment" says nothing of the dentist
        if bare in PEOPLE and after.strip(",.;:!?") in _ON_FILE:
            return SELF  # nor "my customer number" of a customer
        if bare.endswith("'s") and bare[:-2] in PEOPLE:
            return _owned_thing(taken, bare, words[len(taken) + 1 :])
        if bare in _FINITE:
            break
        taken.append(bare)
        if bare in PEOPLE and (len(taken) >= len(words) or words[len(taken)].strip(",") not in PEOPLE):
            break
        if word != bare:
            break
    head = taken[-1] if taken else ""
    if head not in PEOPLE:
        return SELF
    rest = " ".join(words[len(taken) :])
    if re.match(r"(?:is|was|are|were|changed|has changed|switched|used to be) ", rest) and head in _RELATIONS_WITH_SLOT:
        return SELF  # "my manager is Priya" says who the user's manager is
    return "user's " + " ".join(taken)


def _owned_thing(taken: list[str], owner: str, rest: list[str]) -> str:
    if owner[:-2] in _RELATIONS_WITH_SLOT and not taken and rest[:2] == ["name", "is"]:
        return SELF
    return "user's " + " ".join([*taken, owner[:-2]])


_VISITED: Final = word_set(
    "dentist doctor gp therapist physiotherapist optician hairdresser barber vet lawyer accountant psychiatrist "
    "psychologist dermatologist orthodontist cardiologist chiropractor midwife"
)
_VISITS: Final = word_set("appointment appointments check-up checkup prescription referral")
_ON_FILE: Final = word_set("number id account card")
"""What somebody has where they are on file: they are the customer, the student or the employee themselves."""
_RELATIONS_WITH_SLOT: Final = frozenset(("manager", "boss", "supervisor"))
_FINITE: Final = word_set(
    "is are was were has have had will would can could should must may might does do did lives live lived "
    "moved works worked likes loves prefers wants needs got said just now currently also still"
)


# ------------------------------------------------ reading


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text as rules see it: its words, its subject, its mood, and its canonical form.

    `canonical` is compared text in the third person with the subject written "user", without what leads in.
    """

    text: str
    compared: str
    canonical: str
    subject: str
    mood: Mood
    start: int
    end: int
    joint: str = ""
    completed: bool = False
    shared: bool = False


def clauses(
    sentence: str,
    *,
    role: str | None = None,
    user_name: str | None = None,
    subject: str | None = None,
    after_self: bool = True,
) -> tuple[Clause, ...]:
    """The clauses of one sentence, each with its subject and mood; a doubt about one is a doubt about those after it.

    Predicates that share a subject are clauses of their own: of "I'm vegan and live in Rome" the second is read as "I
    live in Rome". Its span is its own words; `completed` says that `text` holds more than them, `shared` that the
    subject was given to it. A sentence without a subject ("Just moved to Perth") is the user's only `after_self`: at
    the start of a text or after a sentence about the user.
    """
    asked = _question_start(sentence)
    if asked is not None:
        said, asks = (
            clauses(part, role=role, user_name=user_name, subject=subject, after_self=after_self)
            for part in (sentence[: asked[0]], sentence[asked[1] :])
        )
        return (*said, *(_moved(clause, asked[1]) for clause in asks))
    whole = mood_of(sentence)
    found: list[Clause] = []
    carried: Mood = "statement"
    for start, end, joint in clause_spans(sentence):
        part = sentence[start:end]
        mood: Mood = whole if whole in ("question", "conditional", "quotation") else mood_of(part)
        if joint not in _SET_APART and carried in _CARRIED and mood != "command":
            mood = carried
        carried = mood
        for text, first, last, shared in _statements(part, mood, after_self and role in FIRST_PERSON_ROLES):
            own = mood_of(text) if shared or last < len(part) else mood
            found.append(
                Clause(
                    text,
                    plain(text),
                    _canonical(text, role=role, user_name=user_name, subject=subject),
                    subject_of(introduction(text) or text, role=role, user_name=user_name),
                    own,
                    start + first,
                    start + last,
                    joint,
                    completed=text != part[first:last],
                    shared=shared,
                )
            )
    return tuple(found)


def _moved(clause: Clause, by: int) -> Clause:
    """A clause of a question that follows a statement, at its place in the whole sentence."""
    return replace(clause, mood="question", start=clause.start + by, end=clause.end + by)


_ASKED = regex(r"(?:\s*[,;:]\s*|\s*[—–]\s*|\s+-\s+|\s+(?=(?:so|and|but)\b))(?:(?:so|and|but|then|now)\b,?\s+)?", re.I)
# What asks whether the statement before it is true, or what would be if it were: then it states nothing.
_DOUBTS = regex(
    r"^(?:(?:is|isn't|was|wasn't|am|are|aren't|do|don't|did|didn't|does|doesn't|have|haven't|has|hasn't|can|can't|will|"
    r"won't|would|wouldn't|should|shouldn't) (?:i|we|you|he|she|it|they|that|this)(?: not)?\W*$"
    r"|(?:is|isn't|was|wasn't|was|does) (?:that|it|this) (?:really |actually |still )?(?:right|true|correct|so|wrong|"
    r"accurate|not|sound|what|possible|real|ok|okay|the case)\b"
    r"|(?:would|could|might|will)(?:n't)? (?!you\b)|(?:what|where|who|how|when|why|which)\b.* would (?!you\b)"
    r"|what if\b|what makes\b|why\W*$|why (?:do|did|would|are) (?:you|they)\b|who (?:told|said|says)\b|how (?:do|did|"
    r"can|would) you know\b|(?:do|did|don't|didn't) you (?:think so|believe|remember|agree|know that|say|mean|hear|"
    r"doubt)\b"
    r"|(?:are|aren't) you sure\b|(?:do|did|am|was|have|don't|didn't|haven't) i\b|(?:where|who|what) (?:do|did|am|is) "
    r"(?:i|my) (?:live|name|manager|called)\b|what do you think\b|really\b|right\b|(?:can|could|would) you (?:confirm|"
    r"verify|imagine|believe|check (?:that|if|whether)))"
)
_ANY = regex(r"any [\w' -]{1,60}\?+$")
_SAY = regex(r"(?:say|let|given)\b")
_TOLD: Final = ("statement", "plan", "reported")


@lru_cache(maxsize=4096)
def _question_start(sentence: str) -> tuple[int, int] | None:
    """Where a statement ends and the question behind it begins: "I live in Ottawa, | what should I eat?"."""
    if mood_of(sentence) != "question":
        return None
    written = sentence.translate(_APOSTROPHES)
    for joint in list(_ASKED.finditer(written))[:_MAX_JOINTS]:
        rest = plain(written[joint.end() :])
        if not (_QUESTION.match(rest) or _INDIRECT.match(rest) or _ANY.match(rest)):
            continue
        said = sentence[: joint.start()]
        before = plain(said)
        told = mood_of(said) in _TOLD and _HAS_SUBJECT.search(before) and not _SAY.match(before)
        return (joint.start(), joint.end()) if told and not _DOUBTS.match(rest) else None
    return None


_MAX_JOINTS: Final = 20


def leaves_self(sentence: tuple[Clause, ...]) -> bool:
    """Whether the next sentence may leave its subject out and still be about the user."""
    last = sentence[-1]
    return last.subject == SELF or _GREETING.match(last.compared) is not None


_GREETING = regex(
    r"^(?:hi|hello|hey|thanks|thank you|ok|okay|yes|yeah|no|nope|sure|great|good (?:morning|evening|afternoon|news)|"
    r"well|cool|wow|update|big news|guess what)(?: [\w-]+)?[.!,:… ]*$"
)
_CARRIED: Final = ("reported", "hypothetical", "plan")
_SPLIT: Final = ("statement", "plan")
_MAY = regex(r"\b(?:would|might|could|should|may)\s+")


def _only_at_the_end(parts: tuple[predicates.Predicate, ...], part: str) -> bool:
    """Whether a clause supposes in its last predicate only, by its own verb: "I live in Rome and might move"."""
    *stated, last = [f"{found.given} {part[found.start : found.end]}".strip() for found in parts]
    supposed = _MAY.sub("", last, count=1)
    return all(mood_of(text) in _SPLIT for text in stated) and supposed != last and mood_of(supposed) in _SPLIT


def _statements(part: str, mood: Mood, elided: bool) -> Iterator[tuple[str, int, int, bool]]:
    """What a clause states: its text made whole, its characters, and whether its subject was given to it."""
    if mood not in _SPLIT and mood != "hypothetical":
        yield part, 0, len(part), False
        return
    named = _apposition(part) if mood in _SPLIT else None
    if named is not None:
        yield named
    described = _described(part) if mood in _SPLIT else None
    if described is not None:
        yield from described
        return
    place = lead_length(part)
    written = part.translate(_APOSTROPHES)
    made_whole = elision(part[place:]) if elided and mood in _SPLIT else None
    if made_whole is not None:
        yield made_whole, 0, len(part), False
        return
    parts = predicates.split(written, place, place + _time_length(written[place:]))
    unclear = any(found.given[:2] == "We" for found in parts) and we_are(part) != USER
    if unclear or (mood == "hypothetical" and not (len(parts) > 1 and _only_at_the_end(parts, part))):
        yield part, 0, len(part), False
        return
    for found in parts:
        words = part[found.start : found.end]
        yield (
            f"{_WE.sub('I', found.given)} {words}" if found.given else words,
            found.start,
            found.end,
            bool(found.given),
        )


_WE = regex(r"\bWe(?=$|'re$)")
_JUST = regex(
    r"(?:(?:just|recently|finally|also|now)\s+)*(?:(?:moved|relocated|switched|changed|returned|upgraded|went|"
    r"converted)\s+"
    r"(?:(?:back|house|over|from\s+[^,.;:!?]{1,40})\s+)?to|(?:started|quit|stopped|resumed|gave\s+up|took\s+up|joined|"
    r"dropped|ditched|cancelled|canceled|swapped|replaced|sold|adopted|resigned|retired|became|got\s+(?:hired|promoted|"
    r"engaged|married|divorced|fired|laid|rid)|broke\s+up|split\s+up|signed\s+up|settled\s+(?:down\s+)?in))\s+(?!it\b|"
    r"that\b|this\b|by\b|with\s+a\s+question)\w",
    re.I,
)
_NOWADAYS = regex(
    r"(?:(?:now|currently|still)\s+)?(?:living|based|residing)\s+in\s+[^,.;:!?]{1,60}?"
    r"(?:\s+(?:now|these days|nowadays|currently|at the moment|right now))?[\s.!]*$",
    re.I,
)
_NOWADAYS_SAID = regex(r"(?i)\b(?:now|these days|nowadays|currently|at the moment|still)\b")


def elision(clause: str) -> str | None:
    """A clause that leaves "I" out, made whole: "Just moved to Perth" → "I just moved to Perth"; None for others."""
    if _JUST.match(clause):
        return "I " + clause[:1].lower() + clause[1:]
    if _NOWADAYS.match(clause) and _NOWADAYS_SAID.search(clause):
        return "I'm " + clause[:1].lower() + clause[1:]
    return None


_APPOSED = regex(
    r"(?P<who>(?:my|our|(?:the )?user['’]s) (?:[\w-]+ )?(?P<head>[\w-]+)), "
    r"(?P<name>(?-i:(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?[A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*){0,2})), "
    r"(?:is|has|lives|works|says|wants|likes|loves|prefers|needs|thinks|always|never|just|also|will|can)\b"
    r"(?! (?:leaving|retiring|no longer|not my|gone|quitting|dead))",
    re.I,
)


def _apposition(part: str) -> tuple[str, int, int, bool] | None:
    """Who somebody is, said in passing: "My manager, Kai, is on leave" → "My manager is Kai"."""
    if "," not in part:
        return None
    place = lead_length(part)
    match = _APPOSED.match(part, place)
    if match is None or plain(match.group("head")) not in PEOPLE:
        return None
    if any(plain(word) in names.NOT_NAMES for word in match.group("name").split()):
        return None
    return f"{match.group('who')} is {match.group('name')}", place, match.end("name"), False


_DESCRIBED = regex(
    r"(?P<who>(?i:I['’]?m|I am|my name is)) (?P<name>[A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*){0,2}), "
    r"(?P<what>an? (?!bit\b|little\b|friend\b|fan\b|lot\b|[^,;:]*\b(?:[Ii]|[Mm]y|we|our|me|us)\b)"
    r"[^,;:]{3,80}(?<! name)(?<! one))$"
)
_NO_PERSON: Final = word_set(
    "sorry team lead junior chief head pro anti gen generation type group level day week part number option "
    "player patient aries taurus gemini virgo libra scorpio sagittarius capricorn aquarius pisces vegan "
    "vegetarian pescatarian keto diabetic celiac autistic dyslexic bipolar adhd bisexual gay straight queer trans "
    "nonbinary lesbian asexual deaf blind introvert extrovert done ready hungry thirsty hot cold bored serious "
    "lost stuck open alone broke afraid proud glad well better worse available lucky jealous nervous anxious "
    "curious homeless retired widowed divorced engaged mom mum dad mother father grandma grandpa granny aunt "
    "uncle nurse doctor teacher student legend human robot bot ai"
)
"""What is written as a name and says what somebody is, or where they stand."""
_AGED = regex(r"an? (?P<years>[1-9]\d?|1[01]\d)[ -]years?[ -]old (?P<what>[a-z][^,;:]{2,60})$")


def _described(part: str) -> Iterator[tuple[str, int, int, bool]] | None:
    """Who somebody is and what, said in one: "I'm Ada, a 36-year-old engineer from Ottawa"; None for others."""
    place, end = lead_length(part), len(part.rstrip(" .!"))
    match = _DESCRIBED.match(part[:end], place)
    if match is None or any(
        plain(word) in names.NOT_NAMES or plain(word) in _NO_PERSON for word in match["name"].split()
    ):
        return None
    told = [(f"My name is {match['name']}", place, match.end("name"), True)]
    what, first = match["what"], match.start("what")
    aged = _AGED.match(what)
    if aged is not None:
        begins = first + aged.start("what")
        told.append((f"I'm {aged['years']} years old", first, begins, True))
        what, first = f"{'an' if aged['what'][0] in 'aeiou' else 'a'} {aged['what']}", begins
    told.append((f"I'm {what}", first, end, True))
    return iter(told)


_TIME_LEAD: Final = regex(
    r"(?:(?:last|this|next|in|on|since|from|as of|at|during|until|starting|back in|early|late)(?: (?:the|last|past|"
    r"about|around))?(?: [\w-]+){1,3}?|yesterday|today|nowadays|currently|recently|lately|these days|right now|at the "
    r"moment|this morning|(?:[\w-]+ ){1,2}(?:days?|weeks?|months?|years?) ago),? "
    r"(?=(?:i|i'm|i've|my|we|we're|we've|our|the user|user|user's)\b)",
    re.I,
)


def _time_length(text: str) -> int:
    """How many characters at the start only say when: "Last month, I moved"."""
    lead = _TIME_LEAD.match(text)
    return lead.end() if lead is not None else 0


_THE_USER = regex(r"^the user\b")


def _canonical(part: str, *, role: str | None, user_name: str | None, subject: str | None) -> str:
    masked, _ = _without_quotes(part.strip())
    text = introduction(masked) or masked[lead_length(masked) :]
    if role in FIRST_PERSON_ROLES:
        text = third_person(text)
    text = without_lead(plain(text)).strip(' .!,;:…。"')
    text = _THE_USER.sub("user", text) if text.startswith("the user") else text
    name = user_name if subject is None else subject
    if name:
        text = re.sub(rf"^{re.escape(plain(name))}(?='s\b|\b)", "user", text)
    return text
