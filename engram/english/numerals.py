"""Numbers in words and figures, as one counts in English: "twelve", "twenty-five", "two hundred and ten". Pure.

A form takes a number whole: neither the "five" of "twenty-five" nor the "5" of "1.5" is one of its own.
"""

from __future__ import annotations

import re
from typing import Final

_TO_NINETEEN: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS: Final = {
    **{word: number for number, word in enumerate(_TO_NINETEEN)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "hundred": 100,
}

_DIGITS: Final = "|".join(_TO_NINETEEN[1:10])
_BELOW_HUNDRED: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{_DIGITS})\b)?|{'|'.join(sorted(_TO_NINETEEN, key=len, reverse=True))})"
)
IN_WORDS: Final = rf"(?:(?:(?:an?|{_DIGITS}) )?hundred(?: (?:and )?{_BELOW_HUNDRED}\b)?|{_BELOW_HUNDRED})"
IN_FIGURES: Final = r"(?<![0-9][.,])(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"


def value(words: str) -> int | None:
    """The number that a text in small letters is, whole: of "two-three" there is none."""
    if re.fullmatch(IN_FIGURES, words):
        return int(words.replace(",", ""))
    if not re.fullmatch(IN_WORDS, words):
        return None
    hundreds, _, rest = words.rpartition("hundred")
    many = hundreds.strip() or "one"
    above = 100 * WORDS.get(many, 1) if "hundred" in words else 0
    return above + sum(WORDS[word] for word in re.split(r"[- ]", rest) if word and word != "and")
