"""Prompts: texts in `engram/prompts/*.md`, each with a version and the hash that is kept with whatever came of it.

A file begins with its version between two lines of dashes; a line `# system`, `# user` or `# assistant` opens a
message; `{{name}}` is a place to fill. Values go in as they are, all at once: no value opens a message or a place.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal, TypedDict, cast

from engram.regex import regex

Speaker = Literal["system", "user", "assistant"]

_FORM: Final = regex(r"---\nversion: ([0-9]{1,6})\n---\n(.*)", re.DOTALL)
_MESSAGE: Final = regex(r"^# (system|user|assistant)\n(.*?)(?=^# (?:system|user|assistant)\n|\Z)", re.M | re.DOTALL)
_PLACE: Final = regex(r"\{\{([a-z_]+)\}\}")


class ChatMessage(TypedDict):
    """One message to a language model."""

    role: Speaker
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it stands in its file; `hash` is the sha256 of the file, in hex."""

    name: str
    version: int
    hash: str
    text: str

    def fill(self, **values: str) -> list[ChatMessage]:
        """The messages, with a value in every place; ValueError when places and values are not the same."""
        places = set(_PLACE.findall(self.text))
        if places != set(values):
            raise ValueError(f"prompt {self.name}: places {sorted(places)}, values {sorted(values)}")
        return [
            {"role": cast("Speaker", role), "content": _PLACE.sub(lambda place: values[place[1]], body).strip()}
            for role, body in _MESSAGE.findall(self.text)
        ]


def mark(*texts: str) -> str:
    """What stands on the lines around some texts, and nobody can write into one of them. Pure."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@cache
def load(name: str) -> Prompt:
    """The prompt of that name."""
    return parse(name, (resources.files("engram") / "prompts" / f"{name}.md").read_text(encoding="utf-8"))


def parse(name: str, file: str) -> Prompt:
    """The prompt that a file's text holds; ValueError when it has no version or no message."""
    form = _FORM.fullmatch(file)
    if form is None or not _MESSAGE.search(form[2]):
        raise ValueError(f"prompt {name}: expected a version between lines of dashes, and then messages")
    return Prompt(name, int(form[1]), hashlib.sha256(file.encode()).hexdigest(), form[2])
