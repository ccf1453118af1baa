"""Frames: what a statement gives a value to that no class of attributes knows: "User commutes by tram". Pure.

A frame is the rest of a plain statement about the user when its value is taken out: the verb and its preposition, or
what is owned. Of such a thing nobody knows whether it has one value at a time: two may both be so. So a frame is
*loose*: another value takes the place of the one that is known only where the words say that something changed ("now",
"again", "no longer"); otherwise both stand.

`plainer()` takes a statement to its plain form, which says the same without what begins, goes on or is so by now: "user
has started going to work by tram" is "user goes to work by tram". Attributes are read of it, too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engram.english import asides, attributes, phrases, verbs
from engram.english.attributes import MAX_READ, Attribute
from engram.regex import regex
from engram.wordlists import word_set

PROFILE: Final = "slot:profile:"
"""How the conflict keys of what a user has one of begin; the name of the attribute follows."""
HOME: Final = f"{PROFILE}current_city"
LOOSE: Final = "~"


def is_loose(conflict_key: str | None) -> bool:
    """Whether a conflict key is of a frame, of which several values may be so at a time."""
    return conflict_key is not None and conflict_key.startswith(PROFILE + LOOSE)


def may_have_another(conflict_key: str | None, fact: str) -> bool:
    """Whether of a key several values may be so, as a fact says it: of what somebody has, and does not say he changed.

    >>> may_have_another("slot:profile:laptop", "User has a Chromebook")
    True
    """
    return is_loose(conflict_key) or phrases.tells_of_one_more((conflict_key or "").removeprefix(PROFILE), fact)


# ------------------------------------------------ plain form

_ING: Final = r"(?P<ing>[a-z]{2,}ing)\b"
_BEGUN: Final = regex(
    r"^user (?:(?:now|still|just|finally|recently|actually|currently|already|always) )*(?:"
    r"(?:has )?(?:(?:just|recently|finally|now) )*(?:started|begun|taken to|(?:gone|went|come|came|got|gotten|"
    r"switched|"
    r"changed|moved) (?:back |over )?to|returned to|resumed|continued)"
    r"|(?:starts|continues|keeps|keeps on|resumes|returns to|switches to)"
    rf"|is (?:(?:back|used) to|back)?|has been|has always been) ?(?:now |still |again )?{_ING}(?P<rest>.*)$"
)
_TO_WORK: Final = regex(
    r"^user (?P<verb>bikes|cycles|walks|drives|runs|jogs|scoots|carpools) (?:in )?to "
    r"(?P<there>work|the office|school|user's (?:job|office))"
    r"(?P<rest>(?!.*\b(?:today|tomorrow|tonight|this (?:week|month|morning)|at the moment|only)\b).*)$"
)
_MEANS: Final = {
    "bikes": "bike", "cycles": "bike", "walks": "foot", "drives": "car", "runs": "foot", "jogs": "foot",
    "scoots": "scooter", "carpools": "carpool",
}  # fmt: skip
_HAS_GOT: Final = regex(r"^user has got (?=an? |user's )")
_AFTER: Final = regex(
    r"^(?P<who>user(?: is|'s [\w' -]{1,60}? (?:is|are))?) (?:(?:now|still|just|finally|recently|actually|currently|"
    r"already|always|officially|usually) )+"
)
_IS_ALWAYS: Final = regex(r"\bhas always been\b|\bhas been\b(?! \w+(?:ed|ing)\b)")
_OVER_THERE: Final = regex(
    r"\b(?:over|(?<!work )(?<!works )(?<!working )out|down|up|back) (?=(?:at|in|from|with|on|by)\b)"
)
_CLOSE: Final = (
    r"(?:now|again|still|these days|nowadays|currently|at the moment|at present|right now|instead|lately|"
    r"of course|by the way|though|actually|at last|anyway|once more|as always|as ever|as usual|as before|all right|"
    r"for (?:a|some) while|for (?:many |some |several |a few )?(?:years|months|weeks)|after all|already)"
)
_TRAILING: Final = regex(rf"(?:,? {_CLOSE})+$")
_WHAT_IS: Final = regex(
    r"(user(?:'s [\w'-]+(?: [\w'-]+){0,3}?)) (?P<adv>these days|nowadays|now|currently|right now) is "
)
_SHORT_IS: Final = regex(r"^(user's [a-z-]+(?: [a-z-]+){0,3})'s(?= (?:still|now|back|set|called|with|from|in|at)\b)")
_HOME: Final = regex(
    r"^home (?:for|to) user is (?P<value>.+)$|^user calls (?P<called>.+?) (?:user's )?home$|"
    r"^home is (?P<own>.+?) for user$|^(?P<first>[\w' -]{2,40}?) is (?:still )?(?:user's )?home(?: for user)?$"
)
_SETTLED: Final = regex(
    r"^(user) (?:has )?(?:settled(?: down)?|upped sticks|made (?:the|a|user's) (?:\w+ )?move(?: over| back)?) (?:in|"
    r"to)\b"
)
_BACK_AS: Final = regex(
    r"^user (?:is|has (?:gone|come|switched)|went|came) back (?:with|to|on|at) (?P<value>[^,;]{1,60}?) as "
    r"user's (?P<np>[\w' -]+)$"
)


@lru_cache(maxsize=4096)
def plainer(statement: str) -> str:
    """A statement about the user in its plain form; itself where it has no other."""
    text = _AFTER.sub(r"\g<who> ", _TRAILING.sub("", statement.rstrip(" .!")))
    text = _WHAT_IS.sub(r"\1 is ", text)
    text = _SHORT_IS.sub(r"\1 is", text)
    home = _HOME.match(text)
    if home is not None:
        return f"user lives in {next(filter(None, home.groups()))}"
    text = _SETTLED.sub(r"\1 moved to", text)
    text = _IS_ALWAYS.sub("is", text)
    back = _BACK_AS.match(text)
    if back is not None:
        return f"user's {back['np']} is {back['value']}"
    begun = _BEGUN.match(text)
    if begun is not None and begun["ing"] not in _NO_VERB:
        text = f"user {verbs.third_person(_base(begun['ing']))}{begun['rest']}"
    text = _AFTER.sub(r"\g<who> ", text)
    to_work = _TO_WORK.match(text)
    if to_work is not None:
        text = f"user goes to {to_work['there']} by {_MEANS[to_work['verb']]}{to_work['rest']}"
    text = _HAS_GOT.sub("user has ", text)
    return _OVER_THERE.sub("", text)


_NO_VERB: Final = word_set("being having thing something anything nothing everything during morning evening")
_TAKES_E: Final = regex(
    r"(?:[rd]g|[vuzc]|[^aeiou]at|[aeiou][aeiou]s|[^aeiou][aeiou][ktb]|^us|^rid|^mov|pos|id|sur|ar)$"
)


def _base(ing: str) -> str:
    """The verb of its form in -ing: "living" → "live", "running" → "run", "working" → "work"."""
    stem = ing.removesuffix("ing")
    known = next((one for one in (stem, f"{stem}e", stem[:-1]) if one in verbs.COMMON), None)
    if known is not None:
        return known
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiouls":
        return stem[:-1]
    return f"{stem}e" if _TAKES_E.search(stem) else stem


# ------------------------------------------------ frames

_USES_FOR: Final = regex(
    r"^user (?P<verb>uses|has|takes|pays for|wears) (?:an? |the |user's )?(?P<value>[^,;:]{1,40}?) (?P<prep>for|as) "
    r"(?:user's |the |an? )?(?P<np>[\w'-]+(?: [\w'-]+){0,2})$"
)
_HABIT: Final = regex(
    r"^user (?P<verb>[a-z]+s)(?P<mid>(?: [a-z'-]+){0,4}) (?P<prep>by|from|at|for|on|in) (?P<value>[^;:]{1,80})$"
)
_OWNED: Final = regex(r"^user's (?P<np>[\w'-]+(?: [\w'-]+){0,3}?) is (?:called |named )?(?P<value>.+)$")
_OWNER: Final = regex(r"^(?P<value>[^,;:]{1,60}?) is user's (?P<np>[\w'-]+(?: [\w'-]+){0,3})$")
_NEW: Final = regex(
    r"^user (?:has|got|bought) (?:found )?a new (?P<np>[\w-]+(?: [\w-]+)?)[,:;]? (?P<value>(?:an? |it's ).+)$"
)
_ARTICLE: Final = regex(r"^(?:an?|the) ")
_NO_HABIT: Final = word_set(
    "is lives works stays misses refuses was has does says thinks likes loves hates wants needs hopes "
    "knows believes feels means agrees remembers forgets "
    "meets sees tells asks finds gets visits leaves arrives starts ends plans prefers dislikes worries cares looks "
    "dreams depends waits thanks comes this his its us yes"
)
_MANY: Final = word_set(
    "manager boss supervisor mentor ex-manager "
    "friend colleague coworker brother sister sibling cousin uncle aunt nephew niece son daughter child kid grandson "
    "granddaughter grandchild neighbour neighbor roommate flatmate housemate classmate teammate student client "
    "customer patient dog cat pet puppy kitten horse rabbit allergy hobby friend's goal dream plan idea problem "
    "question point concern opinion advice interest passion skill fear skills hobbies name day week year life one "
    "thing part half reason answer guess favourite favorite book song game movie film show place group family "
    # Of relatives, friends and animals people have more than one, too.
    "mother father mum mom dad parent grandma grandpa granny grandmother grandfather grandparent great-aunt "
    "great-uncle stepmother stepfather stepmom stepdad stepson stepdaughter stepsister stepbrother half-brother "
    "half-sister mother-in-law father-in-law sister-in-law brother-in-law in-law godmother godfather godson "
    "goddaughter godchild twin relative bestie buddy pal mate chum crush date ex ex-wife ex-husband ex-boyfriend "
    "ex-girlfriend guest acquaintance contact penpal pen-pal idol hero rival enemy fan follower intern mentee "
    "apprentice protégé kitty pup hound "
    "parrot budgie canary cockatiel bird chicken hen rooster duck goose goat sheep lamb cow pig pony donkey mare "
    "stallion foal hamster gerbil mouse rat guinea-pig ferret hedgehog tortoise turtle terrapin snake lizard "
    "gecko iguana frog toad newt fish goldfish spider tarantula hermit-crab bee llama alpaca chinchilla rodent "
    "reptile task assignment client's target wish resolution tip trick rule habit tradition allergen symptom "
    "condition diagnosis illness"
)
_SOME: Final = word_set(
    "plant tree cactus succulent orchid boat kayak doll teddy toy novel story poem album record band singer "
    "artist author writer actor actress painter composer player footballer athlete podcast series sitcom musical "
    "opera play painting poet director comedian youtuber streamer character recipe dish drink snack dessert cake "
    "cheese wine beer flower colour color fruit vegetable spice word quote proverb verse joke memory trip"
)
"""What people name one of, and may name another: of such a thing a new name displaces only with a word of change."""
_AGENT: Final = regex(r"(?:er|or|ist|ian|ant|ent|ee|mate|man|woman|person)$")
_HABITUAL: Final = word_set("usual go-to regular default standard")


@lru_cache(maxsize=4096)
def read(statement: str, original: str) -> Attribute | None:
    """The attribute a statement sets, or its frame as one whose name begins with `~`; None where there is a doubt."""
    if len(statement) > MAX_READ:
        return None
    said = _ON_WEEKDAYS.sub(r"\g<1>", _EACH_DAY.sub("", statement))
    if attributes.stands_beside(said):
        return None
    found = _read(said, original)
    if found is not None:
        return found
    for head in asides.left_out(said):
        found = _read(head, original)
        if found is not None and (not found.name.startswith(LOOSE) or phrases.is_known(found.name)):
            return found
    return None


_CLOSED: Final = r"(?=(?: (?:now|again|these days|instead))*$)"
_EACH_DAY: Final = regex(
    rf",? (?:(?:every|each) (?:single )?(?:day|morning|evening|night|weekday|workday)|daily){_CLOSED}"
)
_ON_WEEKDAYS: Final = regex(rf"^(user (?:gets|wakes|is) up .+) on (?:weekdays|work ?days){_CLOSED}")


def _read(statement: str, original: str) -> Attribute | None:
    plain = plainer(statement)
    known = attributes.read(statement, original) or (attributes.read(plain, original) if plain != statement else None)
    if known is not None and known.name == "age" and statement.endswith(" again"):
        return None  # who is 20 again feels so
    found = known or _way_of_work(statement) or _owned(plain, original) or _habit(plain, original)
    return found or _set_against(statement, original)


_AGAINST: Final = regex(
    r"^(?P<said>user [^,;:]{3,120}?)(?:,| and|, and) not (?:(?:an?|the|by|at|in|for|with|on|from) ){0,2}"
    r"(?P<old>[\w' .-]{1,40}?)(?: any ?more| any longer)?$"
)


def _set_against(statement: str, original: str) -> Attribute | None:
    """What a statement sets that says also what is not so: "user is vegetarian, not vegan"."""
    match = _AGAINST.match(statement)
    found = None if match is None else read(match["said"], original)
    if match is None or found is None or (found.name.startswith(LOOSE) and not phrases.is_known(found.name)):
        return None
    instead = re.sub(rf"(?<!\w){re.escape(found.value)}(?!\w)", match["old"], match["said"])
    other = read(instead, original)
    return found if other is not None and other.name == found.name and other.value != found.value else None


_WORKS: Final = regex(
    r"^user works (?:(?:fully|completely|entirely|full-time) )?(?P<value>remotely|remote|from home|at home|"
    r"from the office|in the office|at the office|on-?site|on site|in-office|hybrid)$"
)
_AT_WORK_NOW: Final = "user is working "  # who is working from home may do so today


def _way_of_work(statement: str) -> Attribute | None:
    """Where somebody does their work, of which several may be so at a time."""
    match = None if statement.startswith(_AT_WORK_NOW) else _WORKS.match(plainer(statement))
    return None if match is None else Attribute(f"{LOOSE}way of work", match["value"])


def _owned(plain: str, original: str) -> Attribute | None:
    match = _OWNED.match(plain) or _OWNER.match(plain) or _NEW.match(plain)
    if match is None:
        return None
    parts = match["np"].removesuffix("'s name").split()
    if parts[-1] in _MANY or attributes.is_not_now(parts):
        return None
    usual = bool(_HABITUAL.intersection(parts))
    named = " ".join(part for part in parts if part not in _HABITUAL and not attributes.is_light(part))
    value = attributes.first_value(match["value"].removeprefix("it's "), 4)
    if value is None or not named or attributes.says_where_from(named, value):
        return None
    if attributes.is_name(value, original):
        # Of those who do something for somebody there may be several: teachers, drivers, consultants.
        return Attribute(f"{LOOSE}{named}" if _AGENT.search(parts[-1]) or parts[-1] in _SOME else named, value)
    is_thing = usual or _ARTICLE.match(match["value"]) is not None
    return Attribute(f"{LOOSE}{named} (a)", value) if is_thing and len(value.split()) <= 3 else None


_ORIGIN: Final = regex(r"^user (?:is|comes|was) (?:originally )?from (?P<value>[^,;:]{2,40})$")


def _habit(plain: str, original: str) -> Attribute | None:
    origin = _ORIGIN.match(plain)
    if origin is not None:  # of a country and of a town in it: both may be told
        value = attributes.first_value(origin["value"], 4)
        return (
            Attribute(attributes.ORIGIN, value) if value is not None and attributes.is_name(value, original) else None
        )
    uses = _USES_FOR.match(plain)
    if uses is not None:
        value = attributes.first_value(uses["value"], 4)
        if value is not None and attributes.is_name(value, original):
            return Attribute(f"{LOOSE}{uses['verb']} {uses['prep']} {uses['np']}", value)
    match = _HABIT.match(plain)
    if match is None or match["verb"] in _NO_HABIT or match["verb"].endswith("ss"):
        return None
    value = attributes.first_value(match["value"], 4)
    if value is None or not (attributes.is_name(value.split()[-1], original) or _is_means(match["prep"], value)):
        return None
    return Attribute(f"{LOOSE}{match['verb']}{match['mid']} {match['prep']}", value)


def _is_means(preposition: str, value: str) -> bool:
    """Whether a value that is no name says by what somebody does something."""
    return preposition == "by" and len(value.split()) == 1


# ------------------------------------------------ what is over, and what says that something changed

_STOPPED: Final = regex(
    r"^user (?:has )?(?:just |finally |recently |already )*(?:stopped|quit|ceased|given up|gave up) "
    r"(?P<ing>[a-z]{2,}ing)\b(?P<rest>.+)$"
)


def was_so(statement: str) -> str | None:
    """What a statement says is over, as a statement of what was so; None where it says of nothing that it is over."""
    known = attributes.was_so(statement)
    stopped = None if known is not None or len(statement) > MAX_READ else _STOPPED.match(statement)
    return known if stopped is None else plainer(f"user {verbs.third_person(_base(stopped['ing']))}{stopped['rest']}")


_CHANGED: Final = regex(
    r"\b(?:now|these days|nowadays|instead|no longer|any ?more|any longer|from now on|as of|at last|finally|"
    r"again|back|"
    r"switched|changed|moved|swapped|replaced|upgraded|migrated|new|started|starts|began|begun|became|become|stopped|"
    r"quit|turned out|taken over|took over|overtaken|gave up|given up|gone|not|n't|correction|actually|in fact)\b"
)


_BEGUN_ONLY: Final = regex(r"\b(?:new|started|starts|began|begun|at last|finally)\b")


def says_of_a_change(fact: str, key: str = "") -> bool:
    """Whether a fact says that what it tells has not always been so.

    Of what goes beside another of its kind, as a sport does, it must say more than that it has begun.
    """
    said = fact.casefold().replace("’", "'")
    if phrases.goes_beside(key.removeprefix(PROFILE)):
        said = _BEGUN_ONLY.sub("", said)
    return _CHANGED.search(said) is not None


__all__ = ["HOME", "LOOSE", "PROFILE", "is_loose", "may_have_another", "plainer", "read", "says_of_a_change", "was_so"]
