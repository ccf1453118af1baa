"""Paths: what a walk along relations found, as lines for a prompt. Pure, and the same bytes for the same walk.

A memory is printed once, cited by its mark, and the paths name marks. Text that Engram cannot vouch for stands in the
data block at the end, behind the fence that a context has; on its path it is only a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from engram import context
from engram.values import Memory, Traversal, TraversalResult, trust_rank

HEADING: Final = "## Related memories"
LONG: Final = 500  # characters of a fact over which its first line stands for it
SHORTENED: Final = context.MOST_OF_FACT
ARROWS: Final = {"outbound": "-{}->", "inbound": "<-{}-"}


@dataclass(frozen=True, slots=True)
class _Line:
    """A memory of the walk: its line, and what is printed of it in the data block."""

    text: str
    data: str | None = None


def render(traversal: Traversal, *, max_tokens: int, count: Callable[[str], int], key: bytes) -> str:
    """The seeds and what was found, best first, in at most `max_tokens`; a line that does not fit is left out.

    Empty where nothing was found, or where not even the heading fits.
    """
    lines = list(_lines(traversal))
    delimiter = context.delimiter((f"{line.text}\x00{line.data or ''}" for line in lines), key)
    if not traversal.results or count(HEADING) > max_tokens:
        return ""
    whole = _text(lines, 0, delimiter)
    if count(whole) <= max_tokens:
        return whole
    chosen: list[_Line] = []
    for line in lines:
        rest = len(lines) - len(chosen) - 1  # so many more may not fit, and the notice of it must
        if count(_text([*chosen, line], rest, delimiter)) <= max_tokens:
            chosen.append(line)
    shown = _text(chosen, len(lines) - len(chosen), delimiter)
    return shown if count(shown) <= max_tokens else HEADING


def _lines(traversal: Traversal) -> Iterator[_Line]:
    named = dict.fromkeys(memory_id for one in traversal.results for memory_id in one.path)
    named |= dict.fromkeys(memory.memory_id for memory in traversal.seeds)
    marks = context.marks_of([("mem", memory_id) for memory_id in named])
    results = {one.memory.memory_id for one in traversal.results}
    for memory in traversal.seeds:
        if memory.memory_id not in results and context.is_printable(memory):
            yield _line(memory, marks, "")
    for one in traversal.results:
        if one.memory.status not in ("deleted", "quarantined"):
            label = f" ({', '.join(one.labels)})" if one.labels else ""
            yield _line(one.memory, marks, f"{label}: {_path(one, marks)} ({one.path_weight:.2f})")


def _line(memory: Memory, marks: Mapping[str, str], rest: str) -> _Line:
    mark, rank = marks[memory.memory_id], trust_rank(memory.trust)
    own = rank == context.AGENT and memory.memory_type in context.PRIVILEGED
    if rank > context.AGENT or own:
        day = f"{memory.valid_from.astimezone(UTC):%Y-%m-%d}"
        return _Line(
            f"- [{mark}]{rest}", f"[{memory.trust} {day}] {context.in_fence(context.short(memory.fact, LONG))} [{mark}]"
        )
    return _Line(f"- {context.in_line(context.short(memory.fact, LONG))} [{mark}]{rest}")


def _path(one: TraversalResult, marks: Mapping[str, str]) -> str:
    parts = [marks[one.path[0]]]
    ways = one.directions or ("outbound",) * one.depth
    for kind, way, node in zip(one.relation_types, ways, one.path[1:], strict=True):
        parts += [ARROWS[way].format(kind), marks[node]]
    return " ".join(parts)


def _text(lines: Sequence[_Line], left: int, delimiter: str) -> str:
    notice = [f"- ({left} more did not fit)"] if left else []
    data = [line.data for line in lines if line.data is not None]
    block = ["", context.fence(delimiter, data)] if data else []
    return "\n".join([HEADING, *(line.text for line in lines), *notice, *block])
