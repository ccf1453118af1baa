"""The list of commands, and the call that runs one of them."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Final

import typer

from engram import __version__
from engram.cli import (
    INTERRUPTED,
    alike,
    bench,
    carrying,
    cycles,
    demo,
    erasures,
    events,
    files,
    graph,
    jobs,
    life,
    long_inputs,
    memories,
    models,
    recalls,
    replays,
    server,
    sessions,
    tasks,
    topics,
    weight,
    worker,
)
from engram.cli.desk import COUNT, HERE, OWN, OWNER, READ, WRITE, Option, command

# The root of every "I did not understand that" of the argument parser.
UsageError: Any = typer.BadParameter.__mro__[2]

# (name, what it runs, the options it shares with others, the panel of the help it stands in)
COMMANDS: Final[tuple[tuple[str, Any, tuple[Option, ...], str], ...]] = (
    ("demo", demo.demo, HERE, "Start"),
    ("ingest", files.ingest, WRITE, "Start"),
    ("remember", memories.remember, WRITE, "Write"),
    ("add", memories.add, WRITE, "Write"),
    ("revise", memories.revise, WRITE, "Write"),
    ("annotate", memories.annotate, WRITE, "Write"),
    ("end", memories.end, WRITE, "Write"),
    ("forget", memories.forget, WRITE, "Write"),
    ("restore", memories.restore, WRITE, "Write"),
    ("endorse", memories.endorse, WRITE, "Write"),
    ("recall", memories.recall, READ, "Read"),
    ("search", memories.search, READ, "Read"),
    ("deep-search", memories.deep_search, READ, "Read"),
    ("triggers", memories.triggers, READ, "Read"),
    ("context", memories.context, READ, "Read"),
    ("resume", memories.resume, READ, "Read"),
    ("get", memories.get, READ, "Read"),
    ("list", memories.list_, READ, "Read"),
    ("history", memories.history, READ, "Read"),
    ("timeline", memories.timeline, READ, "Read"),
    ("decisions", memories.decisions, READ, "Read"),
    ("lineage", memories.lineage, READ, "Read"),
    ("explain", memories.explain, READ, "Read"),
    ("cite", memories.cite, READ, "Read"),
    ("why", recalls.why, READ, "Read"),
    ("trace", recalls.trace, READ, "Read"),
    ("event search", events.search, READ, "Read"),
    ("event list", events.list_, READ, "Read"),
    ("long record", long_inputs.record, WRITE, "Work"),
    ("long context", long_inputs.context, READ, "Work"),
    ("session list", sessions.list_, READ, "Work"),
    ("session show", sessions.show_, READ, "Work"),
    ("session end", sessions.end, WRITE, "Work"),
    ("session replay", sessions.replay, READ, "Work"),
    ("up", server.up, HERE, "Database"),
    ("down", server.down, HERE, "Database"),
    ("url", server.url, HERE, "Database"),
    ("migrate", server.migrate, HERE, "Database"),
    ("worker", worker.worker, HERE, "Jobs"),
    ("task start", tasks.start, WRITE, "Write"),
    ("task list", tasks.list_, READ, "Read"),
    ("task show", tasks.show_, READ, "Read"),
    ("task update", tasks.update, WRITE, "Write"),
    ("task resume", tasks.resume, WRITE, "Write"),
    ("task forget", tasks.forget, WRITE, "Write"),
    ("task restore", tasks.restore, WRITE, "Write"),
    ("graph relate", graph.relate, WRITE, "Write"),
    ("graph unrelate", graph.unrelate, WRITE, "Write"),
    ("graph list", graph.list_, READ, "Read"),
    ("graph traverse", graph.traverse, READ, "Read"),
    ("graph path", graph.path, READ, "Read"),
    ("checkpoint save", tasks.save, WRITE, "Write"),
    ("checkpoint list", tasks.checkpoints, READ, "Read"),
    ("jobs list", jobs.list_, COUNT, "Jobs"),
    ("jobs dead", jobs.dead, COUNT, "Jobs"),
    ("jobs retry", jobs.retry, WRITE, "Jobs"),
    ("jobs cancel", jobs.cancel, WRITE, "Jobs"),
    ("backlog", jobs.backlog, COUNT, "Jobs"),
    ("models", models.models, (OWNER[0], *HERE), "Models"),
    ("models calibrate", models.calibrate, (OWNER[0], *HERE), "Models"),
    ("reembed", models.reembed, (OWNER[0], *HERE), "Models"),
    ("reindex-words", models.reindex_words, (OWNER[0], *HERE), "Models"),
    ("replay run", replays.run, WRITE, "Data"),
    ("replay list", replays.list_, OWN, "Data"),
    ("replay diff", replays.diff, OWN, "Data"),
    ("replay switch", replays.switch, WRITE, "Data"),
    ("replay drop", replays.drop, WRITE, "Data"),
    ("topics", topics.list_, COUNT, "Read"),
    ("topic", topics.open_, COUNT, "Read"),
    ("runs", life.runs, COUNT, "Life"),
    ("undo", life.undo, WRITE, "Life"),
    ("archive", life.archive, WRITE, "Life"),
    ("layer", life.layer, WRITE, "Life"),
    ("consolidate", cycles.consolidate, WRITE, "Life"),
    ("prune", cycles.prune, WRITE, "Life"),
    ("merge", alike.merge, WRITE, "Life"),
    ("clusters", alike.clusters, OWN, "Life"),
    ("summarise", alike.summarise, WRITE, "Life"),
    ("tidy", alike.tidy, WRITE, "Life"),
    ("decay", weight.decay, COUNT, "Life"),
    ("feedback", weight.feedback, WRITE, "Life"),
    ("policy simulate", weight.simulate, OWN, "Life"),
    ("audit", weight.audit, COUNT, "Life"),
    ("export", carrying.export, COUNT, "Data"),
    ("import", carrying.import_, WRITE, "Data"),
    ("erase", erasures.erase, WRITE, "Data"),
    ("apply-redactions", erasures.apply_redactions, WRITE, "Data"),
    ("recall-log list", recalls.list_, OWN, "Watch"),
    ("recall-log show", recalls.show_, OWN, "Watch"),
    ("recall-log replay", recalls.replay, OWN, "Watch"),
    ("verify", server.verify, COUNT, "Watch"),
    ("doctor", server.doctor, COUNT, "Watch"),
    ("health", server.health, (OWNER[0], *HERE), "Watch"),
    ("stats", server.stats, COUNT, "Watch"),
    ("usage", server.usage, COUNT, "Watch"),
    ("bench", bench.bench, HERE, "Watch"),
)

SIGNED: Final = ("feedback",)  # commands with an argument that may begin with a minus
# What the commands of two words are about.
GROUPS: Final = {
    "recall-log": "Look at what was recalled, and recall it again.",
    "event": "Search and read what was said and done.",
    "long": "Record texts too long for a message, and read their passages.",
    "session": "Look at conversations, and end them.",
    "task": "Begin long work, say how it stands, and take it up again.",
    "checkpoint": "Save where a task stands, and look at what was saved.",
    "graph": "Relate memories, and see where relations lead.",
    "replay": "Derive memories again beside the live ones, compare, and switch.",
    "policy": "Try a policy before it is used.",
    "jobs": "Look at the work that waits, and do something about what failed.",
    "models": "List the tenant's embedding models, the one in use first; or measure what its cosines mean.",
}


def call(arguments: list[str]) -> int:
    """Run the command the arguments name; its exit code."""
    try:
        program = typer.main.get_command(built(named(arguments)))
        code = program.main(arguments, prog_name="engram", standalone_mode=False)
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # so it leaves where the reader has had enough
            raise left.__context__ from None
        raise
    if code == INTERRUPTED:  # what the argument parser makes of Ctrl-C, without a word
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def named(arguments: list[str]) -> str | None:
    """The first word of the command that the arguments name; None where they name none, or ask for help on all."""
    word = next((argument for argument in arguments if argument != "--traceback"), None)
    return word if any(word == name.partition(" ")[0] for name, *_ in COMMANDS) else None


def built(word: str | None = None) -> typer.Typer:
    """The application with all its commands, or with those alone that begin with a word.

    To make all of them takes longer than most of them run.
    """
    app = typer.Typer(
        help="The long-term memory of AI agents that lives in PostgreSQL.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    groups: dict[str, typer.Typer] = {"": app}
    for name, work, shared, panel in COMMANDS:
        if word not in (None, name.partition(" ")[0]):
            continue
        group, _, own = name.rpartition(" ")
        made = command(work, shared)
        if name in GROUPS:  # by its own name it is a command too
            groups[name] = typer.Typer(invoke_without_command=True, callback=alone(made))
            app.add_typer(groups[name], name=name, help=GROUPS[name], rich_help_panel=panel)
            continue
        if group not in groups:
            groups[group] = typer.Typer(no_args_is_help=True)
            app.add_typer(groups[group], name=group, help=GROUPS[group], rich_help_panel=panel)
        settings = {"ignore_unknown_options": True} if name in SIGNED else None
        groups[group].command(own, rich_help_panel=None if group else panel, context_settings=settings)(made)
    return app


def alone(made: Any) -> Any:
    """A command that is also a group: it runs where none of the group's was named."""

    def run(ctx: typer.Context, **given: Any) -> Any:
        if ctx.invoked_subcommand is None:
            return made(**given)
        sources = (ctx.get_parameter_source(name) for name in given)
        if any(source is not None and source.name == "COMMANDLINE" for source in sources):
            raise typer.BadParameter(f"put the options behind {ctx.invoked_subcommand}")
        return None

    own = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [own, *inspect.signature(made).parameters.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def print_version(wanted: bool) -> None:
    """Print the version and leave; an option's own callback runs before a command is asked for."""
    if wanted:
        typer.echo(f"engram {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=print_version)
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where an unexpected error arose.")] = False,
) -> None:
    """The long-term memory of AI agents that lives in PostgreSQL."""
