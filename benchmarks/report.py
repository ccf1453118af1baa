"""Results of benchmarks as files, and the page that shows them.

    python benchmarks/report.py              writes docs/benchmarks.md and its plots from benchmarks/results

A benchmark ends with one call of `save`, which writes `benchmarks/results/<name>.json`: what was run, where, on which
data, and what came out, as tables and plots. The page is made of nothing else but these files and the words below, so
that the same files give the same page, byte for byte. `progress` shows how far a benchmark is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

sys.path.insert(0, str(Path(__file__).parent))

import goals
import machine

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "benchmarks" / "results"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
PLOTS: Final = ROOT / "docs" / "benchmarks"
FIRST: Final = (
    "quality",
    "answers",
    "behaviour",
    "speed",
    "scale",
    "derivation",
    "ledger",
    "queue",
    "log",
    "life",
    "peers",
)  # by what a name begins with; then all others
SIZE: Final = 1 << 20
SAID_EVERY: Final = 15.0  # seconds, where nobody watches a terminal
INTRO: Final = """\
# Benchmarks

What Engram finds, what becomes of facts that change, and what it costs. Every figure on this page was written by the
command above it; the page itself is made from `benchmarks/results` by `make bench-report`. Each section says on which
machine, with which versions, from which commit and on which data it ran.

    make bench-quality      what is found, against labels: no language model, no judge
    make bench-answers      answers by a language model, judged by one: needs a key
    make bench-behaviour    what becomes of facts that change
    make bench-remarks      what an ordinary remark puts away
    make bench-worth        what of a conversation is kept, and what of it is junk
    make bench-asked        what is kept of answers in a word, and found again
    make bench-speed        milliseconds beside their floors
    make bench-scale        what more memories and more tenants cost
    make bench-peers        other memory libraries on the same data

`ARGS` are passed on, as in `make bench-quality ARGS='--data locomo=PATH'`. Public sets are not part of the project:
their loaders take a path. A ratio compares two things of one run, side by side, and is worth more than a time.
"""

PART: Final = "A part of it: the record is left as it is."

Cell = str | int | float | None
Kind = Literal["bars", "lines"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page: rows as long as the columns are many; a note is a sentence below it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one colour of bars; `low` and `high` are the ends of its intervals, where it has any."""

    name: str
    x: Sequence[str | float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of the page. `log` names the axes that are logarithmic: `x`, `y`, or both."""

    title: str
    kind: Kind
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    log: Sequence[Literal["x", "y"]] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """What was measured on: a name, how much of it, the hash of its files, and under which licence it stands."""

    name: str
    sha256: str
    licence: str
    rows: str = ""


# --- a run ------------------------------------------------------------------------------------------------------------


def save(
    name: str,
    *,
    title: str,
    about: str,
    versions: Mapping[str, str],
    data: Sequence[Data] = (),
    tables: Sequence[Table] = (),
    plots: Sequence[Plot] = (),
    notes: Sequence[str] = (),
    folder: Path | None = None,
) -> Path:
    """Write what a run measured to `<folder>/<name>.json`; `versions` are those of `machine.versions`, and more.

    Without a folder it goes to `benchmarks/results`, and onto the page at once.
    Raises ValueError for a name that is no file's, a row that does not fit its columns, and a series that has not as
    many values as places.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"{name!r} is no name: small letters, digits and -")
    for table in tables:
        if any(len(row) != len(table.columns) for row in table.rows):
            raise ValueError(f"a row of {table.title!r} does not fit its columns")
    for plot in plots:
        if any(len(one.x) != len(one.y) or len(one.low) != len(one.high) for one in plot.series):
            raise ValueError(f"a series of {plot.title!r} has not as many values as places")
    made = {
        "name": name,
        "title": title,
        "about": about,
        "command": command(sys.argv),
        "commit": commit(),
        "machine": machine.machine(),
        "versions": dict(versions),
        "data": [asdict(one) for one in data],
        "tables": [asdict(one) for one in tables],
        "plots": [asdict(one) for one in plots],
        "notes": list(notes),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    path = (folder or RESULTS) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if folder is None:
        write(runs())
    return path


def shown(path: Path) -> str:
    """A file as somebody sees it from where they are."""
    return os.path.relpath(path)


def command(arguments: Sequence[str]) -> str:
    """How a run was started, as somebody else would type it: no address of a database and no folder of this machine."""
    script, *rest = arguments
    path = Path(script)
    short = path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else Path(path.name)
    return shlex.join(["python", short.as_posix(), *(_nameless(one) for one in rest)])


def _nameless(argument: str) -> str:
    if "://" in argument:
        return "URL"
    return re.sub(r"(^|[=:,])[^=:,]*/(?=[^/])", r"\1", argument.rstrip("/"))


def commit() -> str:
    """The commit that ran, with a plus where its code was changed since; `unknown` outside of a repository."""

    def git(*arguments: str) -> str:
        ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "engram", "alembic", "benchmarks", ":!benchmarks/results")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def sha256(*paths: Path) -> str:
    """The hash of a file, or of all files in folders by their names and contents, in hexadecimal digits."""
    files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())
    whole = hashlib.sha256()
    for file in files:
        one = hashlib.sha256()
        with file.open("rb") as stream:
            while block := stream.read(SIZE):
                one.update(block)
        if len(files) == 1:
            return one.hexdigest()
        whole.update(f"{file.name} {one.hexdigest()}\n".encode())
    return whole.hexdigest()


def generated(script: str, rows: str) -> Data:
    """Data that a script makes by itself: what it is, and the hash of that script."""
    path = Path(script)
    return Data(f"made by {path.name}", sha256(path), "generated", rows)


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[..., None]]:
    """Show on the error stream how far a run is. What is yielded takes what is being done, and how much of it is new.

    `with progress("questions", 760) as step: step("conversation 1", 5)`. A bar in a terminal; otherwise a line now and
    then.
    """
    if not sys.stderr.isatty():
        yield _spoken(title, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(title, total=total)

        def step(doing: str = "", done: int = 1) -> None:
            shown.update(task, description=f"{title} {doing}".strip(), advance=done)

        yield step


def _spoken(title: str, total: int) -> Callable[..., None]:
    sofar, last = 0, time.monotonic()

    def step(doing: str = "", done: int = 1) -> None:
        nonlocal sofar, last
        sofar += done
        if time.monotonic() - last >= SAID_EVERY:
            last = time.monotonic()
            print(f"{title}: {sofar:,} of {total:,} {doing}".rstrip(), file=sys.stderr, flush=True)

    return step


# --- the page ---------------------------------------------------------------------------------------------------------


def runs(folder: Path | None = None) -> list[dict[str, Any]]:
    """The results that were saved, in the order of the page."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder or RESULTS).glob("*.json"))]
    places = {name: place for place, name in enumerate(FIRST)}
    return sorted(found, key=lambda run: (places.get(run["name"].partition("-")[0], len(FIRST)), run["name"]))


def page(saved: Sequence[Mapping[str, Any]]) -> str:
    """The page of these runs. Pure."""
    aims = goals.reached(saved)
    aimed = ["## Goals", "", goals.ABOUT, markdown(goals.COLUMNS, aims), ""] if aims else []
    return "\n".join([INTRO, *aimed, *(section(run) for run in saved)])


def section(run: Mapping[str, Any]) -> str:
    """A run's part of the page. Pure."""
    ran_with = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    lines = [f"## {run['title']}", "", run["about"], "", f"    {run['command']}", ""]
    lines += [f"- machine: {run['machine']}", f"- versions: {ran_with}"]
    lines += [f"- commit: {run['commit']}, finished {run['finished_at']}"]
    lines += [f"- data: {_data(one)}" for one in run["data"]]
    lines += ["", *(f"{note}\n" for note in run["notes"])]
    for table in run["tables"]:
        lines += [f"### {table['title']}", "", markdown(table["columns"], table["rows"]), ""]
        lines += [f"{note}\n" for note in table["notes"]]
    for place, plot in enumerate(run["plots"], start=1):
        lines += [f"![{plot['title']}]({PLOTS.name}/{plot_name(run, place)})", ""]
    return "\n".join(lines)


def _data(one: Mapping[str, str]) -> str:
    rows = f", {one['rows']}" if one["rows"] else ""
    return f"{one['name']}{rows}; licence: {one['licence']}; SHA-256 `{one['sha256'][:16]}…`"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table in Markdown: numbers to the right, and a bar in a text does not end its cell. Pure."""
    numbers = [all(not isinstance(row[place], str) for row in rows) for place in range(len(columns))]
    lines = [columns, ["---:" if number else "---" for number in numbers], *rows]
    return "\n".join(f"| {' | '.join(_cell(one) for one in line)} |" for line in lines)


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if isinstance(value, float) else str(value).replace("|", "\\|")


def plot_name(run: Mapping[str, Any], place: int) -> str:
    """The file of a run's plot, of which the first is number 1. Pure."""
    return f"{run['name']}-{place}.svg"


def draw(plot: Mapping[str, Any], path: Path) -> None:
    """Draw a plot into an SVG that is the same whenever it is drawn."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": path.name, "svg.fonttype": "none", "font.size": 9})
    bars = plot["kind"] == "bars"
    figure = Figure(figsize=(8, max(3.0, 0.8 + 0.22 * sum(len(one["x"]) for one in plot["series"])) if bars else 4.5))
    axes = figure.subplots()
    (_bars if bars else _lines)(axes, plot["series"])
    axes.set(title=plot["title"], xlabel=plot["x_label"], ylabel=plot["y_label"])
    for axis in plot["log"]:
        (axes.set_xscale if axis == "x" else axes.set_yscale)("log")
    axes.grid(visible=True, alpha=0.3, axis="x" if bars else "both")
    if len(plot["series"]) > 1:
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _bars(axes: Any, series: Sequence[Mapping[str, Any]]) -> None:
    """Bars that lie, from the top: the labels of the first series name the rows."""
    labels = list(dict.fromkeys(label for one in series for label in one["x"]))
    width = 0.8 / len(series)
    for place, one in enumerate(series):
        at = [labels.index(label) + (place - (len(series) - 1) / 2) * width for label in one["x"]]
        axes.barh(at, one["y"], width, label=one["name"], xerr=_errors(one), error_kw={"elinewidth": 0.8})
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()


def _lines(axes: Any, series: Sequence[Mapping[str, Any]]) -> None:
    for one in series:
        axes.errorbar(one["x"], one["y"], yerr=_errors(one), marker="o", markersize=3, label=one["name"])


def _errors(one: Mapping[str, Any]) -> list[list[float]] | None:
    if not one["low"]:
        return None
    return [
        [max(y - low, 0.0) for y, low in zip(one["y"], one["low"], strict=True)],
        [max(high - y, 0.0) for y, high in zip(one["y"], one["high"], strict=True)],
    ]


def write(saved: Sequence[Mapping[str, Any]], to: Path | None = None, plots: Path | None = None) -> None:
    """Write the page and draw its plots; a plot that no run has any more is taken away."""
    to, plots = to or PAGE, plots or PLOTS
    plots.mkdir(parents=True, exist_ok=True)
    drawn = set()
    for run in saved:
        for place, plot in enumerate(run["plots"], start=1):
            drawn.add(plot_name(run, place))
            draw(plot, plots / plot_name(run, place))
    for file in plots.glob("*.svg"):
        if file.name not in drawn:
            file.unlink()
    to.write_text(page(saved), encoding="utf-8")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    saved = runs()
    write(saved)
    print(f"{shown(PAGE)}: {len(saved)} runs, {sum(len(run['plots']) for run in saved)} plots")


if __name__ == "__main__":
    main()
