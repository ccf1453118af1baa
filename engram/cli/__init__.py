"""The command line: one `engram` with a command for each thing a door can do. It holds no logic of its own.

Exit codes: 0 done, 1 failed, 2 not understood, 3 not found, 4 conflict, 5 unavailable, 130 interrupted.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from engram import errors

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
CONFLICT: Final = 4
UNAVAILABLE: Final = 5
INTERRUPTED: Final = 130

# The first class that fits decides.
CODES: Final = (
    (errors.InvalidInput, USAGE),
    (errors.SettingsError, USAGE),
    (errors.PolicyError, USAGE),
    (errors.NotFound, NOT_FOUND),
    (errors.Conflict, CONFLICT),
    (errors.Unavailable, UNAVAILABLE),
    (errors.UnknownOutcome, UNAVAILABLE),
    (errors.EngramError, FAILED),
)


def main() -> None:
    """Run the command line of this process and leave with its exit code."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed by whoever started this process
            setattr(sys, name, io.StringIO())
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what its encoding cannot say is shown as its number
    if "--traceback" not in sys.argv:
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # a connection that is lost is told by us
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command; every failure becomes one sentence on stderr and an exit code, never a traceback."""
    as_json = "--json" in arguments
    try:
        return _ran(arguments, as_json)
    except errors.EngramError as error:
        return failed(as_json, error.code, str(error), code_of(error), **told_of(error))
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has had enough; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return DONE
    except KeyboardInterrupt:
        return failed(as_json, "interrupted", "Interrupted.", INTERRUPTED)
    except OSError as error:
        about = f": {error.filename}" if error.filename else "."
        return failed(as_json, "os_error", f"{error.strerror or 'The system refused'}{about}", FAILED)
    except Exception as error:  # noqa: BLE001 - the last net: a person at a terminal gets a sentence, not a traceback
        if "--traceback" in arguments:
            traceback.print_exc()
        sentence = f"Something unexpected went wrong ({type(error).__name__}); `engram --traceback …` shows where."
        return failed(as_json, "unexpected", sentence, FAILED)


def _ran(arguments: Sequence[str], as_json: bool) -> int:
    """Import the commands, which takes a while, and run one of them."""
    from engram.cli.app import UsageError, call

    try:
        code = call(list(arguments))
        sys.stdout.flush()
        return code
    except UsageError as error:
        # Without any argument the help has been printed already, and there is nothing to add to it.
        says = error.format_message()
        says = f"{says}." if says and says[-1] not in ".?!" else says
        command = "engram" if error.ctx is None else error.ctx.command_path
        return failed(as_json, "usage", f"{says} Try: {command} --help", USAGE) if says else USAGE


def code_of(error: errors.EngramError) -> int:
    """The exit code of an error."""
    return next(code for kind, code in CODES if isinstance(error, kind))


def told_of(error: errors.EngramError) -> dict[str, object]:
    """What a program is told of an error beside its code and text: the field at fault, and events that are kept."""
    return {name: error.facts[name] for name in ("field", "event_ids") if error.facts.get(name) is not None}


def failed(as_json: bool, code: str, sentence: str, exit_code: int, **about: object) -> int:
    """Say what went wrong: a sentence on stderr and, for programs, an object with what is told beside on stdout."""
    print(f"engram: {sentence}", file=sys.stderr)  # noqa: T201
    if as_json:
        with suppress(OSError):  # stdout itself may be what failed
            print(json.dumps({"error": {"code": code, **about, "message": sentence}}))  # noqa: T201
    return exit_code
