"""What is worth keeping of a conversation, and what is kept of it: without any model.

    python benchmarks/worth.py                     both banks, an embedded PostgreSQL
    python benchmarks/worth.py URL --bank open     a migrated database, as the application role
    python benchmarks/worth.py --bank open --show  what was made of nothing worth keeping, and what was missed

A bank is a file of conversations (`histories/*_worth.json`) with, for each message of the user, the facts that a
careful secretary would write down: each by the words that a note of it cannot do without. About half of the messages
hold none: thanks, questions, moods, jokes, errands of the moment, pasted logs. Everything is said through `remember`
and derived by rules alone. A memory is worth it where it holds the words of a fact of its own message; a fact is kept
where a memory made by then holds them. Beside the rules stand those who keep every message, or every sentence. Rules
were mended after a look at the failures of `open`; of `closed` only totals are looked at.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

from banks import Suite
from behaviour import distilled

from engram import Engram
from engram.english.subjects import sentence_spans
from engram.ids import new_id

BANKS: Final = ("open", "closed")
SEALED: Final = ("closed",)  # of these only totals are looked at
BEGIN: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)
STEP: Final = timedelta(minutes=7)
PERCENT: Final = 100
ABOUT: Final = (
    "What is kept of conversations in which half of what is said is worth nothing to a memory. No language model reads "
    "them. Memories that say nothing are what users of such products complain of most: they crowd out of a prompt what "
    "was asked for."
)
COLUMNS: Final = (
    "bank", "what is kept", "messages", "with nothing to keep", "of which a memory was made", "memories", "junk",
    "junk, %", "facts worth keeping", "kept", "kept, %",
)  # fmt: skip
NOTE: Final = (
    "`junk` are the memories that hold no fact worth keeping of their message. `every message` and `every sentence` "
    "are what is left where nobody chooses. The conversations, and what is worth keeping of each, were written by two "
    "who had not seen the rules; the rules were mended after a look at the failures of `open`, of `closed` only totals "
    "are looked at. What makes no memory of its own is not lost: every message stays in the ledger, word for word, and "
    "is found by its words."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, and the facts worth keeping of it: each by the words that a note of it has to have."""

    role: str
    text: str
    keep: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a user and an assistant said to each other."""

    name: str
    turns: tuple[Turn, ...]


@dataclass(slots=True)
class Tally:
    """What one way of keeping made of a bank."""

    messages: int = 0
    empty: int = 0
    of_empty: int = 0
    memories: int = 0
    junk: int = 0
    facts: int = 0
    kept: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def row(self) -> tuple[int, ...]:
        """The numbers of the table, in the order of its columns; shares in whole percent."""
        junk = round(PERCENT * self.junk / max(1, self.memories))
        kept = round(PERCENT * self.kept / max(1, self.facts))
        return (
            self.messages, self.empty, self.of_empty, self.memories, self.junk, junk, self.facts, self.kept, kept,
        )  # fmt: skip


def read(path: Path) -> list[Conversation]:
    """The conversations of a bank. Raises ValueError where a fact is told by words that its message has not."""
    found = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        turns = tuple(
            Turn(turn["role"], turn["text"], tuple(map(tuple, turn.get("keep", ())))) for turn in one["turns"]
        )
        for turn in turns:
            strange = [fact for fact in turn.keep if not fact or not holds(turn.text, fact)]
            if strange:
                raise ValueError(f"{one['name']}: expected words of {turn.text!r}, found {strange}")
        found.append(Conversation(one["name"], turns))
    return found


def holds(text: str, fact: Sequence[str]) -> bool:
    """Whether a text holds all words of a fact, each from the beginning of a word on; a number whole."""
    said = text.casefold()
    ends = ((word.casefold(), r"(?!\w)" if word[-1:].isdigit() else "") for word in fact)
    return all(re.search(rf"(?<!\w){re.escape(word)}{end}", said) is not None for word, end in ends)


def count(conversation: Conversation, kept: Sequence[Sequence[str]], tally: Tally) -> None:
    """Add to a tally what was kept of each message of a conversation."""
    by_now: list[str] = []
    for turn, memories in zip(conversation.turns, kept, strict=True):
        by_now += memories
        if turn.role != "user":
            continue
        junk = [one for one in memories if not any(holds(one, fact) for fact in turn.keep)]
        missed = [fact for fact in turn.keep if not any(holds(one, fact) for one in by_now)]
        tally.messages += 1
        tally.empty += not turn.keep
        tally.of_empty += bool(memories) and not turn.keep
        tally.memories += len(memories)
        tally.junk += len(junk)
        tally.facts += len(turn.keep)
        tally.kept += len(turn.keep) - len(missed)
        tally.notes += [f"junk   {conversation.name}: {one!r} of {turn.text!r}" for one in junk]
        tally.notes += [f"missed {conversation.name}: {fact} of {turn.text!r} got {list(memories)}" for fact in missed]


def by_rules(engram: Engram, conversation: Conversation) -> list[list[str]]:
    """What the rules keep of each message, whatever became of it later."""
    door = engram.scoped(tenant_id=new_id(), user_id="jo")
    messages = [
        {"role": turn.role, "content": turn.text, "occurred_at": BEGIN + place * STEP}
        for place, turn in enumerate(conversation.turns)
    ]
    event_ids = door.remember(messages, wait=120.0).event_ids
    made: dict[str | None, list[str]] = {}
    for row in distilled(door):
        made.setdefault(row.event_id, []).append(row.fact)
    return [made.get(one, []) for one in event_ids]


def every_message(conversation: Conversation) -> list[list[str]]:
    """What is kept where nobody chooses."""
    return [[turn.text] if turn.role == "user" else [] for turn in conversation.turns]


def every_sentence(conversation: Conversation) -> list[list[str]]:
    """What is kept where sentences are told apart, and nobody chooses."""
    return [
        [turn.text[start:end] for start, end in sentence_spans(turn.text)] if turn.role == "user" else []
        for turn in conversation.turns
    ]


def run(
    engram: Engram, conversations: Sequence[Conversation], step: Callable[..., None] = lambda *_: None
) -> Mapping[str, Tally]:
    """What the rules keep of some conversations, beside those who keep everything."""
    found = {"by rules": Tally(), "every sentence": Tally(), "every message": Tally()}
    for one in conversations:
        count(one, by_rules(engram, one), found["by rules"])
        count(one, every_sentence(one), found["every sentence"])
        count(one, every_message(one), found["every message"])
        step(one.name)
    return found


SUITE: Final = Suite(
    name="worth",
    about=ABOUT,
    title="What is worth keeping",
    table="What is kept, and what of it is junk",
    columns=COLUMNS,
    note=NOTE,
    unit="messages",
    banks=BANKS,
    sealed=SEALED,
    own="by rules",
    read=read,
    run=run,
)


def bank(name: str) -> Path:
    """The file of a bank."""
    return SUITE.bank(name)


def main() -> None:
    """Run all banks, or the one that is asked for."""
    SUITE.main(__doc__)


if __name__ == "__main__":
    main()
