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
from typing import Final, Literal

from engram.english import courses, names
from engram.english.feasts import MONTHS
from engram.regex import regex
from engram.text import compared
from engram.wording import worded, words_of
from engram.wordlists import word_set

MAX_READ: Final = 180

# ------------------------------------------------ values

_VALUE: Final = regex(
    r"(?<![\w'’])(?:[A-ZÀ-ÖØ-Þ](?:(?<=D)r\.? [A-Z]|(?<=M)r\.? [A-Z]|(?<=M)rs\.? [A-Z]|(?<=M)s\.? "
    r"[A-Z]|(?<=P)rof\.? [A-Z]|"
    r"(?<=S)t\.? [A-Z])?[\w'’&-]*(?: (?:(?:of|the|de|van|von|&) )?(?!\d[\d.,]* (?:euros?|dollars?|pounds?|kilos?|"
    r"kg|km|miles?|hours?|percent)\b)[A-ZÀ-ÖØ-Þ0-9][\w'’&-]*){0,3}|"
    r"[€$£]?\d[\d.,:]*(?<![.,:])[€$£%]?(?: (?:euros?|dollars?|pounds?|kilos?|kg|lbs?|stone|km|miles?|"
    r"metres?|meters?|cm|am|pm|"
    r"o'clock|mg|hours?|percent))?)"
)
_HOURS: Final = (
    r"(?:(?:half|quarter|five|ten|twenty) (?:past|to) )?(?:one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|"
    r"noon|midnight)"
)
_HOUR: Final = regex(_HOURS)
_AT_HOUR: Final = regex(
    rf"\b(?:at|is|to) ({_HOURS})(?=[,.;!]?$|,| (?:now|again|these|any|instead|rather|not|as|o'clock|sharp|from)\b)"
)
_SAID: Final = frozenset(names.NOT_NAMES) | word_set(
    "user user's user’s i i'm i've i'd i'll my our we me the a an no not yes still back now new just "
    "sorry so and but it "
    "it's its is this that these those they he she you there here what who when where how why since after before from "
    "in on at to for with by of as if then also only once never always please well oh ok okay actually correction "
    "excuse pardon wrong typo scratch scrap forget bye goodbye hello done left quit gone mixed got been had has have "
    "guess today yesterday january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday mum mom dad grandma grandpa christmas easter english "
    "pin id tv pc cv"
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


_DOES: Final = regex(
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

_SIGNS: Final = word_set(
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


_NAMED_THING: Final = regex(r"(?i)^(?:my|our) |^(?:i|we|they) (?:\S+ ){1,5}?(?:the|my|our|me) ")


def may_be_news(said: str, named: Sequence[str]) -> bool:
    """Whether compared text with its values says of one that it ended, goes on, came back or came for another."""
    if not 0 < len(named) <= _TWO:
        return False
    if is_new(said) or goes_back(said) or goes_on(said) or is_slip(said):
        return True
    if len(named) == _TWO:
        return is_pair(said, named)
    text = masked(said, _plain(named[0]))
    return text is not None and any(one.search(text) for one in (_ENDS, _THING, _SERVES_NO_MORE))


_DOUBT: Final = worded(
    r"\b(?:maybe|perhaps|probably|hopefully|soon|next|tomorrow|if|unless|whether|would|might|may|could|should|will|"
    r"plan|plans|planning|want|wants|wish|hope|hopes|thinking|considering|almost|nearly|until|imagine|tonight|"
    r"yesterday evening|this (?:time|morning|afternoon|evening|weekend)|for (?:now|today|(?:the|a) "
    r"(?:day|night|morning|"
    r"afternoon|evening|week|weekend|while|moment))|(?:for|on|over) (?:holiday|lent|the weekend)|"
    r"as a (?:child|kid|boy|"
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
    return "?" in said or _DOUBT.search(said, words_of(said)) is not None or courses.is_passing(said)


_GAP: Final = r"(?:[^\s,;:]+ ){0,4}?"
_STEP: Final = r"(?:[^\s,;:]+ ){0,2}?"
_AUX: Final = r"(?:(?:has|have|is|was|got|been|just|now|sadly|finally) )*"
_NO_FURTHER: Final = (
    r"(?=$|[,;]| (?:now|too|yet|finally|altogether|entirely|completely|for good|last|this|since|after|"
    rf"in (?:the )?(?:{MONTHS}|spring|"
    r"summer|autumn|winter|\d{4})|because|"
    r"a (?:year|month|week)|(?:a few|some|two|three|six) (?:years|months|weeks) ago)\b)"
)
"""What may follow a value that is over: when it was and why; not what else was done there, or a part of it."""
_ENDS: Final = regex(
    rf"^(?:no|never) {_STEP}(?:any ?more|any longer)\b.*@"
    rf"|\b(?:no more|not (?:any ?more|any longer|more)|no longer|nothing more) {_GAP}@"
    rf"|\b(?:not|n't|no|never)\b(?! only\b) ?{_GAP}@ ?{_GAP}(?:any ?more|any longer|no more)\b"
    rf"|@ {_GAP}(?:no more|any ?more|any longer|no longer|not more)$"
    rf"|\b(?:done|finished|through|over) with {_STEP}@"
    rf"|^(?:user )?{_AUX}(?:quit|cancelled|canceled|ended|ditched|abandoned|terminated|unsubscribed from|"
    rf"resigned from|thrown out|threw out|got rid of|gotten rid of|given up|gave up|handed in|"
    rf"parted (?:ways|company) with|said goodbye to|switched off|let) (?:(?!at |in |on |to )[^\s,;:]+ ){{0,4}}?@"
    rf"(?! (?:at|in|on|by|early|late)\b)"
    rf"|^(?:user )?{_AUX}(?:left|dropped|returned|sold|lost|stopped|gave back|given back|handed back) "
    rf"(?:[a-z]+ing )?(?:the |an? |user's )?(?:old )?@{_NO_FURTHER}"
    rf"|\bhanded (?:in|back) {_GAP}@"
    rf"|(?:^|[,;] )(?:good)?bye(?:[ -]bye)?,? {_STEP}@|^farewell,? {_STEP}@"
    rf"|@[,;]? (?:and (?:user|i|me),? )?{_STEP}(?:is|are|was|that's|that is|it's|has|have) (?:now |all |come to |at )*"
    rf"(?:an? )?(?:over|finished|history|dead|past|done|end|ended|closed|stopped|expired|retired|left|quit|shut)"
    rf"{_NO_FURTHER}"
    rf"|@ (?:left|quit|retired|closed|shut|folded|stopped|expired|dumped user|let user go|lapsed|(?:got|was|has "
    rf"been|is) "
    rf"(?:cancell?ed|scrapped|axed|killed|shelved|discontinued)){_NO_FURTHER}"
    rf"|^{_GAP}@ {_STEP}user {_AUX}(?:no more|given up|left|quit|stopped)\b"
)
_ASIDE: Final = regex(
    r"\b(?:today|yesterday|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|late|early|at home|last night|at the party|"
    r"weekends?|breakfast|lunch|dinner|"
    r"(?:in|at|on|before|after|with|for) (?:the |user's )?(?:mornings?|afternoons?|evenings?|nights?|noon|"
    r"bed|bedtime)|by (?:mistake|accident)|accidentally|there)\b"
)


def ends(said: str, held: str, value: str) -> bool:
    """Whether compared text says that the value of a memory is over, and of nothing else that has to do with it."""
    text, own = masked(said, value), masked(held, value)
    if text is None or own is None or _ENDS.search(text) is None or _is_aside(text, own):
        return False
    first, second = courses.topic(own), courses.topic(text)
    if courses.is_lasting(first):
        return False
    return bool(first & second) or not second - first - _ENDING or _is_not_theirs(text, own)


def serves_no_more(said: str, held: str, value: str) -> bool:
    """Whether compared text says that who does something for the user, by a memory, does it no longer.

    >>> serves_no_more("greta has stopped minding user's kids", "greta looks after user's kids", "greta")
    True
    """
    text, own = masked(said, value), masked(held, value)
    if text is None or own is None or _WHO_DOES.match(own) is None or _SERVES_NO_MORE.match(text) is None:
        return False
    return not _is_aside(text, own) and bool(courses.topic(own) & courses.topic(text.replace("-", " ")))


_SERVES_NO_MORE: Final = regex(
    r"^@ (?:(?:has|is|just|now|recently|sadly|unfortunately|also) )*(?:(?:stopped|quit|given up|"
    r"gave up) (?:[a-z]+ing )|"
    r"no longer [a-z]+s |(?:does not|doesn't|cannot|can't|will not|won't|is not|"
    r"isn't) (?=.*\b(?:any ?more|any longer)\b(?! than\b))[a-z]+ )"
    r"(?:(?:up|after|for|out|over) )?(?:user's|the) "
)


def _is_aside(text: str, own: str = "") -> bool:
    """Whether a statement is of a day, of an hour or of a mishap, of which the memory says nothing."""
    aside = _ASIDE.search(text)
    return aside is not None and aside.group() not in own


def _is_not_theirs(text: str, own: str) -> bool:
    """Whether a value is the user's no longer, or where they do not go any more of what a memory calls theirs."""
    return _NOT_THEIRS.search(text) is not None or (
        _GOES_NOT.search(text) is not None and _IS_THE_THING.match(own) is not None
    )


_NOT_THEIRS: Final = regex(
    r"^@ (?:is no longer user's [a-z]+$|(?:isn't|is not) user's [a-z]+ (?:any ?more|any longer)$)"
)
_GOES_NOT: Final = regex(
    r"^user (?:(?:does not|doesn't|don't) (?:go|come) to (?:the )?@.* (?:any ?more|any longer)|"
    r"no longer goes to (?:the )?@)"
)
_IS_THE_THING: Final = regex(r"user's (?:[\w'-]+ ){1,3}(?:is|are) (?:called |named |with )?@|@ (?:is|are) user's ")


_ENDING: Final = courses.topic(
    "over finished finish done history end ended ends left quit cancelled cancel dropped ditched "
    "stopped stop gave give given "
    "gone let expire expired lapse ran run handed hand returned return key keys thrown threw "
    "switched parted ways way come "
    "came time retired closed shut dead dumped fired sold lost nothing customer client bye goodbye "
    "farewell took take put "
    "abandoned terminated resigned unsubscribed rid finally gladly practice shop badge "
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
    r"(?:shut|closed|folded|retired|left|quit|expired|died|"
    r"(?:moved|went|gone)(?! (?:to|into|in)\b)|wasn't|isn't|is not|was not|broke|"
    r"out|stopped|ended|over|cancelled|lapse|gave up|given up|got rid|put|"
    r"no longer|sacked|fired|let user go|said no)"
)
_CHANGES: Final = regex(
    rf"\b{_NO} (?:user |user's |you |it |her |him |them |the |my |our |that |in |at |on |by |with |for |number )*@"
    rf"|@,? (?:contract |account |subscription )?{_AUX}{_STEP}{_GONE}\b"
)
_ANEW: Final = regex(
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
    return bool(_CHANGES.search(text) and _ANEW.search(said)) and not _is_aside(said) and not is_once(said)


def denies(said: str, new: str) -> bool:
    """Whether compared text says of a value alone that it is not so, or no longer: "is no longer Muse"."""
    return _DENIED.search(masked(said, new) or "") is not None


_DENIED: Final = regex(r"\b(?:no longer|not|isn't|aren't)(?: (?:an?|the|in|at|with|on|by|for))* @(?! but\b)")


def is_elsewhere(said: str, held: str, old: str, new: str) -> bool:
    """Whether a change is told of two values without the user, and of something that a memory does not speak of."""
    if _OF_USER.search(said) is not None:
        return False
    told = masked(masked(said, old) or "", new) or ""
    return bool(courses.topic(told) - courses.topic(held) - _ENDING - _COMING)


_OF_USER: Final = regex(r"\buser\b")
_COMING: Final = courses.topic("replaced replaces swapped new took taken follows succeeded succeeds meant said")


def is_once(said: str) -> bool:
    """Whether a statement tells what was done once, as nothing that came or was meant."""
    return _ONCE.search(said) is not None and _LASTS.search(said) is None and not is_slip(said)


_ONCE: Final = regex(
    r"\b(?:user|and|then) (?:just |only |even )?(?:went|took|drank|ate|had|saw|met|bought|got|wore|drove|rode|flew|"
    r"read|watched|used|ordered|called|played|visited|cooked|made|ran|walked|paid|tried|hired|rented|heard)\b|"
    r"\bit was\b|\b(?:was|were|wasn't|weren't) (?:not )?(?:in|out|at|on|"
    r"there|here|closed|shut|full|late|away|busy)\b"
)
_LASTS: Final = regex(
    r"\b(?:now|nowadays|these days|from now on|since|for good|over to|any ?more|any longer|no longer|switched|changed|"
    r"moved|joined|replaced|swapped|traded|signed|closed down|shut down|user's (?:new|old))\b"
)
_NOT_IT: Final = regex(r"\b(?:not|never|n't|instead of|rather than|than|in place of) (?:in |at |with |the |user's )*@")


_BACK: Final = worded(
    r"^(?:user (?:is |has |went |got |came )?)?(?:back|returned|gone back|come back|went back|again)\b|"
    r"\b(?:again|once more|came back|come back|took user back|went back|gone back|going back|is back|"
    r"returned|old .* back)\b"
)


def goes_back(said: str) -> bool:
    """Whether compared text says that something is again as it was."""
    return _BACK.search(said, words_of(said)) is not None


def returns(said: str, held: str, value: str) -> bool:
    """Whether compared text says that what a memory tells is so again, and not that its value was met with again."""
    text, own = masked(said, value), masked(held, value)
    if text is None or own is None or not goes_back(said) or _is_aside(text, own):
        return False
    if _ONCE.search(said) is not None and " back" not in said:
        return False
    first, second = courses.topic(own), courses.topic(text)
    return bool(first & second) or not second - first - _ENDING


_STILL: Final = worded(r"\b(?:still|as always|as ever|as before|as usual)\b|^(?:yes|yeah|nope|no news),")


def goes_on(said: str) -> bool:
    """Whether compared text says that something is as it was told."""
    return _STILL.search(said, words_of(said)) is not None


_SLIP: Final = regex(
    r"\b(?:meant|mistake|typo|misreads?|mixed|misspoke|correction|wrong|scratch that|scrap that|"
    r"mistyped|my bad|should have "
    r"said)\b|^(?:no|nope|oops|sorry|pardon|excuse user|actually)\b|^not [^,;]{1,40}, |^(?:i|user) said "
    r"[^,;]{1,40},? but\b"
)


def is_slip(said: str) -> bool:
    """Whether compared text says that what was told was a mistake."""
    return _SLIP.search(said) is not None


_NEWLY: Final = regex(
    r"\b(?:now|nowadays|these days|instead|from now on|as of|since (?:some|last|this|a|mon|tues|wednes|thurs|fri|satur|"
    r"sun)\w*|no longer|any ?more|new|another|moved|changed|switched|ported|transferred|become|became|"
    r"took over|down to|"
    r"up to)\b"
)
_BESIDE: Final = regex(
    r"\b(?:also|too(?! [a-z])|as well|another one|besides|in addition|second|both|sometimes|usually)\b"
)


def is_new(said: str) -> bool:
    """Whether compared text says that something has not always been so, and takes no place beside something."""
    if _NEW_WORDS.isdisjoint(said.replace(",", " ").split()) or _NEWLY.search(said) is None:
        return False
    return _BESIDE.search(said) is None


_NEW_WORDS: Final = word_set(
    "now nowadays days instead from of since longer anymore any new another moved changed switched "
    "ported transferred become "
    "became over to"
)


Sign = Literal["over", "slip", "back", "on", "new"]
_IS_OVER: Final = worded(
    r"(?:\bnot|n't)\b[^,;]{1,80}\b(?:any ?more|any longer)\b|\b(?:no longer|no more|for good|(?:turned|switched) "
    r"off|shut down|"
    r"took down|taken down|stepped down|came off|come off|abolished|shut off|gave up on|given up on|moved out|"
    r"written off|"
    r"retired|passed away|left user(?!')|has left|closed user's|off the [a-z]+|(?:stopped|quit|given up|gave up|"
    r"dropped|cancell?ed|"
    r"ditched|scrapped|abandoned|discontinued|unsubscribed|uninstalled|called off)\b|"
    r"(?:done|finished|through) with|(?:got|gotten) rid of|(?:is|are|that's) (?:over|history|gone|done|"
    r"no more)(?=$|"
    r"[,;.]| (?:now|for good|with|between|so)\b)|"
    r"come to an end|"
    r"put an end to|broke up|split up|let go|laid off|off the (?:table|menu))\b"
)
_SINCE_NOW: Final = worded(
    r"\b(?:effective (?:immediately|today|now)|as of (?:now|today|this|mon|tues|wednes|thurs|fri)|from (?:here|"
    r"today|this week|"
    r"tomorrow) on|new (?:rule|plan|schedule)|decided on|settled on|switched|swapped|replaced|instead|these days|"
    r"nowadays|now|going forward|moved (?:on )?to|over to|changed|new(?! (?:york|zealand|jersey|delhi|orleans|"
    r"mexico|year|england|hampshire|haven|castle))|has become|"
    r"became|overtaken|taken over|took over|gone from|(?<!user moved )(?<!user went )(?<!user came )from "
    r"[^,;]{1,40} to|upgraded|traded in|migrated|shifted|renamed|rather have)\b"
)


_MISTAKEN: Final = worded(
    r"\b(?:meant|mistake|my bad|typo|a slip|by mistake|mixed up|mixed (?:that|it|them|those) up|misspoke|mistyped|"
    r"misread|"
    r"correction|scratch that|no idea why|not know why)\b|^not [^,;]{1,40}, "
)
_RETURNS: Final = worded(
    r"\b(?:moved|came|come|gone|went|rolled|switched|set|put|got)(?: \S+){0,4} back\b|\breturned to\b|"
    r"\bback (?:to|under|together|with|on|at|in)\b"
)
_OF_A_MOMENT: Final = regex(
    r"\bback (?:pain|ache|problem|injur|yard|garden|door|seat|room|pack|up\b)|^no (?!more|longer)|\b(?:when|while|"
    r"halfway|by (?:accident|mistake)|yesterday|today's|tonight|this (?:\w+day|"
    r"time|once|week|month)|"
    r"stopped (?:by|at|for|in|on)|for a (?:moment|second|minute|bit|while)|changed \w+ minds?|not (?:moved|changed|"
    r"switched))\b"
)


def sign(said: str) -> Sign | None:
    """What compared text says has become of something, whatever that is; None where it says nothing of the kind.

    It is over, it was a slip, it is so again ("back") or still ("on"), or it is new.
    """
    found = _sign(said)
    return None if found is None or is_doubtful(said) or _OF_A_MOMENT.search(said) is not None else found


def _sign(said: str) -> Sign | None:
    held = words_of(said)
    if _MISTAKEN.search(said, held) is not None:
        return "slip"
    if goes_on(said):
        return "on"
    if goes_back(said) or _RETURNS.search(said, held) is not None:
        return "back"
    if _IS_OVER.search(said, held) is not None:
        return "over"
    is_new = _SINCE_NOW.search(said, held) is not None and _BESIDE.search(said) is None
    return "new" if is_new else None


# ------------------------------------------------ what two statements are about

_PLACE: Final = regex(r"\b(?:in|near|next to|on|from|outside) (?:the )?@")


def alike(held: str, old: str, told: str, new: str) -> float:
    """How much two statements are about one thing, of which each gives another value; 0 where they are not.

    They share a word by which a thing is called or what is done with it, and at most one of them says more.
    """
    one, other = masked(held, old), masked(told, new)
    if one is None or other is None or is_number(old) != is_number(new):
        return 0.0
    if one.startswith("@ ") and other.startswith("@ ") and _is_done_by_another(one, other):
        return 1.0
    if (_PLACE.search(one) is None) != (_PLACE.search(other) is None):
        return 0.0
    if _thing(one) != _thing(other) and _thing(one) and _thing(other):
        return 0.0
    if is_number(new) and _measured(one) != _measured(other):
        return 0.0  # how old the car is says nothing of who drives it
    if _OTHERS.findall(one) != _OTHERS.findall(other) or _COUNTS.findall(one) != _COUNTS.findall(other):
        return 0.0
    first, second = courses.topic(one) - _AT_ALL, courses.topic(other) - _AT_ALL
    shared = first & second
    clause = next(part for part in re.split("[,;] ", other) if "@" in part)
    if not courses.topic(clause) - _WEIGHING - _AT_ALL and first <= _WEIGHING and _counted(old) & _counted(new):
        return 1.0
    if (
        not shared
        or shared & _MANY
        or courses.is_of_several(shared)
        or courses.is_in_company(held)
        or courses.is_in_company(told)
    ):
        return 0.0
    if first - shared and second - shared and len(shared) < _TWO:
        return 0.0
    return len(shared) / max(len(first), len(second))


def _is_done_by_another(one: str, other: str) -> bool:
    """Whether two statements say of somebody else each that they do the same for the user: "@ walks user's dog now"."""
    first, second = (_WHO_DOES.match(_NOW.sub("", text)) for text in (one, other))
    if first is None or second is None or _NO_SERVICE.search(one) is not None:
        return False
    did, does = first["does"], second["does"]
    return did == does or did.startswith(f"{does} ") or does.startswith(f"{did} ")


_WHO_DOES: Final = regex(r"@ (?P<does>[a-z]+s (?:(?:up|after|for|out|over) )?user's [\w-]+\b.*)$")
_NOW: Final = regex(r",? (?:now|these days|nowadays|again|instead|from now on)\b")
_NO_SERVICE: Final = regex(
    r"^@ (?:knows|likes|loves|hates|visits|helps|meets|sees|calls|has|is|shares|says|reads|needs)\b"
)


def _thing(text: str) -> tuple[str, ...]:
    """What is the user's by the name it is called by, without "new": ("racing", "bike"); empty where nothing is."""
    match = _OF_THE_USER.match(text)
    return () if match is None else tuple(one for one in match[1].split() if one not in _NO_KIND)


def _measured(text: str) -> str | None:
    """The thing of the user's that a number is told of; None where it is the user, or what is measured of them."""
    match = _MEASURED.match(text)
    return None if match is None or match["thing"] in _OF_A_BODY else match["thing"]


_MEASURED: Final = regex(
    r"(?:(?:now|currently|by now),? )?user's (?:[\w'-]+ ){0,2}?(?P<thing>[\w'-]+) (?:(?:now|already|just|currently) )*"
    r"(?:is|weighs|measures|stands|turned|has turned)\b"
)
_OF_A_BODY: Final = word_set(
    "weight age height goal rent salary locker size number pay wage fee price budget limit dose score"
)
_OF_THE_USER: Final = regex(r"user's ((?:[\w'-]+ ){1,5}?)(?:is|are|has|have|went|goes|rose|fell|dropped|costs)\b")
_NO_KIND: Final = word_set("new old current latest present number of the at")
_OTHERS: Final = regex(
    r"user's (?:(?:little|big|older|younger|eldest) )?(?:mum|mom|mother|dad|father|sons?|daughters?|kids?|child|"
    r"children|baby|wife|husband|partner|brother|sister|aunt|uncle|cousin|nephew|niece|grand\w+|parents|family|friends?|"
    r"neighbours?|neighbors?|colleagues?|boss|dog|cat)\b"
)
_COUNTS: Final = regex(r"@ (second|minute|hour|day|week|month|year|time|people|piece|stop|point|page)s?\b")
_MANY: Final = courses.topic(
    "order parcel package booking reservation ticket flight trip journey meeting appointment interview exam invoice "
    "bill delivery project task case"
)
"""What comes one after the other: a new one says nothing of the one before."""
_WEIGHING: Final = courses.topic("weighs weight")
_TWO: Final = 2
_AT_ALL: Final = word_set(
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


_THING: Final = regex(
    r"^user's (?:[\w'-]+ ){1,3}(?:is|are) (?:called |named |number |with |about )?@"
    r"|^user (?:is|has|goes|takes|uses|sings|works|lives|keeps|plays) (?:[a-z]+ ){0,4}?(?:the|user's) "
    r"[a-z]+ (?:number )?@"
    r"|^they gave user (?:the |a )?[a-z]+ (?:[a-z]+ )?(?:number )?@"
)


__all__ = [
    "alike", "changes", "ends", "goes_back", "goes_on", "is_doubtful", "is_elsewhere", "is_new", "is_number", "is_once",
    "is_pair", "is_slip", "masked", "may_be_news", "may_tell", "names_its_thing", "returns", "says_no_more",
    "serves_no_more",
    "sign", "value_in", "values",
]  # fmt: skip
