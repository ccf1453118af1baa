"""Commands that carry memories out into a file and in from one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from engram.cli.desk import Desk
from engram.errors import InvalidInput
from engram.portable import FORMATS, is_export

if TYPE_CHECKING:
    from engram.values import ExportProgress, ImportProgress

Out = Annotated[Path, typer.Argument(help="The file to write; an export that is there is replaced.")]
In = Annotated[Path, typer.Argument(help="The file to read.")]


def export(
    desk: Desk,
    file: Out,
    format: Annotated[
        str, typer.Option("--format", help="jsonl (lossless), markdown or csv (current memories).")
    ] = "jsonl",
    subject: Annotated[
        str | None, typer.Option("--subject", help="Everything of this user, in every namespace.")
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors of the model in use.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no export, too.")] = False,
) -> None:
    """Write everything the scope holds to a file, as it is at one moment."""
    from engram.cli import show

    if str(file) == "-":
        raise InvalidInput("path", "the name of a file, which an export replaces only once it is whole", "-")
    if not force and file.is_file() and file.stat().st_size and not is_export(file):
        raise InvalidInput("path", "a new file, or --force to replace one that is no export", "one that is none")
    with desk.door() as engram:
        kind = cast("Any", format)
        done = engram.ops.export(file, format=kind, user=subject, vectors=vectors, progress=_exporting(desk))
        desk.show(done, show.export_report)


def import_(
    desk: Desk,
    file: In,
    format: Annotated[str, typer.Option("--format", help=", ".join(FORMATS))] = "auto",
    on_conflict: Annotated[
        str, typer.Option("--on-conflict", help="skip, overwrite or keep_both: an entry that says something else.")
    ] = "skip",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse the whole file if an entry cannot be read.")] = False,
) -> int:
    """Read a file into memory: an export, what another product remembers, or conversations."""
    from engram.cli import FAILED, show

    with desk.door() as engram:
        mode = cast("Any", on_conflict)
        done = engram.ops.import_(
            file, format=format, on_conflict=mode, strict=strict, progress=_importing(desk), **desk.write
        )
        desk.show(done, show.import_report)
    return FAILED if done.problems else 0


def _exporting(desk: Desk) -> Any:
    if desk.json or not sys.stderr.isatty():
        return None

    def told(progress: ExportProgress) -> None:
        print(f"\r\x1b[K{progress.lines} lines", end="", file=sys.stderr, flush=True)  # noqa: T201

    return told


def _importing(desk: Desk) -> Any:
    if desk.json or not sys.stderr.isatty():
        return None

    def told(progress: ImportProgress) -> None:
        share = "" if progress.done is None else f" ({progress.done:.0%})"
        print(f"\r\x1b[K{progress.read} read, {progress.added} new{share}", end="", file=sys.stderr, flush=True)  # noqa: T201

    return told
