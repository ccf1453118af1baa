"""What every data set becomes: conversations with questions about them, and which of these a run asks.

A set may be larger than the memory of a machine, so its conversations are read one after the other, and more than once:
first to count them (`look`), then to ask what was chosen (`only`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One message of a conversation, and the name that evidence calls it by.

    Two turns of one name are one to the evidence: either is enough.
    """

    key: str
    session: str
    message: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, its kind, the turns and the sessions that hold its answer, and the answer, where there is one.

    `evidence` is empty where a set labels sessions only; both are where the answer is nowhere, or nobody labelled it.
    `aside` names turns that share the scope and are not there for this question: what is found of them is passed over.
    """

    text: str
    category: str
    evidence: frozenset[str]
    sessions: frozenset[str] = frozenset()
    answer: str = ""
    choices: tuple[str, ...] = ()
    held_out: bool = False  # nobody who tunes looks at it
    aside: frozenset[str] = frozenset()

    @property
    def labelled(self) -> bool:
        """Whether there is something to find."""
        return bool(self.evidence or self.sessions)


@dataclass
class Case:
    """One conversation, which gets a scope of its own, and what is asked about it."""

    name: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    repaired: int = 0  # evidence ids that were not written as the turns' are
    dropped: int = 0  # evidence ids that name no turn
    asked_at: datetime | None = None  # where the set says it
    chosen: Collection[str] | None = None  # the names of the questions that are asked; all where it is None

    @property
    def ended_at(self) -> datetime | None:
        """When the questions are asked: where the set does not say it, when the last turn was said; None if undated."""
        times = [_moment(turn.message["occurred_at"]) for turn in self.turns if turn.message.get("occurred_at")]
        return self.asked_at or max(times, default=None)

    def asked(self) -> Iterator[tuple[str, Question]]:
        """The questions that are asked, by the name that each has in every run."""
        for number, question in enumerate(self.questions):
            name = f"{self.name}#{number}"
            if self.chosen is None or name in self.chosen:
                yield name, question

    def ask(self, text: str, category: str, evidence: Iterable[str], answer: object = "", **more: Any) -> None:
        """Add a question, with the evidence that there is; without any it is left out."""
        question = self.question(text, category, evidence, answer, **more)
        self.questions += [question] if question.labelled else []

    def question(self, text: str, category: str, evidence: Iterable[str], answer: object = "", **more: Any) -> Question:
        """A question with the evidence that there is: what names no turn is counted."""
        sessions, named = {turn.key: turn.session for turn in self.turns}, frozenset(evidence)
        known = named & sessions.keys()
        self.dropped += len(named - known)
        within = frozenset(sessions[key] for key in known)
        return Question(text, category, known, within, str(answer), **more)


def _moment(written: datetime | str) -> datetime:
    return written if isinstance(written, datetime) else datetime.fromisoformat(written)


# --- which of them ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """What a first reading of a set found: how much there is, and the names of the questions that can be asked."""

    cases: int
    turns: int
    names: Sequence[str]
    kinds: Mapping[str, int]  # how many questions of each kind can be asked
    others: int  # questions that cannot
    repaired: int
    dropped: int

    @property
    def conversations(self) -> frozenset[str]:
        """The conversations that something can be asked about."""
        return frozenset(name.rpartition("#")[0] for name in self.names)

    def told(self) -> str:
        """The counts, as a sentence each. Pure."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        shown = f" ({kinds})" if kinds else ""
        lines = [f"{self.cases:,} conversations, {self.turns:,} turns, {len(self.names):,} questions{shown}"]
        lines += [f"{self.others:,} questions are not asked here"] if self.others else []
        lines += [f"evidence: {self.repaired:,} ids mended, {self.dropped:,} that name no turn left out"]
        return "\n".join(lines)


def look(cases: Iterable[Case], wanted: Callable[[Question], bool]) -> Look:
    """Count conversations and what is wanted of their questions; leaves the program where two have one name."""
    names: list[str] = []
    kinds: Counter[str] = Counter()
    seen: set[str] = set()
    turns = others = repaired = dropped = 0
    for case in cases:
        if case.name in seen:
            raise SystemExit(f"two conversations of this data are called {case.name!r}: read them one path at a time")
        seen.add(case.name)
        turns, repaired, dropped = turns + len(case.turns), repaired + case.repaired, dropped + case.dropped
        for name, question in case.asked():
            if wanted(question):
                names.append(name)
                kinds[question.category] += 1
            else:
                others += 1
    return Look(len(seen), turns, names, kinds, others, repaired, dropped)


def draw(names: Sequence[str], limit: int | None, seed: int) -> Collection[str]:
    """So many of these names, drawn by a seed; a larger draw holds every smaller one of its seed. Pure."""
    if limit is None:
        return frozenset(names)
    mixed = list(names)
    random.Random(seed).shuffle(mixed)
    return frozenset(mixed[:limit])


def only(cases: Iterable[Case], names: Collection[str]) -> Iterator[Case]:
    """The conversations that have one of these questions, which are all that is asked of them."""
    for case in cases:
        case.chosen = names
        if any(case.asked()):
            yield case
