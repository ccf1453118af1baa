"""Whether a text that takes the place of others keeps every value they had, and adds none. Pure.

Numbers with their units, dates and times, names and identifiers, negations, and what comes before or after what: these
are the values of a text. Whoever merges, reconciles, consolidates or distils asks here before it writes, whoever worded
the text; in doubt a value counts as lost, and the memories stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Final

from engram.english import lexicon
from engram.english.claims import Claim, read
from engram.english.differences import changes

KINDS = ("date", "name", "order", "polarity", "quantity")
OWN_WORDS = 2  # content words that each of two texts must have for itself before a new wording may join them
FEW: Final = 2  # words in which two texts of one length differ, where each must be another word for the same
OTHER_SMALL: Final = ("here", "there", "this", "that", "these", "those", "away", "back", "again")
SMALL: Final = frozenset({*lexicon.PREPOSITIONS, *OTHER_SMALL}) - {"of"}
"""Small words that say where and whither: no content, and yet "moved in" is not "moved out"."""


def lost(texts: Iterable[str], merged: str) -> tuple[str, ...]:
    """The kinds of values that some text has and the merged text has not; empty when it keeps them all.

    Values of one kind keep the order they had in their text: "from Paris to Rome" is not "from Rome to Paris".
    """
    whole = read(merged)
    return tuple(sorted({kind for text in texts for kind in _missing(read(text), whole)}))


def invented(texts: Iterable[str], merged: str) -> tuple[str, ...]:
    """The kinds of values that the merged text has and none of the texts; empty when it adds nothing."""
    whole, parts = read(merged), [read(text) for text in texts]
    surfaces = {unit.surface for part in parts for unit in part.units}
    stems = {unit.stem for part in parts for unit in part.units}
    opening = {unit.stem for unit in whole.units if unit.case == "first"} - stems  # it may be a name, so it is one
    found = {
        "quantity": set(whole.quantities) - {one for part in parts for one in part.quantities},
        "date": set(whole.dates) - {one for part in parts for one in part.dates},
        "polarity": set(whole.polarity) - {one for part in parts for one in part.polarity},
        "name": ({unit.surface for unit in whole.units if unit.case == "mid"} - surfaces) | opening,
    }
    return tuple(sorted(kind for kind, values in found.items() if values))


def keeps(texts: Sequence[str], merged: str) -> bool:
    """Whether the merged text says every value of the texts and none of its own."""
    return bool(merged.strip()) and not lost(texts, merged) and not invented(texts, merged)


def contains_words(more: str, less: str) -> bool:
    """Whether every content word of `less` stands in `more` too, as a stem or a plain synonym."""
    ours, theirs = _words(read(more)), _words(read(less))
    return not theirs - ours


def says_all(more: str, less: str) -> bool:
    """Whether `more` claims all that `less` does, so that `less` may be put away without losing anything."""
    return (
        not changes(less, more) and contains_words(more, less) and not lost((less,), more)
        and _keeps_small_words(less, more) and not _differ_in_a_word(less, more)
    )  # fmt: skip


def may_be_reworded(one: str, two: str) -> bool:
    """Whether a new wording could hold what both say: one says all of the other, or each says several words more.

    Texts that differ in a value, or only in a word or two, claim different things in one place, and never become one.
    """
    if says_all(one, two) or says_all(two, one):
        return True
    if set(changes(one, two)) != {"word"} or set(changes(two, one)) != {"word"}:
        return False
    ours, theirs = (Counter(unit.stem.rstrip("~") for unit in read(text).units) for text in (one, two))
    return min((ours - theirs).total(), (theirs - ours).total()) >= OWN_WORDS


def is_rewording(texts: Sequence[str], merged: str) -> bool:
    """Whether a new wording holds every value and every word of the texts, each text's in their order and together.

    It has no value of its own, and the texts may be reworded: no two of them claim different things.
    """
    if not keeps(texts, merged) or not all(may_be_reworded(*pair) for pair in combinations(texts, 2)):
        return False
    whole = [unit.stem for unit in read(merged).units]
    parts = [[unit.stem for unit in read(text).units] for text in texts]
    return (
        all(_in_order(part, whole) for part in parts)
        and all(_keeps_small_words(text, merged) for text in texts)
        and all(_stand_apart(one, two, whole) for one, two in combinations(parts, 2))
    )


def _stand_apart(one: Sequence[str], two: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether what only one of two says stands in one place, so that no word of it went to the other."""
    sides = [stem in one for stem in whole if (stem in one) != (stem in two)]
    return sum(before != after for before, after in pairwise(sides)) <= 1


def _raw(text: str) -> list[str]:
    """The words as they are written, but for a capital that only begins the text."""
    words = [word for word in (one.strip(".,;:!?\"'`()") for one in text.split()) if word]
    return [words[0].casefold() if words[0].isalpha() else words[0], *words[1:]] if words else []


def _keeps_small_words(part: str, whole: str) -> bool:
    """Whether each small word stands beside the same word still, and no name changed between capitals and none."""
    ours, theirs = _raw(part), _raw(whole)
    written, folded = set(theirs), {word.casefold() for word in theirs[1:]}
    if any(word not in written and word.casefold() in folded for word in ours[1:]):
        return False
    kept = _beside(theirs)
    return all(any(pair in kept for pair in pairs) for pairs in _around(ours))


def _around(words: Sequence[str]) -> Iterable[list[tuple[str, str]]]:
    """Each small word with the word before it and with the one after it."""
    low = ["", *(word.casefold() for word in words), ""]
    for place in range(1, len(low) - 1):
        if low[place] in SMALL:
            yield [(low[place - 1], low[place]), (low[place], low[place + 1])]


def _beside(words: Sequence[str]) -> set[tuple[str, str]]:
    return {pair for pairs in _around(words) for pair in pairs}


def _differ_in_a_word(one: str, two: str) -> bool:
    """Whether texts of one length differ in a word or two that are not other words for the same."""
    first, second = _raw(one), _raw(two)
    if len(first) != len(second):
        return False
    other = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
    return len(other) <= FEW and not all(_is_synonym(x, y) for x, y in other)


def _is_synonym(one: str, two: str) -> bool:
    ours, theirs = ([unit.stem for unit in read(word).units] for word in (one, two))
    return one.casefold() != two.casefold() and bool(ours) and ours == theirs


def _missing(part: Claim, whole: Claim) -> Iterable[str]:
    if not all(_in_order(*pair) for pair in _by_kind(part.quantities, whole.quantities)):
        yield "quantity"
    if not all(_in_order(*pair) for pair in _by_kind(part.dates, whole.dates)):
        yield "date"
    if set(part.polarity) - set(whole.polarity):
        yield "polarity"
    if set(part.order) - set(whole.order):
        yield "order"
    named = [unit.surface for unit in part.units if unit.case == "mid"]
    opening = {unit.stem for unit in part.units if unit.case == "first"}
    if not _in_order(named, [unit.surface for unit in whole.units]) or opening - {unit.stem for unit in whole.units}:
        yield "name"


def _by_kind(
    part: Sequence[tuple[str, str]], whole: Sequence[tuple[str, str]]
) -> Iterable[tuple[list[str], list[str]]]:
    """The values of each dimension or kind of date, of the part and of the whole."""
    for kind in dict.fromkeys(kind for kind, _ in part):
        yield [value for one, value in part if one == kind], [value for one, value in whole if one == kind]


def _in_order(values: Sequence[str], among: Sequence[str]) -> bool:
    rest = iter(among)
    return all(value in rest for value in values)


def _words(claim: Claim) -> Counter[str]:
    return Counter(unit.stem for unit in claim.units)
