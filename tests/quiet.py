"""A door whose jobs run only when the test runs them."""

from __future__ import annotations

from typing import TypeVar

from engram import AsyncEngram, Engram

Door = TypeVar("Door", Engram, AsyncEngram)


class Mute:
    """A doorbell nobody hears."""

    def ring(self, tenant_id: str) -> None:
        """Nothing."""

    def close(self, drain: float) -> None:
        """Nothing."""


def quiet(door: Door) -> Door:
    """The same door, without the background, which would take jobs away from the test and open transactions."""
    door._core._bell = Mute()
    return door
