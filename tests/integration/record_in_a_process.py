"""Record a file in a process of its own, telling its progress line by line: `url tenant path derive`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from engram import Engram, Scope
from engram.values import Derive, LongInputProgress


def say(told: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def tell(progress: LongInputProgress) -> None:
    say({"share": progress.share})


def main() -> None:
    url, tenant, path, derive = sys.argv[1:]
    wait = False if derive == "skip" else 60.0
    with Engram(url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        report = door.record_long_input(
            Path(path), media="text", derive=cast("Derive", derive), wait=wait, progress=tell
        )  # fmt: skip
    say({"sha256": report.sha256, "chunks": [chunk.event_id for chunk in report.chunks]})


if __name__ == "__main__":
    main()
