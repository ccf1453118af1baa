"""Ways of making memories from events, one module each.

A deriver is a module with `NAME`, `VERSION` and `derive(event, *, user_name, preceding) -> tuple[Proposed, ...]`, where
`preceding` are the messages right before the event, nearest first. It proposes; the policy judges. To add one, write
its module and add it to `DERIVERS`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from engram.derivation import rules, verbatim

DERIVERS: Final[tuple[ModuleType, ...]] = (verbatim, rules)


def versions() -> list[tuple[str, int]]:
    """The name and version of each."""
    return [(one.NAME, one.VERSION) for one in DERIVERS]
