"""The desk every command works at: the options all of them share, the way to the door, and the way to the screen."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer

from engram.cli.typed import name_what_was_typed
from engram.errors import EngramError, InvalidInput, NotFound
from engram.scope import ALL_USERS

if TYPE_CHECKING:
    from rich.console import Console

    from engram import Engram
    from engram.settings import Settings
    from engram.values import Value

Option = inspect.Parameter


def option(name: str, kind: Any, *flags: str, help: str, panel: str, default: Any = None) -> Option:
    """One shared option, as a parameter of a command."""
    info = typer.Option(*flags, help=help, rich_help_panel=panel, show_default=False)
    return Option(name, Option.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


WHOSE: Final = "Whose memory"
NOBODY_NAMED: Final = "No user was named: --user reads somebody's memory, --all-users everybody's."
CHANGING: Final = "This change"
OUTPUT: Final = (option("as_json", bool, "--json", help="Print JSON and nothing else.", panel="Output", default=False),)
PLACE: Final = (
    option("database_url", str | None, "--database-url", help="PostgreSQL to use (DATABASE_URL).", panel="Database"),
    option(
        "data_dir",
        str | None,
        "--data-dir",
        help="Folder of the embedded PostgreSQL (ENGRAM_DATA_DIR).",
        panel="Database",
    ),
)
OWNER: Final = (
    option("tenant", str | None, "--tenant", help="Tenant (ENGRAM_TENANT).", panel=WHOSE),
    option("namespace", str | None, "--namespace", help="Namespace (ENGRAM_NAMESPACE).", panel=WHOSE),
    option("agent", list[str] | None, "--agent", help="Agent (ENGRAM_AGENT); reads may name up to 4.", panel=WHOSE),
    option("user", str | None, "--user", help="User (ENGRAM_USER).", panel=WHOSE),
)
READERS: Final = (
    option("all_users", bool, "--all-users", help="Read the rows of every user.", panel=WHOSE, default=False),
    option("no_shared", bool, "--no-shared", help="Leave the namespace `default` out.", panel=WHOSE, default=False),
)
TIMES: Final = (
    option(
        "as_of",
        str | None,
        "--as-of",
        help="What was true then: 2025-05-01, an ISO time, yesterday, 2h ago.",
        panel="Time",
    ),
    option("known_at", str | None, "--known-at", help="What was known then, in the same words.", panel="Time"),
)
LOOKING_BACK: Final = ("as_of", "known_at", "since", "until")  # times of which a bare 2h is two hours ago
CHANGE: Final = (
    option("reason", str | None, "--reason", help="Why, for the history.", panel=CHANGING),
    option("actor", str | None, "--actor", help="Who, for the history.", panel=CHANGING),
    option(
        "idempotency_key",
        str | None,
        "--idempotency-key",
        help="The same key never has its effect twice.",
        panel=CHANGING,
    ),
    option("dry_run", bool, "--dry-run", help="Show what would happen; write nothing.", panel=CHANGING, default=False),
)

HERE: Final = (*PLACE, *OUTPUT)
READ: Final = (*OWNER, *READERS, *TIMES, *HERE)
OWN: Final = (*OWNER, *HERE)
COUNT: Final = (*OWNER, *READERS, *HERE)
WRITE: Final = (*OWNER, *CHANGE, *HERE)


@dataclass(frozen=True, slots=True)
class Desk:
    """What one command was given beside its own arguments."""

    json: bool = False
    database_url: str | None = None
    data_dir: str | None = None
    ids: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)
    write: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> Settings:
        """The settings of this process with what the command line says in their place."""
        from engram.settings import load

        settings = load(database_url=self.database_url, data_dir=self.data_dir)
        if self.data_dir is not None and self.database_url is None:
            # Who names a data folder means the embedded server, whatever the environment says.
            settings = settings.model_copy(update={"database_url": None, "migration_url": None})
        return settings

    @contextmanager
    def door(self, *, hints: bool = True, **ids: Any) -> Iterator[Engram]:
        """An open door in the scope of this command; closed at the end.

        What is not found `hints` at --user where none was named: not for a command that looks among every user's.
        """
        from engram import Engram

        with Engram(settings=self.settings()) as engram:
            if sys.stderr.isatty() and not self.json:
                # The door opens on the first call; a person watching should see that the first start takes a while.
                with self.waiting("Opening the memory"):
                    engram.list_events(limit=0)
            scoped = engram.scoped(**{**self.ids, **ids})
            try:
                yield scoped
            except NotFound as error:
                if hints and scoped.scope.user_id is None:
                    told = str(error).rstrip(".")
                    raise NotFound(f"{told}. No user was named with --user.", **error.facts) from error
                raise

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """A sign of life on stderr while something slow happens; nothing off a terminal."""
        if self.json or not sys.stderr.isatty():
            yield
            return
        with self.screen(error=True).status(f"{what} …"):
            yield

    def show(self, value: Value | Mapping[str, Any], render: Callable[[Console, Any], None]) -> None:
        """Print a result: as JSON if asked for, otherwise for people."""
        if self.json:
            print_json(value if isinstance(value, Mapping) else value.to_dict())
        else:
            render(self.screen(), value)

    def screen(self, *, error: bool = False) -> Console:
        """Where people read: as wide as the terminal, or 120 columns without colour where there is none."""
        from engram.cli.show import Screen

        screen = Screen(stderr=error, highlight=False)
        return screen if screen.is_terminal else Screen(stderr=error, highlight=False, width=120)


def event_id(engram: Engram, given: str) -> str:
    """The full id of an event that may be given as it is printed, such as evt-1a2b3c4d."""
    if not given.startswith("evt-"):
        return given
    [cited] = engram.cite(given, lines=0)
    return cited.citation.event_id


def print_json(data: Any) -> None:
    """One JSON value on stdout, indented for eyes where stdout is a terminal."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(data, ensure_ascii=not is_unicode, indent=2 if sys.stdout.isatty() else None, default=str)
    sys.stdout.write(text + "\n")


def command(work: Callable[..., int | None], options: tuple[Option, ...]) -> Callable[..., int | None]:
    """A function of a desk as a command that takes the shared options too."""
    signature = inspect.signature(work, eval_str=True)
    own = list(signature.parameters.values())[1:]
    parameters = [*own, *options]

    def run(**given: Any) -> int | None:
        shared = {one.name: given[one.name] for one in options}
        try:
            return work(desk_of(shared), **{one.name: given[one.name] for one in own})
        except EngramError as error:
            name_what_was_typed(error, parameters, given)
            raise

    run.__name__, run.__doc__ = work.__name__, work.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def desk_of(given: Mapping[str, Any]) -> Desk:
    """The desk with the shared options that were given."""
    desk = Desk(given.get("as_json", False), given.get("database_url"), given.get("data_dir"))
    ids: dict[str, Any] = {
        "tenant_id": given.get("tenant"),
        "namespace": given.get("namespace"),
        "user_id": given.get("user"),
    }
    agents: list[str] = given.get("agent") or []
    ids["agent_id"] = agents[0] if len(agents) == 1 else tuple(agents) or None
    ids = {name: value for name, value in ids.items() if value is not None}
    if given.get("all_users"):
        if given.get("user") is not None:
            raise InvalidInput("all_users", "no --user beside it", "both")
        ids["user_id"] = ALL_USERS
    if given.get("no_shared"):
        ids["shared"] = False
    read = {name: moment(desk, given[name], name) for name in ("as_of", "known_at") if given.get(name) is not None}
    write = {name: given[name] for name in ("reason", "actor", "idempotency_key") if given.get(name) is not None}
    if given.get("dry_run"):
        write["dry_run"] = True
    return Desk(desk.json, desk.database_url, desk.data_dir, ids, read, write)


def moment(desk: Desk, text: str, name: str) -> datetime:
    """A time a person typed, as a date, an ISO time or in words; without a zone it is read in ENGRAM_TIME_ZONE."""
    from engram.cli import moments

    at = moments.read(text, now=datetime.now(UTC), tz=zone(desk), back=name in LOOKING_BACK)
    if at is None:
        raise InvalidInput(name, moments.EXPECTED, "other text")
    return at


def zone(desk: Desk) -> tzinfo:
    """The time zone in which dates without one are read."""
    name = desk.settings().time_zone
    return UTC if name == "UTC" else ZoneInfo(name)
