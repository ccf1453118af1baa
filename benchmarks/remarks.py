"""What is answered of a life that somebody told, and what an ordinary remark puts away of it.

    python benchmarks/remarks.py                       all banks, an embedded PostgreSQL
    python benchmarks/remarks.py URL --bank hunted     a migrated database, as the application role
    python benchmarks/remarks.py --bank hunted --show  its remarks that put away too much, or too little

A bank is a file of lives (`histories/*_remarks.json`): facts that somebody tells of himself, and remarks, each with the
facts that are no longer true after it, by the judgement of who wrote it. Most end nothing: they are about a part of a
thing, one occasion, somebody else's, another one beside it, a plan, a wish, a question. Each remark is made alone, to a
memory that was told the whole life. Then it is looked up what is left, and the questions of the life are asked: those
of what a remark ended, and all of them where it ended nothing. Before any remark each question is asked of its own
life, and of another one of the bank, which mostly cannot answer it; where all-MiniLM-L6-v2 is installed, once more with
that, as it is and calibrated. Everything is said through `remember` and derived
by rules alone. Rules were mended after a look at the failures of `hunted`, `daily` and `office`; of `plain` and `trade`
only totals are looked at.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import report
from behaviour import distilled
from machine import address, database, versions
from minilm import DISTRIBUTION, InACone, MiniLM, is_installed

from engram import Engram
from engram.ids import new_id
from engram.values import Memory

FOLDER: Final = Path(__file__).parent / "histories"
ENDING: Final = "_remarks.json"
BANKS: Final = ("hunted", "daily", "plain", "office", "trade")
SEALED: Final = ("plain", "trade")  # of these only totals are looked at
BEGIN: Final = datetime(2025, 1, 1, 9, tzinfo=UTC)
STEP: Final = timedelta(days=5)
ABOUT: Final = (
    "What is answered of a life of some thirty facts, and what is put away of it by one ordinary remark. No language "
    "model reads either. Losing what is still so is the worst that a memory can do, and histories made by rules hold "
    "few remarks about a part, a case or a purpose of what was told: these were written for it by hand."
)
COLUMNS: Final = (
    "bank", "lives", "facts", "with a memory", "remarks", "that lost a fact", "facts lost", "facts ended",
    "and put away", "asked about", "and told", "that end nothing", "and told of another",
)  # fmt: skip
ASKED: Final = (
    "bank", "questions", "answered by their fact", "by another", "not answered", "asked of another life",
    "and answered there",
)  # fmt: skip
BY_OTHERS: Final = ("embedder", "thresholds", *ASKED)
OTHERS_NOTE: Final = (
    "The same with all-MiniLM-L6-v2, a better embedder than the local one, and with the same vectors in a narrow cone, "
    "as those of many providers lie: a direction that all of them have is put beside their own. `calibrated`: after "
    "`ops.calibrate()`. Of another life as few should be answered as by the local model above."
)
ASKED_NOTE: Final = (
    "`answered by their fact` are the questions whose answer cites what they are about, `by another` those whose "
    "answer does not. `asked of another life` are the same questions, asked of the next life of the bank: few of them "
    "can be answered there, so most of those that are tell something else. The facts of `daily` and `plain` are of "
    "private lives, the questions near to their words; those of `office` and `trade` are of work with agents, and "
    "asked as somebody asks who does not know how it was said."
)
NOTE: Final = (
    "`facts lost` were put away though they are still so, one remark may lose several; `facts ended` are no longer "
    "true after a remark, and had a memory; `and put away` are those of them of which none is left as current. `asked "
    "about` are the ended facts whose question was asked, `and told` those whose answer tells what the remark said of "
    "them; `that end nothing` are the remarks after which every question of the life was asked, `and told of another` "
    "those that some answer tells as said since, of a fact that they do not end: a line too many, and nothing is lost. "
    "`hunted`, which has no questions, was written to find remarks that put away too much, by somebody who could read "
    "the rules; the others by four who had not seen them. The rules were mended after a look at the failures of "
    "`hunted`, `daily` and, for questions, `office`; of `plain` and `trade` only totals are looked at."
)
_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said after a life was told, and which of its facts are no longer true then.

    An answer that holds one of the words `right` tells of it.
    """

    said: str
    ends: frozenset[str]
    right: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Life:
    """Facts that somebody tells of himself, with a question for each, and the remarks made to it, each alone."""

    name: str
    facts: tuple[str, ...]
    remarks: tuple[Remark, ...]
    questions: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What became of the facts of a bank."""

    lives: int = 0
    facts: int = 0
    remembered: int = 0  # facts of which there is a memory before any remark
    remarks: int = 0
    losing: int = 0  # remarks
    lost: int = 0  # facts
    ended: int = 0
    put_away: int = 0
    asked: int = 0  # facts that were ended
    told: int = 0
    idle: int = 0  # remarks that end nothing, after which questions were asked
    beside: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def row(self) -> tuple[int, ...]:
        """The numbers of the table, in the order of its columns."""
        return (
            self.lives, self.facts, self.remembered, self.remarks, self.losing, self.lost, self.ended, self.put_away,
            self.asked, self.told, self.idle, self.beside,
        )  # fmt: skip


def read(path: Path) -> list[Life]:
    """The lives of a bank. Raises ValueError where a remark ends what nobody told."""
    found = []
    for one in json.loads(path.read_text(encoding="utf-8"))["lives"]:
        remarks = tuple(
            Remark(remark["said"], frozenset(remark["ends"]), tuple(remark.get("right", ())))
            for remark in one["remarks"]
        )
        found.append(Life(one["name"], tuple(one["facts"]), remarks, one.get("questions", {})))
        strange = {ended for remark in remarks for ended in remark.ends} - set(one["facts"])
        if strange:
            raise ValueError(f"{one['name']}: expected facts of the life, found {sorted(strange)}")
    return found


def bank(name: str) -> Path:
    """The file of a bank."""
    return FOLDER / f"{name}{ENDING}"


def run(engram: Engram, told: Iterable[Life], step: Callable[..., None] = lambda *_: None) -> Tally:
    """Tell every life once for itself and once for each of its remarks, and count what is left."""
    tally, tenant = Tally(), new_id()
    for life in told:
        before = left(_told(engram, f"{tenant}-{life.name}", life.facts), life.facts)
        known = {fact for fact, stands in before.items() if stands}
        tally.lives += 1
        tally.facts += len(life.facts)
        tally.remembered += len(known)
        for place, remark in enumerate(life.remarks):
            told_of = _told(engram, f"{tenant}-{life.name}-{place}", (*life.facts, remark.said))
            after = left(told_of, life.facts)
            gone = {fact for fact in known if not after[fact]}
            _count(tally, life, remark, known, gone)
            _ask(tally, life, remark, told_of.door)
            step(life.name)
    return tally


@dataclass(slots=True)
class Asked:
    """How the questions of a bank were answered, of their own lives and of others."""

    questions: int = 0
    right: int = 0
    wrong: int = 0
    elsewhere: int = 0
    told_there: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def row(self) -> tuple[int, ...]:
        """The numbers of the table, in the order of its columns."""
        silent = self.questions - self.right - self.wrong
        return self.questions, self.right, self.wrong, silent, self.elsewhere, self.told_there


def ask(
    engram: Engram, lives: Sequence[Life], step: Callable[..., None] = lambda *_: None, *, calibrated: bool = False
) -> Asked:
    """Tell every life, and ask its questions of it and of the next one."""
    asked, tenant = Asked(), new_id()
    doors = [_told(engram, f"{tenant}-{life.name}", life.facts) for life in lives]
    for one in doors if calibrated else ():
        one.door.ops.calibrate()
    for place, life in enumerate(lives):
        told, other = doors[place], doors[(place + 1) % len(doors)]
        events = dict(zip(life.facts, told.event_ids, strict=True))
        for fact, question in life.questions.items():
            answer = told.door.recall(question)
            is_right = events[fact] in {one.event_id for one in answer.sources}
            asked.questions += 1
            asked.right += is_right
            asked.wrong += answer.found and not is_right
            asked.notes += [] if is_right else [f"asked  {life.name}: {question!r} got {answer.answer_text!r}"]
            if len(lives) > 1:
                asked.elsewhere += 1
                asked.told_there += other.door.recall(question).found
        step(life.name)
    return asked


def _count(tally: Tally, life: Life, remark: Remark, known: set[str], gone: set[str]) -> None:
    lost, ended = gone - remark.ends, known & remark.ends
    tally.remarks += 1
    tally.losing += bool(lost)
    tally.lost += len(lost)
    tally.ended += len(ended)
    tally.put_away += len(ended & gone)
    tally.notes += [f"lost  {life.name}: {remark.said!r} put away {fact!r}" for fact in sorted(lost)]
    tally.notes += [f"kept  {life.name}: {remark.said!r} left {fact!r}" for fact in sorted(ended - gone)]


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that was told something, and the events of what it was told."""

    door: Engram
    event_ids: Sequence[str]


def _told(engram: Engram, name: str, said: Sequence[str]) -> Told:
    door = engram.scoped(tenant_id=name, user_id="jo")
    messages = [
        {"role": "user", "content": one, "occurred_at": BEGIN + place * STEP} for place, one in enumerate(said)
    ]  # fmt: skip
    return Told(door, door.remember(messages, wait=60.0).event_ids)


def left(told: Told, facts: Sequence[str]) -> Mapping[str, bool]:
    """Of which facts, which were told first, there is a current memory."""
    rows = distilled(told.door)
    standing = [row for row in rows if row.status == "active"]
    return {
        fact: any(_tells(row, of, rows) for row in standing) for fact, of in zip(facts, told.event_ids, strict=False)
    }


def _ask(tally: Tally, life: Life, remark: Remark, door: Engram) -> None:
    """Ask what a remark has ended, or everything where it ended nothing, and count what is told of it."""
    for fact in sorted(remark.ends) if life.questions else ():
        text = door.recall(life.questions[fact]).answer_text
        is_told = tells(text, remark.right)
        tally.asked += 1
        tally.told += is_told
        tally.notes += [] if is_told else [f"silent {life.name}: {remark.said!r} {life.questions[fact]!r} got {text!r}"]
    if life.questions and not remark.ends:
        answers = [door.recall(question) for question in life.questions.values()]
        beside = [one for one in answers if any(since.fact == remark.said for since in one.since)]
        tally.idle += 1
        tally.beside += bool(beside)
        tally.notes += [f"beside {life.name}: {one.answer_text!r}" for one in beside]


def tells(answer: str, right: Sequence[str]) -> bool:
    """Whether an answer holds one of some words, from the beginning of a word on; a number whole, and in no date."""
    said = _DAY.sub("", answer.casefold())
    ends = ((word, r"(?!\w)" if word[-1:].isdigit() else "") for word in right)
    return any(re.search(rf"(?<!\w){re.escape(word)}{end}", said) is not None for word, end in ends)


def _tells(row: Memory, event_id: str, rows: Sequence[Memory]) -> bool:
    """Whether a memory was made of a statement, or holds all words of one that was: told again, and more of it."""
    if row.event_id == event_id:
        return True
    made = [_words(one.fact) for one in rows if one.event_id == event_id]
    return any(words <= _words(row.fact) for words in made)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def main() -> None:
    """Run all banks, or those that are asked for."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("url", nargs="?", type=database, help="a migrated database; otherwise an embedded one")
    given.add_argument("--bank", choices=BANKS, action="append", help="only this bank; nothing is saved")
    given.add_argument("--show", action="store_true", help="every failure, but those of sealed banks")
    asked = given.parse_args()
    names = tuple(asked.bank or BANKS)
    banks = {name: read(bank(name)) for name in names}
    with address(asked.url) as url, Engram(url) as engram:
        answered = dict(_ask_all(engram, banks))
        found = dict(_run(engram, banks))
        rows = [[name, *one.row] for name, one in found.items()]
        questions = [[name, *one.row] for name, one in answered.items() if one.questions]
        print(report.markdown(ASKED, questions), report.markdown(COLUMNS, rows), sep="\n\n")
        others = list(_ask_by_others(url, banks))
        if others:
            print(report.markdown(BY_OTHERS, others))
        if asked.show:
            notes = (
                note
                for all_ in (answered, found)
                for name, one in all_.items()
                if name not in SEALED
                for note in one.notes
            )
            print("\n".join(notes))
        print(
            f"\n{report.PART}"
            if asked.bank
            else f"\n{report.shown(save(url, rows, questions, others))} is written, and docs/benchmarks.md"
        )


def _run(engram: Engram, banks: Mapping[str, Sequence[Life]]) -> Iterator[tuple[str, Tally]]:
    for name, told in banks.items():
        with report.progress(name, sum(len(life.remarks) for life in told)) as step:
            yield name, run(engram, told, step)


def _ask_all(engram: Engram, banks: Mapping[str, Sequence[Life]]) -> Iterator[tuple[str, Asked]]:
    for name, lives in banks.items():
        with report.progress(f"{name}, questions", len(lives)) as step:
            yield name, ask(engram, lives, step)


def _ask_by_others(url: str, banks: Mapping[str, Sequence[Life]]) -> Iterator[list[Any]]:
    """The rows of other embedding models than the local one, where their weights are installed."""
    for model in (MiniLM(), InACone(MiniLM())) if is_installed() else ():
        for calibrated in (False, True):
            with Engram(url, embedder=model) as engram:
                for name, lives in banks.items():
                    with report.progress(f"{name}, {model.name}", len(lives)) as step:
                        asked = ask(engram, lives, step, calibrated=calibrated)
                    if asked.questions:
                        yield [model.name, "calibrated" if calibrated else "as it is", name, *asked.row]


def save(
    url: str, rows: Sequence[Sequence[Any]], questions: Sequence[Sequence[Any]], others: Sequence[Sequence[Any]]
) -> Path:
    """Keep a run for the page of benchmarks."""
    return report.save(
        "behaviour-remarks",
        title="Ordinary remarks",
        about=ABOUT,
        versions=versions(url, *([DISTRIBUTION] if others else [])),
        data=[
            report.Data(f"remarks, {name}", report.sha256(bank(name)), "of this project", f"{remarks} remarks")
            for name, _, _, _, remarks, *_ in rows
        ],
        tables=[
            report.Table("What is answered", list(ASKED), [list(row) for row in questions], (ASKED_NOTE,)),
            *(
                [report.Table("With another embedder", list(BY_OTHERS), [list(row) for row in others], (OTHERS_NOTE,))]
                if others
                else []
            ),
            report.Table("What is put away", list(COLUMNS), [list(row) for row in rows], (NOTE,)),
        ],
    )


if __name__ == "__main__":
    main()
