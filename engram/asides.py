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
_ROW: Final = r"(?:[\w'-]+ ){0,3}[\w'-]+"
_IN_A_ROW: Final = regex(rf"{_ROW}(?:, {_ROW})*,? (?:and|or) {_ROW}")


def left_out(statement: str) -> tuple[str, ...]:
    """A statement without what is only said beside it, the longest first: "user lives in rome, so please ..."."""
    cuts = [cut for cut in _ASIDE.finditer(statement) if cut.start() > 0]
    heads = (statement[: cut.start()] for cut in cuts if not _IN_A_ROW.fullmatch(statement[cut.end() :]))
    return tuple(heads)[:_MOST_ASIDES][::-1]


_MOST_ASIDES: Final = 4
