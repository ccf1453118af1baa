"""What was aimed at, and how far it is reached: read from the results, so that no figure stands in two places. Pure.

Each goal looks up its cells in the tables of saved runs and says what is there, reached or missed. A goal whose run is
not among the results, or is one without the rows it asks for, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Run = Mapping[str, Any]
Row = Mapping[str, Any]
Said = tuple[str, str, bool]  # what is wanted, what was measured, and whether that is enough

COLUMNS: Final = ("goal", "wanted", "measured", "", "section")
ABOUT: Final = """\
Read from the results below. Ratios are to the floor that stands beside each call; milliseconds and rows a second are of
the machine that its section names. Other libraries are compared at the largest size that was measured, with those that
find as much: by vector the nearest ten, by words and vector together what the question was made from.
"""
METRICS: Final = ("R@5", "R@10", "R@20", "R@50", "hit@10", "MRR@10", "nDCG@10")
PLAINER: Final = ("and", "or", "bm25", "vector", "rrf")  # ways over the same rows, without Engram
FLOOR: Final = "numpy, exact"  # in memory, not durable: no rival
USERS: Final = (r"One client, a user with 20,000 of", r"One client, a user with 800 of")


class Missing(LookupError):
    """What a goal asks for is not in the results."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table, by the names of its columns."""

    rows: Sequence[Row]

    def of(self, **wanted: object) -> Sequence[Row]:
        """The rows whose cells say so, at least one."""
        found = [row for row in self.rows if all(row[name] == value for name, value in wanted.items())]
        if not found:
            raise Missing(wanted)
        return found

    def number(self, column: str, **wanted: object) -> float:
        """The number in a column of the first row whose cells say so."""
        return number(self.of(**wanted)[0][column])


def number(cell: object) -> float:
    """The number of a cell, which may be a text with thousands apart."""
    try:
        return float(str(cell).replace(",", ""))
    except ValueError as error:
        raise Missing(cell) from error


def table(run: Run, title: str) -> Rows:
    """The last table of a run whose title begins so: of several sizes, the largest."""
    found = [one for one in run["tables"] if re.match(title, one["title"])]
    if not found:
        raise Missing(title)
    return Rows([dict(zip(found[-1]["columns"], row, strict=True)) for row in found[-1]["rows"]])


def reached(saved: Sequence[Run]) -> list[list[str]]:
    """A row for each goal that something was measured for: what is wanted, what is there, and where it stands. Pure."""
    found = []
    for run in saved:
        for kind, name, look in GOALS:
            if run["name"].partition("-")[0] != kind:
                continue
            try:
                wanted, measured, enough = look(run)
            except Missing:
                continue
            found.append([name, wanted, measured, "reached" if enough else "missed", run["title"]])
    return found


# Quality -------------------------------------------------------------------------------------------------------------


def _not_above(own: Row, others: Sequence[Row]) -> list[str]:
    """The metrics of a row that another one reaches."""
    return [one for one in METRICS if one in own and own[one] <= max(row[one] for row in others)]


def _at_best(own: Row, others: Sequence[Row]) -> str:
    return f"all of them; R@10 {own['R@10']} against {max(row['R@10'] for row in others)} at best"


def _above_plainer(run: Run) -> Said:
    turns = table(run, "By turns")
    plainer = [row for row in turns.rows if row["way"] in PLAINER]
    pairs = [
        (own, [row for row in plainer if row["embedder"] in ("-", own["embedder"])]) for own in turns.of(way="search")
    ]
    below = [f"{one} {own[one]} ({own['embedder']})" for own, others in pairs for one in _not_above(own, others)]
    least = min(pairs, key=lambda pair: pair[0]["R@10"])
    said = f"not above: {', '.join(below)}" if below else _at_best(*least)
    return "every metric of `search` above every plainer way", said, not below


def _above_rivals(run: Run) -> Said:
    found = table(run, "demo")
    own = found.of(memory="engram, remember")[0]
    others = [row for row in found.rows if not row["memory"].startswith("engram")]
    below = _not_above(own, others)
    said = f"not above: {', '.join(below)}" if below else _at_best(own, others)
    return "every metric above every other library's", said, not below


# Speed ---------------------------------------------------------------------------------------------------------------


def _at_most(call: str, most: float) -> Callable[[Run], Said]:
    def look(run: Run) -> Said:
        big, little = (table(run, title).number("ratio", call=call) for title in USERS)
        said = f"{big} for a user with 20,000 of 100,000 memories, {little} for one with 800"
        return f"at most {most} times its floor", said, max(big, little) <= most

    return look


def _add_many(run: Run) -> Said:
    rows = table(run, r"Sixteen clients on 100,000")
    rate, bare = (rows.number(column, call="add_many") for column in ("per s", "floor per s"))
    return "5,000 rows a second", f"{rate:,.0f} from sixteen clients; bare rows {bare:,.0f}", rate >= 5_000


def _append(run: Run) -> Said:
    ratio = 1 / table(run, USERS[0]).number("ratio", call="append")
    return "at least 0.8 of bare inserts' speed", f"{ratio:.2f}", ratio >= 0.8


def _traverse(run: Run) -> Said:
    late, bare = (table(run, USERS[0]).number(column, call="traverse") for column in ("p95", "floor p95"))
    return "p95 at most 2 ms, three steps deep", f"{late} ms; the bare statement {bare} ms", late <= 2


def _batches(run: Run) -> Said:
    rate = table(run, "Writers").number("events a second", who="one writer, 500 events a commit")
    return "20,000 events a second", f"{rate:,.0f} from one writer, 500 a commit", rate >= 20_000


def _derived(run: Run) -> Said:
    rows = table(run, "From events")
    rate = rows.number("events/s", derivers="verbatim and rules, sessions of 100", workers=2)
    return "1,000 events a second by rules, two workers", f"{rate:,.0f} in sessions of 100", rate >= 1_000


# Scale ---------------------------------------------------------------------------------------------------------------


def _late(run: Run) -> Said:
    grown = {}
    for row in table(run, "Scopes of 100: p50").rows:
        few, many = (number(row[column].split(" / ")[1]) for column in ("10,000", "1,000,000"))
        grown[row["call"]] = many / few
    worst = max(grown, key=grown.__getitem__)
    said = f"{grown[worst]:.2f} for `{worst}`, the most of {len(grown)} calls"
    wanted = "p95 of every call at a million memories in 10,000 scopes at most twice that at 10,000"
    return wanted, said, grown[worst] <= 2


def _planning(run: Run) -> Said:
    took = [number(row["planning of a search ms"]) for row in table(run, "Scopes of 100: recall").rows]
    said = f"{took[0]} ms of a thousand memories, {took[-1]} ms of a million"
    return "planned in 1.5 times the time at most", said, took[-1] <= 1.5 * took[0]


def _tenants(run: Run) -> Said:
    few, many = table(run, r"100,000 memories, ten a scope").rows
    times = number(many["search p50 ms"]) / number(few["search p50 ms"])
    same = few["indexes"] == many["indexes"] and few["relations"] == many["relations"]
    said = f"{few['indexes']} and {many['indexes']} indexes; a search takes {times:.2f} times as long"
    wanted = (
        f"{many['tenants']:,} tenants have no more indexes than {few['tenants']:,}, a search 1.5 times the time at most"
    )
    return wanted, said, same and times <= 1.5


# Other libraries -----------------------------------------------------------------------------------------------------


def _finds(run: Run) -> Said:
    row = table(run, r"[\d,]+ memories").of(memory="engram", search="vector")[0]
    big, small = number(row["big R@10"]), number(row["small R@10"])
    return "at least .97 of the nearest ten, for both users", f"{big:.3f} and {small:.3f}", min(big, small) >= 0.97


def _faster(search: str, user: str) -> Callable[[Run], Said]:
    """A search beside those that find as much: the nearest ten by vector alone, or what a question was made from."""
    measure = f"{user} R@10" if search == "vector" else "target MRR"

    def look(run: Run) -> Said:
        rows = table(run, r"[\d,]+ memories")
        own = rows.of(memory="engram", search=search)[0]
        mine, found = number(own[f"{user} p50"]), number(own[measure])
        quicker = {
            row["memory"]: mine / number(row[f"{user} p50"])
            for row in rows.of(search=search)
            if row["memory"] not in ("engram", FLOOR)
            and number(row[f"{user} p50"]) < mine
            and number(row[measure]) >= found
        }
        said = ", ".join(f"{name} is {times:.1f} times as fast" for name, times in quicker.items())
        return f"faster than each of no less {measure}", f"{mine} ms; {said or 'none of these is'}", not quicker

    return look


def _added(other: str, least: int) -> Callable[[Run], Said]:
    def look(run: Run) -> Said:
        rows = table(run, r"[\d,]+ memories")
        own, theirs = (number(rows.of(memory=memory)[0]["add /s"]) for memory in ("engram", other))
        wanted = f"at least as many as {other}" if least == 1 else f"at least {least} times {other}"
        return wanted, f"{own:,.0f} against {theirs:,.0f} a second", own >= least * theirs

    return look


GOALS: Final[Sequence[tuple[str, str, Callable[[Run], Said]]]] = (
    ("quality", "finding", _above_plainer),
    ("speed", "`search`", _at_most("search", 1.3)),
    ("speed", "`recall`", _at_most("recall", 1.3)),
    ("speed", "`add`", _at_most("add", 2.0)),
    ("speed", "`add_many`", _add_many),
    ("speed", "an event, durable", _append),
    ("speed", "`traverse`", _traverse),
    ("scale", "many scopes", _late),
    ("scale", "planning", _planning),
    ("scale", "many tenants", _tenants),
    ("derivation", "deriving", _derived),
    ("ledger", "events in batches", _batches),
    ("peers", "vectors found", _finds),
    ("peers", "vector search, the big user", _faster("vector", "big")),
    ("peers", "vector search, the small user", _faster("vector", "small")),
    ("peers", "hybrid search, the big user", _faster("hybrid", "big")),
    ("peers", "hybrid search, the small user", _faster("hybrid", "small")),
    ("peers", "memories one at a time", _added("mem0, HNSW", 3)),
    ("peers", "memories one at a time", _added("LangGraph, flat", 1)),
    ("peers", "finding", _above_rivals),
)
