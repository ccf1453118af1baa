"""How memory behaves over a year of somebody's life: what is current, what was, what was taken back, what nobody said.

    python benchmarks/behaviour.py                     all banks, 60 lives each, an embedded PostgreSQL
    python benchmarks/behaviour.py URL --lives 12      a migrated database, as the application role
    python benchmarks/behaviour.py --bank open --show  every single failure of the open bank

The lives are made by rules from a printed seed (`histories`), with wording of several banks: rules were developed on
`open`, `practice`, `casual`, `voices`, `newcomer` and `regular`, and after a look at the failures of `fresh` and
`unseen`; of `held_out`, `blind`, `sealed`, `stranger` and `visitor` only totals are looked at. The file of a bank says
how it came about. Everything is said through `remember` and derived by rules alone, with no model and no set-up; every
question goes through `recall`, and what is current is also looked up by `search`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

import report
from histories import BANKS, SEED, Life, Question, Turn, lives
from machine import address, database, number, versions

from engram import Engram, Filter
from engram.ids import new_id
from engram.values import Memory

LIVES: Final = 60
SCORES: Final = {
    "current_state": "current state", "update_capture": "update capture", "false_supersession": "false supersession",
    "stale_recall": "stale recall", "no_op": "no-op", "retraction": "retraction", "time": "time questions",
    "abstention": "abstention", "remembered": "lasting facts kept",
}  # fmt: skip
SMALLER_IS_BETTER: Final = ("false_supersession", "stale_recall")
STATUSES: Final = ("active", "superseded", "contested", "archived", "deleted")
ABOUT: Final = (
    "What becomes of facts that change. Histories of a year are made by rules with known truth and said through "
    "`remember`, message by message: updates, changes back, corrections, retractions, contradictions, restatements, "
    "other people, suppositions, small talk. No language model reads them. Then questions are asked."
)
NOTES: Final = (
    (
        "`open` is the bank of wording on which the rules were developed, `held_out` one that was written before them "
        "and of which only totals were looked at. `fresh` and `unseen` were written later without a look at the rules; "
        "of both failures were looked at since. `practice` says the same news in many more "
        "ways, `casual` as people type in a chat: rules were developed on both. `blind` was written in one go before "
        "any of its results was looked at, and of it only totals are looked at. `voices` and `sealed` are two halves "
        "by kinds of one bank: rules were developed on `voices`; "
        "the author of both wrote the rules, so `sealed` is not unknown to them. `stranger`, `newcomer`, `regular` and "
        "`visitor` were each written in one go by somebody who had not read a rule: rules were developed on `newcomer` "
        "and `regular`, of `stranger` and `visitor` only totals are looked at."
    ),
    (
        "Of false supersession and stale recall less is better. False supersession is a true statement of which no "
        "current memory is left; stale recall an answer, or the first thing a search finds, that tells what is over as "
        "if it were so."
    ),
)
# What says that a value is over: an answer with it does not tell the value as current.
_OVER: Final = re.compile(
    r"^formerly:|\b(?:no longer|not|n't|never|stopped|quit|left|sold|resigned|forget|broke up|moved out|used to|was|"
    r"any ?more|any longer|gave up|given up|laid off|fired|cancel(?:l?ed)?|got rid|gave away|closed|dropped|ditched|"
    r"scrapped|abandoned|discontinued|ended(?! up)|unsubscribed|lapsed?|stepped down|(?:shut|called|is) (?:down|off)|"
    r"handed (?:in|back)|(?:is|are|has been|that's) (?:over|gone|history)|(?:is|are) off)\b",
    re.I,
)
_FROM: Final = re.compile(r"\bfrom .{1,40}? to ")  # "moved from Rome to Oslo" says that it is Oslo


@dataclass(slots=True)
class Tally:
    """Hits of tries by score, and what went wrong in words."""

    hits: Counter[str] = field(default_factory=Counter)
    tries: Counter[str] = field(default_factory=Counter)
    by_course: Counter[tuple[str, str]] = field(default_factory=Counter)
    course_tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def count(self, score: str, hit: bool, course: str, note: str) -> None:
        """One try; what counts is `hit`, whether that is good or bad."""
        self.tries[score] += 1
        self.hits[score] += hit
        self.course_tries[score, course] += 1
        self.by_course[score, course] += hit
        if hit == (score in SMALLER_IS_BETTER):
            self.notes.append(f"{score:<19}{course:<14}{note}")

    def share(self, score: str) -> float:
        """The share of hits; 0 where nothing was tried."""
        return self.hits[score] / self.tries[score] if self.tries[score] else 0.0

    def as_data(self) -> dict[str, Any]:
        """What a report keeps: by score its share, hits and tries, also by course."""
        return {
            score: {
                "share": round(self.share(score), 4), "hits": self.hits[score], "tries": self.tries[score],
                "by_course": {
                    course: [self.by_course[score, course], tries]
                    for (of, course), tries in sorted(self.course_tries.items())
                    if of == score
                },
            }
            for score in SCORES
        }  # fmt: skip


def run(engram: Engram, told: Iterable[Life], *, tenant: str = "") -> Tally:
    """Live every life in a tenant of its own, ask its questions, and count."""
    tally = Tally()
    for life in told:
        _live(engram.scoped(tenant_id=f"{tenant or new_id()}-{life.name}", user_id="jo"), life, tally)
    return tally


def _live(door: Engram, life: Life, tally: Tally) -> None:
    said = [{"role": "user", "content": turn.text, "occurred_at": turn.at} for turn in life.turns]
    receipt = door.remember(said, wait=60.0)
    rows = distilled(door)
    made: dict[str, list[Memory]] = {}
    for row in rows:
        made.setdefault(row.event_id or "", []).append(row)
    told = [(turn, made.get(event, [])) for turn, event in zip(life.turns, receipt.event_ids, strict=True)]
    _score_rows(life, told, rows, tally)
    for question in life.questions:
        _score_answer(door, life, question, told, tally)


def distilled(door: Engram) -> list[Memory]:
    """Every row that was distilled, whatever became of it."""
    asked, rows, cursor = Filter(statuses=STATUSES), list[Memory](), None
    while True:
        page = door.list_memories(filter=asked, limit=200, cursor=cursor)
        rows += [one for one in page if one.category != "verbatim"]
        cursor = page.cursor
        if cursor is None:
            return rows


def _holds(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", text.casefold()) is not None


def _stands(row: Memory) -> bool:
    return row.status == "active"


Told = Sequence[tuple[Turn, Sequence[Memory]]]


def _score_rows(life: Life, told: Told, rows: Sequence[Memory], tally: Tally) -> None:
    """What became of each statement."""
    known: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for turn, made in told:
        where = f"{life.name} {turn.text!r}"
        if turn.kind in ("change", "back", "correct") or (turn.kind == "say" and turn.theme in seen):
            fresh = any(_holds(turn.value, row.fact) and row.status in ("active", "superseded") for row in made)
            left = turn.old != life.truth[turn.theme] and _asserted(told, turn.theme, turn.old)
            tally.count("update_capture", fresh and not left, turn.kind, f"{where} made={_shown(made)} left={left}")
        if turn.kind == "again" and (turn.theme, turn.value) in known:
            tally.count("no_op", not made, turn.kind, f"{where} made={_shown(made)}")
        if turn.kind == "lasting":
            tally.count("remembered", any(map(_stands, made)), turn.kind, where)
        if turn.kind in ("say", "change", "back", "correct", "again"):
            seen.add(turn.theme)
            if made:
                known.add((turn.theme, turn.value))
        if any(_tells(row, turn) for row in made) and _still_true(life, turn):
            lost = not any(_stands(row) and _tells(row, turn) for row in rows)
            tally.count("false_supersession", lost, turn.kind, f"{where} made={_shown(made)}")


def _tells(row: Memory, turn: Turn) -> bool:
    """Whether a row says what was said: its value, and of whom."""
    if not _holds(turn.value, row.fact):
        return False
    return not turn.about or _holds(turn.about.removeprefix("my "), row.fact)


def _still_true(life: Life, turn: Turn) -> bool:
    if turn.kind in ("lasting", "other"):
        return True
    return turn.kind not in ("maybe", "chat", "stop") and life.truth.get(turn.theme) == turn.value


def _asserted(told: Told, theme: str, value: str) -> bool:
    """Whether a statement of the user that a theme has a value still stands."""
    return any(
        turn.theme == theme and turn.value == value and turn.kind not in ("stop", "other", "maybe")
        and any(map(_stands, made))
        for turn, made in told
    )  # fmt: skip


def _shown(made: Iterable[Memory]) -> list[str]:
    return [f"{row.status[:3]} {row.conflict_key}: {row.fact}" for row in made]


def _score_answer(door: Engram, life: Life, question: Question, told: Told, tally: Tally) -> None:
    """What is said to one question."""
    answer = door.recall(question.text)
    text = answer.answer_text
    note = f"{life.name} {question.text!r} wants {question.value!r} got {text!r}"
    if question.asks == "unsaid":
        tally.count("abstention", not answer.found, question.course, note)
    elif question.asks == "time":
        said = _FROM.sub("to ", text)
        right = _holds(question.value, said) and not any(_holds(one, said) for one in question.wrong)
        tally.count("time", right, question.course, note)
    else:
        found = [text, *_first_found(door, question)]
        stale = [one for one in found if _is_stale(one, question)]
        tally.count("stale_recall", bool(stale), question.course, f"{note} stale={stale}")
        if question.asks == "current":
            tally.count("current_state", _holds(question.value, text), question.course, note)
        else:
            left = _asserted(told, question.theme, question.wrong[0])
            over = not any(_is_stale(text, question) for text in found[:1]) and not left
            tally.count("retraction", over, question.course, f"{note} left={left}")


def _first_found(door: Engram, question: Question) -> Iterator[str]:
    """The best distilled memory a search gives."""
    hits = (one.memory.fact for one in door.search(question.text, limit=5) if one.memory.category != "verbatim")
    yield from list(hits)[:1]


def _is_stale(text: str, question: Question) -> bool:
    """Whether a text tells a value that is over as if it were so."""
    if question.value and _holds(question.value, text):
        return False
    return any(_holds(one, text) for one in question.wrong) and _OVER.search(text) is None


def main() -> None:
    """Run all banks, or the one that is asked for."""
    given = argparse.ArgumentParser(description="How memory behaves over a year of somebody's life.")
    given.add_argument("url", nargs="?", type=database, help="a migrated database; otherwise an embedded one")
    given.add_argument("--bank", choices=tuple(BANKS), action="append", help="only this bank")
    given.add_argument("--lives", type=number, default=LIVES, help="lives of each bank")
    given.add_argument("--seed", type=int, default=SEED)
    given.add_argument("--json", type=Path, help="where to keep the results")
    given.add_argument("--save", action="store_true", help="keep the results for docs/benchmarks.md")
    given.add_argument("--show", action="store_true", help="every failure of the open bank")
    asked = given.parse_args()
    if asked.json is not None and not asked.json.absolute().parent.is_dir():
        given.error(f"--json: there is no folder {asked.json.parent}")
    with address(asked.url) as url, Engram(url) as engram:
        print(f"seed      {asked.seed}\nlives     {asked.lives} of each bank\n", flush=True)
        found = {}
        for name in asked.bank or tuple(BANKS):
            began = time.perf_counter()
            found[name] = run(engram, _with_progress(lives(BANKS[name], asked.lives, asked.seed), asked.lives))
            print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
        if asked.save:
            print(f"written to {report.shown(save(url, asked.seed, asked.lives, found))}")
    print("\n" + table(found))
    if asked.show and "open" in found:
        print("\n".join(sorted(found["open"].notes)))
    if asked.json is not None:
        kept = {"seed": asked.seed, "lives": asked.lives, "banks": {k: v.as_data() for k, v in found.items()}}
        asked.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _with_progress(told: Iterable[Life], count: int) -> Iterator[Life]:
    for place, life in enumerate(told, 1):
        print(f"\r{life.name} of {count}", end="", file=sys.stderr, flush=True)
        yield life
        if place == count:
            print("\r", end="", file=sys.stderr)


def save(url: str, seed: int, count: int, found: dict[str, Tally]) -> Path:
    """Keep a run for the page of benchmarks."""
    names = list(found)
    rows = [
        [title, *(f"{one.share(score):.3f} ({one.hits[score]}/{one.tries[score]})" for one in found.values())]
        for score, title in SCORES.items()
    ]
    better = [title for score, title in SCORES.items() if score not in SMALLER_IS_BETTER]
    shares = [
        report.Series(
            name, better, [found[name].share(score) for score in SCORES if score not in SMALLER_IS_BETTER]
        )
        for name in names
    ]  # fmt: skip
    files = sorted((Path(__file__).parent / "histories").glob("*.py"))
    return report.save(
        "behaviour",
        title="Memory behaviour",
        about=ABOUT,
        versions=versions(url),
        data=[report.Data("histories", report.sha256(*files), "of this project", f"{count} lives a bank, seed {seed}")],
        tables=[report.Table("Scores, with hits and tries", ["score", *names], rows, NOTES)],
        plots=[report.Plot("Shares, of which more is better", "bars", shares, y_label="share")],
    )


def table(found: dict[str, Tally]) -> str:
    """The scores of each bank with their counts, as Markdown."""
    lines = [f"| score | {' | '.join(found)} |", "|---|" + "---:|" * len(found)]
    for score, title in SCORES.items():
        cells = [f"{one.share(score):.3f} ({one.hits[score]}/{one.tries[score]})" for one in found.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
