"""What a statement says of one thing that has one value at a time: "User's favourite colour is violet". Pure.

`read()` takes a statement about the user in the third person and compared text, and gives the attribute it sets and the
value. It knows classes of nouns ("favourite <noun>", numbers, tools of daily use, partners) and frames of verbs ("works
at", "drives a"), and reads nothing where a doubt is left: a value that is not read costs a second memory, one that is
read wrongly lets something true disappear. So "also" and "another", values that depend on something ("for weddings",
"on Mondays"), adjectives ("my car is broken") and what somebody only joined for fun give nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from engram.english import asides, brands, feasts, names, phrases
from engram.english.claims import stem
from engram.english.courses import NO_OCCASION, Course
from engram.regex import regex
from engram.wording import OfWords, worded, words_of
from engram.wordlists import word_set

ORIGIN: Final = "~is from"  # where somebody is from: loose, as `frames` has it


class Attribute(NamedTuple):
    """An attribute of the user, and its value; both are compared text."""

    name: str
    value: str


# ------------------------------------------------ nouns

_NAMED: Final = word_set(
    "editor ide browser terminal shell distro laptop computer car bike motorbike bicycle van gym bank employer dentist "
    "doctor gp therapist physiotherapist hairdresser barber vet landlord accountant lawyer insurer camera tablet "
    "smartphone printer router keyboard nickname hometown birthplace school university alma-mater neighbourhood "
    "smartwatch headset supermarket church pharmacy optician airline username handle phone mobile landlady cleaner "
    "nanny babysitter childminder psychiatrist psychologist dermatologist orthodontist chiropractor osteopath mechanic "
    "instructor trainer coach"
)
_PERSONS: Final = word_set("partner wife husband girlfriend boyfriend spouse fiance fiancé fiancee fiancée")
_FREE: Final = word_set(
    "diet commute occupation profession nationality religion pronouns height weight birthday salary rent mortgage wage "
    "age bedtime"
)
_TAILS: Final = word_set(
    "number address email e-mail size type app provider carrier client size title rate system engine code plate "
    "allowance zone language tongue birthday sign mode name anniversary order plan service teacher coach agent broker "
    "instructor tutor"
)
_WITH_DIGIT: Final = word_set(
    "number size rate salary height weight allowance code plate birthday postcode rent mortgage wage"
)
_ADDRESS: Final = word_set("email e-mail")
_RENAMED: Final = {
    "favorite": "favourite", "color": "colour", "colors": "colour", "e-mail": "email", "movie": "film",
}  # fmt: skip
_SAME: Final = {
    "code editor": "editor", "text editor": "editor", "web browser": "browser", "email address": "email",
    "mobile number": "phone number", "cell number": "phone number", "telephone number": "phone number",
    "cell phone number": "phone number", "mobile phone number": "phone number", "number": "phone number",
    "job title": "occupation", "job": "occupation", "title": "occupation", "role": "occupation",
    "profession": "occupation", "company": "employer",
    "wife": "partner", "husband": "partner", "girlfriend": "partner", "boyfriend": "partner", "spouse": "partner",
    "fiance": "partner", "fiancé": "partner", "fiancee": "partner", "fiancée": "partner", "bf": "partner",
    "gf": "partner", "hubby": "partner", "chief": "manager",
    "note-taking app": "notes app", "note taking app": "notes app", "note app": "notes app",
    "favourite food": "favourite dish", "favourite meal": "favourite dish", "operating system": "operating system",
    "os": "operating system", "timezone": "time zone", "boss": "manager", "supervisor": "manager",
    "line manager": "manager", "gp": "doctor", "family doctor": "doctor", "primary care doctor": "doctor",
    "primary care physician": "doctor", "general practitioner": "doctor", "physician": "doctor", "pcp": "doctor",
    "city of residence": "current_city", "place of residence": "current_city",
}  # fmt: skip
_LIGHT: Final = word_set(
    "new current actual official exact main primary default own real full all-time absolute ultimate number-one"
)
_NOT_NOW: Final = word_set(
    "old former previous first last next second other another backup spare dream ideal future ex late temporary least "
    "late childhood"
)


_THESE_DAYS: Final = regex(r" (?:these days|nowadays|at the moment|at present|right now|now|currently)$")


@lru_cache(maxsize=4096)
def noun(phrase: str) -> str | None:
    """The attribute a noun phrase names, under one name for all its names; None for one that may have many values."""
    parts = [_RENAMED.get(part, part) for part in _THESE_DAYS.sub("", phrase).removesuffix("'s name").split()]
    while parts and parts[0] in _LIGHT:
        parts = parts[1:]
    if not parts or len(parts) > 5 or _NOT_NOW.intersection(parts):
        return None
    if parts[0] == "favourite" and len(parts) > 1:
        return _SAME.get(" ".join(parts), " ".join(parts))
    plain = " ".join(parts)
    known_as = _SAME.get(plain) or phrases.NOUNS.get(plain)
    if known_as is not None:
        return known_as
    if parts[-1] in _TAILS and len(parts) > 1:
        return plain
    known = parts[-1] in _NAMED or parts[-1] in _FREE or parts[-1] in _PERSONS or parts[-1] in _ADDRESS
    return plain if known and len(parts) == 1 else None


# ------------------------------------------------ values

_ENDS: Final = regex(
    r"\s*(?:[;!?()]|(?<!\d):|:(?!\d)|,(?! (?:inc|llc|jr)\b)|"
    r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bprof)(?<!\bst)\. |\.$|"
    r"\b(?:and not|not|instead of|rather than|because|since|as of|"
    r"after all|though|although|but|which|who|so|from now on|starting|until|these days|at the moment|at present|"
    r"right now|nowadays|by the way|btw|of all time|any ?more|any longer|for now|this time|once more|yet|already|today|"
    r"(?:this|last|next) (?:week|month|year|morning|spring|summer|autumn|winter)|as well|"
    r"and (?:user|he|she|it|they))\b|\b(?:again|now|currently|actually|instead|lately|recently|anyway|indeed)$)"
)
_STARTS: Final = regex(
    r"^(?:(?:still|now|currently|actually|definitely|officially|again|simply|just|indeed|certainly|back|called|"
    r"named|once|an?|the|has to be|to) )+"
)
_DEPENDS: Final = regex(r"\b(?:if|unless|when|whenever|for|during|while|or)\b")
_BESIDE: Final = regex(
    r"\b(?:also|too(?! [a-z])|as well|another|part-time|part time|on the side|sometimes|occasionally|usually|mostly|"
    r"either|both|"
    r"every|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|weekdays|temporarily|"
    r"would|should|could|might|maybe|perhaps|probably)\b"
)
_NO_VALUE: Final = word_set(
    "it this that these those one ones him her them they he she you me we user user's my your his their what which who "
    "something anything nothing everything someone nobody none unknown different better worse great good bad best nice "
    "fine broken slow old new expensive cheap ok okay ready gone dead late here there boring stressful hard easy fun "
    "awesome amazing terrible awful wonderful changing changed very so too really quite pretty not no never about full "
    "hot cold in on at with from under over out up down off away being getting going leaving coming moving all always "
    "more less much many wrong right true false private secret important visible available closed open done busy sick"
)
_SOME: Final = word_set(
    "team club choir class course church band group party league society union server channel forum"
)
_NO_FIRM: Final = word_set(
    "gym fitness club pool park beach station airport library campus dorm dojo choir orchestra cinema theatre theater "
    "hotel"
)
"""Where somebody is, or what they join, for another reason than work."""
_A_DAY: Final = regex(rf"(?:{feasts.UNNAMED}|{feasts.WEEKDAY}|{feasts.MONTHS})(?: .*)?")
_NETWORKS: Final = word_set(
    "facebook twitter instagram reddit discord slack linkedin tiktok mastodon bluesky netflix spotify strava tinder "
    "bumble duolingo whatsapp telegram signal zoom youtube twitch steam github patreon pinterest"
)


def first_value(found: str, most: int = 5) -> str | None:
    """The value at the start of a text, or None where no value stands there."""
    text = _STARTS.sub("", found.strip(" '\""))
    text = text.removeprefix("user's ")
    end = _ENDS.search(text)
    if end is not None:
        if end.start() == 0:
            return None
        text = text[: end.start()]
    text = text.strip(" ,.'\"")
    parts = text.split()
    if not 0 < len(parts) <= most or _NO_VALUE.intersection(parts[:1]) or _DEPENDS.search(found):
        return None
    return text


def is_light(word: str) -> bool:
    """Whether a word before a noun leaves it the same attribute: "my current dentist"."""
    return word in _LIGHT


def is_not_now(parts: Iterable[str]) -> bool:
    """Whether the words of a noun phrase name another thing than the one there is now: "my old dentist"."""
    return not _NOT_NOW.isdisjoint(parts)


def stands_beside(statement: str) -> bool:
    """Whether a statement says that it is one of several, or so only at times: "also", "on Mondays"."""
    return _BESIDE.search(statement) is not None


def is_name(value: str, original: str) -> bool:
    """Whether a value is written as a name: each of its words with a capital or a digit, in the original."""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", " ".join(original.split()), re.IGNORECASE)
    written = (match.group() if match else "").split()
    return bool(written) and all(word in names.PARTICLES or not word.islower() for word in written)


def _fits(name: str, value: str, original: str) -> bool:
    """Whether a value can be one of an attribute."""
    last = name.split()[-1]
    if name.startswith("favourite ") or name in ("nationality", "religion", "pronouns") or last in ("type", "sign"):
        return len(value.split()) <= 5 and not value.endswith(("ing now", "ly"))
    if last in _ADDRESS or name == "email":
        return "@" in value
    if last in _WITH_DIGIT:
        return any(char.isdigit() for char in value)
    if name == "age":
        return _YEARS.fullmatch(value) is not None
    if name == "occupation":
        return True
    if name == "diet":
        return value in _DIETS or value in _REGIMES or is_name(value, original)
    if name == "bedtime":
        return _AN_HOUR.fullmatch(value) is not None
    if says_where_from(name, value):
        return False
    kind = phrases.KINDS.get(name)
    return is_name(value, original) if kind is None else phrases.fits(kind, value)


def says_where_from(name: str, value: str) -> bool:
    """Whether a value says how somebody is, and not who: "My wife is Japanese"."""
    return value in names.DESCENTS and name.split()[-1] not in _OF_DESCENT


_OF_DESCENT: Final = word_set(
    "language tongue nationality passport accent ethnicity citizenship heritage religion faith culture background"
)
_AN_HOUR: Final = regex(
    r"(?:about |around )?(?:(?:(?:a )?quarter|half|five|ten|twenty) (?:past|to) )?"
    r"(?:\d{1,2}(?:[:.]\d\d)?|seven|eight|nine|ten|eleven|twelve|one|midnight)(?: ?(?:am|pm|o'clock))?"
    r"(?: (?:at night|in the evening|sharp))?"
)


# ------------------------------------------------ professions and diets

_PROFESSIONS: Final = word_set(
    """
    accountant actor actress actuary adviser advisor analyst anaesthetist architect artist astronomer attorney
    auditor author baker banker barber barista bartender biologist bookbinder bookkeeper bricklayer broker builder
    butcher carpenter cashier chef chemist cleaner clerk coach cobbler composer conductor consultant contractor
    controller cook copywriter counsellor counselor courier curator dancer decorator dentist designer developer
    dietitian diplomat director doctor driver economist editor electrician engineer estimator farmer firefighter
    florist gardener geologist glazier goldsmith hairdresser historian illustrator intern interpreter investigator
    janitor jeweller joiner journalist judge lawyer lead lecturer librarian lifeguard linguist locksmith machinist
    manager mathematician mechanic midwife miner musician nanny nurse nutritionist officer operator optician
    optometrist painter paralegal paramedic pharmacist photographer physician physicist physiotherapist pianist
    pilot plasterer plumber policeman policewoman potter producer professor programmer psychiatrist psychologist
    publicist radiographer radiologist realtor receptionist recruiter rep researcher roofer sailor salesman salesperson
    saleswoman scientist seamstress secretary sculptor singer soldier solicitor specialist statistician steward
    stewardess stonemason strategist supervisor trainer surgeon surveyor tailor teacher technician therapist translator
    tutor undertaker upholsterer vet veterinarian waiter waitress welder writer zoologist
    """
)
_DIETS: Final = word_set("vegan vegetarian pescatarian flexitarian omnivore carnivore")
_REGIMES: Final = word_set("keto ketogenic paleo plant-based low-carb mediterranean fruitarian macrobiotic")
"""What may go with a diet: it takes its place where the words say that something changed."""
_TURNED: Final = regex(
    r"(?i)\b(?:now|these days|gone|went|going|turned|switched|became|become|back|again|instead|not)\b"
)

_ADV = r"(?:(?:now|still|currently|also|actually|just|recently|finally|again|officially|only|happily|presently) ){0,3}"
_BE: Final = (
    r"(?:is|are|remains|stays|has become|became|has always been|has to be|changed to|has changed to|is back to|"
    r"has changed from .{1,60}? to|changed from .{1,60}? to|went back to|is called|is named|switched to)"
)


def _frame(name: str, *parts: str) -> tuple[str, re.Pattern[str]]:
    """A frame of a verb that gives an attribute a value."""
    return name, regex(rf"^user {_ADV}" + "".join(parts))


_FRAMES: Final = (
    _frame(
        "employer",
        r"(?:works|work|is working|is employed|is back|has worked|has a job|has got a job|has a new job|got a job|"
        r"got a new job|got hired|was hired|started|started working|started work|"
        r"(?:started|began|begun) (?:a|user's) (?:new )?(?:job|role|position)|"
        r"has started|went back to working|went back to work|returned to work|is back working)",
        rf" {_ADV}(?:at|for|by) (?P<value>.+)$",
    ),
    _frame("employer", r"(?:has )?(?:joined|rejoined) (?!the )(?P<value>.+)$"),
    _frame(
        "occupation",
        r"(?:works|is working|earns user's living|earns a living|makes a living|started work|is employed) ",
        rf"{_ADV}as (?P<value>.+)$",
    ),
    _frame(
        "profession",
        r"(?:is|has become|became|retrained as|qualified as|went back to being|went back to work as|is back to being) ",
        rf"{_ADV}an? (?P<value>.+)$",
    ),
    _frame(
        "occupation",
        r"(?:has )?(?:went|gone|moved|switched|is) (?:back )?(?:in)?to (?:user's |an? |the )?(?:old |new |previous |"
        r"former )?(?:role|job|"
        r"position|post|title) (?:as|of) (?P<value>.+)$",
    ),
    _frame(
        "occupation",
        r"(?:has )?(?:just )?(?:started|begun|begins|starts|been hired|got hired) (?:out )?as (?:an? |the "
        r")?(?P<value>.+)$",
    ),
    _frame(
        "profession",
        r"(?:has )?(?:gone|went|moved|switched) from (?:being )?(?:an? )?[\w -]{2,30}? to (?:being )?(?:an? "
        r")?(?P<value>.+)$",
    ),
    _frame(
        "profession",
        r"(?:has )?(?:just )?(?:got|gotten|was|been) promoted to (?:be )?(?:an? )?(?P<value>.+?)"
        r"(?: (?:last|this) \w+| yesterday| today| recently)?$",
    ),
    _frame(
        "diet",
        r"(?:is|became|has become|went|has gone|turned|has turned|is going|went back to being) ",
        rf"{_ADV}(?:an? )?(?P<value>[a-z-]+)\b(?: now| again| these days)?$",
    ),
    _frame(
        "diet",
        rf"(?:follows|eats|is eating|is on|(?:has )?(?:switched|moved|changed|gone over|went over) to|has adopted|"
        rf"adopted|keeps to) {_ADV}(?:an? )?(?P<value>[a-z-]+)",
        r"(?: (?:diet|food))?(?: now| again| these days)?$",
    ),
    _frame("car", rf"(?:drives|is driving) {_ADV}(?:an?|the(?! \d)) (?P<value>.+)$"),
    _frame(
        "partner",
        r"(?:is dating|is in a relationship with|is going out with|is married to|is engaged to|got engaged to|got "
        r"married to|married|is (?:now |back )?together "
        r"with|got (?:back )?together with|started dating|is seeing) (?P<value>.+)$",
    ),
    _frame("partner", r"is (?:now |back )with (?!dr\b|mrs?\b|ms\b)(?P<value>.+)$"),
    _frame("partner", r"is with (?!dr\b|mrs?\b|ms\b)(?P<value>.+) again$"),
    _frame(
        "employer",
        r"(?:has )?(?:got|gotten|landed|accepted|taken|found|has) (?:user's |an? )(?:\w+ ){0,2}",
        r"job (?:back )?(?:at|with|for) (?P<value>.+?)(?: back)?$",
    ),
    _frame(
        "employer",
        r"(?:has |is )?(?:just |now |recently )?been (?:hired|recruited|employed|taken on) by (?P<value>.+)$",
    ),
    _frame(
        "commute",
        r"(?:commutes|(?:gets|goes|travels|comes) to (?:work|the office|user's office|school|user's job)) by ",
        r"(?P<value>[a-z]+(?: [a-z]+)?)$",
    ),
    _frame("gym", r"goes to the gym at (?P<value>.+)$"),
    _frame("bank", r"banks (?:with|at) (?P<value>.+)$"),
    _frame(
        "notes app",
        r"(?:keeps|stores|takes|writes|is keeping|is taking|organi[sz]es) (?:all )?(?:of )?(?:user's )?notes ",
        rf"{_ADV}(?:in|with|on) (?P<value>.+)$",
    ),
)
_FRAMED: Final = OfWords(_FRAMES, itemgetter(1))
_USES: Final = regex(
    rf"^user {_ADV}(?:uses|has|is using) (?P<value>(?!taken |picked |been ).+?) as "
    r"(?:user's |an? |the )?(?P<np>[\w' -]+?)$"
)
_OWNED: Final = regex(rf"^user's (?P<np>[\w'-]+(?: [\w'-]+){{0,4}}?) {_ADV}{_BE} (?P<value>.+)$")
_OWNER: Final = regex(
    rf"^(?P<value>[^,;:]{{1,60}}?) {_ADV}(?:is|became|has become|remains) {_ADV}user's "
    r"(?P<np>[\w'-]+(?: [\w'-]+){0,4}?)"
    r"(?: (?:again|now|these days|of all time|any ?more|any longer|at all|after all))*$"
)
_OVERTAKEN: Final = regex(
    r"^(?P<value>[^,;:]{1,60}?) (?:(?:has|have) )?(?:(?:now|just|recently) )?(?:overtaken|overtook|replaced|succeeded|"
    r"taken over from|took over from|taken the place of|took the place of) [^,;:]{1,60}? as user's "
    r"(?P<np>[\w'-]+(?: [\w'-]+){0,4}?)(?: now)?$"
)
_BEST_IS: Final = regex(
    r"^the (?P<np>[\w'-]+(?: [\w'-]+){0,2}) (?:that )?user (?:likes|loves|prefers|enjoys) (?:the )?(?:best|most) is "
    r"(?P<value>.+)$"
)
_FIRST_DAY: Final = regex(
    r"^(?:today|yesterday|this|monday|this week) (?:was|is) user's first (?:day|week|month) (?:at|with) (?P<value>.+)$"
)
_APPOSED: Final = regex(
    r"^user (?:[a-z]+ ){1,3}?(?P<value>[^,;:]{1,40}?)(?: for [^,;:]{1,40})?, "
    r"(?:(?:that's|that is|who is|who's|which is) )?user's (?P<np>[\w'-]+(?: [\w'-]+){0,2})$"
)
_HAS_NEW: Final = regex(
    r"^user (?:has )?(?:has|got|found|bought|started|begun|began|picked up|picked|hired|adopted) an? (?:brand )?new "
    r"(?P<np>[\w -]+?)"
    r"(?:[:,]| called| named| [–—-]) (?P<value>.+)$"
)
_SWITCHED: Final = regex(
    rf"^user {_ADV}(?:has )?(?:switched|changed|moved|migrated|upgraded|converted) (?:user's )?(?P<np>[\w'-]+(?: "
    rf"[\w'-]+){{0,3}}?),? "
    r"(?:over )?(?:from [^,]{1,60}? )?(?:back )?to (?P<value>.+)$"
)
_WENT_FOR: Final = regex(
    rf"^user {_ADV}(?:has )?(?:switched|changed|moved|went|gone|is) (?:over )?(?:from [^,]{{1,60}}? )?(?:back )?to "
    r"(?P<value>[^,]{1,60}?) (?:for|as) user's (?P<np>[\w' -]+?)(?: again| now)?$"
)
_IS_NOT_BUT: Final = regex(
    r"^(?P<head>user's [\w' -]{1,60}? (?:is|are)) (?:not|no longer) [^,;]{1,60}[,;] (?:but )?(?:it's|it is|"
    r"they're|now|but ) ?(?P<value>.+)$"
)


@lru_cache(maxsize=4096)
def read(statement: str, original: str) -> Attribute | None:
    """The attribute of the user a statement sets, and the value; None where it sets none, or where that is in doubt.

    `statement` is in the third person and compared ("user's editor is vim"), `original` the same words as written.
    """
    if len(statement) > MAX_READ or _BESIDE.search(statement):
        return None
    but = _IS_NOT_BUT.match(statement)
    if but is not None:
        statement = f"{but['head']} {but['value']}"
    measured = _measure(statement) or _wish(statement, original)
    if measured is not None:
        return measured
    for pattern in (_USES, _OWNED, _OWNER, _OVERTAKEN, _HAS_NEW, _WENT_FOR, _SWITCHED):
        match = pattern.match(statement)
        found = None if match is None else _of_noun(match["np"], match["value"], original, pattern)
        if found is not None:
            return found
    best, first = _BEST_IS.match(statement), _FIRST_DAY.match(statement)
    if best is not None:
        return _of_noun(f"favourite {best['np']}", best["value"], original, _BEST_IS)
    if first is not None:
        return _of_frame("employer", first["value"], original)
    apposed = _APPOSED.match(statement)
    if apposed is not None and is_name(apposed["value"], original):
        return _of_noun(apposed["np"], apposed["value"], original, _APPOSED)
    for name, pattern in _FRAMED.asked_of(statement):
        match = pattern.match(statement)
        found = None if match is None else _of_frame(name, match["value"], original)
        if found is not None:
            return found
    return _of_phrase(statement, original)


_PASSING: Final = regex(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:time|week|weekend|month|morning|afternoon|evening|once)|for "
    r"(?:now|once|the "
    r"(?:moment|time being|day|week|weekend))|while|temporarily|last (?:night|week))\b"
)
"""What says that something is so for a while alone: who is up at six today gets up at seven."""


def _of_phrase(statement: str, original: str) -> Attribute | None:
    """What a statement sets by one of the phrases of daily life."""
    if _PASSING.search(statement):
        return None
    for phrase in phrases.read(statement):
        value = first_value(phrase.found)
        if value is None or not phrases.fits(phrase.kind, value) or not value[0].isalnum():
            continue
        if phrase.kind != "name" or is_name(value, original):
            return Attribute(phrase.name, value)
    return None


MAX_READ: Final = 300


def _of_noun(phrase: str, value: str, original: str, pattern: re.Pattern[str]) -> Attribute | None:
    np = phrase
    if pattern in (_SWITCHED, _WENT_FOR) and noun(np) is None:
        np = f"{phrase} app" if phrase == "notes" else phrase.removesuffix("s")
    name = noun(np) or ("manager" if pattern is _HAS_NEW and np in ("manager", "line manager") else None)
    held = first_value(value)
    if np == "home" and pattern in (_OWNED, _OWNER) and held is not None and not _ARTICLE.match(value):
        is_place = is_name(held, original) and held not in names.DESCENTS and held not in _STYLES
        return Attribute("current_city", held) if is_place else None
    is_provider = held is not None and not phrases.is_phone(held) and _SETTING.search(held.casefold()) is None
    if np in ("mobile", "cell") and pattern is _SWITCHED and is_provider:
        name = "phone provider"
    if name is None or held is None or not _fits(name, held, original):
        return None
    if name == "occupation" and np.split()[-1] in _OFFICES and "job" not in np and _IS_A_TRADE.search(held) is None:
        return None  # "my role is to keep everybody calm"
    return Attribute(name, held.split()[0] if name == "age" else held)


_ARTICLE: Final = regex(r"^(?:an?|the) ")
_STYLES: Final = ("victorian", "edwardian", "georgian", "tudor", "gothic", "art deco", "bauhaus", "mediterranean")
_OFFICES: Final = ("title", "role")
_IS_A_TRADE: Final = regex(
    r"(?<!^to )\b(?:[a-z]{3,}(?:er|or|ist|ian|ant|ent|eer|man|woman)|lead|head|chief|intern|rep|chef|nurse|coach|"
    r"analyst|"
    r"architect|ceo|cto|cfo|vp|director|scientist|researcher|professor|dean|clerk)$"
)


def _of_frame(name: str, found: str, original: str) -> Attribute | None:
    said = re.split(r" (?:as|where|in|on) ", found)[0] if name == "employer" else found
    value = first_value(_SOME_TIME_AGO.sub("", said) if name == "partner" else said)
    if value is None:
        return None
    if name == "partner" and (brands.named(original) or any(map(str.isdigit, value))):
        return None  # "I'm now with Vodafone"
    if name == "profession":
        return Attribute("occupation", value) if _is_profession(found, value) else None
    if name == "occupation":
        return Attribute(name, value)
    if name == "diet":
        is_diet = value in _DIETS or (value in _REGIMES and _TURNED.search(original) is not None)
        return Attribute(name, value) if is_diet else None
    if name == "commute":
        return Attribute(name, value)
    if name == "employer" and _is_no_firm(value):
        return None
    return Attribute(name, value) if is_name(value, original) else None


def _is_profession(found: str, value: str) -> bool:
    by_trade = re.sub(
        r" by (?:profession|trade|training|occupation)$| from [\w' -]+$| at (?!home\b)[\w'.& -]+$", "", value
    )
    return by_trade.split()[-1] in _PROFESSIONS and " of " not in found


# ------------------------------------------------ measures of somebody

_LATELY: Final = (
    r"(?:,? (?:now|already|today|yesterday|recently|these days|at the moment|this morning|"
    r"(?:last|this) (?:week|weekend|month|\w+day)|on \w+day|(?:an?|one|two|three|\d) (?:days?|weeks?) ago)){0,2}$"
)
_ROUGHLY: Final = r"(?:(?:about|around|roughly|exactly|just|only) )?"
_YEARS: Final = regex(r"\d{1,3}(?:[ -](?:years?|yrs?)(?:[ -]old)?)?")
_AGE: Final = regex(
    rf"^user {_ADV}(?:is|(?:has )?turned) {_ADV}(?P<value>\d{{1,3}})"
    rf"(?P<old>[ -](?:years?|yrs?)[ -](?:old|of age)| ?y/?o)?{_LATELY}"
)
_MASS: Final = r"(?:kgs?|kilos?|kilogram(?:me)?s?|pounds?|lbs?|stones?|st)"
_POUNDS: Final = rf"(?: \d{{1,2}}(?: ?{_MASS})?)?"  # "11 stone 4"
_WEIGHT: Final = regex(
    rf"^user {_ADV}(?:weighs|is weighing)(?: in at)? {_ROUGHLY}"
    rf"(?P<value>\d{{2,3}}(?:[.,]\d{{1,2}})?(?: ?{_MASS}{_POUNDS})?){_LATELY}"
)
_SETTING: Final = regex(r"\b(?:mode|silent|mute|vibrate|loud|english|german|french|spanish)\b")
"""What a mobile is switched to as well."""
_DOWN_TO: Final = regex(
    rf"^user {_ADV}(?:is|(?:has )?(?:gone|went|come|came|got|gotten|dropped|slimmed)) (?:back )?(?:down |up )?"
    rf"(?:(?<=back |down )|(?<=is up )|(?<=got )|(?<=gotten ))to {_ROUGHLY}"
    rf"(?P<value>\d{{2,3}}(?:[.,]\d{{1,2}})? ?(?P<unit>{_MASS}){_POUNDS}){_LATELY}"
)
_INCHES: Final = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven)(?: ?(?:inch(?:es)?|in|\"|''))?"
_FEET: Final = r"(?:\d|four|five|six|seven) ?(?:feet|foot|ft|')"
_METRES: Final = (
    r"(?:\d{2,3}(?:[.,]\d)? ?(?:cm|centimet(?:er|re)s?)|[12](?:[.,]\d{1,2})? ?(?:m|met(?:er|re)s?)(?: \d{2})?)"
)
_HEIGHT: Final = regex(
    rf"^user {_ADV}(?:is|stands) {_ADV}{_ROUGHLY}"
    rf"(?:(?P<value>{_METRES}|{_FEET}(?: ?(?:and )?{_INCHES})?) (?:tall|in height)|"
    rf"(?P<bare>1\d\d ?cm|{_FEET} ?{_INCHES})){_LATELY}"
)
_OF_A_BODY: Final = {"k": 30, "p": 66, "l": 66, "s": 5}
"""The least that somebody weighs, by the first letter of the unit."""
_AN_AGE: Final = range(10, 110)


_PAY: Final = (
    r"(?P<value>[€$£]?(?:\d[\d.,]*k|\d\d[\d.,]{2,})(?: ?(?:euros?|dollars?|pounds?|francs?|eur|usd|gbp|chf))?)"
    r"(?: (?:an?|per|every) year| annually| gross){0,2}" + _LATELY
)
_RAISED: Final = regex(
    rf"^user {_ADV}(?:has )?{_ADV}(?:got|gotten|received|been given|was given|negotiated) (?:an?|user's) "
    rf"(?:(?:pay |salary )?raise|(?:pay |salary )(?:rise|increase|bump)) to {_ROUGHLY}{_PAY}"
)
_PAID: Final = regex(rf"^user {_ADV}(?:earns|is paid|is earning) {_ROUGHLY}{_PAY}")


def _measure(statement: str) -> Attribute | None:
    """Somebody's age, weight, height or pay, or that they have no partner: "user turned 36 yesterday"."""
    age = _AGE.match(statement)
    if age is not None:
        return Attribute("age", age["value"]) if age["old"] or int(age["value"]) in _AN_AGE else None
    weight = _WEIGHT.match(statement)
    if weight is not None:
        return Attribute("weight", weight["value"])
    down = _DOWN_TO.match(statement)
    if down is not None:
        enough = float(re.split(r"[ a-z]", down["value"].replace(",", "."))[0]) >= _OF_A_BODY[down["unit"][0]]
        return Attribute("weight", down["value"]) if enough else None
    height = _HEIGHT.match(statement)
    if height is not None:
        return Attribute("height", height["value"] or height["bare"])
    if _SINGLE.match(statement):
        return Attribute("partner", "single")
    paid = _RAISED.match(statement) or _PAID.match(statement)
    return None if paid is None else Attribute("salary", paid["value"])


# ------------------------------------------------ standing wishes

_HENCEFORTH: Final = (
    r"(?:from (?:now|here|today) on(?:wards?| out| in)?|going forward|henceforth|in future|at all times)"
)
_LATER_ON: Final = rf"(?:{_HENCEFORTH}|in the future|from now)"
_FOR_GOOD: Final = regex(
    rf"(?i)^\W*(?:(?:so|and|ok|okay|but)[, ]+)?{_HENCEFORTH}\b|\b{_HENCEFORTH}(?:,? please)?[\s.!]*$"
)
_SETS_OUT: Final = regex(rf"(?i)^\W*(?:(?:so|and|ok|okay|but)[, ]+)?{_LATER_ON}\b,? ")
_TAIL: Final = regex(rf"(?i)(?:,? (?:{_LATER_ON}|please)\b){{1,3}}[\s.!]*$")
_TAIL_OF_ANSWERS: Final = regex(rf"(?i)(?:,? (?:{_LATER_ON}|please|always|now|instead|again)\b){{1,3}}[\s.!]*$")
_CALLED: Final = regex(r"^user wants to be called (?P<value>[\w'-]+(?: [\w'-]+)?)$")
_ANSWERS_IN: Final = regex(
    r"^(?:please )?(?:always |only )?(?:please )?(?:answer|reply|respond|(?:speak|talk|write|answer|reply|respond) to "
    r"(?:me|user))(?: (?:me|user))?(?: only)? in (?:(?:plain|simple|british|american|swiss|brazilian) )?"
    r"(?P<value>[a-z]+)$"
)


def without_henceforth(order: str) -> str:
    """An order without the words that make it one for good: "call me Alex from now on" is "call me Alex"."""
    return _TAIL.sub("", _SETS_OUT.sub("", order))


def asks_language(order: str) -> bool:
    """Whether an order says in which language to answer."""
    return _language(order) is not None


def _language(order: str) -> str | None:
    """The language that an order asks for in answers."""
    tongue = _ANSWERS_IN.match(_TAIL_OF_ANSWERS.sub("", order))
    return tongue["value"] if tongue is not None and tongue["value"] in phrases.TONGUES else None


def is_henceforth(order: str) -> bool:
    """Whether an order says that it is one for good: "from now on", "going forward"."""
    return _FOR_GOOD.search(order) is not None


def _wish(statement: str, original: str) -> Attribute | None:
    """How somebody wants to be called, and in which language answered."""
    called = _CALLED.match(statement)
    if called is not None:
        return Attribute("form of address", called["value"]) if is_name(called["value"], original) else None
    language = _language(statement)
    return None if language is None else Attribute("language of answers", language)


# ------------------------------------------------ what is over

_HAS: Final = r"^user (?:has |just |recently )*"
_OVERS: Final = tuple(
    (regex(pattern), into)
    for pattern, into in (
        (_HAS + r"(?:quit|left|lost) user's job (?:at|with) (?P<value>.+)$", "user works at {value}"),
        (_HAS + r"(?:resigned|retired) from (?P<value>.+)$", "user works at {value}"),
        (
            _HAS + r"(?:(?:was|got) (?:fired|laid off) (?:from|by)|parted ways with) (?P<value>.+)$",
            "user works at {value}",
        ),
        (_HAS + r"(?:quit|left) (?P<value>[^,;]+)$", "user works at {value}"),
        (
            (
                rf"^(?:last )?(?:{feasts.WEEKDAY}|week|month) was user's last day (?:at|with) "
                r"(?P<value>(?:(?!\b(?:this|that|until|till|before|for|in)\b)[^,;])+)$"
            ),
            "user works at {value}",
        ),
        (
            (
                r"^user's last day (?:at|with) (?P<value>[^,;]+?) was (?:(?:on )?(?:last )?(?:yesterday|"
                rf"{feasts.WEEKDAY}|week|month|(?:{feasts.MONTHS})\b.*|the \d+.*)|"
                r"(?:so |very |really |quite )?(?:great|sad|emotional|fun|hard|good|nice|weird|bittersweet|tough|"
                r"lovely))$"
            ),
            "user works at {value}",
        ),
        (_HAS + r"(?:broke up|split up|separated|parted) (?:with|from) (?P<value>.+)$", "user is dating {value}"),
        (_HAS + r"divorced (?P<value>.+)$", "user is dating {value}"),
        (r"^user is (?:no longer|not) with (?P<value>.+?)(?: any ?more)?$", "user is dating {value}"),
        (_HAS + r"(?:stopped|quit|given up|gave up) being (?P<value>.+)$", "user is {value}"),
        (_HAS + r"(?:stopped|quit) working (?:at|for) (?P<value>.+)$", "user works at {value}"),
        (_HAS + r"(?:stopped|quit) working as (?P<value>.+)$", "user works as {value}"),
        (
            (
                r"^(?P<value>[^,;:]{1,60}?) (?:is no longer|is not|isn't) (?P<np>user's [\w' -]+?)"
                r"(?: any ?more| any longer| at all| after all)?$"
            ),
            "{np} is {value}",
        ),
    )
)
_OVER_BY_WORDS: Final = OfWords(_OVERS, itemgetter(0))


_WORKED: Final = regex(
    r"^user (?:\w+ly |once )*(?:(?:(?:has )?(?:used to work|worked)|no longer works|does not work) (?:at|for)|"
    r"(?:has )?(?:left user's job at|quit user's job at|resigned from|retired from)) (?P<value>[\w'&. -]{1,40}?)"
    r"(?: (?:any ?more|before|once|for|until|till|in|from|since|as|last)\b.*)?$"
)


def worked_at(statement: str) -> str | None:
    """For whom a statement says that the user worked before."""
    match = _WORKED.match(statement) if len(statement) <= MAX_READ else None
    return None if match is None or _is_no_firm(match["value"]) else match["value"]


def _is_no_firm(value: str) -> bool:
    """Whether a value is a place, a day or what somebody joins for another reason than work."""
    last = value.split()[-1]
    listed = value in names.CITIES or value in names.REGIONS or value in _NETWORKS or value == "home"
    return listed or last in _SOME or last in _NO_FIRM or _A_DAY.fullmatch(value) is not None


def was_so(statement: str) -> str | None:
    """What a statement says is over, as a statement of what was so; None where it says of nothing that it is over."""
    if len(statement) > MAX_READ:
        return None
    for pattern, into in _OVER_BY_WORDS.asked_of(statement):
        match = pattern.match(statement)
        if match is not None:
            return into.format(**match.groupdict())
    return None


_INVERTED: Final = regex(
    r"^[^,;:]{1,60}? (?:is|isn't|became|has become|remains) (?:(?:now|still|no longer|not) ){0,2}(?:my|our|user's) "
    r"(?P<np>[\w'-]+(?: [\w'-]+){0,4}?)(?:,? (?:again|now|these days|of all time|any ?more|any longer|of course|"
    r"at all|after all))*$"
)
_HELD: Final = regex(r"^(?:my|our|user's) (?P<np>[\w-]+(?: [\w-]+){0,2}) (?:is|isn't|has become|became|changed) ")
_PERSON_NAMED: Final = regex(
    r"^(?:(?i:no|nope|sorry|oops|wait|actually|correction|well|oh|yes|yeah|by the way|btw)[,.:;!–—-]*\s+){0,3}"
    r"(?:My|my|Our|our|User's|user's|The user's) (?:new |current )?(?P<np>[\w-]+)(?:['’]s name)? (?:is|has become|"
    r"became) "
    r"(?:(?:still|now|again|called|named|back to) )*(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?"
    r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}"
    r"(?:,? (?:and )?not (?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?[A-ZÀ-ÖØ-Þ][\w'’-]+(?: [A-ZÀ-ÖØ-Þ][\w'’-]+){0,2})?"
    r"(?: (?:now|again|these days))?[.!]?$"
)


_HOME_IS: Final = regex(
    r"^home (?:for|to) (?:me|user) is \w|^home is \w.* for (?:me|user)$|^[\w' -]{2,40} is (?:(?:still|now) )?(?:my "
    r")?home(?: for (?:me|"
    r"user)| now)+$|"
    rf"^(?:today|yesterday|this|(?:last )?{feasts.WEEKDAY}) (?:was|is) (?:my|user's) "
    r"(?:first|last) (?:day|week|month) (?:at|with) \w|"
    r"^the [\w' -]{1,40} (?:that )?(?:i|user) (?:likes?|loves?|prefers?|enjoys?) (?:the )?(?:best|most) is \w"
)


_IS_MINE: Final = worded(r"\bmy\b")
_OF_ONESELF: Final = word_set("i me my us our user home")
"""One of these stands in whatever says what the user's is."""


def is_of_user(sentence: str, compared: str) -> bool:
    """Whether a sentence that begins with something else says what the user's is: "Alien is my favourite film"."""
    whole = compared
    if _OF_ONESELF.isdisjoint(words_of(whole)):
        return False
    compared = next((head for head in asides.left_out(whole) if _INVERTED.match(head)), whole)
    inverted = _INVERTED.match(compared)
    held = _HELD.match(compared)
    if _HOME_IS.match(compared) or (held is not None and held["np"].startswith("favourite ")):
        return True
    overtaken = _OVERTAKEN.match(_IS_MINE.sub("user's", compared))
    if overtaken is not None and noun(overtaken["np"]) is not None:
        return True
    if inverted is not None and noun(inverted["np"]) is not None and not compared.startswith(("it ", "this ", "that ")):
        return True
    heads = (sentence.strip(), *asides.left_out(sentence.strip()))
    named = next((match for head in heads if (match := _PERSON_NAMED.match(head)) is not None), None)
    return (named is not None and noun(named["np"].lower()) is not None) or phrases.is_of_user(compared)


# ------------------------------------------------ what points at a value said before


class Echo(NamedTuple):
    """What is said of a value without the name of its attribute: `old` is over, `new` is so; `name` where it is named.

    `alone` says that the words mean nothing without what was said before ("no, it's violet, not indigo").
    """

    old: str | None = None
    new: str | None = None
    name: str | None = None
    alone: bool = False
    over: str | None = (
        None  # what is over, where any value it names may be meant; with a `name`, it says more than that
    )
    same: str | None = None  # what is still so, likewise
    course: Course | None = None  # what it says is over, or has become what
    otherwise: bool = False  # it tells how things are now, against how they were
    whole: bool = False  # it is of a whole sentence, of whose clauses there are drafts, too
    moved: bool = False  # it says of a thing what day, place or amount it has by now
    loosely: bool = False  # its values and signs alone may say of which memory it is news
    akin: str = ""  # what it says has become of something (`news.sign`): of what, the memory tells most like it
    beside: str = ""  # what the rest of its sentence says against something told before (`contrasts`)
    fits: re.Pattern[str] | None = None  # what the memory of `name` says that it ends; any where there is none
    order: str = ""  # its sentence, where that is an order for good or says what becomes of one (`orders`)


_V: Final = r"(?:(?:[Dd]r|[Mm]rs?|[Mm]s)\. )?[^,;:.!?]{1,60}?"
_IT: Final = (
    r"(?:(?:no|nope|sorry|oops|wait|actually|correction|pardon|my mistake|my bad|ah|oh|hm+|i mean|well|typo|"
    r"haha|lol|ha|scratch that)[,.:;!–—-]*\s+){0,3}"
)
_MEANT: Final = r"(?:it's|it is|that's|that is|i meant|i mean|make that|make it|it should be|that should be|should be)"
_CORRECTED: Final = tuple(
    regex(rf"^{_IT}{pattern}[\s.!]*$", re.IGNORECASE)
    for pattern in (
        (
            rf"(?:it's not|it is not|it isn't|that's not|it's no longer) (?P<old>{_V})(?: any ?more| any longer),? "
            rf"(?:but |and )?(?:{_MEANT} )(?:now )?(?P<new>{_V})(?: now| these days)?"
        ),
        rf"(?:{_MEANT} )(?P<new>{_V}),? (?:and )?not (?P<old>{_V})",
        rf"(?P<new>{_V}), not (?P<old>{_V})",
        rf"not (?P<old>{_V})[,;:]? (?:but |{_MEANT} )(?P<new>{_V})",
        rf"not (?P<old>{_V}), (?P<new>{_V})",
        rf"i said (?P<old>{_V}),? (?:but )?{_MEANT} (?P<new>{_V})",
        rf"(?:it|that) (?:isn't|is not|wasn't) (?P<old>{_V}),? (?:but |{_MEANT} )(?P<new>{_V})",
    )
)
_MY: Final = r"(?:user's |the |an? )?"
_BANK_CHANGED: Final = worded(
    rf"^user {_ADV}(?:has )?(?:closed|cancell?ed|shut) user's (?P<old>{_V}) (?:(?:checking|current|bank) )?account,? "
    r"and (?:has )?(?:opened|got|started|set up) (?:one|an account|another(?: one)?|a new one) "
    rf"(?:at|with) (?P<new>{_V})(?: now| instead)*$"
)
"""What says of a bank that it is another: who has an account with his employer has that, too."""
_POINTED: Final = tuple(
    regex(rf"^user {_ADV}(?:has )?{pattern}(?: any ?more| any longer| now| instead| at last)*$")
    for pattern in (
        rf"(?:switched|changed|went|migrated|moved) (?:over )?from {_MY}(?P<old>{_V}) (?:over )?to {_MY}(?P<new>{_V})",
        (
            rf"(?:replaced|swapped|traded|traded in|exchanged) {_MY}(?P<old>{_V}) (?:with|for|by) {_MY}(?P<new>{_V})"
            rf"(?: (?:for|on|as) user's{NO_OCCASION} [\w' -]{{2,30}}?)?"
        ),
        rf"(?:(?:switched|went|moved|is|gone|returned) back|returned) to (?:using )?{_MY}(?P<new>{_V})",
        rf"(?:is using|uses) {_MY}(?P<new>{_V}) again",
        rf"(?:stopped|quit|gave up|given up) (?:using |driving |wearing )?{_MY}(?P<old>{_V})",
        rf"(?:does not|no longer|do not) (?:use|uses|own|owns|have|has) {_MY}(?P<old>{_V})",
        rf"(?:sold|ditched|dropped|abandoned|got rid of|gave away|lost) {_MY}(?P<old>{_V})",
    )
)
_POINTING: Final = OfWords(_POINTED)
_ENDED: Final = worded(
    rf"^user {_ADV}(?:has )?(?:(?:stopped|quit|given up|gave up|gone off|went off|cancelled|canceled|"
    r"closed(?= .*\baccount)|dropped|ditched|deleted|"
    r"left(?! user's (?:\w+ )?(?:bike|bicycle|car|van|bus|phone|laptop|keys?|bag)\b)|"
    r"uninstalled|sold|lost|given away|gave away|"
    r"gotten rid of|got rid of|parted with|"
    r"(?:got|was|has been|been) (?:laid off|let go|fired)|resigned|retired|is (?:off|out of|done with|through with|"
    r"finished with)|is no longer|no longer)\b(?P<rest> .+)|(?:does not|is not|do not)\b(?P<rest_not> .+) "
    r"(?:any ?more|any longer))$"
)
_STILL: Final = worded(
    r"^user(?P<before>(?:'s [\w' -]{1,40}?)?(?: [a-z]+)?) (?:still|continues to|continue to) (?P<after>.{2,80})$"
)
_SINGLE: Final = regex(
    r"^user is (?:(?:now|newly|officially|finally|happily|sadly) )*single(?: (?:again|now|these days|at the moment))*$"
)
_TIMES_AGO: Final = (
    r"(?:,? (?:now|yesterday|today|recently|lately|amicably|for good|officially|finally|"
    r"(?:last|this|earlier this) (?:week|weekend|month|year|night|morning|spring|summer|autumn|fall|winter|\w+day)|"
    rf"in (?:{feasts.MONTHS})|on \w+day|"
    r"(?:an?|one|two|three|four|five|six|\d|a few|a couple of) (?:days?|weeks?|months?) ago))"
    r"{0,2}$"
)
_SOME_TIME_AGO: Final = regex(_TIMES_AGO)
_PAIRED: Final = worded(
    rf"^user {_ADV}(?:(?:has )?{_ADV}(?:got|gotten) (?:married|engaged)|is {_ADV}(?:married|engaged|in a relationship|"
    rf"(?:dating|seeing) some(?:one|body))){_TIMES_AGO}"
)
"""Who has somebody by now, without the name: who was single is it no more."""
_ALONE: Final = regex(r"\bsingle\b")
_WEDDED: Final = r"\b(?:married|wife|husband|spouse)\b"
_PARTED_AS: Final = OfWords(
    (
        (regex(rf"^{pattern}{_TIMES_AGO}"), regex(fits), alone)
        for pattern, fits, alone in (
            (rf"user {_ADV}(?:(?:has )?got(?:ten)? (?:divorced|a divorce)|is {_ADV}divorced)", _WEDDED, False),
            (
                rf"user's group {_ADV}(?:has )?{_ADV}(?:got(?:ten)? (?:divorced|a divorce)|divorced)",
                rf"{_WEDDED}|\bpartner\b",
                False,
            ),
            (
                rf"user's group {_ADV}(?:has )?{_ADV}(?:broke(?:n)? up|split up|separated)",
                r"",
                True,
            ),
            (
                rf"user's group {_ADV}(?:has )?{_ADV}(?:called off|broke off|broken off) (?:user's|the) engagement",
                r"\b(?:engaged|fianc\w*|partner)\b",
                True,
            ),
        )
    ),
    itemgetter(0),
)
"""The end of a couple without the name of the other: what it may be the end of, and whether it says nothing else."""
_MEAT: Final = r"(?:(?:red|white|some|a little|a bit of) )?(?:meat|beef|pork|chicken|poultry|steak|bacon|ham|lamb)"
_EATS: Final = (
    r"^user {adv}(?:eats? {what}(?: (?:now|again|these days|nowadays)){{1,2}}|(?:has )?(?:started|begun|began|"
    r"gone back to|went back to|returned to|resumed|is back to|taken up|took up) eating {what}"
    r"(?: (?:now|again|these days|lately|recently)){{0,2}})$"
)
_EATEN: Final = OfWords(
    (
        (
            regex(_EATS.format(adv=_ADV, what=_MEAT)),
            regex(r"\b(?:vegan|vegetarian|pescatarian)\b"),
        ),
        (
            regex(_EATS.format(adv=_ADV, what=r"(?:fish|seafood|dairy|cheese|eggs|milk|yoghurt|yogurt|butter)")),
            regex(r"\bvegan\b"),
        ),
    ),
    itemgetter(0),
)
"""What somebody eats by now, and the diets that are over by that."""
_FORGET: Final = worded(
    r"^(?:please )?(?:forget|delete|erase|remove) (?:about )?(?:my|user's) (?P<np>[\w' -]{2,60}?)(?: please| again)?$"
)


@lru_cache(maxsize=1024)
def corrected(sentence: str) -> Echo | None:
    """The correction a whole sentence makes of something said before: "No, it's violet, not indigo"; None for others.

    It begins as a correction does, or with what is right; so "I like tea, not coffee" is none.
    """
    plain = " ".join(sentence.replace("’", "'").split())
    low = plain.lower()
    if len(plain) > MAX_READ or not ("not" in low or "n't" in low or "i said" in low):
        return None
    for pattern in _CORRECTED:
        match = pattern.match(plain)
        if match is not None:
            old, new = _bare(match["old"]), _bare(match["new"])
            names_both = all(0 < len(one.split()) <= 4 and not _SENTENCE.match(one) for one in (old, new))
            names_both = names_both and " for " not in new
            return Echo(old, new, alone=True) if names_both else None
    return None


_NOW_IT_IS: Final = r"(?:(?:so|and|now|it's|it is|i'm|i am|i|see|use|go|to|with|at|have|(?:the|my|our) new one is) )"
_GONE: Final = r"(?:retired|left|moved away|sold|closed|quit|died|broke|changed|was sold|is gone)"
_IT_IS: Final = (
    r"(?: any ?more| any longer)?(?: ?[,;–—-]+ (?:but )?(?:it's|it is) (?:now )?|,? but (?:now )?(?:(?:it's|it is) )?)"
    r"(?!.*'s[\s.!]*$)"
)
_RENEWED: Final = tuple(
    regex(rf"^{_IT}{pattern}(?P<value>{_V})(?: now| instead| these days)?[\s.!]*$", re.IGNORECASE)
    for pattern in (
        (
            r"i(?:'ve| have)? (?:just |recently |finally )?(?:changed|switched|swapped) (?:my )?"
            rf"(?P<np>[a-z -]{{2,30}}?)[,:;–—-]+ {_NOW_IT_IS}*"
        ),
        (
            rf"(?:my|our) (?P<np>[a-z -]{{2,30}}?) (?:has |have |just |recently )*{_GONE}"
            rf"(?: [^,;:]{{1,40}})?[,;:–—-]+ {_NOW_IT_IS}+"
        ),
        rf"(?:my|our) (?P<np>[a-z -]{{2,30}}?) (?:isn't|is not|is no longer) (?:an? |the )?(?P<old>{_V}){_IT_IS}",
        rf"(?P<old>{_V}) (?:isn't|is not|is no longer) (?:my|our) (?P<np>[a-z -]{{2,30}}?){_IT_IS}",
    )
)


_APART: Final = frozenset(",:;–—-")


@lru_cache(maxsize=1024)
def renewed(sentence: str) -> Attribute | None:
    """What a whole sentence says to have taken the place of another: "I changed dentists, I see Dr. Bell now"."""
    plain = " ".join(sentence.replace("’", "'").split())
    if len(plain) > MAX_READ or (_APART.isdisjoint(plain) and " but " not in plain):
        return None
    for pattern in _RENEWED:
        match = pattern.match(plain)
        if match is not None:
            np = match["np"].lower().strip()
            name = noun(np) or noun(np.removesuffix("s")) or _thing(np)
            held, old = _bare(match["value"]), match.groupdict().get("old")
            if old is not None and noun(np) is None:
                continue  # "my mum isn't well, it's Covid"
            if old is not None and name is not None and name.split()[-1] not in _DESCRIBED_SO:
                said = {*old.lower().split(), *held.lower().split()}
                if said & set(names.NOT_NAMES) - _CALLED_SO and not name.startswith("favourite "):
                    continue  # "my wife isn't French but Belgian"
            if old is not None and name is not None and not is_name(old.lower(), plain):
                kind = name in _OF_A_KIND or (name.startswith("favourite ") and _NO_MORE.search(plain) is not None)
                values = [_value_of(name, one, plain) if kind else None for one in (old, held)]
                if None in values or values[0] == values[1]:
                    continue
                return Attribute(name, held)
            if _TIME_WORDS.fullmatch(held) and not _may_be_called(held, np, match):
                continue  # "my laptop isn't a ThinkPad, it's Monday"
            if name is not None and 0 < len(held.split()) <= 4 and is_name(held.lower(), plain):
                return Attribute(name, held)
    return None


_DESCRIBED_SO: Final = ("nationality", "religion", "language", "birthday", "birthplace", "diet", "age")
"""Of what a word that is no name may be the value."""
_OF_A_KIND: Final = ("favourite colour", "diet", "age")
_NO_MORE: Final = regex(r"(?i)\b(?:any ?more|any longer|no longer)\b")
"""What tells a value that is no name from how something is: "my favourite food isn't spicy, it's mild"."""
_NO_ANSWER: Final = word_set(
    "complicated hard difficult easy long weird funny strange obvious simple just like more less that this what how "
    "why because only personal nothing also quite rather something somewhere someone too very really still"
)


def _value_of(name: str, value: str, original: str) -> str | None:
    """A value that is no name as one of an attribute: "green" of a favourite colour, and not "complicated"."""
    held = first_value(value.lower(), 3)
    parts = [] if held is None else held.split()
    if not parts or _SENTENCE.match(value) or not _NO_ANSWER.isdisjoint(parts) or parts[0].endswith("ing"):
        return None
    return held if held is not None and _fits(name, held, original) and held == value.lower() else None


_TIME_WORDS: Final = regex(
    rf"(?i)(?:{feasts.WEEKDAY}|{feasts.MONTHS}|spring|summer|autumn|winter|today|tomorrow|yesterday|tonight|noon|midnight|"
    rf"{feasts.UNNAMED})(?: (?:morning|afternoon|evening|night))?"
)
_HAS_A_TIME: Final = regex(
    r"^favou?rite |\b(?:song|film|movie|book|album|band|name|day|days|date|month|season|time|birthday|anniversary|"
    r"holiday|deadline|appointment|meeting|class|lesson|shift|session|call|slot|practice|rehearsal|training|exam|flight|trip|"
    r"night|evening|morning)(?: off)?$"
)
_CALLED_SO: Final = frozenset(("april", "may", "june", "august"))


def _may_be_called(time: str, np: str, match: re.Match[str]) -> bool:
    """Whether a thing may be called as a time is: it was so before, it has a time, or a name as songs and people do."""
    if _HAS_A_TIME.search(np) is not None:
        return True
    if "old" in match.groupdict() and _TIME_WORDS.fullmatch(_bare(match["old"])):
        return True
    of_a_kind = "old" in match.groupdict() and re.search(r"\b(?:an?|the) $", match.string[: match.start("old")])
    return time.lower() in _CALLED_SO and not of_a_kind


def _thing(np: str) -> str | None:
    """The name of a thing of the user's that no class knows, of which somebody says that it is another by now."""
    named = np.removesuffix("s") if not np.endswith("ss") else np
    return named if " " not in named and named not in _MINDS else None


_MINDS: Final = word_set(
    "mind plan topic subject clothe train gear seat side place room tune name date time day number thing it that this "
    "appointment meeting flight order booking ticket friend sister brother mother father son daughter dog cat"
)
_SENTENCE: Final = regex(
    r"(?i)^(?:i|i'm|my|we|our|you|your|he|she|they|it|this|that|his|her|their|there|what|who|yet|now|really|sure|only|so|"
    r"just|please|if|when|the|in|on|at|to|for|with|don't|do|is|are|was)\b|.*\b(?:is|are|was|were|live|work|like|use|am)\b"
)


def _bare(value: str) -> str:
    return re.sub(r"(?i)^(?:an?|the|my|in|at) ", "", value.strip(" '\""))


@lru_cache(maxsize=1024)
def pointed(statement: str) -> Echo | None:
    """What a statement about the user says of a value whose attribute it does not name: "user no longer uses vim"."""
    if len(statement) > MAX_READ:
        return None
    if _PAIRED.match(statement):
        return Echo(name="partner", over="partner", fits=_ALONE)
    for pattern, fits, alone in _PARTED_AS.asked_of(statement):
        if pattern.match(statement):
            return Echo(name="partner", over="partner", alone=alone, fits=fits)
    for pattern, fits in _EATEN.asked_of(statement):
        if pattern.match(statement):
            return Echo(name="diet", over="diet", fits=fits)
    forget = _FORGET.match(statement)
    if forget is not None:
        name = noun(forget["np"])
        return None if name is None else Echo(name=name)
    bank = _BANK_CHANGED.match(statement)
    if bank is not None:
        was = re.compile(rf"(?<!\w){re.escape(bank['old'])}$")
        return Echo(bank["old"], bank["new"], name="bank", over="bank", fits=was)
    for said in (statement, *asides.left_out(statement)):
        for pattern in _POINTING.asked_of(said):
            match = pattern.match(said)
            if match is not None:
                found = match.groupdict()
                return Echo(found.get("old"), found.get("new"))
    same = _STILL.match(statement)
    if same is not None:
        return Echo(same=f"{same['before']} {same['after']}")
    over = _ENDED.match(statement)
    return None if over is None else Echo(over=over["rest"] or over["rest_not"])


_SAID_AS: Final = {
    "current_city": "User lives in {}", "occupation": "User works as a {}", "car": "User drives a {}",
    "diet": "User is {}", "form of address": "User wants to be called {}", "age": "User is {}",
    "language of answers": "Answer in {}",
}  # fmt: skip


def sentence_of(name: str, value: str) -> str:
    """A fact that gives the user's attribute a value."""
    if name == "diet" and value.casefold() in _REGIMES:
        return f"User's diet is {value}"
    return _SAID_AS.get(name, f"User's {name.removeprefix('~')} is {{}}").format(value)


# ------------------------------------------------ questions

_WHEN: Final = regex(
    r",? (?:(?:back )?(?:in|during|on|as of|around|by|at the (?:start|end|beginning) of) .*(?:\d{4}|"
    rf"{feasts.MONTHS}|spring|summer|autumn|fall|winter)\b.*|"
    r"(?:last|this|two|three|a few|some) .*(?:year|month|week|spring|summer|autumn|fall|winter|ago)s?\b.*|"
    r"now|currently|at the moment|right now|these days|nowadays|today|at present|then|back then|at (?:the|that) time|"
    r"before(?: that| then| (?!i\b)(?:[\w.'-]+ ?){1,3})?|previously|originally|yesterday|again)$"
)
_MODIFIED: Final = regex(r"^(?:previous|former|old|last|original|first|initial|earlier|ex) ")
_HABIT: Final = regex(r"\buse to (?=\w)|(?<=\bwhat )(?:kind|sort|type) of |(?<=\bwhich )(?:kind|sort|type) of | like$")
_AUX: Final = r"(?:do|did|am|was|have|had|'ve)"
_QUESTIONS: Final = tuple(
    (regex(pattern), name)
    for pattern, name in (
        (rf"^where {_AUX} i (?:\w+ )?(?:live|living|based|reside|residing|lived|located)$", "current_city"),
        (
            rf"^(?:what|which) (?:city|town|place) {_AUX} i (?:\w+ )?(?:live|living|based|reside|lived)(?: in)?$",
            "current_city",
        ),
        (rf"^(?:what|which) (?:city|town|place) {_AUX} i call(?:ing|ed)? home$", "current_city"),
        (rf"^(?:which|what) (?:company|firm|employer) {_AUX} i (?:\w+ )?(?:with|at)$", "employer"),
        (
            rf"^how {_AUX} i (?:\w+ )?(?:commute|commuting|(?:get|getting|go|going|travel) to (?:work|the office))$",
            "commute",
        ),
        (rf"^(?:which|what) bank {_AUX} i (?:\w+ )?(?:with|at)$", "bank"),
        (rf"^(?:which|what) diet {_AUX} i (?:\w+ )?on$", "diet"),
        (r"^what do i do$", "occupation"),
        (
            (
                r"^what(?:'s| is| was) my (?:role|job|title|position|job title|job role) (?:at|in) "
                r"(?:work|(?:the|my) (?:office|company|firm|team))$"
            ),
            "occupation",
        ),
        (r"^(?:where|what city|what town)(?:'s| is| was) my (?:home|house|flat|apartment)(?: in)?$", "current_city"),
        (rf"^(?:who|whom) {_AUX} i (?:\w+ )?report(?:ing|ed)? to$|^to whom {_AUX} i report(?:ing)?$", "manager"),
        (r"^where(?:'s| is| was) home(?: for me)?$", "current_city"),
        (r"^(?:who|what)(?:'s| is| was) my (?:line )?(?:manager|boss|supervisor)(?:'s name)?$", "manager"),
        (rf"^where {_AUX} i (?:\w+ )?(?:work|working|employed|worked)$", "employer"),
        (
            (
                rf"^(?:who|whom|(?:which|what) (?:compan(?:y|ies)|firms?|employers?|business(?:es)?)) {_AUX} i "
                r"(?:\w+ )?(?:work|working|employed|worked)(?: (?:for|at|by|with))?$"
            ),
            "employer",
        ),
        (r"^(?:who|which company|what company) (?:employs|employed) me$", "employer"),
        (rf"^what {_AUX} i (?:\w+ )?(?:work|working) as$", "occupation"),
        (r"^what(?:'s| is| was) my (?:(?:job|work) position|position at (?:work|\w+|the company))$", "occupation"),
        (r"^what (?:do|did) i do (?:for a living|for work|professionally)$", "occupation"),
        (rf"^what diet {_AUX} i (?:\w+ )?(?:follow|following|on|keep|eat)$", "diet"),
        (r"^what (?:do|did) i drive$", "car"),
        (r"^where (?:am|do|was|did) i (?:come )?(?:originally )?from(?: originally)?$", ORIGIN),
        (r"^(?:what(?:'s| is| was) my (?:full |real )?name|(?:do|can) you (?:know|remember|recall) my name)$", "name"),
        (rf"^how old {_AUX} i(?: (?:now|turning|exactly))?$", "age"),
        (rf"^how (?:much|heavy) {_AUX} i (?:\w+ )?(?:weigh|weighing)$|^how heavy {_AUX} i$", "weight"),
        (rf"^how tall {_AUX} i$", "height"),
        (
            (
                r"^(?:what|how) (?:should|shall|do|must|can|will) (?:you|i) (?:call|address) me(?: by)?$|"
                r"^(?:what|how) do i (?:want|like|prefer|wish) to be (?:called|addressed)$|"
                r"^(?:(?:by )?(?:what|which) name do i (?:(?:like|want|prefer|usually) (?:to )?)?(?:go by|prefer|use)|"
                r"what(?:'s| is) my preferred name|what do (?:people|my friends|they) call me)$"
            ),
            "form of address",
        ),
        (
            (
                r"^(?:in )?(?:what|which) language (?:should|shall|do|must|will) (?:you|i) "
                r"(?:answer|reply|respond|speak|write)(?: (?:to )?me)?(?: in)?$"
            ),
            "language of answers",
        ),
        (rf"^where {_AUX} i (?:\w+ )?(?:keep|keeping|take|store|write|kept) my notes$", "notes app"),
        (r"^where (?:do|did) i bank$", "bank"),
        (
            rf"^who {_AUX} i (?:still |now |currently )?(?:dating|married to|engaged to|seeing|with|together with)$",
            "partner",
        ),
    )
)  # fmt: skip
_ASKING: Final = OfWords(_QUESTIONS, itemgetter(0))
_WHICH: Final = regex(
    rf"^(?:what|which) (?P<np>[\w' -]+?) (?:{_AUX} i (?:\w+ly |still |now )?(?:use|using|used|drive|driving|drove|have|"
    r"own|go to|went to|bank with)|(?:is|was) mine)$"
)
_BEST_OF: Final = regex(
    r"^(?:what|which) (?P<np>[\w' -]+?) (?:(?:do|did) i (?:like|love|prefer) (?:best|most)|(?:is|was) my favou?rite)$"
)
_MINE: Final = regex(
    r"^(?:what|which|who|when)(?:'s| is| was| are| were) (?:called )?my (?P<np>[\w' -]+?)(?: called| named)?$"
)


@lru_cache(maxsize=1024)
def asked(question: str) -> str | None:
    """The attribute of the asker that a question in compared text asks for; None where it asks for none that is known.

    "Where did I work in July 2024?" asks for the employer: when is read elsewhere.
    """
    text = re.sub(
        r"^(?:(?:hi|hey|so|and|ok|please|also|remind me,?|tell me,?) )+", "", question[:MAX_READ].strip(" ?!.")
    )
    text = _HABIT.sub("", text)
    for _ in range(2):
        text = _WHEN.sub("", text).strip(" ,")
    for pattern, name in _ASKING.asked_of(text):
        if pattern.match(text):
            return name
    best = _BEST_OF.match(text)
    if best is not None:
        return noun(f"favourite {best['np']}")
    of_phrase = phrases.asked(text)
    if of_phrase is not None:
        return of_phrase
    match = _WHICH.match(text) or _MINE.match(text)
    if match is None or "'s " in match["np"].removesuffix("'s name"):
        return None  # "my wife's birthday" is hers
    return noun(_MODIFIED.sub("", match["np"]))


_TOLD_BY: Final = {
    "current_city": "live living lives lived home city reside resides based moved",
    "employer": "work works working worked employer employed",
    "occupation": "job work works occupation profession",
    "partner": "partner wife husband girlfriend boyfriend spouse fiance fiancee dating married",
    "manager": "manager boss supervisor report reports",
    "notes app": "notes", "favourite dish": "favourite dish food meal",
    "diet": "diet eat eats keto ketogenic paleo low-carb mediterranean",
    "phone number": "phone number", "email": "email mail", "commute": "commute commutes work office",
    "car": "car drive drives driving drove vehicle", ORIGIN: "from",
    "age": "age old turned years birthday born", "weight": "weight weigh weighs weighed kilos kg pounds lbs stone",
    "height": "height tall cm feet foot", "form of address": "called call name nickname address",
    "language of answers": "answer answers reply respond language speak write talk",
}  # fmt: skip


@lru_cache(maxsize=256)
def _says_it_is(name: str) -> re.Pattern[str]:
    """What finds a text that says of an attribute by one of its names what it is, or that somebody has one.

    A doctor is a GP, too. "A dentist appointment" is none, nor is what is another's.
    """
    nouns = (one for known in (_SAME, phrases.NOUNS) for one, attribute in known.items() if attribute == name)
    called = "|".join(sorted(map(re.escape, {name, *nouns}), key=len, reverse=True))
    return regex(
        rf"\b(?:user's|my|our) (?:[\w-]+ ){{0,2}}?(?:{called})(?: is| was|'s|,? called|,? named)\b"
        rf"|\b(?:user|i|we)(?:'ve)? (?:now |still |also )?(?:has|have|got|uses|use|owns|own)(?: got)? "
        rf"(?:[\w.'-]+ ){{0,5}}?(?:{called})(?=$|[,;.]| (?:at|in|from|with|by|called|named|and|for|since|that|which)\b)"
    )


_GENERIC: Final = word_set("favourite number name type size rate app address provider my of the a an")


def is_known(name: str) -> bool:
    """Whether a name is that of an attribute, and not of whom something is said of: "employer", but not "aunt Jo"."""
    return name in _TOLD_BY or phrases.is_known(name) or noun(name) is not None


def may_tell(name: str, said: str) -> bool:
    """Whether a text in compared form has the words by which it could tell of an attribute."""
    words = frozenset(_RENAMED.get(word, word) for word in re.findall(r"[\w-]*\w", said))
    stems = frozenset(stem(word) for word in words)
    if name not in _TOLD_BY and _says_it_is(name).search(said) is not None:
        return True
    known = word_set(_TOLD_BY[name]) if name in _TOLD_BY else phrases.told_by(name)
    if known:
        return not words.isdisjoint(known) or not stems.isdisjoint(map(stem, known))
    asked_for = word_set(name)
    return all(word in words or stem(word) in stems for word in (asked_for - _GENERIC or asked_for))
