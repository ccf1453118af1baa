"""Errors in the words of the command line: the option a person typed, in the place of the library's field."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram.errors import EngramError

# A field without the filter it may be a part of and its place in a list, and what follows.
FIELD: Final = re.compile(r"(?:filter\.)?((?:messages\[0\]\.)?[a-z_]+)(?:\[[0-9]+\])?((?:[.\[][a-z_0-9\]]+)*)")
NAME: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")  # a word that is no English one
ENDINGS: Final = ("", "s", "_id", "_ids")
# What the parameters of commands are called where no ending tells.
OTHERWISE: Final[Mapping[str, tuple[str, ...]]] = {
    "categories": ("category",),
    "completed_steps": ("done",),
    "group_by": ("by",),
    "max_chunk_tokens": ("chunk_tokens",),
    "max_facts_per_chunk": ("facts",),
    "memories": ("memory",),
    "memory_id": ("plot",),
    "messages[0].content": ("text",),
    "messages[0].role": ("role",),
    "parent_task_id": ("parent",),
    "path": ("file",),
    "pending_steps": ("pending",),
    "queries": ("also",),
    "recent_epochs": ("recent",),
    "relation_types": ("types",),
    "source_event_id": ("source",),
    "source_event_ids": ("source",),
    "statuses": ("status",),
    "tags_all": ("tag",),
    "task_run_id": ("task",),
    "window": ("since", "until"),
}


def name_what_was_typed(error: EngramError, parameters: Sequence[inspect.Parameter], given: Mapping[str, Any]) -> None:
    """Let the text of an error name the option or argument that was typed; its facts stay the library's."""
    field = error.facts.get("field") or error.facts.get("name")
    if not isinstance(field, str) or not str(error).startswith(f"{field}:"):
        return
    shown = {one.name: flag(one) for one in parameters}
    typed = {one.name: shown[one.name] for one in parameters if _is_typed(one, given.get(one.name))}
    expected = NAME.sub(lambda found: _named(found[0], shown), str(error)[len(field) :])
    error.args = (_named(field, typed) + expected,)


def _is_typed(parameter: inspect.Parameter, value: object) -> bool:
    return value is not None and value is not False and value != [] and value != parameter.default


def _named(field: str, typed: Mapping[str, str]) -> str:
    """A field as it was typed, or as it is where nobody typed it: a file or the environment may have said it."""
    found = FIELD.fullmatch(field)
    if found is None:
        return field
    ours = [found[1].removesuffix(ending) for ending in ENDINGS] + list(OTHERWISE.get(found[1], ()))
    return next((typed[name] + found[2] for name in ours if name in typed), field)


def flag(parameter: inspect.Parameter) -> str:
    """What a person types for a parameter: the long name of an option, or the name of an argument."""
    info = parameter.annotation.__metadata__[0]
    words = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    return next((word.partition("/")[0] for word in words if word.startswith("--")), parameter.name)
