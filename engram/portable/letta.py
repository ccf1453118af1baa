"""Letta: an agent file (.af), of either layout: blocks of core memory, messages, and archival passages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.errors import EngramError
from engram.portable.files import File
from engram.portable.items import Found, Item, Problem, Said, moment, object_under, objects, problem, rest, tags, text

NAME: Final = "letta"
PASSAGES: Final = ("passages", "archival_passages", "archival_memory")
ROLES: Final[Mapping[str, tuple[str, str]]] = {
    "user": ("user", "user"),
    "assistant": ("assistant", "agent"),
    "tool": ("tool", "tool"),
    "system": ("system", "document"),
}
LOCAL: Final = re.compile(r"[a-z_]+-\d{1,9}")  # an id that numbers things within one file: another file has it, too
BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


def recognises(file: File) -> bool:
    """Whether it is an agent with blocks of memory and messages."""
    first = file.first
    if file.by_lines or not isinstance(first, dict):
        return False
    return ("core_memory" in first and "messages" in first) or ("agents" in first and "blocks" in first)


def read(file: File) -> Iterator[Found]:
    """What was said, then the blocks of core memory statement by statement, then the passages."""
    document = file.first if isinstance(file.first, dict) else {}
    agents = document.get("agents")
    names: set[str] = set()
    owners: dict[str, str] = {}
    for number, agent in enumerate(agents if isinstance(agents, list) else [document], start=1):
        mark = f"agent {number}, " if isinstance(agents, list) else ""
        if not isinstance(agent, Mapping):
            yield Problem(f"agent {number}", "expected a JSON object")
            continue
        whose = _own_id(agent) or str(agent.get("name") or agent.get("id") or number)
        whose = f"{whose} {number}" if whose in names else whose
        names.add(whose)
        listed = agent.get("block_ids")
        owners = {str(one): whose for one in (listed if isinstance(listed, list) else [])} | owners
        yield from _messages(mark, whose, agent)
        for place, passage in _listed(agent, PASSAGES, f"{mark}passage"):
            yield passage if isinstance(passage, Problem) else _passage(place, whose, passage)
    for place, block in _listed(document, ("blocks", "core_memory"), "block"):
        if isinstance(block, Problem):
            yield block
        else:
            whose = str(document.get("name") or "")
            yield from _block(place, whose if _own_id(block) else owners.get(str(block.get("id")), whose), block)
    if isinstance(agents, list):
        for place, passage in _listed(document, PASSAGES, "passage"):
            yield passage if isinstance(passage, Problem) else _passage(place, "", passage)


def _own_id(entry: Mapping[str, Any]) -> str | None:
    """The id an entry has wherever it is exported; None for one that only numbers it within a file."""
    found = str(entry.get("id") or "")
    return found if found and not LOCAL.fullmatch(found) else None


def _hash(*said: object) -> str:
    return hashlib.sha256("\0".join(map(str, said)).encode(errors="replace")).hexdigest()[:32]


def _listed(
    held: Mapping[str, Any], fields: tuple[str, ...], what: str
) -> Iterator[tuple[str, Mapping[str, Any] | Problem]]:
    found: list[Any] = next((held[name] for name in fields if isinstance(held.get(name), list)), [])
    return objects((f"{what} {number}", value) for number, value in enumerate(found, start=1))


def _messages(mark: str, whose: str, agent: Mapping[str, Any]) -> Iterator[Found]:
    for number, (place, message) in enumerate(_listed(agent, ("messages",), f"{mark}message"), start=1):
        if isinstance(message, Problem):
            yield message
            continue
        role, trust = ROLES.get(str(message.get("role")), ("tool", "tool"))
        content = text(_content(message))
        if content is None or role == "system":
            continue  # a call without words, or the prompt, which was composed of what is in the blocks
        try:
            at = moment(message.get("created_at"), f"{place}, created_at")
        except EngramError as error:
            yield problem(place, error)
            continue
        own = rest(message, "content", "text", "role", "tool_calls", "tool_returns")
        told = _hash(role, message.get("created_at"), content) if message.get("id") else number
        yield Said(
            place,
            f"{whose}/message/{_own_id(message) or told}",
            content,
            role,
            trust,
            text(message.get("name")),
            at,
            metadata={NAME: own},
        )


def _content(message: Mapping[str, Any]) -> Any:
    parts = message.get("content", message.get("text"))
    if not isinstance(parts, list):
        return parts
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _block(place: str, whose: str, block: Mapping[str, Any]) -> Iterator[Found]:
    value, label = text(block.get("value")), text(block.get("label")) or "block"
    if value is None:
        return
    try:
        at = moment(block.get("updated_at") or block.get("created_at"), f"{place}, updated_at")
    except EngramError as error:
        yield problem(place, error)
        return
    source_id = f"{whose}/block/{_own_id(block) or label}"
    text_id = f"{source_id}/{_hash(value)}"  # a block is rewritten in place: what it says now is another text
    yield Said(place, text_id, value, "agent", "agent", occurred_at=at, metadata={NAME: {"label": label}})
    own = {"label": label, **rest(block, "value", "label", "created_at", "updated_at")}
    for number, fact in enumerate(statements(value), start=1):
        memory = {"category": f"block:{label}"[:64], "source": NAME, "metadata": {NAME: own}, "valid_from": at}
        yield Item(
            f"{place}, statement {number}", f"{source_id}/{number}", fact, memory, occurred_at=at, sources=(text_id,)
        )


def statements(value: str) -> Iterator[str]:
    """The statements of a block: its points and lines where it is a list, its paragraphs otherwise."""
    for paragraph in re.split(r"\n\s*\n", value):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        listed = len(lines) > 1 and all(BULLET.match(line) or line.lstrip().startswith("#") for line in lines)
        for part in lines if listed else [" ".join(line.strip() for line in lines)]:
            said = BULLET.sub("", part).strip()
            if said and not said.startswith("#"):
                yield said


def _passage(place: str, whose: str, passage: Mapping[str, Any]) -> Found:
    said = text(passage.get("text") or passage.get("content"))
    if said is None:
        return Problem(place, "expected the text of a passage")
    try:
        at = moment(passage.get("created_at") or passage.get("timestamp"), f"{place}, created_at")
        kept = object_under(passage, "metadata" if passage.get("metadata_") is None else "metadata_", place)
    except EngramError as error:
        return problem(place, error)
    own = rest(passage, "text", "content", "tags", "metadata", "metadata_", "created_at", "timestamp")
    memory = {
        "category": "archival",
        "tags": tags(passage.get("tags")),
        "source": NAME,
        "valid_from": at,
        "metadata": {**kept, NAME: own},
    }
    return Item(place, f"{whose}/passage/{_own_id(passage) or said}", said, memory, occurred_at=at)
