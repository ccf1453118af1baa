"""Commands on the database: start and stop the embedded one, migrate, verify, look after it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engram.cli.desk import Desk, moment
from engram.errors import Unavailable

FAILED = 1


def up(desk: Desk) -> None:
    """Start the embedded PostgreSQL so that it stays, and migrate it; with a DATABASE_URL, migrate that one."""
    from engram import embedded, migrations
    from engram.cli import show

    settings = desk.settings()
    if settings.database_url is not None:
        migrate(desk)
        return
    with desk.waiting("Starting PostgreSQL"), embedded.start(settings.data_dir, keep=True) as server:
        migrations.upgrade(server.superuser_url)
        about = {"url": plain_url(server.url()), "data_dir": str(server.data_dir), "postgresql": server.major,
                 "pid": server.pid, "schema": migrations.head()}  # fmt: skip
    desk.show(about, show.plainly)


def down(desk: Desk) -> None:
    """Stop the embedded PostgreSQL, whoever uses it."""
    from engram import embedded
    from engram.cli import show

    folder = desk.settings().data_dir
    before = embedded.status(folder)
    stopped = embedded.stop(folder)
    desk.show({"stopped": stopped, "data_dir": str(before.data_dir), "users": len(before.users)}, show.plainly)


def url(desk: Desk) -> None:
    """Print the address of the database, for psql and others."""
    from engram import embedded
    from engram.database import without_passwords

    settings = desk.settings()
    if settings.database_url is not None:
        address = without_passwords(settings.database_url.get_secret_value())
    else:
        found = embedded.status(settings.data_dir)
        if not found.running or found.socket_dir is None:
            raise Unavailable("The embedded PostgreSQL is not running: `engram up` starts it.")
        address = plain_url(embedded.sqlalchemy_url(found.socket_dir, "engram_app", embedded.DATABASE))
    desk.show({"url": address}, lambda console, data: console.print(data["url"], soft_wrap=True, markup=False))


def migrate(
    desk: Desk,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")] = False,
) -> None:
    """Bring the database's schema to the revision of this library."""
    from engram import embedded, migrations
    from engram.cli import show

    settings = desk.settings()
    address = settings.migration_url or settings.database_url
    server = None if address else embedded.start(settings.data_dir)
    try:
        target = address.get_secret_value() if address else server.superuser_url  # type: ignore[union-attr]
        before = migrations.current(target)
        if not dry_run:
            with desk.waiting("Migrating"):
                migrations.upgrade(target)
        after: Any = (
            {"dry_run": True, "needed": before != migrations.head()}
            if dry_run
            else {"after": migrations.current(target)}
        )
    finally:
        if server is not None:
            server.close()
    desk.show({"before": before or "nothing", "head": migrations.head(), **after}, show.plainly)


def verify(desk: Desk) -> int:
    """Recompute the ledger's hash chain, of every user where none is named, and name the first bad position."""
    from engram.cli import show
    from engram.scope import ALL_USERS

    everybody: dict[str, Any] = {} if "user_id" in desk.ids else {"user_id": ALL_USERS}
    with desk.door(**everybody) as engram:
        report = engram.ops.verify_ledger()
        desk.show(report, show.verification)
    return 0 if report.ok else FAILED


def doctor(desk: Desk) -> int:
    """Check the database, its roles, indexes and jobs, and Redis where one is set, and say what repairs them."""
    from engram.cli import show

    with desk.door() as engram:
        report = engram.ops.doctor()
        desk.show(report, show.checks)
    return 0 if report.ok else FAILED


def health(
    desk: Desk,
    no_probe: Annotated[bool, typer.Option("--no-probe", help="Ask the embedding model nothing.")] = False,
) -> int:
    """Say how well the memory is served now, and by which tier; also where the database is down."""
    from engram import Engram
    from engram.cli import show

    with Engram(settings=desk.settings()) as engram, desk.waiting("Looking at the memory"):
        report = engram.scoped(**desk.ids).health(probe_embedder=not no_probe)
    desk.show(report, show.health)
    return 0 if report.ok else FAILED


def stats(desk: Desk) -> None:
    """Count what the memory holds."""
    from engram.cli import show

    with desk.door() as engram:
        desk.show(engram.stats(), show.statistics)


def usage(
    desk: Desk,
    by: Annotated[str, typer.Option("--by", help="component, model or day.")] = "component",
    since: Annotated[str | None, typer.Option("--since", help="From this day or time on.")] = None,
) -> None:
    """Count what language models took, of every user where none is named: calls, tokens, dollars."""
    from engram.cli import show
    from engram.scope import ALL_USERS

    everybody: dict[str, Any] = {} if "user_id" in desk.ids else {"user_id": ALL_USERS}
    start = None if since is None else moment(desk, since, "since")
    with desk.door(**everybody) as engram:
        rows = engram.ops.usage(since=start, group_by=by)  # type: ignore[arg-type]
        desk.show({"by": by, "usage": [row.to_dict() for row in rows]}, show.usage)


def plain_url(address: str) -> str:
    """The address without the name of the Python driver in it, as psql wants it."""
    return address.replace("postgresql+psycopg://", "postgresql://", 1)
