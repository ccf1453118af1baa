"""Introductions: what somebody says of themselves and their children in one breath, taken apart. Pure.

"I'm Anna, 34, a nurse from Leeds" says four things, and three of them have no verb of their own. Each becomes the
sentence that would say it alone; nothing is taken apart where one of the pieces is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.english import names
from engram.regex import regex
from engram.wording import worded

MAX_READ: Final = 300
LEAST: Final = 2  # things that an introduction says without a verb of their own

_CAP: Final = r"[A-ZÀ-ÖØ-Þ][\w'’-]*"
_PLACE: Final = rf"{_CAP}(?:[ -](?:of |the |upon |am |de )?{_CAP}){{0,3}}"
_GREETING: Final = r"(?:[Hh]i|[Hh]ey|[Hh]ello)(?: there| all| everyone)?[,!. ]+"
_HI: Final = rf"(?:{_GREETING})?"
_NO_NAME: Final = (
    r"(?:Same|Still|Right|Over|Just|Only|Almost|Not|None|Nothing|Me|Everyone|All|Mom|Mum|Dad|Newbie|Noob|Team|Gen|Deaf|"
    r"Black|White|Aries|Taurus|Gemini|Cancer|Libra|Scorpio|Sagittarius|Capricorn|Aquarius|Pisces)\b"
)
_HERE: Final = regex(rf"^{_GREETING}(?P<name>(?!{_NO_NAME}){_CAP}) here[.! ]*$")
"""Only behind a greeting is a capital a sign of a name: "Nurse here" names nobody."""
_NAMED: Final = regex(
    rf"^{_HI}(?:[Ii](?:['’]m| am)|[Mm]y name(?: is|['’]s)|(?:[Tt]he )?[Nn]ame['’]s) "
    rf"(?P<name>(?!{_NO_NAME}){_CAP}(?: {_CAP}){{0,2}})(?:,| -)?(?: and)? "
)
_I_AM: Final = regex(rf"^{_HI}[Ii](?:['’]m| am) ")
_CLAUSE: Final = regex(
    r"(?:and |but |so )?(?:(?P<whole>(?:[Ii]|[Ii]['’]\w+|[Ww]e|[Ww]e['’]\w+|[Mm]y|[Oo]ur) .+)|"
    r"(?P<does>(?:live|work|study|have|love|like|hate|run|own|speak|play|teach|drive|come) .+))$"
)
_A: Final = r"(?!an? (?:bit|little|lot|few|couple|while|big|huge|great)\b)(?:an?|the)"
_STATE: Final = (
    r"single|married|engaged|divorced|widowed|retired|pregnant|unemployed|self-employed|freelance|vegan|vegetarian|"
    r"pescatarian|(?:lactose|gluten) intolerant|coeliac|celiac|diabetic|dyslexic|deaf|left-handed|gay|bisexual"
)
_DESCENT: Final = "|".join(sorted(one.capitalize() for one in names.DESCENTS))
_PIECES: Final = tuple(
    (regex(rf"{piece}(?:,? and |, | - |[.! ]*$)"), sentence)
    for piece, sentence in (
        (r"(?:aged? )?(?P<value>\d{1,2})(?: ?(?:years? old|y/?o|yrs))?", "I'm {} years old"),
        (r"(?P<value>\d{2,3} ?(?:kg|kilos|lbs|pounds))", "I weigh {}"),
        (r"(?P<value>\d['’]\d{1,2}[\"”]?|\d{3} ?cm|[12][.,]\d\d ?m)(?: tall)?", "I'm {}"),
        (
            (
                r"an? (?P<value>\d{1,2})[ -]years?[ -]old (?:(?P<an>[aeiou][^,;.!?]+?)|(?P<a>[a-z][^,;.!?]+?))"
                rf"(?: from (?P<home>{_PLACE}))?"
            ),
            "I'm {} years old",
        ),
        (
            (
                rf"(?P<value>{_A} [a-z][\w/-]*(?: [a-z][\w/-]*){{0,4}}?)"
                rf"(?: (?:from (?P<home>{_PLACE})|(?P<lives>(?:living|based) in {_PLACE})))?"
            ),
            "I'm {}",
        ),
        (rf"(?:originally )?from (?P<value>{_PLACE})", "I'm from {}"),
        (rf"(?:currently )?(?P<value>(?:living|based) in {_PLACE})", "I'm {}"),
        (rf"(?P<value>{_STATE}|{_DESCENT})", "I'm {}"),
    )
)  # fmt: skip
_BESIDE: Final = (("a", "I'm a {}"), ("an", "I'm an {}"), ("home", "I'm from {}"), ("lives", "I'm {}"))

_OF_A_SIGN: Final = worded(r"(?i)\b(?:sign|zodiac|horoscope)\b")  # "I'm Gemini, a typical air sign"
_ONE: Final = rf"{_CAP}(?:,? ?\(?(?:aged )?\d{{1,2}}(?: years? old)?\)?)?"
_UNSURE: Final = (
    r".*(?:n['’]t|\b(?:not|never|no|if|wish|want|wanted|hope|think|thought|believe|dream\w*|pretend\w*|imagine\w*|said|says|"
    r"told|tells|would|could|might|may|should|used to|almost))\b"
)
"""In what says that somebody has them, it may be that nobody has."""
_CHILDREN: Final = regex(
    r"^(?=(?:(?:and|so|but|also|well|yes),? |These are |Those are |Here are |Meet )?(?:I|[Ww]e|[Mm]y|[Oo]ur)\b)"
    rf"(?!{_UNSURE})"
    r"(?P<own>.*?\b(?:[Mm]y|[Oo]ur|[Ii] have|[Ii]['’]ve got|[Ww]e have|[Ww]e['’]ve got) "
    r"(?:(?:two|three|four|five|six|\d) )?(?:little |young |small |grown-up )?"
    r"(?P<who>kids|children|sons|daughters|boys|girls|twins|dogs|cats|sisters|brothers|grandchildren))"
    rf"(?:,|:| [-–—]|,? called|,? named) (?P<list>{_ONE}(?:, {_ONE})*,? (?:and|&) {_ONE})[.! ]*$"
)
_OF_A_LIST: Final = regex(rf"(?P<name>{_CAP})(?:,? ?\(?(?:aged )?(?P<age>\d{{1,2}}))?")


def apart(sentence: str) -> tuple[str, ...]:
    """The sentences that somebody says in one when they introduce themselves; empty for any other.

    >>> apart("I'm Anna, 34, a nurse from Leeds.")
    ('My name is Anna', "I'm 34 years old", "I'm a nurse", "I'm from Leeds")
    """
    said = sentence.strip()
    if len(said) > MAX_READ or _OF_A_SIGN.search(said) is not None:
        return ()
    here = _HERE.match(said)
    if here is not None:
        return () if _is_no_name(here["name"]) else (f"My name is {here['name']}",)
    found = tuple(one for piece in _introduced(said) or (said,) for one in _listed(piece))
    return found if len(found) > 1 else ()


def _is_no_name(said: str) -> bool:
    return said.split()[0].casefold() in names.NOT_NAMES


def _introduced(said: str) -> tuple[str, ...]:
    """What somebody says of themselves, first without verbs, then in a clause that has one."""
    named, found = _NAMED.match(said), list[str]()
    start = _I_AM.match(said)
    if named is not None and not _is_no_name(named["name"]):
        start = named
        found.append(f"My name is {named['name']}")
    rest = "" if start is None else said[start.end() :]
    while rest and (clause := _CLAUSE.match(rest)) is None:
        told = next(_pieces(rest), None)
        if told is None:
            return ()
        found += told[0]
        rest = told[1]
    if len(found) < LEAST or sum(one.endswith(" years old") for one in found) > 1:
        return ()
    return (*found, clause["whole"] or f"I {clause['does']}") if rest and clause is not None else tuple(found)


def _pieces(rest: str) -> Iterator[tuple[list[str], str]]:
    """What the start of a text says without a verb, as sentences, and what is left of it."""
    for pattern, sentence in _PIECES:
        match: re.Match[str] | None = pattern.match(rest)
        if match is not None:
            groups = match.groupdict()
            beside = [form.format(groups[name]) for name, form in _BESIDE if groups.get(name)]
            yield [sentence.format(groups["value"]), *beside], rest[match.end() :]


def _listed(said: str) -> Iterator[str]:
    """A sentence, or what it says of several of somebody's who are listed by their names, some with an age."""
    match = _CHILDREN.match(said) if " and " in said or "&" in said else None
    if match is None:
        yield said
        return
    each = [(one["name"], one["age"]) for one in _OF_A_LIST.finditer(match["list"])]
    called = [name for name, _ in each]
    yield match["own"]
    yield f"My {match['who']} are called {', '.join(called[:-1])} and {called[-1]}"
    yield from (f"{name} is {age} years old" for name, age in each if age is not None)


__all__ = ["LEAST", "MAX_READ", "apart"]
