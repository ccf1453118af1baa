"""The command that reads conversations from files and from stdin."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, Protocol

import typer

from engram import ingest as reading
from engram.cli.desk import Desk
from engram.errors import InvalidInput

if TYPE_CHECKING:
    from engram import Engram

STDIN: Final = Path("-")


def readable(text: str) -> Path:
    """The file of an argument, which can be read, or stdin for `-`."""
    if text == "-":
        return STDIN
    path = Path(text)
    for is_so, why in (
        (not path.exists(), "does not exist"), (path.is_dir(), "is a directory"),
        (not os.access(path, os.R_OK), "is not readable"),
    ):  # fmt: skip
        if is_so:
            raise typer.BadParameter(f"file {text!r} {why}")
    return path.absolute() if path == STDIN else path  # ./- is a file with that name


Files = Annotated[list[Path], typer.Argument(help="Files to read; - reads stdin.", parser=readable)]


class Bar(Protocol):
    """What shows how far a long piece of work has come."""

    def __call__(self, what: str, done: float) -> None: ...


def ingest(
    desk: Desk,
    files: Files,
    format: Annotated[str, typer.Option("--format", help=", ".join(reading.FORMATS))] = "auto",
    session: Annotated[str | None, typer.Option("--session", help="Session of messages that name none.")] = None,
    derive: Annotated[
        str | None, typer.Option("--derive", help="skip, verbatim, rules, or llm: rules where there is none.")
    ] = None,
) -> None:
    """Read conversations from files, - from stdin; what is there already is not added again."""
    from engram.cli import show

    if files.count(STDIN) > 1:
        raise InvalidInput("files", "- once: stdin is read to its end", "several")
    options: dict[str, Any] = {"derive": derive} if derive else {}
    if desk.write.get("dry_run"):
        desk.show({**read_only(files, format, session), "dry_run": True}, show.plainly)
        return
    options |= {name: value for name, value in desk.write.items() if name != "idempotency_key"}
    with desk.door() as engram, progress(desk) as bar:
        counts: Counter[str] = Counter()
        before = engram.stats()
        for path in files:
            counts += append(engram, path, bar, format=format, session=session, **options)
        after = engram.stats()
    # Counted in the scope and not from the receipts: a batch may be half known, half new.
    added = after.events - before.events
    summary = {
        "files": len(files),
        "events": counts["events"],
        "added": added,
        "known": max(counts["events"] - added, 0),
        "memories": after.memories - before.memories,
        "decisions": {kind[9:]: count for kind, count in counts.items() if kind.startswith("decision:")},
    }
    desk.show(summary, show.plainly)


def append(
    engram: Engram, path: Path, bar: Bar, *, format: str = "auto", session: str | None = None, **write: Any
) -> Counter[str]:
    """Append one file batch by batch; counts of its events and of what was decided about them."""
    counts: Counter[str] = Counter()
    for batch in batches(path, format, session, engram.scope.owner):
        receipt = engram.remember(batch.messages, session_id=batch.session_id, **write)  # type: ignore[arg-type]
        counts["events"] += len(batch.messages)
        if not receipt.duplicate:  # a duplicate tells again what was decided the first time
            counts.update(f"decision:{decision.kind}" for decision in receipt.decisions)
        bar("stdin" if path == STDIN else path.name, batch.done)
    return counts


def batches(path: Path, format: str, session: str | None, owner: Sequence[str | None] = ()) -> Iterator[reading.Batch]:
    """The messages of a file; those of stdin for the name `-`, and of a pipe, such as the shell makes of <(command)."""
    if path != STDIN and path.is_file():
        yield from reading.read(path, format=format, session_id=session, owner=owner)
        return
    # A file without a name, which goes with this process: a format is told by reading from the beginning again.
    with nullcontext(stdin()) if path == STDIN else path.open("rb") as source, tempfile.TemporaryFile() as file:
        shutil.copyfileobj(source, file)
        yield from reading.read_file(file, "stdin", format=format, session_id=session, owner=owner)


def text_in(path: Path) -> str:
    """The whole text of a file, or of stdin for the name `-`."""
    with nullcontext(stdin()) if path == STDIN else path.open("rb") as source:
        try:
            return source.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput("files", "text in UTF-8", "other bytes") from None


def stdin() -> BinaryIO:
    """The bytes of stdin, which may have been put in the place of the real one."""
    return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())


def read_only(files: list[Path], format: str, session: str | None) -> dict[str, Any]:
    """What the files hold, without opening the memory."""
    sessions, events = set(), 0
    for path in files:
        for batch in batches(path, format, session):
            sessions.add(batch.session_id)
            events += len(batch.messages)
    return {"files": len(files), "events": events, "sessions": len(sessions)}


@contextmanager
def progress(desk: Desk) -> Iterator[Bar]:
    """A progress bar on stderr; nothing where stderr is no terminal."""
    if desk.json or not sys.stderr.isatty():
        yield lambda what, done: None  # noqa: ARG005
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=desk.screen(error=True), transient=True) as bars:

        def advance(what: str, done: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what.replace("[", r"\["), total=1.0)
            bars.update(tasks[what], completed=done)

        yield advance
