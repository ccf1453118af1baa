"""Erasing: what events said goes for ever, with all that was made of it, and a second look says whether it is gone.

Each event goes in a transaction of its own, what was made of it first: an erasure that broke off goes on when it is
asked for again. The places of events and memories stay, empty: the chain and the lineages are as they were.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import Row

from engram import (
    chain,
    checkpoints,
    citations,
    inputs,
    jobs,
    ledger,
    memories,
    migrations,
    redactions,
    relations,
    sessions,
    spending,
    streams,
    tasks,
    tenancy,
    writing,
)
from engram.channels import events as event_words
from engram.database import Connection, execute, fetch_all, fetch_one, fetch_value
from engram.errors import Conflict, EngramError, InvalidInput, NotFound
from engram.lifecycle import trees
from engram.lifecycle.deeds import PLAIN, Deed, Effect
from engram.lifecycle.merging import MERGED
from engram.longinput import store
from engram.operations import changing, living, rederiving, relating, replaying, running, steps
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.recall import log
from engram.scope import Scope
from engram.values import ErasureReport, Event
from engram.writing import Desk

LISTED: Final = 200  # events looked up at once
SWEPT: Final = 2_000  # rows of a whole scope emptied in one transaction
REHEARSED: Final = 1_000  # events that a dry run erases in one transaction: it holds the locks of all of them
SCANNED: Final = 5_000  # events looked for again in one statement
PARTED: Final = "merge_parted"
MOST_TARGETS: Final = 500
PATH_CHARACTERS: Final = 4_096
TARGETS: Final = ("events", "memories", "session", "user", "scope", "source")
NAMED: Final = ("events", "memories")
WHOLE: Final = ("user", "scope")
HEADERS: Final = "names in headers: tenants, namespaces, agents, users, sessions, actors, types and idempotency keys"
PROVIDERS: Final = "what providers of models and followers of the ledger were sent, and exports"
BACKUPS: Final = "backups and archived WAL from before: apply the redaction list after restoring one"
UNLISTED: Final = "backups and archived WAL from before: no redaction list is kept, see ENGRAM_REDACTION_LIST"
BYTES: Final = (
    "bytes of dead rows in data files and WAL, until PostgreSQL writes over them; VACUUM FULL rewrites tables"
)
OWN: Final = "the reason and the actor of the erasure itself"
IDLE: Final = "reasons of calls that changed no memory: they name none"
UNSOURCED: Final = "nothing has that source: it was erased before, or is another name, for erased memories have none"
LATER: Final = "what was written there meanwhile, faster than it could be erased: ask again once nobody writes"
OTHERS: Final = "what other scopes say of the user"
REASONS: Final = "reasons of events that touched what was erased and stay for the fact they said; erase these too:"
MOST_NAMED: Final = 20  # events in one line of a report
Place = tuple[Any, str, int]


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be erased: a kind out of `TARGETS`, and which."""

    kind: str
    value: Any

    @property
    def is_whole(self) -> bool:
        """Whether whole scopes go, with what hangs on no single event."""
        return self.kind in WHOLE


@dataclass(slots=True)
class Tally:
    """What has been erased so far."""

    erased: Counter[str] = field(default_factory=Counter)
    redactions: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    events: dict[str, None] = field(default_factory=dict)
    memories: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """Some events of a target, the place of the last, up to when they were recorded, and whether there may be more."""

    event_ids: Sequence[str]
    place: Place | None = None
    until: datetime | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a second look found: rows by table, and the events whose reasons may quote what was erased."""

    rows: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gone:
    """What one transaction erased; or what must be done before: `first` be erased, or what was merged there be parted.

    `undo` is the scope of an event that is taken back, or of the `losers` of a merge that come back.
    """

    first: tuple[str, ...] = ()
    undo: Scope | None = None
    losers: tuple[str, ...] = ()
    redactions: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def redact_event(setup: Setup, event_id: object, given: Mapping[str, Any]) -> Operation[ErasureReport]:
    """Erase what one event said."""
    return (yield from erase(setup, {"events": [inputs.named_event_id(event_id)]}, given))


def erase(setup: Setup, targets: Mapping[str, object], given: Mapping[str, Any]) -> Operation[ErasureReport]:
    """Erase what some events, memories, a session, a user, a scope or a source said, and look whether it is gone."""
    call = setup.writing(given)
    target = _target(call, targets)
    scope_ids = yield from steps.read(call.tenant_id, lambda conn: _known_scopes(conn, call, target))
    tally, caught_up = Tally(), True
    if call.dry_run:
        every: list[str] = []
        yield from _read_up(call, target, scope_ids, None, lambda found: _kept(every, found))
        yield from _rehearsed(setup, call, target, every, scope_ids, tally)
    else:
        caught_up = yield from _taken(setup, call, target, scope_ids, tally)
        yield from running.run_unasked(setup, call.tenant_id, tally.jobs)
    look = Look() if call.dry_run else (yield from _looked_again(call, target, scope_ids, tally))
    if tally.events and not call.dry_run:
        yield from _vacuumed(setup)
    beside = (*((UNSOURCED,) if _matched_nothing(target, tally) else ()), *(() if caught_up else (LATER,)))
    return _report(setup, call, target, tally, look, *beside)


def _taken(
    setup: Setup, call: Writing, target: Target, scope_ids: Sequence[int], tally: Tally
) -> Operation[bool]:  # fmt: skip
    """Erase the events of a target, and of whole scopes the rest; whether it caught up with those who write there.

    What was written meanwhile goes next, for as long as that becomes less: whoever writes faster has no end.
    """
    place, before, caught_up = None, None, False
    while not caught_up:
        n, place = yield from _read_up(
            call, target, scope_ids, place, lambda found: _erase_all(setup, call, target, found, tally)
        )
        caught_up = n < LISTED or target.kind in NAMED
        if before is not None and n > before // 2:
            break
        before = n
    if target.is_whole:
        yield from _sweep(call, scope_ids, tally)
    return caught_up


def _read_up(
    call: Writing, target: Target, scope_ids: Sequence[int], place: Place | None,
    take: Callable[[Sequence[str]], Operation[None]],
) -> Operation[tuple[int, Place | None]]:  # fmt: skip
    """Take the events of a target that still say something, up to the last there is now; how many, and its place."""
    n, page = 0, Listed((), place, until=None, more=True)
    while page.more:
        page = yield from steps.read(call.tenant_id, _after(page, call, target, scope_ids))
        yield from take(page.event_ids)
        n += len(page.event_ids)
    return n, page.place


def _kept(every: list[str], found: Sequence[str]) -> Operation[None]:
    every += found
    yield from ()


def _rehearsed(
    setup: Setup, call: Writing, target: Target, event_ids: Sequence[str], scope_ids: Sequence[int], tally: Tally
) -> Operation[None]:
    """Count what would be erased: it is, in one transaction that is taken back, so that nothing is counted twice.

    Of very many events some at a time: what rests on events of several parts is counted with each, and what hangs on
    whole scopes is not.
    """
    parts = [event_ids[at : at + REHEARSED] for at in range(0, len(event_ids), REHEARSED)] or [()]
    for some in parts:

        def work(conn: Connection, some: Sequence[str] = some) -> Tally:
            own = Tally(events=dict(tally.events))
            steps.carried_out(conn, _erase_all(setup, call, target, some, own))
            if target.is_whole and len(parts) == 1:
                steps.carried_out(conn, _sweep(call, scope_ids, own))
            return own

        done = yield from steps.write(call.tenant_id, steps.undone(work), key="erase:rehearsed")
        tally.events.update(done.events)
        tally.memories.update(done.memories)
        tally.erased.update(done.erased)


def apply_redactions(setup: Setup, path: object, given: Mapping[str, Any]) -> Operation[ErasureReport]:
    """Erase again what a redaction list names, of the tenant of the call: what a backup from before brought back."""
    call = setup.writing(given)
    listed = redactions.read(_path(path), call.tenant_id)
    target, tally, unknown = Target("list", None), Tally(), 0
    for at in range(0, len(listed), LISTED):
        some = listed[at : at + LISTED]
        known = yield from steps.read(call.tenant_id, lambda conn, some=some: ledger.get_many(conn, some))  # type: ignore[misc]
        unknown += len(some) - len(known)
        back = [event_id for event_id in some if event_id in known and not known[event_id].erased]
        if call.dry_run:
            yield from _rehearsed(setup, call, target, back, (), tally)
        else:
            yield from _erase_all(setup, call, target, back, tally)
    yield from running.run_unasked(setup, call.tenant_id, tally.jobs)
    look = Look() if call.dry_run else (yield from _looked_again(call, target, (), replace_events(tally, listed)))
    beside = (f"{unknown} events of the list are not in this database",) if unknown else ()
    return _report(setup, call, target, tally, look, *beside)


def _matched_nothing(target: Target, tally: Tally) -> bool:
    return target.kind == "source" and not tally.events


def _report(setup: Setup, call: Writing, target: Target, tally: Tally, look: Look, *beside: str) -> ErasureReport:
    """What was erased, what a second look found, and what is out of reach. Pure."""
    return ErasureReport(
        redaction_event_ids=tuple(dict.fromkeys(tally.redactions)),
        erased={kind: n for kind, n in sorted(tally.erased.items()) if n}, rederived_jobs=tuple(tally.jobs),
        remaining=look.rows, clean=not look.rows,
        out_of_reach=(*_out_of_reach(setup, target), *_reasons_told(look.reasons), *beside), dry_run=call.dry_run,
    )  # fmt: skip


def replace_events(tally: Tally, event_ids: Iterable[str]) -> Tally:
    """The same tally with other events beside those it has."""
    return replace(tally, events={**tally.events, **dict.fromkeys(event_ids)})


def unapplied(conn: Connection, listed: Sequence[str]) -> int:
    """How many events of a redaction list still say something."""
    return sum(
        not event.erased
        for at in range(0, len(listed), LISTED)
        for event in ledger.get_many(conn, listed[at : at + LISTED]).values()
    )


def _path(path: object) -> Path:
    if not isinstance(path, str | Path):
        raise InvalidInput("path", "the path of a redaction list", type(path).__name__)
    inputs.text(str(path), "path", limit=PATH_CHARACTERS)
    return Path(path)


# What is meant -------------------------------------------------------------------------------------------------------


def _target(call: Writing, targets: Mapping[str, object]) -> Target:
    given = {name: value for name, value in targets.items() if value is not None}
    if len(given) != 1:
        found = f"{len(given)} of them" if given else "none of them"
        raise InvalidInput("erase", f"exactly one of {', '.join(TARGETS)}", found)
    [(kind, value)] = given.items()
    if kind in NAMED:
        check = inputs.named_event_id if kind == "events" else inputs.memory_id
        several = inputs.items(value, kind, MOST_TARGETS)
        if not several:
            raise InvalidInput(kind, "at least one id", "none")
        return Target(kind, tuple(dict.fromkeys(check(one, kind) for one in several)))
    if kind == "session":
        return Target(kind, inputs.name(value, kind))
    if kind == "user":
        return Target(kind, inputs.scope_id(value, kind))
    if kind == "source":
        return Target(kind, inputs.label(value, kind))
    if not isinstance(value, Scope):
        raise InvalidInput("scope", "a Scope", type(value).__name__)
    if value.tenant_id != call.tenant_id:
        raise InvalidInput("scope", "a scope of the tenant of this door", "one of another tenant")
    return Target(kind, value.for_write())


def _scopes(conn: Connection, call: Writing, target: Target) -> tuple[int, ...]:
    """The scopes that go whole, with shelves and shadows; of other targets the scope of the call, with its shelf."""
    user = target.value if target.kind == "user" else None
    own = None if user is not None else tenancy.find(conn, target.value if target.kind == "scope" else call.scope)
    if user is None and own is None:
        return ()
    tenancy.show_shadows(conn)
    rows = fetch_all(conn, "list_scopes_to_erase", tenant_id=call.tenant_id, user_id=user, scope_id=own)
    return tuple(int(row.scope_id) for row in rows)


def _known_scopes(conn: Connection, call: Writing, target: Target) -> tuple[int, ...]:
    """The same; NotFound for a user, a scope or a session of which nothing was ever there. Erased ones still are."""
    scope_ids = _scopes(conn, call, target)
    if target.is_whole and not scope_ids:
        raise NotFound(f"nothing of that {target.kind} was ever written")
    if target.kind == "session" and not fetch_value(
        conn, "has_session", tenant_id=call.tenant_id, scope_ids=list(scope_ids), session_id=target.value
    ):
        raise NotFound("no session with that id in this scope")
    return scope_ids


def _after(
    page: Listed, call: Writing, target: Target, scope_ids: Sequence[int]
) -> Callable[[Connection], Listed]:  # fmt: skip
    """The next events of a target that still say something."""

    def work(conn: Connection) -> Listed:
        if target.kind == "events":
            return Listed(_named(conn, call, target.value))
        if target.kind == "memories":
            return Listed(_behind(conn, call, target.value))
        among = {"tenant_id": call.tenant_id, "scope_ids": list(scope_ids)}
        until = page.until or fetch_value(conn, "find_newest_event", **among)
        at, stream_id, position = page.place or (None, None, None)
        rows = fetch_all(
            conn, "list_erasable_events", **among, session_id=target.value if target.kind == "session" else None,
            source=target.value if target.kind == "source" else None,
            after_at=at, after_stream=stream_id, after_position=position, until=until, limit=LISTED,
        ) if until is not None else []  # fmt: skip
        last = (rows[-1].recorded_at, rows[-1].stream_id, rows[-1].position) if rows else page.place
        return Listed([row.event_id for row in rows], last, until, more=len(rows) == LISTED)

    return work


def _named(conn: Connection, call: Writing, event_ids: Sequence[str]) -> list[str]:
    """The events that are named; InvalidInput where one is a redaction: that is known before the first of them goes."""
    found = citations.resolve_event_ids(conn, tenancy.visible(conn, call.scope), event_ids)
    redacting = [one.event_id for one in ledger.get_many(conn, found).values() if one.event_type == replaying.REDACTION]
    if redacting:
        raise InvalidInput("events", "events that said something", f"a redaction, {redacting[0]}")
    return found


def _behind(conn: Connection, call: Writing, memory_ids: Sequence[str]) -> list[str]:
    """The events that gave some memories their words: those they cite, and those that changed them."""
    visible = tenancy.visible(conn, call.scope, shelves="with")
    full = [memories.resolve_id(conn, visible, one) for one in memory_ids]
    if len(memories.load(conn, visible, full)) < len(set(full)):
        raise NotFound("no memory with that id in this scope")
    rows = fetch_all(conn, "list_events_behind", tenant_id=call.tenant_id, memory_ids=full, lifecycle=living.LIFECYCLE)
    return [row.event_id for row in rows]


# One event after the other -------------------------------------------------------------------------------------------


def _erase_all(setup: Setup, call: Writing, target: Target, event_ids: Sequence[str], tally: Tally) -> Operation[None]:
    wanted = [event_id for event_id in event_ids if event_id not in tally.events]
    path = setup.settings.redaction_list
    if path is not None and wanted and not call.dry_run and target.kind != "list":
        # Before the first of them goes: a list may name too much, but never too little.
        yield from steps.think(lambda: redactions.append(path, call.tenant_id, wanted))
    for event_id in wanted:
        stack = [event_id]
        undone: set[str] = set()
        freed: set[str] = set()
        while stack:
            known = ChainMap(dict.fromkeys(stack), tally.events)
            gone = yield from _erase_one(setup, call, target, stack[-1], known, parted=stack[-1] in undone, freed=freed)
            if gone.undo is not None and gone.losers:
                freed.update(gone.losers)
                yield from _free(setup, call, gone.undo, gone.losers)
                continue
            if gone.undo is not None:
                undone.add(stack[-1])
                yield from _part(setup, call, gone.undo, stack[-1])
                continue
            if gone.first:
                stack.extend(gone.first)
                continue
            stack.pop()
            tally.redactions += gone.redactions
            tally.jobs += gone.jobs
            tally.events.update(dict.fromkeys(gone.events))
            tally.memories.update(dict.fromkeys(gone.memories))
            tally.erased.update(gone.counts)


def _erase_one(
    setup: Setup, call: Writing, target: Target, event_id: str, known: Container[str], *, parted: bool,
    freed: Set[str],
) -> Operation[Gone]:  # fmt: skip
    parts = not (target.is_whole or call.dry_run)  # of what goes whole nothing is left to come back

    def work(conn: Connection) -> Gone:
        event = ledger.get(conn, event_id)
        if event is None:
            raise NotFound(citations.NO_EVENT)
        head = streams.head(conn, event.stream_id)
        assert head is not None
        scope = _scope_of(conn, call.tenant_id, head.scope_id)
        if parts and not parted and _joins(event):
            return Gone(undo=scope)
        desk = setup.desk(conn, scope, reason=call.reason)
        replaying.lock_out(conn, call.tenant_id, head.scope_id)  # what is erased is erased from every shadow too
        if head.kind == "document":  # no chunk is cut until the commit
            writing.lock(desk, [], writing.deriving_lock(event.stream_id))
        first = [one for one in _made_of(desk, target, event) if one not in known]
        if first:
            return Gone(first=tuple(first[:LISTED]))
        losers = _losers(desk, event, freed) if parts and not event.erased else []
        if losers:
            back = losers[0].scope_id
            return Gone(
                undo=_scope_of(conn, call.tenant_id, back),
                losers=tuple(row.memory_id for row in losers if row.scope_id == back),
            )
        done = [_erased(setup, desk, call, target, event, head.scope_id)]
        others = store.same_words(conn, call.tenant_id, head.scope_id, event)
        for other in ledger.get_many(conn, others).values():
            done += [_erased(setup, desk, call, target, other, head.scope_id)]
        return _together(done)

    return (yield from steps.write(call.tenant_id, work, key=f"redaction:{event_id}"))


def _part(setup: Setup, call: Writing, scope: Scope, event_id: str) -> Operation[None]:
    """Bring back what the life cycle put away for a text that is about to be erased."""
    given = {
        "tenant_id": scope.tenant_id, "namespace": scope.namespace, "agent_id": scope.agent_id,
        "user_id": scope.user_id, "actor": call.actor,
    }  # fmt: skip
    with suppress(Conflict, NotFound):
        yield from living.undo(setup, event_id, {name: value for name, value in given.items() if value is not None})


def _free(setup: Setup, call: Writing, scope: Scope, losers: Sequence[str]) -> Operation[None]:
    """Bring back the losers of merges whose winner is about to be erased; the merge shares its event with others."""
    own = replace(call, scope=scope, reason=None, idempotency_key=None)
    run = yield from living.opened(own, PARTED)
    back = {"status": "active", "status_reason": None, "superseded_by": None, "superseded_at": None}
    was = {"status": "archived", "status_reason": MERGED}
    deeds = [Deed(effects=(Effect(one, back, "what stood for it was erased", was=was),)) for one in losers]
    changes = yield from living.act(setup, run, deeds)
    yield from living.closed(run, changes)


def _losers(desk: Desk, event: Event, freed: Set[str]) -> list[Row[Any]]:
    """The memories that were put away for one that rests on an event, but for those that were brought back."""
    rests = writing.lock_what_rests_on(desk, event)
    rows = fetch_all(
        desk.conn, "list_merged_into", tenant_id=desk.tenant_id, event_id=event.event_id, beside=list(rests.beside),
        freed=sorted(freed), limit=LISTED,
    )  # fmt: skip
    return list(rows)


def _joins(event: Event) -> bool:
    """Whether an event of the life cycle made one text of several, or one memory with the words of several. Pure."""
    if event.event_type != living.LIFECYCLE or event.erased:
        return False
    effects = event.payload.get("effects", ())
    return bool(event.content) or (
        _sets_words(event) and any(effect["set"].get("status_reason") == MERGED for effect in effects)
    )


def _together(done: Sequence[Gone]) -> Gone:
    counts: Counter[str] = Counter()
    for one in done:
        counts.update(one.counts)
    return Gone(
        redactions=tuple(i for one in done for i in one.redactions),
        events=tuple(i for one in done for i in one.events),
        memories=tuple(i for one in done for i in one.memories), jobs=tuple(i for one in done for i in one.jobs),
        counts=counts,
    )  # fmt: skip


def _scope_of(conn: Connection, tenant_id: str, scope_id: int) -> Scope:
    row = fetch_one(conn, "find_scope_by_id", tenant_id=tenant_id, scope_id=scope_id)
    assert row is not None
    return Scope(tenant_id, row.namespace, row.agent_id, row.user_id)


def _made_of(desk: Desk, target: Target, event: Event) -> list[str]:
    """The events that must go before this one: the document of a manifest, and what repeats words of its memories."""
    rests = writing.lock_what_rests_on(desk, event)
    rows = fetch_all(
        desk.conn, "list_events_made_of", tenant_id=desk.tenant_id, event_id=event.event_id, beside=list(rests.beside),
        lifecycle=living.LIFECYCLE, relating=list(relating.CHANGES), whole=target.is_whole,
    )  # fmt: skip
    repeating = [str(row.event_id) for row in rows if _repeats(chain.event(row), row.ties)]
    return list(dict.fromkeys([*([] if event.erased else _document_of(desk, target, event)), *repeating]))


def _document_of(desk: Desk, target: Target, event: Event) -> list[str]:
    """The events of the document of a manifest, and the manifest of an event of a document, where they go with it."""
    conn, tenant_id = desk.conn, desk.tenant_id
    found: list[str] = []
    document = store.document_of(event) if target.kind not in ("events", "list") else None
    if document is not None:
        rows = fetch_all(conn, "list_unerased_events", tenant_id=tenant_id, stream_id=document, limit=LISTED)
        found += [row.event_id for row in rows]
    if target.kind == "source" and store.is_document(conn, event):
        manifest = ledger.get(conn, store.manifest_id(event.stream_id))
        found += [manifest.event_id] if manifest is not None and not manifest.erased else []
    return found


def _repeats(event: Event, ties: Sequence[str]) -> bool:
    """Whether an event holds words of memories that go, by what ties it to them: see `list_events_made_of`. Pure."""
    return (
        "made" in ties
        or ("changed" in ties and _has_words(event))
        or ("based" in ties and not changing.says_in_full(event))
        or ("inherited" in ties and _has_text(event))
    )


def _has_words(event: Event) -> bool:
    """Whether an event that changed memories holds words of theirs: their text, tags, or somebody's reason. Pure."""
    told = event.payload
    return _has_text(event) or bool(told.get("reason") or (told.get("request") or {}).get("metadata"))


def _has_text(event: Event) -> bool:
    return bool(event.content) or _sets_words(event)


def _sets_words(event: Event) -> bool:
    return any(
        value and name not in PLAIN
        for effect in event.payload.get("effects", ())
        for name, value in effect["set"].items()
    )


def _erased(setup: Setup, desk: Desk, call: Writing, target: Target, event: Event, scope_id: int) -> Gone:
    """Erase one event wherever its words are; what went, and the jobs that derive again what rested on others."""
    conn, tenant_id = desk.conn, call.tenant_id
    rests = writing.lock_what_rests_on(desk, event)
    tasks.lock_of_event(conn, tenant_id, scope_id, event)
    done = ledger.redact(
        conn, event_id=event.event_id, stream_id=event.stream_id, reason=call.reason, actor=call.actor,
        trust=call.trust or "operator", key=setup.settings.secret_key,
    )  # fmt: skip
    repeated = done.status == "duplicate"
    if repeated:  # what a model read beside it has been read again without it
        rests = replace(rests, beside=())
    erased = writing.erase_what_rests_on(desk, event, rests, done.event_id, call.actor)
    if not target.is_whole:  # then the events themselves go
        reasoned = _reasons_left(conn, tenant_id, [event.event_id], erased)
        execute(conn, "erase_reasons", tenant_id=tenant_id, event_ids=reasoned)
    counts = {
        "events": int(not repeated), "memories": len(erased),
        "event_words": event_words.erase(conn, tenant_id, scope_id, event),
        "answers": spending.erase_event(conn, tenant_id, event.event_id),
        "recalls": log.erase_event(conn, tenant_id, scope_id, event),
        "summaries": sessions.erase_event(conn, event, again=not target.is_whole, repeated=repeated),
        "tasks": tasks.erase_event(conn, tenant_id, scope_id, event),
    }  # fmt: skip
    runs = checkpoints.erase_event(conn, tenant_id, scope_id, event)
    if erased:
        counts["topics"] = int(fetch_value(conn, "erase_topics", memory_ids=erased))
    ran = event.payload.get("run_id") if event.event_type == living.LIFECYCLE and not event.erased else None
    counts["runs"] = execute(conn, "erase_run_reasons", tenant_id=tenant_id, memory_ids=erased, run_id=ran)
    relations.erase_event(conn, event.event_id, erased)
    trees.forget(conn, tenant_id, erased)
    jobs.erase_event(conn, event.stream_id)
    again = [] if target.is_whole else rederiving.queue(conn, tenant_id, done.event_id, event.event_id, erased)
    for run, sources in runs.items():
        for source in sources:
            spending.erase_event(conn, tenant_id, source)
        if target.is_whole:
            continue
        held = tasks.get(conn, tenant_id, [scope_id], run, forgotten=True)
        made = checkpoints.queue(conn, held, "redaction", once=done.event_id)
        again += [made] if made else []
    counts["checkpoints"] = sum(map(len, runs.values()))
    return Gone(
        redactions=(done.event_id,), events=(event.event_id,), memories=tuple(erased), jobs=tuple(again), counts=counts
    )


# Whole scopes, and the second look -----------------------------------------------------------------------------------


def _sweep(call: Writing, scope_ids: Sequence[int], tally: Tally) -> Operation[None]:
    """Empty what hangs on whole scopes and on no single event, some rows at a time."""

    def work(conn: Connection) -> dict[str, int]:
        for scope_id in sorted(scope_ids):
            replaying.lock_out(conn, call.tenant_id, scope_id)
        rows = fetch_all(conn, "erase_scopes", scope_ids=list(scope_ids), empty=writing.EMPTY_HASH, limit=SWEPT)
        return {row.kind: int(row.n) for row in rows}

    while True:
        counts = yield from steps.write(call.tenant_id, work, key="erase:scopes")
        tally.erased.update(counts)
        if max(counts.values(), default=0) < SWEPT:
            return


def _looked_again(call: Writing, target: Target, scope_ids: Sequence[int], tally: Tally) -> Operation[Look]:
    """Rows that still hold something of what was erased, by table, found by looking again everywhere."""
    found: Counter[str] = Counter()
    reasons: dict[str, None] = {}
    events, gone = list(tally.events), list(tally.memories)
    for at in range(0, max(len(events), len(gone)), SCANNED):

        def work(conn: Connection, at: int = at) -> tuple[list[Any], list[str]]:
            tenancy.show_shadows(conn)
            some = {"events": events[at : at + SCANNED], "memories": gone[at : at + SCANNED]}
            return fetch_all(conn, "scan_erased", **some), _reasons_left(conn, call.tenant_id, **some)

        rows, left = yield from steps.read(call.tenant_id, work)
        found.update({row.place: int(row.n) for row in rows})
        reasons.update(dict.fromkeys(left))
    if target.is_whole and scope_ids:

        def whole(conn: Connection) -> list[Any]:
            tenancy.show_shadows(conn)
            return fetch_all(conn, "scan_scopes", scope_ids=list(scope_ids))

        found.update({row.place: int(row.n) for row in (yield from steps.read(call.tenant_id, whole))})
    found["reasons"] += len(reasons)
    return Look({place: n for place, n in sorted(found.items()) if n}, tuple(reasons))


def _reasons_left(conn: Connection, tenant_id: str, events: Sequence[str], memories: Sequence[str]) -> list[str]:
    """The events that stay for their own fact, though they gave a reason for what they did with erased memories."""
    rows = fetch_all(
        conn, "list_reasons_left", tenant_id=tenant_id, events=list(events), memories=list(memories),
        lifecycle=living.LIFECYCLE,
    )  # fmt: skip
    return [str(row.event_id) for row in rows]


def _reasons_told(event_ids: Sequence[str]) -> tuple[str, ...]:
    if not event_ids:
        return ()
    more = f", and {len(event_ids) - MOST_NAMED} more" if len(event_ids) > MOST_NAMED else ""
    return (f"{REASONS} {', '.join(event_ids[:MOST_NAMED])}{more}",)


def _vacuumed(setup: Setup) -> Operation[None]:
    """Let the dead rows go where the owner of the schema can be reached; the server does so by itself later on."""
    url = None if setup.owner_url is None else setup.owner_url()
    if url is None:
        return
    try:
        yield from steps.think(lambda: migrations.vacuum(url))
    except EngramError:
        return


def _out_of_reach(setup: Setup, target: Target) -> tuple[str, ...]:
    listed = BACKUPS if setup.settings.redaction_list is not None else UNLISTED
    return (
        listed,
        BYTES,
        PROVIDERS,
        HEADERS,
        OWN,
        *(() if target.is_whole else (IDLE,)),
        *((OTHERS,) if target.kind == "user" else ()),
    )
