"""Echoes: what is said of a value without naming what it is the value of, and of what it was said before.

"No, it's violet, not indigo" and "I don't use Vim anymore" mean something only beside what the scope holds: the
newest value under a key that they name decides. One that names none keeps its words, or is nothing without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import likeness, policies
from engram.database import Connection, ending, fetch_ahead, fetch_all
from engram.english import attributes, brands, courses, frames, moves, news, orders, phrases
from engram.english.attributes import Echo
from engram.english.claims import stem
from engram.english.courses import Told
from engram.english.feasts import WEEKDAY
from engram.english.subjects import PEOPLE, plain
from engram.english.worth import is_statement
from engram.errors import PASSING, class_of
from engram.lineage import Order
from engram.operations import steps
from engram.operations.setup import Setup
from engram.operations.steps import Operation
from engram.policies import MemoryPolicy
from engram.policies.classify import Classified, Proposal, classify, value_of
from engram.regex import regex
from engram.values import trust_rank
from engram.writing import Draft, Origin
from engram.writing.judging import opposed, stands_beside

_LIGHT: Final = """
    user user's the a an my from by at with to on in for of off as using use uses using going go goes doing do does
    working work works being is been having has have owning owns own job account subscription membership contract plan
    see sees seeing any more anymore longer now already completely entirely altogether and good
"""
LIGHT: Final = frozenset(_LIGHT.split())
"""What may be said of a value that is over, whatever it is the value of."""
SHORTEST: Final = 3  # characters of a value that is looked for in other words
Pair = tuple[Draft, Origin]
Said = tuple[datetime, str, int]
"""When something was said last: the moment at which that was recorded, its event, and its place there."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was told before: under a key with the value it gave, or without one; `is_head` where it is what holds."""

    key: str | None
    value: str | None
    is_head: bool
    fact: str
    said: Said
    stands: datetime
    trust: int
    subject: str | None = "user"
    lineage: str | None = None  # what it is one state of, where it has no key

    @property
    def told(self) -> Told:
        """Its words."""
        return _told(self.fact)

    @property
    def order(self) -> Order:
        """Where it stands among what is told of the same."""
        return (self.stands, *self.said)


@lru_cache(maxsize=4096)
def _told(fact: str) -> Told:
    return Told(plain(fact), fact)


def resolved(
    setup: Setup, tenant_id: str, scope_id: int, pairs: Sequence[Pair], *, parks: bool = True
) -> Operation[list[Pair]]:
    """The drafts with each echo put under the key it is about, or left out where it means nothing alone.

    One on which that fails is refused for it; unless it `parks`, the error is raised.
    """
    if not looks(pairs):
        return list(pairs)
    if any(draft.echo is not None and draft.echo.akin for draft, _ in pairs):
        yield from ready()
    look = partial(resolve, setup, tenant_id=tenant_id, scope_id=scope_id, pairs=pairs, parks=parks)
    return (yield from steps.read(tenant_id, lambda conn: look(ending(conn))))


def ready() -> Operation[None]:
    """Read the table of words before a transaction needs it."""
    if not likeness.is_loaded():
        yield from steps.think(likeness.load)


def resolve(
    setup: Setup, conn: Connection, tenant_id: str, scope_id: int, pairs: Sequence[Pair], *, parks: bool = True
) -> list[Pair]:
    """The same within a transaction, against what a scope holds."""
    if not looks(pairs):
        return list(pairs)
    return list(_put(setup, pairs, _known(setup, conn, tenant_id, scope_id), parks=parks))


def looks(pairs: Iterable[Pair]) -> bool:
    """Whether any of these drafts is read by what the scope holds: then nobody else may write to it meanwhile. Pure."""
    return any(draft.echo for draft, _ in pairs)


def still_means(
    setup: Setup, conn: Connection, tenant_id: str, scope_id: int, pairs: Sequence[Pair], put: Sequence[Pair]
) -> bool:
    """Whether drafts mean what they were `put` as, their vectors apart, beside what the scope holds by now."""
    if not looks(pairs):
        return True
    now = resolve(setup, conn, tenant_id, scope_id, pairs)
    return now == [(replace(draft, vector=None), origin) for draft, origin in put]


def _known(setup: Setup, conn: Connection, tenant_id: str, scope_id: int) -> list[Known]:
    """The values of a scope's keys, what was said last first, then what it holds without one."""
    keyed = fetch_ahead(conn, "list_keyed_values", tenant_id=tenant_id, scope_id=scope_id)
    told = fetch_all(conn, "list_told_facts", tenant_id=tenant_id, scope_id=scope_id)
    return [
        Known(row.conflict_key, value, value is not None and row.status == "active", row.fact, *_placed(row))
        for row in keyed()
        if (value := value_of(setup.policy, row.fact, row.conflict_key)) is not None or _of_work_before(row.fact)
    ] + [
        Known(None, None, row.status == "active", row.fact, *_placed(row), row.subject, row.lineage_id) for row in told
    ]


def _placed(row: Row[Any]) -> tuple[Said, datetime, int]:
    return _said(row), row.stands_at, row.trust


def _said(one: Row[Any] | Origin) -> Said:
    return one.recorded_at, one.event_id, one.ordinal


def _as_a_weight(draft: Draft, known: Sequence[Known]) -> Draft:
    """The draft without the key of the user's weight where it names none and is far from what that is: a lift."""
    key = draft.classified.conflict_key
    if key != _WEIGHT or "weigh" in plain(draft.fact):
        return draft
    held = _head(known, key)
    before, now = (re.search(r"\d+(?:[.,]\d+)?", text) for text in ((held.value or "") if held else "", draft.fact))
    if before is None or now is None:
        return draft
    was, new = (float(found.group().replace(",", ".")) for found in (before, now))
    is_far = not was * (1 - _CHANGES_BY) <= new <= was * (1 + _CHANGES_BY)
    return replace(draft, classified=_keyless(draft), echo=None) if is_far else draft


_WEIGHT: Final = f"{frames.PROFILE}weight"
_CHANGES_BY: Final = 0.2
"""How much of a weight somebody may have lost or gained when it is told again."""


def _put(setup: Setup, pairs: Sequence[Pair], known: Sequence[Known], *, parks: bool) -> Iterator[Pair]:
    """Each draft in turn; what was drafted before an echo is known to it. Pure."""
    seen = list(known)
    left = list(pairs)
    while left:
        pair = left.pop(0)
        if pair[0].failed:
            yield pair
            continue
        try:
            made, left, seen = _put_one(setup, pair, left, seen)
        except PASSING:
            raise
        except Exception as error:
            if not parks:
                raise
            made = replace(pair[0], refused=f"its place among what is known failed ({class_of(error)})", failed=True)
        if made is not None:
            yield replace(made, echo=None), pair[1]


def _put_one(
    setup: Setup, pair: Pair, left: list[Pair], seen: list[Known]
) -> tuple[Draft | None, list[Pair], list[Known]]:
    """What becomes of one draft, which of those behind it are left, and what is known then. Pure."""
    draft, origin = pair
    draft = _as_a_weight(draft, seen)
    made: Draft | None = draft
    moved = _ordered(setup, draft, seen) or _moved(setup, draft, seen)
    others = seen if draft.echo is None or not draft.echo.order else _but_orders(seen)
    if moved is not None:
        made = moved
        left = [pair for pair in left if not (draft.echo and draft.echo.whole and _is_within(pair, origin))]
    elif draft.echo is not None and draft.echo.whole:
        within = [pair for pair in left if _is_within(pair, origin)]
        made = None
        if not any(_is_settled(setup, one, draft.echo, seen) for one, _ in within):
            made = _course(setup, draft, others) or _by_value(setup, draft, others) or _akin(setup, draft, others)
        by_itself = draft.classified.conflict_key is not None and draft.fact.startswith("User")
        if made is None and not within and by_itself:
            made = draft  # it says what it is about, and of whom
        left = left if made is None else [pair for pair in left if pair not in within]
    elif draft.echo is not None:
        made = _under_its_key(setup, draft, draft.echo, others)
        if made is None or made.echo is not None or made == replace(draft, echo=None):
            made = (
                _course(setup, draft, others)
                or _by_value(setup, draft, others)
                or _akin(setup, draft, others)
                or _set_against(setup, draft, others)
                or made
            )
    return made, left, seen if made is None else _followed(setup, made, origin, seen)


def _is_within(pair: Pair, whole: Origin) -> bool:
    """Whether a draft is of a clause of a sentence that was drafted as a whole, too."""
    origin = pair[1]
    inside = whole.char_start <= origin.char_start and origin.char_end <= whole.char_end
    return origin.event_id == whole.event_id and origin.deriver == whole.deriver and inside


def _is_settled(setup: Setup, draft: Draft, whole: Echo, known: Sequence[Known]) -> bool:
    """Whether a clause says by itself what it is about: then nothing is read of the sentence around it.

    A denial in a sentence that corrects a slip does not: what is right stands beside it.
    """
    key = draft.classified.conflict_key
    if key is not None and not frames.is_loose(key):
        return not (whole.akin == "slip" and draft.classified.negates is not None)
    if draft.echo is None:
        return False
    made = _under_its_key(setup, draft, draft.echo, known)
    return made is not None and made.echo is None and made != replace(draft, echo=None)


def _followed(setup: Setup, made: Draft, origin: Origin, seen: list[Known]) -> list[Known]:
    """What is known once a draft is written, in the order in which it is read: two drafts of one call or of two."""
    if made.is_evidence or is_statement(made.classified.category, origin.deriver):
        return seen
    key, placed = made.classified.conflict_key, (_said(origin), made.stands(origin), trust_rank(origin.trust))
    held = _head(seen, key)
    if key is None or stands_beside(setup.policy, made, None if held is None else held.fact):
        before = _before(made, seen)
        line = made.fact if before is None else before.lineage
        return _taken_in(seen, before, Known(None, None, True, made.fact, *placed, made.classified.subject, line))
    if not key.startswith(frames.PROFILE):
        return seen
    value = value_of(setup.policy, made.fact, key)
    after = _taken_in(seen, held, Known(key, value, value is not None, made.fact, *placed))
    return [one for one in after if one.value is not None or one.key is None or _of_work_before(one.fact)]


def _before(made: Draft, seen: Sequence[Known]) -> Known | None:
    """The memory without a key whose place a draft will take: the one it names, or says the opposite of."""
    heads = [one for one in seen if one.key is None and one.is_head]
    told = [one.fact for one in heads]
    named = made.succeeds or (None if made.fact in told else opposed(made, told))
    return next((one for one in heads if one.fact == named), None)


def _taken_in(seen: Sequence[Known], head: Known | None, new: Known) -> list[Known]:
    """What is known with another statement beside the head of its lineage, as `lineage.places` would have it.

    What is contested is no longer looked at.
    """
    if head is None:
        return _with(seen, new)
    if new.order <= head.order:
        trusted_more = new.trust < head.trust
        return _with([one for one in seen if one is not head], new) if trusted_more else _with(seen, _past(new))
    return list(seen) if new.trust > head.trust else _with([_past(one) if one is head else one for one in seen], new)


def _past(one: Known) -> Known:
    return replace(one, is_head=False)


def _head(known: Iterable[Known], key: str | None) -> Known | None:
    """What holds under a key; None without one."""
    return None if key is None else next((one for one in known if one.key == key and one.is_head), None)


def _succeeded(head: Known | None) -> str | None:
    """The head that a draft under its key has to name: of a strict key it follows it anyway."""
    return head.fact if head is not None and frames.is_loose(head.key) else None


def _of_work_before(fact: str) -> bool:
    return attributes.worked_at(plain(fact)) is not None


def _with(seen: Sequence[Known], new: Known) -> list[Known]:
    return sorted([new, *seen], key=lambda one: (one.key is not None, one.said), reverse=True)


# ------------------------------------------------ orders


def _ordered(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft in the place of the one order of which it says that it ends or changes; None where that is not one."""
    if draft.echo is None or not draft.echo.order or draft.classified.conflict_key is not None:
        return None
    said = draft.echo.order
    heads = (one for one in known if one.is_head and one.fact != draft.fact)
    found = [(one, after) for one in heads if (after := orders.follows(said, one.fact)) is not None]
    if len(found) != 1:
        return None
    about, fact = found[0]
    if about.key is not None:
        return _ending(draft, about) if fact == said else None
    if fact == said and orders.change(draft.fact) is None and orders.read(draft.fact) is None:
        fact = said.strip(" .!")  # "Don't archive them any longer" is of what the user does only where no order is
    return _following(draft if fact == said else _restated(setup, draft, fact), about)


def _but_orders(known: Sequence[Known]) -> list[Known]:
    """What is known, without the orders: of these only what is read as said of one is news."""
    return [one for one in known if one.key is not None or orders.read(one.fact) is None]


def _restated(setup: Setup, draft: Draft, fact: str) -> Draft:
    """An order told anew with something else in it, of the type that it has."""
    made = _restating(setup, draft, fact)
    return replace(made, classified=replace(made.classified, memory_type="constraint", subject="user"))


# ------------------------------------------------ the course of things


def _course(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft as news of the one memory of which it says that it is over or has changed; None where none is."""
    echo = draft.echo
    if echo is None or _is_left_out(setup.policy, draft.fact):
        return None
    if echo.otherwise and draft.classified.subject in (None, "user"):
        before = _before_its_key(draft, known)
        if before is not None:
            return replace(draft, echo=None, succeeds=before.fact)
        if echo.alone and _head(known, draft.classified.conflict_key) is not None:
            return replace(draft, echo=None)
    if _has_its_key(draft, known):
        return None
    own, said = draft.classified.subject, f"{draft.fact} {echo.course.old or '' if echo.course else ''}"
    course = echo.course
    if course is not None and re.search(r"(?<!^)\bUser\b", draft.fact):
        own = "user"  # "User's doctor took User off it" is of the user, "Ann no longer cuts User's hair" too
    whole = course is not None and course.old is not None and course.new is not None
    itself = (own or "").removeprefix("the ")
    if whole and course is not None and (itself in (course.old, course.new) or _is_attribute(own)):
        own = "user"  # "Starling has replaced Halifax", "My bank used to be Halifax, now it's Starling"
    if course is not None and course.over is not None and draft.fact.startswith("The "):
        own = "user"  # "The Honda got stolen" is of the one the user has
    over = course.over or "" if course is not None else ""
    heads = [
        one
        for one in known
        if one.is_head
        and (
            _of_the_same(one.subject, own)
            or courses.names(said, one.subject)
            or (over and courses.is_pet(plain(one.fact), over) and not _is_also_anothers(known, over))
            or (over == itself and _is_a_thing(plain(one.fact), over))
        )
    ]
    if course is not None and course.alone and course.new is not None:
        new = _as_written(course.new, draft.fact)  # and who says goodbye to a town may be on a journey
        heads = [one for one in heads if one.key != frames.HOME and one.told.writes(course.old or "", new)]
    if course is not None and course.old is not None and course.new is not None:
        if itself in (course.old, course.new):
            heads = _just_one(heads, course.old)
        heads = _of_what_changed(draft, heads)
        return _replacing(setup, draft, course.old, course.new, heads)
    if course is not None and course.old is not None and course.says is not None:
        return _correcting(setup, draft, course.old, course.says, heads)
    if course is not None and course.back is not None:
        after_all = _after_all(draft, course.back, heads) or _preferring(draft, heads)
        return after_all or _going_back(setup, draft, course.back, known) or _otherwise(draft, heads)
    if course is not None and course.over is not None:
        about = _best(heads, lambda one: one.told.is_over(over, course.said))
        return None if about is None else _ending(draft, about)
    if echo.same is not None:
        same = _best(heads, lambda one: one.told.is_same(f"user{echo.same}"))
        return None if same is None or same.key is not None else _restating(setup, draft, same.fact)
    if not echo.otherwise:
        return None
    kin = courses.kin_at_school(plain(draft.fact))
    if kin is not None and any(one.is_head and moves.are_several(kin, plain(one.fact)) for one in known):
        return None  # of two sons either may be meant
    return _after_all(draft, plain(draft.fact), heads) or _preferring(draft, heads) or _otherwise(draft, heads)


def _is_a_thing(fact: str, name: str) -> bool:
    """Whether the user has a thing that is called by a name, as nobody is: "User drives a Corsa"."""
    return (
        bool(name) and re.search(rf"^user [a-z]+ (?:an?|the|user's)(?: [\w-]+)? {re.escape(name)}$", fact) is not None
    )


def _just_one(heads: Sequence[Known], old: str) -> list[Known]:
    """The one memory that names a value of which no more is said than what has replaced it; none where several do."""
    named = [one for one in heads if one.told.names(old)]
    return named if len(named) == 1 and named[0].key != frames.HOME else []


def _is_attribute(subject: str | None) -> bool:
    """Whether what something is told of is an attribute of the user, and nobody else."""
    return (
        subject is not None and subject.startswith("user's ") and attributes.noun(subject[len("user's ") :]) is not None
    )


def _of_what_changed(draft: Draft, heads: Sequence[Known]) -> list[Known]:
    """The memories about what a statement says was changed, where it does: "I switched my side project from Go"."""
    changed = _WHAT_CHANGED.match(plain(draft.fact))
    about = courses.topic("" if changed is None else changed["what"])
    return [one for one in heads if not about or about & courses.topic(plain(one.fact))]


_WHAT_CHANGED: Final = regex(
    r"^user (?:\w+ly |has |just )*(?:switched|moved|changed|migrated|converted|ported) (?:user's|the) "
    r"(?P<what>[^,;:]{2,40}?) "
    r"(?:over )?from "
)


def _is_also_anothers(known: Sequence[Known], name: str) -> bool:
    """Whether somebody else is called by a name that is a pet's, too."""
    return any(
        one.is_head and courses.is_named(plain(one.fact), name) and not courses.is_pet(plain(one.fact), name)
        for one in known
    )


def _preferring(draft: Draft, heads: Sequence[Known]) -> Draft | None:
    """The draft in the place of the memory that prefers what something else is preferred to by now."""
    said = plain(draft.fact)
    before = next((one for one in heads if one.key is None and one.told.preferred(said)), None)
    return None if before is None else _following(draft, before)


def _moved(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft in the place of the one memory of a thing that was at another day, place or amount; None for others."""
    if (
        draft.echo is None
        or not draft.echo.moved
        or _has_its_key(draft, known)
        or _is_left_out(setup.policy, draft.fact)
    ):
        return None
    course, said = draft.echo.course, plain(draft.fact)
    if course is not None and course.back is not None:
        again = _going_back(setup, draft, course.back, known)
        if again is not None:
            return again
    heads = [one for one in known if one.is_head]
    taking = ((one, moves.takes_place(said, draft.fact, plain(one.fact), one.fact)) for one in heads)
    found = [(one, taken) for one, taken in taking if taken is not None]
    others = (one for one in heads if moves.may_be_of_another(said, draft.fact, plain(one.fact)))
    if not found or any(taken != found[0][1] for _, taken in found) or next(others, None) is not None:
        return None  # two are called so, and either may be meant
    one, taken = found[0]
    if one.key is not None or not taken.whole:
        made = _replacing(setup, draft, taken.old, taken.new, [one])
        if made is None or one.subject != taken.old:
            return made
        return replace(made, classified=replace(made.classified, subject=taken.new))  # it is told of whom it was
    subject = one.subject or draft.classified.subject
    return replace(draft, echo=None, succeeds=one.fact, classified=replace(_keyless(draft), subject=subject))


def _after_all(draft: Draft, said: str, heads: Sequence[Known]) -> Draft | None:
    """The draft in the place of the memory that denies what it says is so now, or again."""
    denial = next((one for one in heads if one.key is None and one.told.denies(said)), None)
    return None if denial is None else _following(draft, denial)


def _before_its_key(draft: Draft, known: Sequence[Known]) -> Known | None:
    """The memory without a key that gave another value to a thing to which a draft is the first to give one by key."""
    said = plain(draft.fact)
    if _head(known, draft.classified.conflict_key) is not None:
        return None
    heads = (one for one in known if one.key is None and one.is_head and _of_the_same(one.subject, "user"))
    moved = draft.echo is not None and draft.echo.moved and draft.classified.conflict_key is not None
    gave = (
        one for one in heads
        if one.told.gave(said, draft.fact)
        or (moved and moves.takes_place(said, draft.fact, plain(one.fact), one.fact) is not None)
    )  # fmt: skip
    return next((one for one in gave if not moves.may_both_be(said, draft.fact, plain(one.fact), one.fact)), None)


def _otherwise(draft: Draft, heads: Sequence[Known]) -> Draft | None:
    """The draft as another value of what one memory tells."""
    said = plain(draft.fact)

    def alike(one: Known) -> float:
        score = one.told.otherwise(said, draft.fact) if one.key is None else 0.0
        if score > 0 and _are_for_other_uses(draft, one):
            return 0.0
        return 0.0 if score > 0 and moves.may_both_be(said, draft.fact, plain(one.fact), one.fact) else score

    about = _best(heads, alike)
    return None if about is None else _following(draft, about)


def _are_for_other_uses(draft: Draft, one: Known) -> bool:
    """Whether a statement and a memory tell of what is used, each for something else: Sentry now, and Stripe."""
    both = (plain(draft.fact), plain(one.fact))
    return all(map(_USES.search, both)) and brands.differ_in_sort(draft.fact, one.fact)


_USES: Final = regex(
    r"\b(?:user|team|group) (?:now )?(?:uses|is using|has|runs|(?:has )?(?:switched|moved|migrated) (?:over )?to)\b"
    r"(?!.* (?:for|as|to)\b)"
)
"""What is used, and not for what: a well-known name says that."""


def _correcting(setup: Setup, draft: Draft, old: str, says: str, heads: Sequence[Known]) -> Draft | None:
    """What is said to be so, in the place of the memory that names what is not."""
    heads = [one for one in heads if not one.told.is_other(says)]
    named = [one for one in heads if one.told.names(old) and one.told.shares(says) > 0]
    about = max(named, key=lambda one: one.told.shares(says), default=None)
    about = about or next((one for one in _latest(heads) if one.told.was_only(old, says)), None)
    if about is None:
        value = courses.value_of(says, old)
        one_of = [one for one in heads if one.told.names(old)]
        if value is None or len(one_of) != 1 or not brands.are_of_one_sort(value, old):
            return None
        return _replacing(setup, draft, old, value, one_of)
    place = plain(draft.fact).find(says)
    fact = draft.fact[place : place + len(says)].strip(" ,") if place >= 0 else draft.fact
    made = _restating(setup, draft, fact[:1].upper() + fact[1:])
    if about.key is None or made.classified.conflict_key == about.key:
        kept = made.classified if about.key is not None else _keyless(made)
        return replace(made, succeeds=about.fact, classified=kept)
    value = courses.value_of(says, old)
    return None if value is None else _replacing(setup, draft, old, value, [about])


def _set_against(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft in the place of the one memory whose value the words beside it name as what is over; None for others.

    "Sandbox was too slow, so we deploy to preview" needs no word of change where it was told that they deploy there.
    """
    echo, key, said = draft.echo, draft.classified.conflict_key, plain(draft.fact)
    if echo is None or not echo.beside or _is_left_out(setup.policy, draft.fact):
        return None
    head = _head(known, key)
    if head is not None:
        named = head.value is not None and news.masked(echo.beside, head.value) is not None
        return replace(draft, echo=None, succeeds=head.fact) if named and frames.is_loose(key) else None
    own = draft.classified.subject
    heads = [one for one in known if one.is_head and _of_the_same(one.subject, own)]
    heads = [one for one in heads if not moves.may_both_be(said, draft.fact, plain(one.fact), one.fact)]
    found = [one for one in heads if one.told.set_against(said, echo.beside)]
    if not found and key is None:
        return _in_their_place(setup, draft, echo.beside, known)
    if len(found) != 1:
        return None
    about = found[0]
    if about.key is None:
        return replace(draft, echo=None, succeeds=about.fact) if key is None else None
    value = None if about.value is None else courses.value_of(said, about.value)
    return None if value is None else _replacing(setup, draft, about.value or "", value, [about])


def _in_their_place(setup: Setup, draft: Draft, beside: str, known: Sequence[Known]) -> Draft | None:
    """The memory of somebody of whom the words beside a statement say that they are gone, with who came instead."""
    new = news.values(draft.fact)
    if len(new) != 1 or _HAS_NOW.match(plain(draft.fact)) is None or news.sign(beside) != "over":
        return None
    held = [(one, value) for one in known if one.is_head and _is_of_user(one) and (value := _value(one)) is not None]
    gone = [(one, value) for one, value in held if news.masked(beside, plain(value)) is not None]
    if len(gone) != 1 or gone[0][0].key == frames.HOME:
        return None
    one, value = gone[0]
    is_of_another_sort = brands.named(draft.fact) and not brands.are_of_one_sort(plain(value), plain(new[0]))
    if is_of_another_sort or courses.is_pet(plain(one.fact), plain(value)):
        return None
    return _replacing(setup, draft, plain(value), plain(new[0]), [one])


_HAS_NOW: Final = regex(
    r"user(?:'s (?:team|group))? (?:now )?(?:uses|has|calls|sees|goes to|works with|is with|hired|got|switched to)"
    r" [\w'. -]{1,40}?(?: now| instead| these days)?$"
)
"""What says who or what somebody has instead, and not for what."""


def _latest(heads: Sequence[Known]) -> Iterator[Known]:
    """What was told last under a loose key, and without one."""
    loose = [one for one in heads if one.key is not None][:1]
    yield from (one for one in loose if frames.is_loose(one.key))
    yield from [one for one in heads if one.key is None][:1]


def _going_back(setup: Setup, draft: Draft, back: str, known: Sequence[Known]) -> Draft | None:
    """The state a memory told before another took its place, told anew."""
    own = draft.classified.subject
    before = [one for one in known if one.key is None and not one.is_head and _of_the_same(one.subject, own)]
    was = _best(before, lambda one: one.told.is_over(back))
    heads = {one.lineage: one for one in known if one.key is None and one.is_head}
    if was is None or was.lineage not in heads or heads[was.lineage].fact == was.fact:
        return None
    return replace(_restating(setup, draft, was.fact), succeeds=heads[was.lineage].fact, classified=_keyless(draft))


def _is_left_out(policy: MemoryPolicy, fact: str) -> bool:
    """Whether a fact is of a slot that the policy has taken out of the default's: then both of its values stand."""
    rules = tuple(rule for rule in policies.get_policy("default").slot_rules if rule not in policy.slot_rules)
    if not rules:
        return False
    return classify(replace(policy, slot_rules=rules), Proposal(fact)).conflict_key is not None


def _has_its_key(draft: Draft, known: Sequence[Known]) -> bool:
    """Whether a draft has a key of its own that decides, and takes back nothing that its key does not hold."""
    key, negates = draft.classified.conflict_key, draft.classified.negates
    if key is None or frames.is_loose(key):
        return False
    return negates is None or any(one.is_head and one.key == key and one.value == negates for one in known)


def _of_the_same(one: str | None, other: str | None) -> bool:
    """Whether two statements are about the same: the user, or the same somebody else."""
    return one == other or {one, other} <= {None, "", "user"}


def _best(heads: Sequence[Known], alike: Callable[[Known], float]) -> Known | None:
    """The newest of those that are most alike; None where none is."""
    best = max(heads, key=alike, default=None)
    return None if best is None or alike(best) <= 0.0 else best


def _replacing(setup: Setup, draft: Draft, old: str, new: str, heads: Sequence[Known]) -> Draft | None:
    """The memory that names what went, told anew with what came: of the sentence only that is kept."""
    written = _as_written(new, draft.fact)
    said = plain(draft.fact)
    made = [(one, fact) for one in heads if (fact := one.told.replaced(old, written, said)) is not None]
    about = max(made, key=lambda pair: pair[0].told.shares(said), default=None)
    if about is None:
        return None
    one, fact = about
    fact = fact[:1].upper() + fact[1:]
    classified = classify(setup.policy, Proposal(fact))
    if one.key is not None and classified.conflict_key != one.key:
        return None
    classified = replace(classified, conflict_key=one.key, subject=one.subject or draft.classified.subject)
    return replace(draft, echo=None, fact=fact, succeeds=one.fact, classified=classified)


def _ending(draft: Draft, about: Known) -> Draft:
    over = replace(
        draft.classified, conflict_key=about.key, negates=about.value if about.key else None, critical_slot=None
    )
    return replace(draft, echo=None, succeeds=about.fact, classified=over)


def _restating(setup: Setup, draft: Draft, fact: str) -> Draft:
    return replace(draft, echo=None, fact=fact, classified=classify(setup.policy, Proposal(fact)))


def _following(draft: Draft, before: Known) -> Draft:
    """The draft in the place of a memory, without a key."""
    return replace(draft, echo=None, succeeds=before.fact, classified=_keyless(draft))


def _keyless(draft: Draft) -> Classified:
    return replace(draft.classified, conflict_key=None, negates=None, critical_slot=None)


# ------------------------------------------------ values, in whatever words


def _by_value(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft as news of the one memory whose value it names, or whose thing; None where there is not one. Pure."""
    if draft.echo is None or not draft.echo.loosely or _is_left_out(setup.policy, draft.fact):
        return None
    said = plain(draft.fact)
    if _IT_IS_AT.fullmatch(said) is not None:
        return _at_another_hour(setup, draft, known)
    if _has_its_key(draft, known) and _head(known, draft.classified.conflict_key) is not None:
        return None
    told = (one for one in known if one.key is None or one.value is not None)
    held = [(one, value) for one in told if _is_of_user(one) and (value := _value(one)) is not None]
    heads = [(one, value) for one, value in held if one.is_head and courses.is_state(plain(one.fact))]
    named = [(one, value) for one, value in heads if news.masked(said, plain(value)) is not None]
    others = [one for one in news.values(draft.fact) if plain(one) not in {plain(value) for _, value in named}]
    if len({plain(value) for _, value in named}) > 1 or len(others) > 1:
        return None
    if named and others:
        return _changing(setup, draft, named, others[0])
    if named:
        return _going(setup, draft, named)
    if not others or news.denies(said, plain(others[0])):
        return None
    return (
        _returning(setup, draft, held, others[0])
        or _coming(setup, draft, heads, others[0])
        or _of_its_sort(setup, draft, heads, known, others[0])
    )


def _at_another_hour(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The one ride told by when it goes, with another, where no more is said: "It's the 07:40 from now on"."""
    new = _BY_THE_CLOCK.findall(draft.fact)
    timed = [(one, _BY_THE_CLOCK.findall(one.fact)) for one in known if one.is_head and _RIDE.search(one.fact)]
    timed = [(one, hours) for one, hours in timed if hours]
    if len(timed) != 1 or len(timed[0][1]) != 1 or len(new) != 1:
        return None
    about, (old,) = timed[0]
    return _replacing(setup, draft, old, new[0], [about])


_BY_THE_CLOCK: Final = regex(r"(?<![\w:.])\d{1,2}[:.]\d\d(?![\w:.])")
_RIDE: Final = regex(r"\b(?:train|bus|tram|ferry|boat|coach|shuttle|tube|metro|subway)\b")
_IT_IS_AT: Final = regex(
    rf"(?:it's|it is|it'll be) (?:now )?the {_BY_THE_CLOCK.pattern}(?: (?:now|instead|these days|from now on|from "
    rf"here on|"
    r"from today(?: on)?|as of (?:now|today)))+"
)
"""What says nothing but at which hour something goes from now on: what is named by its hour alone is a ride."""


def _of_its_sort(setup: Setup, draft: Draft, heads: Sequence[Held], known: Sequence[Known], new: str) -> Draft | None:
    """The one memory whose value is of a sort with what somebody says they went over to: "I switched to Bitwarden"."""
    went = _WENT_OVER.match(plain(draft.fact))
    if went is None or went["new"] != plain(new):
        return None
    alike = [(one, value) for one, value in heads if brands.are_of_one_sort(plain(value), plain(new))]
    told = [(one, orders.follows(f"Switch to {new}", one.fact)) for one in known if one.is_head and one.key is None]
    ordered = [(one, fact) for one, fact in told if fact is not None]
    if len({one.lineage or one.key for one, _ in (*alike, *ordered)}) != 1:
        return None
    if ordered:
        about, fact = ordered[0]
        return None if fact is None else _following(_restated(setup, draft, fact), about)
    one, value = alike[0]
    return _replacing(setup, draft, plain(value), plain(new), [one])


_WENT_OVER: Final = regex(
    r"user(?:'s (?:team|group))? (?:\w+ly |has |just |now |also )*(?:(?:(?:switched|moved|migrated|went|gone|changed)"
    r"(?: back| over)? to|is over on|is on(?=.* (?:now|these days|instead)$)) (?:the )?(?P<new>[\w'. -]{1,30}?))"
    r"(?:,? (?:now|these days|instead|recently|at last|last \w+|this \w+|in \w+|yesterday|(?:a|two|three) \w+ ago))*$"
)
"""What says that something else was used before, and nothing of what for."""


Held = tuple[Known, str]


def _is_of_user(one: Known) -> bool:
    """Whether a memory is the user's: about them, or of somebody who does something for them."""
    if one.subject in (None, "", "user"):
        return True
    serves = _SERVES.search(one.fact) is not None and plain(one.fact).startswith(one.subject or "")
    return serves and not (one.subject or "").startswith("user's ")


_SERVES: Final = regex(r"(?<!^)\bUser\b")


@lru_cache(maxsize=4096)
def _value_told(fact: str) -> str | None:
    return news.value_in(fact)


def _value(one: Known) -> str | None:
    return one.value if one.value is not None else _value_told(one.fact)


def _most_alike(said: str, named: Sequence[Held]) -> Known:
    """Of the memories that hold a value the one that has most words of a statement, the newest of several."""
    return max(named, key=lambda pair: pair[0].told.shares(said))[0]


def _changing(setup: Setup, draft: Draft, named: Sequence[Held], new: str) -> Draft | None:
    said, old = plain(draft.fact), plain(named[0][1])
    if not news.changes(said, old, plain(new)) or news.is_number(old) != news.is_number(new):
        return None
    whose = draft.classified.subject
    if not _is_of_theirs(whose) and whose not in (old, plain(new)) and all(one.subject != whose for one, _ in named):
        return None  # who left the one, and who came to the other, is somebody else
    heads = [
        one
        for one, _ in named
        if one.key != frames.HOME and not news.is_elsewhere(said, plain(one.fact), old, plain(new))
    ]
    return _replacing(setup, draft, old, plain(new), _of_what_changed(draft, heads))


def _going(setup: Setup, draft: Draft, named: Sequence[Held]) -> Draft | None:
    said = plain(draft.fact)
    over = [pair for pair in named if news.ends(said, plain(pair[0].fact), plain(pair[1]))]
    over = [pair for pair in over if pair[0].told.may_end(said)]
    if not over and len(named) == 1 and news.serves_no_more(said, plain(named[0][0].fact), plain(named[0][1])):
        over = list(named)
    if over:
        return _ending(draft, _most_alike(said, over))
    about = _most_alike(said, named)
    value = next(value for one, value in named if one is about)
    same = news.goes_on(said) and news.says_no_more(said, plain(about.fact), plain(value))
    return _restating(setup, draft, about.fact) if same else None


def _returning(setup: Setup, draft: Draft, held: Sequence[Held], value: str) -> Draft | None:
    """What had a value before another took its place has it again."""
    said = plain(draft.fact)
    gone = [(one, was) for one, was in held if not one.is_head and one.key != frames.HOME]
    before = [(one, was) for one, was in gone if plain(was) == plain(value)]
    before = [(one, was) for one, was in before if news.returns(said, plain(one.fact), plain(was))]
    if not before:
        return None
    was = _most_alike(said, before)
    made = _restating(setup, draft, was.fact)
    if was.key is not None:
        now = _head((one for one, _ in held), was.key)
        if now is None or made.classified.conflict_key != was.key:
            return None
        return replace(made, succeeds=_succeeded(now))
    head = next((one for one, _ in held if one.key is None and one.is_head and one.lineage == was.lineage), None)
    return None if head is None else _following(made, head)


def _coming(setup: Setup, draft: Draft, heads: Sequence[Held], new: str) -> Draft | None:
    """The memory about the same thing, to which a statement gives another value."""
    said = plain(draft.fact)
    key = draft.classified.conflict_key
    strict = key is not None and not frames.is_loose(key)
    if draft.echo is not None and draft.echo.course is not None and draft.echo.course.over is not None:
        return None  # what is over does not come
    if not (news.is_new(said) or news.is_slip(said)):
        # Of what people have one of at a time another value needs no word of change.
        if not news.names_its_thing(said, plain(new)):
            return None
        heads = [pair for pair in heads if strict or not (pair[0].key is None or frames.is_loose(pair[0].key))]
        if _ON_SOME_DAYS.search(said) is not None:  # "My alarm is 6:00 on weekends" says nothing of the other days
            heads = [pair for pair in heads if _ON_SOME_DAYS.search(plain(pair[0].fact)) is not None]
    heads = [pair for pair in heads if not moves.may_both_be(said, draft.fact, plain(pair[0].fact), pair[0].fact)]
    heads = [pair for pair in heads if not _are_for_other_uses(draft, pair[0])]
    scored = [(news.alike(plain(one.fact), plain(value), said, plain(new)), one, value) for one, value in heads]
    best = max(scored, key=lambda row: row[0], default=None)
    if best is None or best[0] <= 0.0:
        return None
    score, about, value = best
    if any(one[0] == score and one[1] is not about and one[1].lineage != about.lineage for one in scored):
        return None
    if about.key is not None or draft.echo is None or draft.echo.alone:
        return _replacing(setup, draft, plain(value), plain(new), [about])
    return replace(draft, echo=None, succeeds=about.fact) if strict else _following(draft, about)


_ON_SOME_DAYS: Final = regex(rf" (?:on|at) (?:the )?(?:weekends?|weekdays|workdays|holidays|{WEEKDAY}s)$")


# ------------------------------------------------ what is most like it

ALIKE: Final = 0.5
"""How alike a statement must be to what it is news of; of a slip and an end, whose signs are sure, less is enough."""
SURELY: Final = 0.4
APART: Final = 0.1
"""How much less alike everything else must be."""


def _akin(setup: Setup, draft: Draft, known: Sequence[Known]) -> Draft | None:
    """The draft as news of the one memory that is most like it, by what it says has become of that; None for others.

    Likeness says what a statement is about, and not that it is of no more than that: who replaced a string of the piano
    still plays it. So the clause that bears the sign must name nothing that the memory does not.
    """
    if draft.echo is None or not draft.echo.akin or _is_left_out(setup.policy, draft.fact):
        return None
    key, said, what = draft.classified.conflict_key, plain(draft.fact), draft.echo.akin
    head = _head(known, key)
    if head is not None and not draft.echo.whole:  # its key decides, where the words of the fact say of the change
        name = (key or "").removeprefix(frames.PROFILE)
        told = what in ("new", "back", "slip") and frames.is_loose(key) and not phrases.goes_beside(name)
        return replace(draft, echo=None, succeeds=head.fact) if told else None
    mine = [one for one in known if _is_of_user(one) or _is_of_theirs(one.subject)]
    heads = [one for one in mine if one.is_head and courses.is_state(plain(one.fact)) and not _of_work_before(one.fact)]
    if what == "back":
        return _again(setup, draft, heads, mine)
    if what == "on":
        about = _most_like(said, [said], heads, ALIKE)
        return None if about is None or not _goes_on(draft, about) else _restating(setup, draft, about.fact)
    if what == "over":
        return _over(draft, said, heads)
    return _put_right(setup, draft, said, heads) if what == "slip" else None


def _over(draft: Draft, said: str, heads: Sequence[Known]) -> Draft | None:
    """The end of what a clause names and nothing beside; or what came instead, where another clause tells that."""
    clauses = _CLAUSES.split(said)
    ends = [part for part in clauses if news.sign(part) == "over"]
    about = _most_like(said, ends, heads, SURELY)
    if about is None or about.key == frames.HOME or not any(_names_only(part, about) for part in ends):
        return None
    if any(part not in ends and _COMES.match(part) for part in clauses):
        return _in_its_place(draft, about, said)
    return _ending(draft, about) if about.told.may_end(said) else None


def _put_right(setup: Setup, draft: Draft, said: str, heads: Sequence[Known]) -> Draft | None:
    """What a slip was told of, with what was meant in its place: "I meant the train, I don't take the tram"."""
    if _POINTS.search(said) is not None:
        return None  # of this time alone
    clauses = _CLAUSES.split(said)
    denied = [part for part in clauses if _DENIES.search(part)]
    about = _most_like(said, clauses, heads, SURELY)
    if about is None or about.key == frames.HOME:
        return None
    # A slip is put right when it is noticed: of what was told last, else of just what is denied.
    if about.said != max(one.said for one in heads) and not any(_names_only(part, about) for part in denied):
        return None
    meant = _MEANT.search(said)
    if meant is not None and about.value is not None and news.masked(said, about.value) is not None:
        return _replacing(setup, draft, about.value, meant["new"], [about])
    several = courses.is_in_company(plain(about.fact)) or courses.is_of_several(courses.topic(plain(about.fact)))
    return None if several else _in_its_place(draft, about, said)


def _again(setup: Setup, draft: Draft, heads: Sequence[Known], known: Sequence[Known]) -> Draft | None:
    """What a memory told before another took its place, where a clause says that it is so again and nothing else."""
    said = plain(draft.fact)
    back = [part for part in _CLAUSES.split(said) if news.sign(part) == "back"]
    gone = {one.fact: one for one in known if not one.is_head}
    was = _most_like(said, back, list(gone.values()), ALIKE)
    if was is None or news.is_once(said) or not any(_names_only(part, was) for part in back):
        return None
    same = (one for one in heads if (one.key == was.key if was.key is not None else one.lineage == was.lineage))
    now = next(same, None)
    if now is None or (was.key is None and now.key is not None):
        return None
    before, after = likeness.likeness(back[0], [plain(was.fact), plain(now.fact)])
    if before <= after:
        return None
    made = _restating(setup, draft, was.fact)
    if was.key is None:
        return _following(made, now)
    kept = replace(made.classified, conflict_key=was.key)
    return replace(made, succeeds=_succeeded(now), classified=kept)


def _most_like(said: str, clauses: Sequence[str], heads: Sequence[Known], least: float) -> Known | None:
    """The memory that a statement is like, or one of some clauses of it, where no other is nearly as much."""
    facts = [plain(one.fact) for one in heads]
    rows = [likeness.likeness(part, facts) for part in dict.fromkeys((said, *clauses))]
    scored = sorted(zip(map(max, zip(*rows, strict=True)), heads, strict=True), key=lambda one: -one[0])
    if not scored or scored[0][0] < least:
        return None
    best, about = scored[0]
    return None if any(score > best - APART for score, one in scored[1:] if one.fact != about.fact) else about


def _names_only(clause: str, about: Known) -> bool:
    """Whether a clause names something of a memory, and nothing that is not of it: no part, no case, no time."""
    named = _telling(clause)
    return bool(named) and "'s " not in clause.replace("user's ", "") and set(named) <= _stems(plain(about.fact))


def _goes_on(draft: Draft, about: Known) -> bool:
    """Whether a statement that something is still so names nothing, and counts nothing, that a memory does not."""
    held = about.fact.casefold()
    more = [word for word in _telling(plain(draft.fact)) if word not in _stems(held)]
    return len(more) <= _FEW and all(value.casefold() in held for value in news.values(draft.fact))


def _telling(said: str) -> list[str]:
    """The stems of the words of a statement that say which thing it is about."""
    return [stem(word) for word in _WORD.findall(said) if word not in _OF_ANY]


def _stems(said: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(said))


_FEW: Final = 2
_WORD: Final = regex(r"[\w'.:@+#-]*\w")
_ANY: Final = """
    user user's the a an my our we i it it's its that that's and so but is are am be been being has have do does doing
    not n't no never longer more any anymore again once back now finally just really actually still yet too gone over
    off done finished history stopped quit gave given up cancelled canceled dropped ditched scrapped abandoned shut down
    took taken came come turned for good with on in at to of by as out returned went gone go going goes rolled resumed
    restarted rejoined living live lives based home team group company app doesn't isn't don't aren't hasn't use uses
    using used meant way ones one things thing sadly unfortunately luckily all kept keep keeps running run going as
    always ever usual yes
"""
_OF_ANY: Final = frozenset(_ANY.split())
"""What says nothing of which thing a clause is, beside that it is over, so again or still so."""
_CLAUSES: Final = regex(r"[,;] (?:so |and |but )?| (?:so|but|and) (?=user\b)")
_POINTS: Final = regex(r"\bfor (?:that|this|those|these|now|today)\b")
_DENIES: Final = regex(r"\b(?:not|never|no)\b|n't\b")
_MEANT: Final = regex(r"\buser meant (?:to say )?(?:the |an? )?(?P<new>[\w'.-]+(?: [\w'.-]+){0,2}?)(?:,|;| not\b| -|$)")
_COMES: Final = regex(
    r"(?:user|user's \w+) (?:\w+ly |just |has |now )*(?:got|adopted|bought|picked|chose|chosen|joined|uses?|has|took|"
    r"taken|found|signed|hired|started|works?|goes|plays?|runs?|keeps?|sees?)\b"
)
"""What came in the place of what the same sentence says is over."""


def _is_of_theirs(subject: str | None) -> bool:
    """Whether something is told of the user, or of a thing or a group of theirs, and not of somebody else."""
    if subject in (None, "", "user"):
        return True
    last = (subject or "").split()[-1:]
    return (subject or "").startswith("user's ") and (last[0] in _GROUPS or last[0] not in PEOPLE)


_GROUPS: Final = frozenset(("team", "group", "company", "startup", "pet"))


def _in_its_place(draft: Draft, about: Known, said: str) -> Draft | None:
    """The draft in the place of a memory, under its key where it has one and the draft none of its own."""
    key = draft.classified.conflict_key
    if said == plain(about.fact) or (about.key is not None and key is not None):
        return None
    if about.key is not None:
        return replace(
            draft, echo=None, succeeds=about.fact, classified=replace(draft.classified, conflict_key=about.key)
        )
    return replace(draft, echo=None, succeeds=about.fact)


# ------------------------------------------------ values under keys


def _under_its_key(setup: Setup, draft: Draft, echo: Echo, known: Sequence[Known]) -> Draft | None:
    """The draft under the key its echo is about; unchanged or None where there is none. Pure."""
    left = None if echo.alone or (echo.name is not None and echo.over is None) else replace(draft, echo=None)
    if draft.classified.conflict_key is not None and not echo.alone:
        return left
    keyed = [one for one in known if one.key is not None and one.value is not None]
    if _PARTED.search(plain(draft.fact)):
        keyed = [one for one in keyed if not (one.key or "").startswith(_KEPT)]
    named = "" if echo.name is not None else echo.over or echo.same or ""
    about = _named(keyed, named) or next((one for one in keyed if _is_about(one, echo)), None)
    went_back = about is None and _WENT_BACK.match(plain(draft.fact)) is not None
    if went_back and echo.new is not None and any(attributes.worked_at(plain(one.fact)) == echo.new for one in known):
        return _restating(setup, draft, attributes.sentence_of("employer", _as_written(echo.new, draft.fact)))
    if about is None or about.key is None:
        return left
    if echo.same is not None:
        return _restating(setup, draft, about.fact)
    if echo.new is None:
        over = replace(draft.classified, conflict_key=about.key, negates=about.value, critical_slot=None)
        if _GROUP.match(draft.fact) and any(one.is_head and _PARTS_TOO.search(plain(one.fact)) for one in known):
            return None
        both = f"User and {_as_written(about.value or '', about.fact)}"
        return replace(draft, echo=None, classified=over, fact=_GROUP.sub(both, draft.fact))
    fact = attributes.sentence_of(about.key.removeprefix(frames.PROFILE), _as_written(echo.new, draft.fact))
    classified = classify(setup.policy, Proposal(fact))
    if classified.conflict_key != about.key or value_of(setup.policy, fact, about.key) != plain(echo.new):
        return _as_before(setup, draft, about, known) if echo.old is None else left
    succeeds = _succeeded(_head(known, about.key))
    return replace(draft, echo=None, fact=fact, classified=classified, succeeds=succeeds)


def _as_before(setup: Setup, draft: Draft, about: Known, known: Sequence[Known]) -> Draft:
    """What a memory of before told of a key, told anew; the draft itself where that holds, or has no key by itself."""
    made = _restating(setup, draft, about.fact)
    is_gone = not about.is_head and made.classified.conflict_key == about.key
    return replace(made, succeeds=_succeeded(_head(known, about.key))) if is_gone else replace(draft, echo=None)


_WENT_BACK: Final = regex(r"^user (?:\w+ly |has |just |now )*(?:(?:went|gone) back|returned) to (?!using |the )")
_GROUP: Final = regex(r"^User's group(?= )")
_PARTS_TOO: Final = regex(
    r"\b(?:band|duo|trio|quartet|orchestra|choir|startup|start-up|co-?founders?|business partners?|bandmates?)\b"
)
"""Whom else somebody may be told to have parted from."""
_PARTED: Final = regex(r"^user (?:\w+ly |has |just )*(?:sold|lost|left|parted with|gave away)\b|^user is out of\b")
_KEPT: Final = tuple(
    frames.PROFILE + name
    for name in ("favourite ", "hometown", "birthplace", "~team", "~morning drink", "coffee order")
)
"""What a thing or a place may be to somebody who has left it, or has none left."""


def _named(known: Sequence[Known], said: str) -> Known | None:
    """The one value that holds which some words name, and of which they say nothing else. Pure."""
    heads = {one.key: one for one in reversed(known) if one.is_head and len(one.value or "") >= SHORTEST}
    named = [one for one in heads.values() if _says_only(one, said)]
    return named[0] if len(named) == 1 else None


def _says_only(known: Known, said: str) -> bool:
    """Whether words name a value, and beside it say only what is said of any, or of this one. Pure."""
    rest = re.sub(rf"(?<!\w){re.escape(known.value or '')}(?!\w)", " ", said)
    own = {stem(word) for word in re.findall(r"\w+", f"{known.key} {plain(known.fact)}")}
    return rest != said and all(word in LIGHT or stem(word) in own for word in re.findall(r"\w[\w']*", rest))


def _is_about(known: Known, echo: Echo) -> bool:
    """Whether a value is the one an echo speaks of: what it ends, or, where it goes back, one of before. Pure."""
    if echo.name is not None:
        fits = echo.fits is None or echo.fits.search(plain(known.fact)) is not None
        return known.is_head and known.key == frames.PROFILE + echo.name and fits
    if echo.old is not None:
        return known.is_head and known.value == plain(echo.old)
    return not known.is_head and echo.new is not None and known.value == plain(echo.new)


def _as_written(value: str, said: str) -> str:
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said, re.IGNORECASE)
    return match.group() if match else value
