"""Reading conversations from files: three layouts, stable ids, strict JSON, errors that name the line."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram import ingest
from engram.errors import InvalidInput, LimitExceeded

FRIENDS = Path(__file__).parent.parent / "fixtures" / "two_friends.json"


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def messages(path: Path, **options: Any) -> list[dict[str, Any]]:
    return [dict(message) for batch in ingest.read(path, **options) for message in batch.messages]


def ids(path: Path, **options: Any) -> list[str]:
    return [message["event_id"] for message in messages(path, **options)]


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


# --- events


def test_lines_of_events_keep_every_field_and_their_times_have_a_zone(tmp_path: Path) -> None:
    own = str(uuid.uuid4())
    path = write(
        tmp_path / "talk.jsonl",
        turn("user", "Hello", session_id="s1", occurred_at="2025-03-04T19:12:00+01:00", event_id=own),
        turn("tool", "3 passed", session_id="s1", event_type="tool_result", call_id="c1", payload={"name": "tests"}),
    )
    [batch] = ingest.read(path)
    assert batch.session_id == "s1"
    assert batch.done == 1.0
    first, second = batch.messages
    assert first["event_id"] == own
    assert first["occurred_at"] == datetime(2025, 3, 4, 18, 12, tzinfo=UTC)
    assert (second["event_type"], second["call_id"], second["payload"]) == ("tool_result", "c1", {"name": "tests"})
    assert "session_id" not in first


def test_a_line_without_a_session_belongs_to_the_session_named_after_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "monday.jsonl", turn("user", "Hello", event_type="user_message"))
    assert [batch.session_id for batch in ingest.read(path)] == ["monday"]
    assert [batch.session_id for batch in ingest.read(path, session_id="mine")] == ["mine"]


def test_batches_hold_one_session_each_and_never_more_than_asked(tmp_path: Path) -> None:
    lines = [turn("user", f"line {n}", session_id="a" if n < 250 else "b") for n in range(260)]
    batches = list(ingest.read(write(tmp_path / "many.jsonl", *lines)))
    assert [(batch.session_id, len(batch.messages)) for batch in batches] == [
        ("a", 100),
        ("a", 100),
        ("a", 50),
        ("b", 10),
    ]
    assert [batch.done for batch in batches] == sorted(batch.done for batch in batches)
    assert batches[-1].done == 1.0


def test_an_empty_line_a_byte_order_mark_and_windows_line_ends_are_no_errors(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    line = json.dumps(turn("user", "Grüße", session_id="s")).encode()
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n" + line + b"\r\n")
    assert [message["content"] for message in messages(path)] == ["Grüße", "Grüße"]


# --- identity


def test_a_file_read_twice_gives_the_same_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "talk.jsonl", *[turn("user", f"line {n}", session_id="s") for n in range(7)])
    assert ids(path) == ids(path)
    assert len(set(ids(path))) == 7


def test_a_file_that_grew_keeps_the_ids_of_what_it_had(tmp_path: Path) -> None:
    lines = [turn("user", f"line {n}", session_id="s") for n in range(7)]
    before = ids(write(tmp_path / "talk.jsonl", *lines[:4]))
    after = ids(write(tmp_path / "talk.jsonl", *lines))
    assert after[:4] == before


def test_the_same_words_said_twice_are_two_events(tmp_path: Path) -> None:
    path = write(tmp_path / "talk.jsonl", *[turn("user", "yes", session_id="s")] * 3)
    assert len(set(ids(path))) == 3


def test_the_same_words_in_two_sessions_are_two_events(tmp_path: Path) -> None:
    path = write(tmp_path / "talk.jsonl", turn("user", "yes", session_id="a"), turn("user", "yes", session_id="b"))
    assert len(set(ids(path))) == 2


def test_the_same_file_for_another_owner_is_other_events_but_for_ids_of_its_own(tmp_path: Path) -> None:
    own = str(uuid.uuid4())
    path = write(tmp_path / "talk.jsonl", turn("user", "yes", session_id="a"), turn("user", "no", event_id=own))
    owners = [("t", "n", "a", None), ("t", "n", "a", "ada"), ("t", "n", "ada", None), ("t", "a", "n", None)]
    found = [ids(path, owner=owner) for owner in owners]
    assert len({first for first, _ in found}) == 4
    assert {second for _, second in found} == {own}
    assert found == [ids(path, owner=owner) for owner in owners]


def test_every_id_is_a_uuid_the_ledger_accepts(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.json", json.dumps([turn("user", "one"), turn("assistant", "two")]))
    assert all(uuid.UUID(event_id).int for event_id in ids(path))


# --- OpenAI

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": [{"type": "text", "text": "What is on this?"}, {"type": "image_url", "image_url": {}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "picture"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "guess", "arguments": "not json"}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "a heron"},
    {"role": "tool", "tool_call_id": "call_2", "content": ""},
    {"role": "assistant", "content": "It is a heron.", "created_at": 1741111920},
]


def test_a_chat_list_becomes_messages_tool_calls_and_results(tmp_path: Path) -> None:
    found = messages(write(tmp_path / "chat.json", json.dumps(CHAT, indent=2)))
    assert [(one["role"], one.get("event_type")) for one in found] == [
        ("system", None),
        ("user", None),
        ("assistant", "tool_call"),
        ("assistant", "tool_call"),
        ("tool", "tool_result"),
        ("tool", "tool_result"),
        ("assistant", None),
    ]
    assert found[1]["content"] == "What is on this?\n[image url]"
    assert found[2]["payload"] == {"name": "look", "arguments": {"at": "picture"}}
    assert found[2]["call_id"] == found[4]["call_id"] == "call_1"
    assert found[3]["payload"]["arguments"] == {"text": "not json"}
    assert found[5]["content"] == "(no output)"
    assert found[6]["occurred_at"] == datetime(2025, 3, 4, 18, 12, tzinfo=UTC)


def test_a_system_prompt_in_a_transcript_is_a_document_and_never_the_operator(tmp_path: Path) -> None:
    assert messages(write(tmp_path / "chat.json", json.dumps(CHAT)))[0]["trust"] == "document"


@pytest.mark.parametrize("layout", ["list", "object", "lines of messages", "lines of conversations"])
def test_every_layout_of_a_chat_gives_the_same_words(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "chat.jsonl"
    match layout:
        case "list":
            write(path, json.dumps(CHAT))
        case "object":
            write(path, json.dumps({"messages": CHAT}, indent=1))
        case "lines of messages":
            write(path, *CHAT)
        case "lines of conversations":
            write(path, {"messages": CHAT[:3]}, {"messages": CHAT[3:]})
    assert [one["content"] for one in messages(path)] == [
        one["content"] for one in messages(write(tmp_path / "x", *CHAT))
    ]


def test_several_conversations_in_one_file_are_several_sessions(tmp_path: Path) -> None:
    path = write(
        tmp_path / "all.jsonl", {"messages": CHAT[:2]}, {"messages": CHAT[3:]}, {"id": "own", "messages": CHAT[:1]}
    )
    assert [batch.session_id for batch in ingest.read(path)] == ["all", "all-2", "own"]


# --- LoCoMo


def test_a_locomo_file_becomes_one_session_of_messages_for_each_of_its_sessions() -> None:
    batches = list(ingest.read(FRIENDS))
    assert [(batch.session_id, len(batch.messages)) for batch in batches] == [
        ("studio-session-1", 8),
        ("studio-session-2", 6),
        ("studio-session-3", 6),
    ]
    first = batches[0].messages[0]
    assert (first["role"], first["name"], first["metadata"]) == ("user", "Rosa", {"dia_id": "D1:1"})
    assert first["occurred_at"] == datetime(2024, 1, 14, 19, 5, tzinfo=UTC)
    assert batches[0].messages[1]["role"] == "assistant"


def test_a_picture_in_locomo_is_kept_as_its_caption() -> None:
    contents = [message["content"] for message in messages(FRIENDS)]
    assert contents[6] == "Here is what it looks like today.\n[image: an empty brick room with a tiled oven]"


def test_half_past_midnight_is_read_as_the_start_of_the_day_and_turns_keep_their_order() -> None:
    second = list(ingest.read(FRIENDS))[1]
    times = [message["occurred_at"] for message in second.messages]
    assert times[0] == datetime(2024, 3, 3, 0, 30, tzinfo=UTC)
    assert times == sorted(set(times))


def test_a_session_whose_time_cannot_be_read_is_an_error_and_not_a_guess(tmp_path: Path) -> None:
    data = json.loads(FRIENDS.read_text())
    data[0]["conversation"]["session_2_date_time"] = "some day in March"
    path = write(tmp_path / "friends.json", json.dumps(data))
    with pytest.raises(InvalidInput, match="item 1, session_2_date_time"):
        messages(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"session_1": {"speaker": "Ada", "text": "I sail."}}, "session_1: expected a list of turns, .* an object"),
        ({"session_1": "I sail."}, "session_1: expected a list of turns, .* found text"),
        ([{"conversation": {"speaker_a": "Ada"}}], "item 1: expected lists of turns under session_1, session_2, …"),
        ({"conversation": {"session_one": []}}, "expected lists of turns under session_1, session_2, …"),
        ({"session_1": [], "session_2": {}}, "session_2: expected a list of turns"),
    ],
)
def test_a_conversation_without_a_turn_that_can_be_read_is_refused(tmp_path: Path, data: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        messages(write(tmp_path / "talk.json", json.dumps(data)))


def test_sessions_are_read_in_the_order_of_their_numbers_however_these_are_written(tmp_path: Path) -> None:
    said = {name: [{"speaker": "Ada", "text": name}] for name in ("session_10", "session_02", "session_1")}
    read = list(ingest.read(write(tmp_path / "talk.json", json.dumps(said | {"session_3": None}))))
    assert [batch.session_id for batch in read] == ["talk-session-1", "talk-session-2", "talk-session-10"]
    assert [batch.messages[0]["content"] for batch in read] == ["session_1", "session_02", "session_10"]


# --- bad files

GOOD = json.dumps(turn("user", "fine", session_id="s"))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('{"role": "user", "content": "x"', "column"),
        ('{"role": "user", "role": "tool", "content": "x"}', "a key twice"),
        ('{"role": "user", "content": "x", "payload": {"n": NaN}}', "not finite"),
        ('{"role": "user", "content": "x", "payload": {"n": ' + "9" * 5000 + "}}", "strict JSON"),
        ('{"role": "user", "content": "x", "payload": ' + "[" * 200_000 + "]" * 200_000 + "}", "strict JSON"),
        ('{"role": "user"}', "content"),
        ('{"content": "x"}', "role"),
        ('{"role": "user", "content": 3}', "a number"),
        ('{"role": "user", "content": "x", "payload": []}', "a list"),
        ('{"role": "user", "content": "x", "colour": "vermilion"}', "1 other"),
        ('{"role": "user", "content": "x", "occurred_at": "2025-03-04T10:00:00"}', "without one"),
        ('{"role": "user", "content": "x", "occurred_at": "yesterday"}', "other text"),
        ("[1, 2]", "a list"),
        ("3", "a number"),
    ],
)
def test_a_broken_line_is_named_by_its_number(tmp_path: Path, broken: str, says: str) -> None:
    path = write(tmp_path / "talk.jsonl", GOOD, "", broken, GOOD)
    with pytest.raises(InvalidInput, match=r"talk\.jsonl line 3") as error:
        messages(path)
    assert says in str(error.value)
    assert "vermilion" not in str(error.value), "an error never quotes a value"


def test_what_stands_before_a_broken_line_is_still_given(tmp_path: Path) -> None:
    lines = [json.dumps(turn("user", f"line {n}", session_id="s")) for n in range(120)]
    reading = ingest.read(write(tmp_path / "talk.jsonl", *lines, "{broken"))
    assert len(next(reading).messages) == 100
    with pytest.raises(InvalidInput, match="line 121"):
        next(reading)


def test_text_that_is_not_utf8_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(GOOD.encode() + b'\n{"role": "user", "content": "caf\xe9", "session_id": "s"}\n')
    with pytest.raises(InvalidInput, match="line 2: expected UTF-8"):
        messages(path)


def test_a_line_longer_than_the_limit_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(GOOD + "\n" + json.dumps(turn("user", "x" * ingest.LINE_BYTES)) + "\n")
    with pytest.raises(LimitExceeded, match="line 2"):
        messages(path)


def test_a_document_on_one_line_may_be_longer_than_a_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [turn("user", "a"), turn("user", "x" * ingest.LINE_BYTES)]}))
    assert [one["content"][:2] for one in messages(path)] == ["a", "xx"]


@pytest.mark.parametrize("content", ["", "\n \n", "[]", "{}", '"text"', '{"a": 1}', "plain words\nof a letter"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.txt"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=r"other\.txt"):
        messages(path)


@pytest.mark.parametrize("role", ["critic", ["user"], {"name": "user"}, 5])
def test_a_chat_message_with_an_unknown_role_is_named(tmp_path: Path, role: Any) -> None:
    path = write(tmp_path / "chat.json", json.dumps([turn("user", "a"), {**turn("user", "b"), "role": role}]))
    with pytest.raises(InvalidInput, match=r"chat\.json item 2"):
        messages(path)


def test_a_format_can_be_named_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", turn("user", "a"))
    assert [one["content"] for one in messages(path, format="openai")] == ["a"]
    with pytest.raises(InvalidInput, match="format"):
        messages(path, format="csv")
