"""Capture: what an agent sees and does goes into the ledger, with the jobs that will derive memories from it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, Literal, cast

from engram import checkpoints, citations, history, ids, inputs, ledger, served, sessions, streams, tasks, tenancy
from engram.database import Connection
from engram.errors import IdempotencyMismatch, InvalidInput, NotFound, StaleStream
from engram.operations import deriving, extracting, running, searching_events, steps
from engram.operations.arguments import Artifact, ToolCall
from engram.operations.setup import Setup, Writing
from engram.operations.steps import Operation
from engram.secrets import told_apart
from engram.sessions import Part
from engram.values import DERIVES, ROLES, TRUSTS, Event, Receipt, Trust

EVENT_TYPES: Final = (
    "user_message", "assistant_message", "tool_call", "tool_result", "agent_action", "decision", "observation",
    "artifact",
    "error", "system_note", "meeting",
)  # fmt: skip
TYPE_OF: Final[Mapping[str, str]] = {
    "user": "user_message", "assistant": "assistant_message", "agent": "agent_action", "tool": "tool_result",
    "system": "system_note",
}  # fmt: skip
TRUST_OF: Final[Mapping[str, Trust]] = {
    "user": "user", "assistant": "agent", "agent": "agent", "tool": "tool", "system": "agent",
}  # fmt: skip
DERIVERS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "skip": (), "verbatim": ("verbatim",), "rules": ("verbatim", "rules"), "llm": ("verbatim", "rules", "llm"),
}  # fmt: skip
UNKEYED: Final = "call:"  # before the id of the first event: what a call without a key is known by, should it be lost
OWN_TYPE: Final = re.compile(r"x\.[a-z][a-z0-9_.-]{0,61}")
PRIVATE: Final = re.compile(r"<(/?)private>", re.IGNORECASE)
NO_MEMORY: Final = "#nomem"
MEETING_TEXTS: Final = ("title", "date", "summary")
MEETING_LISTS: Final = ("attendees", "decisions", "topics")
ACTION_TEXTS: Final = ("who", "due")
NO_OUTPUT: Final = "(no output)"
EMPTY: Final = "(empty)"
MESSAGE_WORDS: Final = (
    "role", "content", "name", "occurred_at", "trust", "call_id", "payload", "metadata", "event_id", "derive",
    "event_type",
)  # fmt: skip


def remember(
    setup: Setup, messages: object, *, derive: object, wait: object, given: Mapping[str, Any]
) -> Operation[Receipt]:
    """Append messages to the ledger and derive memories from them."""
    call = setup.writing(given)
    several = (
        [{"role": "user", "content": messages}]
        if isinstance(messages, str)
        else [messages]
        if isinstance(messages, Mapping)
        else messages
    )
    checked_derive = inputs.optional(inputs.choice, derive, "derive", DERIVES)
    items = _sized(inputs.batch(several, "messages"), "messages")
    events = [
        _message(setup, call, item, checked_derive, index, f"messages[{index}].") for index, item in enumerate(items)
    ]
    named = any(isinstance(item, Mapping) and item.get("event_id") is not None for item in items)
    return (yield from _captured(setup, call, events, None, seconds(wait), named=named))


def record_event(
    setup: Setup, content: object, *, role: object, event_type: object, payload: object, metadata: object,
    derive: object,
    expected_position: object, given: Mapping[str, Any],
) -> Operation[Receipt]:  # fmt: skip
    """Append one event."""
    call = setup.writing(given)
    item = {
        "role": role,
        "content": content,
        "event_type": event_type,
        "payload": payload,
        "metadata": metadata,
    }
    event = _message(setup, call, item, inputs.optional(inputs.choice, derive, "derive", DERIVES), 0, "")
    expected = inputs.optional(inputs.position, expected_position)
    return (yield from _captured(setup, call, [event], expected, False))


def record_turn(
    setup: Setup, user_message: object, assistant_message: object, *, tool_calls: object, artifacts: object,
    metadata: object,
    derive: object, wait: object, given: Mapping[str, Any],
) -> Operation[Receipt]:  # fmt: skip
    """Append a whole turn in one transaction: the user's message, tools' calls and results, artifacts, the answer.

    A result or an artifact without text is kept as words that say so; an answer without any is none.
    """
    call = setup.writing(given)
    shared = {"metadata": inputs.optional(inputs.metadata, metadata)}
    items: list[tuple[str, dict[str, Any]]] = [
        ("user_message.", {"role": "user", "content": user_message, **shared}),
    ]
    tools = inputs.items(tool_calls, "tool_calls", inputs.BATCH_ITEMS)
    for place, (tool, call_id) in enumerate(zip(tools, _call_ids(tools), strict=True)):
        where = f"tool_calls[{place}]"
        items.extend((f"{where}.", event) for event in _tool_events(tool, call_id, where))
    for place, artifact in enumerate(inputs.items(artifacts, "artifacts", inputs.BATCH_ITEMS)):
        where = f"artifacts[{place}]"
        items.append((f"{where}.", _artifact_event(artifact, where)))
    if assistant_message is not None and not _is_blank(assistant_message):
        items.append(("assistant_message.", {"role": "assistant", "content": assistant_message, **shared}))
    chosen = inputs.optional(inputs.choice, derive, "derive", DERIVES)
    _sized([item for _, item in items], "events")
    events = [
        _message(setup, call, item, chosen, index, where, same_trust=False, text=_text_of(item))
        for index, (where, item) in enumerate(inputs.batch(items, "events"))
    ]
    return (yield from _captured(setup, call, events, None, seconds(wait)))


def get_event(setup: Setup, event_id: object, given: Mapping[str, Any]) -> Operation[Event]:
    """The event of that id, or NotFound."""
    reading = setup.reading(given)
    asked = inputs.named_event_id(event_id)

    def work(conn: Connection) -> Event:
        visible = tenancy.visible(conn, reading.scope)
        wanted = citations.resolve_event_id(conn, visible, asked, reading.moment)
        found = ledger.get(conn, wanted, scope_ids=visible.scope_ids)
        hidden = history.private_events(conn, visible, [wanted])
        late = found is not None and citations.is_later(found, reading.moment)
        known_at = reading.moment.known_at
        if found is None or hidden or late or tasks.hides(conn, reading.scope.tenant_id, found, known_at):
            raise NotFound(citations.NO_EVENT)
        return found

    return (yield from steps.read(reading.scope.tenant_id, work))


def list_events(
    setup: Setup, *, stream_id: object, session_id: object, task_run_id: object, after: object, before: object,
    types: object, roles: object, trust: object, since: object, until: object, newest_first: object, limit: object,
    given: Mapping[str, Any],
) -> Operation[tuple[Event, ...]]:  # fmt: skip
    """The events of a stream, a session, a task run, or of the scope, in order."""
    reading = setup.reading(given)
    optional = inputs.optional
    most = inputs.limit(limit)
    asked: dict[str, Any] = {
        "stream_id": optional(inputs.event_id, stream_id, "stream_id"),
        "session_id": optional(inputs.name, session_id, "session_id"),
        "task_run_id": optional(inputs.event_id, task_run_id, "task_run_id"), "after": inputs.whole(after, "after"),
        "before": optional(inputs.whole, before, "before"), "newest_first": inputs.flag(newest_first, "newest_first"),
        "types": None if types is None else [inputs.label(one, "types") for one in inputs.items(types, "types", 64)],
        "roles": None if roles is None
        else [inputs.choice(one, "roles", ROLES) for one in inputs.items(roles, "roles", 8)],
        "trusts": None if trust is None else _trusts(trust),
        "since": optional(inputs.moment, since, "since"), "until": optional(inputs.moment, until, "until"),
        "as_of": reading.moment.as_of, "known_at": reading.moment.known_at,
    }  # fmt: skip
    if sum(asked[name] is not None for name in ("stream_id", "session_id", "task_run_id")) > 1:
        raise InvalidInput("events", "one of stream_id, session_id and task_run_id", "several")

    def work(conn: Connection) -> tuple[Event, ...]:
        visible = tenancy.visible(conn, reading.scope)
        if not visible.scope_ids or most == 0:
            return ()
        return tuple(ledger.read(conn, scope_ids=visible.scope_ids, own_ids=visible.own_ids, limit=most, **asked))

    return (yield from steps.read(reading.scope.tenant_id, work))


def _trusts(value: object) -> list[str]:
    """The levels of trust that are asked for: one, or a list of some."""
    several = (value,) if isinstance(value, str) else inputs.items(value, "trust", len(TRUSTS))
    return [inputs.choice(one, "trust", TRUSTS) for one in several]


def _captured(
    setup: Setup,
    call: Writing,
    events: Sequence[ledger.NewEvent],
    expected: int | None,
    wait: float | Literal[False],
    *,
    named: bool = False,
) -> Operation[Receipt]:
    """Append events and have them derived; `named` says that some have ids of the caller's."""
    due: list[str] = []
    if (call.idempotency_key or "").startswith(UNKEYED):
        call, events = yield from steps.read(call.tenant_id, lambda conn: _as_before(conn, call, events))

    def alone(conn: Connection) -> ledger.Appended | None:
        went = _appended_at_once(setup, conn, call, events, expected, every=setup.policy.summary_every)
        return None if went is None else went[2]

    def work(conn: Connection, events: Sequence[ledger.NewEvent] = events) -> ledger.Appended:
        refuse_forgotten = tasks.refuse_forgotten(conn, call.tenant_id, call.task_run_id)
        done = appended(conn, events)
        if not done.duplicate:
            refuse_forgotten()
        return done

    def appended(conn: Connection, events: Sequence[ledger.NewEvent]) -> ledger.Appended:
        went = _appended_at_once(setup, conn, call, events, expected)
        if went is not None:
            return settled(conn, *went)
        scope_id = tenancy.ensure(conn, call.scope)
        part = setup.entered(conn, scope_id, call, lambda: _is_known(conn, scope_id, call, events))
        heard, switches = sessions.switched(events, part is not None and part.unheard)
        if part is not None:
            heard = [replace(event, session_id=part.session_id) for event in heard]
        if part is not None and call.task_run_id is None:
            stream_id, before = part.stream_id, part.position if part.is_new else 0  # the event that announced it
        else:
            stream_id, before = streams.open(conn, scope_id, *call.stream).stream_id, 0
        done = ledger.append(
            conn,
            scope_id=scope_id,
            stream_id=stream_id,
            events=heard,
            expected_position=None if expected is None else expected + before,
            key=setup.settings.secret_key,
        )
        if setup.settings.secret_key is not None and (part is None or part.session_id == call.session_id):
            ledger.lately(call.scope, call.session_id, call.stream, stream_id)
        return settled(conn, scope_id, part, done, switches)

    def settled(
        conn: Connection, scope_id: int, part: Part | None, done: ledger.Appended,
        switches: Sequence[tuple[int, bool]] = (),
    ) -> ledger.Appended:  # fmt: skip
        _refuse_other_call(conn, scope_id, call, events, done, part)
        searching_events.ask_if_due(conn, call.tenant_id, scope_id, [event.event_id for event in done.events])
        due[:] = _due_checkpoint(setup, conn, call)
        if part is not None:
            due.extend(sessions.went_on(conn, scope_id, part, done, switches, setup.policy, setup.settings.secret_key))
        return done

    def told(done: ledger.Appended) -> Receipt:
        return replace(_receipt(done), notes=call.censor.notes)

    # The ids were made here: a lost connection is answered by appending the same events again, which changes nothing.
    key = call.idempotency_key or f"{UNKEYED}{events[0].event_id}"
    if call.dry_run:
        return (yield from deriving.rehearse(setup, call.scope, events, lambda conn: told(work(conn)), key=key))
    done = None
    partly = named and len(events) > 1  # some may be known and some not: they are compared before any is written
    if not partly and _makes_nothing_due(setup, call, events):
        done = yield from steps.write(call.tenant_id, alone, key=key)
        if done is not None and done.duplicate:  # nothing was written: by the longer road it is compared
            done = None
    rings = done is None
    if done is None:
        done = yield from _appended(call, events, work, key)
        yield from running.run_unasked(setup, call.tenant_id, due)
    receipt = told(done)
    if done.derives_nothing:  # so there are no decisions to look up
        if rings or setup.settings.derives_inline:  # here the bell also begins what this process does in the background
            yield from steps.ring(call.tenant_id)
        return receipt
    return (yield from _followed(setup, call, receipt, wait))


def _as_before(
    conn: Connection, call: Writing, events: Sequence[ledger.NewEvent]
) -> tuple[Writing, Sequence[ledger.NewEvent]]:
    """The call, and the events by the ids they have, where its key is what a call without one was lost under."""
    scope_id = tenancy.find(conn, call.scope)
    try:
        first_id = inputs.event_id(str(call.idempotency_key).removeprefix(UNKEYED))
    except InvalidInput:
        return call, events
    first = None if scope_id is None else ledger.get(conn, first_id, scope_ids=[scope_id])
    if first is None:
        return call, events
    behind = ledger.read(conn, stream_id=first.stream_id, after=first.position - 1, limit=len(events) + 1)
    same = [event.event_id for event in behind if event.recorded_at == first.recorded_at]
    if len(same) != len(events):
        raise IdempotencyMismatch
    return replace(call, idempotency_key=None), [
        replace(event, event_id=event_id, idempotency_key=None) for event, event_id in zip(events, same, strict=True)
    ]


def _appended(
    call: Writing, events: Sequence[ledger.NewEvent],
    work: Callable[[Connection, Sequence[ledger.NewEvent]], ledger.Appended], key: str,
) -> Operation[ledger.Appended]:  # fmt: skip
    """What an append did; a batch that is refused under its keys is looked for under those it once had."""
    try:
        return (yield from steps.write(call.tenant_id, lambda conn: work(conn, events), key=key))
    except (IdempotencyMismatch, StaleStream):
        if call.idempotency_key is None or len(events) == 1:
            raise
    old = [
        replace(event, idempotency_key=ledger.old_key_at(call.idempotency_key, index))
        for index, event in enumerate(events)
    ]
    return (yield from steps.write(call.tenant_id, lambda conn: work(conn, old), key=key))


def _followed(setup: Setup, call: Writing, receipt: Receipt, wait: float | Literal[False]) -> Operation[Receipt]:
    """Have what was appended derived, here or by workers; the receipt, with what came of it where the caller waits."""
    if not setup.settings.derives_inline:
        yield from steps.ring(call.tenant_id)
    if setup.settings.derives_inline or wait is not False:
        went_on = yield from running.derive_appended(setup, call.tenant_id, receipt.job_ids)
        if setup.settings.derives_inline:
            yield from steps.ring(call.tenant_id)  # for what was left over: retries, and work that needs a model
        if wait is False:
            ids = receipt.event_ids if went_on else ()
            decisions = (yield from running.after_all(deriving.decisions_of(call.scope, ids))) or []
        else:  # another worker may have taken the job
            derived = deriving.waited(call.scope, receipt.event_ids, timeout=wait)
            decisions = list((yield from running.naming(receipt.event_ids, derived)))
        return replace(receipt, decisions=tuple(decisions))
    return receipt


def _makes_nothing_due(setup: Setup, call: Writing, events: Sequence[ledger.NewEvent]) -> bool:
    """Whether an append may end its transaction: nothing is to be looked at or asked for behind it, but a summary.

    Whether that is due the statement itself can tell; it is not even asked where so many events mostly make it due.
    """
    few = call.session_id is None or 2 * len(events) <= setup.policy.summary_every
    drawn = searching_events.is_drawn([event.event_id for event in events])
    return few and not drawn and call.idempotency_key is None and call.task_run_id is None


def _appended_at_once(
    setup: Setup, conn: Connection, call: Writing, events: Sequence[ledger.NewEvent], expected: int | None,
    every: int | None = None,
) -> tuple[int, Part | None, ledger.Appended] | None:  # fmt: skip
    """The scope, the part and what was done, where events are appended in one statement: nothing comes before it.

    With `every` nothing comes after it either, and the transaction ends with it.
    """
    session_id = call.session_id
    if session_id is not None and (call.task_run_id is not None or sessions.switched(events, False)[1]):
        return None
    went = ledger.append_at_once(
        conn, scope=call.scope, session_id=session_id, stream=call.stream, gap=setup.policy.session_gap, events=events,
        expected_position=expected, key=setup.settings.secret_key, every=every,
    )  # fmt: skip
    if went is None:
        return None
    part = None
    if session_id is not None and went.before is not None:
        opened_by = cast("sessions.OpenedBy", went.opened_by)
        part = Part(
            session_id,
            went.done.stream_id,
            went.before,
            timedelta(0),
            opened_by,
            ended=False,
            unheard=False,
            is_new=False,
        )
    return went.scope_id, part, went.done


def _is_known(conn: Connection, scope_id: int, call: Writing, events: Sequence[ledger.NewEvent]) -> bool:
    """Whether these events were appended before, under their ids or their key."""
    key = call.idempotency_key
    return bool(ledger.get_many(conn, [event.event_id for event in events])) or (
        key is not None and ledger.find_by_key(conn, scope_id, key) is not None
    )


def _refuse_other_call(
    conn: Connection, scope_id: int, call: Writing, events: Sequence[ledger.NewEvent], done: ledger.Appended,
    part: Part | None,
) -> None:  # fmt: skip
    """What was appended before must be of this call: of its session and run, with the trust it names.

    A key stands for one whole batch: what was appended under it must be all of this one, too.
    """
    statuses = {event.status for event in done.events}
    if statuses == {"appended"}:
        return
    known = [(new, old.event_id) for new, old in zip(events, done.events, strict=True) if old.status != "appended"]
    before = ledger.get_many(conn, [event_id for _, event_id in known])
    split = part is not None and part.opened_by == "engram"  # then an earlier part may hold what was appended before
    for new, event_id in known:
        old = before.get(event_id)
        if old is None:  # it was given twice in this batch
            continue
        named = call.trust is not None or new.trust != TRUST_OF[new.role]
        same = (old.session_id == call.session_id or split) and old.task_run_id == call.task_run_id
        if not same or (named and old.trust != new.trust):
            raise IdempotencyMismatch
    if call.idempotency_key is None:
        return
    recorded = [event.recorded_at for event in done.events]
    longer = ledger.goes_on(conn, scope_id, str(call.idempotency_key), recorded)
    at_once = len(set(recorded)) == 1  # else some of it is what another call recorded under a key with a slash
    if "appended" in statuses or longer or not at_once:
        raise IdempotencyMismatch


def _due_checkpoint(setup: Setup, conn: Connection, call: Writing) -> list[str]:
    """The job of the checkpoint that these events made due, born with them."""
    if call.task_run_id is None:
        return []
    policy = setup.policy
    job_id = checkpoints.queue_if_due(
        conn, call.tenant_id, call.task_run_id, every=policy.checkpoint_every, tokens=policy.checkpoint_tokens
    )
    return [] if job_id is None else [job_id]


def _receipt(done: ledger.Appended) -> Receipt:
    return Receipt(
        event_ids=tuple(event.event_id for event in done.events), stream_id=done.events[-1].stream_id,
        position=done.events[-1].position,
        job_ids=tuple(event.job_id for event in done.events if event.job_id is not None),
        duplicate=all(event.status != "appended" for event in done.events),
        erased=any(event.status == "erased" for event in done.events),
    )  # fmt: skip


def _sized(items: Sequence[Any], field: str) -> Sequence[Any]:
    """The same messages, refused where their texts are too large in all: before any is searched for secrets.

    One that is too large by itself is named when its turn comes.
    """
    said = [item.get("content") for item in items if isinstance(item, Mapping)]
    texts = [one for one in said if isinstance(one, str) and len(one) <= inputs.BATCH_BYTES]
    inputs.batch_bytes(sum(len(one.encode(errors="replace")) for one in texts), field)
    return items


def check_message(setup: Setup, call: Writing, message: Mapping[str, Any]) -> None:
    """Refuse a message that `remember` would refuse, before it is one of several."""
    _message(setup, call, message, None, 0, "")


def _message(
    setup: Setup, call: Writing, item: object, derive: str | None, index: int, where: str, *, same_trust: bool = True,
    text: str = "content",
) -> ledger.NewEvent:  # fmt: skip
    """An event from a message; `where` is put before the names of its fields in an error, `text` names its content."""
    said = inputs.keys(item, where.rstrip(".") or "message", MESSAGE_WORDS)
    role = inputs.choice(said.get("role"), f"{where}role", ROLES)
    event_type = _event_type(said.get("event_type"), role, f"{where}event_type")
    clean = call.censor
    content = _public(inputs.event_content(said.get("content"), f"{where}{text}"))
    content = clean.text(content, f"{where}{text}")
    trust = (
        inputs.choice(said["trust"], f"{where}trust", TRUSTS)
        if said.get("trust") is not None
        else (call.trust if same_trust else None)
    )
    payload = inputs.optional(inputs.payload, said.get("payload"), f"{where}payload") or {}
    if event_type == "meeting":
        _check_meeting(payload, f"{where}payload")
    payload = clean.data(_public(payload), f"{where}payload")
    if call.reason:  # where direct changes keep theirs
        if "reason" in payload:
            raise InvalidInput(f"{where}payload", "no reason of its own beside that of the call", "one")
        payload = {**payload, "reason": call.reason}
    if said.get("call_id") is not None:
        payload = {**payload, "call_id": inputs.name(said["call_id"], f"{where}call_id")}
    mode = inputs.choice(said["derive"], f"{where}derive", DERIVES) if said.get("derive") is not None else derive
    derivers = DERIVERS_OF[mode] if mode is not None else setup.policy.derivers(role, event_type)
    # A language model reads only where there is one: here, or in a worker, which must be asked for by name.
    barred = setup.policy.llm.get(extracting.COMPONENT) == "off"
    if not setup.asks(extracting.COMPONENT) and (mode is None or setup.settings.derives_inline or barred):
        derivers = tuple(name for name in derivers if name != "llm")
    metadata = inputs.optional(inputs.metadata, said.get("metadata"), f"{where}metadata") or {}
    key = call.idempotency_key
    event = ledger.NewEvent(
        role=role, event_type=event_type, content=content, payload=payload,
        metadata=clean.data(_public(metadata), f"{where}metadata"),
        trust=trust or TRUST_OF[role],
        occurred_at=inputs.optional(inputs.moment, said.get("occurred_at"), f"{where}occurred_at") or call.occurred_at,
        session_id=call.session_id, task_run_id=call.task_run_id,
        actor=inputs.optional(clean.checking(_public_name), said.get("name"), f"{where}name") or call.actor,
        idempotency_key=None if key is None else ledger.key_at(key, index),
        derive=() if role == "user" and NO_MEMORY in served.without(content).casefold() else derivers,
        event_id=inputs.optional(inputs.event_id, said.get("event_id"), f"{where}event_id") or ids.new_id(),
    )  # fmt: skip
    ledger.check_size(event, where.rstrip(".") or "event")
    return event


def _public(value: Any) -> Any:
    """The same data, but for what is marked as private in any text of it."""
    if isinstance(value, str):
        return _without_private(value)
    if isinstance(value, Mapping):
        names = told_apart({key: _public(key) for key in value})
        return {names[key]: _public(one) for key, one in value.items()}
    return [_public(one) for one in value] if isinstance(value, list) else value


def _public_name(value: object, field: str) -> str:
    return _without_private(inputs.name(value, field))


def _without_private(text: str) -> str:
    """The text but for what is marked as private, marks within marks too; what no mark ends goes to the end. Pure."""
    kept: list[str] = []
    depth, end = 0, 0
    for mark in PRIVATE.finditer(text):
        if not mark[1]:
            kept += [] if depth else [text[end : mark.start()], "[private]"]
            depth += 1
        elif depth:
            depth, end = depth - 1, mark.end()
    return "".join(kept if depth else [*kept, text[end:]])


def _check_meeting(payload: Mapping[str, Any], field: str) -> None:
    """Refuse what no rule could read of a meeting, where it would be passed by in silence."""
    for name in MEETING_TEXTS:
        _check_text(payload.get(name), f"{field}.{name}")
    for name in MEETING_LISTS:
        for place, one in enumerate(_list(payload, name, field)):
            _check_text(one, f"{field}.{name}[{place}]", needed=True)
    for place, item in enumerate(_list(payload, "action_items", field)):
        where = f"{field}.action_items[{place}]"
        if not isinstance(item, Mapping):
            raise InvalidInput(where, "an object", type(item).__name__)
        _check_text(item.get("what"), f"{where}.what", needed=True)
        for name in ACTION_TEXTS:
            _check_text(item.get(name), f"{where}.{name}")


def _list(payload: Mapping[str, Any], name: str, field: str) -> tuple[Any, ...]:
    return inputs.optional(inputs.items, payload.get(name), f"{field}.{name}", inputs.BODY_BYTES) or ()


def _check_text(value: object, field: str, *, needed: bool = False) -> None:
    if not isinstance(value, str) and (needed or value is not None):
        raise InvalidInput(field, "text", type(value).__name__)


def _event_type(value: object, role: str, field: str) -> str:
    if value is None:
        return TYPE_OF[role]
    if isinstance(value, str) and OWN_TYPE.fullmatch(value):
        return str.__str__(value)  # a subclass, such as an enum of str, becomes plain
    return inputs.choice(value, field, EVENT_TYPES)


def _call_ids(tools: Sequence[object]) -> list[str]:
    """What ties each call of a turn to its result: the caller's id, else a number that no other call has."""
    given = [tool.get("call_id") if isinstance(tool, Mapping) else None for tool in tools]
    said = [None if one is None else inputs.name(one, f"tool_calls[{n}].call_id") for n, one in enumerate(given)]
    taken: set[str] = set()
    for place, one in enumerate(said):
        if one is not None and one in taken:
            raise InvalidInput(f"tool_calls[{place}].call_id", "an id no other call has", "one that is taken")
        taken |= set() if one is None else {one}
    free = (name for n in itertools.count(1) if (name := f"call-{n}") not in taken)
    return [one or next(free) for one in said]


def _tool_events(tool: object, call_id: str, where: str) -> list[dict[str, Any]]:
    said = inputs.keys(tool, where, tuple(ToolCall.__annotations__))
    name = inputs.name(said.get("name"), f"{where}.name")
    # The arguments are one level inside the payload of their event, and written out in its content.
    field, most = f"{where}.arguments", inputs.EVENT_CHARACTERS - inputs.NAME_BYTES - len("()")
    arguments = inputs.optional(inputs.payload, said.get("arguments"), field, depth=inputs.METADATA_DEPTH - 1) or {}
    written = inputs.canonical_json(arguments, field, limit=most).decode()
    events: list[dict[str, Any]] = [{
        "role": "assistant", "event_type": "tool_call", "content": f"{name}({written})",
        "name": name, "call_id": call_id, "payload": {"name": name, "arguments": arguments}, "derive": "skip",
    }]  # fmt: skip
    if said.get("result") is not None:
        events.append({
            "role": "tool", "event_type": "tool_result", "content": _shown(said["result"], NO_OUTPUT),
            "name": name, "call_id": call_id,
            "payload": {"name": name}, **({"trust": said["trust"]} if said.get("trust") is not None else {}),
        })  # fmt: skip
    return events


def _text_of(event: Mapping[str, Any]) -> str:
    """What the caller of `record_turn` calls the text of an event."""
    return "result" if event.get("event_type") == "tool_result" else "content"


def _shown(value: object, nothing: str) -> object:
    """The same text, or words that say there is none: an event always has some."""
    return nothing if _is_blank(value) else value


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and inputs.is_blank(value)


def _artifact_event(artifact: object, where: str) -> dict[str, Any]:
    said = inputs.keys(artifact, where, tuple(Artifact.__annotations__))
    name = inputs.name(said.get("name"), f"{where}.name")
    media = inputs.optional(inputs.label, said.get("media"), f"{where}.media") or "text"
    return {
        "role": "agent", "event_type": "artifact", "content": _shown(said.get("content"), EMPTY),
        "payload": {"name": name, "media": media},
        **({"trust": said["trust"]} if said.get("trust") is not None else {}),
    }  # fmt: skip


def seconds(value: object) -> float | Literal[False]:
    """Seconds to wait for derivation: False for none, True for the default of ten."""
    if isinstance(value, bool):
        return 10.0 if value else False
    return inputs.number(value, "wait", 0, 3_600)
