"""Markdown: a point or paragraph a fact, under headings that say its type; written by an export, and read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TextIO

from engram import ingest
from engram.errors import EngramError
from engram.portable.files import File, misread
from engram.portable.items import Found, Item, Problem, moment, problem, text
from engram.regex import regex

NAME: Final = "markdown"
SUFFIXES: Final = (".md", ".markdown", ".txt")
TYPES: Final[Mapping[str, str]] = {
    "profile": "Profile",
    "preference": "Preferences",
    "constraint": "Constraints",
    "decision": "Decisions",
    "project": "Projects",
    "task": "Tasks",
    "procedural": "How things are done",
    "semantic": "Facts",
    "episodic": "Events",
    "tool_result": "Results of tools",
}
TITLES: Final = {title.casefold(): name for name, title in TYPES.items()} | {name: name for name in TYPES}
POINT: Final = regex(r"^(\s{0,3})(?:[-*+]|\d{1,9}[.)])\s+(.*)$")
HEADING: Final = regex(r"^#{1,6}\s+(.*?)\s*#*$")
RULE: Final = regex(r"^\s{0,3}(?:[-*_=]\s*){3,}$")  # between two parts, or under a title
MARK: Final = regex(r"\s*<!--\s*(.*?)\s*-->\s*$")
SPECIAL: Final = regex(r"([\\`*_{}\[\]<>#|~!&$])")
LEADING: Final = regex(r"^(\s*)([-+=]|\d{1,9}[.)])(?=\s|$)")
BEGINS: Final = rb"# Memories\n(?:\Z|\n## [^\n]+ / [^\n]+ / (?:the agent itself|user [^\n]+)\n)"
BESIDE: Final = ("valid_from", "valid_to", "session_id", "private")
"""What the mark behind a fact says of it, where there is something to say."""

ESCAPED: Final = regex(r"\\([!-/:-@\[-`{-~])")


def recognises(file: File) -> bool:
    """Whether it is a text with points or headings, or is named as one."""
    if file.is_json:
        return False
    if file.path.suffix.casefold() in SUFFIXES:
        return True
    return any(POINT.match(line) or HEADING.match(line) for _, line in file.text_lines() if line.strip())


def read(file: File) -> Iterator[Found]:
    """The points and paragraphs of the text; to a point belongs what goes on without an empty line, or indented."""
    under: str | None = None
    held: list[str] = []
    start, is_point, apart = 0, False, False
    points = any(POINT.match(line) for _, line in file.text_lines())

    def done() -> Iterator[Found]:
        if held:
            yield from _item(f"line {start}", "\n".join(held), under)
        held.clear()

    for number, line in file.text_lines():
        heading, point = HEADING.match(line), POINT.match(line)
        if heading:
            yield from done()
            under, is_point = None if misread(line) else heading[1].strip(), False
        elif point:
            yield from done()
            start, is_point, apart = number, True, False
            held.append(point[2].strip())
        elif not line.strip():
            apart = True
            if not is_point:
                yield from done()
        elif points and RULE.match(line) and not (is_point and line[:1].isspace()):
            yield from done()
            is_point = False
        elif held and (not is_point or not apart or line[:1].isspace()):
            apart = False
            held.append(line.strip())
        else:
            yield from done()
            start, is_point = number, False
            held.append(line.strip())
    yield from done()


def _item(place: str, said: str, under: str | None) -> Iterator[Found]:
    if misread(said):
        yield Problem(place, "expected UTF-8 text")
        return
    mark = MARK.search(said)
    fact = ESCAPED.sub(r"\1", said[: mark.start()] if mark else said).strip()
    if not fact:
        return
    known = TITLES.get((under or "").casefold())
    memory: dict[str, Any] = {"source": NAME}
    if known:
        memory["memory_type"] = known
    elif under:
        memory["metadata"] = {"heading": ESCAPED.sub(r"\1", under)}
    if mark is None or not mark[1].startswith("mem-"):
        yield Item(place, hashlib.sha256(f"{under}\0{fact}".encode()).hexdigest(), fact, memory, trust="user")
        return
    own, _, beside = mark[1].partition(" ")
    try:
        told = _beside(beside, place)
    except EngramError as error:
        yield problem(place, error)
        return
    session = text(told.pop("session_id", None))
    yield Item(place, own, fact, memory | told, trust="user", session_id=session)


def _beside(said: str, place: str) -> dict[str, Any]:
    """What the mark behind a fact says of it beside its id."""
    found = ingest.parse(said.encode(), place) if said.startswith("{") else {}
    told = {name: found[name] for name in BESIDE if name in found}
    return {name: moment(one, f"{place}, {name}") if name.startswith("valid_") else one for name, one in told.items()}


def escaped(said: str) -> str:
    """A text that Markdown shows as it is: no link, picture, heading or tag in it means anything."""
    return LEADING.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", SPECIAL.sub(r"\\\1", said))


def write(rows: Iterable[Mapping[str, Any]], file: TextIO) -> int:
    """Write memories by scope and type; how many."""
    count, owner, kind = 0, None, None
    file.write("# Memories\n")
    for row in rows:
        whose = (row["namespace"], row["agent_id"], row["user_id"])
        if whose != owner:
            user = "the agent itself" if whose[2] is None else f"user {escaped(whose[2])}"
            file.write(f"\n## {escaped(whose[0])} / {escaped(whose[1])} / {user}\n")
            owner, kind = whose, None
        if row["memory_type"] != kind:
            kind = row["memory_type"]
            file.write(f"\n### {TYPES[str(kind)]}\n\n")
        fact = "\n  ".join(escaped(line) for line in str(row["fact"]).splitlines())
        file.write(f"- {fact} <!-- mem-{str(row['memory_id']).replace('-', '')}{_mark(row)} -->\n")
        count += 1
    return count


def _mark(row: Mapping[str, Any]) -> str:
    """What of a memory no words show, as JSON that ends no comment."""
    held = {name: row[name] for name in BESIDE if row[name]}
    told = {name: one.isoformat() if isinstance(one, datetime) else one for name, one in held.items()}
    return " " + json.dumps(told, separators=(",", ":")).replace(">", "\\u003e") if told else ""
