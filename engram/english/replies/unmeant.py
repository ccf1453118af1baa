"""What is asked or said in play, in practice or in somebody else's words: nothing of it is so. Pure."""

from __future__ import annotations

from typing import Final

from engram.regex import regex

_MADE_UP: Final = regex(
    r"(?i)(?:^|[.!?:…]\s+)(?:now |ok(?:ay)?,? )?imagine\b|(?:^|[.!?]\s)as the [\w ]{2,40}, |\b(?:pretend(?:ing|s)?|"
    r"suppose (?:you|that|for)|hypothetical(?:ly)?|role[- ]?play(?:ing)?|dummy|the sample|let['’]?s (?:say|act|play|"
    r"practi[cs]e|rehearse|assume|imagine|brainstorm)|say (?:you|i)(?:['’](?:re|m)| are| am) (?:the|an?)|"
    r"once upon a time|speaking as|in the role of|in (?:the|this|our|an?) (?:scenario|exercise|story|scene|game|"
    r"example|sample|demo|sketch|dialogue|novel|quiz|play|simulation|case study)|for (?:the|this|our|an?) (?:mock|"
    r"scenario|persona|example|sample|demo|sketch|dialogue|quiz|simulation|tutorial|test (?:user|account|profile|case|"
    r"data))|your (?:\w+ )?(?:character|hero|heroine|protagonist|villain|narrator|avatar|persona|opponent|quest)|"
    r"if you\b[^?]{1,80}\bwould you|would you\b[^?]{1,80}\bif you|truth or dare|knock knock)\b"
)
"""What makes up what is asked about: a game, a story, an exercise."""
_NARRATED: Final = regex(
    r"(?<!\*)\*(?!\*)[\w'’]+ [^*\n]+\*(?!\*)|\b[Ss]cene \w+[.:]|^\W*Q:|\bYou(?:['’]re| are) the (?!best|one|first|only|"
    r"most)|(?:^|[.!?…\"”*]\s+)You (?:(?:slowly|finally|suddenly|quietly) )?(?:enter|walk|stand|see|hear|wake|approach|"
    r"arrive|step|notice|spot|draw|fall|climb|crawl|encounter|awaken|(?:are|find yourself) (?:standing|facing|"
    r"surrounded|lost|trapped|in an?|at the))\b"
)
"""A story told to the one who plays in it: "You enter the tavern."."""
_REPORTED: Final = regex(
    r"(?i)\b(?:conjugat\w+|vocabulary|grammar)\b|(?<!you )\b(?:says?|said|asks|asked|reads|wrote|writes|ends with|"
    r"begins with|translat\w+|dialogue|headline|slogan)\b[^.!?]*[:\"“‘`]\s*\S"
)
"""Somebody else's question: "The letter ends with: do you have a family?"."""
_SET: Final = regex(r"\b(?:[Aa]nswer|[Rr]eply|[Rr]espond|[Ss]ay (?:it|that)) in [A-Z]")
"""A task of a lesson, ahead of its question: "Try to answer in Spanish."."""
_QUOTED: Final = regex(r"[\"“”„«»`]|(?<!\w)'|'(?!\w)(?<!s')")
_SECRET: Final = regex(
    r"(?i)\b(?:pass(?:word|code|phrase)s?(?! manager)|pin(?: code)?|cv[vc]|otp|2fa|(?:security|verification|access|"
    r"recovery|login|door|gate|unlock) codes?|card (?:number|details)|(?:api|secret|private|access) (?:key|"
    r"token)s?|tokens?|secrets?|social security|ssn|iban|(?:bank )?account number|last (?:four|4)|digits|seed phrase|"
    r"mother['’]s maiden name)\b"
)
_MOCKS: Final = regex(
    r"(?i)^\W*(?:(?:oh|ah|ha)[\s,.!]+(?:sure|totally|right|please|obviously)\b|(?:yeah|yea|yes)[\s,.]+right\b|"
    r"(?:sure|right)[\s,.]+sure\b|whatever\b|(?:as|like) if\b|i wish\b|you wish\b|in my dreams|dream on|very funny|"
    r"nice try)|/s\s*$|\b(?:just kidding|j/?k|kidding|joking)\b"
)
"""What says the opposite of its words: "yeah right"."""
_FOR_ONCE: Final = regex(r"(?i)\b(?:(?:for|with|in|on) this(?: one| time)?|this (?:one|time)|just (?:this )?once)\W*$")


def is_made_up(question: str, before: str) -> bool:
    """Whether a question asks of a part somebody plays, in a story, a game or an exercise, or is itself quoted."""
    asked = f"{before}{question}"
    return (
        _MADE_UP.search(asked) is not None
        or _NARRATED.search(asked) is not None
        or _SET.search(before) is not None
        or _REPORTED.search(asked) is not None
        or _QUOTED.search(question) is not None
    )


def is_secret(question: str) -> bool:
    """Whether a question asks for what is to be known to nobody: a password, the number of a card."""
    return _SECRET.search(question) is not None


def mocks(reply: str) -> bool:
    """Whether a reply says the opposite of what it means, or is of one occasion only.

    >>> mocks("oh sure, every day"), mocks("yeah right"), mocks("yes for this one"), mocks("yeah, every day")
    (True, True, True, False)
    """
    return _MOCKS.search(reply) is not None or _MADE_UP.search(reply) is not None or _FOR_ONCE.search(reply) is not None
