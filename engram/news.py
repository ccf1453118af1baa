"""News of a value: what a statement says of a name or a number that was told before, in whatever words. Pure.

`courses` reads the grammar of an end or a change, and misses what its grammar does not have. Here nothing is read but
three things that people's wordings have in common: the *values* a statement names (a name with its capital, a number),
the *signs* it gives (of an end, a change, a way back, a slip), and which of the values a memory holds. So "the X shut
for good, it's Y that does my prescriptions now" is news of the memory that holds X, though no verb of it is known. What
is held decides which of two values is the old one; where two memories may be meant, or none, a statement is no news.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engram import courses, names
from engram.text import compared


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_READ: Final = 180

# ------------------------------------------------ values

_VALUE: Final = re.compile(
    r"(?<![\w'’])(?:[A-ZÀ-ÖØ-Þ](?:(?<=D)r\.? [A-Z]|(?<=M)r\.? [A-Z]|(?<=M)rs\.? [A-Z]|(?<=M)s\.? "
    r"[A-Z]|(?<=P)rof\.? [A-Z]|"
    r"(?<=S)t\.? [A-Z])?[\w'’&-]*(?: (?:(?:of|the|de|van|von|&) )?[A-ZÀ-ÖØ-Þ0-9][\w'’&-]*){0,3}|"
    r"[€$£]?\d[\d.,:]*(?<![.,:])[€$£%]?(?: (?:euros?|dollars?|pounds?|kilos?|kg|lbs?|stone|km|miles?|"
    r"metres?|meters?|cm|am|pm|"
    r"o'clock|mg|hours?|percent))?)"
)
_HOURS: Final = (
    r"(?:(?:half|quarter|five|ten|twenty) (?:past|to) )?(?:one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|"
    r"noon|midnight)"
)
_HOUR: Final = re.compile(_HOURS)
_AT_HOUR: Final = re.compile(
    rf"\b(?:at|is|to) ({_HOURS})(?=[,.;!]?$|,| (?:now|again|these|any|instead|rather|not|as|o'clock|sharp|from)\b)"
)
_SAID: Final = frozenset(names.NOT_NAMES) | _words(
    "user user's user’s i i'm i've i'd i'll my our we me the a an no not yes still back now new just "
    "sorry so and but it "
    "it's its is this that these those they he she you there here what who when where how why since after before from "
    "in on at to for with by of as if then also only once never always please well oh ok okay actually correction "
    "excuse pardon wrong typo scratch scrap forget bye goodbye hello done left quit gone mixed got been had has have "
    "guess today yesterday january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday mum mom dad grandma grandpa christmas easter english"
)


@lru_cache(maxsize=4096)
def values(written: str) -> tuple[str, ...]:
    """The names and numbers a statement gives as values; the word it begins with only where there is no other."""
    found: list[str] = []
    first: list[str] = []
    for match in _VALUE.finditer(written):
        value = _without_said(match.group())
        if value:
            opens = match.start() == 0 and value == match.group() and " " not in value and value.isalpha()
            (first if opens else found).append(value)
    found += _AT_HOUR.findall(written)
    chosen = found or (first if _DOES.match(written) else [])
    return tuple(dict.fromkeys(one.removesuffix("'s") if one in first else one for one in chosen))


_DOES: Final = re.compile(
    r"[^\s,]+ (?:and (?:User|me|I)\b|(?:(?:now|still|again|has|is|was|will|also|always|just|no longer|"
    r"doesn't) )*(?!is\b|"
    r"are\b)[a-z]+(?:s|ed|n't"
    r"|ing|ame|ook|ent|eft|ave|one)\b)"
)


def _without_said(value: str) -> str:
    """A value without words that are written with a capital for another reason, at its start."""
    parts = value.split()
    while parts and re.split("['’](?!s$)", parts[0].casefold())[0] in _SAID:
        parts = parts[1:]
    return " ".join(parts)


def value_in(written: str) -> str | None:
    """The one value a memory gives; None where it gives none or several."""
    found = values(written)
    return found[0] if len(found) == 1 else None


def is_number(value: str) -> bool:
    """Whether a value is a number or an hour, with or without what it counts."""
    return value.lstrip("€$£")[:1].isdigit() or _HOUR.fullmatch(value) is not None


def masked(said: str, value: str) -> str | None:
    """Compared text with a mark in the place of a value; None where it does not name it."""
    place = said.find(value) if value else -1
    while place >= 0:
        end = place + len(value)
        if (place == 0 or not _is_of_word(said[place - 1], "'-")) and (
            end == len(said) or not _is_of_word(said[end], "-")
        ):
            return f"{said[:place]}@{said[end:]}"
        place = said.find(value, place + 1)
    return None


def _is_of_word(char: str, beside: str) -> bool:
    return char.isalnum() or char == "_" or char in beside


# ------------------------------------------------ signs

_SIGNS: Final = _words(
    "now nowadays days instead again back returned anymore more longer over finished done history end ended left quit "
    "cancelled canceled dropped ditched stopped gave given finished through changed switched swapped moved new gone "
    "retired closed shut folded expired expire lapse replaced took taken not meant wrong mistake "
    "typo misread misreads mixed "
    "misspoke correction scratch scrap forget never said told called still always no abandoned ended goodbye bye "
    "farewell dead died sold lost returned handed parted ported isn't wasn't doesn't don't aren't become became since "
    "got joined let ran transferred unsubscribed resigned dumped sorry actually nope"
)


def may_tell(sentence: str) -> bool:
    """Whether a sentence has a word without which nothing is read here, or a value: quick."""
    if len(sentence) > MAX_READ:
        return False
    words = sentence.replace(",", " ").replace(".", " ").replace("’", "'").casefold().split()
    return not _SIGNS.isdisjoint(words) or _NAMED_THING.search(sentence) is not None


_NAMED_THING: Final = re.compile(r"(?i)^(?:my|our) |^(?:i|we|they) (?:\S+ ){1,5}?(?:the|my|our|me) ")


def may_be_news(said: str, named: Sequence[str]) -> bool:
    """Whether compared text with its values says of one that it ended, goes on, came back or came for another."""
    if not 0 < len(named) <= _TWO:
        return False
    if is_new(said) or goes_back(said) or goes_on(said) or is_slip(said):
        return True
    if len(named) == _TWO:
        return is_pair(said, named)
    text = masked(said, _plain(named[0]))
    return text is not None and (_ENDS.search(text) is not None or _THING.search(text) is not None)


_DOUBT: Final = re.compile(
    r"\?|\b(?:maybe|perhaps|probably|hopefully|soon|next|tomorrow|if|unless|whether|would|might|may|could|should|will|"
    r"plan|plans|planning|want|wants|wish|hope|hopes|thinking|considering|almost|nearly|until|imagine|tonight|"
    r"yesterday evening|this (?:time|morning|afternoon|evening|weekend)|for (?:now|today|(?:the|a) "
    r"(?:day|night|morning|"
    r"afternoon|evening|week|weekend|while|moment))|(?:for|on|over) (?:holiday|lent|the weekend)|as a (?:child|kid|boy|"
    r"girl|teenager|student)|went from|by (?:train|plane|bus|boat|ferry))\b"
)


def is_pair(said: str, named: Sequence[str]) -> bool:
    """Whether of two values compared text says that one has gone and the other has come."""
    if len(named) != _TWO:
        return False
    one, other = map(_plain, named)
    return changes(said, one, other) or changes(said, other, one)


def _plain(value: str) -> str:
    return compared(value.replace("’", "'"))


def is_doubtful(said: str) -> bool:
    """Whether compared text supposes, plans or tells of something that passes."""
    return _DOUBT.search(said) is not None or courses.is_passing(said)


_GAP: Final = r"(?:[^\s,;:]+ ){0,4}?"
_STEP: Final = r"(?:[^\s,;:]+ ){0,2}?"
_AUX: Final = r"(?:(?:has|have|is|was|got|been|just|now|sadly|finally) )*"
_ENDS: Final = re.compile(
    rf"^(?:no|never) {_STEP}(?:any ?more|any longer)\b.*@"
    rf"|\b(?:no more|not (?:any ?more|any longer|more)|no longer|nothing more) {_GAP}@"
    rf"|\b(?:not|n't|no|never)\b(?! only\b) ?{_GAP}@ ?{_GAP}(?:any ?more|any longer|no more)\b"
    rf"|@ {_GAP}(?:no more|any ?more|any longer|no longer|not more)$"
    rf"|\b(?:done|finished|through|over) with {_STEP}@"
    rf"|^(?:user )?{_AUX}(?:left|quit|cancelled|canceled|ended|dropped|ditched|abandoned|terminated|unsubscribed from|"
    rf"resigned from|thrown out|threw out|got rid of|gotten rid of|given up|gave up|given back|gave back|handed in|"
    rf"handed back|returned|sold|lost|parted (?:ways|company) with|said goodbye to|let|stopped|switched off) "
    rf"(?:(?!at |in |on |to |an? |one |some |another |two )[^\s,;:]+ ){{0,4}}?@"
    rf"(?! (?:at|in|on|by|early|late)\b)"
    rf"|\bhanded (?:in|back) {_GAP}@"
    rf"|(?:^|[,;] )(?:good)?bye(?:[ -]bye)?,? {_STEP}@|^farewell,? {_STEP}@"
    rf"|@[,;]? (?:and (?:user|i|me),? )?{_STEP}(?:is|are|was|that's|that is|it's|has|have) (?:now |all |come to |at )*"
    rf"(?:an? )?(?:over|finished|history|dead|past|done|end|ended|closed|stopped|expired|retired|left|quit|shut)\b"
    rf"|@ (?:left|quit|retired|closed|shut|folded|stopped|expired|dumped user|let user go|lapsed)\b"
    rf"(?! (?:the|an?|her|his|their|my|user|early|at|for|to|home)\b)"
    rf"|^{_GAP}@ {_STEP}user {_AUX}(?:no more|given up|left|quit|stopped)\b"
)
_ASIDE: Final = re.compile(
    r"\b(?:today|yesterday|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|late|early|at home)\b"
)
_CLOCK: Final = re.compile(rf"\bat (?:about |around |half |quarter )*(?:{_HOURS}|\d)")
# What somebody likes best, or was once, is no less so when it is over.
_LASTS: Final = re.compile(r"\b(?:favou?rite|likes?|loves?|enjoys?|prefers?|grew up|was born|used to|was raised)\b")


def ends(said: str, held: str, value: str) -> bool:
    """Whether compared text says that the value of a memory is over, and of nothing else that has to do with it."""
    text, own = masked(said, value), masked(held, value)
    if text is None or own is None or _ENDS.search(text) is None or _ASIDE.search(text) is not None:
        return False
    if _LASTS.search(own) is not None or (not is_number(value) and _CLOCK.search(text) is not None):
        return False
    first, second = courses.topic(own), courses.topic(text)
    beside = len(second - first - _ENDING)
    if not beside or first & second:
        return True
    return _DONE_AT.search(text) is None and (beside == 1 or (beside <= _TWO and _IS_THE_THING.match(own) is not None))


_DONE_AT: Final = re.compile(
    r"\b(?:no longer|not|n't|never) [a-z]+ (?:at|in|on|near) (?:the )?@"
)  # "I no longer eat at X"


_IS_THE_THING: Final = re.compile(r"user's (?:[\w'-]+ ){1,3}(?:is|are) (?:called |named |with )?@|@ (?:is|are) user's ")


_ENDING: Final = courses.topic(
    "over finished finish done history end ended ends left quit cancelled cancel dropped ditched "
    "stopped stop gave give given "
    "gone let expire expired lapse ran run handed hand returned return key keys thrown threw "
    "switched parted ways way come "
    "came time retired closed shut dead dumped fired sold lost nothing customer client bye goodbye "
    "farewell took take put "
    "abandoned terminated resigned unsubscribed rid finally gladly practice shop card badge "
    "notice works work goes go "
    "been fed enough"
)

_NO: Final = (
    r"(?:not|n't|never|no longer|no more|instead of|rather than|in place of|replaced|swapped|traded|"
    r"exchanged|from|against|left|"
    r"quit|cancelled|canceled|dropped|ditched|abandoned|stopped|sold|retired|dumped|after|over from|"
    r"said|told you|called|wrote|typed|against|bye|goodbye|got rid of|without|done with|finished with|through with|"
    r"thought|succeeds|succeeded|follows|for)"
)
_GONE: Final = (
    r"(?:shut|closed|folded|retired|left|quit|expired|died|moved|went|gone|wasn't|isn't|is not|was not|broke|"
    r"out|stopped|ended|over|cancelled|lapse|gave up|given up|got rid|put|"
    r"no longer|sacked|fired|let user go|said no)"
)
_CHANGES: Final = re.compile(
    rf"\b{_NO} (?:user |user's |you |it |her |him |them |the |my |our |that |in |at |on |by |with |for |number )*@"
    rf"|@,? (?:contract |account |subscription )?{_AUX}{_STEP}{_GONE}\b"
)
_ANEW: Final = re.compile(
    r"\b(?:now|nowadays|these days|instead|from now on|any ?more|any longer|no longer|not|it's|it is|"
    r"meant|took over|taken "
    r"over|replaced|swapped|switched|changed|moved|over to|new|joined|so|from .* to|for|"
    r"against|got|taken|took|picked|signed|found|chose|went|i said|should)\b"
)


def changes(said: str, old: str, new: str) -> bool:
    """Whether compared text says that one value has gone and another has come, or was meant."""
    text = masked(said, old)
    other = None if text is None else masked(text, new)
    if text is None or other is None or _NOT_IT.search(masked(said, new) or "") is not None:
        return False
    if _ASIDE.search(said) is not None or (not is_number(old) and _CLOCK.search(said) is not None):
        return False
    return bool(_CHANGES.search(text) and _ANEW.search(said))


_NOT_IT: Final = re.compile(
    r"\b(?:not|never|n't|instead of|rather than|than|in place of) (?:in |at |with |the |user's )*@"
)


_BACK: Final = re.compile(
    r"^(?:user (?:is |has |went |got |came )?)?(?:back|returned|gone back|come back|went back|again)\b|"
    r"\b(?:again|once more|came back|come back|took user back|went back|gone back|going back|is back|"
    r"returned|old .* back)\b"
)


def goes_back(said: str) -> bool:
    """Whether compared text says that something is again as it was."""
    return _BACK.search(said) is not None


_STILL: Final = re.compile(r"\b(?:still|as always|as ever|as before|as usual)\b|^(?:yes|yeah|nope|no news),")


def goes_on(said: str) -> bool:
    """Whether compared text says that something is as it was told."""
    return _STILL.search(said) is not None


_SLIP: Final = re.compile(
    r"\b(?:meant|mistake|typo|misreads?|mixed|misspoke|correction|wrong|scratch that|scrap that|"
    r"mistyped|my bad|should have "
    r"said)\b|^(?:no|nope|oops|sorry|pardon|excuse user|actually)\b"
)


def is_slip(said: str) -> bool:
    """Whether compared text says that what was told was a mistake."""
    return _SLIP.search(said) is not None


_NEWLY: Final = re.compile(
    r"\b(?:now|nowadays|these days|instead|from now on|as of|since (?:some|last|this|a|mon|tues|wednes|thurs|fri|satur|"
    r"sun)\w*|no longer|any ?more|new|another|moved|changed|switched|ported|transferred|become|became|"
    r"took over|down to|"
    r"up to|joined)\b"
)
_BESIDE: Final = re.compile(r"\b(?:also|too|as well|another one|besides|in addition|second|both|sometimes|usually)\b")


def is_new(said: str) -> bool:
    """Whether compared text says that something has not always been so, and takes no place beside something."""
    if _NEW_WORDS.isdisjoint(said.replace(",", " ").split()) or _NEWLY.search(said) is None:
        return False
    return _BESIDE.search(said) is None


_NEW_WORDS: Final = _words(
    "now nowadays days instead from of since longer anymore any new another moved changed switched "
    "ported transferred become "
    "became over to joined"
)


# ------------------------------------------------ what two statements are about

_PLACE: Final = re.compile(r"\b(?:in|near|next to|on|from|outside) (?:the )?@")


def alike(held: str, old: str, told: str, new: str) -> float:
    """How much two statements are about one thing, of which each gives another value; 0 where they are not.

    They share a word by which a thing is called or what is done with it, and at most one of them says more.
    """
    one, other = masked(held, old), masked(told, new)
    if one is None or other is None or is_number(old) != is_number(new):
        return 0.0
    if (_PLACE.search(one) is None) != (_PLACE.search(other) is None):
        return 0.0
    first, second = courses.topic(one) - _AT_ALL, courses.topic(other) - _AT_ALL
    shared = first & second
    if _counted(old) & _counted(new):
        return 1.0
    if not shared or courses.is_of_several(shared) or courses.is_in_company(held) or courses.is_in_company(told):
        return 0.0
    if first - shared and second - shared and len(shared) < _TWO:
        return 0.0
    return len(shared) / max(len(first), len(second))


_TWO: Final = 2
_AT_ALL: Final = _words(
    "come alway dear give gave make made let take took up number usual bring brought find found hav old"
)
"""Stems that say as little of what a statement is about as "is" and "has"."""


def _counted(value: str) -> frozenset[str]:
    """What a number counts: "kilos"."""
    return frozenset(value.split()[1:2]) if is_number(value) else frozenset()


def says_no_more(said: str, held: str, value: str) -> bool:
    """Whether compared text says nothing but what a memory holds, beside that it goes on."""
    own, told = masked(held, value), masked(said, value)
    if own is None or told is None:
        return False
    first, second = courses.topic(own), courses.topic(told) - _AT_ALL - _GOING_ON
    more = second - first
    return not more or (len(more) < _TWO and bool(first & second))


_GOING_ON: Final = frozenset(("ye", "yeah", "nope", "new", "everi", "usual", "same"))


def names_its_thing(said: str, value: str) -> bool:
    """Whether compared text calls the user's thing by its noun and gives its value: "user's choir is X"."""
    text = masked(said, value)
    return text is not None and _THING.search(text) is not None


_THING: Final = re.compile(
    r"^user's (?:[\w'-]+ ){1,3}(?:is|are) (?:called |named |number |with |about )?@"
    r"|^user (?:is|has|goes|takes|uses|sings|works|lives|keeps|plays) (?:[a-z]+ ){0,4}?(?:the|user's) "
    r"[a-z]+ (?:number )?@"
    r"|^they gave user (?:the |a )?[a-z]+ (?:[a-z]+ )?(?:number )?@"
)


__all__ = [
    "alike", "changes", "ends", "goes_back", "goes_on", "is_doubtful", "is_new", "is_number", "is_pair", "is_slip",
    "masked", "may_be_news", "may_tell", "names_its_thing", "says_no_more", "value_in", "values",
]  # fmt: skip
