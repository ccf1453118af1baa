"""Questions that a value answers: where, when, who, what, how many, and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engram.english import verbs
from engram.english.replies import fitting, others, polar, saying
from engram.english.replies.polar import FLEETING, LASTING, OF_THE_MOMENT
from engram.english.replies.saying import BREAK, Asks, Told, with_value
from engram.english.replies.whose import (
    AUX,
    BE,
    WH,
    Subject,
    capital,
    is_named,
    is_third_person,
    may_be_verb,
    subject_of,
    turned,
    without_adverbs,
)
from engram.english.subjects import PERSONS
from engram.regex import regex
from engram.wordlists import word_set

_AHEAD: Final = regex(r"(?i)^(?P<prep>from|in|at|on|with|for|to|by) (?P<rest>(?:which|what|whom) .+)$")
_DIRECT: Final = regex(rf"(?i)^(?P<wh>{WH})(?P<mod>(?: (?!your?\b)[\w'’/-]+){{0,3}}?) (?P<aux>{AUX}) (?P<rest>.+)$")
_INDIRECT: Final = regex(
    rf"(?i)^(?P<wh>{WH})(?P<mod>(?: (?!you\b|your\b)[\w'’/-]+){{0,3}}?) (?P<rest>(?:you|your) .+)$"
)
_WHO_DOES: Final = regex(
    r"(?i)^who (?:else )?(?P<rest>(?!(?:is|are|was|do|did|does|else|would|can|could|should|will)\b)[a-z]+s? .+)$"
)
_AMONG: Final = regex(r"(?i)^(?:which|what) [\w -]+? (?:are|is) (?P<rest>(?:on|in|part of|at) your .+)$")
_DESCRIBED: Final = regex(r"(?i)^how (?:would|do) you (?:describe|call) (?P<what>your .+)$")
_OF_SEVERAL: Final = word_set("option options file files branch version approach slot of")
_ONE: Final = word_set("one ones")
_WISHES: Final = word_set("want need")
_WISHED_FOR_LONG: Final = word_set("learn become study")
_STRANDED: Final = word_set("in on at for with from to about of by into under as off towards through")
_WAITS: Final = regex(r"(?i)^(?:in|on|at|for|with|from|to|about) ")
_THEN: Final = regex(r"(?i)^(?:these|now|nowadays|currently|at|most|usually|every|this|right|when)$")
_BEHIND_PLACE: Final = regex(
    r"(?i)\s+(?:now|nowadays|these days|currently|at the moment|at present|usually|normally|typically|generally|mostly|"
    r"most of the time|most often|by default|in general|every (?:day|week|month|year|morning|night|evening|weekend)|"
    r"(?:in|for|on|at|with|to(?! (?:the )?[\w-]+$)|from|during|before|after|by|per|around|when|while|as|since|"
    r"this year|last year|a|each|of)\b.*)$"
)
_TIMES: Final = word_set("time day days date month year hour hours")
_NUMBERED: Final = word_set("size grade level year")
_CALLS: Final = word_set("name named call called calls")
_COUNTED: Final = regex(
    r"(?i)^(?:about |around |roughly |almost |nearly |over |just |only |exactly |like )?(?:\d[\d.,]*|a|an|one|two|"
    r"three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|hundred|zero|no|none|several|half|dozen|both|dozens)(?:\b|(?=\D))"
)
_NONE: Final = regex(r"(?i)^(?:none|zero|0)$")
_SOMEHOW: Final = word_set("take like spell get commute travel prefer drink takes likes pay")
_BY: Final = word_set("get commute travel pay")
_REACHED: Final = word_set("contacted reached informed notified paid")
_ON_FOOT: Final = word_set("walking cycling")
_MEASURES: Final = word_set("long tall heavy high")
_AMOUNTS: Final = word_set("big far large many often")
_ALSO_BE: Final = {
    "where": word_set("set based located born due from called living working"),
    "what": word_set("called named allergic working studying doing into made"),
}
_AT_WORK: Final = word_set("allergic working studying into")
_TO_YOU: Final = regex(r"(?i)(?<=\w) to you$")
_NO_NEWS: Final = regex(
    r"(?i)\b(?:issue|problem|question|goal here|plan for|status|errors?|idea|thoughts?|feeling|opinion|mood|take on|"
    r"main concern|concern|guess|answer|bet|(?<!credit )score|weapon|temperature|symptoms?|output|cart|going to|"
    r"(?:order|case|ticket|booking|tracking|confirmation|serial|reference|invoice|build) (?:number|id|code)|"
    r"weather like|pain|stay|rating|conclusion|hypothesis|excuse)\b"
)
_OF_A_CHOICE: Final = regex(
    r"(?i)^your (?:(?:first|final|last|personal|own|absolute) )?(?:favou?rite|choice|pick|vote|(?:next |first |"
    r"opening )?move)$"
)
_OF_STORIES: Final = regex(
    r"(?i)^the (?:[\w-]+ ){0,2}(?:issues?|problems?|errors?|bugs?|symptoms?|pain|story|book|novel|film|movie|chapter|"
    r"plot|scene|episode|poem|text|code|function|script|program|test|data|light|screen|page|app)$"
)
"""What is told of, or worked on, and is nobody's."""
_AT_HAND: Final = word_set("put use get add place set insert call write find run say spell pronounce translate define")
"""What is done with what is at hand, and by anybody: "Where do you put the verb?"."""
_IF_YOU: Final = regex(r"(?i)\b(?:if|when) you (?:add|divide|multiply|mix|press|click|take|run|type|open|could|had)\b")
_OF_HAND: Final = word_set("the a an if when")
_AT_ONCE: Final = word_set(
    "change get click type enter run see try expect write choose pick press fix miss forget receive add remove delete "
    "paste open install decide answer put"
)
"""What somebody did a moment ago, where they are asked what they did."""
_HOW_WAS: Final = regex(r"(?i)\b(?:day|week|weekend)\b")
_YOUR: Final = regex(r"(?i)\byour?\b")
_MOST_OF_A_NAME: Final = 3  # words
_LEAST_NAME: Final = 4  # letters of a thing that is asked about without an article: "choir"
_FROM: Final = regex(r"(?i)^(?:from|in|at|to) ")
_FOR_A_LIVING: Final = frozenset(("", "for a living", "for work", "professionally", "these days", "now", "job-wise"))
_AIMS: Final = word_set("goal goals plan plans dream dreams aim aims resolution resolutions target ambition ambitions")
_WANTS_TO: Final = regex(
    r"(?i)^(?:i|we)(?: (?:want|plan|hope|aim|intend|would (?:like|love))|['’]d (?:like|love)|['’]?m (?:planning|"
    r"hoping|aiming)) to (?P<what>.+)$"
)
_ON_OCCASION: Final = word_set("on in at when after before during")
_I: Final = regex(r"(?i)^(?:i|we) ")
_PERSON_IS: Final = regex(r"(?i)^(?:he|she|they)(?:['’]s| is|['’]re| are| works as)\s+(?P<what>.+)$")
_WORKS: Final = word_set("work run teach sell study manage drive own design build write")
_DOES: Final = regex(
    r"(?i)^(?:i|we) (?!(?:am|was|are|were|do|did|don['’]t|have|had|just|used|got|work|want|would|can|can['’]t|could|"
    r"will|may|might|wish|think|guess|mean|need|hate|love|like|also|really|currently|live|said|told|know)\b)[a-z]+ \w"
)
_IS_AT: Final = word_set("retired unemployed self-employed freelance freelancing studying")
_WHY: Final = regex(r"(?i)^why (?P<rest>(?:do|are|did) you .+)$")
_BECAUSE: Final = regex(r"(?i)^(?:because|cause|cos|since|as) ")
_REASON: Final = regex(r"(?i)^(?:for|to|because of) ")
_OWN: Final = regex(r"(?i)^(?:my|our|the|his|her) [\w-]+ \w+")
_THINGS: Final = regex(
    r"(?i)^(?:full |first |last |nick|sur)?(?:name|email|e-mail|email address|phone number|phone|age|birthday|date of "
    r"birth|address|time ?zone|city|job title|role|company|team|shoe size|t-shirt size|size|height|weight|blood type|"
    r"diet|budget|favou?rite .+)$"
)
_THING_ALONE: Final = regex(r"(?i)^(?:your |(?=favou?rite))(?:[\w'’-]+ ){0,4}[\w'’-]+$")


def read(text: str) -> Asks | None:
    """What a question with a question word makes of its answer."""
    ahead = _AHEAD.match(text)
    if ahead is not None:
        text = f"{ahead['rest']} {ahead['prep'].casefold()}"
    among = _AMONG.match(text)
    if among is not None:
        rest = turned(among["rest"])
        return with_value(lambda value: f"{capital(value)} {'are' if ' and ' in value else 'is'} {rest}")
    described = _DESCRIBED.match(text)
    if described is not None:
        return about("what", "", "is", described["what"].split())
    direct = _DIRECT.match(text)
    if direct is not None:
        wh, mod = direct["wh"].casefold(), direct["mod"].strip()
        return _direct(
            wh, mod, direct["aux"].casefold(), direct["rest"].split(), lasting=LASTING.search(text) is not None
        )
    indirect = _INDIRECT.match(text)
    if indirect is not None:
        return _indirect(indirect["wh"].casefold(), indirect["mod"].strip(), indirect["rest"].split())
    someone = _WHO_DOES.match(text)
    if someone is None or _is_of_once(someone["rest"]):
        return None
    return with_value(lambda value: _does(value, turned(someone["rest"])))


def _is_of_once(rest: str) -> bool:
    """Whether it is asked who did something once that is nobody's here: "Who took the notes?"."""
    verb, *more = rest.split()
    return polar.points(more) or (not is_third_person(verb) and verbs.is_past(verb) and _YOUR.search(rest) is None)


def _does(value: str, rest: str) -> str | None:
    """Who does what a question asks; None where the reply may have a verb of its own."""
    several = len(value.split()) > _MOST_OF_A_NAME and " and " not in value
    may_do = several or any(map(is_third_person, value.split()[1:])) or value.split()[-1].casefold() == "everything"
    if may_do:
        return None
    verb, *more = rest.split(maxsplit=1)
    return " ".join([capital(value), verbs.base_form(verb) if " and " in value else verb, *more])


def _direct(wh: str, mod: str, aux: str, tokens: Sequence[str], *, lasting: bool) -> Asks | None:
    if not _OF_SEVERAL.isdisjoint(mod.casefold().split()):
        return None
    if aux in BE:
        return about(wh, mod, aux, tokens)
    subject = subject_of(tokens, may_be_verb)
    if subject is None or (tokens[0].casefold() == "the" and wh not in ("when", "where", "how")):
        return None
    adverbs, rest = without_adverbs(tokens[subject.size :])
    if not rest or polar.is_called(rest) or _OF_STORIES.match(subject.text) or polar.points(rest[1:]):
        return None
    verb, behind = rest[0].casefold(), rest[1:]
    if verb == "last" and behind:  # "When did you last deploy?"
        return None
    if subject.first and _is_at_hand(wh, aux, verb, behind):
        return None
    wishes = verb in _WISHES and not (behind[:1] == ["to"] and behind[1:2] and behind[1] in _WISHED_FOR_LONG)
    one_of = verb in ("prefer", "like") and mod.casefold() in _ONE and behind[:1] != ["to"]
    if verb in FLEETING or verb == "would" or (wishes and not lasting) or one_of:
        return None
    if verb == "do" and wh == "what" and not mod:
        return _occupation(subject, behind, over=aux == "did")
    held = "".join(f"{one} " for one in adverbs if one not in ("ever", "actually"))
    form = f"{subject.have(aux)} {rest[0]}" if aux in ("have", "has") else subject.does(aux, verb)
    return _slotted(wh, mod, subject.who, f"{held}{form}", behind)


def _is_at_hand(wh: str, aux: str, verb: str, behind: Sequence[str]) -> bool:
    """Whether somebody is asked what they do, or just did, with what is at hand: "What did you change?"."""
    if wh == "what" and aux == "did" and verb in _AT_ONCE and not behind:
        return True
    if wh == "which" and verb in ("open", "enter", "select", "click"):
        return True
    bare = wh in ("what", "how") and verb == "get" and not behind
    return (
        bare
        or _IF_YOU.search(" ".join(behind)) is not None
        or bool(verb in _AT_HAND and behind and behind[0].casefold() in _OF_HAND)
    )


def _indirect(wh: str, mod: str, tokens: Sequence[str]) -> Asks | None:
    """What an indirect question makes of its answer: "where you live", "what your name is"."""
    first, last = tokens[0].casefold(), tokens[-1].casefold()
    if first == "your" and last in ("is", "are", "was"):
        return about(wh, mod, last, tokens[:-1])
    if first == "you" and tokens[1].casefold() in ("are", "were"):
        return about(wh, mod, tokens[1].casefold(), ["you", *tokens[2:]])
    subject = subject_of(tokens, may_be_verb)
    verb = "" if subject is None or len(tokens) <= subject.size else tokens[subject.size].casefold()
    if (
        subject is None
        or not may_be_verb(verb)
        or verb in FLEETING
        or verb in _WISHES
        or verb in ("like", "would", "prefer", "love")
    ):
        return None
    behind = tokens[subject.size + 1 :]
    if verb == "do" and wh == "what":
        return _occupation(subject, behind)
    return _slotted(wh, mod, subject.who, tokens[subject.size], behind)


# ------------------------------------------------ what something is


def about(wh: str, mod: str, aux: str, tokens: Sequence[str]) -> Asks | None:
    """What a question with "is" or "are" makes of its answer, which says what, where or when something is."""
    first = tokens[0].casefold()
    if first == "you":
        return _about_you(wh, mod, aux, tokens[1:])
    bare = len(tokens) == 1 and first.isalpha() and len(first) >= _LEAST_NAME and first not in OF_THE_MOMENT
    asks_of_it = wh == "when" or (wh in ("where", "which", "what") and mod)
    if first not in ("your", "the") and not is_named(tokens) and not (bare and asks_of_it):
        return None
    of_choice = wh in ("what", "which") and _OF_A_CHOICE.match(" ".join(tokens))
    if first == "yours" or of_choice or polar.is_called(tokens):
        return None
    ends = _ALSO_BE["where" if wh in ("where", "when", "how") else "what"]
    size = next((at for at in range(2, len(tokens)) if tokens[at].casefold() in ends), len(tokens))
    thing, rest = _TO_YOU.sub("", " ".join(tokens[:size])), tokens[size:]
    theirs = _YOUR.search(thing) or (wh == "who" and any(one[:1].isupper() for one in tokens[1:size]))
    if first == "the" and not theirs and wh not in ("when", "where"):
        return None
    if _NO_NEWS.search(thing) or (wh == "how" and _HOW_WAS.search(thing)):
        return None
    who, more = capital(turned(thing)), rest[0].casefold() if rest else ""
    if more in ("called", "named"):
        return with_value(lambda value: f"{who} {aux} {more} {value}")
    if more in _AT_WORK:
        return _slotted("what", mod, who, f"{aux} {rest[0]}", rest[1:])
    if more in ("doing", "made"):
        return None
    if not rest and len(tokens) > 2 and tokens[-1].casefold() in _STRANDED:  # "what grade is your son in"
        return None if not mod else _slotted(wh, mod, capital(turned(" ".join(tokens[:-1]))), aux, tokens[-1:])
    is_so = f"{who} {aux}{f' {turned(chr(32).join(rest))}' if rest else ''}"
    if wh == "how":
        return _measured(mod.casefold(), f"{who} {aux}")
    timed = wh == "when" or mod.casefold() in ("time", "day", "date")
    put = with_value(lambda value: f"{is_so} {_fitted('when' if timed else wh, mod, is_so, value)}")
    aims = not rest and not _AIMS.isdisjoint(thing.casefold().split())
    return lambda said: put(said) or (_aimed(is_so, said) if aims else None, others.as_told(who, said))


def _aimed(is_so: str, said: str) -> str | None:
    """What somebody wants, as what their goal is: "My goal is to run a marathon"."""
    wish = _WANTS_TO.match(said)
    return None if wish is None else f"{is_so} to {wish['what']}"


def _about_you(wh: str, mod: str, aux: str, rest: Sequence[str]) -> Asks | None:
    am = "was" if aux in ("was", "were") else "am"
    if wh == "how":
        return _measured(mod.casefold(), f"I {am}") if not rest and mod.casefold() in ("old", "tall") else None
    if not rest or rest[0].casefold() in OF_THE_MOMENT - {"planning"}:
        return None
    if wh not in ("where", "when"):
        return _slotted(wh, mod, "I", f"{am} {rest[0]}", rest[1:])
    is_so = f"I {am} {turned(' '.join(rest))}"
    if wh == "where" and rest[-1].casefold() in ("from", "at", "in", "to"):
        return with_value(lambda value: f"{is_so} {_FROM.sub('', value)}")
    return with_value(lambda value: f"{is_so} {_fitted(wh, mod, is_so, value)}")


def _measured(mod: str, is_so: str) -> Asks | None:
    """How old, long or often something is."""
    if mod == "old":
        return with_value(lambda value: (age := fitting.aged(value)) and f"{is_so} {age}")
    if mod in _MEASURES:
        return with_value(lambda value: f"{is_so} {value} {mod}")
    return with_value(lambda value: f"{is_so} {value}") if mod in _AMOUNTS else None


def named_alone(text: str) -> Asks | None:
    """What a thing alone makes of its answer, said with the voice raised: "Your email address?"."""
    if not _THING_ALONE.match(text) and not _THINGS.match(text):
        return None
    thing = text if text.casefold().startswith("your ") else f"your {text[0].lower()}{text[1:]}"
    known = _THINGS.match(thing.removeprefix(thing[:5])) or thing.split()[-1].casefold() in PERSONS
    return about("what", "", "is", thing.split()) if known else None


def _fitted(kind: str, mod: str, head: str, value: str) -> str:
    if kind == "where":
        return fitting.placed(head, value)
    return fitting.timed(mod, value) if kind == "when" else value


# ------------------------------------------------ what somebody does


def _occupation(subject: Subject, behind: Sequence[str], *, over: bool = False) -> Asks | None:
    """What somebody does for a living, or on an occasion."""
    when = turned(" ".join(behind))
    if over and (subject.first or any(map(is_third_person, behind))):
        return None
    if behind and behind[0].casefold() in _ON_OCCASION and subject.first:
        return lambda said: (_on_occasion(said, when),)
    if " ".join(behind).casefold() not in _FOR_A_LIVING:
        return None

    def asks(said: str) -> Told:
        if subject.first and behind[:1] == ["for"] and _DOES.match(said):
            return (_on_occasion(said, "for a living"),)
        person = None if subject.first else _PERSON_IS.match(said)
        value = saying.value(said if person is None else person["what"])
        if value is None:
            return ()
        return (f"{subject.who} was {_with_article(value)}",) if over else (_works(subject, value),)

    return asks


def _on_occasion(said: str, when: str) -> str | None:
    if not _I.match(said):
        return None
    return f"{capital(when)} {said}" if "," in said else f"{said} {when}"


def _works(subject: Subject, value: str) -> str:
    who, (first, *rest) = subject.who, value.split(maxsplit=1)
    first = first.casefold()
    works = "work" if subject.first else "works"
    if first in ("in", "at", "for"):
        return f"{who} {works} {value}"
    if first.endswith("ing"):
        return f"{who} {works} in {value}"
    if first in map(verbs.third_person, _WORKS):
        return f"{who} {value}"
    if first in _WORKS:
        return f"{who} {value}" if subject.first else f"{who} {' '.join([verbs.third_person(first), *rest])}"
    am = "am" if subject.first else "is"
    return f"{who} {am} {value if first in _IS_AT else _with_article(value)}"


def _with_article(value: str) -> str:
    """What somebody is, with the article that goes before it."""
    if fitting.is_determined(value):
        return value
    return f"{'an' if value[:1].casefold() in 'aeiou' else 'a'} {value}"


def _slotted(wh: str, mod: str, who: str, form: str, rest: Sequence[str]) -> Asks | None:
    """What is said where a value is put into the question's place: behind the verb, or a preposition that waits."""
    behind = turned(" ".join(rest)).split()
    if wh == "how":
        return _how(mod, who, form, behind)
    kind = "when" if mod.casefold() in _TIMES else wh
    place = _place(kind, form, behind)
    head, tail = " ".join([who, form, *behind[:place]]), " ".join(behind[place:])
    waits = place > 0 and behind[place - 1].casefold() in _STRANDED
    noun = mod.split()[-1] if mod and mod.split()[-1].casefold() in _NUMBERED and wh in ("what", "which") else ""

    def put(value: str) -> str:
        value = _WAITS.sub("", value) if waits else _fitted(kind, mod, head, value)
        if noun and _COUNTED.fullmatch(value):
            value = f"{noun} {value}"
        if not tail:
            return f"{head} {value}"
        main, *more = BREAK.split(value, maxsplit=1)
        return f"{head} {main} {tail}{f', {more[0]}' if more else ''}"

    return with_value(put)


def _place(kind: str, form: str, behind: Sequence[str]) -> int:
    """Behind how many of the words that follow the verb a value goes."""
    stranded = next(
        (
            at + 1
            for at in range(len(behind) - 1, -1, -1)
            if behind[at].casefold() in _STRANDED and (at + 1 == len(behind) or _THEN.match(behind[at + 1]))
        ),
        None,
    )
    if kind in ("where", "when"):
        text = f" {' '.join(behind)}"
        tail = _BEHIND_PLACE.search(text) if kind == "where" and stranded != len(behind) else None
        return len(behind) if tail is None else len(text[: tail.start()].split())
    if "be" in behind and behind[behind.index("be") - 1] == "to":
        return behind.index("be") + 1
    if stranded is not None:
        return stranded
    if form.split()[-1].casefold() in _CALLS:
        return len(behind)
    return 2 if behind[:1] == ["to"] and len(behind) > 1 else 0


def _how(mod: str, who: str, form: str, rest: Sequence[str]) -> Asks | None:
    """How many, how much, how long, how often, how."""
    first, *more = mod.casefold().split() or [""]
    behind = f" {' '.join(rest)}" if rest else ""
    if first == "many" and more:
        things = " ".join(mod.split()[1:])
        return lambda said: (_counted(said, f"{who} {form}", things, behind),)
    if first in ("early", "late"):
        return with_value(lambda value: f"{who} {form}{behind} {fitting.timed(mod, value)}")
    if first == "long" and (form.split()[0] in ("have", "has") or "been" in form):
        return with_value(lambda value: f"{who} {form}{behind} {fitting.lasted(value)}")
    if first in ("often", "far", "long"):
        return with_value(lambda value: f"{who} {form}{behind} {value}")
    if first in ("much", "many"):
        of = " ".join(mod.split()[1:])
        return with_value(lambda value: f"{who} {form} {_amount(value, of)}{behind}")
    verb = form.split()[-1]
    if first or not rest or verb not in _SOMEHOW:
        return None
    by = verb in _BY or rest[-1].casefold() in _REACHED
    return with_value(lambda value: f"{who} {form}{behind} {_by(value) if by else value}")


def _amount(value: str, of: str) -> str:
    """How much of something: "40 grams of sugar"."""
    measured = of and len(value.split()) > 1 and of.casefold() not in value.casefold() and not BREAK.search(value)
    return f"{value} of {of}" if measured and _COUNTED.match(value) and not fitting.says_when(value) else value


def _by(value: str) -> str:
    """How somebody gets somewhere, or pays: by what."""
    bare = len(value.split()) == 1 and value.casefold() not in _ON_FOOT and not value.endswith("ing")
    return f"by {value}" if bare else value


def _counted(said: str, head: str, things: str, behind: str) -> str | None:
    """How many things, with what is said of them: "two kids, a boy and a girl"."""
    value = saying.value(said)
    number = None if value is None else _COUNTED.match(value)
    if value is None or number is None:
        return f"{head} no {things}{behind}" if _NONE.match(said) else None
    left = value[number.end() :]
    if left and left[0] not in ", ":
        return None
    listed, left = left.lstrip().startswith(","), left.strip(" ,")
    left = left[len(things) :].lstrip(" ,") if left.casefold().startswith(things.casefold()) else left
    if left and not listed and not fitting.says_when(left):
        return f"{head} {value}{behind}"
    return f"{head} {number.group().strip()} {things}{behind}{f', {left}' if left else ''}"


# ------------------------------------------------ why


def reason(text: str) -> Asks | None:
    """What a question for a reason makes of its answer: it takes for granted what it asks the reason of."""
    match = _WHY.match(text)
    asks = None if match is None else polar.read(match["rest"])
    granted = next(iter(asks("yes")), None) if asks is not None else None
    return None if granted is None else (lambda said: _because(granted, said))


def _because(granted: str, said: str) -> Told:
    if saying.after_yes(said) is not None or saying.after_no(said) is not None:
        return ()
    told = _BECAUSE.sub("", said)
    if saying.is_clause(told) or _OWN.match(told):
        return (f"{granted} because {told if told[0] == 'I' else told[0].lower() + told[1:]}", told)
    return (f"{granted} {said}",) if _REASON.match(said) else ()
