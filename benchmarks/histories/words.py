"""What a bank of wording is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """One thing about somebody's life that has one value at a time, and the ways people speak of it.

    `{v}` is the value, `{V}` the same with a capital, `{old}` the value before; `{Who}` is somebody else, `{when}` a
    month.
    """

    name: str
    values: tuple[str, ...]
    say: tuple[str, ...]
    change: tuple[str, ...]
    again: tuple[str, ...]
    correct: tuple[str, ...]
    back: tuple[str, ...]
    stop: tuple[str, ...]
    other: tuple[str, ...]
    maybe: tuple[str, ...]
    ask: tuple[str, ...]
    then: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """The wording of one bank: its themes, the people beside the user, and what else is said in a life.

    `lasting` are statements that nothing ever ends, with their values; `unsaid` asks for what is never said.
    """

    name: str
    themes: tuple[Theme, ...]
    people: tuple[str, ...]
    lasting: tuple[tuple[str, tuple[str, ...]], ...]
    chat: tuple[str, ...]
    unsaid: tuple[str, ...]
