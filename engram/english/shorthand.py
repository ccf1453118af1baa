"""Shorthand: what people leave out when they type, put back: "New job: nurse" → "I work as a nurse now". Pure.

`whole()` makes a whole sentence of a label with its value, of a clause without "I", of a thing of the user's in short
("Rent's 640 euros"), and of a household's "we"; what is a whole sentence already it leaves alone. What comes out is
read like any other sentence, so nothing here decides what is so, only that the words are the user's own and say
something. A doubt leaves a text as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import attrgetter
from typing import Final

from engram.english import attributes, courses, names, news, predicates, verbs
from engram.english.feasts import EVENTS, MEALS, MONTHS, WEEKDAY
from engram.regex import regex
from engram.wording import OfWords, worded
from engram.wordlists import word_set

MAX_READ: Final = 200

# ------------------------------------------------ values

_NAME: Final = (
    r"(?-i:(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-ÖØ-Þ][\w'’&.-]*(?: (?:(?:of|the|de|van|von|&) )?[A-ZÀ-ÖØ-Þ0-9]"
    r"[\w'’&.-]*){0,3})"
)
_NUMBER: Final = r"[€$£]?\d[\d.,:]*(?: ?(?:%|°|[€$£]|[a-zA-Z]+)){0,2}"
_THING: Final = r"an? (?:[\w'-]+ ){0,2}[\w'-]+|the (?:[\w'-]+ )?[\w'-]+"
_NOUN: Final = r"[a-z][\w-]+(?: [a-z][\w-]+)?"
_END: Final = r"(?:,? (?:yes|yeah|of course|actually|as always))?[\s.!]*$"
_BESIDES: Final = (
    r"(?:, (?:(?:\d+ ?x|once|twice|\d+ times|three times) (?:a|per) (?:day|week|month|year)|"
    r"(?:for )?(?:\d+|an?|two|three|four|five) (?:yrs?|years?|months?|weeks?)(?: now)?))?"
)
"""How often or how long, behind a value that is told in short: "gym = X, 3x a week"."""
_UNSURE: Final = worded(
    r"\b(?:maybe|perhaps|probably|hopefully|soon|next|tomorrow|if|unless|would|might|could|should|tbd|tba|n/a|none|"
    r"unknown|no idea|see|or|not|plan|planned|someday)\b",
    re.I,
)
_NO_NOUN: Final = word_set(
    "call fix clean make do get go be find write send ask buy check click see look read run put take add use try keep "
    "finish start stop update remove delete open close here there below above attached done pending open closed urgent "
    "good bad great nice fine ok okay yes no none nothing something everything interesting exciting boring important"
)
_SENT: Final = frozenset(names.NOT_NAMES) | word_set("call fix see ask note todo yes no none hello hi thanks monday")


def _is_unsure(text: str) -> bool:
    return "?" in text or _UNSURE.search(text) is not None


def _is_value(value: str) -> bool:
    """Whether some words may be the value of a thing: a name, a number, a thing with its article, or a plain noun."""
    words = re.sub(r"^(?:an?|the) ", "", value.casefold()).split()
    return bool(words) and words[0] not in _NO_NOUN and words[0] not in _SENT and not words[-1].endswith("ly")


# ------------------------------------------------ labels

_LABEL: Final = regex(
    r"(?:(?:my |our )?(?P<new>new|current|latest|present) |(?:my |our )?)"
    r"(?P<np>(?:(?:mum|mom|dad|son|daughter|wife|husband|brother|sister|partner)['’]s "
    r")?[a-z][a-z-]+(?: [a-z][a-z-]+){0,2})"
    r"(?:: | [-–—=] )"
    rf"(?P<value>{_NAME}|{_NUMBER}|{_THING}|{_NOUN}){_BESIDES}{_END}",
    re.I,
)
_DOING_LABEL: Final = regex(
    r"(?P<adv>currently|still|presently|now) (?P<ing>reading|watching|learning|studying|driving|using|renting|"
    r"living in|working (?:at|for|on)|training for|listening to): (?P<value>" + f"{_NAME}|{_THING}|{_NOUN}){_END}",
    re.I,
)
_MATTERS: Final = word_set(
    "question questions idea ideas plan plans topic rule rules task tasks note notes message messages issue issues bug "
    "bugs ticket feature features version release record song album film movie episode season series show recipe joke "
    "theory problem challenge word fact facts target thread post comment request order title name subject file "
    "line paragraph section chapter draft list item items step steps option options suggestion proposal attempt test "
    "update news info information data link url deadline date time day week month year event meeting policy law study "
    "report research science feeling thing thought quote motto slogan favourite favorite info arrival arrivals "
    "discovery find purchase wish resolution word words entry chat prompt code function variable class branch"
)
_BARE: Final = word_set(
    "home address city town rent mortgage instrument hobby sport internet broadband phone job work company broker "
    "physio college team-name wage pension"
)
_HOMES: Final = word_set("home address city town hometown-now residence location")
_JOBS: Final = word_set("job work profession occupation gig")
_FIRMS: Final = word_set("employer company")


_NEW_ONE: Final = regex(
    rf"(?:the |our |my )?new (?P<np>(?-i:[a-z][a-z-]+(?: [a-z][a-z-]+)?))(?P<apart> is|,)? "
    rf"(?P<value>{_NAME}|{_NUMBER}){_END}",
    re.I,
)
_NOW_IS: Final = regex(
    rf"(?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+)?)(?:(?P<verb> is)? now(?: with| at| on)? |(?P<did> (?:has "
    rf")?(?:moved|changed|switched|"
    rf"went up|went down) to )|(?P<are> is (?:with |at |on )?)(?=[^,;]* now$))(?P<value>{_NAME}|{_NUMBER}|"
    rf"{_THING}|{_NOUN})(?: now)?$",
    re.I,
)
_AMOUNT_OF: Final = regex(rf"(?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+)?) (?P<value>{_NUMBER}|(?-i:[A-Z]\d+))[\s.!]*$", re.I)
_NO_THING: Final = word_set(
    "i im we you he she it they this that these those there here what who when where how why a an "
    "the my our your his her "
    "their and or but so if then not no yes still just also only even very too more most some any all every each both "
    "about around over under up down in on at to for from with by of off out as is was are were be "
    "been has have had do "
    "does did can could will would should may might must go goes went get got move moved change "
    "changed switch switched "
    "status error warning server build deploy version staging prod production host port branch python node java client "
    "weather traffic price sky sun moon everything nothing something life world love today tomorrow yesterday morning "
    "step room page floor platform gate table figure level grade class row seat exit unit apartment option part half "
    "result results total final answer score attendees participants timeout retry retries limit model cpu gpu ram disk "
    "memory temperature bitcoin branch commit test tests line chapter section volume task ticket issue bus tram train"
)


def _telegram(text: str, lone: bool) -> str | None:
    """A thing of the user's and its value, side by side: "New choir, Vocalis", "weight now 74 kilos"."""
    new_one = _NEW_ONE.match(text)
    now_is = None if new_one is not None else _NOW_IS.match(text)
    match = new_one or now_is or _AMOUNT_OF.match(text)
    if match is None:
        return None
    counted = match not in (new_one, now_is)
    np, value = match["np"].casefold(), match["value"].strip().removesuffix(" now")
    parts = np.split()
    if parts[-1] in _UNCOUNTED and _HOUR.match(value):
        return None  # "Dentist 10:30"
    if not _is_value(value) or _NO_THING.intersection(parts) or parts[-1] in _MATTERS or attributes.is_not_now(parts):
        return None
    known = attributes.noun(np) is not None or np in _BARE
    if value[0].isdigit() and re.fullmatch(_NUMBER, value, re.I) is None:
        return None  # "bus now 5 minutes late"
    if new_one is not None and new_one["apart"] is None and " " in np and not known:
        return None  # "my new oven takes 20 minutes"
    named = any(char.isupper() for char in match["np"][1:])  # "iPhone 15", "CPU now 95%"
    named = named or (now_is is not None and _may_be_somebody(now_is)) or (counted and not _is_measure(match))
    if not known and (not lone or named):
        return None
    return _said_of(np, value, "" if counted else " now")


def _is_measure(match: re.Match[str]) -> bool:
    """Whether words before a number name what it is of: "Blood group 4", no "Mazda 3" and no "Siltec fired 500"."""
    *more, head = match["np"].split()
    if not more:
        return head[0].islower()
    doing = verbs.is_past(head) or head in verbs.COMMON or head.endswith(("s", "ing"))
    return not doing and head[0].islower() and head not in _NO_HEAD and not _A_YEAR.fullmatch(match["value"])


_NO_HEAD: Final = word_set("since until till after before per than like plus minus times near between against without")
_A_YEAR: Final = regex(r"(?:19|20)\d\d")


def _may_be_somebody(match: re.Match[str]) -> bool:
    """Whether what is something now, or moved to something, may be somebody: "Anna moved to Rome"."""
    if match["did"] is None:
        is_said = match["verb"] is not None or match["are"] is not None
        return is_said and match["np"][0].isupper()
    if match["value"][0].isdigit() or match["value"].split()[0] in _HOURS:
        return False
    return match["np"][0].isupper() or (match["value"][0].isupper() and "moved" in match["did"].casefold())


_HOURS: Final = word_set("one two three four five six seven eight nine ten eleven twelve noon midnight")
_HOUR: Final = regex(rf"(?:\d[\d.,:]*(?: ?(?:am|pm|h))?|{'|'.join(sorted(_HOURS))})$", re.I)
_UNCOUNTED: Final = word_set(
    "accountant babysitter bank barber boss boyfriend broker childminder chiropractor church cleaner coach "
    "college company dentist dermatologist doctor employer girlfriend gp gym hairdresser husband instructor job "
    "landlady landlord lawyer mechanic nanny optician orthodontist osteopath partner physio physiotherapist "
    "psychiatrist psychologist school therapist trainer university vet wife work"
)
"""Who and what has a name: a number beside one is when one sees them."""


def _label(text: str, lone: bool) -> str | None:
    doing = _DOING_LABEL.match(text)
    if doing is not None:
        return f"I'm {doing['adv'].lower()} {doing['ing'].lower()} {doing['value']}"
    match = _LABEL.match(text)
    if match is None:
        return None
    np, value, new = match["np"].casefold(), match["value"].strip(), match["new"]
    head = np.split()[-1]
    if not _is_value(value) or head in _MATTERS or attributes.is_not_now(np.split()):
        return None
    known = attributes.noun(np) is not None or np in _BARE
    named = lone and re.fullmatch(f"(?:the )?(?:{_NAME})|{_NUMBER}", value) and not _NO_THING.intersection(np.split())
    if not known and (not (new or named) or len(np.split()) > 2):
        return None
    now = " now" if new is not None else ""
    return _said_of(np, value, now)


def _said_of(np: str, value: str, now: str) -> str | None:
    """A thing of the user's with its value as a sentence."""
    is_name = re.fullmatch(_NAME, value) is not None
    if np in _HOMES and (is_name or np != "location"):
        return f"I live in {value}{now}" if is_name else None
    if np in _FIRMS or (np in _JOBS and is_name):
        return f"I work for {value}{now}" if is_name else None
    if np in _JOBS:
        role = re.sub(r"^(?:an?|the) ", "", value)
        article = "an" if role[:1] in "aeiou" else "a"
        return f"I work as {article} {role}{now}"
    return f"My {np} is {value}{now}"


# ------------------------------------------------ clauses without "I"

_STANDS: Final = regex(rf"(?P<adv>still|back|now) (?P<prep>in|at|with) (?P<value>{_NAME}){_END}", re.I)
_BACK_TO: Final = regex(
    r"back (?:to|on) (?:the |an? |my )?(?!work\b|you\b|it\b|me\b|sleep\b|bed\b|track\b)[\w' -]{2,40}[.!]?", re.I
)
_ACTS: Final = (
    r"(?:working (?:as|for|at|with)|renting|driving|using|playing|reading|learning|studying|training|"
    r"eating|drinking|taking|riding|teaching|volunteering|banking|commuting|sleeping|seeing|dating|going to|wearing)"
)
_DOING: Final = regex(
    rf"(?:(?:still|back|currently|now) (?P<say>{_ACTS}) (?!from\b|on it\b|it\b|this\b|that\b)\w"
    rf"|(?P<said>{_ACTS}) (?!from\b|on\b|it\b|this\b|that\b|the dream\b)\w[^,;:?]*? (?:again|now|these days|nowadays)"
    r"[\s.!]*$)",
    re.I,
)
_SINCE: Final = regex(r"(?:have )?been (?P<ing>[a-z]+ing) (?:the|an?|as|for|in|at|with|my) \w", re.I)


def _without_i(text: str) -> str | None:
    stands = _STANDS.match(text)
    if stands is not None:
        return None if stands["value"].split()[0].casefold() in _SENT else _me(text)
    if _BACK_TO.match(text):
        return _me(text)
    if _DOING.match(text) and not re.search(r"\b(?:is|was|are|be|costs?|would|takes)\b", text):
        return _me(text)
    if _SINCE.match(text):
        return "I've been" + re.sub(r"(?i)^(?:have )?been", "", text)
    return None


_BEING: Final = regex(
    r"(?:(?P<was>born|raised|diagnosed|brought up)|allergic|intolerant|married|divorced|engaged(?! (?:in|with|at)\b)|"
    r"widowed|retired|based)\b,? "
    r"(?:to|since|with|in|from|at|as|for)\b .",
    re.I,
)
_CANNOT: Final = regex(
    r"(?:can['’]t|cannot|couldn['’]t) (?:stand|bear|swim|eat|drink|have|tolerate|digest|drive|ride|"
    r"cook|hear|sleep|live) .|"
    r"can['’]t (?:swim|drive|cook|ride)$|never (?:learned|learnt|liked|had|been|tried|married|owned) .|"
    r"don['’]t (?:[a-z]+ )+.* (?:any ?more|any longer)$|"
    r"still (?:go|take|live|work|use|have|read|play|see|drive|sing|watch|eat|drink|listen|pay|rent|"
    r"study|teach|wear|walk|"
    r"run|ride|sleep|get) (?:to|in|at|with|the|my|an?|on|for|from|as) .",
    re.I,
)
_DID: Final = regex(
    r"(?:(?:just|finally|also|already) )?(?!need|speed|feed|embed|exceed|indeed|hundred|"
    r"red\b)(?P<verb>[a-z]{2,}ed|got|had|went|"
    r"bought|sold|took|gave|left|quit|found|chose|began|lost|met|saw|sent|put|let|paid|kept|made|came) "
    r"(?:(?:off|up|over|back|in|out|away) )?(?:my|our|the|an?|to|with|for|from|in|at|back|rid) ",
    re.I,
)


_ENDED: Final = regex(
    r"(?:(?:just|finally|also|already) )?(?:(?:binned|ditched|scrapped|cancelled|canceled|dropped|quit|dumped|sacked "
    r"off|"
    r"jacked in|packed in|chucked in|ripped out|swore off|killed off|killed|deleted|uninstalled|sold|gave up|given up|"
    r"came off) |chucked (?=(?-i:[A-Z]))|"
    r"(?P<be>done|finished|through) with )(?:(?:the|my|our) )?(?!it\b|this\b|that\b|all\b|a\b|an\b|in\b|on\b|out\b|"
    r"off\b|"
    rf"for\b|by\b|to\b|at\b)(?:{_NAME}|[a-z][\w-]*(?: [a-z][\w-]*)?)(?: (?:last|this) [a-z]+| in (?:{MONTHS})| on "
    rf"{WEEKDAY}| yesterday| today| for good)?(?P<more>, .{{2,60}})?$",
    re.I,
)
_READ_ALREADY: Final = regex(
    r"(?:(?:just|finally|also|already) )?(?:ditched|scrapped|cancell?ed|dropped|quit|dumped|sold)\b", re.I
)
"""Of what these end a clause behind them says what came instead, without "I"."""
_A_CLAUSE: Final = regex(r"\b(?:i|im|i['’]m|i['’]ve|we|we['’]re|we['’]ve|my|our|now|got|it['’]s|everyone['’]s)\b", re.I)
_ON_THE_HEAD: Final = regex(
    r"(?:just |finally )?(?:got (?:fired|sacked|laid off|made redundant|let go) (?:from|by|at) [\w'’ -]{2,30}|"
    r"knocked (?:the |my )?[\w -]{2,30} on the head|"
    r"(?:swapped|traded|exchanged|ditched|replaced) [\w'’ -]{2,30}? (?:for|with) [\w'’ -]{2,30}|(?:migrated|moved|"
    r"switched|came) off (?:of )?(?-i:[A-Z])[^,;]{2,60})$",
    re.I,
)
"""What somebody is done with, in two or three words: "binned the gym", "done with the tablets, bloods fine"."""


def _elided(text: str) -> str | None:
    """A clause about the user that leaves "I" out before its verb: "Ported my number", "Can't stand coriander"."""
    if _ON_THE_HEAD.match(text):
        return f"I {text[:1].lower()}{text[1:]}"
    ended = _ENDED.match(text)
    if ended is not None:
        whole = f"I{' am' if ended['be'] else ''} {text[:1].lower()}{text[1:]}"
        more = ended["more"]
        if more is not None and _A_CLAUSE.search(more):
            return None if _READ_ALREADY.match(text) else whole
        return whole if more is None else whole.removesuffix(more)
    being = _BEING.match(text)
    if being is not None:
        return f"I {'was' if being['was'] else 'am'} {text[:1].lower()}{text[1:]}"
    if _CANNOT.match(text):
        return f"I {text[:1].lower()}{text[1:]}"
    if _DID.match(text) and (re.search(r"(?i)\b(?:my|our|me)\b", text) or news.values(text)):
        return f"I {text[:1].lower()}{text[1:]}"
    return None


def _me(text: str) -> str:
    return "I'm " + (text[:1].lower() + text[1:]).rstrip(" .!")


# ------------------------------------------------ things in short

_SHORT: Final = regex(
    r"(?P<my>my|our) (?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+)?)['’]s "
    rf"(?P<value>(?:still |now |back to |called )*(?:{_NAME}|{_NUMBER}|{_THING}))(?P<end>(?: now| again| these days| a "
    r"month| a week| a year)*)[\s.!]*(?P<rest>,.*)?$",
    re.I,
)
_AMOUNTS: Final = r"rent|salary|mortgage|wage|pension|allowance|pay"
_AMOUNT: Final = regex(
    rf"(?:the )?(?P<np>{_AMOUNTS})(?:['’]s| is|['’]s been| has gone up to| went up to| went down to)"
    rf"(?P<adv>(?: still| now| back to)*) (?P<value>[€$£]?\d[\w.,€$£ ]*?)(?P<now> now| again| these days)*[\s.!]*$",
    re.I,
)
_IS_MINE: Final = regex(
    r"(?!(?:it|that|this|there|here|what|who|where|when|how|he|she|today|tomorrow)['’])"
    rf"(?P<who>{_NAME})['’]s (?P<rest>(?:(?:now|still) )?(?:my|our|the new) .+)$",
    re.I,
)
_BARE_IS: Final = regex(
    rf"(?P<np>[a-z][a-z-]+)(?:['’]s| is) (?P<adv>still |now |back to )(?P<value>{_NAME}|{_NUMBER}|{_THING}){_END}", re.I
)


_ONE_OF: Final = (
    r"(?:physio|physiotherapist|dentist|doctor|gp|therapist|counsellor|tutor|landlord|landlady|accountant|lawyer|"
    r"solicitor|hairdresser|barber|vet|optician|mechanic|cleaner|nanny|childminder|gardener|dermatologist|"
    r"orthodontist|osteopath|ceo|cto|cfo|coo|cpo|cio|ciso|head of [a-z]+|team lead|tech lead|product owner|"
    r"scrum master|chairman|chairwoman|treasurer|headteacher|principal|vicar)"
)
_CAME_AS: Final = regex(
    rf"(?P<before>{_NAME} (?:has |just |recently )*(?:stepped down|retired|left|quit|resigned|moved on|"
    r"moved away|emigrated|passed away|died)(?:,? and|,? so|[,;]) )?"
    rf"(?P<who>{_NAME})(?: is|['’]s| has become| became)(?P<now> now)? (?P<whose>my|our) (?P<new>new "
    rf")?(?P<role>{_ONE_OF}|[a-z]+(?: [a-z]+)??)"
    r"(?P<end> now| these days| as of (?:now|today|this week|[a-z]+day)| from (?:now|today|here) on)*$",
    re.I,
)
"""Who is what somebody has one of: the name of it decides, and not the one who is it."""


def _came_as(text: str) -> str | None:
    """Who is somebody's dentist, said of that: "Leila is our CTO now" is "Our CTO is Leila now"."""
    came = _CAME_AS.match(text)
    if came is None or not _is_somebody(came["who"]):
        return None
    role = came["role"].casefold()
    changed = came["now"] or came["new"] or came["end"] or came["before"] or "bec" in text[came.end("who") :]
    is_one = re.fullmatch(_ONE_OF, role) is not None
    if not is_one and (not changed or courses.is_of_several(courses.topic(role)) or attributes.noun(role) is not None):
        return None
    said = f"{came['whose'].casefold()} {came['role']} is {came['who']}{' now' if changed else ''}"
    before = came["before"]
    return f"{said[:1].upper()}{said[1:]}" if before is None else f"{re.split(',|;| and | so ', before)[0]}, and {said}"


_ROLE_IS: Final = regex(
    r"(?P<np>(?:[a-z]+ )?(?P<role>manager|boss|supervisor|tutor|landlord|landlady|dentist|gp|doctor|therapist|physio|"
    r"boyfriend|girlfriend|bf|gf|husband|wife|hubby|partner|flatmate|roommate|housemate|mentor|coach))(?: is|['’]s) "
    rf"(?:called |named )?(?P<value>{_NAME}|(?:dr|prof|mrs?|ms)\.? [a-z][\w-]+){_BESIDES}{_END}",
    re.I,
)
_PET_IS: Final = regex(
    r"(?P<np>dog|cat|puppy|kitten|rabbit|hamster|horse|son|daughter|baby)(?: is|['’]s) (?:called|named) "
    r"(?P<value>(?!back\b|off\b|out\b|for\b|in\b|after\b|by\b)[a-zà-ÿ][\w'’-]+)[\s.!]*$",
    re.I,
)
_SHORT_ROLES: Final = {"bf": "boyfriend", "gf": "girlfriend", "hubby": "husband"}


def _of_ones_people(text: str) -> str | None:
    """Who somebody's boss or cat is, without the "my": "manager is Ines", "cat's called Pickle"."""
    role = _ROLE_IS.match(text)
    if role is not None and not _NO_THING.intersection(role["np"].casefold().split()):
        np = re.sub(r"[a-z]+$", lambda word: _SHORT_ROLES.get(word.group(), word.group()), role["np"].casefold())
        return f"My {np} is {role['value']}"
    pet = _PET_IS.match(text)
    return None if pet is None else f"My {pet['np'].casefold()} is called {pet['value']}"


_DOSE: Final = regex(
    r"(?P<drug>(?!about\b|only\b|contains\b|has\b|is\b)[a-z][a-z-]{3,}(?<!s)) (?P<dose>\d[\d.]* ?(?:mg|mcg|micrograms|"
    r"iu|units))"
    r"(?P<often>,? (?:every (?:day|morning|evening|night|\d+ hours)|(?:once|twice|three times) (?:a day|daily)|daily|"
    r"at (?:night|bedtime)|in the (?:morning|evening)|(?:after|before|with) (?:breakfast|lunch|dinner|food|meals)))$",
    re.I,
)
_ON: Final = regex(
    r"on (?P<what>(?:(?!the\b|a\b|my\b)[a-z-]+ ){0,2}?(?:tablets|pills|nights|days|earlies|lates|antibiotics|statins|"
    r"steroids|insulin|keto|premium|(?:maternity|paternity|parental|sick) leave|"
    r"[a-z]{3,}(?:pril|olol|aline|etine|statin|pine|prazole|mycin|cillin|profen|formin|parin|artan)))"
    r"(?:,? (?:every (?:day|morning|evening|night)|(?:once|twice|three times) (?:a day|daily)|daily|(?:this|all) "
    r"(?:week|month)|now|these days|again|still|since [a-z]+(?: \d+)?|at the moment))*$",
    re.I,
)
_EATING: Final = r"(?:vegan|vegetarian|veggie|pescatarian|teetotal|sober|gluten-free|dairy-free|meat-free|keto)"
_EATS: Final = regex(
    rf"(?:(?P<goes>going|gone|went|turned) )?(?P<diet>{_EATING})(?P<since> (?:since|from) (?!scratch\b)[\w ]{{3,20}}| "
    rf"now| again)?"
    r"[\s.!]*$",
    re.I,
)
_IN_PROGRESS: Final = regex(
    r"(?P<ing>(?:living|lodging|staying) (?:in|at|with) |working (?:(?:part|full)[ -]time )?(?:at|for|as) |"
    r"studying (?:[a-z]+ ){1,3}?at |renting (?:in|a|from) |(?:still )?driving (?:a|an|the|my) )"
    r"(?P<rest>(?:(?!(?:still$|is|was|are|be|costs?|would|takes|makes|sucks|has|have|today|tonight|tomorrow|"
    r"home)\b)[\w'’-]+[ ,]*){1,6}?)(?P<end>(?: ?still| ?now| ?these days)*)$",
    re.I,
)


_ANOTHER_VERB: Final = word_set(
    "sounds seems looks feels beats suits sucks rocks means helps teaches costs hurts isn't wasn't ain't can can't "
    "must should could might may will won't did does doesn't got gets kinda"
)
_A_CERTAIN_ONE: Final = regex(r"(?i) (?:the|my) $")
_NOT_ANY_MORE: Final = regex(
    r"(?:not|no longer) (?:an? )?(?!sure\b|only\b|really\b|much\b|it\b|that\b|this\b|long\b|happy\b|my\b|the\b)[\w'’-]+"
    r"(?: [\w'’-]+){0,3}?(?: any ?more| any longer)$|no longer (?:an? )?[\w'’-]+(?: [\w'’-]+){0,2}$",
    re.I,
)


def _state(text: str) -> str | None:
    """What somebody takes, eats or is about, as they note it down: "sertraline 50mg daily", "on nights"."""
    dose = _DOSE.match(text)
    if dose is not None:
        return f"I take {text}"
    on = _ON.match(text)
    if on is not None:
        return f"I'm {text}"
    eats = _EATS.match(text)
    if eats is not None and (eats["goes"] or eats["since"]):
        return f"I'm {eats['diet'].casefold()}{eats['since'] or ' now'}"
    doing = _IN_PROGRESS.match(text)
    if doing is None or any(word in _ANOTHER_VERB or predicates.is_third(word) for word in doing["rest"].split()):
        return None  # "living in Paris sounds great"
    if _A_CERTAIN_ONE.search(doing["ing"]) and not doing["end"] and not doing["ing"].casefold().startswith("still"):
        return None  # "driving the kids to school"
    return _me(f"still {text.removesuffix(' still')}" if doing["end"].endswith("still") else text)


def _short(text: str) -> str | None:
    amount = _AMOUNT.match(text)
    if amount is not None:
        return f"My {amount['np'].lower()} is{amount['adv']} {amount['value']}{amount['now'] or ''}"
    short = _SHORT.match(text)
    if short is not None and (attributes.noun(short["np"].casefold()) is not None or short["np"].casefold() in _BARE):
        return f"{short['my']} {short['np']} is {short['value']}{short['end']}{short['rest'] or ''}"
    mine = _IS_MINE.match(text)
    if mine is not None:
        return f"{mine['who']} is {mine['rest']}"
    bare = _BARE_IS.match(text)
    if bare is not None and (attributes.noun(bare["np"].casefold()) is not None or bare["np"].casefold() in _BARE):
        return f"My {bare['np'].lower()} is {bare['adv'].lower()}{bare['value']}"
    return None


# ------------------------------------------------ the "we" of a household

_APPOSED: Final = regex(
    rf"(?:i|we)(?:['’]ve| have|['’]m)? [^,;:?]{{2,60}}?(?P<value>{_NAME})(?: for [^,;:?]{{2,30}})?,? (?:so |"
    rf"and )?(?:that['’]s|"
    r"that is|which is|who is|who['’]s) (?:my|our) (?P<np>[a-z][a-z-]+(?: (?!now\b)[a-z][a-z-]+)?)(?P<now>"
    r" now)?[\s.!]*$",
    re.I,
)
_CHANGED: Final = regex(
    rf"(?:i|we)(?:['’]ve| have)? (?:just |finally |recently )*(?:switched|changed) our (?P<np>internet|broadband|"
    rf"electricity|"
    rf"power|gas|insurance|bank|phone|tv|mortgage|water)(?: provider)? (?:over )?to (?P<value>{_NAME}){_END}",
    re.I,
)
_HOUSEHOLD: Final = (
    r"(?:internet|broadband|news|electricity|power|gas|water|heating|groceries|vegetables|veg|bread|milk|eggs|coffee|"
    r"meat|fish|fruit|mail|insurance|mortgage|tv|phone)"
)
_OUR: Final = regex(
    rf"we(?P<now>(?: now| still| also)*) (?P<verb>drive an? {_NAME}|get our {_HOUSEHOLD} (?:from|through) {_NAME}|"
    rf"bank with {_NAME}|(?:have|['’]ve got) an? {_NAME}, that['’]s our [a-z]+|pay {_NUMBER} (?:in |"
    rf"of )?(?:{_AMOUNTS}))"
    r"(?P<end>(?: now| again| these days| a month)*)[\s.!]*$",
    re.I,
)
_COUPLE: Final = regex(
    rf"(?P<who>{_NAME}) and i (?P<adv>(?:just |finally |recently |now |have )*)"
    r"(?P<did>got (?:married|engaged|back together)|are (?:married|engaged|dating))"
    r"(?P<end>(?: (?:now|again|at last|finally|yesterday|today|(?:last|this) (?:week|weekend|month|year|spring|summer|"
    r"autumn|fall|winter|\w+day)|in [a-z]+(?: \d{4})?|on \w+day))*)[\s.!]*$",
    re.I,
)
_FAVOURITE: Final = regex(
    r"i (?:think|guess|believe) (?P<said>(?:that )?(?!if\b)[^,;:?]{2,60}? (?:is|are) my (?:new )?favou?rite "
    r"[a-z]+(?: now| these days)?)[\s.!]*$",
    re.I,
)
_TAGS: Final = worded(
    r"[\s,.!]*(?:\b(?:btw|by the way|lol|haha|fyi|tbh|fwiw|smh|ngl|tho|rn|fml|lmao|just so you know|"
    r"you know|you see|"
    r"would "
    r"you believe it|believe it or not|"
    r"my dear|dear|honestly|bless (?:him|her|them)|if you(?:'re| are) curious))"
    r"[\s.!)]*$",
    re.I,
)
_SMILES: Final = regex(r"[\s,.!]*[:;]-?[)D][\s.!)]*$", re.I)

# ------------------------------------------------ what is said of a thing that may be the user's

_THE: Final = regex(
    rf"(?:(?:the|our) (?P<new>new )?(?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+)?)|(?P<bare>[a-z][a-z-]+(?: [a-z][a-z-]+)?))"
    rf"(?: is|['’]s| has changed to| changed to| went up to| went down to| has gone up to| switched to|:) "
    rf"(?P<early>now |back to )?(?P<value>{_NAME}|{_NUMBER}|{_THING})(?P<now> now| again| these days|"
    rf" from now on)*[\s.!]*$",
    re.I,
)
_THERE_IS: Final = regex(
    rf"(?:there['’]s|there is|we have|we['’]ve got|they gave us|they gave me|an?|"
    rf"got) (?:an? )?new (?P<np>[a-z][a-z-]+(?: "
    rf"[a-z][a-z-]+)?)[:,;–—-]+ (?:it['’]s |called )?(?P<value>{_NAME}|{_NUMBER}|{_THING}|(?:dr|prof|mrs?|ms)\.? "
    rf"[a-z][\w-]+)[\s.!]*$",
    re.I,
)


@lru_cache(maxsize=1024)
def pointing(sentence: str, *, lead: int = 0) -> str | None:
    """What a sentence says a thing is by now, as of one of the user's: so only where they told of theirs before."""
    text = sentence[lead:].strip(" \t\n\"'“”*_-–—.!")
    if len(text) > MAX_READ or _is_unsure(text):
        return None
    match = _THERE_IS.match(text)
    if match is not None:
        return f"My {match['np'].lower()} is {match['value']} now"
    match = _THE.match(text)
    if match is None:
        return None
    np = (match["np"] or match["bare"]).lower()
    changed = match["new"] or match["early"] or match["now"] or re.search(r"chang|went|gone|switched", match.group())
    known = np.split()[-1] in _MATTERS or np in _POINTED or not _is_value(match["value"])
    return None if known or not changed else f"My {np} is {match['value']} now"


_POINTED: Final = word_set("it this that he she there here what who")
_DUE: Final = regex(
    r"(?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+)?) (?P<said>(?:is|are) (?:now |still )?due (?:on |by )?(?:the )?"
    rf"(?:\d|{WEEKDAY}|{MONTHS}|end of|next)[\w ,]{{0,30}})[\s.!]*$",
    re.I,
)
_AT_A_TIME: Final = regex(
    r"(?:(?:my|our|the) )?(?P<np>[a-z][a-z-]+(?: [a-z][a-z-]+){0,2})(?:: | ?[–—=] | - )"
    rf"(?P<value>(?P<day>(?:every )?{WEEKDAY}s?|{MONTHS} \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)? "
    rf"{MONTHS})?(?:(?:,? (?:at )?|(?<![\w ])(?:at )?)\d{{1,2}}(?:[:.]\d\d)?(?: ?(?:am|pm))?)?){_END}",
    re.I,
)


_TAKES_PLACE: Final = regex(
    r"(?:(?P<whose>my|our|the) )?(?P<np>(?:[a-z-]+ ){0,2}?[a-z-]+)(?: (?P<verb>is|are|starts?|begins?|happens?)|"
    r"(?P<short>['’]s)|(?P<late> (?:doesn['’]?t|don['’]?t|does not|do not) (?:start|begin)))(?P<said>(?: (?:now|still|"
    rf"always|usually))? (?:(?:at |until |till? |['’]til )?\d|on {WEEKDAY}|{WEEKDAY}s\b|every |daily\b|weekly\b|"
    rf"the (?:first|second|third|fourth|last) {WEEKDAY} )[\w:., ]{{0,40}})$",
    re.I,
)
_AT_HOURS: Final = regex(
    r"(?:my )?(?P<np>[a-z]+)(?P<value>(?: at| from)? \d{1,2}(?:[:.]\d\d)?(?: ?(?:am|pm))?(?= )|(?: on)? "
    rf"{WEEKDAY}s(?: (?:and|&) {WEEKDAY}s)?)(?: (?:usually|normally|as a rule|(?P<now>now|these days|from now on)))?$",
    re.I,
)


_SEEN_BY: Final = (
    r"(?:dentist|doctor|doctor['’]s|gp|vet|vet['’]s|optician|physio|physiotherapist|therapist|hairdresser|barber|"
    r"dermatologist|orthodontist|chiropractor|gyn(?:a?ecologist)?|cardiologist|midwife)"
)
_ENTRY: Final = regex(
    rf"(?P<what>(?:(?P<by>{_SEEN_BY})(?: appointment)?|(?P<meal>(?:[a-z]+ )?{MEALS})|"
    rf"(?:[a-z][\w'’-]+ ){{0,2}}?{EVENTS})"
    r"(?: (?:with|at|for|to|in) (?!on\b)[\w'’.&-]+(?: [\w'’.&-]+){0,2}?)?),? (?:on |this )?"
    rf"(?P<when>(?:{WEEKDAY}|(?:{MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{MONTHS})|"
    r"the \d{1,2}(?:st|nd|rd|th))(?:,? (?:at |@ ?)?(?:\d{1,2}(?:[:.]\d\d)?(?: ?(?:am|pm))?|noon|midnight))?"
    r"(?: (?:with|at|in) [\w'’.&-]+(?: [\w'’.&-]+){0,3})?)$",
    re.I,
)
"""An entry of a diary: "Dentist on Tuesday at 3pm", "Lunch with Sam Friday"."""


def _entered(text: str) -> str | None:
    """An entry of a diary as a sentence of the user's: "I have a dentist appointment on Tuesday at 3pm"."""
    entry = _ENTRY.match(text)
    if entry is None:
        return None
    what = f"{entry['what'][:1].lower()}{entry['what'][1:]}"
    if entry["by"] and "appointment" not in what.split():
        what = f"{what[: len(entry['by'])].removesuffix(chr(39) + 's')} appointment{what[len(entry['by']) :]}"
    article = "" if entry["meal"] else "an " if what[0] in "aeiou" else "a "
    return f"I have {article}{what} on {entry['when']}"


def _timed(text: str, lone: bool) -> str | None:
    """A thing and when it is, side by side: "release is due May 4", "team meeting = Thursday at 10"."""
    entered = _entered(text)
    if entered is not None:
        return entered
    place = _TAKES_PLACE.match(text)
    if place is not None:
        placed = _placed(place)
        if placed is not None:
            return placed
    hours = _AT_HOURS.match(text)
    if hours is not None and hours["np"].casefold() in _ROUTINE:
        return f"My {hours['np'].casefold()} is {hours['value'].strip()}{' now' if hours['now'] else ''}"
    due = _DUE.match(text)
    if due is not None and not _NO_THING.intersection(due["np"].casefold().split()):
        return f"The {due['np']} {due['said']}"
    at = _AT_A_TIME.match(text) if lone else None
    parts = [] if at is None else at["np"].casefold().split()
    if at is None or not at["day"] or _NO_THING.intersection(parts) or not _TIMED.intersection(parts[-1:]):
        return None
    every = at["day"].casefold().startswith("every ")
    return f"The {at['np']} is {'' if every else 'on '}{at['value']}"


def _placed(place: re.Match[str]) -> str | None:
    """What takes place when, with whose it is: "lectures don't start till 10" is "my lectures start at 10"."""
    np, said = place["np"].casefold(), place["said"].strip()
    head = np.split()[-1]
    if place["late"] is not None:
        if re.match(r"(?i)(?:now |still )?(?:until|till?|['’]til) ", said) is None or head not in _ROUTINE:
            return None
        verb = re.findall(r"[a-z]+", place["late"].casefold())[-1]
        said = re.sub(r"(?i)^((?:now |still )?)(?:until|till?|['’]til) ", r"\1at ", said)
        return f"My {np} {verb if head.endswith('s') else f'{verb}s'} {said}"
    verb = "is" if place["short"] else place["verb"].casefold()
    if head in _ROUTINE:
        return f"My {np} {verb} {said}" if place["whose"] is None or place["short"] else None
    if head not in _MEETS and not (head == "meeting" and np != head):
        return None
    timed = re.match(
        rf"(?i)(?:(?:now|still|always|usually) )?(?:at \d|on {WEEKDAY}|every |daily\b|weekly\b|the )", said
    )
    return f"The {np} {verb} {said}" if place["whose"] is None and timed is not None else None


_ROUTINE: Final = word_set(
    "gym swimming climbing ballet therapy break lunch shift shifts course lecture lectures class classes lesson "
    "lessons school training practice rehearsal choir "
    "football rugby netball hockey badminton basketball volleyball tennis squash yoga pilates judo karate zumba"
)
"""What somebody has at an hour or on a day, by the word alone."""
_OURS: Final = r"(?:team|kids|children|twins|baby|dogs?|cats?|family)"
_AT_OURS: Final = regex(
    rf"the (?P<rest>{_OURS} (?:(?:now|still|always|usually|only|also|both|all|no longer) )*"
    r"(?!(?:is|are|was|does|has|says|seems|looks|just|likes|loves|wants|needs|thinks|knows|hates|gets)\b)"
    r"(?:(?:doesn['’]t|don['’]t) (?=.* (?:any ?more|any longer)\b)[a-z]+|[a-z]+(?<!s)(?<!ed)s|go|"
    r"sleep|eat|play|take|attend|"
    r"live|work|meet|learn|speak|walk|stay) (?!it\b|this\b|that\b|them\b)[\w'’-]+ .*\w.*)$",
    re.I,
)
_FOR_OURS: Final = regex(
    rf"(?P<who>{_NAME} (?:(?:now|still|always|usually|also|no longer) )*"
    r"(?!(?:says|likes|loves|wants|was|knows|hates|sees|meets|hears|misses|finds|is(?! (?:now |still )?[a-z]+ing)|"
    r"has(?! (?:now )?taken over)|does)\b)(?:[a-z]+(?<!s)s|is (?:now |still )?[a-z]+ing|has (?:now )?taken over|"
    r"(?:doesn['’]t|can['’]t) (?=.* (?:any ?more|any longer)\b)[a-z]+)(?: (?:up|after|for|out|over|"
    r"care of|[a-z]+ing))?) the (?P<rest>"
    r"(?:kids|children|twins|baby|school (?:pick-?up|run))\b[^,;:]{0,60})$"
)


def _of_ours(text: str) -> str | None:
    """What is said of the team or the children, and of who does something for them: in somebody's own words, theirs."""
    ours = _AT_OURS.match(text)
    if ours is not None:
        return f"Our {ours['rest']}"
    done = _FOR_OURS.match(text)
    return None if done is None or not _is_somebody(done["who"]) else f"{done['who']} our {done['rest']}"


_BEDTIME: Final = regex(
    r"(?:(?P<new>new [a-z -]{2,20}: )|it['’]s |usually |i['’]m )?(?:lights out|(?:in |to )?bed|"
    r"asleep)(?: is)? (?:at|by|around) "
    r"(?P<hour>(?:(?:quarter|half|five|ten|twenty) (?:past|to) )?(?:\d{1,2}(?:[:.]\d\d)?|"
    r"[a-z]+)(?: ?(?:am|pm|o['’]clock))?)"
    r"(?: for me)?(?P<as>,? (?:as a rule|usually|every (?:single )?night|on weekdays|now|these days|"
    r"again|so [^,;]{3,60}))*$",
    re.I,
)


def _in_bed(text: str) -> str | None:
    """When somebody goes to bed, without the verb: "lights out at eleven for me"."""
    bed = _BEDTIME.match(text)
    last = "" if bed is None else bed["hour"].split()[-1].casefold()
    if bed is None or not (last[0].isdigit() or last in _HOURS or last in ("am", "pm")):
        return None
    changed = bed["new"] is not None or re.search(r"\b(?:now|these days|again)$", text) is not None
    return f"I go to bed at {bed['hour']}{' now' if changed else ''}"


_TIMED: Final = word_set(
    "meeting standup stand-up sync call lesson class practice rehearsal training seminar lecture deadline launch "
    "release demo review retro planning exam wedding party appointment interview dinner lunch"
)
"""What takes place, or has to be there, at a time."""
_MEETS: Final = word_set("all-hands standup stand-up sync retro retrospective planning refinement grooming scrum")
"""What a team has one of, whoever speaks of it."""


# ------------------------------------------------ all of it

_DAYS_FIRST: Final = worded(
    rf"^[a-z -]{{2,30}}(?: (?:is|are)|['’]s)?(?: now)?(?: on)? "
    rf"(?:{WEEKDAY}s\b|the (?:first|second|third|fourth|last) {WEEKDAY}\b)",
    re.I,
)
_FIRST: Final = regex(
    r"(?:lectures?|class(?:es)?|school|shifts?) (?:do|does)(?:n['’]?t| not) |on [a-z]|got an? |"
    r"(?:just |finally )?(?:knocked|swapped|traded|exchanged|replaced|migrated|gave "
    r"up|given up|came off|switched off|moved off) |(?:just |finally )?(?:binned|ditched|scrapped|cancelled|canceled|"
    r"dropped|quit|"
    r"dumped|sacked|jacked|packed|chucked|ripped|swore|killed|deleted|uninstalled|sold|done with|finished with|"
    r"through with) |(?:going |gone |went |turned )?(?:vegan|vegetarian|veggie|pescatarian|teetotal|sober|gluten-free|"
    r"dairy-free) (?:since|from|now)|(?:going|gone|went|turned) (?:vegan|vegetarian|veggie|pescatarian|teetotal|sober)|"
    r"the (?:team|kids|children|twins|baby|dogs?|cats?|family) |"
    r"not .* any|no longer |got (?:fired|sacked|laid|made|let) |chucked |lights out\b|(?:in |to )?bed\b|it['’]s "
    r"lights\b|new [a-z ]+: in bed|"
    r"still\b|back (?:in|at|with)\b|now (?:in|at|with)\b|currently\b|presently\b|(?:have )?been\b|rent\b|the (?:rent|"
    r"salary|mortgage|wage|pension|pay)\b|we\b|i\b(?=.*(?:that['’]s|that is|which is|who is|who['’]s) (?:my|our)\b)|"
    r"\w+(?: \w+)? and i\b|i (?:think|guess|believe)\b|(?:my|our) [a-z -]{2,30}['’]s\b|"
    r"[a-z-]+ing\b|[a-z-]+(?:['’]s|"
    r" is) (?:still|now|back to)\b|[a-z '’-]{2,40}?(?:: | [-–—=] | now | is .* now$| to |"
    r" [A-Z€$£]?\d)|(?:the |our |my )?new\b|(?:can['’]t|cannot|don['’]t|never|still) [a-z]+ \w|"
    r"[a-z]+(?: off| up| over| back| in)? (?:my|our|to|since|with|in|from|the|at|for)\b",
    re.I,
)
_OF_SOMETHING: Final = worded(
    r"^(?:(?:[a-z]+ )?(?:manager|boss|supervisor|tutor|landlord|landlady|dentist|gp|doctor|therapist|physio|boyfriend|"
    r"girlfriend|bf|gf|husband|wife|hubby|partner|mentor|dog|cat|puppy|kitten|rabbit|hamster|horse|son|daughter|baby)"
    r"(?: is|['’]s) |[A-ZÀ-ÖØ-Þ].* the (?:kids|children|twins|baby|dog|cat|school)|"
    r"[^\s].{0,60}(?:['’]s|(?-i: is| became| has become)) (?:(?:now|still) )?(?:my|our|the new)\b|"
    r"(?:[a-z-]+ ){0,2}(?:stand-?up|sync|retro|retrospective|scrum|refinement)\b|"
    r"[a-z-]+(?: [a-z-]+)? (?:is|are) (?:now |still )?due\b)",
    re.I,
)
"""What else begins so, where it names something or somebody."""


_NOBODY: Final = word_set(
    "kids children mom mum mummy mommy mother dad daddy father grandma grandpa granny work life music coffee food "
    "books cats dogs sleep friends family everyone everybody people team boss chocolate netflix wine pizza guys boys "
    "girls"
)
"""Who or what may stand first in a sentence with a capital, and is nobody's other half by that."""


def _is_somebody(name: str) -> bool:
    first = name.split()[0].casefold()
    return first not in _SENT and first not in _NOBODY


_WITH: Final = {
    "married": "married to", "engaged": "engaged to", "back together": "back together with", "dating": "dating",
}  # fmt: skip


@lru_cache(maxsize=1024)
def whole(sentence: str, *, lead: int = 0, after_self: bool = True, lone: bool = False) -> str | None:
    """A sentence in shorthand as a whole one; None for one that is whole, or of which that is not known.

    What only leads in takes `lead` characters; a sentence without a subject is the user's `after_self` only, and a
    label nobody knows only where it is a `lone` one, all that a message says.
    """
    text = sentence[lead:].strip(" \t\n\"'“”*_-–—.!")
    if not text or len(text) > MAX_READ:
        return None
    slip = _SLIP.match(text) if "why" in text else None
    if slip is not None:
        return f"{slip['said']}, not {slip['old']}"
    plainer = _as_spoken(text)
    if plainer != text:
        return whole(plainer, after_self=after_self, lone=lone) or plainer
    tag = _TAGS.search(text) or (_SMILES.search(text) if ":" in text or ";" in text else None)
    told = text[: tag.start()] if tag is not None else text
    is_short = _FIRST.match(told) or _OF_SOMETHING.match(told) or _DAYS_FIRST.search(told)
    made = _made(told, after_self, lone) if is_short else _entered(told)
    return made if made is not None or tag is None or not told.strip() else told


_DROPPED_G: Final = worded(
    r"\b(liv|work|play|study|driv|stay|learn|tak|us|see|dat|eat|drink|read|watch|runn|go|rent|train)in\b['’]?(?=\s)"
    r"(?!\s+(?:a|the)\s+\w+\s+(?:is|was)\b)",
    re.I,
)
_OUTTA: Final = worded(r"\boutta\b", re.I)
_DOING_NOW: Final = worded(
    r"(?<=[a-z])(?:,? (?:so|and|but)|,) (?P<ing>(?:now )?(?P<verb>[a-z]+ing)(?: (?!is\b|was\b)[\w'’-]+){0,5} "
    r"(?:now|these days|again|instead))[.!]?$",
    re.I,
)
_DOES_SO: Final = word_set(
    "living working studying driving using renting cycling playing learning taking eating drinking seeing dating "
    "commuting walking training"
)
_RN: Final = worded(r" rn\b(?=,|$)", re.I)
_NOT_MORE: Final = worded(
    r"\b(?P<be>is|are|am|['’]m|do|does) not more (?!than\b|of\b|or\b|like\b)(?=my\b|our\b|in\b|at\b|by\b|with\b|the\b)|"
    r"(?P<beside>, (?:and )?)not more (?=(?:on )?[A-Z])",
    re.I,
)
_MISPLACED: Final = worded(
    r"(?P<before>^|, (?:and |so |but )?)(?P<who>I|We|(?:My|Our) [a-z]+(?= [a-z]+s )) (?P<verb>[a-z]+) "
    r"(?P<adv>now|always|often|usually|sometimes|never) (?P<rest>(?!(?:and|that|because|if|when)\b)[^,;.]+)(?=[.!]?$)",
    re.I,
)
_MAY_BE_SAID_SO: Final = word_set(
    "drink eat use take play live work go study learn drive read wear speak see watch sleep train cook pay drinks eats "
    "uses takes plays lives works goes studies learns drives reads wears speaks sees"
)
"""Verbs before which, and not behind, an adverb of time stands."""


def _as_spoken(text: str) -> str:
    """A text with what is written as it is spoken, or said as other languages do, in the usual words and places."""
    if not _SPOKEN.asked_of(text):
        return text
    text = _DROPPED_G.sub(r"\1ing", text)
    text = _OUTTA.sub("out of", text)
    text = _RN.sub("", text)
    doing = _DOING_NOW.search(text)
    if doing is not None and doing["verb"].casefold() in _DOES_SO:
        text = f"{text[: doing.start('ing')]}I'm {text[doing.start('ing') :]}"
    more = _NOT_MORE.search(text)
    if more is not None and more["beside"]:
        text = f"{text[: more.start()]}{more['beside']}no longer {text[more.end() :]}"
    elif more is not None and more["be"].casefold() not in ("do", "does"):
        text = f"{text[: more.start()]}{more['be']} no longer {text[more.end() :]}"
    placed = _MISPLACED.search(text)
    if placed is None or placed["verb"].casefold() not in _MAY_BE_SAID_SO:
        return text
    now = placed["adv"].casefold() == "now"
    said = f"{placed['verb']} {placed['rest']} now" if now else f"{placed['adv']} {placed['verb']} {placed['rest']}"
    return f"{text[: placed.start()]}{placed['before']}{placed['who']} {said}{text[placed.end() :]}"


_SPOKEN: Final = OfWords((_DROPPED_G, _OUTTA, _RN, _DOING_NOW, _NOT_MORE, _MISPLACED), attrgetter("pattern"))
_SLIP: Final = regex(
    r"(?i)(?:(?:sorry|oops|wait|no|actually|correction)[,.:;!–—-]*\s+)?(?P<said>(?:i|my|we|our)\b[^,;:.]{4,100}), "
    r"(?:and |but )?(?:i )?(?:(?:don['’]t|do not) know|(?:have )?no idea|(?:i['’]m )?not sure) why i "
    r"(?:said|wrote|typed|told you) "
    r"(?P<old>(?!that\b|so\b|it\b)[^,;:.]{2,60})$"
)
"""What was told before was a slip: "I work for Acme, I don't know why I said Globex"."""


_NEW_PLAN: Final = regex(r"(?i)^new plan: ")
"""What is a plan from now on is none that may come to nothing."""


def _made(text: str, after_self: bool, lone: bool) -> str | None:
    if after_self and _NOT_ANY_MORE.match(text):
        return _me(text)
    if _is_unsure(_NEW_PLAN.sub("", text)):
        return None
    apposed = _APPOSED.match(text)
    if apposed is not None and attributes.noun(apposed["np"].casefold()) is not None:
        return f"My {apposed['np']} is {apposed['value']}{apposed['now'] or ''}"
    changed = _CHANGED.match(text)
    if changed is not None:
        return f"My {changed['np'].lower()} is {changed['value']} now"
    couple = _COUPLE.match(text)
    if couple is not None and _is_somebody(couple["who"]):
        did = _WITH[couple["did"].casefold().removeprefix("got ").removeprefix("are ")]
        be = "I'm" if couple["did"].casefold().startswith("are") else f"I {couple['adv'].replace('have ', '')}got"
        return f"{be} {did} {couple['who']}{couple['end']}"
    favourite = _FAVOURITE.match(text)
    if favourite is not None:
        return favourite["said"].removeprefix("that ")
    ours = _OUR.match(text)
    if ours is not None:
        return re.sub(r"(?i)\bour\b", "my", f"I{ours['now']} {ours['verb']}{ours['end']}").replace("I '", "I'")
    made = (
        _came_as(text)
        or _of_ours(text)
        or _in_bed(text)
        or _timed(text, lone)
        or _label(text, lone)
        or _short(text)
        or _of_ones_people(text)
        or _telegram(text, lone)
    )
    if made is not None or not after_self:
        return made
    return _without_i(text) or _elided(text) or (_state(text) if lone else None)


__all__ = ["pointing", "whole"]
