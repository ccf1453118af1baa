"""How much memory the embedded server takes for its pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engram import embedded

MIB = 2**20
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("available", "kept"),
    [(0, 128), (512 * MIB, 128), (1024 * MIB, 128), (4096 * MIB, 512), (8192 * MIB, 1024), (65536 * MIB, 1024)],
)
def test_an_eighth_of_the_memory_within_bounds(available: int, kept: int) -> None:
    assert embedded.buffers(available) == kept


@pytest.mark.parametrize(
    ("own", "limits", "found"),
    [
        ("0::/user/app", {"user/app/memory.max": "max", "user/memory.max": "268435456"}, 256 * MIB),
        ("0::/", {"memory.max": "536870912\n"}, 512 * MIB),
        (
            "0::/gone/elsewhere",
            {"memory.max": "134217728"},
            128 * MIB,
        ),  # a path of the host, seen from inside
        ("0::/../../app", {"memory.max": "134217728"}, 128 * MIB),
        ("5:cpu,memory:/a\n1:cpu:/b", {"memory/a/memory.limit_in_bytes": "134217728"}, 128 * MIB),
        ("4:memory:/host/only", {"memory/memory.limit_in_bytes": "134217728"}, 128 * MIB),
        ("4:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, MACHINE),
        ("0::/app", {"app/memory.max": "max"}, MACHINE),
        ("0::/app", {"app/memory.max": "what"}, MACHINE),
        ("", {}, MACHINE),
        ("0::/a\u2028b\n\nnonsense", {"a\u2028b/memory.max": "134217728"}, 128 * MIB),
    ],
)
def test_a_limit_of_the_control_group_counts(tmp_path: Path, own: str, limits: dict[str, str], found: int) -> None:
    (tmp_path / "own").write_text(own)
    groups = tmp_path / "groups"
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(limit)
    assert embedded.memory(groups, tmp_path / "own") == found


def test_a_name_that_is_no_text_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(b"0::/\xff\n")
    assert embedded.memory(tmp_path / "none", tmp_path / "own") == MACHINE


def test_a_system_without_control_groups_says_what_the_machine_has(tmp_path: Path) -> None:
    assert embedded.memory(tmp_path / "none", tmp_path / "nothing") == MACHINE
