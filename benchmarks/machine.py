"""What a measurement ran on: the line every benchmark begins with, and the database it uses."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from engram import migrations
from engram.cli.machine import machine, scratch, versions
from engram.embedded import EmbeddedServer

PASSWORD = re.compile(r"(://[^:/?@]*:)[^?]*(?=@)|([?&]password=)[^&]*")


def sizes(given: str) -> tuple[int, ...]:
    """An option of numbers separated by commas, each 1 or more."""
    if not all(one.isdecimal() and int(one) > 0 for one in given.split(",")):
        raise argparse.ArgumentTypeError(f"expected whole numbers from 1, separated by commas, found {given!r}")
    return tuple(int(one) for one in given.split(","))


def number(given: str) -> int:
    """An option of a whole number, 1 or more."""
    if not (given.isdecimal() and int(given) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {given!r}")
    return int(given)


def database(given: str) -> str:
    """An option of the URL of a database."""
    if "://" not in given:
        raise argparse.ArgumentTypeError(f"expected the URL of a database, found {given!r}")
    return given


def some_of(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """An option of names separated by commas, each of them known."""

    def read(given: str) -> tuple[str, ...]:
        unknown = [one for one in given.split(",") if one not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}, found {', '.join(unknown)!r}")
        return tuple(given.split(","))

    return read


def asked_for(about: str | None) -> str | None:
    """The database that a command line may name, and nothing else; says what a benchmark is where that is asked."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", type=database, help="a migrated database; otherwise an embedded one")
    url: str | None = parser.parse_args().url
    return url


@contextmanager
def address(named: str | None, *, superuser: bool = False) -> Iterator[str]:
    """The database that was named, or an embedded one in a temporary folder; first says what it runs on.

    Of an embedded one it is the application role's, or the `superuser`'s.
    """
    if named is not None:
        print(heading(named))
        yield named
        return
    with scratch("engram-bench-") as folder, EmbeddedServer.start(folder / "data") as server:
        migrations.upgrade(server.superuser_url)
        print(heading(server.url()))
        yield server.superuser_url if superuser else server.url()


def heading(url: str) -> str:
    """Machine, versions and command, in three lines, without a password."""
    made_of = ", ".join(f"{name} {version}" for name, version in versions(url).items())
    typed = shlex.join(PASSWORD.sub(r"\1\2***", argument) for argument in sys.argv)
    return f"machine   {machine()}\nversions  {made_of}\ncommand   python {typed}\n"
