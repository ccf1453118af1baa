"""Waiting until somebody else waits, where two are to meet at a lock."""

from __future__ import annotations

import time
from typing import Any, Final

PATIENCE: Final = 30.0  # seconds


def until_a_lock_is_waited_for(superuser: Any) -> None:
    """Go on once somebody waits for a lock of the library's own."""
    deadline = time.monotonic() + PATIENCE
    while not superuser.execute(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%advisory%'"
    ).fetchone():
        assert time.monotonic() < deadline
        time.sleep(0.01)
