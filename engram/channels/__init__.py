"""Channels: ways of finding memories, one a file. Each is asked for candidates inside a transaction and ranks its own.

To add one, write its module and its statements, and name it here; `recall.find` says where it is asked.
"""

from __future__ import annotations

from typing import Final

CHANNELS: Final = ("semantic", "keyword", "tail")
