"""Orders: how somebody wants things done every time, and what ends or changes such an order. English; pure.

"Use tabs in Makefiles" holds until it is taken back, and people take it back in few words: "no more tabs", "drop the
tabs rule", "you can use spaces again". `is_standing()` tells an order for good from a thing to do now, `read()` takes
one apart, `change()` reads what a sentence says has become of one, and `follows()` finds whether that is said of a
certain order. Two orders on different things never end each other: what names too little is of none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from engram.english import brands
from engram.english.claims import stem
from engram.english.feasts import WEEKDAY
from engram.regex import regex
from engram.wording import OfWords, worded
from engram.wordlists import word_set

MAX_READ: Final = 200  # characters


class Order(NamedTuple):
    """An order taken apart: whether something is to be done, the verb, what it is done with, and for what or when."""

    is_to_do: bool
    verb: str
    what: tuple[str, ...]
    purpose: tuple[str, ...]
    condition: tuple[str, ...]
    object: str  # what, as it is written

    @property
    def all(self) -> frozenset[str]:
        """The stems of all its words that say something."""
        return frozenset((self.verb, *self.what, *self.purpose, *self.condition))


class Change(NamedTuple):
    """What a sentence says of an order: that it ends, that what it forbade may be done, or what takes its place."""

    kind: Literal["stop", "drop", "allow", "instead"]
    named: tuple[str, ...] = ()  # the stems by which it names the order
    old: str = ""  # what is replaced, as it is written
    new: str = ""
    purpose: tuple[str, ...] = ()


# ------------------------------------------------ words

_TOKEN: Final = regex(r"[^\W_]+(?:['’.][^\W_]+)*[+#]*")
_HUMP: Final = regex(r"(?<=[a-z])(?=[A-Z])|(?<=[a-z]{3})(?=case\b)")
_SAYS_NOTHING: Final = word_set(
    "a an the my our your their its this that these those some any all every each of and or please always never only "
    "ever just again now anymore more longer me us you i we user user's to do be is are it them there so too also "
    "whenever when before after in on at with by as for from"
)
_LIGHT: Final = frozenset(
    map(stem, word_set("use have add put write make do give include get go follow apply want need book schedule touch"))
)
"""Verbs that say little more than that something is there: who may use emojis is free to write some."""
_RULE: Final = (
    r"(?:rules?|things?|polic(?:y|ies)|conventions?|requirements?|restrictions?|limits?|limitations?|bans?|guidelines?)"
)


def _stems(text: str) -> tuple[str, ...]:
    """The stems of the words of a text that say something, the parts of a word made of several each."""
    parts = _TOKEN.findall(_HUMP.sub(" ", text).replace("_", " "))
    found = (part.casefold().replace("’", "'") for part in parts)
    return tuple(stem(word.replace("'ing", "")) for word in found if word not in _SAYS_NOTHING)


_LEAD: Final = regex(
    r"(?i)^\W*(?:(?:ok|okay|actually|please|pls|oh|hey|also|and|but|so|well|btw|right|yes|no(?=,)|now|from now "
    r"on|from here on|"
    r"going forward|always|by default|in general|generally|you should|you must|you have to|you need to|we should|"
    r"make sure to|make sure you|remember to|be sure to)\b[,: ]+)*"
)
_TAIL: Final = worded(
    r"(?i)(?:,? (?:please|pls|thanks|from now on|from here on(?: out)?|going forward|in (?:the )?future|at all times|"
    r"always|again|now|any ?more|any longer|these days|instead|by default|once more|after all|ok|okay)\b)+[\s.!]*$"
)
_FOR_GOOD: Final = regex(
    r"(?i)\b(?:from now on|from here on|going forward|in (?:the )?future|instead|again|now|these days|any ?more|"
    r"any longer)\b|^\W*(?:(?:ok|okay|no|please|actually)[, ]+)*(?:go|going|switch|change|move|revert|come) "
    r"(?:back |over )*to\b"
)
_PASSING: Final = worded(
    r"(?i)\b(?:for (?:now|today|tonight|the moment|this|that|once)|this (?:time|once|one|file|pr|commit|branch|week|"
    r"month|sprint|morning|afternoon|evening|task)|today|tonight|tomorrow|yesterday|until|till|just once|temporarily|"
    r"maybe|perhaps|probably|might|here)\b"
)


def _passes(sentence: str) -> bool:
    """Whether a sentence asks, or speaks of what is to be done once."""
    return "?" in sentence or _PASSING.search(sentence) is not None


def _core(sentence: str) -> str:
    """A sentence without what leads in to it, and without what only says that it is for good."""
    return _TAIL.sub("", _LEAD.sub("", sentence.strip(" \t\n\"'"), count=1)).strip(" .!,;:")


# ------------------------------------------------ an order taken apart

_NEVER: Final = regex(r"(?i)^(?:never|do not|don['’]t|avoid|no(?: more)?|stop|quit|not)\b\s*(?:ever )?")
_NOUN_FIRST: Final = regex(r"(?i)^(?:avoid|no(?: more)?)\b")
_PART: Final = regex(
    r"(?i)\b(?P<how>for|in|on|as|at|to|under|below|over|with|within|between|inside|across|from|by|before|after|when|"
    r"whenever|unless|without|if|until|instead of|rather than)\b"
)
_WHEN: Final = word_set("before after when whenever unless without if until")


@lru_cache(maxsize=4096)
def read(fact: str) -> Order | None:
    """An order taken apart; None for a text that is none. Whether it is one for good is not asked."""
    text = _core(fact)
    if len(text) > MAX_READ or not text or _NO_ORDER.match(text):
        return None
    denied = _NEVER.match(text)
    rest = text if denied is None else text[denied.end() :]
    if denied is not None and _NOUN_FIRST.match(text):
        verb, said = "use", rest
    else:
        verb, _, said = rest.partition(" ")
    if denied is None and not (_is_imperative(verb) or _FOR_ORDER.match(fact)):
        return None
    parts = list(_PART.finditer(said))
    first = parts[0].start() if parts else len(said)
    object_, purpose, condition = said[:first], "", ""
    what = object_
    ends = [part.start() for part in parts[1:]] + [len(said)]
    for part, end in zip(parts, ends, strict=bool(parts)):
        words = said[part.end() : end]
        if part["how"].casefold() == "with":
            what += f" {words}"
        elif part["how"].casefold() in _WHEN or condition:
            condition += f" {words}"
        else:
            purpose += f" {words}"
    if not _stems(what) and purpose and denied is None:
        what, object_, purpose = purpose, purpose, ""
    parts_of = (_stems(what), _stems(purpose), _stems(condition))
    return Order(denied is None, stem(verb.casefold()), *parts_of, object_.strip())


_FOR_ORDER: Final = regex(r"(?i)^\W*(?:always|never|do not|don['’]t|please)\b")
_NO_ORDER: Final = regex(
    r"(?i)^(?:i|i['’]m|we|we['’]re|my|our|the|user|user['’]s|he|she|they|it|this|that|there|you|your|what|who|when|"
    r"where|how|why|yes|no one|nobody|no problem|no idea|no worries|no need|never mind)\b"
)
_IMPERATIVES: Final = word_set(
    "use prefer follow stick go favour favor keep wrap limit cap make hold sign write name format put leave store save "
    "send file label tag prefix indent order sort translate address answer reply respond log cc bcc book mark ask "
    "check warn remind run add include squash rebase merge commit push document test deploy call tell give show list "
    "summarize summarise default round quote cite attach copy reserve schedule start end begin wake ping post update "
    "review move create open close explain archive forward notify alert publish sync water feed turn lock invoice"
)


def _is_imperative(verb: str) -> bool:
    return verb.casefold() in _IMPERATIVES


# ------------------------------------------------ orders for good

_ANY: Final = (
    r"(?!(?:the|this|that|these|those|a|an|it|its|them|some|more|less|fewer|another|other|different|one|"
    r"both|your|his|her|their|me|him|us|you|something|anything|everything|only|just|here|there|what|whatever)\b)"
)
_THING: Final = rf"{_ANY}[\w'’.+#/*-]+(?: (?!(?:the|this|that|these|those|a|an|it)\b)[\w'’.+#/*-]+){{0,3}}"
_PLURAL: Final = (
    rf"(?:(?:all|any|every|new|my|our)(?: (?:of )?(?:my|our|the|new))? )?{_ANY}(?:[\w'’/-]+ ){{0,2}}?[\w'’/-]+s"
)
_OURS: Final = rf"(?:all|any|every|new|my|our) (?:(?:of )?(?:my|our|the|new) )?{_ANY}(?:[\w'’/-]+ ){{0,2}}?[\w'’/-]+s"
_SHAPES: Final = (
    r"(?:keep|sign|write|name|format|put|leave|store|save|file|label|tag|prefix|indent|sort|translate|address|log|cc|bcc|"
    r"mark|quote|cite|round|document)"
)
_OF: Final = r"(?:for|in|as|on|over|instead of|with|within|inside|when|to)"
_EVER: Final = (
    r"(?:(?:before|after|with|at|on) (?:every|each|any) \w+|every (?:\w+ )?(?:day|week|month|morning|evening|"
    r"night|time|"
    rf"{WEEKDAY}|weekday|weekend|sprint|quarter|hour)|each (?:day|week|month|morning|evening|time)|"
    rf"(?:on|in|at) (?:the )?(?:{WEEKDAY}s|weekends|weekdays|mornings|evenings|afternoons|nights)|"
    r"(?:daily|weekly|monthly|hourly|nightly|fortnightly))"
)
_STANDING: Final = OfWords(
    regex(rf"(?i)^{one}$")
    for one in (
        (
            rf"(?:use|prefer|favou?r|follow|stick (?:to|with)|go with|avoid|default to) {_THING} {_OF} (?:all |any |"
            rf"every )?{_THING}"
        ),
        rf"(?:use|prefer|avoid) {_ANY}[a-z][\w'’-]*(?: [\w'’-]+)?",
        (
            rf"(?:keep|wrap|limit|cap|make|hold) {_PLURAL} (?:under|below|at|to|within|shorter than|less than|no "
            rf"longer than|max)"
            r"\b.*\d.*"
        ),
        rf"{_SHAPES} {_OURS} (?:(?:in|into|as|with|under|by|after|to) .+|(?:free|clear|out|off|open|closed)\b.*)",
        rf"{_SHAPES} {_PLURAL} (?:in|as|with|under) (?!the\b|an?\b|my\b|your\b|our\b|\d).+",
        rf"(?:write|run|do|put|list|give|show|answer|reply) {_ANY}[\w'’-]+(?: [\w'’-]+)? (?:first|last)",
        (
            r"(?:ask|check with|warn|tell|notify|ping|consult) (?:me|us)(?: first)? (?:before|whenever) (?:you "
            r")?(?:\w+ing\b.*|.{4,})"
        ),
        r"(?:cc|bcc|copy) .+ (?:on|in) (?:all|every|any) .+",
        r"(?:start|begin|end|finish|open|close|sign) (?:every|each|all) .+",
        rf"{_ANY}[a-z'’-]+ {_PLURAL} (?:automatically|everywhere|by default)",
        rf"book (?:me|us) {_PLURAL} (?:on|in|for) {_PLURAL}",
        rf"{_ANY}[a-z'’-]+ .*\b{_EVER}\b.*",
        rf"no {_ANY}(?:[\w'’-]+ )?[\w'’-]+s? (?:in|on|at|for|before|after|inside) {_THING}",
        rf"(?:stop|never) (?!me\b)\w+ing {_PLURAL}(?: {_OF} {_THING})?",
        rf"(?:never|don['’]t|do not) (?:use|add|write|send|include|put|push|commit|book|schedule|touch) {_THING}",
    )
)
_ONCE: Final = regex(
    r"(?i)\b(?:this|that|these|those|it|them|above|below|next|following|attached|the (?:code|text|email|mail|"
    r"list|answer|"
    r"poem|story|essay|header|file|image|table|function|class|report|document|chapter|article|one|last|first|"
    r"examples?|results?)|yet|now)\b"
)
_TASKS: Final = regex(r"(?i)^(?:please )?(?:i|we|i['’]d|i['’]ll|he|she|they|my|our|there|user)\b")


def is_standing(sentence: str) -> bool:
    """Whether a sentence orders how something is to be done every time, and not a thing to do now.

    >>> is_standing("Use tabs in Makefiles."), is_standing("Use the new table for this report.")
    (True, False)
    """
    forms, is_strict = _STANDING.asked_of(sentence), _STRICT.match(sentence.strip()) is not None
    if not forms and not is_strict:
        return False
    text = _core(sentence)
    if len(text) > MAX_READ or len(text.split()) < _FEWEST or _passes(sentence) or _TASKS.match(text):
        return False
    if _GOES_ON.match(text) or _ONCE.search(text) or not (is_strict or any(one.match(text) for one in forms)):
        return False
    return read(sentence) is not None


_FEWEST: Final = 2
_GOES_ON: Final = regex(r"(?i)^(?:(?:keep|carry|go)(?: on)? \w+ing\b|continue\b)")
"""What asks for no more than is done already."""
_STRICT: Final = regex(rf"(?i)^(?:please )?(?:always|never) [a-z]+ {_ANY}(?:[\w'’-]+ )?[\w'’-]+s[\s.!]*$")


# ------------------------------------------------ what becomes of one

_AGAIN: Final = r"(?:again|now|from now on|from here on|going forward|once more|after all|these days)"
_NP: Final = r"(?P<np>.{2,80}?)"
_SAID_SO: Final[tuple[tuple[str, Literal["stop", "drop", "allow"]], ...]] = (
    (
        (
            rf"(?:you can |you may |please )?(?:stop|quit) (?:with )?(?:the )?{_NP}(?:,? {_AGAIN}| please| any "
            rf"?more)?"
        ),
        "stop",
    ),
    (rf"(?:enough (?:of|with) (?:the |your )?|no more ){_NP}(?:,? {_AGAIN}| please)?", "stop"),
    (rf"(?:do not|don['’]t) {_NP},? (?:any ?more|any longer)", "stop"),
    (
        (
            rf"(?:no need to|(?:you|we) (?:do not|don['’]t|no longer) (?:have|need) to|you (?:can|may) (?:skip|"
            rf"stop)|there['’]s no need to) {_NP},? (?:any ?more|any longer|now|from now on|going forward)"
        ),
        "stop",
    ),
    (rf"(?:you|we) no longer (?:have|need) to {_NP}", "stop"),
    (
        (
            rf"(?:please )?(?:drop|scrap|ditch|lift|remove|cancel|forget(?: about)?|ignore|never ?mind|"
            rf"disregard|kill|retire|"
            rf"abandon|lose|skip|end|revoke|undo) (?:the |that |my |our |your )?{_NP} {_RULE}(?: please| {_AGAIN})?"
        ),
        "drop",
    ),
    (rf"(?:please )?(?:scrap|ditch|forget about|never ?mind) (?:the |that |my |our |your )?{_NP}", "drop"),
    (
        rf"(?:the |that )?{_NP} {_RULE} (?:is|are) (?:gone|over|off|dropped|lifted|history|no more|cancell?ed)",
        "drop",
    ),
    (rf"you (?:can|may|are allowed to|are free to|['’]re free to|could) (?:now )?{_NP},? {_AGAIN}", "allow"),
    (rf"you can now {_NP}", "allow"),
    (rf"feel free to {_NP},? {_AGAIN}", "allow"),
    (rf"it(?:['’]s| is) (?:fine|ok|okay|allowed|alright) to {_NP},? {_AGAIN}", "allow"),
    (
        (
            rf"(?:the )?{_NP} (?:is|are) (?:(?:totally|all|perfectly|back to being) )?(?:fine|ok|okay|allowed|"
            rf"alright|welcome|fair game|permitted|possible|free)(?: {_AGAIN})+"
        ),
        "allow",
    ),
)
_CHANGES: Final = OfWords(((regex(rf"(?i)^{one}[\s.!]*$"), kind) for one, kind in _SAID_SO), itemgetter(0))
_INSTEAD: Final = OfWords(
    regex(rf"(?i)^{one}[\s.!]*$")
    for one in (
        (
            r"(?:no more|enough of) (?P<old>[^,;]{2,40}?)(?: please)?[,;] (?:but |use |it's )?(?P<new>[^,;]{2,40}?)"
            rf"(?: {_AGAIN}| instead| please)*"
        ),
        (
            r"(?:use |prefer |go with |it['’]s |make it |do )?(?P<new>[^,;]{2,40}?),? (?:and )?(?:not|instead of|"
            r"rather than|no longer) (?P<old>[^,;]{2,40}?)(?: (?:for|in|as) (?P<purpose>[^,;]{2,40}?))?"
            rf"(?: {_AGAIN}| any ?more| please)*"
        ),
        (
            r"(?:(?:go|switch|change|move|revert|come) (?:back |over )*to|back to) (?:using )?(?P<new>[^,;]{2,40}?)"
            rf"(?: (?:for|in|as) (?P<purpose>[^,;]{{2,40}}?))?(?: {_AGAIN}| please)*"
        ),
        (
            r"(?:use |prefer |go with |it['’]s )?(?P<new>[^,;]{2,40}?) (?:from now on|from here on|going forward|"
            r"instead)(?: please)?"
        ),
    )
)
_NO_CHANGE: Final = regex(
    r"(?i)^(?:i|i['’]m|i['’]ve|we['’]re|my|our|user|he|she|they|it|this|that|there|who|what)\b(?!['’]s (?:fine|"
    r"ok|okay|allowed|alright)\b| is (?:fine|ok|okay|allowed|alright)\b)"
)


@lru_cache(maxsize=1024)
def change(sentence: str) -> Change | None:
    """What a sentence says has become of an order that it names by few words; None where it says nothing of the kind.

    >>> change("Drop the kebab-case rule").kind, change("You can use emojis again").kind
    ('drop', 'allow')
    """
    replacing, changing = _INSTEAD.asked_of(sentence), _CHANGES.asked_of(sentence)
    if not replacing and not changing:
        return None
    text = _LEAD.sub("", sentence.strip(" \t\n\"'"), count=1).strip(" .!,;:")
    if len(text) > MAX_READ or _passes(sentence) or _NO_CHANGE.match(text):
        return None
    for pattern in replacing:
        match = pattern.match(text)
        if match is not None:
            found = match.groupdict()
            new = _bare(_LEAD.sub("", found["new"], count=1))
            new, _, meant = _FOR.sub("\n", new, count=1).partition("\n")
            purpose = _stems(f"{found.get('purpose') or ''} {meant}")
            old = _bare(found.get("old") or "")
            if len(new.split()) <= _LONGEST and len(old.split()) <= _LONGEST and _stems(new):
                return Change("instead", _stems(old), old, new, purpose)
    for pattern, kind in changing:
        match = pattern.match(text)
        if match is not None and (named := _stems(match["np"])):
            return Change(kind, named)
    return None


_LONGEST: Final = 4
_FOR: Final = regex(r"(?i) (?:for|in|on|as) ")


def _bare(words: str) -> str:
    return re.sub(r"(?i)^(?:the|an?|using|use|with) ", "", words.strip(" \"'"))


# ------------------------------------------------ of which order it is said

_BOUNDS: Final = frozenset(map(stem, word_set("keep wrap limit cap make hold leave")))
_LIMIT: Final = regex(r"(?i)\b(?:under|below|at most|within|up to|max|maximum|no longer than|shorter than|less than)\b")
_NUMBER: Final = regex(
    r"(?<!\w)(?:\d[\d.,:]*(?:am|pm|k|m)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|thirty)(?!\w)"
)
_EITHER: Final = tuple(
    frozenset(map(stem, one.split()))
    for one in (
        "tab space", "squash rebase merge", "light dark", "metric imperial", "celsius fahrenheit", "aisle window",
        "formal informal casual", "short long",
    )
)  # fmt: skip
"""What stands for a choice between these, of which one is made."""


def follows(sentence: str, fact: str) -> str | None:
    """What holds after a sentence in the place of an order that was given before it; None where it is not said of that.

    >>> follows("Use PascalCase, not kebab-case", "Use kebab-case for file names")
    'Use PascalCase for file names'
    """
    said = change(sentence)
    order = read(fact)
    if order is None or _is_over(fact):
        return _given_again(sentence, fact)
    given = read(sentence) if said is None or said.kind in ("stop", "instead") else None
    if given is not None and given.is_to_do:
        anew = _anew(sentence, given, fact, order)
        if anew is not None:
            return anew
    if given is not None and given.is_to_do != order.is_to_do and given.all - _LIGHT == order.all - _LIGHT:
        return sentence
    if said is None:
        return None
    if said.kind == "instead":
        return _replaced(said, fact, order, given)
    return sentence if _names(said, order) else None


def _is_over(fact: str) -> bool:
    """Whether a memory tells no more than that an order was taken back."""
    said = change(fact)
    return said is not None and said.kind != "instead"


def _given_again(sentence: str, fact: str) -> str | None:
    """A new order in the place of what took back the like of it."""
    said, order = change(fact), read(sentence)
    if said is None or order is None or said.kind == "instead":
        return None
    is_again = order.is_to_do if said.kind in ("stop", "drop") else not order.is_to_do
    named = set(said.named) - _LIGHT
    return sentence if is_again and named and named <= order.all else None


def _names(said: Change, order: Order) -> bool:
    """Whether what a sentence says is over, or allowed, is what an order is about."""
    named = set(said.named)
    whole = order.all
    if said.kind == "drop":
        return bool(named - _LIGHT) and named <= whole | _LIGHT
    if (said.kind == "stop") != order.is_to_do and not (said.kind == "allow" and _is_kept_free(order)):
        return False
    verb, rest = said.named[0], named - {said.named[0]}
    if said.kind == "allow":
        about = rest if verb in _LIGHT or (_is_kept_free(order) and rest) else named
        unless = not order.condition or bool(about & set(order.condition))
        return bool(about) and about <= whole and bool(about & {*order.what, *order.purpose}) and unless
    is_verb = verb == order.verb
    about = (rest if is_verb or verb in _LIGHT else named) - {order.verb}
    if not about:
        return is_verb and (not order.what or order.verb not in _LIGHT | _BOUNDS) and order.verb not in _LIGHT
    if order.verb in _BOUNDS and not is_verb:
        return False
    return about <= whole and (bool(about & set(order.what)) or (is_verb and not order.what))


def _is_kept_free(order: Order) -> bool:
    """Whether an order keeps something free: who keeps the mornings free of meetings books none there."""
    return order.verb == "keep" and not {"free", "clear", "out"}.isdisjoint((*order.what, *order.purpose))


_USE: Final = stem("use")


def _anew(sentence: str, given: Order, fact: str, order: Order) -> str | None:
    """An order in the place of one to do the same for the same with something else, or to another number."""
    if not order.is_to_do or given.verb != order.verb:
        return None
    if {*given.condition} != {*order.condition}:
        return None
    mine, its = ([one for one in (*part.what, *part.purpose) if not _NUMBER.fullmatch(one)] for part in (given, order))
    numbers = [set(_NUMBER.findall(text.casefold())) for text in (sentence, fact)]
    is_new = _FOR_GOOD.search(sentence) is not None
    if mine == its and all(len(one) == 1 for one in numbers) and numbers[0] != numbers[1]:
        is_limit = _LIMIT.search(sentence) is not None and _LIMIT.search(fact) is not None
        return sentence if is_new or is_limit or (given.verb == _USE and given.purpose) else None
    if not given.what or not order.what or given.what == order.what:
        return None
    sort = _are_alternatives(given.object, order.object)
    if sort is None:
        return None
    if set(given.purpose) == set(order.purpose):
        return sentence if is_new or (given.purpose and sort == "sure") else None
    if not given.purpose and is_new:
        return _with(fact, order.object, given.object)
    return None


def _replaced(said: Change, fact: str, order: Order, given: Order | None) -> str | None:
    """An order with what is to be in the place of what it named."""
    if not order.is_to_do or (given is not None and given.verb not in (order.verb, *_GOING)):
        return None
    if said.purpose and not set(said.purpose) <= order.all:
        return None
    if said.old:
        place = re.search(rf"(?<![\w-]){re.escape(said.old)}(?![\w-])", fact, re.IGNORECASE)
        return _with(fact, said.old, said.new) if place is not None and set(said.named) <= set(order.what) else None
    if set(_stems(said.new)) <= set(order.what) or _are_alternatives(said.new, order.object) is None:
        return None
    return _with(fact, order.object, said.new)


_GOING: Final = frozenset(map(stem, word_set("go switch change move revert come use prefer back")))


def _with(fact: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", lambda _: new, fact, count=1, flags=re.IGNORECASE)


def _are_alternatives(new: str, old: str) -> Literal["sure", "alike"] | None:
    """Whether two things are of a kind of which one is chosen: by the table of brands, or by the word they end in."""
    if brands.are_of_one_sort(new, old):
        return "sure"
    one, other = _stems(new), _stems(old)
    if not one or not other or one == other:
        return None
    mine, its = set(one) - set(other), set(other) - set(one)
    if any(mine and its and mine <= choice and its <= choice for choice in _EITHER):
        return "sure"
    return "alike" if one[-1] == other[-1] and len(one) > 1 and len(other) > 1 else None


__all__ = ["Change", "Order", "change", "follows", "is_standing", "read"]
