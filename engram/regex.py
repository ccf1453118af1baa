"""Regular expressions that are compiled when they are first asked something.

The rules for language are a thousand expressions, and compiling them takes half a second. A process that reads no
sentence, such as one command of the console, asks few of them.
"""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["regex"]


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """An expression as `re.compile` gives it, compiled at its first use: what is wrong with it is told no earlier."""
    return cast("re.Pattern[str]", _Expression(pattern, flags))


class _Expression:
    """Stands for a compiled expression, and keeps each of its methods once it was asked for."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._given = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of a copy that has nothing yet
        # Asked for only what is not here yet. Two threads may both compile: the one is as good as the other.
        if name == "_compiled":
            self._compiled = re.compile(self.pattern, self._given)
            return self._compiled
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
