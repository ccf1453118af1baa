"""One search, step by step, as every call that finds by meaning makes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar, cast

from engram import memories, recall
from engram.channels import SEARCHED, semantic
from engram.database import Connection, ending
from engram.errors import EngramError, InvalidInput, Unavailable
from engram.memories import Moment
from engram.operations import spaces, steps
from engram.operations.setup import Reading, Setup
from engram.operations.steps import Operation
from engram.ranking import Brief
from engram.recall import Asked, Found, Looked, Meaning, finding, results
from engram.values import Memory, SearchResults

T = TypeVar("T")

TRIES = 3
REFUSED: Final = (Unavailable, InvalidInput)  # a vector or a word that PostgreSQL does not take is a channel's, too


Note = Callable[[Connection, "Searched", Sequence[results.Pair]], None]
"""What is told of the rows that a search returns, before they are brought whole."""


@dataclass(frozen=True, slots=True)
class Searched:
    """One search before it is ranked: it may be ranked in several ways."""

    asked: Asked
    looked: Looked
    meaning: Meaning
    found: Found

    def ranked(self, asked: Asked | None = None) -> SearchResults:
        """What was found, by the search as it was asked for or by another over the same candidates."""
        return recall.rank(asked or self.asked, self.looked, self.found)

    def returned(
        self, conn: Connection, asked: Asked | None = None, known: dict[str, Memory] | None = None
    ) -> SearchResults:
        """The same, where candidates may be briefs: those that are returned are brought whole, and put into `known`."""
        wanted = asked or self.asked
        return self.chosen(conn, wanted, results.relevant(wanted, self.looked, self.found), known)

    def finished(self, conn: Connection, note: Note | None = None) -> SearchResults:
        """The same where nothing more is read: the transaction ends with the load, in whose message it may be noted."""

        def load(pairs: Sequence[results.Pair]) -> list[Memory]:
            if note is not None:
                note(conn, self, pairs)
            ids = [one.memory.memory_id for one, _ in pairs if isinstance(one.memory, Brief)]
            return memories.load(ending(conn), self.looked.visible, ids, self.looked.moment)

        pairs = results.relevant(self.asked, self.looked, self.found)
        return results.results_of(self.asked, self.found, pairs, load=load)

    def chosen(
        self, conn: Connection, asked: Asked, pairs: Sequence[results.Pair], known: dict[str, Memory] | None = None
    ) -> SearchResults:
        """The same of rows that are scored already."""
        looked, there = self.looked, {} if known is None else known

        def load(pairs: Sequence[results.Pair]) -> list[Memory]:
            ids = [one.memory.memory_id for one, _ in pairs if isinstance(one.memory, Brief)]
            missing = [one for one in ids if one not in there]
            there.update((one.memory_id, one) for one in memories.load(conn, looked.visible, missing, looked.moment))
            return [there[one] for one in ids if one in there]

        return results.results_of(asked, self.found, pairs, load=load)


def ranked(
    setup: Setup, reading: Reading, asked: Asked, note: Note | None = None
) -> Operation[tuple[Searched, SearchResults]]:
    """A search, and its results, which are chosen among briefs where they are found: only they are brought whole."""
    (searched,), made = yield from found_and(
        setup, reading, [(asked, reading.moment)], lambda conn, found: found[0].finished(conn, note), light=True
    )
    return searched, made


def briefly(setup: Setup, reading: Reading, asked: Asked) -> Operation[Searched]:
    """A search of which only what each channel says of a memory is wanted: no memory is brought whole."""
    (searched,), _ = yield from found_and(
        setup, reading, [(asked, reading.moment)], lambda _conn, _found: None, light=True
    )
    return searched


def shown(searched: Searched, asked: Asked, pairs: Sequence[results.Pair] | None = None) -> Operation[SearchResults]:
    """What was found as `asked` ranks it, or scored rows; in a transaction of its own where some of it are briefs."""
    if pairs is None:
        pairs = results.relevant(asked, searched.looked, searched.found)
    if not any(isinstance(one.memory, Brief) for one, _ in pairs):
        return results.results_of(asked, searched.found, pairs)
    return (yield from steps.read(searched.looked.tenant_id, lambda conn: searched.chosen(conn, asked, pairs)))


def whole(searched: Searched) -> Operation[Searched]:
    """A search whose candidates are whole memories; those that are gone meanwhile are none of it any more."""
    looked, found = searched.looked, searched.found
    wanted = [one.memory.memory_id for one in found.candidates if isinstance(one.memory, Brief)]
    if not wanted:
        return searched
    loaded = yield from steps.read(
        looked.tenant_id, lambda conn: memories.load(conn, looked.visible, wanted, looked.moment)
    )
    there = {memory.memory_id: memory for memory in loaded}
    candidates = [
        one if not isinstance(one.memory, Brief) else one._replace(memory=there[one.memory.memory_id])
        for one in found.candidates
        if not isinstance(one.memory, Brief) or one.memory.memory_id in there
    ]
    return replace(searched, found=replace(found, candidates=tuple(candidates)))


def found(
    setup: Setup, reading: Reading, asked: Asked, looked: Looked | None = None, *, light: bool = False
) -> Operation[Searched]:
    """Look at the scopes, embed the question, ask the channels; ranking is left to the caller.

    The question is embedded by the model whose vectors it is compared with. Where that model went out of use meanwhile,
    its vectors may have been going: then the search is made again. Whoever has `looked` already need not look twice.
    """
    known = None if looked is None else [(asked, looked)]
    return (yield from all_found(setup, reading, [(asked, reading.moment)], known, light=light))[0]


def all_found(
    setup: Setup, reading: Reading, wanted: Sequence[tuple[Asked, Moment]],
    known: Sequence[tuple[Asked, Looked]] | None = None, *, light: bool = False,
) -> Operation[list[Searched]]:  # fmt: skip
    """Several searches of the same scopes at once, each at its moment: one call of the model, one statement for all.

    What is not derived yet is found at the moment of the read only. `known` is what a look has told already.
    """
    return (yield from found_and(setup, reading, wanted, lambda _conn, _found: None, known, light=light))[0]


def found_and(
    setup: Setup, reading: Reading, wanted: Sequence[tuple[Asked, Moment]],
    then: Callable[[Connection, list[Searched]], T], known: Sequence[tuple[Asked, Looked]] | None = None,
    *, light: bool = False,
) -> Operation[tuple[list[Searched], T]]:  # fmt: skip
    """The same searches, and what is read of their results in the same transaction.

    With `light` the candidates of searches of now are briefs, where ranking needs no more. What reads them has the
    time of the searches. Where it fails for that, it has a transaction of its own.
    """
    tenant, config = reading.scope.tenant_id, setup.settings.text_search_config

    def look(conn: Connection) -> list[tuple[Asked, Looked]]:
        questions = {asked.query: asked for asked, _ in reversed(wanted)}
        told = recall.look_from(
            ending(conn), reading.scope, list(questions.values()), shelves=wanted[0][0].shelves, moment=reading.moment,
            config=config,
        )  # fmt: skip
        seen = dict(zip(questions, told, strict=True))
        return [
            (asked, one if one.moment is moment else replace(one, moment=moment))
            for asked, moment, one in ((*pair, seen[pair[0].query]) for pair in wanted)
        ]

    for left in reversed(range(TRIES)):
        looked = known if known is not None else (yield from steps.read(tenant, look))
        known = None
        if any(asked.mode != "keyword" for asked, _ in wanted):
            setup = yield from spaces.ready_for(setup, tenant, looked[0][1].model_id)
        embedder = setup.embedder
        meanings = yield from steps.think(lambda: recall.embed_all(embedder, looked))  # noqa: B023 - called at once
        searches = [(*pair, meaning) for pair, meaning in zip(looked, meanings, strict=True)]
        made, whole, told = yield from _gathered(searches, then, light, last=not left)
        if whole or not left:
            break
    return made, cast("T", told)


def _gathered(
    searches: Sequence[tuple[Asked, Looked, Meaning]], then: Callable[[Connection, list[Searched]], T], light: bool,
    *, last: bool,
) -> Operation[tuple[list[Searched], bool, T | None]]:  # fmt: skip
    """What the channels found for each search, whether the model is still in use, and what is read of what was found.

    Of what is searched for again nothing is read: where the model is not in use, and this try is not the last.
    Where they fail together each is asked apart, with its own time, and those that fail are named: the others answer.
    """
    looked = searches[0][1]
    vectors = [meaning.model_id for _, _, meaning in searches if meaning.vector is not None]
    models = {model_id for model_id in vectors if model_id is not None}

    reached = False  # whether all was found, and only what is read of it was left

    def find(conn: Connection, channels: Collection[str] | None = None) -> tuple[list[Found], bool]:
        nonlocal reached
        reached = False
        gathered = recall.find_all(conn, searches, channels, light=light)
        in_use = looked.model_id is None or all(_is_in_use(conn, gathered, looked.tenant_id, one) for one in models)
        reached = True
        return gathered, in_use

    def find_and(conn: Connection) -> tuple[list[Searched], bool, T | None]:
        gathered, in_use = find(conn)
        made = _made(searches, gathered)
        return made, in_use, then(conn, made) if in_use or last else None

    try:
        return (yield from steps.read(looked.tenant_id, find_and))
    except REFUSED as error:
        if reached and recall.is_of_a_channel(error):
            return (
                yield from _apart(looked.tenant_id, searches, (yield from steps.read(looked.tenant_id, find)), then)
            )
        allowed = {name for asked, _, meaning in searches for name in finding.allowed(asked, meaning)}
        wanted = [name for name in SEARCHED if name in allowed]
        if not recall.is_of_a_channel(error) or len(wanted) < 2:
            raise
        trouble: EngramError = error
    working: list[str] = []
    answer: tuple[list[Found], bool] | None = None
    for name in wanted:
        several = [*working, name]
        try:
            answer = yield from steps.read(looked.tenant_id, lambda conn: find(conn, several))  # noqa: B023 - called at once
        except REFUSED as error:
            if not recall.is_of_a_channel(error):
                raise
            trouble = error
        else:
            working.append(name)
    if answer is None or not {"semantic", "keyword"} & set(working):
        raise trouble
    failed = tuple(name for name in wanted if name not in working)
    answer = [replace(one, degraded=(*one.degraded, *failed)) for one in answer[0]], answer[1]
    return (yield from _apart(looked.tenant_id, searches, answer, then))


def _apart(
    tenant_id: str, searches: Sequence[tuple[Asked, Looked, Meaning]], answer: tuple[list[Found], bool],
    then: Callable[[Connection, list[Searched]], T],
) -> Operation[tuple[list[Searched], bool, T]]:  # fmt: skip
    """What was found, and what is read of it in a transaction of its own."""
    made = _made(searches, answer[0])
    return made, answer[1], (yield from steps.read(tenant_id, lambda conn: then(conn, made)))


def _made(searches: Sequence[tuple[Asked, Looked, Meaning]], gathered: Sequence[Found]) -> list[Searched]:
    return [Searched(*search, found) for search, found in zip(searches, gathered, strict=True)]


def _is_in_use(conn: Connection, gathered: Sequence[Found], tenant_id: str, model_id: int) -> bool:
    """Whether a model is in use, as the search itself saw it; it is asked about where nothing was found."""
    seen = next((one.model_in_use for one in gathered if one.model_in_use is not None), None)
    return seen == model_id if seen is not None else semantic.is_active(conn, tenant_id, model_id)
