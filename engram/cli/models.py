"""Commands on embedding models: which there are, and the change from one to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from engram.cli.desk import Desk
from engram.cli.files import readable, text_in
from engram.cli.memories import json_object
from engram.values import ReembedProgress, ReindexProgress

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show how many memories there are; write nothing.")]


def models(desk: Desk) -> None:
    """List the tenant's embedding models, the one in use first."""
    from engram.cli import show

    with desk.door() as engram:
        found = engram.ops.list_models()
        desk.show({"models": [one.to_dict() for one in found]}, lambda console, _: show.models(console, found))


def calibrate(
    desk: Desk,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            help="Texts of your own, - from stdin: lines of JSON with fact, paraphrase, changed and question.",
            parser=readable,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell; judge as before.")] = False,
) -> None:
    """Measure what the cosines of the tenant's embedding model mean, and judge by that from then on."""
    from engram.cli import show

    given: Any = None
    if pairs is not None:
        lines = enumerate(text_in(pairs).split("\n"), 1)
        given = [json_object(line, f"pairs, line {number}") for number, line in lines if line.strip()]
    with desk.door() as engram:
        desk.show(engram.ops.calibrate(given, keep=not dry_run), show.calibration)


def reembed(
    desk: Desk,
    model: Annotated[
        str, typer.Option("--model", help="The model to change to, such as openai/text-embedding-3-small.")
    ],
    batch_size: Annotated[int, typer.Option("--batch-size", help="Memories embedded at a time.")] = 100,
    no_switch: Annotated[
        bool, typer.Option("--no-switch", help="Build and compare; leave the old model in use.")
    ] = False,
    keep_old: Annotated[bool, typer.Option("--keep-old", help="Keep the old vectors, to go back for nothing.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Change the tenant's embedding model while it is read and written; killed, it goes on when it is run again."""
    from engram.cli import show

    with desk.door() as engram:
        watch: Any = None if desk.json or not sys.stderr.isatty() else _line
        told = engram.ops.reembed(
            model, batch_size=batch_size, switch=not no_switch, drop=not keep_old, dry_run=dry_run, progress=watch
        )
        if watch is not None:
            sys.stderr.write("\n")
        desk.show(told, show.reembedding)


def reindex_words(
    desk: Desk,
    config: Annotated[
        str | None, typer.Option("--config", help="Another text search configuration, such as simple or german.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Read the words of all the tenant's memories anew, by its text search configuration or another."""
    from engram.cli import show

    with desk.door() as engram:
        watch: Any = None if desk.json or not sys.stderr.isatty() else _count
        told = engram.ops.reindex_words(config, dry_run=dry_run, progress=watch)
        if watch is not None:
            sys.stderr.write("\n")
        desk.show(told, show.reindexing)


def _count(told: ReindexProgress) -> None:
    sys.stderr.write(f"\r\x1b[K{told.memories} memories read")
    sys.stderr.flush()


def _line(told: ReembedProgress) -> None:
    left = "" if told.seconds_left is None else f", {told.seconds_left:.0f} s left"
    share = "" if told.overlap is None else f", overlap {told.overlap:.2f}"
    sys.stderr.write(f"\r\x1b[K{told.state}: {told.done} of {told.total}, {told.rate:.0f}/s{left}{share}")
    sys.stderr.flush()
