"""Record a file in a process of its own, telling its progress line by line: `url tenant path`."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engram import Engram, Scope
from engram.values import LongInputProgress


def say(told: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def tell(progress: LongInputProgress) -> None:
    say({"share": progress.share})


def main() -> None:
    url, tenant, path = sys.argv[1:]
    with Engram(url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        report = door.record_long_input(Path(path), media="text", derive="skip", progress=tell)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {"sha256": report.sha256, "chunks": [chunk.event_id for chunk in report.chunks], "rss_mb": peak}
    say(told)


if __name__ == "__main__":
    main()
