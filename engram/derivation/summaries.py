"""Summaries of sessions: extractive ones, made of the session's own sentences, and the form all of them take. Pure.

The same events give the same summary. It is for reading: nothing is ever derived from a summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from engram import text
from engram.english.subjects import sentence_spans
from engram.regex import regex
from engram.values import Event

Style = Literal["concise", "structured"]
STYLES: Final[tuple[Style, ...]] = ("concise", "structured")
BY: Final = "extractive"
MOST_WORDS: Final = 250
MOST_ITEM: Final = 24  # words of one sentence in a summary
MOST_ITEMS: Final = 5  # sentences of one section
LAST_TURNS: Final = 4
MOST_READ: Final = 10_000  # characters of one event
SECTIONS: Final = (
    "Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context",
)  # fmt: skip
CUT: Final = "…"

Sections = Mapping[str, Sequence[str]]

_DECIDED = regex(
    r"\b(?:decided|decision|agreed|settled on|let'?s (?:go|use|take|do)|go(?:ing)? with|will use|chose|picked)\b", re.I
)
_BINDING = regex(
    r"\b(?:must(?:n't)?|never|always|do not|don'?t|should(?:n't)?|prefer|only|cannot|can'?t|allergic|required?)\b", re.I
)
_DONE = regex(
    r"\b(?:done|finished|fixed|implemented|added|completed|deployed|merged|wrote|written|built|created|passes|works)\b",
    re.I,
)
_AHEAD = regex(r"\b(?:next|to ?do|remaining|still (?:need|have)|need to|follow up|tomorrow|then we|plan to)\b", re.I)
_ASKED = regex(rf"[{text.QUESTION_MARKS}]\W*$")
_WHO: Final = {"user": "User", "assistant": "Assistant", "agent": "Agent", "system": "System", "tool": "Tool"}


def extract(events: Sequence[Event], style: Style) -> str | None:
    """A summary of the events of a session, in order, made of their own sentences; None when nothing was said."""
    told = [event for event in events if event.content and event.content.strip()]
    if not told:
        return None
    goal = next((event for event in told if event.role == "user"), told[0])
    decided = _found(told, _DECIDED, of_type="decision")
    open_questions = _open(told)
    if style == "concise":
        return bounded({
            "Goal": _first(goal), "Decided": decided, "Open": open_questions,
            "Last": [f"{_WHO[event.role]}: {_item(event.content or '')}" for event in told[-LAST_TURNS:]],
        })  # fmt: skip
    made = [f"made {event.payload.get('name')}" for event in told if event.event_type == "artifact"]
    return bounded({
        "Goal": _first(goal),
        "Constraints & Preferences": _found(told, _BINDING, roles=("user",)),
        "Progress": [*_found(told, _DONE, roles=("assistant", "agent")), *made[-MOST_ITEMS:]],
        "Key Decisions": decided,
        "Next Steps": [*_found(told[-LAST_TURNS * 2:], _AHEAD), *open_questions],
        "Critical Context": [_item(event.content or "") for event in told if event.event_type == "error"],
    }, structured=True)  # fmt: skip


def bounded(sections: Sections, *, structured: bool = False) -> str | None:
    """The sections as text of at most 250 words: the oldest sentence of the longest section goes first."""
    kept = {
        name: list(dict.fromkeys(item for one in items if (item := _item(one))))[-MOST_ITEMS:]
        for name, items in sections.items()
    }
    while count_words(said := _printed(kept, structured)) > MOST_WORDS:
        longest = max(kept, key=lambda name: (sum(map(count_words, kept[name])), name))
        kept[longest] = kept[longest][1:]
    return said or None


def cut(said: str, most: int = MOST_WORDS) -> str:
    """The text, cut to so many words, with a mark where it was cut."""
    if count_words(said) <= most:
        return said.strip()
    room, end = most, 0
    for found in re.finditer(r"\S+", said):
        room -= count_words(found.group())
        if room < 0:
            break
        end = found.end()
    return (said[:end] or said[:most]).rstrip() + CUT


def count_words(said: str) -> int:
    """How many words a text has: what stands between spaces, but each Chinese or Japanese character is one too."""
    return sum(max(1, text.count_tokens(word) if text.has_cjk(word) else 1, len(word) // 40) for word in said.split())


def _printed(sections: Mapping[str, Sequence[str]], structured: bool) -> str:
    if structured:
        return "\n".join(
            f"## {name}\n" + "\n".join(f"- {item}" for item in sections[name])
            for name in SECTIONS
            if sections.get(name)
        )
    return "\n".join(f"{name}: {' · '.join(items)}" for name, items in sections.items() if items)


def _found(
    events: Iterable[Event], pattern: re.Pattern[str], *, roles: Sequence[str] = (), of_type: str | None = None
) -> list[str]:
    """The sentences that a pattern finds in what some roles said, and whole events of a type."""
    found: list[str] = []
    for event in events:
        said = event.content or ""
        if event.event_type == of_type:
            found.append(said)
        elif not roles or event.role in roles:
            found.extend(one for one in _sentences(said) if pattern.search(one) and not _ASKED.search(one))
    return found


def _open(events: Sequence[Event]) -> list[str]:
    """Questions nobody has said anything to: those of the last speaker."""
    last = events[-1].role
    open_questions: list[str] = []
    for event in reversed(events):
        if event.role != last:
            break
        open_questions[:0] = [one for one in _sentences(event.content or "") if _ASKED.search(one)]
    return open_questions


def _first(event: Event) -> list[str]:
    return _sentences(event.content or "")[:1]


def _sentences(said: str) -> list[str]:
    said = said[:MOST_READ]
    return [one for start, end in sentence_spans(said) if (one := " ".join(said[start:end].split()))]


def _item(said: str) -> str:
    return cut(" ".join(said.split()), MOST_ITEM)
