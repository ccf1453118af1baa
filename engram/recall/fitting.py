"""Fitting: whether a fact holds what a question asks for, a number, a time, a place or an address. Pure.

"How many guests fit in?" is not answered by how the guest list is sorted, however much they share. Only what is certain
is read: a question that begins with its kind, and a fact in which nothing at all may be of it.
"""

from __future__ import annotations

from typing import Final

from engram.claims import stem
from engram.regex import regex
from engram.text import STOP_WORDS, compared, words

__all__ = ["fits"]

_LEAD: Final = r"(?:(?:and|so|by|until|till|from|at|on) )*"  # since when something is so is known of anything
_ASKS_HOW_MANY: Final = regex(
    rf"{_LEAD}how (?:many|much)\b(?! (?:of|time|more|longer|years|months|weeks|days|hours|minutes|nights)\b)"
    r"(?!.*\b(?:like|love|enjoy|hate|care|mind|matter|know|(?:have|did) (?:i|we|you))\b)"
)
_ASKS_WHEN: Final = regex(rf"{_LEAD}(?:when(?:'s| (?:do|does|can|must|is|are|will|may)\b)|what time\b(?! zone))")
_ASKS_WHICH_NUMBER: Final = regex(rf"{_LEAD}what(?:'s| is| was)\b(?! the number\b).*\bnumber\b[?.! ]*$")
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
_WHICH_NUMBER: Final = regex(
    r"\d|\b(?:numbers?|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|"
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
_CAPITAL: Final = regex(
    r"(?:(?<=[^.!?] )|^)(?!(?:User|I|The|An?|My|Our|It|We|He|She|They|This|That|There|Some|No)(?!\w))[A-ZÀ-ÖØ-Þ0-9]|\d"
)
_ENGLISH: Final = regex(r"\b(?:the|is|are|has|have|user|a|an|to|in|of|for|i|my|we|our)\b")
_NUMBER: Final = regex(
    r"\d|,.*,|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundreds?|thousands?|"
    r"millions?|once|twice|half|double|dozens?|twins|triplets|an?|and|both|several|few|couple|pair|no|not|none|nothing|never|only|"
    r"free|every|each|daily|weekly|monthly|all|lots?|many|much|more|less|enough)\b"
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


def fits(question: str, fact: str, *, is_dated: bool = False) -> bool:
    """Whether a fact may hold the number, the time, the place or the address that a question asks for.

    A fact with a day of its own has a time; where somebody's mail goes is not where they live.
    """
    asked, said = compared(question), compared(fact)
    if _ENGLISH.search(said) is None:
        return True
    if _ASKS_HOW_MANY.match(asked) is not None:
        return _NUMBER.search(said) is not None
    if _ASKS_YEAR.match(asked) is not None:
        return is_dated or _YEAR.search(said) is not None
    of_the_world = _OF_THE_WORLD.match(asked) or _WHO_DID.match(asked)
    if of_the_world is not None:
        what, told = of_the_world["what"], frozenset(map(stem, words(said)))
        otherwise = map(stem, _DOERS.get(what, "").split())
        is_told = told.issuperset(map(stem, what.split())) or not told.isdisjoint(otherwise)
        return is_told and _has_word_of(of_the_world["of"], said)
    if _ASKS_WITH_WHOM.match(asked) is not None and _WITH.search(said) is None:
        return False
    if _ASKS_WHICH_NUMBER.match(asked) is not None:
        return _WHICH_NUMBER.search(said) is not None or _CODE.search(fact) is not None
    if _ASKS_MAIL.match(asked) is not None:
        return _MAIL.search(said) is not None
    if _ASKS_ADDRESS.match(asked) is not None:
        return _PLACE.search(_ADDRESS_OF_MAIL.sub(" ", said)) is not None
    if _ASKS_WHERE.match(asked) is not None and _WHERE.search(said) is None:
        return _CAPITAL.search(fact) is not None
    return is_dated or _ASKS_WHEN.match(asked) is None or _TIME.search(said) is not None


def _has_word_of(wanted: str, said: str) -> bool:
    """Whether a text has one of the words of another that say something."""
    return not frozenset(map(stem, words(wanted))).difference(STOP_WORDS).isdisjoint(map(stem, words(said)))
