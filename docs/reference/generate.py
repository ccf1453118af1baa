"""Writes the pages of this folder that repeat what the code says: api.md, settings.md, errors.md, modules.md.

`make docs` runs it; a test compares the pages with what it would write, so that they cannot drift.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import engram
from engram import errors
from engram import values as known
from engram.client import Engram, Ops
from engram.operations.arguments import Artifact, Attributes, Candidate, Message, NewMemory, Read, ToolCall, Write
from engram.scope import Ids
from engram.settings import PREFIX, Settings

SHORT: Final = 80  # characters of a signature that stands on one line
FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parent.parent
NOTE: Final = "<!-- Written by docs/reference/generate.py: change the code, then run `make docs`. -->"

API: Final = """\
# The Python interface

`Engram` is the door for threads and `AsyncEngram` the door for event loops. Both have every method below, with the same
arguments, results and errors; on `AsyncEngram` a method is awaited. A test holds the two alike. `**read: Read` and the
like are the keys of a typed dictionary, given by keyword: [they are listed below](#keywords). [Errors](errors.md) have
a page of their own.

```python
from engram import Engram

with Engram() as engram:
    ada = engram.scoped(user_id="ada")
    kept = ada.add("Ada prefers tea", importance=0.8)
    print(kept.kind)  # add
    print(ada.get(kept.memory.memory_id).importance)  # 0.8
```

On `AsyncEngram` three names are used otherwise than by `await`: `scoped` asks nobody, a session is opened by
`async with`, and what `follow` gives is read by `async for`. A call may be cancelled at any moment, which is as if its
process had been killed: no transaction is left half done, and the same call may be made again
([with a key](../how-to/send-a-call-again.md)). Functions and models that you give are plain ones, never `async def`; a
model is asked in a thread.

```python
import asyncio

from engram import AsyncEngram


async def main() -> None:
    async with AsyncEngram() as engram:
        bea = engram.scoped(user_id="bea")
        async with bea.session("trip") as talk:
            await talk.remember("I live in Ottawa.")
        print((await bea.recall("Where do I live?")).answer_text)  # User lives in Ottawa
        async for item in bea.follow(types=["user_message"], poll=0):
            print(item.event.content)  # I live in Ottawa.


asyncio.run(main())
```"""

SETTINGS: Final = """\
{note}

# Settings

What belongs to the process, and not to a call or a tenant. Each is read from the environment when a door is opened, or
given as `Engram(settings=Settings(...))`. A name that begins with `{prefix}` and is not in this table is a
`SettingsError`: a misspelt one would otherwise do nothing, in silence. An empty value counts as unset. Of two names the
one that begins with `ENGRAM_` counts.

{table}

Durations are seconds or ISO 8601 (`PT30S`). Secrets are never printed. The address, the scope, the policy and the
embedder may also be arguments of `Engram(...)`; arguments win over settings.

```python
from datetime import timedelta

from engram import Engram, Settings

quick = Settings(statement_timeout=timedelta(seconds=5), user="ada")
with Engram(settings=quick) as engram:
    print(engram.scope.user_id)  # ada
```
"""

MODULES: Final = """\
{note}

# The modules

A map of the code for those who change it, and of no use to those who call it: only what
[the interface](api.md) names is public. A name without a dot imports what stands below it, and never what stands above
it; `make layers` checks that, and more within some packages, whose modules stand here by name. "Pure" says that a
module knows no tables, no model and no clock.

{table}
"""

ERRORS: Final = """\
{note}

# Errors

Whatever goes wrong is an `EngramError`; no exception of the driver crosses a door. The text of an error never holds a
value of yours: values may be secrets. Facts of the case are attributes.

```text
{tree}
```

{table}

`code` is what the command line prints with `--json`, and what logs should count.

```python
from engram import Engram, EngramError, NotFound

with Engram() as engram:
    try:
        engram.get("mem-00000000")
    except NotFound as error:
        print(error.code)  # not_found
    try:
        engram.search("tea", limit=1_000)
    except EngramError as error:
        print(error.code, error.field, error.allowed)  # limit_exceeded limit 200
```
"""

# The typed dictionaries whose keys a call takes by keyword, and what they are for.
KEYWORDS: Final = {
    Ids: "The ids of a scope. Any call may replace those of its door.",
    Read: "What every read takes beside its own arguments.",
    Write: "What every write takes beside its own arguments.",
    Attributes: "What `annotate` and `update` take, beside `Write`.",
    NewMemory: "What `add` takes, beside `Write` and `Attributes`.",
    Candidate: "One item of `add_many`: the fact, and what `add` takes but for `Write`, which the call takes for all.",
    Message: "One message of `remember`; `role` and `content` are required.",
    ToolCall: "One item of `tool_calls` of `record_turn`; `name` is required.",
    Artifact: "One item of `artifacts` of `record_turn`; `name` and `content` are required.",
}
# What leads to an error, and what to do: the one column of errors.md that no code says.
WHEN: Final = {
    "EngramError": "Never raised itself. Catch it to catch everything on this page.",
    "SettingsError": "A door, a profile or a migration is set up wrongly. Correct the setting that the text names.",
    "InvalidInput": "Before any connection is taken. Correct the argument that `field` names; also a `ValueError`.",
    "LimitExceeded": "A text, a batch, a filter or a pinned block is too large. `allowed` says how much fits.",
    "NotFound": "The id does not exist, or not in the scopes of this call: both look the same. Also a `LookupError`.",
    "Conflict": "The memory, job or stream is not in a state that allows the change. Read it again, then decide.",
    "StaleStream": "`expected_position` was given and somebody else appended. `actual` is where the stream is.",
    "IdempotencyMismatch": "A key or an event id came again with another body. Use a new key for a new thing.",
    "AlreadySuperseded": "`expected_revision` was given and somebody else revised. `head` is the current memory.",
    "LeaseLost": "Inside workers only: a job ran longer than its lease. It never reaches the caller of a door.",
    "PolicyError": "A rule or a policy is built wrongly, or no policy has the name.",
    "Unavailable": "PostgreSQL or a model failed, or a wait timed out. Repeat after `retry_after` seconds; with"
    " `event_ids` wait for these: they are in the ledger.",
    "RateLimited": "The provider answered 429. Ask again after `retry_after` seconds; jobs do by themselves.",
    "BudgetSpent": "`ENGRAM_LLM_DAILY_BUDGET` holds no other call. `retry_after` is the time until midnight, UTC.",
    "ModelRejected": "401, 402, 403, 404, 400, or no model is set. Put key, account or name right; jobs wait.",
    "BadOutput": "Not the JSON asked for, twice, or too large. With `too_long` a shorter input may help.",
    "Refused": "A content filter, or the provider's policy. The same question will be refused again.",
    "UnknownOutcome": "The connection broke in a commit without a key. Doors give every write a key, so it is rare.",
    "Damaged": "The hash of a checkpoint does not fit what it holds. Take an earlier one; find who changed the row.",
    "SchemaOutdated": "The schema is older or newer than the library. Run `engram migrate`, or update the library.",
}
FACTS: Final = {
    "InvalidInput": "field, expected, found",
    "LimitExceeded": "field, expected, found, allowed",
    "StaleStream": "expected, actual",
    "AlreadySuperseded": "head",
    "Unavailable": "retry_after, event_ids",
    "RateLimited": "retry_after, status, request_id",
    "BudgetSpent": "retry_after",
    "ModelRejected": "retry_after, status, request_id",
    "BadOutput": "too_long, reason",
    "UnknownOutcome": "key",
    "SchemaOutdated": "found, expected",
}


def pages() -> dict[str, str]:
    """The text of every generated page, by file name."""
    return {"api.md": api(), "settings.md": settings(), "errors.md": error_tree(), "modules.md": modules()}


# api.md --------------------------------------------------------------------------------------------------------------


def api() -> str:
    """Every public method with its signature and what it does, and every public value with its fields."""
    parts = [NOTE, API, code("Engram" + signature(Engram.__init__).removesuffix(" -> None")), said(Engram)]
    for heading, names in grouped(Engram):
        parts.append(f"## {heading}")
        parts += [entry(Engram, name) for name in names]
    parts += ["## Operating: `engram.ops`", f"{said(Ops)} On `AsyncEngram`, `ops` is an `AsyncOps`, awaited."]
    parts += [entry(Ops, name) for _, names in grouped(Ops) for name in names]
    parts += [*keywords(), words(), *values()]
    return "\n\n".join(parts) + "\n"


def grouped(door: type) -> list[tuple[str, list[str]]]:
    """The public names of a class in the order of its source, under the comments that head them there."""
    names = ["scope", "settings", "scoped"] if door is Engram else []
    groups: list[tuple[str, list[str]]] = [("The door", names)]
    for line in inspect.getsource(door).splitlines():
        if heading := re.fullmatch(r"    # (.+)", line):
            groups.append((heading[1], []))
        elif name := re.match(r"    def ([a-z]\w*)\(", line):
            groups[-1][1].append(name[1])
    return [group for group in groups if group[1]]


def entry(door: type, name: str) -> str:
    """One method or property: its signature, and its docstring."""
    member = inspect.getattr_static(door, name)
    if isinstance(member, property):
        returns = member.fget.__annotations__["return"] if member.fget else "Any"
        return f"### {name}\n\n{code(f'{name}: {returns}')}\n\n{said(member)}"
    return f"### {name}\n\n{code(name + signature(member))}\n\n{said(member)}"


def signature(function: Any) -> str:
    """The arguments as a reader needs them: no `self`, typed dictionaries by name, one a line when it is long."""
    found = inspect.signature(function)
    parameters = [one for one in found.parameters.values() if one.name != "self" and one.annotation != "Never"]
    given = [argument(one) for one in parameters]
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        given.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    line = f"({', '.join(given)}) -> {found.return_annotation}"
    if len(line) <= SHORT:
        return line
    return "(\n" + "".join(f"    {one},\n" for one in given) + f") -> {found.return_annotation}"


def argument(parameter: inspect.Parameter) -> str:
    """One argument with its type and default; of an unpacked dictionary, its name."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return f"**{parameter.name}: {str(parameter.annotation).removeprefix('Unpack[').removesuffix(']')}"
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def keywords() -> Iterator[str]:
    """The typed dictionaries, each with its own keys."""
    yield "## Keywords"
    for kind, what in KEYWORDS.items():
        keys = kind.__annotations__
        inherited = {
            name for other in KEYWORDS if other.__annotations__.keys() < keys.keys() for name in other.__annotations__
        }
        own = [(name, spelled(of)) for name, of in keys.items() if name not in inherited]
        yield f"### {kind.__name__}\n\n{what}\n\n" + table(("key", "type"), [(f"`{n}`", f"`{t}`") for n, t in own])


def words() -> str:
    """The types that are a choice of words."""
    rows = [
        (f"`{name}`", ", ".join(f"`{word}`" for word in get_args(kind)))
        for name, kind in vars(known).items()
        if get_origin(kind) is Literal
    ]
    return "## Words\n\n" + table(("type", "one of"), rows)


def values() -> Iterator[str]:
    """The public values, each with its fields and properties: first those of `engram`, then those inside them."""
    yield "## Values"
    yield "All are frozen. Most turn into plain JSON data with `to_dict()` and come back with `from_dict()`."
    public = [getattr(engram, name) for name in engram.__all__]
    inner = [value for value in vars(known).values() if getattr(value, "__module__", "") == known.__name__]
    for value in dict.fromkeys([*public, *inner]):
        if isinstance(value, type) and is_dataclass(value):
            yield one_value(value)


def one_value(value: type) -> str:
    """One value: what it is, its fields, its properties and methods."""
    rows = [(f"`{f.name}`", f"`{spelled(f.type)}`") for f in fields(value) if f.init]
    text = f"### {value.__name__}\n\n{said(value)}\n\n" + table(("field", "type"), rows)
    lines = [f"- `{one}`: {said(inspect.getattr_static(value, one))}" for one in vars(value) if is_public(value, one)]
    return "\n\n".join([text, "\n".join(lines)]) if lines else text


def is_public(value: type, name: str) -> bool:
    """Whether a name is a documented property or method that is written in this very class."""
    member = inspect.getattr_static(value, name)
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    own = inspect.isfunction(function) and not name.startswith("_") and name not in ("to_dict", "from_dict")
    return own and bool(function.__doc__)


# settings.md ---------------------------------------------------------------------------------------------------------


def settings() -> str:
    """Every setting with its default and what it means."""
    rows = []
    for name, field in Settings.model_fields.items():
        also = " or `DATABASE_URL`" if name == "database_url" else ""
        default = shown(field.get_default())
        rows.append((f"`{PREFIX}{name.upper()}`{also}", f"`{name}`", default, field.description or ""))
    listed = table(("environment", "field", "default", "meaning"), rows)
    return SETTINGS.format(note=NOTE, prefix=PREFIX, table=listed)


def shown(default: Any) -> str:
    """A default as a person would write it into the environment."""
    if default is None or default in ((), {}):
        return "unset"
    if isinstance(default, timedelta):
        return f"`{default.total_seconds():.15g}` seconds"
    return f"`{default}`"


# errors.md -----------------------------------------------------------------------------------------------------------


def error_tree() -> str:
    """Every error with its code, its meaning, and when it is raised."""
    tree = (errors.__doc__ or "").split("\n\n")[1].strip()
    rows = []
    for kind in kinds(errors.EngramError):
        name = kind.__name__
        facts = ", ".join(f"`{fact}`" for fact in FACTS.get(name, "").split(", ") if fact)
        rows.append((f"`{name}`", f"`{kind.code}`", said(kind), WHEN[name], facts))
    listed = table(("class", "code", "meaning", "when, and what to do", "attributes"), rows)
    return ERRORS.format(note=NOTE, tree=tree, table=listed)


def kinds(kind: type[errors.EngramError]) -> Iterator[type[errors.EngramError]]:
    """A class and those below it, as the tree prints them; not what someone else derived from them."""
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from kinds(below)


# Modules -------------------------------------------------------------------------------------------------------------


def modules() -> str:
    """The page of the modules, the highest layer first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [rooms] = [one for one in contracts if one["containers"] == ["engram"]]
    rows = [
        (f"`{name}`", summary)
        for layer in rooms["layers"]
        for room in layer.split(" | ")
        for name, summary in summaries(ROOT / "engram" / room)
    ]
    return MODULES.format(note=NOTE, table=table(("module", "what it is"), rows))


def summaries(room: Path) -> Iterator[tuple[str, str]]:
    """The name and the first line of a module, or of a package and then of each of its modules."""
    files = [room.with_suffix(".py")] if not room.is_dir() else [room / "__init__.py", *sorted(room.rglob("*.py"))]
    for file in dict.fromkeys(files):
        path = file.relative_to(ROOT / "engram").with_suffix("")
        parts = path.parts[:-1] if path.name == "__init__" else path.parts
        yield ".".join(parts), (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()[0]


# Shared --------------------------------------------------------------------------------------------------------------


def said(thing: Any) -> str:
    """A docstring with each paragraph on one line; examples keep theirs."""
    paragraphs = inspect.cleandoc(thing.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def spelled(annotation: Any) -> str:
    """A type as the source writes it."""
    text = getattr(annotation, "__forward_arg__", None) or (
        annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    )
    required = re.fullmatch(r"Required\[(.*)\]", str(text))
    return required[1] if required else str(text)


def code(text: str) -> str:
    """A block of text that is shown and not run."""
    return f"```text\n{text}\n```"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table; a bar inside a cell is escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    for page, content in pages().items():
        (FOLDER / page).write_text(content, encoding="utf-8")
