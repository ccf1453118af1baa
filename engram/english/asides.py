"""What is only said beside a statement: a reason, a comment, a request. Pure.

"I live in Rome, so please keep it local" says where somebody lives, and so does what is left without what follows the
comma. Of a row ("red, green and blue") nothing is beside, nor is what sets a bound ("unless", "except", "not Oslo").
"""

from __future__ import annotations

from typing import Final

from engram.regex import regex

_ASIDE: Final = regex(
    r",? \bso (?=(?:please|don't|never|always|no|not|i|i'm|my|we|our|user|user's|the|it|it's|he|she|they|you|that|"
    r"this|keep|give|"
    r"show|make|let|call|use|skip|avoid|remember|just|now|if|[a-z]+ (?:your|user's|the|me|user|it|them|for))\b)|"
    r",? \b(?:because|'?cause|since|although|though|even though|now that|but|yet)\b |"
    r",(?! (?:not|no longer|and|or|also|too|either|both|unless|except|if|when|from|in|at|inc|llc|jr|nor|sometimes|"
    r"only|just|mostly|mainly|except|apart|usually)\b) |"
    r" [–—-]+ "
)
_ROW: Final = regex(
    r"(?:[\w'-]+ ){0,3}[\w'-]+(?:, (?:[\w'-]+ ){0,3}[\w'-]+){0,8},? (?:and|or) (?:[\w'-]+ ){0,3}[\w'-]+"
)
_LONGEST_ROW: Final = 160
MAX_READ: Final = 300
_MOST: Final = 4


def left_out(statement: str) -> tuple[str, ...]:
    """A statement without what is only said beside it, cut at its last aside first: "user lives in rome, so ...".

    Nothing is left out of one of more than 300 characters, or behind its fourth aside.
    """
    if len(statement) > MAX_READ:
        return ()
    cuts = [cut for cut in _ASIDE.finditer(statement) if cut.start() > 0 and not _is_row(statement[cut.end() :])]
    return tuple(statement[: cut.start()] for cut in reversed(cuts[:_MOST]))


def _is_row(text: str) -> bool:
    """Whether a text goes on with what is counted up: "green and blue" of "red, green and blue"."""
    return len(text) <= _LONGEST_ROW and _ROW.fullmatch(text) is not None


__all__ = ["left_out"]
