"""What is asked and told of somebody else than who answers: "your sister", and "she" behind it. Pure."""

from __future__ import annotations

from typing import Final

from engram.english import names, verbs
from engram.english.replies import saying
from engram.english.replies.saying import EDGES, Asks, Told
from engram.english.replies.whose import CAP, DOES, capital, turned
from engram.english.subjects import PERSONS
from engram.regex import regex
from engram.wordlists import word_set

_PERSON: Final = "|".join(sorted(PERSONS | word_set("dog cat puppy kitten rabbit"), key=len, reverse=True))
_TITLED: Final = rf"(?:mr|mrs|ms|dr|prof)\.? {CAP}"
_YOURS: Final = regex(rf"(?i)\byour (?:[\w-]+ ){{0,2}}?(?:{_PERSON})\b(?!['’]s)")
_SOMEBODY: Final = regex(
    rf"(?i)\byour (?:[\w-]+ ){{0,2}}?(?:{_PERSON})\b|\b{_TITLED}|(?:^|(?<=[.!?] )){CAP}(?= (?:is|was|has|had|looks?|"
    r"looked|seems?|turned|turns|did|does|got|sounds?)\b)"
)
_NOBODY: Final = names.NOT_NAMES | word_set(
    "it that this there what who everything something nothing everyone someone he she they we you one"
)
_PRONOUN: Final = regex(r"(?i)\b(?:he|she|his|her|him)\b")
_OWNS: Final = regex(r"\s+\w")
_ASKED: Final = regex(
    rf"(?i)\b(?P<who>your (?:[\w-]+ ){{0,2}}?(?:{_PERSON})\b(?!['’]s)|your (?!own\b)[\w-]+(?=[?]?$| (?:still|"
    r"good|until|"
    rf"due|called|need|have|eat|like|live|work|play|end|start|expire|run)\b)|{_TITLED})"
)
_TOLD: Final = regex(r"(?i)^(?:and |but |so )?(?:he|she|it|they)(?P<is>['’]?s|['’]re)?(?P<rest> (?!(?:and|or)\b).+)$")
_HAS_DONE: Final = regex(
    r"(?i)^ (?:just |recently |also |now |already |always |never )?(?:got|been|had|gone|moved|started|finished|changed|"
    r"joined|stopped|taken|given|left|begun|become|lived|worked)\b"
)
_ALSO_NOUNS: Final = word_set("runs drives plays studies cooks designs plans dreams")


def named(question: str, before: str) -> str | None:
    """A question with whom its "he" or "she" stands for, by what was said before it; None where that is in doubt.

    >>> named("Where does she live?", "I liked the story about your mum.")
    'Where does your mum live?'
    >>> named("Where does she live?", "Say hello to your mum and your aunt.")
    """
    pronoun = _PRONOUN.search(question)
    if pronoun is None or _YOURS.search(question[: pronoun.start()]):
        return question
    found = {one.group().casefold(): one.group() for one in _SOMEBODY.finditer(before)}
    known = [who for key, who in found.items() if key not in _NOBODY]
    if len(known) != 1:
        return None
    (who,) = known

    def put(one: object) -> str:
        owns = one.group().casefold() in ("his", "her") and _OWNS.match(question, one.end())  # type: ignore[attr-defined]
        return f"{who}'s" if owns else who

    return _PRONOUN.sub(put, question)


def told(question: str, said: str, asks: Asks | None) -> Told:
    """What is said of whom or what a question asks about, by a pronoun or a verb alone: "She's a nurse", "turns 9"."""
    subject = _ASKED.search(question)
    if subject is None:
        return ()
    behind = saying.after_yes(said)
    behind = saying.after_no(said) if behind is None else behind
    rest = said if behind is None else behind
    who = capital(turned(subject["who"]))
    statement = _of(who, rest)
    if statement is None:
        return ()
    answer = said[: len(said) - len(rest)].strip(EDGES) if behind is not None else ""
    return (*(asks(answer) if answer and asks is not None else ()), statement)


def as_told(who: str, said: str) -> str | None:
    """What is said of something by "it" or a person's pronoun and a full verb: "It moved to Wednesdays"."""
    match = _TOLD.match(said)
    return None if match is None or match["is"] else f"{who}{match['rest']}"


def _of(who: str, rest: str) -> str | None:
    pronoun = _TOLD.match(rest)
    if pronoun is not None:
        short = pronoun["is"]
        has = short and _HAS_DONE.match(pronoun["rest"])
        verb = "" if not short else " has" if has else " are" if "re" in short else " is"
        return f"{who}{verb}{pronoun['rest']}"
    first, *more = rest.split()[:2] or [""]
    base = verbs.base_form(first.casefold())
    is_verb = base in DOES and first.casefold() == verbs.third_person(base) and first.casefold() not in _ALSO_NOUNS
    return f"{who} {rest}" if is_verb and more else None
