"""What an assistant asked and a user answered in a word: what is kept of it, and found again, without any model.

    python benchmarks/asked.py                     all banks, an embedded PostgreSQL
    python benchmarks/asked.py URL --bank open     a migrated database, as the application role
    python benchmarks/asked.py --bank open --show  every failure: junk, what was missed, what was answered wrong

A bank is a file of exchanges (`histories/*_asked.json`): what an assistant said, ending in a question, what the user
answered ("Ottawa, since 2019", "yep, two"), the facts that a careful secretary would write down of both, each by the
words a note of it cannot do without, and a question asked weeks later, with the words of its answer. In a third of them
nothing is worth keeping. Everything is said through `remember` and derived by rules alone: once as it was said, and
once so late after the question that the reply is read alone. Rules were mended after a look at the failures of `open`
and `practice`; of `closed` only totals are looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

from banks import Suite
from behaviour import distilled
from worth import BEGIN, PERCENT, holds

from engram import Engram
from engram.ids import new_id

BANKS: Final = ("open", "practice", "closed")
SEALED: Final = ("closed",)  # of these only totals are looked at
WAYS: Final = {"with the question": timedelta(minutes=1), "the reply alone": timedelta(days=1)}
ABOUT: Final = (
    "What is kept of an exchange in which an assistant asks and a user answers in a word, and what is found of it "
    "weeks later. No language model reads it. Read alone, such a reply says nothing, or something false."
)
COLUMNS: Final = (
    "bank", "what is read", "exchanges", "with nothing to keep", "of which a memory was made", "memories", "junk",
    "facts worth keeping", "kept", "kept, %", "asked weeks later", "right", "wrong",
)  # fmt: skip
NOTE: Final = (
    "`junk` are the memories that hold no fact worth keeping, among them what is denied along with a better answer. A "
    "question asked weeks later is right where the answer holds the words that it must have, and none that it may not. "
    "The exchanges were written by three who had not seen the rules; the rules were mended after a look at the "
    "failures of `open` and `practice`, of `closed` only totals are looked at."
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its reply, the facts worth keeping of both, and what is asked about them later."""

    before: str
    reply: str
    keep: tuple[tuple[str, ...], ...]
    ask: str | None
    expect: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """What was made of the exchanges of a bank."""

    exchanges: int = 0
    empty: int = 0
    of_empty: int = 0
    memories: int = 0
    junk: int = 0
    facts: int = 0
    kept: int = 0
    asked: int = 0
    right: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def row(self) -> tuple[int, ...]:
        """The numbers of the table, in the order of its columns."""
        return (
            self.exchanges, self.empty, self.of_empty, self.memories, self.junk, self.facts, self.kept,
            round(PERCENT * self.kept / max(1, self.facts)), self.asked, self.right, self.wrong,
        )  # fmt: skip


def read(path: Path) -> list[Exchange]:
    """The exchanges of a bank. Raises ValueError where one is told by words that neither side said."""
    found = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        exchange = Exchange(
            one["before"], one["reply"], tuple(map(tuple, one["keep"])), one.get("ask"), tuple(one.get("expect", ())),
            tuple(one.get("not", ())),
        )  # fmt: skip
        said = f"{exchange.before} {exchange.reply}".casefold()
        strange = [fact for fact in exchange.keep if not fact or any(word.casefold() not in said for word in fact)]
        if strange or bool(exchange.keep) != bool(exchange.ask):
            raise ValueError(f"expected words of {said!r} and a question for what is kept, found {strange}")
        found.append(exchange)
    return found


def count(exchange: Exchange, memories: Sequence[str], answer: str, tally: Tally) -> None:
    """Add to a tally what was kept of an exchange, and what was answered later."""
    junk = [one for one in memories if not any(holds(one, fact) for fact in exchange.keep)]
    missed = [fact for fact in exchange.keep if not any(holds(one, fact) for one in memories)]
    wrong = exchange.ask is not None and any(holds(answer, [word]) for word in exchange.wrong)
    right = exchange.ask is not None and not wrong and all(holds(answer, [word]) for word in exchange.expect)
    tally.exchanges += 1
    tally.empty += not exchange.keep
    tally.of_empty += bool(memories) and not exchange.keep
    tally.memories += len(memories)
    tally.junk += len(junk)
    tally.facts += len(exchange.keep)
    tally.kept += len(exchange.keep) - len(missed)
    tally.asked += exchange.ask is not None
    tally.right += right
    tally.wrong += wrong
    said = f"{exchange.before!r} {exchange.reply!r}"
    tally.notes += [f"junk   {one!r} of {said}" for one in junk]
    tally.notes += [f"missed {fact} of {said} got {list(memories)}" for fact in missed]
    tally.notes += [f"wrong  {exchange.ask!r}: {answer!r} of {said}"] if wrong else []


def kept(engram: Engram, exchange: Exchange, later: timedelta) -> tuple[list[str], str]:
    """What the rules keep of an exchange whose reply comes so much later, and what is answered weeks after it."""
    door = engram.scoped(tenant_id=new_id(), user_id="jo")
    door.remember([{"role": "assistant", "content": exchange.before, "occurred_at": BEGIN}], wait=120.0)
    door.remember([{"role": "user", "content": exchange.reply, "occurred_at": BEGIN + later}], wait=120.0)
    answer = "" if exchange.ask is None else door.recall(exchange.ask).answer_text or ""
    return [one.fact for one in distilled(door)], answer


def run(
    engram: Engram, exchanges: Sequence[Exchange], step: Callable[..., None] = lambda *_: None
) -> Mapping[str, Tally]:
    """What is kept and answered of some exchanges, beside what is where each reply is read alone."""
    found = {way: Tally() for way in WAYS}
    for place, one in enumerate(exchanges, 1):
        for way, later in WAYS.items():
            count(one, *kept(engram, one, later), found[way])
        step(f"exchange {place}")
    return found


SUITE: Final = Suite(
    name="asked",
    about=ABOUT,
    title="Asked and answered",
    table="What is kept of an answer, and found",
    columns=COLUMNS,
    note=NOTE,
    unit="exchanges",
    banks=BANKS,
    sealed=SEALED,
    own="with the question",
    read=read,
    run=run,
)


def main() -> None:
    """Run all banks, or the one that is asked for."""
    SUITE.main(__doc__)


if __name__ == "__main__":
    main()
