"""Direct changes: add, revise, annotate, forget and the like. Each is an event and its effect in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar, cast
from zoneinfo import ZoneInfo

from engram import (
    batching,
    citations,
    history,
    ids,
    inputs,
    ledger,
    memories,
    policies,
    sessions,
    streams,
    tasks,
    tenancy,
    text,
    writing,
)
from engram.channels import keyword
from engram.database import Connection, Jsonb, ending, execute, fetch_all
from engram.errors import (
    AlreadySuperseded,
    Conflict,
    EngramError,
    IdempotencyMismatch,
    InvalidInput,
    LimitExceeded,
    NotFound,
    PolicyError,
    Unavailable,
)
from engram.operations import spaces, steps
from engram.operations.arguments import Attributes, Edit, NewMemory, Write
from engram.operations.setup import DIRECT, Setup, Writing
from engram.operations.steps import Operation
from engram.policies import guards
from engram.policies.classify import Classified, Proposal, classify
from engram.secrets import Censor
from engram.sessions import Visit
from engram.tenancy import Visible
from engram.values import DecisionKind, Event, Memory, Trust, WriteDecision, trust_rank
from engram.writing import Desk, Draft, Origin

T = TypeVar("T")
MAY_BE_LARGE: Final = 20_000  # characters of a text whose secrets take longer to look for than its size
DIRECT_TRUST: Final[Trust] = "user"  # a direct write speaks for whoever the host speaks for, unless it says otherwise
ROLE_OF: Final = {
    "operator": "system",
    "user": "user",
    "agent": "agent",
    "tool": "tool",
    "document": "tool",
    "web": "tool",
}
KIND_OF: Final[Mapping[str, DecisionKind]] = {
    "memory_added": "add", "memory_revised": "revise", "memory_reinforced": "reinforce", "memory_conflict": "conflict",
    "memory_rejected": "reject",
}  # fmt: skip
EVENT_OF: Final[Mapping[str, str]] = {kind: event_type for event_type, kind in KIND_OF.items()}
CHANGES: Final = (
    *EVENT_OF.values(), "memory_annotated", "memory_ended", "memory_endorsed", "memory_forgotten", "memory_restored",
)  # fmt: skip
WHOLE: Final = ("memory_forgotten", "memory_restored")  # what is done to a lineage, of which the caller may not see all
ENDORSERS: Final[tuple[Trust, ...]] = ("operator", "user")
MAX_EDIT_TRIES: Final = 20
NOTHING_CURRENT: Final = "nothing of this lineage is current: restore what was forgotten, or add the fact anew"
ERASED: Final = "the memory was erased: nothing of it is left to change"
OUT_OF_ORDER: Final = "what is forgotten, retracted or quarantined is not endorsed: restore first what was put away"
LESS_TRUSTED: Final = "less_trusted_than_superseded"
NOT_CURRENT: Final = "only a current memory can be superseded: name the head of its lineage"
LONGEST_EXPIRY: Final = timedelta(days=36_525)  # a century
EXPIRY: Final = ("expires_at", "expires_in", "expires_in_days")


ATTRIBUTES: Final = tuple(name for name in Attributes.__annotations__ if name not in Write.__annotations__)
MEMORY_WORDS: Final = tuple(name for name in NewMemory.__annotations__ if name not in Write.__annotations__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A validated candidate, and the request as its event keeps it."""

    draft: Draft
    request: Mapping[str, Any]


def add(setup: Setup, fact: object, given: Mapping[str, Any]) -> Operation[WriteDecision]:
    """Judge one fact and write what the judgement says."""
    if isinstance(fact, list | tuple | dict):
        raise InvalidInput("fact", "a text; for messages use remember()", type(fact).__name__)
    call = setup.writing({name: value for name, value in given.items() if name not in MEMORY_WORDS}, MEMORY_WORDS)
    asked = asked_for(setup, call, {"fact": fact, **{n: v for n, v in given.items() if n in MEMORY_WORDS}})
    check_size(asked.draft.fact, asked.request, call.reason)
    return (yield from _add_all(setup, call, [asked]))[0]


def add_many(setup: Setup, items: object, given: Mapping[str, Any]) -> Operation[tuple[WriteDecision, ...]]:
    """Judge up to 500 facts in order and write them in one transaction, all or nothing."""
    call = setup.writing(given)
    asked = []
    several = inputs.batch(items)
    said = [one.get(name) for one in several if isinstance(one, Mapping) for name in ("fact", "main_content")]
    written = sum(len(one) for one in said if isinstance(one, str) and len(one) <= inputs.BATCH_BYTES)
    if written > 2 * inputs.BATCH_BYTES:  # however it is normalised: it is not searched for secrets
        inputs.batch_bytes(written)
    for index, item in enumerate(several):
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("item", "a mapping with a fact", type(item).__name__)
            asked.append(asked_for(setup, call, item))
            check_size(asked[-1].draft.fact, asked[-1].request, call.reason)
        except InvalidInput as error:
            raise _of_item(index, error) from None
    inputs.batch_bytes(sum(_bytes_of(one.draft) for one in asked))
    return tuple((yield from _add_all(setup, call, asked)))


def check_size(fact: str, request: Mapping[str, Any], reason: str | None, kind: str = "add") -> None:
    """Refuse a direct change whose event would be too large for the ledger, whatever becomes of it. Pure."""
    if request.get("main_content") is not None:  # all else that may be said is small
        payload = {"request": dict(request), "decision": kind, **({"reason": reason} if reason else {})}
        ledger.check_size(
            ledger.NewEvent(role="user", event_type="memory_added", content=fact, payload=payload), "main_content"
        )


def _bytes_of(draft: Draft) -> int:
    """How much one of several adds to the size of all. Pure."""
    texts = len(draft.fact.encode()) + len((draft.main_content or "").encode())
    return texts + len(inputs.canonical_json(dict(draft.metadata))) if draft.metadata else texts


def _of_item(index: int, error: InvalidInput | NotFound) -> InvalidInput | NotFound:
    """The same failure as one of an item of several. Pure."""
    if isinstance(error, LimitExceeded):
        return LimitExceeded(f"items[{index}].{error.field}", error.allowed, error.found)
    if isinstance(error, InvalidInput):
        return InvalidInput(f"items[{index}].{error.field}", error.expected, error.found)
    return NotFound(f"items[{index}]: {error}")


@contextmanager
def _item(index: int, drafts: Sequence[Draft]) -> Iterator[None]:
    """Say of what fails which of several drafts it is; of a single one that says nothing."""
    try:
        yield
    except (InvalidInput, NotFound) as error:
        if len(drafts) == 1:
            raise
        raise _of_item(index, error) from None


def asked_for(setup: Setup, call: Writing, item: Mapping[str, Any]) -> Asked:
    """A candidate checked, passed by the guards, classified by the policy, and kept as its event will keep it. Pure."""
    _refuse_unknown(item)
    if any(map(_may_be_large, item.values())):
        _asked_for(setup, call, item)  # what is refused anyway is not searched for secrets
    item = {name: call.censor.data(value, name) for name, value in item.items()}
    asked = _asked_for(setup, call, item)
    if not setup.policy.guards:
        return asked
    found = guards.passed(setup.policy, {name: value for name, value in item.items() if value is not None})
    try:
        _refuse_unknown(found.candidate)
        draft = _asked_for(setup, call, found.candidate).draft
    except EngramError as error:
        raise PolicyError(f"a guard of the policy made a candidate that is none ({error.code})") from error
    return replace(asked, draft=replace(draft, refused=found.refused))


def _may_be_large(value: object) -> bool:
    """Whether a search of a value for secrets may take much longer than its check. Pure."""
    if isinstance(value, str):
        return len(value) > MAY_BE_LARGE
    if not isinstance(value, dict | list | tuple):
        return False
    return len(value) > 64 or any(
        isinstance(one, dict | list | tuple) or (isinstance(one, str) and len(one) > 1_000)
        for one in (*value, *(value.values() if isinstance(value, dict) else ()))
    )


def _refuse_unknown(item: Mapping[Any, Any]) -> None:
    """Raise InvalidInput for a name that no field of a new memory has, whatever it is."""
    for name in item:
        if isinstance(name, str) and name in Write.__annotations__:
            raise InvalidInput(name, "given to the call, for all its items", "given to one")
        if not isinstance(name, str) or (name != "fact" and name not in MEMORY_WORDS):
            raise InvalidInput(inputs.field_name(name, "item"), "a field of a new memory", "an unknown name")


def _asked_for(setup: Setup, call: Writing, item: Mapping[str, Any]) -> Asked:
    optional = inputs.optional
    get = item.get
    memory_type, category = _type_of(get("memory_type"), get("category"))
    topic_key = optional(inputs.key_text, get("topic_key"), "topic_key")
    metadata = inputs.metadata(get("metadata", {}))
    proposal = Proposal(
        fact=inputs.fact(get("fact")), memory_type=memory_type, category=category, metadata=metadata,
        subject=optional(inputs.label, get("subject"), "subject", 200),
        attribute=optional(inputs.label, get("attribute"), "attribute", 200),
        topic_key=topic_key, critical_slot=optional(inputs.key_text, get("critical_slot"), "critical_slot"),
        importance=inputs.importance(get("importance"), get("priority"), get("rating")), role=None,
        user_name=call.scope.user_id if isinstance(call.scope.user_id, str) else None, event_type=None,
        ended=get("valid_to") is not None,
    )  # fmt: skip
    valid_from, valid_to = (
        optional(inputs.moment, get("valid_from"), "valid_from"),
        optional(inputs.moment, get("valid_to"), "valid_to"),
    )
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        raise InvalidInput("valid_to", "a time after valid_from", "one that is not")
    cited = [_citation(one) for one in inputs.items(get("sources", ()), "sources", 50)]
    expires_in, expires_at = _expiry(setup, get("expires_at"), get("expires_in"), get("expires_in_days"))
    draft = Draft(
        fact=proposal.fact, classified=_classified(setup, call, proposal, valid_from),
        main_content=optional(inputs.main_content, get("main_content")), tags=inputs.tags(get("tags", ())),
        source=optional(inputs.label, get("source"), "source"), metadata=metadata,
        confidence=0.5 if get("confidence") is None else inputs.unit(get("confidence"), "confidence"),
        attribute=proposal.attribute, value=optional(inputs.label, get("value"), "value", 1_000), topic_key=topic_key,
        parent_id=optional(inputs.memory_id, get("parent_id"), "parent_id"), valid_from=valid_from, valid_to=valid_to,
        expires_in=expires_in, expires_at=expires_at, private=inputs.flag(get("private", False), "private"),
        force=inputs.flag(get("force", False), "force"),
        supersedes=tuple(
            inputs.memory_id(one, "supersedes") for one in inputs.items(get("supersedes", ()), "supersedes", 50)
        ),
        citations=tuple(span for span, _ in cited), quotes=tuple(quote for _, quote in cited),
        stated=tuple(name for name in writing.KEPT_BY if get(name) is not None),
    )  # fmt: skip
    # A quote is checked and not kept: what it quotes may be erased, and a copy would stay.
    spans = {"sources": draft.citations} if cited else {}
    return Asked(draft, plain({name: value for name, value in item.items() if value is not None} | spans))


def _add_all(setup: Setup, call: Writing, given: Sequence[Asked]) -> Operation[list[WriteDecision]]:
    call = call.keyed()
    asked = yield from _citing_whole_ids(call, given)
    setup = yield from spaces.ready(setup, call.tenant_id)
    drafts = yield from with_vectors(setup, [one.draft for one in asked])
    requests = [one.request for one in asked]

    def work(conn: Connection) -> list[WriteDecision]:
        desk, resolved = _desk_for(setup, conn, call, drafts)
        before = _before(desk, call, requests)
        if before is not None:
            return before
        here, stream_id = place(setup, desk, call)
        trust_of = _spoken_for(desk, call, resolved)
        named = [_unborn(here, trust_of(draft)) for draft in resolved]
        for index, (draft, origin) in enumerate(zip(resolved, named, strict=True)):
            with _item(index, resolved):
                _check_end(draft, origin)

        def appoint(run: Sequence[tuple[int, writing.Judged]]) -> list[Origin]:
            wanted = [
                Wanted(at, judged.kind, resolved[at].fact, requests[at], named[at].event_id, trust_of(resolved[at]))
                for at, judged in run
            ]
            return _events_of(setup, desk, here, stream_id, wanted)

        settled = batching.settle_in_order(
            desk, list(zip(resolved, named, strict=True)),
            amend=lambda judged: _barred(
                judged, _to_supersede(desk, judged.draft), trust_of(judged.draft),
                explicit=bool(judged.draft.supersedes),
            ),
            appoint=appoint,
        )  # fmt: skip
        for index, (one, draft) in enumerate(zip(settled, resolved, strict=True)):
            with _item(index, resolved):
                events = cited_events(desk, draft)
            add_sources(desk, one, draft, one.origin, events)
        writing.index(desk, settled)
        return writing.whole(desk, settled)

    return (yield from written(call, work))


def _citing_whole_ids(call: Writing, asked: Sequence[Asked]) -> Operation[Sequence[Asked]]:
    """The same candidates with the ids of the events they cite whole, as the ledger is to keep them."""
    short = {event_id for one in asked for event_id, _, _ in one.draft.citations if ids.is_short(event_id)}
    if not short:
        return asked

    def work(conn: Connection) -> dict[str, str]:
        visible = tenancy.visible(conn, call.scope)
        return {event_id: citations.resolve_event_id(conn, visible, event_id) for event_id in sorted(short)}

    known = yield from steps.read(call.tenant_id, work)
    return [_citing(one, known) for one in asked]


def _citing(asked: Asked, known: Mapping[str, str]) -> Asked:
    spans = tuple((known.get(event_id, event_id), start, end) for event_id, start, end in asked.draft.citations)
    if spans == asked.draft.citations:
        return asked
    return Asked(replace(asked.draft, citations=spans), {**asked.request, "sources": plain(spans)})


def _check_end(draft: Draft, origin: Origin) -> None:
    check_end(draft, origin.occurred_at)


def check_end(draft: Draft, said_at: datetime) -> None:
    """Refuse a fact that ends before it begins: nobody would find it, at no moment. Pure."""
    if draft.valid_to is not None and draft.valid_to <= (draft.valid_from or said_at):
        expected = "a time after the fact begins: since it was said, unless valid_from says since when it held"
        raise InvalidInput("valid_to", expected, "one that is not")


def _spoken_for(desk: Desk, call: Writing, drafts: Sequence[Draft]) -> Callable[[Draft], Trust]:
    """How far each draft is trusted: as the call says, else as a direct change, and no more than what it cites."""
    cited = sorted({event_id for draft in drafts for event_id, _, _ in draft.citations})
    if call.trust is not None or not cited:
        return lambda _: call.trust or DIRECT_TRUST
    events = ledger.get_many(desk.conn, cited, scope_ids=desk.visible.scope_ids)
    said = {event_id: event.trust for event_id, event in events.items()}
    return lambda draft: max(
        (DIRECT_TRUST, *(said[event_id] for event_id, _, _ in draft.citations if event_id in said)), key=trust_rank
    )


def _desk_for(setup: Setup, conn: Connection, call: Writing, drafts: Sequence[Draft]) -> tuple[Desk, Sequence[Draft]]:
    """The desk where drafts are judged, and the drafts resolved, under their locks.

    A single one is looked up in the message that opens the desk, where the last write of this process found its scope:
    if it is there no more, the locks of its place are held for nothing, and it is looked up as any other.
    """
    # A session holds its stream before it looks: what was said in it before is seen then.
    there = setup.desk_as_it_was(conn, call.scope) if len(drafts) == 1 and call.visit is None else None
    if there is None or not writing.is_looked_up(there, drafts[0]):
        desk = setup.desk(conn, call.scope, reason=call.reason)
    else:
        opened = setup.desk_ahead(conn, call.scope, reason=call.reason)
        writing.lock(there, drafts, key_lock(there, call))
        try:
            looked = writing.look_around(there, drafts[0])
        except BaseException:
            setup.forget_desk(conn, call.scope)
            raise
        desk = opened()
        if (desk.scope_id, desk.model_id) == (there.scope_id, there.model_id):
            return replace(desk, looked=looked), drafts
    resolved = []
    for index, draft in enumerate(drafts):
        with _item(index, drafts):
            resolved.append(_resolved(desk, draft))
    _lock_with_named(desk, resolved, key_lock(desk, call))
    return desk, resolved


def _lock_with_named(desk: Desk, drafts: Sequence[Draft], key: str) -> None:
    """Take the locks of drafts, and of the lineages of what they supersede, which may be others by the time."""
    wanted = sorted({old for draft in drafts for old in draft.supersedes})
    held: set[str] | None = None
    while True:
        rows = memories.load(desk.conn, desk.visible, wanted)
        places = [(row, desk.visible.id_of(row.scope)) for row in rows]
        names = {name for row, at in places for name in writing.lineage_locks(row.lineage_id, at, row.conflict_key)}
        if held is not None and names <= held:
            return
        writing.lock(desk, drafts, *names, key, scopes=sorted({at for _, at in places}))
        held = names


def revise(
    setup: Setup, memory_id: object, fact: object, *, main_content: object, valid_from: object,
    expected_revision: object,
    given: Mapping[str, Any],
) -> Operation[WriteDecision]:  # fmt: skip
    """Write a new revision on the current head of a memory's lineage."""
    call = setup.writing(given).keyed()
    wanted = inputs.memory_id(memory_id)
    clean = call.censor
    if not isinstance(fact, Edit) and _may_be_large(fact):
        inputs.fact(fact)  # what is refused anyway is not searched for secrets
    change = _cleaned(fact, clean) if fact is None or isinstance(fact, Edit) else inputs.fact(clean.data(fact, "fact"))
    content = inputs.optional(clean.checking(inputs.main_content), main_content, "main_content")
    begins = inputs.optional(inputs.moment, valid_from, "valid_from")
    expected = inputs.optional(inputs.whole, expected_revision, "expected_revision", 1)
    if change is None and content is None:
        raise InvalidInput("fact", "a new fact, an Edit or a new main_content", "none of them")
    request = plain({"memory_id": wanted, "fact": change, "main_content": content, "valid_from": begins})
    check_size(change if isinstance(change, str) else "", request, call.reason)
    setup = yield from spaces.ready(setup, call.tenant_id)
    for _ in range(MAX_EDIT_TRIES):
        try:
            basis = yield from steps.read(call.tenant_id, lambda conn: _head(conn, call, wanted))
            new = change.apply(basis.fact) if isinstance(change, Edit) else change or basis.fact
            new, refused = guarded(setup, basis, new)
        except (Conflict, PolicyError) as error:  # of what is there now: an earlier call with this key met what was
            repeated = yield from _revised_before(setup, call, wanted, request)
            if repeated is None:
                raise error from None
            return repeated
        vectors = yield from with_vectors(setup, [Draft(new, _like(basis))])

        def work(
            conn: Connection,
            basis: Memory = basis,
            new: str = new,
            vector: Any = vectors[0].vector,
            refused: str | None = refused,
        ) -> WriteDecision | None:
            desk, target = _desk_of(setup, conn, call, wanted)
            target = _locked(desk, target, call)
            before = _before(desk, call, [request])
            if before is not None:
                return before[0]
            head = memories.lineage(conn, desk.visible, target.lineage_id).head
            if head is None:
                raise Conflict(NOTHING_CURRENT)
            if expected is not None and expected != head.revision:
                raise AlreadySuperseded(f"the head is revision {head.revision}, expected {expected}", head=head)
            if isinstance(change, Edit) and head.fact != basis.fact:
                return None  # another revision came between: make the edit on that one
            draft = replace(revision_of(head, new, vector, content, begins), refused=refused)
            judged = writing.judge(desk, draft, call.trust or DIRECT_TRUST, head=head)
            settled = writing.settle(
                desk, judged, event_of(setup, desk, *place(setup, desk, call), judged.kind, new, request)
            )
            writing.index(desk, [settled])
            return writing.whole(desk, [settled])[0]

        decision = yield from written(call, work)
        if decision is not None:
            return decision
    raise Unavailable("the memory was revised too often to edit it", retry_after=1.0)


def _revised_before(
    setup: Setup, call: Writing, wanted: str, request: Mapping[str, Any]
) -> Operation[WriteDecision | None]:  # fmt: skip
    """What an earlier call with this key revised, or None where there was none."""
    if call.is_own_key:
        return None

    def work(conn: Connection) -> WriteDecision | None:
        desk, _ = _desk_of(setup, conn, call, wanted)
        before = _before(desk, call, [request])
        return None if before is None else before[0]

    return (yield from steps.write(call.tenant_id, work, key=call.idempotency_key))


def _cleaned(edit: Edit | None, censor: Censor) -> Edit | None:
    return edit and replace(edit, old=censor.text(edit.old, "old"), new=censor.text(edit.new, "new"))


def annotate(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """Change attributes of a memory in place: an event, no revision, no new vector."""
    call = setup.writing({name: value for name, value in given.items() if name not in ATTRIBUTES}, ATTRIBUTES)
    changes = {name: value for name, value in given.items() if name in ATTRIBUTES}
    if not changes:
        raise InvalidInput("attributes", f"at least one of {', '.join(ATTRIBUTES)}", "none")
    if any(map(_may_be_large, changes.values())):
        _annotation(setup, changes)  # what is refused anyway is not searched for secrets
    changes = {name: call.censor.data(value, name) for name, value in changes.items()}
    params = _annotation(setup, changes)

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        _annotate(desk, memory, origin, params)

    lends = params["private"] is not None  # its words to its neighbours, or no more
    return (yield from _change(setup, call, memory_id, "memory_annotated", changes, apply, no_erasures=lends))


def _annotation(setup: Setup, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes to change, checked; None leaves one as it is."""
    memory_type, category = _type_of(changes.get("memory_type"), changes.get("category"))
    optional = inputs.optional
    expires_in, expires_at = _expiry(
        setup, changes.get("expires_at"), changes.get("expires_in"), changes.get("expires_in_days")
    )
    return {
        "memory_type": memory_type, "category": category,
        "tags": list(inputs.tags(changes["tags"])) if changes.get("tags") is not None else None,
        "source": optional(inputs.label, changes.get("source"), "source"),
        "metadata": Jsonb(inputs.metadata(changes["metadata"])) if changes.get("metadata") is not None else None,
        "importance": inputs.importance(changes.get("importance"), changes.get("priority"), changes.get("rating")),
        "confidence": optional(inputs.unit, changes.get("confidence"), "confidence"),
        "critical_slot": optional(_slot, changes.get("critical_slot"), "critical_slot"),
        "unpin": "critical_slot" in changes and changes["critical_slot"] is None,
        "private": optional(inputs.flag, changes.get("private"), "private"), "expires_at": expires_at,
        "expires_in": expires_in,
        "no_expiry": any(name in changes for name in EXPIRY) and expires_at is None and not expires_in,
    }  # fmt: skip


def _slot(value: object, field: str) -> str:
    """A critical slot as `add` keeps it, so that one name never makes two of it."""
    return text.normalise_key(inputs.key_text(value, field))


def _annotate(desk: Desk, memory: Memory, origin: Origin, params: Mapping[str, Any]) -> None:
    execute(
        desk.conn, "annotate_memory", tenant_id=desk.tenant_id, memory_id=memory.memory_id, at=origin.recorded_at,
        **params,
    )  # fmt: skip
    writing.note(desk, memory.memory_id, "annotated", origin.event_id, origin.actor)
    if params["private"] not in (None, memory.private):
        keyword.reindex_around(desk.conn, memory.memory_id, tenant_id=desk.tenant_id, config=desk.config)


def end_validity(setup: Setup, memory_id: object, at: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """Say that a memory stopped holding at a moment, without a successor."""
    call = setup.writing(given)
    when = inputs.optional(inputs.moment, at, "at")

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        if when is not None and memory.valid_from_stated and when <= memory.valid_from:
            raise InvalidInput("at", "a time after the memory's valid_from", "one that is not")
        _end(desk, memory, origin, when)

    return (yield from _change(setup, call, memory_id, "memory_ended", {"at": when}, apply))


def _end(desk: Desk, memory: Memory, origin: Origin, when: datetime | None) -> None:
    execute(
        desk.conn, "end_memory", tenant_id=desk.tenant_id, memory_id=memory.memory_id, at=when or origin.recorded_at
    )
    writing.note(desk, memory.memory_id, "ended", origin.event_id, origin.actor)


def reinforce(setup: Setup, memory_id: object, amount: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """Raise a memory's importance."""
    call = setup.writing(given)
    by = inputs.unit(amount, "amount")

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        _raise(desk, memory, origin, by)

    return (yield from _change(setup, call, memory_id, "memory_reinforced", {"amount": by}, apply))


def _raise(desk: Desk, memory: Memory, origin: Origin, by: float) -> None:
    execute(desk.conn, "raise_importance", tenant_id=desk.tenant_id, memory_id=memory.memory_id, amount=by)
    writing.note(desk, memory.memory_id, "annotated", origin.event_id, origin.actor)


def endorse(setup: Setup, memory_id: object, trust: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """Vouch for a memory as an operator or the user: it is trusted no less from then on, and its lineage ordered anew.

    The act speaks with the trust that it gives, as any write with its own, so that it gives no better one.
    """
    chosen = cast("Trust", inputs.choice(trust, "trust", ENDORSERS))
    call = replace(setup.writing(given), trust=chosen)

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        _endorse(desk, memory, origin, chosen)

    return (yield from _change(setup, call, memory_id, "memory_endorsed", {"trust": chosen}, apply))


def _endorse(desk: Desk, memory: Memory, origin: Origin, trust: Trust) -> None:
    if memory.status in ("deleted", "quarantined"):
        raise Conflict(OUT_OF_ORDER)
    execute(desk.conn, "endorse_memory", tenant_id=desk.tenant_id, memory_id=memory.memory_id, trust=trust_rank(trust))
    writing.note(desk, memory.memory_id, "annotated", origin.event_id, origin.actor)
    moved = writing.reorder(desk, memory.lineage_id, origin.event_id, origin.actor)
    writing.tie_superseded(desk, memory.memory_id, moved, origin.event_id)


def forget(
    setup: Setup, memory_id: object, revision_only: object, given: Mapping[str, Any]
) -> Operation[tuple[str, ...]]:
    """Forget a fact with its whole lineage, or retract one revision; undone by restore. The ids that were forgotten."""
    call = setup.writing(given).keyed()
    only = inputs.flag(revision_only, "revision_only")
    forgotten: list[str] = []

    def forgets(desk: Desk, memory: Memory) -> bool:
        forgotten[:] = _forgotten(desk, memory, only, private=_is_own(desk))
        return bool(forgotten)

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        _note_forgotten(desk, memory, origin, only, forgotten, private=_is_own(desk))

    yield from _change(setup, call, memory_id, "memory_forgotten", {"revision_only": only}, apply, forgets)
    if forgotten or call.dry_run:
        return tuple(forgotten)
    return (yield from steps.read(call.tenant_id, lambda conn: _forgotten_before(conn, call)))


def _forgotten(desk: Desk, memory: Memory, only: bool, *, private: bool) -> list[str]:
    """Forget a lineage or one revision; what is `private` in it only for its own scope, which others do not see."""
    only = only or _is_alone(memory)
    rows = fetch_all(
        desk.conn, "forget_memories", tenant_id=desk.tenant_id, lineage_id=memory.lineage_id,
        memory_id=memory.memory_id if only else None, reason="retracted" if only else "forgotten", private=private,
    )  # fmt: skip
    return [row.memory_id for row in rows]


def _is_alone(memory: Memory) -> bool:
    """Whether it is a fact of its own, that only shares the key of a lineage."""
    return "moot" in memory.labels


def _note_forgotten(
    desk: Desk, memory: Memory, origin: Origin, only: bool, forgotten: Sequence[str], *, private: bool
) -> None:
    """Note what was forgotten, and what the event repeats if it is private: so the event is as private as that."""
    named = [memory.memory_id] if memory.private and memory.memory_id not in forgotten else []
    for memory_id in (*forgotten, *named):
        writing.note(desk, memory_id, "forgotten", origin.event_id, origin.actor)
    if only or _is_alone(memory) or not private:
        writing.reorder(desk, memory.lineage_id, origin.event_id, origin.actor)


def _forgotten_before(conn: Connection, call: Writing) -> tuple[str, ...]:
    """What an earlier call with this key forgot."""
    visible = tenancy.visible(conn, call.scope)
    found = (ledger.find_by_key(conn, scope_id, str(call.idempotency_key)) for scope_id in visible.scope_ids)
    event = next((one for one in found if one is not None), None)
    if event is None:
        return ()
    rows = fetch_all(conn, "list_forgotten_by", tenant_id=call.tenant_id, event_id=event.event_id)
    return tuple(row.memory_id for row in rows)


def restore(setup: Setup, memory_id: object, given: Mapping[str, Any]) -> Operation[Memory]:
    """Bring back what was forgotten, retracted or archived; who is head is then decided anew."""
    call = setup.writing(given)

    def apply(desk: Desk, memory: Memory, origin: Origin) -> None:
        _restore(desk, memory, origin, private=_is_own(desk))

    return (yield from _change(setup, call, memory_id, "memory_restored", {}, apply, _is_put_by))


def _is_put_by(_desk: Desk, memory: Memory) -> bool:
    """Whether there is anything to bring back."""
    return memory.status == "archived" or memory.status_reason in ("forgotten", "retracted")


def _restore(desk: Desk, memory: Memory, origin: Origin, *, private: bool) -> None:
    rows = fetch_all(
        desk.conn, "restore_memories", tenant_id=desk.tenant_id, lineage_id=memory.lineage_id,
        memory_id=memory.memory_id, private=private,
    )  # fmt: skip
    for row in rows:
        writing.note(desk, row.memory_id, "restored", origin.event_id, origin.actor)
    writing.reorder(desk, memory.lineage_id, origin.event_id, origin.actor)


def again(
    setup: Setup, desk: Desk, event: Event, find: Callable[[str], str], stand_in: Callable[[str], str | None],
    vector: Callable[[str], Any], tell: Callable[[str], None], *, out_of_reach: Callable[[str], str | None],
) -> list[writing.Settled]:  # fmt: skip
    """Make the direct change that an event asked for once more, in a projection of its own: how a replay keeps it.

    `find` gives the memory that an id of the request stands for there, `stand_in` None for one of another scope or an
    erased one, which `out_of_reach` names, `vector` the vector of a fact. Raises NotFound and Conflict where the change
    has nothing to change any more; a fact that was to take the place of what does not stand there, or to be a part of
    it, is kept nevertheless, and `tell` hears why it takes no place.
    """
    request = _read_back(event.payload.get("request", {}))
    trust, said = event.trust, event.content or ""
    desk = replace(desk, reason=event.payload.get("reason"))
    origin = Origin(
        event_id=event.event_id, recorded_at=event.recorded_at, occurred_at=event.occurred_at, trust=trust,
        content=event.content, session_id=event.session_id, task_run_id=event.task_run_id, actor=event.actor,
        char_end=len(said),
    )  # fmt: skip
    named = request.pop("memory_id", None)
    if named is None:
        call = Writing(desk.visible.scope, trust=trust, occurred_at=event.occurred_at)
        bars = out_of_reach if event.event_type == EVENT_OF["conflict"] else lambda _: None
        return [_add_again(setup, desk, call, request, origin, stand_in, vector, tell, bars=bars)]
    memory = memories.get(desk.conn, desk.visible, find(named))
    if "fact" in request:
        return [_revise_again(setup, desk, memory, request, origin, vector)]
    if event.event_type == "memory_annotated":
        _annotate(desk, memory, origin, _annotation(setup, request))
    elif event.event_type == "memory_ended":
        _end(desk, memory, origin, request["at"])
    elif event.event_type == "memory_endorsed":
        _endorse(desk, memory, origin, request["trust"])
    elif event.event_type == "memory_forgotten":
        only, private = request["revision_only"], request.get("private", True)
        if gone := _forgotten(desk, memory, only, private=private):
            _note_forgotten(desk, memory, origin, only, gone, private=private)
    elif event.event_type == "memory_restored":
        _restore(desk, memory, origin, private=request.get("private", True))
    else:
        _raise(desk, memory, origin, request["amount"])
    return []


def _add_again(
    setup: Setup, desk: Desk, call: Writing, item: dict[str, Any], origin: Origin,
    stand_in: Callable[[str], str | None], vector: Callable[[str], Any], tell: Callable[[str], None],
    *, bars: Callable[[str], str | None],
) -> writing.Settled:  # fmt: skip
    """An `add` once more; `bars` names what refused it then and stands in no order here, nothing for what did not."""

    def standing(memory_id: str) -> str | None:
        try:
            return stand_in(memory_id)
        except NotFound as error:
            tell(str(error))
            return None

    if item.get("parent_id") is not None:
        item["parent_id"] = standing(item["parent_id"])
    wanted = [(one, standing(one)) for one in item.get("supersedes", ())]
    found = [one for _, one in wanted if one is not None]
    barred_by = next((bar for one, here in wanted if here is None and (bar := bars(one)) is not None), None)
    named = [memories.get(desk.conn, desk.visible, one) for one in found]
    left = [one for one in named if one.status == "active"]
    if len(left) < len(named):
        tell(NOT_CURRENT)
    draft = asked_for(setup, call, {**item, "supersedes": [one.memory_id for one in left]}).draft
    draft = replace(draft, vector=vector(draft.fact))
    judged = writing.judge(desk, draft, origin.trust, origin.recorded_at)
    explicit = bool(item.get("supersedes"))  # whatever is left of it
    judged = _barred(judged, left, call.trust or DIRECT_TRUST, explicit=explicit)
    if barred_by is not None and judged.kind != "conflict":
        judged = writing.conflict(judged, barred_by, LESS_TRUSTED)
    settled = writing.settle(desk, judged, origin)
    add_sources(desk, settled, draft, origin, ledger.get_many(desk.conn, [one for one, _, _ in draft.citations]))
    return settled


def guarded(setup: Setup, head: Memory, new: str) -> tuple[str, str | None]:
    """The text of a revision after the guards of the policy, and the guard that refused it. Pure."""
    if not setup.policy.guards:
        return new, None
    like = {"memory_type": head.memory_type, "category": head.category, "tags": head.tags, "source": head.source}
    found = guards.passed(setup.policy, {"fact": new, **like, "importance": head.importance})
    try:
        return inputs.fact(found.candidate["fact"]), found.refused
    except EngramError as error:
        raise PolicyError(f"a guard of the policy made a fact that is none ({error.code})") from error


def says_in_full(event: Event) -> bool:
    """Whether what an event makes of a text is its own, as of any message, and edits none that was there. Pure."""
    if not event.event_type.startswith("memory_"):
        return True
    return isinstance(event.payload.get("request", {}).get("fact"), str)


def superseded(event: Event) -> Sequence[str]:
    """The memories that a candidate was said to supersede, as its event names them. Pure."""
    found: Sequence[str] = event.payload.get("request", {}).get("supersedes", ())
    return found


def _revise_again(
    setup: Setup, desk: Desk, memory: Memory, request: Mapping[str, Any], origin: Origin, vector: Callable[[str], Any]
) -> writing.Settled:
    revisions = memories.lineage(desk.conn, desk.visible, memory.lineage_id).revisions
    change = request["fact"]
    heads = [one for one in revisions if one.status == "active" and "moot" not in one.labels]
    if not heads and isinstance(change, str):  # what it was said of may be erased by now; its place is left
        heads = [one for one in revisions if one.status_reason == "erased"]
    if not heads:
        raise Conflict(NOTHING_CURRENT)
    head = heads[0]
    if isinstance(change, Mapping):
        change = Edit(change["edit"], change["old"], change["new"]).apply(head.fact)
    imported = request.get("imported")
    if isinstance(imported, Mapping):
        call = Writing(desk.visible.scope, trust=cast("Trust", origin.trust), occurred_at=origin.occurred_at)
        own = asked_for(setup, call, _read_back(imported)).draft
        draft = imported_over(head, replace(own, vector=vector(own.fact)), imported)
        return writing.settle(desk, judged_over(desk, draft, head, origin.trust, origin.recorded_at), origin)
    new, refused = guarded(setup, head, change or head.fact)
    draft = revision_of(head, new, vector(new), request.get("main_content"), request.get("valid_from"))
    draft = replace(draft, refused=refused)
    return writing.settle(desk, writing.judge(desk, draft, origin.trust, origin.recorded_at), origin)


def imported_over(head: Memory, own: Draft, said: Container[str]) -> Draft:
    """The revision of a memory by an imported entry: what it `said` comes before what is inherited. Pure.

    What was private stays so.
    """
    draft = revision_of(head, own.fact, own.vector, own.main_content, own.valid_from)
    rules = {name: getattr(own.classified, name) for name in RULED if name in said}
    told = {name: getattr(own, name) for name in TOLD if name in said}
    return replace(
        draft, **told, classified=replace(draft.classified, **rules), private=head.private or own.private,
        citations=own.citations, refused=own.refused,
    )  # fmt: skip


def judged_over(desk: Desk, draft: Draft, head: Memory, trust: str, now: datetime | None = None) -> writing.Judged:
    """The judgement of an imported revision: one of the same text is news where it says something else beside."""
    judged = writing.judge(desk, draft, trust, now)
    told = any(getattr(draft, name) != getattr(head, name) for name in ("private", *TOLD))
    if judged.kind != "reinforce" or not (
        told or any(getattr(draft.classified, name) != getattr(head, name) for name in RULED)
    ):
        return judged
    return replace(judged, judgement=replace(judged.judgement, kind="revise", reasons=("revised",)))


TIMES: Final = ("valid_from", "valid_to", "expires_at", "at")
RULED: Final = ("memory_type", "category", "importance")
TOLD: Final = ("tags", "source", "metadata", "confidence", "value", "valid_to", "expires_at")


def _read_back(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request from the form its event keeps it in."""
    found = dict(request)
    for name in TIMES:
        if isinstance(found.get(name), str):
            found[name] = datetime.fromisoformat(found[name])
    if isinstance(found.get("expires_in"), float):
        found["expires_in"] = timedelta(seconds=found["expires_in"])
    return found


def _change(
    setup: Setup,
    call: Writing,
    memory_id: object,
    event_type: str,
    what: Mapping[str, Any],
    apply: Callable[[Desk, Memory, Origin], None],
    changes: Callable[[Desk, Memory], bool] | None = None,
    *,
    no_erasures: bool = False,
) -> Operation[Memory]:
    """One change of one memory: lock its lineage, append the event, apply, read back; where it `changes` anything.

    An event that changed nothing would repeat what the memory says, and nothing would tell that it is private.
    """
    wanted = inputs.memory_id(memory_id)
    call = call.keyed()
    asked = plain({"memory_id": wanted, **what})

    def work(conn: Connection) -> Memory:
        desk, memory = _desk_of(setup, conn, call, wanted)
        if no_erasures:  # words that one takes away would be read before and written after it; it takes this lock first
            tenancy.keep_replays_out(conn, desk.tenant_id, desk.scope_id)
        memory = _locked(desk, memory, call)
        request = asked if event_type not in WHOLE or _is_own(desk) else {**asked, "private": False}
        if not _is_repeated(desk, call, request, (event_type,)):
            if memory.status_reason == "erased":  # an event that names it would only say that it was there
                raise Conflict(ERASED)
            if changes is None or changes(desk, memory):
                origin = event_of(setup, desk, *place(setup, desk, call), event_type, memory.fact, request)
                apply(desk, memory, origin)
        hides = event_type == "memory_annotated"  # then NotFound takes it back, which has to be met before COMMIT
        return memories.get(conn if hides else ending(conn), desk.visible, memory.memory_id)

    return (yield from written(call, work))


def written(call: Writing, work: Callable[[Connection], T]) -> Operation[T]:
    if not call.dry_run:
        return (yield from steps.write(call.tenant_id, work, key=call.idempotency_key))

    def rehearsed(conn: Connection) -> T:
        with conn.begin_nested() as savepoint:
            result = work(conn)
            savepoint.rollback()
        return result

    result = yield from steps.write(call.tenant_id, rehearsed, key=call.idempotency_key)
    return _marked(result)


def _marked(result: T) -> T:
    return _mark(result)  # type: ignore[no-any-return]


def _mark(result: Any) -> Any:
    if isinstance(result, WriteDecision):
        return replace(result, dry_run=True)
    return [_mark(one) for one in result] if isinstance(result, list) else result


def with_vectors(setup: Setup, drafts: Sequence[Draft]) -> Operation[list[Draft]]:
    """The drafts with their vectors; on failure they stay without, where the settings say defer."""
    embedder = setup.embedder
    if embedder is None or not drafts:
        return list(drafts)
    try:
        vectors = yield from steps.think(lambda: embedder.embed([draft.fact for draft in drafts]))
    except Unavailable:
        if setup.settings.on_embedding_failure == "fail":
            raise
        return list(drafts)
    return [replace(draft, vector=vector) for draft, vector in zip(drafts, vectors, strict=True)]


def place(setup: Setup, desk: Desk, call: Writing) -> tuple[Writing, str]:
    """Where a direct change goes: its task's, session's or scope's stream, or that of the scope that holds the memory.

    The write comes back with the part of the session that it has become a part of.
    """
    scope = desk.visible.scopes[desk.scope_id]
    own = call.scope.namespace == scope.namespace and call.scope.user_id == scope.user_id
    refuse_forgotten = tasks.refuse_forgotten(desk.conn, desk.tenant_id, call.task_run_id)
    part = setup.entered(desk.conn, desk.scope_id, call) if own else None
    if part is not None:
        told = call.task_run_id is None  # by what goes into the session's own stream
        sessions.reopen(desk.conn, desk.scope_id, part, setup.policy, told=told, key=setup.settings.secret_key)
        call = replace(call, visit=Visit(part.session_id))
        if call.task_run_id is None:
            return call, part.stream_id
    stream = call.stream if own else DIRECT
    if stream == DIRECT and desk.direct is not None and desk.direct[0] == desk.scope_id:
        stream_id = desk.direct[1]
    else:
        stream_id = streams.open(desk.conn, desk.scope_id, *stream).stream_id
    refuse_forgotten()
    return call, stream_id


def event_of(
    setup: Setup,
    desk: Desk,
    call: Writing,
    stream_id: str,
    kind: str,
    fact: str,
    request: Mapping[str, Any],
    index: int = 0,
) -> Origin:
    """Append the event of a direct change and make it the origin of what follows."""
    wanted = Wanted(index, kind, fact, request, ids.new_id(), call.trust or DIRECT_TRUST)
    return _events_of(setup, desk, call, stream_id, [wanted])[0]


def _unborn(call: Writing, trust: Trust) -> Origin:
    """The origin of a direct change whose event is not appended yet: its id, whose word it is, and about when."""
    now = datetime.now(UTC)
    return Origin(ids.new_id(), now, call.occurred_at or now, trust, None)


class Wanted(NamedTuple):
    """A direct change to be appended: its place in the call, what becomes of it, and what its event says."""

    place: int
    kind: str
    fact: str
    request: Mapping[str, Any]
    event_id: str
    trust: Trust


def _events_of(setup: Setup, desk: Desk, call: Writing, stream_id: str, wanted: Sequence[Wanted]) -> list[Origin]:
    """Append the events of direct changes, in batches the ledger takes, and make them the origins of what follows."""
    reason = {"reason": call.reason} if call.reason else {}
    key = str(call.idempotency_key)
    events = [
        ledger.NewEvent(
            role=ROLE_OF[one.trust], event_type=EVENT_OF.get(one.kind, one.kind), content=one.fact,
            payload={"request": dict(one.request), "decision": one.kind, **reason}, trust=one.trust,
            occurred_at=call.occurred_at, session_id=call.session_id, task_run_id=call.task_run_id, actor=call.actor,
            idempotency_key=ledger.key_at(key, one.place), event_id=one.event_id,
        )
        for one in wanted
    ]  # fmt: skip
    done = ledger.append_all(
        desk.conn, scope_id=desk.scope_id, stream_id=stream_id, events=events, key=setup.settings.secret_key
    )
    return [
        Origin(
            event_id=one.event_id, recorded_at=one.recorded_at, occurred_at=call.occurred_at or one.recorded_at,
            trust=asked.trust, content=asked.fact, session_id=call.session_id, task_run_id=call.task_run_id,
            actor=call.actor, char_end=len(asked.fact),
        )
        for one, asked in zip(done, wanted, strict=True)
    ]  # fmt: skip


def _before(desk: Desk, call: Writing, requests: Sequence[Mapping[str, Any]]) -> list[WriteDecision] | None:
    """What an earlier call with this key decided, or None when there was none; of what was erased, that it was."""
    if not _is_repeated(desk, call, requests[0], KIND_OF):
        return None
    key = str(call.idempotency_key)
    events: list[Event] = []
    recorded: list[datetime] = []
    for index in range(len(requests)):
        event = ledger.find_at(desk.conn, desk.scope_id, key, index, recorded)
        if event is None:
            raise IdempotencyMismatch
        events.append(event)
        recorded.append(event.recorded_at)
    if ledger.goes_on(desk.conn, desk.scope_id, key, recorded):
        raise IdempotencyMismatch
    if not all(_asks_for(desk, call, event, request, KIND_OF) for event, request in zip(events, requests, strict=True)):
        raise IdempotencyMismatch
    return _decided(desk, events)


def _decided(desk: Desk, events: Sequence[Event]) -> list[WriteDecision]:
    """What was decided of some events; of one whose words or memory were erased what its type still tells."""
    event_ids = [event.event_id for event in events]
    kept = {one["event_id"]: one for one in history.decisions_of(desk.conn, desk.visible, event_ids=event_ids)}
    rows = fetch_all(
        desk.conn, "list_memories_of_events", tenant_id=desk.tenant_id, scope_id=desk.scope_id,
        event_ids=[event_id for event_id in event_ids if event_id not in kept],
    ) if len(kept) < len(event_ids) else []  # fmt: skip
    tombs = {row.event_id: row.memory_id for row in rows}
    found = []
    for event in events:
        decision = kept.get(event.event_id)
        if decision is None:
            found.append(_erased_decision(event, desk.load(tombs.get(event.event_id))))
            continue
        memory, target = desk.load(decision["memory_id"]), desk.load(decision["target_id"])
        head = memories.lineage(desk.conn, desk.visible, memory.lineage_id).head if memory is not None else target
        found.append(replace(writing.revive(decision, memory, head, target), erased=event.erased))
    return found


def _erased_decision(event: Event, tomb: Memory | None) -> WriteDecision:
    """What is left of a decision: what became of its candidate, and the empty place of its memory. Pure."""
    return WriteDecision(
        kind=KIND_OF[event.event_type], memory=tomb, head=None, target=None, event_id=event.event_id,
        reasons=("erased",), erased=True,
    )  # fmt: skip


def _is_repeated(desk: Desk, call: Writing, request: Mapping[str, Any], types: Collection[str]) -> bool:
    """Whether an earlier call with this key asked for the same change; IdempotencyMismatch where for another."""
    if call.is_new(desk.conn):
        return False
    event = ledger.find_by_key(desk.conn, desk.scope_id, str(call.idempotency_key))
    if event is None:
        return False
    if not _asks_for(desk, call, event, request, types):
        raise IdempotencyMismatch
    return True


def _asks_for(
    desk: Desk, call: Writing, event: Event, request: Mapping[str, Any], types: Collection[str]
) -> bool:  # fmt: skip
    """Whether an event is what such a call would append; of an erased one the request is gone."""
    asks = event.event_type in types and (event.erased or event.payload.get("request") == request)
    return asks and event.task_run_id == call.task_run_id and speaks_alike(desk.conn, desk.visible, call, event)


def speaks_alike(conn: Connection, visible: Visible, call: Writing, event: Event) -> bool:
    """Whether a call speaks with the trust of an event, if it names one, and in its session.

    A session that Engram named has parts: then an earlier one may hold what was said before.
    """
    if call.trust not in (None, event.trust):
        return False
    if event.session_id == call.session_id:
        return True
    if event.session_id is None or call.session_id is None:
        return False
    part = sessions.find(conn, visible, event.session_id, memories.NOW)
    return part is not None and part.opened_by == "engram"


def key_lock(desk: Desk, call: Writing) -> str:
    return f"{desk.scope_id}/call/{call.idempotency_key}"


def _is_own(desk: Desk) -> bool:
    """Whether what is written to is the caller's own scope, whose private memories it sees."""
    return desk.visible.own == desk.scope_id


def _locked(desk: Desk, memory: Memory, call: Writing) -> Memory:
    """A memory as it stands under the locks of its lineage; a switch of projections may have come before them."""
    while True:
        writing.lock(desk, [], *_locks(desk, memory), key_lock(desk, call))
        before, memory = memory, memories.get(desk.conn, desk.visible, memory.memory_id)
        if _locks(desk, before) == _locks(desk, memory):
            return memory


def _locks(desk: Desk, memory: Memory) -> list[str]:
    return writing.lineage_locks(memory.lineage_id, desk.scope_id, memory.conflict_key)


def _desk_of(setup: Setup, conn: Connection, call: Writing, memory_id: str) -> tuple[Desk, Memory]:
    """The desk of the scope that holds a memory this call may see, and the memory."""
    desk = setup.desk(conn, call.scope, reason=call.reason)
    memory = memories.get(conn, desk.visible, memory_id)
    return replace(desk, scope_id=desk.visible.id_of(memory.scope)), memory


def _head(conn: Connection, call: Writing, memory_id: str) -> Memory:
    """The head of the lineage of a memory."""
    if ids.is_short(memory_id):
        visible = tenancy.visible(conn, call.scope)
        line = memories.lineage_of(conn, visible, memory_id)
    else:
        line = memories.lineage_at_once(ending(conn), call.scope, memory_id)
    if line.head is None:
        raise Conflict(NOTHING_CURRENT)
    return line.head


def revision_of(head: Memory, new: str, vector: Any, content: str | None, begins: datetime | None) -> Draft:
    """The draft of a new revision, which inherits all that it does not change."""
    return Draft(
        fact=new, classified=_like(head), vector=vector, main_content=content or head.main_content, tags=head.tags,
        source=head.source, metadata=head.metadata, confidence=head.confidence, attribute=head.attribute,
        value=head.value, topic_key=head.topic_key, valid_from=begins, valid_to=head.valid_to,
        expires_at=head.expires_at, private=head.private, revises=head.memory_id,
    )  # fmt: skip


def _like(head: Memory) -> Classified:
    """The classification a revision inherits from its head."""
    return Classified(
        memory_type=head.memory_type, category=head.category, importance=head.importance,
        critical_slot=head.critical_slot,
        conflict_key=head.conflict_key, subject=head.subject, rule=head.rule, expires_in=None, negates=None,
    )  # fmt: skip


def _resolved(desk: Desk, draft: Draft) -> Draft:
    """The draft with short ids made whole, and every id it names checked to be visible."""
    if not draft.parent_id and not draft.supersedes:
        return draft
    parent = None if draft.parent_id is None else memories.resolve_id(desk.conn, desk.visible, draft.parent_id)
    olds = [memories.get(desk.conn, desk.visible, old) for old in draft.supersedes]
    if parent is not None and desk.load(parent) is None:
        raise NotFound("no memory with that id in this scope")
    return replace(draft, parent_id=parent, supersedes=tuple(old.memory_id for old in olds))


def _to_supersede(desk: Desk, draft: Draft) -> list[Memory]:
    """W-11: what a candidate supersedes by name, which must be current now."""
    olds = memories.load(desk.conn, desk.visible, draft.supersedes)
    if len(olds) < len(draft.supersedes) or not all(old.stands for old in olds):
        raise Conflict(NOT_CURRENT)
    return olds


def _barred(
    judged: writing.Judged, olds: Sequence[Memory], trust: Trust, *, explicit: bool
) -> writing.Judged:  # fmt: skip
    """W-11: one that is trusted less than a row it supersedes by name is a conflict.

    Any other that was to supersede rows is stored, though none of them may be there any more. Pure.
    """
    for old in olds:
        if trust_rank(trust) > trust_rank(old.trust):
            return writing.conflict(judged, old.memory_id, LESS_TRUSTED)
    if explicit and judged.kind not in ("add", "revise"):
        return writing.stored(judged, "explicit_supersede")
    return judged


def cited_events(desk: Desk, draft: Draft) -> dict[str, Event]:
    """The events a caller cites, each checked to be visible and to hold the characters."""
    if not draft.citations:
        return {}
    events = ledger.get_many(
        desk.conn, [event_id for event_id, _, _ in draft.citations], scope_ids=desk.visible.scope_ids
    )
    hidden = history.private_events(desk.conn, desk.visible, sorted(events))
    for place, (event_id, start, end) in enumerate(draft.citations):
        event = events.get(event_id)
        if event is None or event_id in hidden:
            raise NotFound(citations.NO_EVENT)
        if event.content is None or end > len(event.content):
            raise InvalidInput("sources", "a span inside the stored content", "one that ends after it")
        if draft.quotes:
            _check_quote(event.content, start, end, draft.quotes[place])
    return events


def _check_quote(content: str, start: int, end: int, quote: str | None) -> None:
    """Refuse a span that may have been counted in another form of the text than the stored one."""
    if quote is None:
        if not text.counts_alike(content[:end]):
            raise InvalidInput(
                "sources", "the quote as a fourth part: the stored text is NFC, in which characters before the end of"
                " the span may count differently than in yours", "a span alone",
            )  # fmt: skip
        return
    wanted = text.stored(quote)
    if content[start:end] != wanted:
        place = content.find(wanted)
        there = place >= 0 and bool(wanted) and content.find(wanted, place + 1) < 0
        found = f"one that stands at {place}:{place + len(wanted)}" if there else "one that does not"
        raise InvalidInput("sources", "a quote that stands at its span in the stored text, which is NFC", found)


def add_sources(
    desk: Desk, settled: writing.Settled, draft: Draft, origin: Origin, events: Mapping[str, Event]
) -> None:
    """D-12: the caller's own citations, each of the stored characters."""
    if settled.memory_id is None:
        return
    for ordinal, (event_id, start, end) in enumerate(draft.citations, 1):
        event = events[event_id]
        cited = replace(
            origin, event_id=event_id, content=event.content, char_start=start, char_end=end, ordinal=ordinal,
            recorded_at=event.recorded_at, trust=event.trust,
        )  # fmt: skip
        writing.cite(desk, settled.memory_id, cited, draft)


def _classified(setup: Setup, call: Writing, proposal: Proposal, valid_from: datetime | None) -> Classified:
    """The policy's word; a slot it found is left out where the fact holds only from a later day."""
    classified = classify(setup.policy, proposal)
    stated = proposal.topic_key is not None or proposal.critical_slot is not None or proposal.attribute is not None
    said_at = call.occurred_at or datetime.now(UTC)
    return classified if stated else policies.not_before(classified, valid_from, said_at)


def _citation(value: object) -> tuple[tuple[str, int, int], str | None]:
    """A span, and the quote that is said to stand there."""
    parts = tuple(value) if isinstance(value, tuple | list) else ()
    if len(parts) not in (3, 4):
        raise InvalidInput("sources", "event id, start, end and, at will, the quote", type(value).__name__)
    quote = parts[3] if len(parts) == 4 else None
    if quote is not None and not isinstance(quote, str):
        raise InvalidInput("sources.quote", "text", type(quote).__name__)
    start, end = inputs.whole(parts[1], "sources.start"), inputs.whole(parts[2], "sources.end")
    if end <= start:
        raise InvalidInput("sources", "an end after its start", "one that is not")
    return (inputs.named_event_id(parts[0], "sources.event_id"), start, end), quote


def _type_of(memory_type: object, category: object) -> tuple[Any, str | None]:
    said = inputs.optional(inputs.label, category, "category")
    if memory_type is None:
        return None, said
    name = inputs.choice(memory_type, "memory_type", policies.TYPE_ALIASES)
    known, implied = policies.TYPE_ALIASES[name]
    return known, said or implied


def _expiry(
    setup: Setup, expires_at: object, expires_in: object, expires_in_days: object
) -> tuple[timedelta | None, datetime | None]:
    given = [value for value in (expires_at, expires_in, expires_in_days) if value is not None]
    if len(given) > 1:
        raise InvalidInput("expires_in", "one of expires_at, expires_in and expires_in_days", "more than one")
    if expires_in is not None:
        said = inputs.expires_in(expires_in, ZoneInfo(setup.settings.time_zone))
        return (_soon(said, "expires_in"), None) if isinstance(said, timedelta) else (None, said)
    if expires_in_days is not None:
        days = timedelta(days=inputs.number(expires_in_days, "expires_in_days", 0, LONGEST_EXPIRY.days))
        return _soon(days, "expires_in_days"), None
    return None, inputs.optional(inputs.moment, expires_at, "expires_at")


def _soon(length: timedelta, field: str) -> timedelta:
    """A length of time that ends on a day which a memory may expire on, and did whenever it was asked for."""
    if length > LONGEST_EXPIRY:
        raise InvalidInput(field, f"at most {LONGEST_EXPIRY.days:,} days", "more")
    return length


def plain(value: Any) -> Any:
    """A request as JSON can keep it."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Edit):
        return {"edit": value.how, "old": value.old, "new": value.new}
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=str)  # in one order, so that a repetition is known
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, float) else value  # of numpy, say
