"""The things of daily life of which people have one, and the several ways in which each is spoken of. Pure.

"My landlord is Mr. Haines", "I rent from Mr. Haines" and "Mr. Haines owns my flat" set one attribute. What the noun
alone tells is read in `engram.attributes`; here are the nouns that name one thing, the verbs that set it, and the
questions that ask for it. An attribute whose name begins with `~` is loose: of it there may be several, so that another
value takes the place of the one that is known only where the words say that something changed (`engram.frames`).

A statement is in the third person, compared, and plain ("user rents from mr. haines"). What a value may be is told by
its kind: a name, words of a closed list, an hour, a number, or any short phrase that describes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from engram.regex import regex


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


Kind = Literal[
    "name", "phrase", "hour", "number", "pastime", "drink", "instrument", "tongue", "code", "colour", "means"
]


class Phrase(NamedTuple):
    """What a statement gives the value of, the text at whose start the value stands, and what it has to be."""

    name: str
    found: str
    kind: Kind


# ------------------------------------------------ services

_SERVICES: Final = (
    ("internet provider", "(?:home )?(?:internet|broadband|wi-?fi|fib(?:re|er))(?: connection| service| contract)?"),
    ("phone provider", "(?:(?:mobile|cell|cell phone|phone|sim) (?:contract|plan|line|service)|mobile|cell|sim card)"),
    ("electricity provider", "(?:electricity|power|electric)(?: contract| supply)?"),
    ("gas provider", "gas(?: contract| supply)?"),
    ("energy provider", "(?:energy|utilities)(?: contract| supply)?"),
    ("insurer", "insurance"),
    ("bank", "(?:banking|everyday banking|current account|checking account|bank account)"),
    ("hosting provider", "(?:web )?hosting"),
    ("~music service", "(?:music|music streaming|streaming music|songs|tunes)"),
    ("~podcast app", "podcasts?"),
    ("~newspaper", "(?:daily )?news"),
    ("~grocer", "(?:groceries|grocery shopping|food shopping|weekly shop|weekly shopping)"),
    ("~email service", "(?:e-?mails?|mail)"),
    ("~password manager", "passwords"),
    ("~task app", "(?:to-?dos?|to-?do lists?|tasks?)"),
    ("~calendar app", "(?:calendar|scheduling)"),
    ("~navigation app", "(?:navigation|directions)"),
    ("~video call app", "(?:video calls|calls|meetings)"),
    ("pharmacy", "(?:prescriptions?|medicines?|medication|meds)"),
)
_INSURED: Final = regex(r"(?P<of>car|auto|home|house|health|travel|dental|life|pet|household|contents) insurance")
_SERVICE: Final = re.compile("|".join(f"(?P<s{place}>{said})" for place, (_, said) in enumerate(_SERVICES)))
_S: Final = r"(?:user's |the |all (?:of )?user's |(?:user's |the )?home )?(?P<service>[a-z-]+(?: [a-z-]+){0,2})"
_OF_SERVICE: Final = tuple(
    regex(f"^user {said}$")
    for said in (
        rf"(?:is|has been|went|goes) (?:back )?with (?P<value>.+?) for {_S}",
        rf"(?:gets|buys|receives|sources) {_S} (?:from|through|via|at) (?P<value>.+)",
        rf"(?:does|orders) {_S} (?:at|from|with) (?P<value>.+)",
        rf"(?:has|keeps|bought|took out) {_S} (?:with|from|through|at) (?P<value>.+)",
        rf"(?:uses|is using|pays|pays for|relies on|trusts|chose|picked) (?P<value>.+?) for {_S}",
        (
            r"(?:has )?(?:signed up (?:with|for|to)|went with|gone with|subscribed to|subscribes to|took out) "
            rf"(?P<value>.+?) for {_S}"
        ),
        rf"(?:has )?(?:switched|moved|changed|transferred|migrated) {_S} (?:over )?(?:back )?to (?P<value>.+)",
        (
            r"(?:is|has )?(?:switched|moved|changed|gone|went|come|came|is) (?:over )?(?:back )?to (?P<value>.+?) "
            rf"for {_S}"
        ),
        rf"(?:has|got|pays for) an? (?P<value>.+?) (?:subscription|account|plan|contract|membership) for {_S}",
        rf"(?:listens to|streams) {_S} (?:on|with|through|via|over) (?P<value>.+)",
        rf"(?:goes|turns) to (?P<value>.+?) for {_S}",
        rf"(?:has|gets) {_S} (?:made up|filled|delivered|dispensed) (?:at|by|from) (?P<value>.+)",
        rf"(?:fills|picks up|collects) {_S} (?:at|from) (?P<value>.+)",
    )
)
_SERVICE_IS: Final = tuple(
    regex(said)
    for said in (
        (
            rf"^{_S.replace('user', 'user', 1)} (?:is|are|comes|come|remains)(?: (?:now|provided|supplied|delivered|"
            rf"run)"
            r"){0,2} (?:with|from|through|by|over|via) (?P<value>.+)$"
        ),
        rf"^(?P<value>[^,;:]{{1,40}}?) (?:provides|supplies|delivers|runs|handles|insures) {_S}$",
    )
)


def _service(said: str) -> str | None:
    """The attribute that a service is an attribute of: "broadband" is of the internet provider."""
    insured = _INSURED.fullmatch(said)
    if insured is not None:
        return f"{insured['of']} insurer"
    match = _SERVICE.fullmatch(said)
    if match is None:
        return None
    return next(name for place, (name, _) in enumerate(_SERVICES) if match[f"s{place}"] is not None)


def is_for_a_service(said: str) -> bool:
    """Whether words end in what somebody has from a provider: "tidal for user's music"."""
    match = _FOR_SERVICE.search(said)
    return match is not None and _service(match["service"]) is not None


_FOR_SERVICE: Final = regex(rf" for {_S}(?: now| again| instead)?$")

# ------------------------------------------------ verbs

_SPORTS: Final = _words(
    "aerobics aikido archery athletics badminton ballet ballroom barre baseball basketball biking billiards bmx "
    "bodybuilding "
    "bouldering bowling bowls boxing callisthenics calisthenics canoeing capoeira climbing cricket croquet crossfit "
    "curling cycling "
    "dancing darts diving dodgeball fencing fishing football freediving frisbee futsal golf gymnastics handball hiking "
    "hockey hurling jogging judo jujitsu jiu-jitsu karate kayaking kendo kickboxing kitesurfing krav-maga lacrosse "
    "motocross netball orienteering paddling padel parkour pickleball pilates polo powerlifting rowing rugby running "
    "sailing salsa skateboarding skating skiing skydiving snooker snorkelling snowboarding soccer softball spinning "
    "squash "
    "surfing swimming taekwondo tai-chi tango tennis trampolining triathlon volleyball walking weightlifting "
    "windsurfing wrestling yoga zumba"
)
_CRAFTS: Final = _words(
    "astronomy baking beekeeping birdwatching birding brewing calligraphy carpentry ceramics chess cooking crocheting "
    "crochet drawing embroidery foraging gaming gardening genealogy geocaching improv journaling juggling knitting "
    "leatherwork magic meditation modelling origami painting photography poker pottery printmaking puzzles quilting "
    "scrapbooking sculpting sewing singing sketching sudoku weaving whittling woodcarving woodworking writing"
)
_TWO_WORDS: Final = _words(
    "tai chi krav maga jiu jitsu rock climbing table tennis martial arts water polo bird watching"
)
_DRINKS: Final = _words(
    "americano cappuccino cortado espresso latte macchiato mocha ristretto decaf cocoa chai matcha oolong rooibos "
    "sencha "
    "tea coffee juice water smoothie milk white brew chocolate mate kombucha lemonade grey breakfast mint camomile "
    "chamomile darjeeling assam frappuccino affogato lungo doppio kefir"
)
_INSTRUMENTS: Final = _words(
    "accordion bagpipes banjo bass bassoon bongos bugle cello clarinet cornet didgeridoo drums dulcimer euphonium "
    "fiddle "
    "flute glockenspiel guitar harmonica harp harpsichord horn kalimba keyboard lute lyre mandolin marimba oboe organ "
    "piano piccolo recorder saxophone sax sitar tambourine trombone trumpet tuba ukulele viola violin xylophone zither"
)
TONGUES: Final = _words(
    "afrikaans albanian arabic armenian basque bengali bosnian bulgarian cantonese catalan chinese croatian czech "
    "danish dutch english esperanto estonian farsi finnish flemish french gaelic galician georgian german greek "
    "hebrew hindi hungarian icelandic indonesian irish italian japanese korean latin latvian lithuanian macedonian "
    "malay maltese mandarin norwegian persian polish portuguese punjabi romanian russian serbian slovak slovene "
    "slovenian spanish swahili swedish tagalog tamil thai turkish ukrainian urdu vietnamese welsh yiddish"
)
_CODES: Final = _words(
    "ada assembly bash c c# c++ clojure cobol crystal dart elixir elm erlang f# fortran go golang groovy haskell java "
    "javascript julia kotlin lisp lua matlab nim ocaml perl php prolog python r ruby rust scala scheme solidity sql "
    "swift typescript zig"
)
_COLOURS: Final = _words(
    "black blond blonde blue brown brunette ginger green grey gray orange pink platinum purple red silver teal "
    "turquoise violet white"
)
_MEANS: Final = _words(
    "bike bicycle bus car carpool coach cycle e-bike ferry foot metro moped motorbike motorcycle scooter skateboard "
    "subway "
    "taxi train tram trolleybus tube underground van"
)
_LISTED: Final = {
    "pastime": _SPORTS | _CRAFTS, "drink": _DRINKS, "instrument": _INSTRUMENTS, "tongue": TONGUES, "code": _CODES,
    "colour": _COLOURS, "means": _MEANS,
}  # fmt: skip
_NUMBER: Final = regex(r"(?:(?:number|no\.?|#) ?)?[a-z]?\d{1,4}[a-z]?")
_HOUR: Final = regex(
    r"(?:about |around |roughly )?(?:(?:(?:a )?quarter|half|five|ten|twenty) (?:past|to) )?"
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)"
    r"(?: ?(?:am|pm|a\.m|p\.m|o'clock))?(?: (?:in the (?:morning|evening)|at night|sharp))?"
)
_AS_A_RULE: Final = r"(?:every|most|on|twice|once|three times|several times|at|in|for|with|by|since|these|a few) .+"
_OFTEN: Final = (
    r"(?:(?:once|twice|(?:\w+|\d) times) (?:a|per) (?:week|month)|(?:most|two|three|four|five) (?:days|mornings|"
    r"evenings)"
    r"(?: a week)?|every (?:week|other day)|to (?:stay|keep|get) (?:fit|active|in shape)|for (?:exercise|fitness|fun)|"
    r"for a (?:while|few \w+)|for (?:\w+ )?(?:years|months|weeks))"
)
_MOST_WORDS: Final = 4


def fits(kind: Kind, value: str) -> bool:
    """Whether a value, as compared text, is one of its kind; of names only the writing can tell."""
    parts = value.split()
    if kind == "hour":
        return _HOUR.fullmatch(value) is not None
    if kind == "number":
        return _NUMBER.fullmatch(value) is not None
    if kind in _LISTED:
        known = _LISTED[kind]
        return parts[-1] in known or (kind == "pastime" and _TWO_WORDS.issuperset(parts))
    return len(parts) <= _MOST_WORDS


class _Said(NamedTuple):
    name: str
    kind: Kind
    pattern: re.Pattern[str]


_MY: Final = r"(?:user's |the |an? )?"
_VALUE: Final = "(?P<value>.+)"


def _verbs() -> Iterator[tuple[str, _Said]]:
    """Each verb with what it sets; `{v}` is the value, which ends the statement where nothing follows."""
    for name, kind, verbs, rest in _VERBS:
        said = _Said(name, kind, regex(f"^{rest.replace('{v}', _VALUE)}$"))
        for verb in verbs.split("|"):
            yield verb, said


_PHONES: Final = (
    r"(?:google )?(?:pixel)(?: \d\w*)?(?: pro| xl| a)?|(?:apple )?iphone(?: \w+)?(?: pro| max| plus| mini){0,2}|"
    r"(?:samsung )?galaxy(?: [a-z]?\d+\w*)?(?: ultra| plus| fe)?|(?:fairphone|oneplus|xperia|moto|nokia|xiaomi|"
    r"redmi|huawei|"
    r"motorola|nothing phone|poco|realme|oppo)(?: \w+){0,2}"
)
_LAPTOPS: Final = (
    r"(?:apple )?macbook(?: air| pro| m\d| \d+){0,3}|(?:lenovo )?(?:thinkpad|ideapad)(?: \w+){0,3}|(?:dell )?(?:xps|"
    r"latitude|inspiron)"
    r"(?: \w+){0,2}|chromebook|(?:microsoft )?surface laptop(?: \w+)?|(?:asus )?zenbook(?: \w+)?|framework "
    r"laptop(?: \w+)?"
)
_VERBS: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("landlord", "name", "rents", r"(?:(?:user's|the|an?) [\w ]{2,30}? )?(?:from|off) {v}"),
    ("bedtime", "hour", "goes", r"to (?:bed|sleep) (?:at|around|by) {v}"),
    ("bedtime", "hour", "sleeps", r"(?:always )?(?:at|from) {v}"),
    ("bedtime", "hour", "is", r"(?:usually |always )?(?:in bed|asleep) (?:at|by) {v}"),
    ("wake-up time", "hour", "gets|wakes", r"(?:up )?(?:at|around|by) {v}"),
    ("wake-up time", "hour", "rises", r"(?:at|around) {v}"),
    ("wake-up time", "hour", "is", r"(?:usually |always )?up (?:at|by) {v}"),
    ("wake-up time", "hour", "sets", r"user's alarm (?:for|to|at) {v}"),
    ("~bedroom", "phrase", "sleeps", r"in the {v}"),
    ("~newspaper", "name", "reads", rf"the (?P<value>[^,;:]+?)(?: {_AS_A_RULE}| over breakfast| daily)"),
    ("~newspaper", "name", "takes|gets", r"(?:the )?(?:paper|newspaper),? (?:the )?{v}"),
    ("~volunteer work", "name", "volunteers", r"(?:at|for|with) (?:the )?{v}"),
    ("~volunteer work", "name", "helps", r"(?:out )?(?:at|with) (?:the )?{v}"),
    ("~volunteer work", "name", "does", r"(?:volunteer|voluntary|charity) work (?:at|for|with) (?:the )?{v}"),
    ("~club", "name", "runs|trains|rows|swims|cycles|rides|climbs|fences|skates", r"with (?:the )?{v}"),
    ("~club", "name", "belongs", r"to (?:the )?{v}"),
    ("~club", "name", "is", r"an? (?:\w+ )?member (?:of|at) (?:the )?{v}"),
    ("~choir", "name", "sings", r"(?:with|in|at) (?:the choir )?(?:the )?{v}"),
    ("~team", "name", "supports|follows", r"(?P<value>(?!the ).+?)(?: (?:in|at) (?:football|soccer|rugby|hockey))?"),
    ("~team", "name", "roots|cheers", r"for (?:the )?{v}"),
    ("~team", "name", "is", r"an? (?:\w+ )??(?P<value>.+?) (?:fan|supporter)"),
    (
        "~language being learned",
        "tongue",
        "learns|studies|practises|practices",
        rf"(?P<value>[a-z]+)(?: {_AS_A_RULE})?",
    ),
    (
        "~language being learned",
        "tongue",
        "teaches|is",
        r"(?:teaching )?(?:user|themselves|user's self) (?P<value>[a-z]+)(?: .+)?",
    ),
    (
        "~language being learned",
        "tongue",
        "takes|started|begun|began",
        (
            r"(?:an? )?(?P<value>[a-z]+) (?:lessons|classes|"
            r"course|courses)(?: .+)?"
        ),
    ),
    (
        "~language being learned",
        "tongue",
        "has",
        (
            r"(?:started|begun|taken up) (?P<value>[a-z]+)(?: (?:lessons|classes|"
            r"course|courses))?(?: .+)?"
        ),
    ),
    ("~instrument", "instrument", "plays|learns|practises|practices", rf"the (?P<value>[a-z ]+?)(?: {_AS_A_RULE})?"),
    ("~sport", "pastime", "does|plays|goes|practises|practices", rf"(?P<value>[a-z-]+(?: [a-z]+)?)(?: {_OFTEN})?"),
    ("coffee order", "drink", "orders", rf"(?:usually |always ){_MY}(?P<value>[a-z -]+?)(?: {_AS_A_RULE})?"),
    ("coffee order", "drink", "orders|gets|has", rf"{_MY}(?P<value>[a-z -]+?) (?:as|for) user's (?:usual )?coffee"),
    (
        "~morning drink",
        "drink",
        "drinks",
        rf"{_MY}(?P<value>[a-z -]+?) (?:in the mornings?|every morning|for breakfast)",
    ),
    (
        "~morning drink",
        "drink",
        "starts",
        r"(?:user's|the|every) (?:day|morning) with (?:an? |the )?(?P<value>[a-z -]+)",
    ),
    ("~morning drink", "drink", "has", rf"{_MY}(?P<value>[a-z -]+?) (?:in the morning|every morning|first thing)"),
    ("~breakfast", "phrase", "has|eats", r"(?P<value>[a-z ]+?) for breakfast(?: .+)?"),
    ("~lunch", "phrase", "has|eats", r"(?P<value>[a-z ]+?) for lunch(?: .+)?"),
    (
        "~programming language",
        "code",
        "writes|codes|programs",
        (
            r"(?:mostly |mainly |everything |code )?(?:in )?"
            r"(?P<value>\S+)(?: (?:at|for) (?:work|user's job|a living).*)?"
        ),
    ),
    (
        "~programming language",
        "code",
        "uses",
        r"(?:mostly |mainly )?(?P<value>\S+) (?:at|for) (?:work|user's job)(?: .+)?",
    ),
    ("~programming language", "code", "learns|studies", r"(?P<value>\S+)"),
    (
        "phone",
        "name",
        "uses|has|carries|bought|got|owns",
        rf"(?:got |bought )?(?:an? |the |user's )?(?:new )?(?P<value>{_PHONES})",
    ),
    (
        "laptop",
        "name",
        "uses|has|bought|got|owns",
        rf"(?:got |bought )?(?:an? |the |user's )?(?:new )?(?P<value>{_LAPTOPS})",
    ),
    ("~project", "name", "works", r"on (?:the )?(?:project )?(?P<value>.+?)(?: project)?"),
    ("~project", "name", "is", r"(?:working |now )?on (?:the )?(?:project )(?P<value>.+)"),
    ("~project", "name", "is", r"on the (?P<value>.+?) project"),
    ("~project", "name", "is", r"working on (?:the )?(?:project )?(?P<value>.+?)(?: project)?"),
    ("~project", "name", "has", r"been (?:moved|assigned|put|staffed) (?:to|on|onto) (?:project )(?P<value>.+)"),
    (
        "~project",
        "name",
        "is|got|was",
        r"(?:assigned|moved|put|staffed) (?:to|on|onto) (?:the )?(?:project )?(?P<value>.+?)(?: project)?",
    ),
    ("~book being read", "name", "reads", r"(?P<value>.+)"),
    ("~book being read", "name", "is", r"(?:reading|in the middle of|halfway through) (?P<value>.+)"),
    ("~book being read", "name", "has|started|begun|began", r"(?:started |begun )?(?:reading )(?P<value>.+)"),
    ("~field of study", "phrase", "majors", r"in {v}"),
    ("~field of study", "phrase", "studies", r"(?P<value>[a-z]+(?: [a-z]+)?)(?: at .+| in [a-z]+)?"),
    ("locker", "number", "has|is", r"(?:got |in |been given |been assigned )?(?:the )?locker {v}"),
    ("parking space", "number", "has|parks", r"(?:got |in |on )?(?:the )?(?:parking )?(?:space|spot|bay) {v}"),
    ("hair colour", "colour", "has", r"(?:now )?(?:dyed )?(?P<value>[a-z]+) hair"),
    ("hair colour", "colour", "dyed|has", r"(?:dyed |coloured |colored )?user's hair {v}"),
    ("~workplace", "name", "works", r"out of (?:the )?{v}"),
    ("~workplace", "name", "sits", r"(?:at|in) (?:the )?{v}"),
    (
        "commute",
        "means",
        "takes|catches|rides",
        rf"{_MY}(?P<value>[a-z]+) (?:in )?to (?:work|the office|school|user's job)",
    ),
    ("commute", "means", "commutes", rf"(?:by|on) {_MY}{{v}}"),
    ("commute", "means", "gets|goes|travels|comes", rf"(?:in )?to (?:work|the office|user's job) (?:by|on) {_MY}{{v}}"),
    ("hairdresser", "name", "gets|has", r"user's hair (?:cut|done|styled) (?:at|by|from) {v}"),
    ("thesis supervisor", "name", "is", r"(?:being )?(?:supervised|advised) by {v}"),
    ("manager", "name", "is", r"(?:being )?(?:managed|led) by {v}"),
    ("team lead", "name", "has", r"{v} as (?:team lead|tech lead)"),
    ("editor", "name", "does|writes", r"(?:all |most )?(?:of )?user's (?:coding|code|programming) (?:in|with) {v}"),
    ("editor", "name", "codes|programs", r"(?:mostly |mainly )?in {v}"),
    (
        "editor",
        "name",
        "has|is|switched|moved",
        r"(?:switched|moved|gone|went|back)? ?(?:over )?(?:back )?to {v} for (?:coding|user's code|programming)",
    ),
    ("doctor", "name", "is", r"registered with (?P<value>dr\.? .+)"),
    ("doctor", "name", "sees|is", r"(?:registered )?(?:with )?(?P<value>dr\.? .+?) for (?:user's )?check-?ups"),
)

_OWNED: Final[tuple[tuple[str, Kind, str], ...]] = (
    ("~workplace", "name", r"user's (?:office|desk|workplace|place of work) is (?:back )?(?:in|at|on) (?:the )?{v}"),
    ("~volunteer work", "name", r"user's (?:volunteer|voluntary|charity) work is (?:for|at|with) (?:the )?{v}"),
    ("thesis supervisor", "name", r"user's (?:thesis|dissertation|phd) is (?:being )?(?:supervised|advised) by {v}"),
    ("hairdresser", "name", r"user's hair is (?:cut|done|styled) by {v}"),
    ("hair colour", "colour", r"user's hair is {v}"),
    ("commute", "means", r"user's commute is (?:by|on) (?:the )?{v}"),
    ("cleaner", "name", r"user's (?:home|house|flat|apartment|place) is cleaned by {v}"),
    ("manager", "name", r"user's team is (?:managed|led|run|headed) by {v}"),
    ("landlord", "name", r"user's (?:home|house|flat|apartment|place|room) (?:belongs to|is owned by) {v}"),
    ("wake-up time", "hour", r"user's alarm (?:is set for|is set to|goes off at|rings at|is at) {v}"),
    ("locker", "number", r"user's locker is {v}"),
    ("~project", "name", r"the project user is (?:working )?on is {v}"),
    ("~newspaper", "name", r"the (?:paper|newspaper) user reads is (?:the )?{v}"),
    ("~sport", "pastime", r"user's sport is {v}"),
    ("~instrument", "instrument", r"the instrument user (?:plays|is learning) is (?:the )?{v}"),
    (
        "~language being learned",
        "tongue",
        r"the (?:foreign )?language user (?:is )?(?:learning|studying|learns|studies) is {v}",
    ),
    (
        "~programming language",
        "code",
        r"the language user(?:'s team)? (?:uses|works in|codes in|writes)(?: .+?)? is {v}",
    ),
    (
        "~book being read",
        "name",
        r"the (?:book|novel) (?:user is reading|on user's nightstand|on user's bedside table) is {v}",
    ),
    ("~book being read", "name", r"{v} is on user's nightstand"),
)
_DOES_FOR_USER: Final[tuple[tuple[str, str], ...]] = (
    ("thesis supervisor", r"(?:supervises|advises|oversees) user's (?:thesis|dissertation|phd|doctorate)"),
    ("cleaner", r"cleans (?:for user|user's (?:home|house|flat|apartment|place))"),
    ("hairdresser", r"(?:cuts|does|styles|colours|colors) user's hair"),
    ("landlord", r"(?:owns|lets|rents out) user's (?:home|house|flat|apartment|place|room)"),
    ("accountant", r"does user's (?:taxes|tax return|tax returns|books|accounts)"),
    ("dentist", r"(?:looks after|takes care of|does|treats) user's teeth"),
    ("gardener", r"(?:does|looks after|keeps|tends) user's garden"),
    ("mechanic", r"(?:fixes|services|repairs|looks after) user's (?:car|van|motorbike)"),
    ("trainer", r"(?:trains|coaches) user"),
    ("manager", r"(?:manages|leads|heads|runs) user's team"),
    ("childminder", r"(?:looks after|minds|babysits|watches) user's (?:kids?|children|son|daughter|baby)"),
    ("dog walker", r"walks user's dogs?"),
)
_BY_VERB: Final[dict[str, list[_Said]]] = {}
for _verb, _one in _verbs():
    _BY_VERB.setdefault(_verb, []).append(_one)
_OF_A_THING: Final = tuple(_Said(name, kind, regex(f"^{said.replace('{v}', _VALUE)}$")) for name, kind, said in _OWNED)
_BY_SOMEBODY: Final = tuple(
    _Said(name, "name", regex(rf"^(?P<value>[^,;:]{{1,40}}?) {said}$")) for name, said in _DOES_FOR_USER
)
_USER_DOES: Final = regex(r"^user (?P<verb>[a-z]+) (?P<rest>.+)$")
_TAKEN_UP: Final = regex(
    r"^user (?:has )?(?:taken up|took up|got into|gotten into|is into) (?P<value>[^,;:]+?)(?: as user's (?P<np>\w+))?$"
)
_AS_MINE: Final = {"sport": "~sport", "hobby": "~hobby", "pastime": "~hobby", "instrument": "~instrument"}
_MOST: Final = 160


@lru_cache(maxsize=4096)
def read(plain: str) -> tuple[Phrase, ...]:
    """The attributes that a plain statement may set, the likeliest first; whether a value fits is for the caller."""
    return tuple(_read(plain)) if len(plain) <= _MOST else ()


def _read(plain: str) -> Iterator[Phrase]:
    for pattern in (*_OF_SERVICE, *_SERVICE_IS):
        match = pattern.match(plain)
        name = None if match is None else _service(match["service"])
        if match is not None and name is not None:
            yield Phrase(name, match["value"], "name")
    taken = _TAKEN_UP.match(plain)
    if taken is not None:
        last = taken["value"].split()[-1]
        known = "~instrument" if last in _INSTRUMENTS else "~sport" if last in _SPORTS else "~hobby"
        kind: Kind = "instrument" if known == "~instrument" else "pastime"
        yield Phrase(_AS_MINE.get(taken["np"] or "", known), taken["value"], kind)
    does = _USER_DOES.match(plain)
    for said in () if does is None else _BY_VERB.get(does["verb"], ()):
        match = said.pattern.match(does["rest"]) if does is not None else None
        if match is not None:
            yield Phrase(said.name, match["value"], said.kind)
    for said in _OF_A_THING if does is None else ():
        match = said.pattern.match(plain)
        if match is not None:
            yield Phrase(said.name, match["value"], said.kind)
    yield from _by_somebody(plain)


def _by_somebody(plain: str) -> Iterator[Phrase]:
    for said in _BY_SOMEBODY:
        match = said.pattern.match(plain)
        if match is not None:
            yield Phrase(said.name, match["value"], said.kind)


def is_of_user(compared: str) -> bool:
    """Whether a sentence whose subject is somebody else tells what the user's is: "Dr. Moreau supervises my thesis"."""
    plain = re.sub(r"\b(?:my|our)\b", "user's", re.sub(r"\b(?:me|us)\b", "user", compared))
    return len(plain) <= _MOST and any(_by_somebody(plain))


# ------------------------------------------------ nouns

_SAME: Final = (
    ("coffee order", ("coffee order|coffee of choice|go-to coffee|usual coffee|regular coffee|standard coffee|"
     "go-to coffee order|usual order at the cafe|usual coffee order|usual")),
    ("~morning drink", "morning drink|drink in the morning|breakfast drink|first drink of the day|morning beverage"),
    ("~sport", "sport|main sport|sport of choice|favoured sport"),
    ("~hobby", "hobby|main hobby|pastime|main pastime"),
    ("~instrument", "instrument|main instrument|musical instrument"),
    ("~breakfast", "breakfast|usual breakfast|go-to breakfast"),
    ("~lunch", "lunch|usual lunch|go-to lunch"),
    ("~newspaper", "newspaper|paper|daily paper|morning paper|daily newspaper|news source|news app"),
    ("~bedroom", "bedroom"),
    ("~book being read", "book|book at the moment|current book|current read|bedtime book|bedtime reading"),
    ("~field of study", "major|field of study|course of study|degree subject"),
    ("~language being learned", "language being learned|target language"),
    ("~music service", ("music service|music app|music streaming service|music subscription|music player|"
     "streaming service for music|music provider")),
    ("~volunteer work", "volunteer work|volunteering|charity work"),
    ("~club", "club|running club|rowing club|sports club|cycling club"),
    ("~choir", "choir"),
    ("~team", "team|football team|soccer team|hockey team|rugby team|team of choice"),
    ("~workplace", "workplace|place of work|office|desk"),
    ("~project", "project|current project|main project|project at work|work project"),
    ("~programming language", "programming language|main programming language|main language at work|coding language"),
    ("thesis supervisor", ("thesis supervisor|thesis advisor|thesis adviser|phd supervisor|phd advisor|phd adviser|"
     "dissertation supervisor|dissertation advisor|doctoral supervisor|doctoral advisor|academic advisor")),
    ("internet provider", ("internet provider|internet|broadband|broadband provider|wifi provider|isp|"
     "internet service provider|internet company|home internet")),
    ("phone provider", ("phone provider|mobile provider|phone carrier|mobile carrier|carrier|phone company|"
     "cell provider|cell phone provider|cell carrier|network provider|mobile network|phone network|mobile operator")),
    ("electricity provider", "electricity provider|electricity supplier|power company|electricity company"),
    ("energy provider", "energy provider|energy supplier|energy company|utility company"),
    ("gas provider", "gas provider|gas supplier"),
    ("wake-up time", "wake-up time|wakeup time|wake up time|waking time|get-up time"),
    ("hair colour", "hair colour|hair color"),
    ("locker", "locker|locker number"),
    ("parking space", "parking space|parking spot|parking bay|parking place"),
)  # fmt: skip
NOUNS: Final = {noun: name for name, nouns in _SAME for noun in nouns.split("|")}
"""Nouns that name an attribute, and its name."""
KINDS: Final[dict[str, Kind]] = {
    "coffee order": "drink", "~morning drink": "drink", "~sport": "phrase", "~hobby": "phrase",
    "~instrument": "phrase", "~breakfast": "phrase", "~lunch": "phrase", "~bedroom": "phrase",
    "~field of study": "phrase", "~language being learned": "tongue", "~programming language": "code",
    "hair colour": "colour", "locker": "number", "parking space": "number", "wake-up time": "hour",
}  # fmt: skip
"""What the value of an attribute has to be where it is no name."""

# ------------------------------------------------ questions

_AUX: Final = r"(?:do|did|am|was|have|had|'ve)"
_ASKED: Final = tuple(
    (regex(f"^{pattern}$"), name)
    for pattern, name in (
        ((rf"(?:who|whom) {_AUX} i rent(?:ing)?(?: (?:my|the) [\w ]+)? from|who (?:owns|owned) my (?:flat|house|"
        rf"home)"), "landlord"),
        (rf"(?:when|what time|at what time) {_AUX} i (?:go|going|went) to (?:bed|sleep)", "bedtime"),
        (rf"(?:when|what time|at what time) {_AUX} i (?:get|getting|got|wake|waking|woke) up", "wake-up time"),
        ((rf"(?:where|(?:what|which) room) {_AUX} i sleep(?:ing)?(?: in)?|(?:what|which) room (?:is|was) my "
        rf"bedroom"), "~bedroom"),
        ((rf"(?:where|(?:what|which) (?:charity|organi[sz]ation)|who|whom) {_AUX} i (?:volunteer|help out|help|"
        rf"volunteering)"
         r"(?:ing)?(?: (?:for|at|with))?"), "~volunteer work"),
        ((rf"(?:what|which) club {_AUX} i (?:a member of|in|belong to|run with|train with)|"
         rf"(?:who|whom) {_AUX} i (?:run|train|row|swim|cycle|ride)(?:ning|ing)? with"), "~club"),
        ((rf"(?:who|whom) {_AUX} i sing(?:ing)? with|(?:what|which) choir {_AUX} i (?:sing(?:ing)?|in|a member "
        rf"of)(?: in| with)?"), "~choir"),
        ((rf"(?:what|which) (?:football |soccer |hockey |rugby )?team {_AUX} i (?:support|root for|follow|cheer "
        rf"for)(?:ing)?"), "~team"),
        (rf"(?:what|which) language {_AUX} i (?:learn|study|practise|practice)(?:ing)?", "~language being learned"),
        ((rf"how {_AUX} i (?:get|getting|go|going|travel|commute|commuting|got|went) (?:in )?to (?:work|the office)|"
        rf"how {_AUX} i "
         r"commut(?:e|ing)"), "commute"),
        (rf"what {_AUX} i (?:do|doing) for (?:exercise|sport|fitness)|how {_AUX} i (?:keep|stay) fit", "~sport"),
        (r"(?:what time|when|what) (?:is|was) my alarm (?:set )?(?:for|at)?", "wake-up time"),
        (rf"(?:what|which) (?:book|novel) {_AUX} i (?:in the middle of|on)", "~book being read"),
        (rf"(?:what|which) (?:musical )?instrument {_AUX} i (?:play|learn|practise|practice)(?:ing)?", "~instrument"),
        (rf"(?:what|which) sports? {_AUX} i (?:do|play|practise|doing|playing)", "~sport"),
        (rf"(?:what|which) hobby {_AUX} i (?:have|got)", "~hobby"),
        ((rf"what (?:kind of )?coffee {_AUX} i (?:usually |always )?(?:order|get|have)|what {_AUX} i (?:usually "
        rf")?order at the caf[eé]"),
         "coffee order"),
        ((rf"what {_AUX} i drink(?:ing)? (?:in the mornings?|for breakfast)|what {_AUX} i start my (?:day|morning) "
        rf"with"), "~morning drink"),
        (rf"what {_AUX} i (?:usually )?(?:have|eat|had) for breakfast", "~breakfast"),
        (rf"what {_AUX} i (?:usually )?(?:have|eat|had) for lunch", "~lunch"),
        ((rf"(?:what|which) (?:programming |coding )?language {_AUX} i (?:write|code|program|use)(?:ing)?(?: "
        rf"code)?(?: in| at work)?"),
         "~programming language"),
        (rf"(?:what|which) project {_AUX} i (?:(?:work(?:ing)?|assigned|put) )?(?:on|to)", "~project"),
        (rf"(?:what|which) (?:book|novel) {_AUX} i (?:read|reading)|what (?:am|was) i reading", "~book being read"),
        (rf"(?:what|which) (?:newspaper|paper) {_AUX} i (?:read|get|take|reading)", "~newspaper"),
        ((rf"what {_AUX} i (?:major in|majoring in|study|studying)|(?:what|which) subject {_AUX} i "
        rf"study(?:ing)?"), "~field of study"),
        (r"where(?:'s| is| was) my (?:office|desk|workplace)", "~workplace"),
        (r"who (?:supervises|supervised|advises|advised) my (?:thesis|dissertation|phd)", "thesis supervisor"),
        ((r"who (?:cuts|cut|does|did) my hair|(?:where|who) (?:do|did) i (?:get|have) my hair (?:cut|done)(?: "
        r"by)?"), "hairdresser"),
        (r"who (?:cleans|cleaned) (?:for me|my (?:flat|house|home|place|apartment))", "cleaner"),
        (r"what (?:colou?r is my hair|hair colou?r do i have)", "hair colour"),
        (rf"(?:what|which) locker {_AUX} i (?:have|got|use)", "locker"),
        (rf"(?:what|which) parking (?:space|spot|bay) {_AUX} i (?:have|got|use)", "parking space"),
        (r"who (?:manages|managed|leads|led|runs) my team", "manager"),
        (r"who (?:does|did) my taxes", "accountant"),
    )
)  # fmt: skip
_Q: Final = r"(?:my |all (?:of )?my )?(?P<service>[a-z-]+(?: [a-z-]+){0,2}?)"
_ASKED_SERVICE: Final = tuple(
    regex(f"^{pattern}$")
    for pattern in (
        rf"(?:where|who|whom) {_AUX} i (?:get|buy|have|getting|buying|got|source) {_Q}(?: (?:from|at|through|with))?",
        rf"(?:what|which (?:app|service|company|provider)|who|whom) {_AUX} i (?:use|using|pay|go to|with) for {_Q}",
        rf"(?:who|whom) (?:is|was) {_Q} (?:with|from|through|by)",
        rf"(?:what|which (?:app|service)|where) {_AUX} i (?:listen(?:ing)? to|stream(?:ing)?) {_Q}(?: (?:on|with))?",
        rf"who (?:provides|supplies|provided|supplied) {_Q}",
    )
)
_WHICH: Final = regex(
    rf"^(?:what|which) (?P<np>[\w' -]+?) {_AUX} i (?:(?:still|now|usually|currently) )?(?:do|doing|play|playing|"
    rf"order|drink|read|"
    r"reading|learn|learning|rent|subscribe to|work on|working on|on|wear|wearing|take|taking|eat|follow|use|using|"
    r"with)$"
)


@lru_cache(maxsize=1024)
def asked(question: str) -> str | None:
    """The attribute that a question in compared text, without its time, asks for; None where that is none of these."""
    for pattern, name in _ASKED:
        if pattern.match(question):
            return name
    for pattern in _ASKED_SERVICE:
        match = pattern.match(question)
        name_of = None if match is None else _service(match["service"])
        if name_of is not None:
            return name_of
    which = _WHICH.match(question)
    return None if which is None else NOUNS.get(which["np"])


def is_known(name: str) -> bool:
    """Whether an attribute is one of those that are spoken of in several ways."""
    return name in _TOLD


_SEVERAL: Final = frozenset(
    ("~sport", "~hobby", "~instrument", "~language being learned", "~club", "~choir", "~volunteer work")
)


_RELATIVES: Final = {"~hobby": ("~sport", "~instrument"), "~sport": ("~hobby",), "~club": ("~choir",)}


def relatives(name: str) -> tuple[str, ...]:
    """The attributes under which what is asked for may be told, too: a sport may be somebody's hobby."""
    return _RELATIVES.get(name, ())


def goes_beside(name: str) -> bool:
    """Whether who begins another of a thing may go on with the one they have: a sport, an instrument."""
    return name in _SEVERAL


def told_by(name: str) -> frozenset[str]:
    """The words by which a text may tell of an attribute: those of its name and of the phrases that set it."""
    return _TOLD.get(name, frozenset()) - _SAYS_NOTHING


def frame_words(name: str) -> frozenset[str]:
    """The words in which an attribute is given a value: beside the value they say nothing."""
    return _TOLD.get(name, frozenset())


def _told() -> dict[str, frozenset[str]]:
    told: dict[str, set[str]] = {}
    for name, nouns in _SAME:
        told.setdefault(name, set()).update(re.findall(r"[a-z]{3,}", nouns))
    literal = r"(?<![\\?<a-z])[a-z]{3,}"
    for name, _, verbs, rest in _VERBS:
        told.setdefault(name, set()).update(verbs.split("|"), re.findall(literal, rest))
    said = [(name, pattern) for name, _, pattern in _OWNED]
    for name, pattern in (*said, *_DOES_FOR_USER, *_SERVICES):
        told.setdefault(name, set()).update(re.findall(literal, pattern))
    return {name: frozenset(words) for name, words in told.items()}


_SAYS_NOTHING: Final = _words(
    "user value the from and has for with main being been get gets got had out about all any did does usual regular go "
    "goes go-to takes take choice current first right now most time number"
)
_TOLD: Final = _told()


__all__ = [
    "KINDS",
    "NOUNS",
    "TONGUES",
    "Kind",
    "Phrase",
    "asked",
    "fits",
    "frame_words",
    "goes_beside",
    "is_for_a_service",
    "is_known",
    "is_of_user",
    "read",
    "relatives",
    "told_by",
]
