"""For the tests of agents: a language model that answers from a script, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from engram.llm import Completion, Price
from engram.prompting import ChatMessage

__all__ = ["Asked", "Says", "ScriptedModel"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a model: the messages, and the form the answer must have."""

    messages: tuple[ChatMessage, ...]
    schema: type[BaseModel] | None
    max_tokens: int

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message["content"] for message in self.messages)


Says = str | Mapping[str, Any] | BaseModel | Completion | Exception
"""One answer of a script: a text, what becomes JSON, a whole Completion, or an error to raise."""


class ScriptedModel:
    """A language model that says what a test tells it to: no network, no cost, the same every time.

    The script is one answer, a list of them (the last stands for all that follow), or a function of what was `Asked`
    that gives one. What was asked is in `asked`. Safe to share between threads.
    """

    def __init__(self, script: Says | Sequence[Says] | Callable[[Asked], Says], name: str = "scripted") -> None:
        self.name = name
        self.price = Price(Decimal(0), Decimal(0))
        self.asked: list[Asked] = []
        self._script = script
        self._lock = threading.Lock()

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel] | None,
        max_tokens: int,
        deadline: float,  # noqa: ARG002 - a script never waits
    ) -> Completion:
        """What the script says next; four characters count as a token."""
        with self._lock:
            asked = Asked(tuple(messages), schema, max_tokens)
            self.asked.append(asked)
            said = self._said(asked)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Completion):
            return said
        text = said.model_dump_json() if isinstance(said, BaseModel) else said
        text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        return Completion(text, self.name, len(asked.text) // 4 + 1, min(len(text) // 4 + 1, max_tokens), 0)

    def _said(self, asked: Asked) -> Says:
        if callable(self._script):
            return self._script(asked)
        if isinstance(self._script, Sequence) and not isinstance(self._script, str):
            return self._script[min(len(self.asked), len(self._script)) - 1]
        return self._script
