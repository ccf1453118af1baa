"""What is somewhere, some day or so much, and what says that it has moved: "The deadline moved to Monday". Pure.

Of a thing that is called by the same words twice ("my flight", "the deadline for the report") a statement may give a
day, an hour, a place, an amount, a version, a name or what it is made in. One that says that this has changed takes the
place of the one before, where both give a value of one kind. Nothing is taken that may still be so: a meeting in March
that is moved to March 15 was told truly before, as was one in Hamburg that is moved to room 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from operator import itemgetter
from typing import Final, NamedTuple

from engram.english import names
from engram.english.feasts import MEALS, MONTHS, SHORT_MONTHS, UNNAMED, WEEKDAY
from engram.regex import regex
from engram.wording import OfWords, worded
from engram.wordlists import word_set

MAX_READ: Final = 200


class Value(NamedTuple):
    """One way to read a value: its kind, what it is of (a unit, a product), and how wide a day or a place it is."""

    kind: str
    said: str
    of: str = ""
    width: int = 0
    hour: str = ""  # beside a day
    prep: str = ""


class Move(NamedTuple):
    """What a statement says of a thing: each way to read its value, and whether it says that this has changed."""

    thing: tuple[str, ...]
    values: tuple[Value, ...]
    changed: bool


class Taken(NamedTuple):
    """What in an older statement goes for what in a newer; `whole` where the newer says all that the older did."""

    old: str
    new: str
    whole: bool
    of: str = ""  # the day and hour, of which but the hour goes


# ------------------------------------------------ values

_MONTH: Final = rf"(?:{MONTHS}|(?:{SHORT_MONTHS})\b\.?)"
_YEAR: Final = r"(?:19|20)\d\d"
_DATE: Final = (
    rf"(?:{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR})?|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?|the \d{{1,2}}(?:st|nd|rd|th)|"
    r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?)"
)
_OF_THE_MONTH: Final = (
    rf"the (?:first|second|third|fourth|last|1st|2nd|3rd|4th) {WEEKDAY} (?:of|in) (?:the|each|every) month"
)
_DAYS: Final = (
    (
        rf"{_OF_THE_MONTH}|"
        r"(?:(?:next|this|this coming|the following|every|every (?:other|second)) )?"
        rf"{WEEKDAY}s?(?: (?:morning|afternoon|evening|night)s?)?"
        rf"(?:,? {_DATE})?|{_DATE}|today|tonight|tomorrow(?: (?:morning|afternoon|evening))?|{UNNAMED}"
    ),
    r"(?:next|this|the following) (?:week|weekend)",
    (
        rf"(?:(?:early|mid|late)[ -]|(?:the )?(?:start|beginning|middle|end) of )?{_MONTH}(?: {_YEAR})?|"
        "(?:next|this) month"
    ),
    (
        r"(?:(?:early|mid|late)[ -])?(?:q[1-4]|(?:(?:next|this|the) )?(?:spring|summer|autumn|fall|winter))"
        rf"(?: (?:of )?{_YEAR})?"
    ),
    rf"{_YEAR}|(?:next|this) year",
)
_DAY: Final = "|".join(f"(?P<d{width}>{day})" for width, day in enumerate(_DAYS))
_TO_TWELVE: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HOUR: Final = (
    r"(?:\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m\.?|p\.m\.?|o'clock)?|"
    rf"(?:(?:(?:a )?quarter|five|ten|twenty|half) (?:past|to) )?(?:{_TO_TWELVE}|\d{{1,2}})(?: o'clock)?|"
    rf"half {_TO_TWELVE}|noon|midnight)(?: (?:in the (?:morning|afternoon|evening)|at night|sharp))?"
)
_TIME: Final = tuple(
    regex(form)
    for form in (
        rf"(?P<day>{_DAY})(?:,? (?:at )?(?P<hour>{_HOUR}))?",
        rf"(?P<hour>{_HOUR})(?:,? (?:on )?(?P<day>{_DAY}))?",
    )
)
_COUNTED: Final = regex(
    r"(?:(?:about|around|roughly|exactly|almost|nearly) )?(?P<sign>[€$£])?(?P<number>\d[\d.,]*(?:k|m)?(?: million)?) ?"
    r"(?P<unit>[€$£%]|[a-z]+(?: [a-z]+)?)?(?: (?:an?|per) (?P<per>day|week|month|year|night|hour|person|piece))?"
)
_SIGN: Final = {"$": "dollar", "€": "euro", "£": "pound", "%": "percent", "milligrams": "mg", "milligram": "mg"}
_NO_UNIT: Final = word_set("am pm and or to from of in on at for with the by now again not past but so")
_ROOM: Final = regex(
    r"(?:(?:the )?(?P<of>(?:conference |meeting )?room|floor|gate|platform|terminal|hall|desk|seat|table|building|wing|"
    r"track|bay|lab|studio) [a-z]?\d[\w.-]{0,4}|the (?:\w+) (?P<nth>floor))"
)
_PLACED: Final = word_set(
    "road street lane avenue square drive court way boulevard alley quay terrace crescent row mews place tower house "
    "building hall centre center block plaza arcade station wharf yard gate bridge park"
)
_ROOM_WIDE, _STREET_WIDE, _UNKNOWN, _CITY, _REGION = range(5)
_PLACE_PREPS: Final = word_set("in at on to into")
_NO_PLACE: Final = regex(r"\b(?:and|or|but|not|i|user|user's|now|than|because)\b|[,;:?!]")


def _values(text: str, written: str, prep: str) -> Iterator[Value]:
    """Each way to read a text as a day or an hour, an amount, or a place."""
    for form in _TIME:
        time = form.fullmatch(text)
        if time is None:
            continue
        if time["day"]:
            width = next(n for n in range(len(_DAYS)) if time[f"d{n}"])
            if width > 0 and time["hour"]:
                continue  # "10 this week" is no hour of a day
            yield Value("day", text, width=width, hour=time["hour"] or "")
        else:
            yield Value("hour", text)
        break
    count = _COUNTED.fullmatch(text)
    if count is not None and not _NO_UNIT.intersection((count["unit"] or "").split()):
        unit = count["sign"] or count["unit"] or ""
        yield Value("amount", text, of=f"{_SIGN.get(unit, unit).removesuffix('s')} {count['per'] or ''}".strip())
    yield from _place(text, written, prep)


def _place(text: str, written: str, prep: str) -> Iterator[Value]:
    if prep not in _PLACE_PREPS or _NO_PLACE.search(text) or len(text.split()) > _LONGEST:
        return
    room = _ROOM.fullmatch(text)
    if room is not None:
        yield Value("place", text, of=room["of"] or room["nth"], width=_ROOM_WIDE, prep=prep)
        return
    if any(form.fullmatch(text) for form in _TIME) or not _is_name(text, written):
        return
    if text in names.CITIES or text in names.REGIONS:
        yield Value("place", text, width=_CITY if text in names.CITIES else _REGION, prep=prep)
        return
    parts = text.split()
    is_street = len(parts) > 1 and not _PLACED.isdisjoint(parts)
    yield Value("place", text, width=_STREET_WIDE if is_street else _UNKNOWN, prep=prep)


_LONGEST: Final = 5


def _is_name(text: str, written: str) -> bool:
    """Whether words are written as a name: each with a capital or a digit."""
    match = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", written, re.IGNORECASE)
    found = match.group().split() if match else []
    return bool(found) and all(word[0].isupper() or word[0].isdigit() or word in names.PARTICLES for word in found)


# ------------------------------------------------ things

_OWNER: Final = r"(?:user's (?:(?:team|group)'s )?|the )"
_NP: Final = rf"{_OWNER}(?P<np>[^,;:?!]{{2,60}}?)"
_DROPPED: Final = word_set("a an the user's our new current own team's group's")
_NO_THING: Final = word_set("that which who whom and or if not no is was are were has had said says than it but")
_SPANS: Final = word_set("week month quarter term season semester year")
_OF_NOW: Final = 2
_WHEN_TAIL: Final = word_set("date time day deadline")


_OF_WHAT: Final = regex(
    r"(?:the |user's |an? )*(?P<what>deadline|due date|date|start|budget|price|launch|venue|location) "
    r"(?:for|of) (?:the |user's |an? )*(?P<of>[a-z][\w-]*(?: [a-z][\w-]*)?)"
)


def _thing(np: str) -> tuple[str, ...]:
    """What a thing is called, in its words; empty where they are no name of a thing."""
    of = _OF_WHAT.fullmatch(np)
    if of is not None:
        np = f"{of['of']} {of['what']}"  # "the deadline for the release" is "the release deadline"
    found = [word for word in np.split() if word not in _DROPPED]
    if not found or _NO_THING.intersection(found):
        return ()
    if len(found) > _OF_NOW and found[-2] == "this" and found[-1] in _SPANS:
        found = found[:-2]  # "the quota this quarter" is the quota by now
    if len(found) > 1 and found[-1] in _WHEN_TAIL:
        found.pop()  # what is due on a day has that for its deadline
    if "dose" in found or "dosage" in found:
        found = ["dose", *(word for word in found if word not in ("dose", "dosage", "of", "daily"))]
    return tuple(found)


# ------------------------------------------------ statements

_ADV: Final = (
    r"(?:(?:now|just|recently|finally|already|since|again|actually|officially|currently|also|sadly|"
    r"unfortunately) ){0,3}"
)
_HAS: Final = rf"{_ADV}(?:(?:has|have|is|are|was|were|got|gets) )?{_ADV}(?:been |gotten )?{_ADV}"
_WAY: Final = r"(?: (?:forward|forwards|back|off|out|up|down|ahead|over))?"
_LATER: Final = (
    r"(?:postponed|rescheduled|re-scheduled|delayed|deferred|brought|pushed|put|slipped|pulled|extended|bumped)"
)
_MOVED: Final = r"(?:moved|shifted|switched|relocated|transferred)"
_RATED: Final = (
    r"(?:raised|increased|cut|reduced|lowered|upped|bumped|(?:went|gone|came|come) (?:up|down)|rose|risen|fell|fallen|"
    r"dropped|climbed|grew|grown|shrank|shrunk|adjusted|extended|doubled|halved)"
)
_VERBS: Final = (
    ("put(?=.* (?:up|down) to )", word_set("amount")),
    (_LATER, word_set("day hour")),
    (_MOVED, word_set("day hour place")),
    ("(?:moves|shifts|switches)", word_set("day hour")),
    ("changed", word_set("day hour place amount")),
    (_RATED, word_set("amount")),
)
_HAD_TO: Final = (
    ("(?:postpone|reschedule|re-schedule|delay|defer|push|put|bring)", word_set("day hour")),
    ("(?:move|shift|switch|relocate|transfer)", word_set("day hour place")),
)
_FROM: Final = r"(?: from [^,;:]{1,40}?)?"
_BY: Final = r"(?: (?:by )?\d[\d.,]* ?(?:%|[a-z]+))?"
_AGENT: Final = (
    r"(?:user|they|user's (?!team |group )[\w-]+(?: [\w-]+)?|user's (?:team|group)|the [\w-]+(?: [\w-]+)?|"
    r"(?!(?:nobody|none|who|he|she|it|that|if|nothing)\b)[\w'.-]+)"
)
_TO: Final = r"(?:to|until|till|into|onto) (?P<value>[^;?!]{1,60})"
_CHANGED: Final = tuple(
    (regex(form), kinds)
    for verb, kinds in _VERBS
    for form in (
        rf"^{_NP} {_HAS}{verb}{_WAY}{_BY}{_FROM}(?: (?:back|forward|over))? {_TO}$",
        rf"^{_AGENT} {_ADV}(?:has |have )?{_ADV}{verb}{_WAY} {_NP}{_WAY}{_BY}{_FROM}(?: (?:back|forward|over))? {_TO}$",
    )
) + tuple(
    (
        regex(rf"^{_AGENT} {_ADV}(?:has )?had to {verb}{_WAY} {_NP}{_WAY}{_FROM}(?: (?:back|forward|over))? {_TO}$"),
        kinds,
    )
    for verb, kinds in _HAD_TO
)
_DOSE_CHANGED: Final = regex(
    rf"^{_AGENT} {_ADV}(?:has |have )?{_ADV}(?:{_RATED}|put|took){_WAY} (?P<drug>[a-z][a-z-]{{4,30}}){_WAY}{_FROM} "
    r"(?:back )?to (?P<value>\d[\d.,]* ?(?:mg|mcg|micrograms?|milligrams?|units?)(?: (?:a day|daily|twice a day))?)$"
)
_CHANGING: Final = OfWords(_CHANGED, itemgetter(0))
_BARE_MOVED: Final = regex(
    rf"^(?P<np>[a-z][\w-]*(?: [a-z][\w-]*)?) {_HAS}(?:{_MOVED}|{_LATER}|moves|shifts|switches){_WAY}{_FROM} "
    r"(?:to|until|till) (?P<value>[^;?!]{1,60})$"
)
_NO_BARE: Final = word_set("user they he she it we you i that this everyone everybody nobody user's the")
_MAY_HAVE_CHANGED: Final = worded(
    rf"\b(?:had to|{_LATER}|{_MOVED}|moves|shifts|switches|changed|{_RATED}|upgraded|updated|downgraded|migrated|"
    rf"renamed|rewrote|"
    r"rewritten|ported|rebuilt|reimplemented)\b"
)
_SET: Final = r"(?:(?:due|scheduled|set|planned|booked|held|located|situated|still) )?"
_IS: Final = regex(
    rf"^{_NP} (?P<verb>is|are|starts|begins|takes place|costs) "
    rf"(?P<adv>(?:(?:now|currently|back|again|only|also) ){{0,2}}){_SET}"
    r"(?:(?P<prep>on|at|in|by|for|from) )?(?P<value>[^;?!]{1,60})$"
)
_HAVING: Final = regex(
    r"^user(?:'s (?:team|group))? (?:also )?has (?:got )?(?:(?:an?|another|the|user's) |"
    rf"(?=(?:[a-z]+ )?(?:{MEALS}|course|class|lesson|therapy|physio|rehearsal|training)\b))(?P<rest>[^;?!]{{5,90}})$"
)
_BOOKED: Final = regex(r" (?:booked|scheduled|planned|lined up|coming up)$")
_DOING: Final = regex(
    r"^user(?:'s (?:team|group))? (?:(?:usually|always|also|now) )*(?:does|has|attends|goes to|teaches|takes|runs|"
    r"holds) "
    rf"(?:the )?(?:(?P<np>[a-z][\w-]*(?: [a-z][\w-]*)??) (?:on )?(?P<value>(?:every )?{WEEKDAY}s?(?: .{{1,20}})?)|"
    r"(?P<held>(?:[a-z]+ )?(?:stand-?up|sync|retro|scrum|planning|lectures|training|rehearsals))"
    rf"(?: (?:on|via|over|in) [a-z][\w-]*)? at (?P<hour>{_HOUR}))$"
)
"""What somebody does on some day, by a word alone ("User does intervals on Tuesdays"), and what a team holds when."""
_SPLIT: Final = regex(r" (?:(?P<prep>on|at|in|for) |(?=(?:tomorrow|next|this) ?))")
_HAS_BEEN: Final = regex(r"(?<=\w)'s been ")
_TAIL: Final = worded(
    r",? (?:(?:and )?(?:no longer|no more)(?: (?:on|at))? [^,;]{1,30}|"
    r"(?:now|again|instead|these days|nowadays|currently|at last|after all|already|from now on|yesterday|"
    r"last (?:week|month|night)|officially|too|as well)|(?:because|due to|thanks to) .{1,100})$"
)
_TOO: Final = regex(r"\b(?:also|too|as well)\b")
_WAS_LATE: Final = regex(r"\bdelayed .*\b(?:yesterday|last (?:week|month|night))\b")
"""What was late once may be at its hour ever since."""
_SIGNS: Final = regex(r"\b(?:no longer|no more|now|again|instead|these days|nowadays|currently|from now on|back)\b")
_STANDS: Final = word_set(
    "office desk workplace workstation cubicle studio shop store bakery salon clinic garage "
    "locker mailbox allotment headquarters gym dojo stall"
)
"""What stands somewhere, and is one where somebody calls it theirs."""
_TURNS: Final = word_set(
    "team group company firm business project app application server database backend frontend service site website "
    "repo repository code codebase pipeline stack system blog data account money family class school organisation "
    "organization startup department channel chat community"
)
"""What moves to other than places, too."""


@lru_cache(maxsize=4096)
def read(plain: str, written: str) -> Move | None:
    """What a statement says of a thing that may move; None where it says nothing of one.

    >>> read("the deadline moved to monday", "The deadline moved to Monday").changed
    True
    """
    if len(plain) > MAX_READ:
        return None
    text, signs = _without_tail(plain.strip(" .!"))
    if _WAS_LATE.search(plain):
        return None
    if _MAY_HAVE_CHANGED.search(text):
        moved = _changed(text, written) or _special(text, written, is_changed=True)
        if moved is not None:
            return moved
    return (
        _special(text, written, is_changed=signs)
        or _is(text, written, signs)
        or _having(text, written, signs)
        or _doing(text, written, signs)
        or _holding(text, written, signs)
    )


def _without_tail(text: str) -> tuple[str, bool]:
    text, signs = _HAS_BEEN.sub(" has been ", text) if "'s been " in text else text, False
    for _ in range(3):
        tail = _TAIL.search(text)
        if tail is None:
            break
        signs = signs or _SIGNS.search(tail.group()) is not None
        text = text[: tail.start()]
    return text, signs


def _changed(text: str, written: str) -> Move | None:
    dose = _DOSE_CHANGED.match(text)
    if dose is not None:
        found = tuple(one for one in _values(dose["value"], written, "to") if one.kind == "amount")
        return Move((dose["drug"],), found, True) if found else None
    for form, kinds in _CHANGING.asked_of(text):
        match = form.match(text)
        thing = () if match is None else _thing(match["np"])
        if match is None or not thing:
            continue
        value = re.sub(r"^(?:on|at|in) ", "", match["value"])
        found = tuple(one for one in _values(value, written, "to") if one.kind in kinds)
        if found:
            return Move(thing, found, True)
    bare = _BARE_MOVED.match(text)
    thing = () if bare is None or bare["np"].split()[0] in _NO_BARE else _thing(bare["np"])
    found = () if bare is None or not thing else tuple(_values(bare["value"], written, "to"))
    timed = tuple(one for one in found if one.kind in ("day", "hour"))
    return Move(thing, timed, True) if timed else None


def _is(text: str, written: str, signs: bool) -> Move | None:
    match = _IS.match(text)
    thing = () if match is None else _thing(match["np"])
    if match is None or not thing:
        return None
    kinds: tuple[str, ...] = ("amount",) if match["verb"] == "costs" else ("day", "hour", "place", "amount")
    if match["verb"] not in ("is", "are", "costs"):
        kinds = ("day", "hour")
    found = tuple(one for one in _values(match["value"], written, match["prep"] or "") if one.kind in kinds)
    if match["prep"] == "at" and found and found[0].kind in ("day", "hour"):
        found = tuple(one for one in found if one.kind != "amount")  # "at 9" is an hour
    return Move(thing, found, signs or _SIGNS.search(match["adv"]) is not None) if found else None


def _having(text: str, written: str, signs: bool) -> Move | None:
    match = _HAVING.match(text)
    if match is None:
        return None
    for split in _SPLIT.finditer(match["rest"]):
        thing = _thing(_BOOKED.sub("", match["rest"][: split.start()]))
        value = match["rest"][split.end() :].strip()
        found = tuple(one for one in _values(value, written, "") if one.kind in ("day", "hour"))
        if thing and found:
            return Move(thing, found, signs)
    return None


def _doing(text: str, written: str, signs: bool) -> Move | None:
    match = _DOING.match(text)
    thing = () if match is None else _thing(match["np"] or match["held"])
    if match is None or not thing:
        return None
    kind = "day" if match["hour"] is None else "hour"
    found = tuple(one for one in _values(match["value"] or match["hour"], written, "") if one.kind == kind)
    return Move(thing, found, signs) if found else None


# ------------------------------------------------ versions, names, what something is made in, doses

_WE: Final = r"(?:user|user's (?:team|group)|they)"
_VERSION: Final = (
    r"(?:an? |the )?(?P<of>[a-z][\w+#-]*(?: [a-z][\w+#-]*){0,2}?) (?:version )?(?P<version>v?\d[\w.]{0,12})"
)
_UP: Final = r"(?:upgraded|updated|downgraded|migrated|moved|switched)"
_MADE: Final = r"(?:written|built|implemented|coded|programmed|developed)"
_REMADE: Final = r"(?:rewrote|rewritten|ported|rebuilt|reimplemented|re-implemented)"
_MADE_IN: Final = word_set(
    "c c++ c# java kotlin scala clojure groovy python ruby php perl go golang rust swift objective-c javascript "
    "typescript dart elixir erlang haskell ocaml f# lisp scheme lua julia r matlab fortran cobol pascal zig nim basic "
    "sql html css react vue angular svelte flutter django flask rails laravel spring express electron "
    "english german french spanish italian portuguese dutch danish swedish norwegian finnish polish czech russian "
    "ukrainian greek turkish arabic hebrew hindi chinese mandarin japanese korean latin esperanto"
)
"""What something is written in; it may be rewritten in a town or a month, too, and ported to a phone."""
_DRUG: Final = r"(?P<drug>[a-z][a-z-]{3,30})"
_DOSED: Final = r"(?P<value>\d[\d.,]* ?(?:mg|mcg|g|ml|milligrams?|units?|drops?))"
_DAILY: Final = (
    r"(?:,? (?:a day|daily|per day|(?:once|twice|three times) (?:a day|daily)|every (?:day|morning|evening|night)|"
    r"at (?:night|bedtime)|in the (?:morning|evening)|(?:before|after|with) (?:breakfast|lunch|dinner|food|meals)))?"
)
_SPECIAL: Final = tuple(
    (kind, regex(form), change)
    for kind, form, change in (
        ("version", rf"^{_WE} {_ADV}(?:has |have )?{_ADV}{_UP}(?: {_NP})?{_FROM} to {_VERSION}$", True),
        ("version", rf"^{_NP} {_HAS}{_UP}{_FROM} to {_VERSION}$", True),
        ("version", rf"^{_WE} {_ADV}(?:uses|has|runs|is on|is using|is running) {_VERSION}$", False),
        ("version", rf"^{_NP} {_ADV}(?:runs|runs on|uses|is on|is running|is using|has) {_VERSION}$", False),
        (
            "name",
            rf"^{_WE} {_ADV}(?:has |have )?{_ADV}renamed {_NP}{_FROM} (?:to|as) (?P<value>[^,;:?!]{{1,40}})$",
            True,
        ),
        ("name", rf"^{_NP} {_HAS}renamed{_FROM} (?:to|as) (?P<value>[^,;:?!]{{1,40}})$", True),
        ("name", rf"^{_NP} is {_ADV}(?:called|named) (?P<value>[^,;:?!]{{1,40}})$", False),
        ("name", r"^(?:user's|the) (?P<np>[\w-]+(?: [\w-]+){0,2})'s name is (?P<value>[^,;:?!]{1,40})$", False),
        (
            "made",
            rf"^{_WE} {_ADV}(?:has |have )?{_ADV}{_REMADE} {_NP}{_FROM} (?:in|to) (?P<value>[^,;:?!]{{1,30}})$",
            True,
        ),
        ("made", rf"^{_NP} {_HAS}{_REMADE}{_FROM} (?:in|to) (?P<value>[^,;:?!]{{1,30}})$", True),
        ("made", rf"^{_NP} (?:is|was) {_ADV}{_MADE} in (?P<value>[^,;:?!]{{1,30}})$", False),
        ("amount", rf"^user (?:takes|is on|is taking) {_DOSED} (?:of )?{_DRUG}{_DAILY}$", False),
        ("amount", rf"^user (?:takes|is on|is taking) {_DRUG} {_DOSED}{_DAILY}$", False),
    )
)
_OF_A_KIND: Final = OfWords(_SPECIAL, itemgetter(1))
_WHO: Final = r"(?P<who>[a-z][\w'-]*(?: [a-z][\w'-]*)?)"
_HOLDS: Final = r"(?P<holds>owns|maintains|looks after|takes care of|is (?:responsible for|in charge of))"
_HELD_NP: Final = (
    r"(?:(?:user's (?:(?:team|group)'s )?|the )(?P<np>[^,;:?!]{2,40}?)|(?P<bare>[a-z][\w-]*(?: [a-z][\w-]*)?))"
)
_HELD: Final = tuple(
    (regex(form), change)
    for form, change in (
        (rf"^{_WHO} {_ADV}{_HOLDS} {_HELD_NP}$", False),
        (rf"^{_WHO} {_ADV}(?:has |have )?{_ADV}(?:took|taken) over {_HELD_NP}(?: from (?P<of>[^,;:]{{1,30}}))?$", True),
        (
            rf"^(?P<of>[^,;:]{{2,30}}?) {_ADV}(?:has )?{_ADV}(?:handed|passed|gave|given) {_HELD_NP} over to {_WHO}$",
            True,
        ),
        (
            rf"^(?P<of>[^,;:]{{2,30}}?) {_ADV}(?:has )?{_ADV}(?:handed|passed|gave|given) over {_HELD_NP} to {_WHO}$",
            True,
        ),
    )
)
_A_PART: Final = word_set("module service repo repository code codebase area component package library part stuff")
"""What something that somebody owns may be called beside its name."""


def _holding(text: str, written: str, signs: bool) -> Move | None:
    """Who has something in their care, or whom it was handed over to."""
    if not _MAY_HOLD.search(text):
        return None
    for form, change in _HELD:
        match = form.match(text)
        if match is None or not _is_name(match["who"], written):
            continue
        words = _thing(match["np"] or match["bare"])
        thing = tuple(word for word in words if word not in _A_PART) or words
        if thing and thing[0] not in _NO_BARE:
            before = match.groupdict().get("of") or ""
            return Move(("owner", *thing), (Value("holder", match["who"], of=before),), change or signs)
    return None


_MAY_HOLD: Final = worded(r"\b(?:owns|maintains|looks after|takes care of|responsible for|in charge of|over)\b")
_NO_PRODUCT: Final = regex(rf"{_MONTH}|(?:.* )?(?:at|on|in|to|for|about|around|the|and|or|only|just)")
_NO_NAME: Final = regex(r"\b(?:something|anything|it|that|this|better|else|and|or|after|not)\b")


def _special(text: str, written: str, *, is_changed: bool) -> Move | None:
    for kind, form, change in _OF_A_KIND.asked_of(text):
        match = form.match(text)
        if match is None:
            continue
        found = match.groupdict()
        thing: tuple[str, ...] = (
            ("dose", found["drug"]) if found.get("drug") else _thing(found["np"]) if found.get("np") else ()
        )
        if found.get("np") and not thing:
            continue
        if kind == "version":
            if _NO_PRODUCT.fullmatch(found["of"]) or (not thing and text.startswith("they ")):
                continue
            value = Value(kind, f"{found['of']} {found['version']}", of=found["of"])
            return Move(thing, (value,), change or (is_changed and " has " not in text))
        if kind == "amount":
            value = next(one for one in _values(found["value"], written, "") if one.kind == kind)
            return Move(thing, (value,), change or is_changed)
        if kind == "made" and change and found["value"].split()[0] not in _MADE_IN:
            continue
        if _NO_NAME.search(found["value"]) is None and _is_name(found["value"], written):
            return Move(thing, (Value(kind, found["value"]),), change or is_changed)
    return None


# ------------------------------------------------ what takes the place of what


def may_move(plain: str, written: str) -> bool:
    """Whether a statement may take the place of one before: it says of a change, or where something stands."""
    found = read(plain, written)
    return found is not None and (found.changed or _may_stand(found, plain))


def is_dated(plain: str, written: str) -> bool:
    """Whether a statement says on which day a thing is, which may yet be another."""
    found = read(plain, written)
    return found is not None and any(value.kind == "day" for value in found.values)


def _may_stand(one: Move, plain: str) -> bool:
    stands = bool(one.thing) and one.thing[-1] in _STANDS
    return stands and one.values[0].kind == "place" and plain.startswith("user's ")


def takes_place(plain: str, written: str, held: str, held_written: str) -> Taken | None:
    """What in a statement that is held goes for what a new one says; None where both may be so."""
    new = read(plain, written)
    if new is None or _TOO.search(plain) or (new.thing and _plainer(new.thing)[-1] not in held):
        return None
    old = read(held, held_written)
    if old is None or not (_are_the_same(new.thing, old.thing) or _is_its_dose(new, old)):
        return None
    if old.thing[:1] == ("dose",) and _are_apart(plain, held):
        return None
    for value in new.values:
        for was in old.values:
            if value.kind == "hour" and was.kind == "day" and was.hour not in ("", value.said) and new.changed:
                return Taken(was.hour, value.said, False, was.said)
            if not _is_of_a_kind(value, was) or value.said == was.said:
                continue
            whole = value.kind not in ("version", "name", "made", "holder") and old.thing[:1] != ("dose",)
            if new.changed:
                goes = _leaves(value, was, new.thing)
            else:
                goes = _may_stand(new, plain) and _may_stand(old, held) and _is_as_wide(value, was)
            return Taken(was.said, _with_unit(value, was), whole) if goes else None
    return None


def _with_unit(new: Value, old: Value) -> str:
    """A number as it is said, with what the one before it counted where it says of nothing what it counts."""
    is_bare = new.kind == old.kind == "amount" and not new.of and re.fullmatch(r"\d[\d.,]*", new.said) is not None
    return re.sub(r"\d[\d.,]*", new.said, old.said, count=1) if is_bare else new.said


def _are_apart(plain: str, held: str) -> bool:
    """Whether two statements tell what is taken at two times of a day: one at night says nothing of the morning's."""
    one, other = (frozenset(_DOSE_TIME.findall(text)) for text in (plain, held))
    return bool(one) and bool(other) and one != other


_DOSE_TIME: Final = regex(r"\b(?:morning|evening|night|bedtime|breakfast|lunch|dinner)\b")


def _is_its_dose(new: Move, old: Move) -> bool:
    """Whether a change of how much there is of something is one of its dose: "put the sertraline up to 100"."""
    return new.changed and any(value.kind == "amount" for value in new.values) and old.thing == ("dose", *new.thing)


def _are_the_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two things are called the same, where one may leave out how often it is: the daily standup."""
    one, other = _plainer(one), _plainer(other)
    if one == other:
        return True
    often = [_OFTEN.intersection(thing) for thing in (one, other)]
    bare, called = (tuple(word for word in thing if word not in _OFTEN) for thing in (one, other))
    return bare == called != () and not all(often)


def _plainer(thing: tuple[str, ...]) -> tuple[str, ...]:
    """What a thing is called in short: "the acme call" for "call with acme", "dentist" for an appointment there."""
    if "with" in thing[1:-1]:
        place = thing.index("with")
        thing = (*thing[place + 1 :], *thing[:place])
    return thing[:-1] if len(thing) > 1 and thing[-1] in _VISITS else thing


_VISITS: Final = word_set("appointment visit")
_OFTEN: Final = word_set("daily weekly biweekly fortnightly monthly")


def gives_another(plain: str, written: str, held: str, held_written: str) -> bool:
    """Whether two statements give one thing two days, hours, amounts or places that exclude each other.

    >>> gives_another("the audit is due may 4", "The audit is due May 4", "the audit deadline is may 9",
    ...     "The audit deadline is May 9")
    True
    """
    new, old = read(plain, written), read(held, held_written)
    if new is None or old is None or new.thing != old.thing or _TOO.search(plain) or _TOO.search(held):
        return False
    if old.thing[:1] == ("dose",) and _are_apart(plain, held):
        return False
    pairs = [(one, other) for one in new.values for other in old.values if one.kind == other.kind]
    differ = any(_is_of_a_kind(one, other) and one.said != other.said for one, other in pairs)
    return differ and (
        bool(_DUE.search(plain) and _DUE.search(held)) or not may_both_be(plain, written, held, held_written)
    )


_DUE: Final = regex(r"\b(?:due|deadline)\b")
"""What has one day, where a meeting may have two."""


def may_both_be(plain: str, written: str, held: str, held_written: str) -> bool:
    """Whether of one thing two statements tell what does not exclude each other: where it is and when, a town and a
    room in it.
    """
    said = plain.strip(" .!")
    lasting = _PASSING.sub("", said)
    new = read(lasting, written)
    old = None if new is None else read(held, held_written)
    if new is None or old is None:
        return False
    if new.thing[:1] == ("dose",) and _are_apart(plain, held):
        return True
    if new.thing != old.thing:
        one, other = _head(new.thing), _head(old.thing)
        return one == other != ()
    if lasting != said and new.values[0].kind in ("day", "hour"):
        return True  # what is so this week will be as before
    if _is_once(new.values[0], old.values[0], new.thing):
        return True
    if {one.kind for one in new.values}.isdisjoint(one.kind for one in old.values):
        return all(one.kind in ("day", "hour", "place") for one in (*new.values, *old.values))
    places = [one.values[0] for one in (new, old) if one.values[0].kind == "place"]
    if len(places) < len((new, old)):
        return False
    widths = [place.width for place in places]
    return widths[1] >= _CITY > widths[0] or (_UNKNOWN in widths and not _TURNS.isdisjoint(new.thing))


def _head(thing: tuple[str, ...]) -> tuple[str, ...]:
    """What a thing is called before what it is told by from others of that name: "standup" of "standup on friday"."""
    return tuple(takewhile(lambda word: word not in _TOLD_BY, thing))


_TOLD_BY: Final = word_set("on at for with to from of in about")
_PASSING: Final = regex(
    r",? (?:(?:just|only) )?(?:for )?(?:this (?:week|time|once)|today|tonight|tomorrow|once)(?: only)?$"
)


def _is_of_a_kind(new: Value, old: Value) -> bool:
    if new.kind == old.kind == "holder":  # what somebody handed over was theirs
        return new.of in ("", "they") or new.of.split()[0] == old.said.split()[0]
    if new.kind == old.kind == "amount":
        return new.of == old.of or "" in (new.of, old.of)
    if new.kind == "day" and old.kind == "hour":  # "10 on Friday" may be of that Friday alone
        return new.hour != "" and _A_DAY_FIRST.match(new.said) is not None
    return (new.kind, new.of) == (old.kind, old.of)


_A_DAY_FIRST: Final = regex(rf"(?!today|tonight|tomorrow)(?:{_DAYS[0]})")


def may_be_of_another(plain: str, written: str, held: str) -> bool:
    """Whether a statement may be of another thing of that name than the one that was told of.

    Of what it calls nobody's another memory says that somebody else has one, or that there are several.
    """
    found = read(plain, written)
    if found is None or not found.thing:
        return False
    thing = " ".join(found.thing)
    nobodys = f"user's {thing}" not in plain
    if nobodys and _BY_KIN.match(plain):
        return True
    if found.thing[0] == "dose" and "user's" not in plain:
        takes = rf"^(?!user ).{{1,60}} (?:takes|is on|is taking) [^,;]{{0,20}}\b{re.escape(found.thing[-1])}(?!\w)"
        return re.search(takes, held) is not None
    if _TOLD_BY.isdisjoint(found.thing) and are_several(found.thing[-1], held):
        return True
    if not nobodys or thing not in held:
        return False
    return (
        re.search(rf"(?:(?<!user)'s|(?<!user)(?<!team)(?<!group) has an?) {re.escape(thing)}(?!\w)", held) is not None
    )


_BY_KIN: Final = regex(
    r"user's (?:(?:older|younger|elder|eldest|oldest|youngest|big|little|ex|best) )?(?:wife|husband|partner|girlfriend|"
    r"boyfriend|brother|sister|son|daughter|mother|father|mom|mum|dad|cousin|aunt|uncle|friend|flatmate|roommate|"
    r"neighbou?r)(?!'s)\b"
)
"""Who may have moved what is their own."""


def are_several(noun: str, held: str) -> bool:
    """Whether a memory says that there are several of what one is called: "User has two offices"."""
    if noun not in held:
        return False
    one = re.escape(noun)
    return (
        re.search(
            rf"\b(?:(?:has|have|two|three|four|five|six|several|both|many|multiple) (?:[\w-]+ )?{one}s|"
            rf"has (?:got )?(?:another|a second) (?:[\w-]+ )?{one}|also has an? (?:[\w-]+ )?{one}|"
            rf"an? (?:[\w-]+ )?{one}\b.{{1,60}} and (?:an?|one) (?:[\w-]+ )?{one})\b",
            held,
        )
        is not None
    )


def _is_as_wide(new: Value, old: Value) -> bool:
    """Whether of two places neither may lie in the other."""
    return new.width == old.width != _REGION and new.prep == old.prep


def _leaves(new: Value, old: Value, thing: tuple[str, ...]) -> bool:
    """Whether what is at a new value by a change is no longer at the old one, rather than at a part of it."""
    if new.kind == "place":
        return new.width >= old.width and (_UNKNOWN not in (new.width, old.width) or _TURNS.isdisjoint(thing))
    if new.kind != "day" or old.kind != "day":
        return True
    if _is_once(new, old, thing):
        return False
    if new.width >= old.width:
        return not old.said.startswith(new.said)
    years = (re.findall(_YEAR, new.said), re.findall(_YEAR, old.said))
    if all(years) and years[0] != years[1]:
        return True
    months = (re.findall(rf"\b{_MONTH}", new.said), re.findall(rf"\b{_MONTH}", old.said))
    return all(months) and months[0] != months[1] and not (years[1] and not months[1])


def _is_once(new: Value, old: Value, thing: tuple[str, ...]) -> bool:
    """Whether a day is one on which is, for once, what is on another day of each week."""
    recurs = _WEEKLY.search(old.said) is not None or not _RECURRING.isdisjoint(thing)
    return new.kind == old.kind == "day" and recurs and _OF_A_WEEK.match(new.said) is None


_WEEKLY: Final = regex(rf"\b(?:{WEEKDAY}s|every (?:other |second )?{WEEKDAY})\b|{_OF_THE_MONTH}")
_OF_A_WEEK: Final = regex(
    rf"{_OF_THE_MONTH}|(?:(?:{_HOUR}),? (?:on )?)?(?:every (?:other |second )?)?{WEEKDAY}s?\b(?!.*\d (?:of )?{_MONTH}|"
    rf".*{_MONTH} \d)"
)
_RECURRING: Final = word_set("daily weekly biweekly fortnightly monthly standup stand-up scrum")


__all__ = [
    "Move", "Taken", "Value", "are_several", "gives_another", "is_dated", "may_be_of_another", "may_both_be",
    "may_move", "read", "takes_place",
]  # fmt: skip
