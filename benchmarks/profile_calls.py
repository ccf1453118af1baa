"""Where the time of a call goes: statement by statement on the server, and function by function in Python.

    python benchmarks/profile_calls.py search add add_many            10,000 memories, the user with 20 % of them
    python benchmarks/profile_calls.py search --rows 100000 --user little --keep DIR
    python benchmarks/profile_calls.py search --user only             one scope that holds them all, as in scale.py
    python benchmarks/profile_calls.py search --plans                 the plan of each statement too

Every statement is first explained (ANALYZE, BUFFERS) in a savepoint that is rolled back, with the values of the call,
and then run: planning and execution are the server's own figures, the wall clock is the client's. What is left of a
call's time is Python's, and waits for commits.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import machine
import psycopg
from clients import CALLS, Case, Client
from crowds import BIG, LITTLE, ONLY, Shape, opened
from watching import took

from engram.wire import Said, Wire

TIMES: Final = 20
WARM: Final = 5
SHOWN: Final = 30
EXPLAINED: Final = ("select", "with", "insert", "update", "delete")
SENT: Final = psycopg.Cursor.execute
EXPLAIN: Final = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "


@dataclass
class Ran:
    """A statement of a call: what it took, of all calls together, in milliseconds."""

    times: int = 0
    wall: float = 0.0
    planning: float = 0.0
    execution: float = 0.0
    buffers: int = 0
    plan: str = ""


@dataclass
class Watch:
    """What is noted of the statements of every psycopg connection while it is watched.

    The time of a message of several statements is that of the one it was sent for.
    """

    explain: bool
    plans: bool = False
    ran: dict[str, Ran] = field(default_factory=lambda: defaultdict(Ran))
    rest: list[Any] = field(default_factory=list)  # the answers to what was said behind a message

    def note(self, real: Callable[..., Any], cursor: Any, query: Any, params: Any, more: dict[str, Any]) -> Any:
        """Run a statement, explained before if asked; what it returns."""
        said = query if isinstance(query, str) else str(query)
        one = self.ran[name_of(said)]
        if self.explain and _verb(said) in EXPLAINED and not isinstance(params, list):
            self._explain(cursor.connection, said, params, one)
        start = time.perf_counter()
        found = real(cursor, query, params, **more)
        one.wall += 1000 * (time.perf_counter() - start)
        one.times += 1
        return found

    def say(
        self, real: Callable[..., Any], wire: Wire, statements: Sequence[Said], *, behind: Sequence[Said] = (),
        **more: Any,
    ) -> list[Any]:  # fmt: skip
        """Say several statements in one message, or if asked each in its own, explained before; what they return."""
        place = max((place for place, (text, _) in enumerate(statements) if text != "COMMIT"), default=0)
        ones = [self.ran[name_of(text)] for text, _ in (*statements, *behind)]
        answers: list[Any] = []
        start = time.perf_counter()
        if self.explain:
            for one, (text, params) in zip(ones, (*statements, *behind), strict=True):
                if params is not None:
                    self._explain(wire.connection, text, params, one)
                answers += real(wire, [(text, params)], **more)
            answers, self.rest = answers[: len(statements)], answers[len(statements) :]
        else:
            answers = real(wire, statements, behind=behind, **more)
        ones[place].wall += 1000 * (time.perf_counter() - start)
        for one in ones:
            one.times += 1
        return answers

    def _explain(self, conn: Any, said: str, params: Any, one: Ran) -> None:
        with psycopg.Cursor(conn) as beside:
            SENT(beside, "SAVEPOINT looked", None)
            SENT(beside, EXPLAIN + said, params)
            row = beside.fetchone()
            assert row is not None
            whole = row[0][0]
            SENT(beside, "ROLLBACK TO SAVEPOINT looked", None)
            one.planning += whole["Planning Time"]
            one.execution += whole["Execution Time"]
            one.buffers += whole["Plan"]["Shared Hit Blocks"] + whole["Plan"]["Shared Read Blocks"]
            if self.plans and not one.plan:
                SENT(beside, "SAVEPOINT looked", None)
                SENT(beside, "EXPLAIN (ANALYZE, BUFFERS) " + said, params)
                one.plan = "\n".join(row[0] for row in beside.fetchall())
                SENT(beside, "ROLLBACK TO SAVEPOINT looked", None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Note the statements of every cursor of psycopg, and of every message, meanwhile."""
    kept = SENT, psycopg.Cursor.executemany, Wire.say, Wire.rest

    def execute(cursor: Any, query: Any, params: Any = None, **more: Any) -> Any:
        return watch.note(kept[0], cursor, query, params, more)

    def executemany(cursor: Any, query: Any, params: Any, **more: Any) -> Any:
        return watch.note(kept[1], cursor, query, list(params), more)

    def say(wire: Wire, statements: Sequence[Said], **more: Any) -> list[Any]:
        return watch.say(kept[2], wire, statements, **more)

    def rest(wire: Wire) -> list[Any]:
        return watch.rest if watch.explain else kept[3](wire)

    psycopg.Cursor.execute, psycopg.Cursor.executemany = execute, executemany  # type: ignore[method-assign]
    Wire.say, Wire.rest = say, rest  # type: ignore[method-assign]
    try:
        yield
    finally:
        psycopg.Cursor.execute, psycopg.Cursor.executemany = kept[:2]  # type: ignore[method-assign]
        Wire.say, Wire.rest = kept[2:]  # type: ignore[method-assign]


@lru_cache(maxsize=1)
def _known() -> dict[str, str]:
    files = [one for one in (resources.files("engram") / "sql").iterdir() if one.name.endswith(".sql")]
    return {one.read_text(encoding="utf-8").split("\n", 1)[0]: one.name.removesuffix(".sql") for one in files}


@lru_cache(maxsize=4096)
def name_of(said: str) -> str:
    """The name of a statement: its file's, where the text begins as one does, otherwise how it begins."""
    first = said.lstrip().split("\n", 1)[0]
    return _known().get(first) or " ".join(said.split())[:60]


def _verb(said: str) -> str:
    lines = [line for line in said.strip().splitlines() if line.strip() and not line.lstrip().startswith("--")]
    return lines[0].split(None, 1)[0].lower().rstrip("(") if lines else ""


def profile(case: Case, times: int, *, plans: bool = False) -> str:
    """What a call does, as text: the statements in order of their time, and the functions."""
    for _ in range(WARM):
        case.call()
    alone = statistics.median(took(case.call) for _ in range(times))
    plain, explained = Watch(explain=False), Watch(explain=True, plans=plans)
    with watched(plain):
        total = statistics.mean(took(case.call) for _ in range(times))
    with watched(explained):
        for _ in range(max(2, times // 4)):
            case.call()
    seen = max(2, times // 4)
    inside = sum(one.wall for one in plain.ran.values()) / times
    outside = f"in statements {inside:.2f}, outside {total - inside:.2f}"
    lines = [
        f"{case.name}: {alone:.2f} ms at the median, {total:.2f} on average; {outside}",
        "",
        f"  {'statement':<44}{'times':>7}{'wall':>9}{'planning':>10}{'execution':>11}{'buffers':>9}  ms, pages a call",
    ]
    for name, one in sorted(plain.ran.items(), key=lambda item: -item[1].wall)[:SHOWN]:
        deep = explained.ran.get(name, Ran())
        lines.append(
            f"  {name[:43]:<44}{one.times / times:>7.1f}{one.wall / times:>9.2f}{deep.planning / seen:>10.2f}"
            f"{deep.execution / seen:>11.2f}{deep.buffers / seen:>9.0f}"
        )
    lines += ["", _functions(case, times)]
    if plans:
        lines += [f"\n{name}\n{one.plan}" for name, one in explained.ran.items() if one.plan]
    return "\n".join(lines)


def _functions(case: Case, times: int) -> str:
    profiler, said = cProfile.Profile(), io.StringIO()
    profiler.enable()
    for _ in range(times):
        case.call()
    profiler.disable()
    pstats.Stats(profiler, stream=said).strip_dirs().sort_stats("tottime").print_stats(SHOWN)
    by_own = said.getvalue()
    said.truncate(0)
    pstats.Stats(profiler, stream=said).strip_dirs().sort_stats("cumulative").print_stats(2 * SHOWN)
    return f"Python, {times} calls, by own time\n{by_own.strip()}\n\nby whole time\n{said.getvalue().strip()}"


def main() -> None:
    """Profile the named calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", nargs="+", choices=CALLS, metavar="CALL")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--user", choices=(BIG, LITTLE, ONLY), default=BIG)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--plans", action="store_true")
    given = parser.parse_args()
    shape = Shape.usual("large" if given.user == ONLY else "mixed", given.rows)
    with opened(shape, given.keep, say=lambda said: print(said, file=sys.stderr)) as crowd:
        print(machine.heading(crowd.url))
        filled = crowd.of(given.user)
        print(f"a user with {filled.rows:,} of {given.rows:,} memories\n")
        with Client(crowd, filled) as client:
            client.fill_queue(1_000)
            for case in client.cases(tuple(given.calls)):
                times = given.times if case.rows == 1 else max(3, given.times // 5)
                print(profile(case, times, plans=given.plans), "\n", flush=True)


if __name__ == "__main__":
    main()
