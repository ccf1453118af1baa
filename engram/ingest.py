"""Reading conversations from files: JSON lines of events, OpenAI-style message lists, LoCoMo's JSON.

Every reader gives batches of messages for `Engram.remember`. Each message carries an event id that is made from whose
it becomes and what stands in the file up to that message, so a file read twice, or read again after a kill, adds
nothing twice; a file that grew adds only what is new. Pure but for the reading itself.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from engram.errors import EngramError, InvalidInput, LimitExceeded

FORMATS: Final = ("auto", "events", "openai", "locomo")
BATCH: Final = 100
LINE_BYTES: Final = 8 * 1024 * 1024

EVENT_FIELDS: Final = (
    "role", "content", "session_id", "event_type", "occurred_at", "event_id", "call_id", "name", "payload",
    "metadata", "trust", "derive",
)  # fmt: skip
# Fields that only lines of events have: a line without any of them is read as an OpenAI message.
EVENT_MARKS: Final = frozenset({"session_id", "event_type", "occurred_at", "event_id", "call_id", "payload", "derive"})
OPENAI_ROLES: Final = {
    "user": "user", "assistant": "assistant", "system": "system", "developer": "system", "tool": "tool",
    "function": "tool",
}  # fmt: skip
NAMESPACE: Final = uuid.UUID("6f7c1f0e-6a0b-5f0c-9a53-0d6c8f4f2b11")
LOCOMO_TIME: Final = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap]m)\s+on\s+(\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})", re.IGNORECASE
)
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


T = TypeVar("T")
Placed = tuple[str, Any, float]  # where a value stands, the value, and how much of the file lies behind it
Refuse = Callable[[str, EngramError], None]  # hears where something stands that cannot be taken, and why


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive messages of one session, ready for `Engram.remember`, and how much of the file is read."""

    session_id: str
    messages: tuple[Mapping[str, Any], ...]
    done: float


@dataclass(frozen=True, slots=True)
class Found:
    """One message as it stands in a file: where, in which session, and how much of the file lies behind it."""

    place: str
    session_id: str
    message: Mapping[str, Any]
    done: float


def refuse_all(_: str, error: EngramError) -> None:
    """Let what cannot be read refuse all of the file."""
    raise error


def read(
    path: Path, *, format: str = "auto", session_id: str | None = None, size: int = BATCH,
    owner: Sequence[str | None] = (), refuse: Refuse = refuse_all, check: Callable[[Found], object] | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """The messages of a file in batches of one session each, in the order of the file.

    `owner` names the scope they go to: the same file is other events in another scope. `check` raises for a message
    that cannot be taken; such a one, and what cannot be read, is told to `refuse` and left out where that returns.
    """
    _checked(format)
    with path.open("rb") as file:
        yield from read_file(
            file, path.name, format=format, session_id=session_id or path.stem, size=size, owner=owner, refuse=refuse,
            check=check,
        )  # fmt: skip


def read_file(
    file: BinaryIO, name: str, *, format: str = "auto", session_id: str | None = None, size: int = BATCH,
    owner: Sequence[str | None] = (), refuse: Refuse = refuse_all, check: Callable[[Found], object] | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """The same of an open file that can be read from its beginning again; `name` stands for it in what is said."""
    _checked(format)
    chosen, by_lines = detect(file, name) if format == "auto" else (format, lines_in(file, name))
    found = READERS[chosen](objects(file, name, by_lines, refuse), session_id or name, refuse)
    yield from grouped(identified(found if check is None else sound(found, check, refuse), owner), size)


def kept(refuse: Refuse, place: str, read: Callable[..., T], *given: Any) -> T | None:
    """What is read at a place; None for what cannot be, which is refused."""
    try:
        return read(*given)
    except EngramError as error:
        refuse(place, error)
        return None


def sound(found: Iterable[Found], check: Callable[[Found], object], refuse: Refuse) -> Iterator[Found]:
    """The messages that pass a check; the others are refused."""
    for item in found:
        try:
            check(item)
        except EngramError as error:
            refuse(item.place, error)
        else:
            yield item


def _checked(format: str) -> None:
    if format not in FORMATS:
        raise InvalidInput("format", f"one of {', '.join(FORMATS)}", "another word")


def detect(file: BinaryIO, name: str) -> tuple[str, bool]:
    """The format of an open file, and whether it is JSON lines rather than one JSON document."""
    by_lines = lines_in(file, name)
    if by_lines:
        file.seek(0)
        first = next((line for _, line in numbered_lines(file, name)), b"")
        return format_of(parse(first, f"{name} line 1"), name), True
    file.seek(0)
    return format_of(parse(file.read(), name), name), False


def lines_in(file: BinaryIO, name: str) -> bool:
    """Whether the first line that is not empty is a whole JSON object of its own, and not a document of one line."""
    file.seek(0)
    if file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return False
    file.seek(0)
    too_long: list[str] = []
    lines = numbered_lines(file, name, lambda place, _: too_long.append(place))
    number, first = next(lines, (0, b""))
    if too_long:  # a document printed on one line, or a line nobody can read
        return not whole_document(file)
    if not number:
        raise InvalidInput(name, "at least one message", "nothing")
    if not first.startswith(b"{"):
        return False
    try:
        value = loads(first)
    except ValueError:
        # Either the first line of a document printed over several lines, or a broken line of JSON lines.
        return not whole_document(file)
    more = next(lines, None) is not None or bool(too_long)
    return more or not ("conversation" in value or "session_1" in value)


def whole_document(file: BinaryIO) -> bool:
    """Whether the file as a whole is one JSON document."""
    file.seek(0)
    try:
        loads(file.read())
    except ValueError:
        return False
    return True


def format_of(value: Any, name: str) -> str:
    """The format a document, or the first line of a file, is written in."""
    first = next(iter(value), None) if isinstance(value, list) else value
    if isinstance(first, dict):
        if "conversation" in first or "session_1" in first:
            return "locomo"
        if "messages" in first:
            return "openai"
        if "role" in first:
            return "events" if EVENT_MARKS & first.keys() else "openai"
    if isinstance(first, list):
        return "openai"
    raise InvalidInput(name, "lines of events, a list of messages or LoCoMo's layout", "none of them")


# --- events -----------------------------------------------------------------------------------------------------------


def read_events(values: Iterable[Placed], session_id: str, refuse: Refuse = refuse_all) -> Iterator[Found]:
    """Messages from JSON lines (or a JSON list) of events."""
    for place, value, done in values:
        message = kept(refuse, place, event, value, place)
        if message is not None:
            yield Found(place, message.pop("session_id", None) or session_id, message, done)


def event(value: Any, place: str) -> dict[str, Any]:
    """One line of events, checked, with its time as an aware datetime."""
    if not isinstance(value, dict):
        raise InvalidInput(place, "a JSON object", kind(value))
    if unknown := len(value.keys() - set(EVENT_FIELDS)):
        raise InvalidInput(place, f"only the fields {', '.join(EVENT_FIELDS)}", f"{unknown} other")
    for name in ("role", "content"):
        if name not in value:
            raise InvalidInput(place, f"a field {name!r}", "none")
    message: dict[str, Any] = {name: item for name, item in value.items() if item is not None}
    for name in ("payload", "metadata"):
        if not isinstance(message.get(name, {}), dict):
            raise InvalidInput(f"{place}, {name}", "a JSON object", kind(message[name]))
    for name in EVENT_FIELDS:
        if name not in ("payload", "metadata") and not isinstance(message.get(name, ""), str):
            raise InvalidInput(f"{place}, {name}", "text", kind(message[name]))
    if "occurred_at" in message:
        message["occurred_at"] = moment(message["occurred_at"], f"{place}, occurred_at")
    return message


# --- OpenAI -----------------------------------------------------------------------------------------------------------


def read_openai(values: Iterable[Placed], session_id: str, refuse: Refuse = refuse_all) -> Iterator[Found]:
    """Messages from lists of chat messages: one list, one message a line, or several conversations."""
    conversations = 0
    for place, value, done in values:
        if isinstance(value, dict) and "role" in value:
            yield from openai_found([value], place, session_id, done, refuse, numbered=False)
            continue
        conversations += 1
        messages = value.get("messages") if isinstance(value, dict) else value
        if not isinstance(messages, list):
            refuse(place, InvalidInput(place, "a list of messages", kind(messages)))
            continue
        own = next((value[key] for key in ("session_id", "id") if isinstance(value.get(key), str)), None) if isinstance(
            value, dict) else None  # fmt: skip
        session = own or (session_id if conversations == 1 else f"{session_id}-{conversations}")
        yield from openai_found(messages, place, session, done, refuse, numbered=True)


def openai_found(
    messages: list[Any], place: str, session: str, done: float, refuse: Refuse, *, numbered: bool
) -> Iterator[Found]:
    """The messages of one conversation."""
    for index, value in enumerate(messages, start=1):
        where = f"{place}, message {index}" if numbered else place
        for message in kept(refuse, where, openai_messages, value, where) or ():
            yield Found(where, session, message, done)


def openai_messages(value: Any, place: str) -> list[dict[str, Any]]:
    """One chat message as events: its text, and one event for each tool call in it."""
    given = value.get("role") if isinstance(value, dict) else None
    role = OPENAI_ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidInput(place, f"a message with a role of {', '.join(OPENAI_ROLES)}", "another role or none")
    shared = openai_shared(value, place)
    text = openai_text(value.get("content"), f"{place}, content")
    events: list[dict[str, Any]] = []
    if role == "tool":
        call = {"call_id": value["tool_call_id"]} if isinstance(value.get("tool_call_id"), str) else {}
        events.append({"role": "tool", "event_type": "tool_result", "content": text or "(no output)", **call, **shared})
    elif text.strip():
        # A prompt found in a transcript is somebody's text, not an instruction of whoever operates this memory.
        trust = {"trust": "document"} if role == "system" else {}
        events.append({"role": role, "content": text, **trust, **shared})
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InvalidInput(f"{place}, tool_calls", "a list", kind(calls))
    return [*events, *({**openai_call(call, f"{place}, tool_calls"), **shared} for call in calls)]


def openai_shared(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    """What every event of a chat message carries: its speaker's name and its time, where it says them."""
    shared: dict[str, Any] = {"name": value["name"]} if isinstance(value.get("name"), str) else {}
    stamp = next((value[key] for key in ("occurred_at", "created_at", "timestamp") if value.get(key) is not None), None)
    if isinstance(stamp, str):
        shared["occurred_at"] = moment(stamp, f"{place}, time")
    elif isinstance(stamp, int | float) and not isinstance(stamp, bool):
        try:
            shared["occurred_at"] = datetime.fromtimestamp(stamp, UTC)
        except (ValueError, OverflowError, OSError):
            raise InvalidInput(f"{place}, time", "seconds since 1970", "a number out of range") from None
    return shared


def openai_text(content: Any, place: str) -> str:
    """The text of a message's content; parts that are not text leave a mark of what they were."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput(place, "text or a list of parts", kind(content))
    parts = []
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise InvalidInput(place, "parts with a type", kind(part))
        text = part.get("text", part.get("refusal"))
        parts.append(text if isinstance(text, str) else f"[{part['type'].replace('_', ' ')}]")
    return "\n".join(parts)


def openai_call(call: Any, place: str) -> dict[str, Any]:
    """One tool call as an event; arguments that are not a JSON object are kept as text."""
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise InvalidInput(place, "calls with the name of a function", kind(call))
    name, raw = function["name"], function.get("arguments", "")
    arguments = raw
    if isinstance(raw, str):
        try:
            arguments = loads(raw)
        except ValueError:
            arguments = None
    if not isinstance(arguments, dict):
        arguments = {"text": raw if isinstance(raw, str) else json.dumps(raw)} if raw else {}
    written = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    identity = {"call_id": call["id"]} if isinstance(call.get("id"), str) else {}
    payload = {"name": name, "arguments": arguments}
    return {"role": "assistant", "event_type": "tool_call", "content": f"{name}({written})", "payload": payload,
            **identity}  # fmt: skip


# --- LoCoMo -----------------------------------------------------------------------------------------------------------


def read_locomo(values: Iterable[Placed], session_id: str, refuse: Refuse = refuse_all) -> Iterator[Found]:
    """Turns of LoCoMo's layout: `session_N` lists of speaker, dia_id and text beside `session_N_date_time`."""
    for index, (place, value, done) in enumerate(values, start=1):
        conversation = value.get("conversation", value) if isinstance(value, dict) else None
        if not isinstance(conversation, dict):
            refuse(place, InvalidInput(place, "a conversation with session_1, session_2, …", kind(value)))
            continue
        sample = value.get("sample_id")
        name = sample if isinstance(sample, str) else session_id if index == 1 else f"{session_id}-{index}"
        speakers = (conversation.get("speaker_a"), conversation.get("speaker_b"))
        numbers = session_numbers(conversation)
        if not numbers:
            refuse(place, InvalidInput(place, "lists of turns under session_1, session_2, …", "none of them"))
        for session, number in numbers.items():
            turns, dated = conversation[session], f"{place}, {session}_date_time"
            if not isinstance(turns, list):
                where = f"{place}, {session}"
                refuse(where, InvalidInput(where, "a list of turns, each with a speaker and a text", kind(turns)))
                continue
            try:
                start = locomo_time(conversation.get(f"{session}_date_time"), dated)
            except InvalidInput as error:
                refuse(dated, error)
                continue
            for turn_index, turn in enumerate(turns):
                where = f"{place}, {session}, turn {turn_index + 1}"
                # The layout dates whole sessions; a second a turn keeps the order without inventing a clock.
                at = start + timedelta(seconds=turn_index) if start else None
                message = kept(refuse, where, locomo_turn, turn, at, speakers, where)
                if message is not None:
                    yield Found(where, f"{name}-session-{number}", message, done)


def session_numbers(conversation: Mapping[str, Any]) -> dict[str, int]:
    """The sessions of a conversation with their numbers, in order."""
    names = (re.fullmatch(r"session_(\d{1,6})", name) for name in conversation)
    found = {match[0]: int(match[1]) for match in names if match and conversation[match[0]] is not None}
    return dict(sorted(found.items(), key=lambda one: one[1]))


def locomo_turn(turn: Any, at: datetime | None, speakers: tuple[Any, Any], place: str) -> dict[str, Any]:
    """One turn as a message: the first speaker is the user, the other one the assistant's side of the talk."""
    if not isinstance(turn, dict) or not isinstance(turn.get("speaker"), str) or not isinstance(turn.get("text"), str):
        raise InvalidInput(place, "a speaker and a text", kind(turn))
    text, caption = turn["text"], turn.get("blip_caption")
    if isinstance(caption, str) and caption.strip():
        text = f"{text}\n[image: {caption.strip()}]".strip()
    message: dict[str, Any] = {"role": "assistant" if turn["speaker"] == speakers[1] else "user",
                               "content": text or "(nothing said)", "name": turn["speaker"]}  # fmt: skip
    if isinstance(turn.get("dia_id"), str):
        message["metadata"] = {"dia_id": turn["dia_id"]}
    return message if at is None else {**message, "occurred_at": at}


def locomo_time(value: Any, place: str) -> datetime | None:
    """The time of a session, such as `1:56 pm on 8 May, 2023`, read as UTC because the layout names no zone."""
    if value is None:
        return None
    match = LOCOMO_TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[5].lower() not in MONTHS:
        raise InvalidInput(place, "a time such as 1:56 pm on 8 May, 2023", kind(value))
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "pm" else 0)
    try:
        return datetime(
            int(match[6]), MONTHS.index(match[5].lower()) + 1, int(match[4]), hour, int(match[2]), tzinfo=UTC
        )
    except ValueError:
        raise InvalidInput(place, "a day and an hour that exist", "another") from None


READERS: Final = {"events": read_events, "openai": read_openai, "locomo": read_locomo}


# --- identity and batches ---------------------------------------------------------------------------------------------


def identified(found: Iterable[Found], owner: Sequence[str | None] = ()) -> Iterator[Found]:
    """The same messages with an event id each: their own, or one made from all that stands before them in the session.

    A chain rather than a line number: the same words said twice stay two events, and a file that grew at its end
    keeps the ids of everything it had before. It begins with the names of the owner: the ids of events are of a whole
    tenant, and what is one event for each of two users needs two.
    """
    first = uuid.uuid5(NAMESPACE, json.dumps(list(owner)))
    before: dict[str, uuid.UUID] = {}
    for item in found:
        text = json.dumps([item.session_id, item.message], sort_keys=True, default=str)
        link = before[item.session_id] = uuid.uuid5(before.get(item.session_id, first), text)
        message = item.message if "event_id" in item.message else {**item.message, "event_id": str(link)}
        yield Found(item.place, item.session_id, message, item.done)


def grouped(found: Iterable[Found], size: int) -> Iterator[Batch]:
    """Consecutive messages of one session, at most `size` together."""
    held: list[Found] = []
    for item in found:
        if held and (len(held) >= size or held[-1].session_id != item.session_id):
            yield Batch(held[0].session_id, tuple(one.message for one in held), held[-1].done)
            held = []
        held.append(item)
    if held:
        yield Batch(held[0].session_id, tuple(one.message for one in held), 1.0)


# --- strict JSON ------------------------------------------------------------------------------------------------------


def objects(file: BinaryIO, name: str, by_lines: bool, refuse: Refuse = refuse_all) -> Iterator[Placed]:
    """The values of a file with their places: one a line, or the items of one document."""
    whole = max(file.seek(0, os.SEEK_END), 1)
    file.seek(0)
    if by_lines:
        for number, line in numbered_lines(file, name, refuse):
            place = f"{name} line {number}"
            try:
                value = parse(line, place)
            except InvalidInput as error:
                refuse(place, error)
            else:
                yield place, value, min(file.tell() / whole, 1.0)
        return
    value = parse(file.read(), name)
    if not isinstance(value, list):
        yield name, value, 1.0
        return
    for index, item in enumerate(value, start=1):
        yield f"{name} item {index}", item, index / len(value)


def numbered_lines(file: BinaryIO, name: str, refuse: Refuse = refuse_all) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, without white space around them, with their numbers from 1.

    A line of more than 8 MiB is told to `refuse` and passed over where that returns.
    """
    number = 0
    while line := file.readline(LINE_BYTES + 1):
        number += 1
        if len(line) > LINE_BYTES:
            place = f"{name} line {number}"
            refuse(place, LimitExceeded(place, LINE_BYTES, f"more than {LINE_BYTES}", "bytes"))
            while line and not line.endswith(b"\n"):
                line = file.readline(LINE_BYTES)
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")  # a byte order mark is no part of the text
        if line.strip():
            yield number, line.strip()


def parse(data: bytes, place: str) -> Any:
    """The value of strict JSON, or InvalidInput that names the place."""
    try:
        return loads(data.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise InvalidInput(place, "UTF-8 text", "other bytes") from None
    except json.JSONDecodeError as broken:
        at = f"column {broken.colno}" if " line " in place else f"line {broken.lineno}, column {broken.colno}"
        raise InvalidInput(place, "JSON", f"something else at {at}") from None
    except ValueError as broken:
        raise InvalidInput(place, "strict JSON", str(broken)) from None


def loads(data: bytes | str) -> Any:
    """Strict JSON: no NaN, no infinities, no key twice, no absurd depth; ValueError for anything else."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("nesting too deep") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys occur once: of two values for one key, one would be lost in silence."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key twice in one object")
    return value


def refuse_constant(_: str) -> Any:
    """NaN and the infinities are not JSON."""
    raise ValueError("a number that is not finite")


def moment(value: str, place: str) -> datetime:
    """An ISO 8601 time with its zone."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(place, "a time such as 2025-03-04T19:12:00+01:00", "other text") from None
    if at.tzinfo is None:
        raise InvalidInput(place, "a time with its zone, such as 2025-03-04T19:12:00+01:00", "a time without one")
    return at


def kind(value: Any) -> str:
    """What a JSON value is, in words; never the value itself."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
