"""Fitting: whether a fact holds what a question asks for, a number, a time, a place or an address. Pure.

"How many guests fit in?" is not answered by how the guest list is sorted, however much they share. Only what is certain
is read: a question that begins with its kind, and a fact in which nothing at all may be of it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engram.english import brands
from engram.english.claims import stem
from engram.english.feasts import MONTHS, SHORT_MONTHS, WEEKDAY
from engram.regex import regex
from engram.text import STOP_WORDS, compared, words

__all__ = ["fits"]

_LEAD: Final = r"(?:(?:and|so|by|until|till|from|at|on) )*"  # since when something is so is known of anything
_ASKS_HOW_MANY: Final = regex(
    rf"{_LEAD}how (?:many|much)\b(?! (?:of|time|more|longer|years|months|weeks|days|hours|minutes|nights)\b)"
    r"(?!.*\b(?:like|love|enjoy|hate|care|mind|matter|know|(?:have|did) (?:i|we|you))\b)"
)
_ASKS_WHEN: Final = regex(
    rf"{_LEAD}(?:when(?:'s| (?:do|does|can|must|is|are|will|may)\b)|"
    r"(?:what|which) (?:time\b(?! zone)|(?:week)?day\b|date\b))"
)
_ASKS_HOW_LONG: Final = regex(
    rf"{_LEAD}how long (?:is|are|does|do|may|can|should|must)\b(?! (?:i|we|you|he|she|they)\b)"
)
_ASKS_HOW_BIG: Final = regex(rf"{_LEAD}how (?:big|large|tall|high|heavy|wide|deep)\b(?! of\b)")
_ASKS_WHO: Final = regex(rf"{_LEAD}who\b")
_WHO_IS_ONE: Final = regex(r"(?:(?:[Aa]nd|[Ss]o) )?[Ww]ho(?:['’]s| is| was| are) [A-ZÀ-ÖØ-Þ]")
_ASKS_WHICH_NUMBER: Final = regex(rf"{_LEAD}what(?:'s| is| was)\b(?! the number\b).*\bnumber\b[?.! ]*$")
_ASKS_AMOUNT: Final = regex(
    rf"{_LEAD}what(?:'s| is| was) (?:my|our|the) (?:[\w'-]+ )+(?:size|limit|quota|threshold|rate)[?.! ]*$"
)
_ASKS_A_TIME: Final = regex(rf"{_LEAD}what(?:'s| is| was) (?:my|our) (?:[\w'-]+ )+time[?.! ]*$")
_OF_A_VERSION: Final = regex(r"\bv\d[\w.]*")
_ASKS_MAIL: Final = regex(rf"{_LEAD}what(?:'s| is| was)\b(?! in\b).*(?<!or )\be-?mail(?: address)?\b[?.! ]*$")
_ASKS_ADDRESS: Final = regex(
    rf"{_LEAD}what(?:'s| is| was)\b.*(?<!mail )(?<!ip )(?<!web )(?<!mac )(?<!server )(?<!site )(?<!form of )\baddress\b"
    r"[?.! ]*$"
)
_ASKS_YEAR: Final = regex(rf"{_LEAD}(?:what|which) year\b(?! of\b)")
_YEAR: Final = regex(r"\b\d{4}\b|['’]\d\d\b|\b\d+ years\b")
_ASKS_WITH_WHOM: Final = regex(rf"{_LEAD}whom? (?:do|did|am|was|will) (?:i|we) .*\bwith[?.! ]*$")
_WITH: Final = regex(
    r"\b(?:with|and|together|alone|by myself|share[sd]?|joined|nobody|no one|each other|\w*mates?|partners?|wife|"
    r"husband|girlfriend|boyfriend|married|engaged|dating|colleagues?|cowork\w+|team|family|parents|brothers?|sisters?|"
    r"from|at|is|are)\b"
)
_OF_THE_WORLD: Final = regex(
    rf"{_LEAD}(?:what|who|how (?:big|large|high|tall|far|long|old))(?:'s| is| are| was)\b.*?(?<!my )(?<!our )(?<!your )"
    r"\b(?P<what>capital|population|currency|president|prime minister|king|queen|chancellor|"
    r"(?:boiling|freezing|melting) point|speed|square root|national anthem|chemical symbol|atomic (?:number|weight)|"
    r"gdp|official language|continent|definition|formula|inventor|author) (?:of|for|in) (?P<of>(?!(?:my|our)\b)[^?]+)"
)
_WHO_DID: Final = regex(
    rf"{_LEAD}who (?P<what>wrote|invented|discovered|painted|composed|founded|sang|directed|won) "
    r"(?!(?:my|our|me|us)\b)(?P<of>[^?]+)"
)
"""What is asked of the world and not of the user: only what says that very thing answers it."""
_DOERS: Final = {
    "wrote": "author writer written", "invented": "inventor", "discovered": "discoverer", "painted": "painter",
    "composed": "composer", "founded": "founder", "sang": "singer sung", "directed": "director",
    "won": "winner champion", "author": "wrote written", "inventor": "invented",
}  # fmt: skip
"""How else the same is said."""
_COUNTS: Final = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
)
_WHICH_NUMBER: Final = regex(
    rf"\d|\b(?:numbers?|zero|{_COUNTS}|"
    r"(?:seat|gate|room|row|flat|apartment|unit) [a-z]|(?<!['’])[b-hj-z])\b"
)
_CODE: Final = regex(r"\b[A-Z]{4,}\b")
_MAIL: Final = regex(r"@|mail|\bdot\b")
_ADDRESS_OF_MAIL: Final = regex(r"\be-?mail addresse?s?\b|(?<![\w.+-])[\w.+-]+@[\w.-]+")
_PLACE: Final = regex(
    r"\d|\baddress|\b(?:in|at|on|near|to|from|opposite|behind|above|street|road|avenue|square|lane)\b"
)
_ASKS_WHERE: Final = regex(
    rf"{_LEAD}where (?:do|does|did|has|have|is|are|was|were|am) .*\b(?:live|living|lived|stay|staying|from|study|"
    r"studied|born|grow up|grew up|raised|based|located)\b"
)
_WHERE: Final = regex(
    r"\b(?:in|at|to|from|near|nearby|on|by|under|underneath|behind|inside|outside|around|through|off|via|with|for|above|"
    r"below|between|next|beside|across|against|along|over|into|onto|within|among|beneath|towards?|up|down|of|as|out|"
    r"home|here|there|upstairs|downstairs|abroad|everywhere|nowhere|anywhere|somewhere|online|remotely|overseas|place|"
    r"where|room|house|address|location|street|road|north|south|east|west|left|visit(?:s|ed)?|called|named)\b"
)
_CAPITALS: Final = regex(
    r"(?:(?<=[^.!?] )|^)(?!(?:User|I|The|An?|My|Our|It|We|He|She|They|This|That|There|Some|No)(?!\w))"
    r"[A-ZÀ-ÖØ-Þ0-9][\w.-]*\w|\d"
)
_AT_A_TIME: Final = regex(rf"(?i)\b(?:on {WEEKDAY}s?|at (?:\d[\d:.]*(?: ?[ap]m)?|noon|midnight))\b")
""""On Thursday at 11" says nothing of where."""
_ENGLISH: Final = regex(r"\b(?:the|is|are|has|have|user|a|an|to|in|of|for|i|my|we|our)\b")
_ASIDE: Final = r"(?:not|no|never|in|on|at|for|with|so|but|which|who|where|since|because|as|though|ask)\b"
"""What stands behind a comma that lists nothing: "pnpm, not npm, in this repo"."""
_NUMBER: Final = regex(
    rf"\d|,(?! {_ASIDE})[^,]*,(?! {_ASIDE})|\b(?:{_COUNTS}|hundreds?|thousands?|"
    r"millions?|once|twice|half|double|dozens?|twins|triplets|an?|and|both|several|few|couple|pair|no|none|nothing|"
    r"(?:do|does|did|has|have) not|\w+n't|"
    r"never|only|free|every|each|daily|weekly|monthly|all|lots?|many|much|more|less|enough)\b"
)
_MONTH: Final = rf"(?:{MONTHS}|{SHORT_MONTHS})"
_YEARS: Final = r"(?:19|20)\d\d\b"
_DAYS: Final = r"\d{1,2}(?:st|nd|rd|th)?\b(?:(?: and | to |, ?| ?[-–] ?)\d{1,2}(?:st|nd|rd|th)?\b)*"
_DATE: Final = regex(
    rf"\b{_MONTH} {_DAYS}(?:,? {_YEARS})?|\b{_DAYS}(?: of)? {_MONTH}\b(?: {_YEARS})?|"
    rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:in|since|until|by|before|after|of) {_YEARS}|\b\d{{1,2}}:\d\d\b"
)
"""What says when, and no number of anything."""
_ON_A_DATE: Final = regex(rf"\b(?:on )?(?:the )?(?:{_MONTH} {_DAYS}|{_DAYS}(?: of)? {_MONTH}|in {_MONTH})\b")
_AMOUNT: Final = regex(
    r"[$€£]\d[\d.,]*|\b\d[\d.,]*(?:k|m)? ?(?:%|(?:percent|euros?|dollars?|pounds?|francs?|eur|usd|gbp|chf|kg|"
    r"kilos?|grams?|km|miles?|guests|people|seats|rows|users|[kmgt]b|items)\b)|\b\d{1,3}(?:,\d{3})+\b"
)
"""How much or how many, and no time."""
_A_TIME: Final = regex(r"\b(?:for )?(?:the |this |every |each )?(?:first|second|last|next|this|every|each) time\b")
_BY_NOW: Final = regex(rf"(?:{_AMOUNT.pattern}) now\b")
"""That something is so much by now says nothing of when it is."""
_SIZE: Final = regex(
    rf"\d|\b(?:{_COUNTS}|hundreds?|thousands?|millions?|medium|(?<!['’])x*[sl]|unlimited|none|no|"
    r"dozens?|couple|few|many|both|alone|big\w*|large\w*|small\w*|tiny|huge|giant|enormous|"
    r"massive|vast|compact|little|tall\w*|short\w*|high\w*|low\w*|"
    r"heav\w+|light\w*|wid\w+|narrow\w*|deep\w*|shallow\w*|size\w*|\w*rooms?|half|double|twice|grew|grown|halved|"
    r"doubled)\b"
)
_LONG: Final = regex(
    r"\b(?:long\w*|short\w*|length\w*|brief\w*|quick\w*|forever|permanent\w*|indefinite\w*|ages|ongoing|"
    r"for life|life(?:long|time))\b"
)
_SOMEBODY: Final = regex(
    r"\buser |\buser['’]s (?:ok|okay|approval|sign-?off|permission|consent|job|turn|task|duty|call|responsibility)\b|"
    r"\b(?!users?\b)\w+(?:er|or|ist|ian|[ae]nt|man|mate|ee|wife|ess|ary)s?\b|"
    r"\b(?:i|me|my|myself|we|us|our|he|she|they|him|her|them|his|their|you|your|everyone|everybody|anyone|anybody|nobody|"
    r"no one|someone|somebody|each|whoever|both|people|person|men|women|guys?|lady|ladies|girls?|boys?|kids?|child\w*|"
    r"baby|babies|twins?|mum|mom|mam|dad|sons?|aunts?|auntie|uncles?|nieces?|nephews?|cousins?|gran|nan|grandma|grandpa|"
    r"grandson|husband|\w*friends?|fianc\w+|spouse|family|families|folks|boss\w*|colleagues?|staff|crew|team\w*|firms?|"
    r"compan\w+|agenc\w+|offices?|departments?|boards?|committee|council|group|club|church|school|bank|police|nurses?|"
    r"coach\w*|chef|vet|gp|hr|it|legal|finance|sales|marketing|support|engineering|product|ops|operations|security|"
    r"accounting|procurement|logistics|volunteers?|interns?|external\w*|in-house|outsourced|dr|mrs?|ms|prof)\b"
)
_NAMED: Final = regex(
    r"(?<!^)(?<![.!?] )\b(?!User\b|I\b)[A-ZÀ-ÖØ-Þ]|"
    r"^(?!(?:User['’]s|The|An?|All|Every|Each|No|This|That|These|Those|There|It)\b)"
)
_TIME: Final = regex(
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mornings?|evenings?|nights?|afternoons?|"
    r"mon|tue|wed|thu|fri|sat|sun|fortnights?|\w*time|midday|dawn|dusk|payday|if|while|upon|receipt|ramadan|thanksgiving|"
    r"noon|midnight|lunch\w*|breakfast|dinner|weekends?|weekdays?|weeks?|months?|years?|days?|hours?|minutes?|o'clock|"
    r"daily|weekly|monthly|quarterly|yearly|annual\w*|every|quarters?|terms?|spring|summer|autumn|fall|winter|christmas|"
    r"easter|holidays?|birthdays?|today|tomorrow|yesterday|tonight|now|soon|later|before|after|once|as soon as|until|"
    r"when\w*|end|ends|start|beginning|first|last|next|early|late|since|during|one|two|three|four|five|"
    r"six|seven|eight|nine|ten|eleven|twelve|\w+teenth|\w+tieth|second|third|fourth|fifth)\b"
)


_FORMS: Final = (
    _ASKS_HOW_MANY, _ASKS_HOW_BIG, _ASKS_HOW_LONG, _ASKS_YEAR, _OF_THE_WORLD, _WHO_DID, _ASKS_WHO, _ASKS_WITH_WHOM,
    _ASKS_WHICH_NUMBER, _ASKS_AMOUNT, _ASKS_A_TIME, _ASKS_MAIL, _ASKS_ADDRESS, _ASKS_WHERE, _ASKS_WHEN,
)  # fmt: skip


def fits(question: str, fact: str, *, is_dated: bool = False) -> bool:
    """Whether a fact may hold the number, the time, the place or the address that a question asks for.

    A fact with a day of its own has a time; where somebody's mail goes is not where they live.
    """
    forms = _forms_of(question)
    if not forms:
        return True
    asked, said = compared(question), compared(fact)
    if _ENGLISH.search(said) is None:
        return True
    if _ASKS_HOW_MANY in forms:
        return _NUMBER.search(_DATE.sub(" ", said)) is not None
    if _ASKS_HOW_BIG in forms:
        return _SIZE.search(_DATE.sub(" ", said)) is not None
    if _ASKS_HOW_LONG in forms:
        return _LONG.search(said) is not None or _TIME.search(_AMOUNT.sub(" ", said)) is not None
    if _ASKS_YEAR in forms:
        return is_dated or _YEAR.search(said) is not None
    of_the_world = _OF_THE_WORLD.match(asked) or _WHO_DID.match(asked)
    if of_the_world is not None:
        what, told = of_the_world["what"], frozenset(map(stem, words(said)))
        otherwise = map(stem, _DOERS.get(what, "").split())
        is_told = told.issuperset(map(stem, what.split())) or not told.isdisjoint(otherwise)
        return is_told and _has_word_of(of_the_world["of"], said)
    if _ASKS_WHO in forms and _WHO_IS_ONE.match(question) is None and not _names_somebody(asked, fact):
        return False
    if _ASKS_WITH_WHOM in forms and _WITH.search(said) is None:
        return False
    if _ASKS_WHICH_NUMBER in forms:
        return _WHICH_NUMBER.search(said) is not None or _CODE.search(fact) is not None
    if _ASKS_AMOUNT in forms:
        return _SIZE.search(_OF_A_VERSION.sub(" ", _DATE.sub(" ", said))) is not None
    if _ASKS_A_TIME in forms:
        return _TIME.search(_ON_A_DATE.sub(" ", _AMOUNT.sub(" ", _A_TIME.sub(" ", said)))) is not None
    if _ASKS_MAIL in forms:
        return _MAIL.search(said) is not None
    if _ASKS_ADDRESS in forms:
        return _PLACE.search(_ADDRESS_OF_MAIL.sub(" ", said)) is not None
    if _ASKS_WHERE in forms and _WHERE.search(_AT_A_TIME.sub(" ", said)) is None:
        known = {name.casefold() for name in brands.named(fact)} | frozenset(words(asked))
        return any(word.casefold() not in known for word in _CAPITALS.findall(_AT_A_TIME.sub(" ", fact)))
    if is_dated or _ASKS_WHEN not in forms:
        return True
    return _TIME.search(_AMOUNT.sub(" ", _BY_NOW.sub(" ", said))) is not None


@lru_cache(maxsize=256)  # each of the facts that were found is held against the same question
def _forms_of(question: str) -> frozenset[re.Pattern[str]]:
    """The forms by which a question asks for what only some facts hold."""
    asked = compared(question)
    return frozenset(form for form in _FORMS if form.match(asked) is not None)


def _names_somebody(asked: str, fact: str) -> bool:
    """Whether a fact may say who does something: the word that is asked for is no name where a sentence begins."""
    said = compared(fact)
    first = said.partition(" ")[0]
    told = f"The {fact[:1].lower()}{fact[1:]}" if len(first) > 1 and first in words(asked) else fact
    return _NAMED.search(_ON_DAYS.sub(" ", told)) is not None or _SOMEBODY.search(said) is not None


_ON_DAYS: Final = regex(rf"(?i)\b(?:{WEEKDAY}s?|{MONTHS})\b")


def _has_word_of(wanted: str, said: str) -> bool:
    """Whether a text has one of the words of another that say something."""
    return not frozenset(map(stem, words(wanted))).difference(STOP_WORDS).isdisjoint(map(stem, words(said)))
