"""Whether two facts claim different things: the value-change guard. Pure.

A change of number, unit, date, name, negation or of one content word must never be swallowed as a duplicate, however
close two vectors are. So the guard reads both facts (`claims`), compares part by part, and in doubt says
*changed*: storing one fact too many loses nothing, swallowing one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from engram.english import lexicon as lex
from engram.english.claims import Claim, Unit, read
from engram.text import compared

KINDS = ("date", "extra", "name", "order", "polarity", "quantity", "word")


def changes(candidate: str, existing: str) -> tuple[str, ...]:
    """In which ways a candidate claims something else than an existing fact; empty for a near-duplicate.

    The kinds: `quantity`, `date`, `polarity`, `order` (before, after), `name`, `word` (a word replaced), `extra` (the
    candidate says more). A candidate that says less in the same words is unchanged.
    """
    if compared(candidate) == compared(existing):
        return ()
    one, two = read(candidate), read(existing)
    found = {kind for kind, differ in _values(one, two) if differ}
    found |= _words(one, two, structure=not found)
    return tuple(sorted(found))


def are_of_two(candidate: str, existing: str) -> bool:
    """Whether two facts are about two things of a kind, which a number or a name before the verb tells apart.

    "Room 301 has 2 seats" and "Room 311 has 24" do not speak of one room; "The budget is $500" and "$700" of one.
    """
    first, second = _told_apart_by(read(candidate)), _told_apart_by(read(existing))
    return bool(first - second) and bool(second - first)


def _told_apart_by(claim: Claim) -> Counter[str]:
    """The names before the verb of a claim, and the numbers that follow a word there: one that comes first counts."""
    copula = claim.copula
    subject = [unit for unit in claim.units[:copula] if copula is not None or not unit.after_verb]
    return Counter(
        unit.stem
        for place, unit in enumerate(subject)
        if unit.marker != "@" and (unit.case == "mid" or (place > 0 and any(map(str.isdigit, unit.stem))))
    )


def is_minimal_pair(a: str, b: str) -> bool:
    """Whether two texts are alike but for one or two replaced words: the surest sign of a changed value."""
    first, second = [u.stem for u in read(a).units], [u.stem for u in read(b).units]
    return len(first) == len(second) and 0 < sum(x != y for x, y in zip(first, second, strict=True)) <= 2


def _values(one: Claim, two: Claim) -> Iterable[tuple[str, bool]]:
    yield "quantity", _by_dimension(one.quantities, two.quantities) != _by_dimension(two.quantities, one.quantities)
    yield "date", _grouped(one.dates) != _grouped(two.dates)
    yield "polarity", one.polarity != two.polarity
    yield "order", one.order != two.order
    yield "name", _names_differ(one, two)


def _grouped(values: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for kind, value in values:
        groups.setdefault(kind, []).append(value)
    return groups


def _by_dimension(own: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Quantities by what they measure, in order; "pounds" is whichever the other side means, money or mass."""
    others = {dimension for dimension, _ in other}
    resolved = []
    for dimension, value in own:
        if dimension == "pound" and "gbp" in others:
            dimension = "gbp"
        resolved.append((dimension, value))
    return _grouped(resolved)


def _names_differ(one: Claim, two: Claim) -> bool:
    """The same names in the same order, unless the whole sentence only moved its parts."""
    names = {unit.surface for unit in (*one.units, *two.units) if unit.case == "mid"}
    first = [unit.surface for unit in one.units if unit.surface in names]
    second = [unit.surface for unit in two.units if unit.surface in names]
    if first == second:
        return False
    return Counter(first) != Counter(second) or not _same_structure(one, two)


def _words(one: Claim, two: Claim, *, structure: bool) -> set[str]:
    first, second = _content(one), _content(two)
    if not set(first) <= set(second) and not set(second) <= set(first):
        return {"word"}
    ours, theirs = Counter(first), Counter(second)
    more, less = ours - theirs, theirs - ours
    if more and not less and set(more) <= {"self", "self~"} and not _has_subject(two):
        more.clear()
        one = _without(one, {"self", "self~"})
    if more:
        return {"word"} if less else {"extra"}
    if less:
        kept = _drop(two, less)
        if kept is None:
            return {"word"}
        two = kept
    # Quantities and dates stand in the structure too: once they differ it says nothing of its own.
    return {"word"} if structure and not _same_structure(one, two) else set()


def _content(claim: Claim) -> list[str]:
    return [unit.stem for unit in claim.units if not unit.stem.startswith("#")]


def _has_subject(claim: Claim) -> bool:
    people = set(lex.PRONOUNS.values()) | set(lex.POSSESSIVES.values())
    return any(unit.stem in people for unit in claim.units)


def _without(claim: Claim, stems: set[str]) -> Claim:
    return _with_units(claim, [unit for unit in claim.units if unit.stem not in stems])


def _with_units(claim: Claim, units: Sequence[Unit]) -> Claim:
    return Claim(tuple(units), claim.quantities, claim.dates, claim.polarity, claim.order, claim.english)


def _drop(claim: Claim, less: Counter[str]) -> Claim | None:
    """The claim without the words the other side lacks; None where leaving them out changes what is said."""
    if not claim.english:
        return None  # of an unknown grammar nobody can say which words carry the claim
    missing, gone = Counter(less), set()
    for place in range(len(claim.units) - 1, -1, -1):  # adjuncts stand last: drop later words first
        stem = claim.units[place].stem
        if missing[stem] > 0:
            missing[stem] -= 1
            gone.add(place)
    if not all(_may_go(claim.units, place, gone) for place in gone):
        return None
    return _with_units(claim, [unit for place, unit in enumerate(claim.units) if place not in gone])


def _may_go(units: Sequence[Unit], place: int, gone: set[int]) -> bool:
    unit = units[place]
    if unit.stem in ("he", "she", "we", "they", "you"):
        return False
    if unit.stem in ("self", "self~") or unit.surface.endswith("ly") or unit.surface in lex.FREQUENCY:
        return True
    phrase = [i for i, other in enumerate(units) if other.phrase == unit.phrase]
    if all(i in gone or units[i].stem.startswith("#") for i in phrase):
        return unit.after_verb and unit.marker not in lex.OPENERS_THAT_BIND
    following = place + 1
    while following in gone:
        following += 1
    # An adjective may go, a noun that heads its phrase may not: something kept must follow in the same phrase.
    modifies = following < len(units) and units[following].phrase == unit.phrase and not units[following].article
    return unit.after_verb and modifies and not units[following].stem.startswith("#")


def _same_structure(one: Claim, two: Claim) -> bool:
    """The same words in the same places, where phrases with a preposition may stand first or last."""
    if _flat(one.units) == _flat(two.units):
        return all(_markers_agree(a.marker, b.marker) for a, b in zip(one.units, two.units, strict=True))
    if _turned(one) == _flat(two.units) or _turned(two) == _flat(one.units):
        return True
    first, second = _phrases(one.units), _phrases(two.units)
    return first == second and len(first.get("", ())) <= 1


def _flat(units: Sequence[Unit]) -> list[str]:
    return [unit.stem for unit in units]


def _turned(claim: Claim) -> list[str] | None:
    """ "Blue is the user's favourite colour" as "the user's favourite colour is blue"."""
    if claim.copula is None:
        return None
    left, right = claim.units[: claim.copula], claim.units[claim.copula :]
    definite = any(side and (side[0].article or any(u.stem.endswith("~") for u in side)) for side in (left, right))
    return _flat((*right, *left)) if definite and left and right else None


def _markers_agree(one: str, two: str) -> bool:
    strict = {"or", "from", "against", "despite", "than"}
    if one == two or (one in ("", "@") and two in ("", "@")):
        return True
    return not (one and two) and not {one, two} & strict


def _phrases(units: Sequence[Unit]) -> dict[str, list[tuple[str, ...]]]:
    groups: dict[int, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit.phrase, []).append(unit)
    found: dict[str, list[tuple[str, ...]]] = {}
    for members in groups.values():
        found.setdefault(members[0].marker, []).append(tuple(_flat(members)))
    return found
