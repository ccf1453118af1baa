"""What a group of a slot pattern really holds: a city, a person, an allergen; or nothing, where that is in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engram.english import brands, frames, phrases, verbs
from engram.english import names as words
from engram.english.feasts import WEEKDAY
from engram.english.subjects import plain
from engram.policies import topics
from engram.regex import regex
from engram.wordlists import word_set

_WORD = regex(r"[^\W_](?:[^\s,;:!?()\"“”]*[^\W_])?|[^\s\w]")
_AFTER_PLACE: Final = word_set(
    "user's most all one two three four five six ten and but or since now because these last this in from again "
    "permanently where as after for "
    "with so at on near which while though although until today yesterday currently not instead who when right "
    "to is by recently full full-time then too during before about around over per every have has "
)
_AFTER_PERSON: Final = word_set(
    "and but now since as again starting from at who today instead these for until in not then or, so "
    "because effective on after i you currently by the"
)
_VISIT = regex(
    r"\b(?:for (?:the|a|an|this|one|two|three|four|five|six|\w+ more|\d+|a few|a couple of|some|my|work "
    r"trips?)(?: \w+)? ?(?:day|days|week|weeks|weekend|night|nights|month|months|summer|winter|spring|fall|"
    r"autumn|semester|term|holiday|holidays|while|bit|conference|wedding|meeting|trip|visit|year|years)"
    r"|as an? (?:child|kid|teenager|teen|student|baby|boy|girl|young)|briefly|temporarily|on (?:business|"
    r"holiday|vacation)|at the time|back then|until (?:19|20)\d\d|part of the year|during (?:the )?(?:week|"
    r"summer|winter|university|college|school)|half the (?:year|time)"
    r"|(?:and|but|then|before) (?:then |later |soon |quickly |now |i |user )*(?:left|came back|returned|"
    r"moved|went back|came home|regretted|hated it and))\b"
)
_LONG_STAY = regex(r"\b(?:has|have) (?:\w+ )?(?:lived|been)\b")
_PREFIX = regex(
    r"^(?:(?:downtown|central|north|south|east|west|northern|southern|eastern|western|greater|midtown|"
    r"uptown|inner|beautiful|sunny|rainy|old|lovely|good old|nearby) |"
    r"(?:the |a )?(?:city|heart|centre|center|middle|suburbs?|outskirts|north|south|east|west|town|capital "
    r"city|historic cent(?:er|re)) of |"
    r"(?:a|an|the|user's|my|our|his|her|their) (?:[\w'-]+ ){0,4}?(?:flat|house|apartment|place|studio|"
    r"condo|loft|room|village|town|townhouse|suburb|neighbou?rhood|cottage|cabin|home|duplex|bungalow)(?: "
    r"[\w'-]+){0,2}? (?:in|of) )"
)
_DWELLING = regex(
    r"\b(?:home|house|flat|apartment|place|parents|mum|mom|dad|city|town|village|country|countryside|abroad|here|there|dorm|"
    r"campus|suburbs?|island|coast|capital)\b"
)
_FROM = regex(r"\b(?:moved|relocated|switched|went) from (?P<where>[^,;]{1,40}?) to ")


def _is_from_no_place(canonical: str) -> bool:
    """Whether somebody left what is no known place, for what is none either: a bank, a club, a firm."""
    match = _FROM.search(canonical)
    if match is None or _DWELLING.search(match["where"]):
        return False
    parts = match["where"].split()
    return all(_known_place(" ".join(parts[place:])) is None for place in range(len(parts)))


_FOR_A_USE = regex(
    r"\s+for (?!(?:user's |the |an? |his |her |their )?(?:new )?(?:work|jobs?|love|good|school|uni|university|"
    r"college|stud(?:y|ies)|"
    r"family|now|ever|years?|months?|partner|wife|husband|girlfriend|boyfriend|kids?|health|retirement|career|position|role|phd|"
    r"internship|degree|change|reasons?|sun|weather|climate|sea|mountains|schools|medical|masters?|residency|postdoc|research|"
    r"some|most|all|about|over|\d|one|two|three|four|five|six)\b)"
)
_OTHER_USES = regex(
    r"^[\w. -]{1,40}?(?:'s)? (?:food scene|style|time|tz|timezone|time zone|team|office|branch|dataset|"
    r"region|cluster|server|data cent(?:er|re))\b"
)


def _proper(original: str) -> frozenset[str]:
    """The words of a text that begin with a capital letter, or in a script without them; compared."""
    found = set()
    for match in _WORD.finditer(original):
        first = match.group()[0]
        if first.isupper() or first.istitle() or (first.isalpha() and first.lower() == first.upper()):
            found.add(plain(match.group()))
    return frozenset(found)


def _take(text: str, proper: frozenset[str], most: int, alone: frozenset[str] = frozenset()) -> tuple[list[str], str]:
    """The leading words of a text that are a name, and the text after them.

    A particle ends none, unless it is one of those that are a name `alone` and nothing is before it.
    """
    taken: list[str] = []
    place = 0
    for match in _WORD.finditer(text):
        word = match.group()
        gap = text[place : match.start()]
        if word == "." and taken[-1:] == ["st"]:
            place = match.end()
            continue
        if gap.strip() or not word[0].isalnum() or len(taken) >= most:
            break
        bare = word.removesuffix("'s").rstrip(".")
        if (
            word not in proper
            and word + "." not in proper
            and bare not in proper
            and not (taken and word in words.PARTICLES)
        ):
            break
        taken.append(bare if word.endswith("'s") else word)
        place = match.end()
        if word.endswith("'s"):
            break
    while taken and taken[-1] in words.PARTICLES and not (len(taken) == 1 and taken[0] in alone):
        place = text[:place].rstrip().rfind(taken.pop())
    return taken, text[place:]


def _follows(rest: str, allowed: frozenset[str]) -> bool:
    """Whether what comes after a name lets the name end there."""
    if rest.startswith("'s "):
        return True
    if not rest.strip() or not rest.startswith(" "):
        return True
    following = re.match(r"\s*([\w'-]+)", rest)
    return following is None or following.group(1).isdigit() or following.group(1) in allowed


def city(found: str, original: str, canonical: str) -> str | None:
    """The place somebody lives in, or None when the words do not name one."""
    text = found
    if (_VISIT.search(text) and not _LONG_STAY.search(canonical)) or re.search(
        r"\b(?:hotel|hostel|airbnb|tent|van|dream|novel|game)\b", text
    ):
        return None
    if phrases.is_for_a_service(text):
        return None
    for _ in range(3):
        text = _PREFIX.sub("", text)
    name = _known_place(text)
    if name is None:
        taken, rest = _take(text, _proper(original), 4)
        if not taken or not _follows(rest, _AFTER_PLACE) or _OTHER_USES.match(text):
            return None
        name = " ".join(taken)
        if _FOR_A_USE.match(rest) or _is_from_no_place(canonical):
            return None  # "I moved to Sublime Text for coding", "I've moved from HSBC to Monzo"
        if _MOVES_TO.search(canonical) and brands.named(f"uses {original[-len(found) :]}"):
            return None  # "I moved to Helix"
    if name in words.NOT_PLACES or name.split(" ")[0] in words.NOT_PLACES or _IS_A_DAY.match(name):
        return None
    if name in words.REGIONS and not re.search(r"\b(?:now|moved|relocated)\b", canonical):
        return None
    return name


_IS_A_DAY: Final = regex(rf"{WEEKDAY}s?\b")
_MOVES_TO: Final = regex(r"^user (?:[a-z]+ ){0,3}?(?:moved|relocated) (?:over )?to [^,;]{1,40}$")
"""Of where somebody is said to have moved by no other word, a known product is no town."""


def _known_place(text: str) -> str | None:
    """The longest known city or region at the start of a text, with or without a capital letter."""
    pieces = re.split(r"(?=[,;:!?()])|\s+", text)[:4]
    clean = [piece.rstrip(".") for piece in pieces if piece]
    for count in range(min(4, len(clean)), 0, -1):
        name = " ".join(clean[:count])
        for known in (name, name.removesuffix("'s")):
            if known in words.CITIES or known in words.REGIONS:
                rest = text[len(known) :]
                return known if _follows(rest, _AFTER_PLACE) and not _OTHER_USES.match(text) else None
    return None


def person(found: str, original: str, canonical: str) -> str | None:
    """The name of a person, or None when the words describe rather than name."""
    named = canonical.startswith("user's name")
    also = words.ALSO_NAMES if named else frozenset()
    taken, rest = _take(re.sub(r"^(?:dr|mr|mrs|ms|prof)\.? ", "", found), _proper(original), 4, also)
    if taken:
        if found.startswith(taken[0] + "'s") or re.match(r"^'s\b", rest) or " ".join(taken) + "'s" in found:
            return None
        if any(word in words.NOT_NAMES - also for word in taken) or not _follows(rest, _AFTER_PERSON):
            return None
        return " ".join(taken)
    return _lower_name(found, original) if named else None


def _lower_name(found: str, original: str) -> str | None:
    """A first name in a text that uses no capital letters at all: "my name is ada"."""
    if any(char.isupper() for char in original.replace("User", "").replace("I", "")):
        return None
    match = re.match(r"([^\W\d_]{2,20}(?:-[^\W\d_]{2,20})?)(?:$|[.,!;]| (?:and|but|now|from|by the way)\b)", found)
    if match is None:
        return None
    name = match.group(1)
    describes = name in words.NOT_NAMES or name.endswith(words.DESCRIBING) or verbs.is_adverb(name)
    return None if describes else name


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "to", "go")) else "s")


# What can be counted, and so is named in the plural: "a peanut allergy" and "allergic to peanuts" are one slot.
_COUNTED: Final = {
    form: _plural(word)
    for word in words.COUNTED_ALLERGENS
    for form in (word, _plural(word), word + "s")
}  # fmt: skip


def named_allergen(text: str) -> str:
    """The one name of an allergen: in the plural where it can be counted ("dust mite" → "dust mites"), else as it is.

    Several joined by "and" are one name whatever their order, since a fact about all of them is about no one alone.
    """
    parts = [part.strip() for part in re.split(r",? (?:and|or|nor) |, ", text) if part.strip()]
    named = [" ".join([*one[:-1], _COUNTED.get(one[-1], one[-1])]) for part in parts if (one := part.split())]
    return " and ".join(sorted(set(named))) or text


_STOP_ALLERGEN = regex(
    r"\s*(?:[.,;:!?()]|\b(?:but|so|since|when|because|from|which|that|though|although|if|at|while|"
    r"according|as|by|ever|like|it|user|i|my|please|is|are|was|were|has|have|in the|in spring|in summer|"
    r"this|these days|every|until|for|therefore|who|last|yesterday|once|in (?:19|20)\d\d|during|after|before)\b)"
)


def allergen(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """What somebody is allergic to, or None for a figure of speech."""
    stop = _STOP_ALLERGEN.search(found)
    text = found[: stop.start()] if stop else found
    text = re.sub(
        r"^(?:any|all|most|certain|the|some|a|an|both|eating|also|severe|mild|bad|serious) ", "", text.strip()
    )
    text = re.sub(
        r"(?: (?:too|now|as well|either|anymore|any more|any longer|after all|at all|severely|badly|again|today|"
        r"actually|and stuff|or not))+$",
        "",
        text,
    ).strip(" '\"")
    both = re.split(r" (?:and|or|nor) ", text)
    if len(both) > 1 and (
        len(both[-1].split()) > 2 or both[-1].endswith(("intolerant", "sensitive", "vegan", "vegetarian"))
    ):
        text = both[0]
    if not text or len(text.split()) > 5 or text in words.NOT_ALLERGENS or text.split()[0] in words.NOT_ALLERGENS:
        return None
    return named_allergen(text)


_NO_MEAL: Final = word_set(
    "another any anything anymore much more most many enough all everything nothing it that this these those them "
    "too so out in at on before after until when while with without alone here there now today tonight tomorrow "
    "breakfast lunch "
    "dinner supper properly well right fast quickly late early what who he she they you user user's if because the my"
)
"""What says when, where or how much somebody cannot eat, and not what."""
_MEAL_TAIL: Final = regex(
    r"(?: (?:any ?more|any longer|now|again|too|either|at all|well|these days|really|because|since|due|as|without|"
    r"after|for|unless|so|but|and|or)\b.*)$"
)


def untolerated(found: str, original: str, canonical: str) -> str | None:
    """What somebody must not eat or take, by one name; None where the words say something else, or too little."""
    text = re.sub(r"^(?:any|some|raw|fresh|most|certain|all) ", "", _MEAL_TAIL.sub("", found.strip(" .,;:!")))
    parts = text.split()
    if not 0 < len(parts) <= _MOST_OF_A_MEAL or not _NO_MEAL.isdisjoint(parts):
        return None
    if any(not re.match(r"[^\W\d]", word) or verbs.is_adverb(word) for word in parts):
        return None
    return allergen(text, original, canonical)


_MOST_OF_A_MEAL: Final = 3


def substance(found: str, original: str, canonical: str) -> str | None:
    """The same of what is known to be eaten, drunk, taken or worn: a job makes sick, too."""
    value = untolerated(found, original, canonical)
    if value is None:
        return None
    parts = value.split()
    known = words.SUBSTANCES | set(_COUNTED)
    return value if value in known or parts[-1] in known else None


_OF_A_CONDITION: Final = regex(
    r"(?: (?:and|but|since|so|because|too|now|as|which|who|for|from|last|this|in|when|at|by|recently|again)\b.*)$"
)


def condition(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """An illness that has to be known at all times, under one name for all its forms."""
    text = _OF_A_CONDITION.sub("", found.strip(" .,;:!"))
    name = re.sub(r"^(?:an? |(?:severe|mild|bad|bit|type|insulin[ -]dependent|\d|one|two) )+", "", text)
    known = name if name in words.CONDITIONS else text if text in words.CONDITIONS else None
    if known is None:
        return None
    root = re.sub(r"^an? |s?(?:'s)?(?: disease)?$", "", known)
    return _ILLNESS.get(root, root)


_ILLNESS: Final = {
    "coeliac": "celiac", "diabetic": "diabetes", "diabete": "diabetes", "epileptic": "epilepsy", "asthmatic": "asthma",
    "haemophilia": "hemophilia", "haemophiliac": "hemophilia", "hemophiliac": "hemophilia", "crohn": "crohn's disease",
}  # fmt: skip


_SECTION = regex(r"(?:sections?|clauses?|articles?|§) ?(\d+(?:\.\d+)*(?:\([a-z0-9]{1,4}\))*)")


def section(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """A section, when the text speaks of one only."""
    return found if len(set(_SECTION.findall(plain(original)))) <= 1 else None


_NOT_SUITES: Final = word_set(
    "passed failed passes fails passing failing is was the a an all and in of for red green with has exit still no "
    "test tests my our your this that user whole full entire same other new old latest last first second"
)


def suite(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """The name of a test suite, not the word after "suite", and where it ran if that is said."""
    name = found.strip(".,:;-")
    return None if not name or name in _NOT_SUITES else topics.result_of(name, canonical)


# "I left Sydney for Perth yesterday" is a journey.
_JOURNEY = regex(
    r"\b(?:yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend)|last (?:night|week|"
    r"weekend)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|at \d|by (?:train|plane|car|bus|boat)|"
    r"(?:train|flight|trip)s?|on a|(?:a|two|three|few) (?:hours?|days?|weeks?) ago|then|before|after)\b"
)


def section_duty(found: str, original: str, canonical: str) -> str | None:
    """A section and what is due by it: one section may set several deadlines."""
    named = section(found, original, canonical)
    return None if named is None else topics.party_duty(named, original, canonical) or named


def left_city(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """A city that was left, on no journey; only one that is known, since people also leave companies."""
    return found if found in words.CITIES and not _JOURNEY.search(canonical) else None


def new_city(found: str, original: str, canonical: str) -> str | None:
    """The city somebody left another for; known, and to stay."""
    if _JOURNEY.search(canonical) or city(found, original, canonical) is None:
        return None
    name = _known_place(found)
    return name if name in words.CITIES else None


def attribute(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """The attribute of the user that a statement sets."""
    read = frames.read(found, original)
    return None if read is None else read.name


def held(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """The value that a statement gives an attribute of the user."""
    read = frames.read(found, original)
    return None if read is None else read.value


CHECKS: Final[dict[str, Callable[[str, str, str], str | None]]] = {
    "attribute": attribute,
    "held": held,
    "city": city,
    "left_city": left_city,
    "new_city": new_city,
    "person": person,
    "allergen": allergen,
    "untolerated": untolerated,
    "substance": substance,
    "condition": condition,
    "section": section,
    "suite": suite,
    "section_duty": section_duty,
    "party_duty": topics.party_duty,
    "repo_rule": topics.repo_rule,
    "purpose": topics.purpose,
    "aim": topics.aim,
}
