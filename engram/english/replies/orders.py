"""Questions of an assistant for what it is to do from now on: "Should I use tabs or spaces?". Pure."""

from __future__ import annotations

from typing import Final

from engram.english.replies import choices, polar, saying, wanted
from engram.english.replies.polar import LASTING
from engram.english.replies.saying import BREAK, Asks, Told, with_value
from engram.english.replies.whose import capital, ordered
from engram.regex import regex
from engram.wordlists import word_set

_SHOULD: Final = regex(
    r"(?i)^(?:(?P<wh>what|which(?: \w+){1,3}|what \w+|how)\s+)?(?:should|shall|do) i (?:should )?(?P<always>always |"
    r"usually |generally )?(?:rather )?(?P<verb>use|write|call|address|answer|reply|respond|speak|keep|format|put|name|"
    r"refer to|indent|avoid|assume|correct|remind|notify|contact|greet)\b ?(?P<rest>.*)$"
)
_LEAVE: Final = (
    r"(?:may|can|could|am) i (?:allowed to )?|(?:is it (?:alright|ok|okay|fine|all right) if|are you (?:ok|okay|"
    r"fine|happy) (?:if|with it if)) i "
)
_MAY_I: Final = regex(
    rf"(?i)^(?:(?P<leave>{_LEAVE})|(?:should|shall) i |(?:do you want|would you like|want) me to )(?:always |"
    r"usually |also |just )?(?P<rest>[a-z]+ .+)$"
)
_PUT_DOWN: Final = regex(
    r"(?i)^(?:what|which) (?P<what>date|time zone|time|day|(?:full |first |last |user)?name|(?:phone )?number|address|"
    r"email(?: address)?|size|language|pronouns) (?:should|shall|do|can|would) (?:i|we) (?:save|put|put down|use|enter|"
    r"note|set|write|print|show|go with|display)(?: (?:for|as|on|in) (?P<of>.+))?$"
)
_HOW_OFTEN: Final = regex(
    r"(?i)^how (?:often|early|far in advance|long before \w+) should i (?P<rest>(?!look|search|check back)\w+ .+)$"
)
_WHOM: Final = regex(
    r"(?i)^whom? (?:should|shall|can|do) (?:i|we) (?P<verb>call|ring|contact|phone|text|notify|inform)(?P<when> .+)?$"
)
_WHAT_TO_CALL: Final = regex(
    r"(?i)^(?:what|how) (?:do|would|should) (?:you|i) (?:want |like |prefer |wish )?(?:me )?(?:to )?(?:be )?(?:call|"
    r"address)(?:ed)?(?: you)?(?: by)?$"
)
_TOOL: Final = regex(
    r"(?i)\b(?:languages?|editor|library|libraries|framework|tool|manager|style|format|units?|currency|tone|theme|font|"
    r"convention|indentation|spelling|pronouns?|calendar|runner|database|shell|keyboard|layout|system|standard)\b"
)
"""What somebody uses again and again: "Which ticket should I use?" is of the moment."""
_FOR_GOOD: Final = regex(r"(?i) (?:from now on|in general|in the future)$")
_NO_NEED: Final = regex(r"(?i)^no need\b")
_JUST: Final = regex(r"(?i)^(?:just )?(?:as |by )?")
_NAMES: Final = word_set("call address")
_WORDS: Final = word_set("use write speak reply answer respond")
_OF_A_LANGUAGE: Final = regex(r"(?i)^in$")
_IN_A_LANGUAGE: Final = _WORDS - {"use", "speak"}
_MOST_OF_A_NAME: Final = 3  # words


def is_lasting(text: str) -> bool:
    """Whether a text makes what is asked one for good: "in general"."""
    return LASTING.search(text) is not None


def read(text: str) -> Asks | None:
    """What a question for a rule makes of its answer."""
    put_down = _PUT_DOWN.match(text)
    if put_down is not None:
        return _of_thing(put_down["what"].casefold(), put_down["of"] or "")
    often = _HOW_OFTEN.match(text)
    if often is not None:
        return with_value(lambda value: f"{capital(ordered(often['rest']))} {value}")
    whom = _WHOM.match(text)
    if whom is not None:
        return with_value(lambda value: _contacted(whom["verb"].casefold(), value, ordered(whom["when"] or "")))
    if _WHAT_TO_CALL.match(text):
        return lambda said: (_called(said),)
    match = _SHOULD.match(text)
    if match is None:
        return _may_i(text)
    verb, rest = match["verb"].casefold(), ordered(_OF_A_LANGUAGE.sub("", match["rest"]))
    if polar.points(rest.split()):
        return None
    if match["wh"] is not None:
        if verb in _NAMES and rest == "me":
            return lambda said: (_called(said),)
        lasts = verb != "use" or rest or _TOOL.search(match["wh"])
        return _used(verb, rest) if verb in _WORDS and lasts else None
    if choices.gives_choice(rest):
        return lambda said: (choices.chosen(said, f"{capital(verb)} {rest}"),)
    return _always(f"{verb} {rest}".strip()) if match["always"] else _may_i(text)


def _contacted(verb: str, value: str, when: str) -> str:
    """Whom to call, and when."""
    who, *more = BREAK.split(value, maxsplit=1)
    return f"{capital(verb)} {who}{f' {when}' if when else ''}{f', {more[0]}' if more else ''}"


def _of_thing(what: str, of: str) -> Asks | None:
    """What an assistant asks to note of whom it works for: a name, a date, a time zone."""
    timed = what in ("date", "time", "day")
    if timed and not of:
        return None
    own = of.casefold().startswith("your ") and (timed or what == "size")
    thing = of if own else f"your {what}"
    many = what.endswith("s") and what != "address"
    return wanted.about("when" if timed else "what", what, "are" if many else "is", thing.split())


def _called(said: str) -> str | None:
    """By what name somebody wants to be called."""
    value = saying.value(BREAK.split(said, maxsplit=1)[0])
    return None if value is None or len(value.split()) > _MOST_OF_A_NAME else f"Call me {_JUST.sub('', value)}"


def _used(verb: str, rest: str) -> Asks:
    """What is to be used, or in what language."""
    head = f"{capital(verb)}{' in' if verb in _IN_A_LANGUAGE and not rest else ''}"
    return with_value(lambda value: f"{head} {value}{f' {rest}' if rest else ''}")


def _always(do: str) -> Asks:
    def asks(said: str) -> Told:
        if saying.is_yes(said):
            return (f"Always {do}",)
        return (f"Do not {do}",) if saying.is_no(said) else ()

    return asks


def _may_i(text: str) -> Asks | None:
    """What somebody is asked to be allowed to do, or to have done, for good."""
    match = _MAY_I.match(text)
    if match is None or choices.gives_choice(text):
        return None
    do, leave, lasting = ordered(_FOR_GOOD.sub("", match["rest"])), match["leave"] is not None, is_lasting(text)

    def asks(said: str) -> Told:
        never = saying.after_never(said) is not None
        if not (lasting or never or is_lasting(said)):
            return ()
        if never or saying.after_no(said) is not None:
            return (f"Never {do}",)
        more = saying.after_yes(said)
        if more is None:
            return ()
        plain = LASTING.fullmatch(more) or saying.is_clause(more) or _NO_NEED.match(more)
        behind = "" if not more or plain else f", {more}"
        return (f"{'You may' if leave else 'Always'} {do}{behind}",)

    return asks
