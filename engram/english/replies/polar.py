"""Questions that yes or no answers, and what more than that does: "Do you have kids?" "Yes, two". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engram.english import names, verbs
from engram.english.replies import choices, fitting, saying
from engram.english.replies.saying import BREAK, Asks, Told
from engram.english.replies.whose import (
    AUX,
    BE,
    CAP,
    Subject,
    capital,
    gerund,
    many,
    may_be_verb,
    subject_of,
    turned,
    without_adverbs,
)
from engram.english.subjects import plain
from engram.regex import regex
from engram.wordlists import word_set

OF_THE_MOMENT: Final = word_set(
    "ready sure ok okay alright fine free available there done finished happy interested looking trying talking asking "
    "referring thinking saying comfortable joking kidding serious tired excited feeling sleepy hungry busy aware able "
    "good well doing going correct right possible enough still welcome getting seeing having planning hoping sitting "
    "calling writing online home awake back editing debugging testing flexible"
)
"""What somebody is for a while."""
FLEETING: Final = word_set(
    "mean think feel say suggest reckon see look guess wonder know remember agree understand mind notice hear believe "
    "expect hope happen bring say tell ask try cast attack fight flee roll bet choose pick vote guess"
)
"""What somebody does for a moment."""
NO_THING: Final = word_set(
    "time minute moment second sec preference preferences question questions idea ideas thought thoughts other "
    "anything something one chance guess clue example examples more access reservation receipt fever temperature "
    "cough headache cold nausea"
)
"""What is asked for to go on talking."""
LASTING: Final = regex(
    r"(?i)\b(?:always|never|each|every|all (?:the|your|my|of)|in general|generally|from now on|by default|default|"
    r"whenever|usually|normally|on (?:my|your) (?:own|behalf)|without (?:asking|checking|telling)|any time|anytime|"
    r"as a rule|in (?:the )?future|when (?:a|an|you|your|i|someone|somebody)|unless)\b"
)
"""What makes a wish or a leave one for good."""

_POLAR: Final = regex(rf"(?i)^(?P<aux>{AUX}) (?P<rest>.+)$")
_TOO: Final = regex(r"(?i),? (?:too|as well|either)$")
_OR_NOT: Final = regex(r"(?i),? or (?:not|no|something|anything|similar|so|the like|any other.*|other.*)\b.*$")
_BEHIND_BE: Final = word_set(
    "still now also already currently a an the in at on from with called named married single divorced allergic "
    "vegetarian vegan pregnant retired left right for about near to of by"
)
_RELATIVE: Final = regex(
    r"(?i)(?<=\w) (?:that|who|which) (?:you|i|we|they|are|is|has|have|can|could|should|might|need|roam|live|work|go|"
    r"come|[a-z]+s)\b.*$|(?<=\w) i (?:should|need to|can|must|have to|ought to)\b.*$"
)
_POINTS: Final = regex(
    r"(?i)\b(?:it|that(?! (?:you|i|we|they|is|are|has|have|can|could|should)\b)|those|"
    r"this(?! (?:year|month|week|season|summer|winter|spring|autumn|fall))|"
    r"these(?! days)|there|them)\b"
)
"""What stands for something that was said before."""
_POINTS_AT: Final = regex(r"(?i)\b(?:this|these|him|her)\b")
_OF_ASKING: Final = word_set("ever either both actually personally already really still now currently")
"""Adverbs of a question that its answer does not have."""
_AT_A_PLACE: Final = regex(
    r"(?i)^(?:(?:at|in|on) (?:home|work|school|bed|your (?:way|desk|room|phone|computer))|on|off|in|out)$"
)
"""Where somebody is for a while."""
_LASTED: Final = regex(r"(?i)^(?:for (?:about |over |almost |nearly )?(?:\w+ ){1,3}(?:years?|decades?|ages)|since)\b")
_BEING: Final = regex(r"(?<= )(?:am|are|is)(?= )")
_DONE_AT_ONCE: Final = word_set(
    "get got win won eat eaten enjoy enjoyed like liked hear heard read see seen check checked try tried receive "
    "received "
    "send sent finish finished update updated install installed push pushed commit committed restart restarted forget "
    "forgotten notice noticed save saved click clicked look looked"
)
"""What is over as soon as it is done, where it is done with something at hand: "the message", "my email"."""
_AT_HAND: Final = word_set("the my our of any enough well yet")
_CALLED: Final = regex(r", (?-i:[^A-ZÀ-ÖØ-Þ])")
_OWNING: Final = word_set("have own")
_WISHES: Final = word_set("want need like")
_WISHED: Final = word_set("me to it some any a an the help more")
_DETERMINERS: Final = word_set("a an any some the enough specific particular more")
_ANY: Final = regex(r"(?i)^any (?=\w)")
_THING: Final = regex(
    r"(?i)\b(?P<what>anything|something|anybody|anyone|somebody|someone|(?:(?<= on )|(?<= to )|(?<= at )|(?<= in )|"
    r"(?<= of ))any (?:other )?[\w-]+)\b(?P<more>.*)$"
)
_HAVE_DONE: Final = regex(r"(?i)^(?:have|did|do|tried|was|been|will|had)$")
_OFTEN: Final = regex(
    r"(?i)^(?:(?:(?:only|mostly) (?:on|at|in|when|while|if|with|for|by|during|before|after|every|sometimes|once|twice|"
    r"rarely|occasionally|weekends?|weekdays?|[a-z]+days?)|usually|always|often|sometimes|rarely|occasionally|every|"
    r"twice|once|three times|on|at|in|since|for)\b.*|only)$"
)
_MANNER: Final = regex(r"(?i)^[a-z]+ly(?=$|,)")
_DONE_SOMEHOW: Final = regex(r"(?i)^(?P<head>I (?:live|work|travel|run|train|study|commute|sleep)) \w+$")
_COMPANY: Final = regex(r"(?i)^(?:with|in|at|near|by|on) ")
_OF_OTHERS: Final = regex(r"(?i)^(?:and |but )?(?:it|that|this|they|he|she|you|there)\b")
_CLOSE: Final = regex(r"(?i)^(?:for|with|only|mostly)\b")
_HAS: Final = regex(
    r"(?i)\b(?:have|has|own|got|owns) (?:any |an? |some )?(?P<what>(?:\w+ ){0,2}?(?P<noun>[\w-]+))"
    r"(?: (?:of|at|in|with|for) .+)?$"
)
_ONE_OF_THEM: Final = regex(r"(?i)(?<=\w )ones?$")
_ONLY: Final = regex(r"(?i)^(?:only|just) ")
_ONLY_TO: Final = regex(r"(?i)^(?:only|mostly) to ")
_TO: Final = regex(r"(?i)^(?:(?:only|just|mostly) )?(?:to )?")
_HAVING: Final = regex(r" (?:have|has|own|got|owns) ?$")
_DETERMINED: Final = regex(r"(?i)(?:\b(?:any|an?|some) )+$")
_RULES: Final = word_set("restrictions requirements preferences needs rules diet")
_LEFT_OFF: Final = regex(r"(?i)^(?P<verb>quit|stopped|gave up)(?: (?:it|that))?(?P<when> .+|$)")
_COUNT: Final = regex(
    r"(?i)^(?:just |only |about )?(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|a couple(?: of)?|several)"
    r"(?=$|[\s,])\s*"
)
_OF_THEM: Final = regex(r"(?i)^(?:of them|in total)\b")
_ENDS_IN: Final = regex(
    r"(?i)^(?P<head>.+ (?:in|at|on|to|for|with|near|from|by|as an?|use|drive|prefer|drink|own|take|play|speak|is|am|"
    r"are)) (?:the |an? )?[\w'’.-]+(?: [\w'’.-]+){0,2}$"
)
_MOST_INSTEAD: Final = 5  # words
_ANY_ALONE: Final = regex(
    r"(?i)^any (?P<what>(?!or )(?:[\w-]+ ){0,2}?[\w-]+)(?: or (?:[\w-]+ ){0,2}?[\w-]+)?(?: (?:(?:that )?i (?:should|"
    r"can|need to|must)|to (?:note|consider|know about|avoid)|at home|so far|you)\b.*)?$"
)
_STILL_YOURS: Final = regex(rf"(?i)^(?:is|are) (?P<who>{CAP}(?: {CAP})?) (?:still |now )?(?P<what>your [\w -]+)$")
_SINCE_WHEN: Final = regex(r"(?i)^since [\w ]{2,20}?(?=,| it['’]?s\b| it is\b),? ?")


@dataclass(frozen=True, slots=True)
class _Polar:
    """The statements that a question asks to be affirmed or denied."""

    yes: str
    no: str
    never: str
    over: str
    doing: str = ""  # what somebody does, as "smoking", where it is asked whether they do it
    owns: bool = False  # whether it is asked whether somebody has a thing

    def told(self, said: str) -> Told:
        """What a reply makes of them."""
        since = saying.since_no_more(said)
        if since is not None:
            return (f"{self.over}{since}",)
        never, denied, agreed = saying.after_never(said), saying.after_no(said), saying.after_yes(said)
        if never is not None:
            told = saying.adds_nothing(never) or _HAVE_DONE.match(never)
            return (self.never if told else self.no,)
        if denied is not None:
            return self._denied(said, denied)
        return self._answered(said) if agreed is None else self._agreed(agreed)

    def _denied(self, said: str, rest: str) -> Told:
        if saying.adds_nothing(rest):
            return (self.no,)
        if saying.is_clause(rest):
            return (self.no, rest)
        has = _HAS.search(self.yes) if self.owns else None
        if has is not None and has["noun"].casefold() in _RULES:
            return (_having(self.yes, said),)
        return (_instead(self.yes, rest) or self.no,)

    def _agreed(self, rest: str) -> Told:
        if saying.is_clause(rest):
            return (self.yes,) if _OF_OTHERS.match(rest) else (self.yes, rest)
        first, *more = BREAK.split(rest, maxsplit=1)
        if more and saying.is_clause(more[0]):
            rest = first
        if saying.adds_nothing(rest):
            return (self.yes,)
        return ((_having(self.yes, rest) if self.owns else None) or _joined(self.yes, rest),)

    def _answered(self, said: str) -> Told:
        """Of a reply that says neither yes nor no."""
        left = _LEFT_OFF.match(said)
        if left is not None and self.doing:
            return (f"I {left['verb'].casefold()} {self.doing}{left['when']}",)
        value = None if saying.names_it(said) else saying.value(said)
        if value is None or _is_past(value):
            return ()
        if (_OFTEN.match(value) and not _ONLY_TO.match(value)) or _MANNER.match(value):
            return (_joined(self.yes, value),)
        somehow = _DONE_SOMEHOW.match(self.yes)
        if somehow is not None and _COMPANY.match(value):
            return (f"{somehow['head']} {value}",)
        return (_having(self.yes, value) if self.owns else None,)


def read(text: str) -> Asks | None:
    """What a question that yes or no answers makes of its answer: also one for a choice, and for anything."""
    match = _POLAR.match(_TOO.sub("", _OR_NOT.sub("", text)))
    if match is None:
        return None
    aux, tokens = match["aux"].casefold(), match["rest"].split()
    subject = subject_of(tokens, _ends_before_being if aux in BE else may_be_verb)
    if subject is None or tokens[0].casefold() == "the":
        return None
    adverbs, rest = without_adverbs(tokens[subject.size :])
    rest = _RELATIVE.sub("", " ".join(rest)).split()
    if not rest or rest[0].casefold() == "even" or is_called(rest) or points(rest) or _POINTS_AT.search(" ".join(rest)):
        return None
    held = "".join(f"{one} " for one in adverbs if one not in _OF_ASKING)
    if aux in BE:
        asked = _being(aux, subject, held, rest)
    elif aux in ("have", "has"):
        asked = _having_done(aux, subject, held, rest, ever="ever" in adverbs)
    else:
        asked = _doing(aux, subject, held, rest, lasting=LASTING.search(text) is not None)
    if asked is None:
        return None
    if _THING.search(asked.yes):
        return lambda said: (_thing(said, asked),)
    if choices.gives_choice(asked.yes):
        return lambda said: (choices.chosen(said, asked.yes),)
    return asked.told


def points(tokens: Sequence[str]) -> bool:
    """Whether some words stand for something that was said before, which their answer does not name."""
    return _POINTS.search(" ".join(tokens)) is not None


def is_called(tokens: Sequence[str]) -> bool:
    """Whether a question calls somebody something beside what it asks, or lists things: "..., brave knight"."""
    text = " ".join(tokens)
    return _CALLED.search(text) is not None and not choices.gives_choice(text)


def any_of(text: str) -> Asks | None:
    """What is asked for by "any" alone: "Any allergies?"."""
    match = _ANY_ALONE.match(text)
    if match is None or not NO_THING.isdisjoint(match["what"].casefold().split()):
        return None
    return read(f"do you have any {match['what']}")


def about_a_name(text: str) -> Asks | None:
    """Whether somebody is what he was to whom it is asked: "Is Priya still your manager?"."""
    match = _STILL_YOURS.match(text)
    if match is None:
        return None
    who, what = match["who"], turned(match["what"])

    def asks(said: str) -> Told:
        if saying.is_yes(said):
            return (f"{who} is {what}",)
        denied = saying.after_no(said)
        if denied is None:
            return () if saying.since_no_more(said) is None else (f"{who} is no longer {what}",)
        value = saying.value(_TAKES_THE_PLACE.sub("", _SINCE_WHEN.sub("", denied))) if denied else None
        told = value is not None and (_NAME.match(value) is not None or _is_short_name(value))
        over = f"{who} is no longer {what}"
        return (over, f"{capital(what)} is {value} now") if told else (over,)

    return asks


_TAKES_THE_PLACE: Final = regex(
    r"(?i)(?<=\w) (?:(?:has|just|now|recently|already) )*"
    r"(?:(?:took|taken|takes|taking|is taking) (?:it |that |this )?over|"
    r"(?:replaced|succeeded|followed) (?:him|her|them)|took (?:his|her|their) (?:place|job|role)|"
    r"does (?:it|that|this) (?:now|instead|these days)|(?:is )?(?:now|these days))\b.*$"
)
"""What the one who is named has done to be what somebody else was: "Ben took over in May"."""
_SHORT: Final = 2
_OF: Final = r"(?:(?:of|the|de|der|den|van|von|la|le|and|&) ){0,2}"
_NAME: Final = regex(
    rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_OF}[A-ZÀ-ÖØ-Þ][\w'’-]*(?: {_OF}[A-ZÀ-ÖØ-Þ][\w'’.-]*){{0,3}}"
    r"(?: (?:from|in|at|on) [\w'’ -]{1,40})?$"
)


def _is_short_name(value: str) -> bool:
    words = value.split()
    return len(words) <= _SHORT and not verbs.is_past(words[-1])


def _ends_before_being(word: str) -> bool:
    """Whether a subject ends before a word behind "are" or "is"."""
    return word in _BEHIND_BE or word.endswith(("ing", "ed"))


def _being(aux: str, subject: Subject, held: str, rest: Sequence[str]) -> _Polar | None:
    if rest[0].casefold().strip(",") in OF_THE_MOMENT or _AT_A_PLACE.match(" ".join(rest)):
        return None
    be, tail = f"{subject.who} {subject.be(aux)}", turned(" ".join(rest))
    return _Polar(f"{be} {held}{tail}", f"{be} not {tail}", f"{be} never {tail}", f"{be} no longer {tail}")


def _having_done(aux: str, subject: Subject, held: str, rest: Sequence[str], *, ever: bool) -> _Polar | None:
    if rest[0].casefold() in ("you", "we", "i") or _has_nothing(rest):
        return None
    if not ever and _is_done_at_once(rest):
        return None
    who, have, tail = subject.who, subject.have(aux), turned(" ".join(rest))
    never = f"{who} {have} never {tail}"
    return _Polar(
        f"{who} {have} {held}{tail}",
        never if ever else f"{who} {have} not {tail}",
        never,
        f"{who} no longer {have} {tail}",
    )


def _doing(aux: str, subject: Subject, held: str, rest: Sequence[str], *, lasting: bool) -> _Polar | None:
    verb, *behind = rest
    verb = verb.casefold().strip(",")
    wishes = verb in _WISHES and not lasting and (not behind or behind[0].casefold() in _WISHED)
    if verb in FLEETING or wishes or (verb == "have" and _has_nothing(behind)):
        return None
    if aux == "did" and _is_done_at_once(rest):
        return None
    who, does = subject.who, subject.does(aux, verb)
    denied = f" {turned(' '.join(behind))}".rstrip()
    tail = f" {_ANY.sub('', denied.strip())}".rstrip()
    return _Polar(
        f"{who} {held}{does}{tail}", f"{who} {subject.does_not(aux)} {verb}{denied}", f"{who} never {does}{tail}",
        f"{who} no longer {does}{tail}", f"{gerund(verb)}{tail}" if subject.first and aux == "do" else "",
        owns=verb in _OWNING,
    )  # fmt: skip


def _is_done_at_once(rest: Sequence[str]) -> bool:
    """Whether it is asked if something is done, which is of the moment: "Have you eaten?", "Did you get my email?"."""
    done = rest[0].casefold()
    at_hand = len(rest) == 1 or rest[1].casefold() in _AT_HAND
    of_moment = at_hand and (done in _DONE_AT_ONCE or verbs.base_form(done) in _DONE_AT_ONCE)
    return of_moment or (done == "had" and _has_nothing(rest[1:]))


def _has_nothing(rest: Sequence[str]) -> bool:
    """Whether what somebody is asked to have is nothing that lasts: a minute, a question, a preference."""
    left = [one.casefold().strip(",") for one in rest]
    if left[:1] == ["the"]:
        return True
    while left and left[0] in _DETERMINERS:
        left.pop(0)
    return not left or left[0] in NO_THING


def _thing(said: str, asked: _Polar) -> str | None:
    """What answers whether there is anything: the thing."""
    denied = saying.after_no(said)
    if denied is not None:
        end = _THING.search(asked.no)
        alone = saying.adds_nothing(denied) or said.casefold().startswith("nothing")
        return asked.no[: end.end("what")] if end is not None and alone else None
    agreed, match = saying.after_yes(said), _THING.search(asked.yes)
    value = saying.value(said if agreed is None else agreed)
    return None if value is None or match is None else f"{asked.yes[: match.start()]}{value}"


def _is_past(value: str) -> bool:
    """Whether a reply tells what was done instead: "sold it"."""
    first, *more = value.split()
    return bool(more) and verbs.is_past(first.casefold()) and more[0].casefold() in ("it", "him", "her", "them", "mine")


def _joined(statement: str, more: str) -> str:
    """A statement, and what is said beside it."""
    if _LASTED.match(more):
        statement = _BEING.sub(
            lambda be: "have been" if be.group() in ("am", "are") else "has been", statement, count=1
        )
    close = _MANNER.match(more) or _CLOSE.match(more) or fitting.says_when(more) or fitting.says_where(more)
    more = more[0].lower() + more[1:] if close else more
    return f"{statement} {more}" if close else f"{statement}, {more}"


def _having(statement: str, more: str) -> str | None:
    """What somebody has, where a reply says how many or which: "I have two kids", "I have a dog, a beagle"."""
    match = _HAS.search(statement)
    if match is None:
        return None
    head, what = _DETERMINED.sub("", statement[: match.start("what")]), match["what"]
    noun, own = match["noun"].casefold(), statement.startswith("I ")
    if noun in ("allergies", "allergy"):
        who = _HAVING.sub("", head)
        be = "am" if own else "are" if head.rstrip().endswith(" have") else "is"
        only, to = _ONLY.match(more), _TO.sub("", more)
        return f"{who} {be} allergic {'only ' if only else ''}to {to}"
    if noun in _RULES:
        return f"My {what} are {more}" if own else None
    more = _ONE_OF_THEM.sub(lambda _: what, more)
    number = _COUNT.match(more)
    if number is not None:
        rest = more[number.end() :].strip(" ,")
        counted = not rest or _OF_THEM.match(rest)
        several = number.group().split()[-1].casefold() not in ("one", "1")
        return f"{head}{number.group().strip()} {many(what) if several else what}" if counted else f"{head}{more}"
    return f"{head}{more}" if fitting.is_determined(more) else f"{statement}, {more}"


def _instead(statement: str, value: str) -> str | None:
    """A statement with another value at its end: "no, Oslo now"."""
    known = names.CITIES | names.REGIONS
    is_name = value[:1].isupper() or not known.isdisjoint((plain(value), plain(value).removesuffix(" now")))
    match = _ENDS_IN.match(statement) if is_name and len(value.split()) <= _MOST_INSTEAD else None
    return None if match is None or fitting.says_when(value) else f"{match['head']} {value}"
