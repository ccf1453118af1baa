"""Retrieval against labels: which share of a question's evidence is found. No language model, no judge.

    python benchmarks/retrieval.py locomo locomo10.json
    python benchmarks/retrieval.py locomo locomo10.json --embedder minilm --modes hybrid,hybrid:rrf,deep --json new.json
    python benchmarks/retrieval.py locomo locomo10.json --against old.json
    python benchmarks/retrieval.py locomo-plus locomo_plus.json --histories locomo10.json
    python benchmarks/retrieval.py beam BEAM/chats/100K
    python benchmarks/retrieval.py memdaily MemSim/data_generation/final_dataset/messages_and_QAs

Each turn becomes a verbatim memory of one user's scope, with what was said around it in the word index; each question
with evidence is one search of ten, which gives R@5, R@10, hit@10, MRR@10 and nDCG@10, and one of fifty, which gives
R@50. R@k is the share of a question's evidence among the first k, as a mean over questions. A mode may name a profile
(`hybrid:rrf`); `deep` is `deep_search`. Intervals are 95 %, by a paired bootstrap over questions.

No data set is part of the project, and none may be: LoCoMo is CC BY-NC 4.0, the others name no licence. Give the path
of your copy. The loader of LoCoMo was run on the data; those of LoCoMo-Plus and MemDaily were written from their
authors' code, that of BEAM from a third party's reading of it, and only ever ran on made-up files of those layouts:
look at the counts they print before you believe them.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from machine import address, heading
from minilm import MiniLM

from engram import Engram, Scope, ingest
from engram.ids import new_id
from engram.settings import load

FEW, MANY = 10, 50
MEASURES = ("R@5", "R@10", "R@50", "hit@10", "MRR@10", "nDCG@10")
BATCH = 100
ROUNDS = 2_000
LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DIALOGUE_ID = re.compile(r"D:?(\d+):0*(\d+)")
SAID_BY = re.compile(r"^\s*([AB]):\s*(.+?)\s*$", re.MULTILINE)
EMBEDDERS: Mapping[str, Callable[[], Any]] = {
    "wordllama": lambda: "wordllama",
    "minilm": MiniLM,
    "none": lambda: "none",
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One message of a conversation, and the name that evidence calls it by."""

    key: str
    session: str
    message: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the turns that hold its answer."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass
class Case:
    """One conversation, which gets a scope of its own, and what is asked about it."""

    name: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    repaired: int = 0  # evidence ids that were not written as the turns' are
    dropped: int = 0  # evidence ids that name no turn

    def ask(self, text: str, category: str, evidence: Iterable[str]) -> None:
        """Add a question, with the evidence that there is; without any it is left out."""
        known, named = {turn.key for turn in self.turns}, frozenset(evidence)
        self.dropped += len(named - known)
        if named & known:
            self.questions.append(Question(text, category, named & known))


# --- data -------------------------------------------------------------------------------------------------------------


def read_locomo(path: Path, categories: Sequence[int] = (1, 2, 3, 4)) -> Iterator[Case]:
    """LoCoMo: conversations of two friends in sessions; evidence names turns (`D3:11`)."""
    turns: dict[str, list[Turn]] = {}
    for batch in ingest.read(path, format="locomo"):
        name = batch.session_id.rpartition("-session-")[0]
        turns.setdefault(name, []).extend(
            Turn(str(one["metadata"]["dia_id"]), batch.session_id, one) for one in batch.messages if "metadata" in one
        )
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        case = Case(conversation["sample_id"], turns[conversation["sample_id"]])
        for asked in conversation["qa"]:
            if asked["category"] in categories:
                evidence = [one for written in asked.get("evidence", ()) for one in dialogue_ids(written)]
                case.repaired += len(set(evidence) - set(asked.get("evidence", ())))
                case.dropped += sum(not dialogue_ids(written) for written in asked.get("evidence", ()))
                case.ask(asked["question"], LOCOMO_CATEGORIES[asked["category"]], evidence)
        yield case


def dialogue_ids(written: str) -> list[str]:
    """The ids of turns in an evidence entry, some of which hold several, or a colon or a zero too many."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in DIALOGUE_ID.findall(written)]


def read_locomo_plus(path: Path, histories: Path) -> Iterator[Case]:
    """LoCoMo-Plus: a short dialogue hidden in a history, and a remark that shares no word with it.

    The n-th dialogue goes into the n-th conversation of LoCoMo, again from the first when all have one. A conversation
    is one scope with all its dialogues in it, each a session: so each hides among the others, too.
    """
    cases = list(read_locomo(histories))
    for case in cases:
        case.questions, case.repaired, case.dropped = [], 0, 0
    speakers = [list(dict.fromkeys(str(turn.message["name"]) for turn in case.turns)) for case in cases]
    asked: list[tuple[Case, str, str, list[str]]] = []
    for number, item in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        at = number % len(cases)
        names = dict(zip("AB", speakers[at], strict=False))
        keys = []
        for line, (who, said) in enumerate(SAID_BY.findall(item["cue_dialogue"]), start=1):
            keys.append(f"cue-{number}:{line}")
            message = {"role": "user" if who == "A" else "assistant", "content": said, "name": names.get(who, who)}
            cases[at].turns.append(Turn(keys[-1], f"cue-{number}", message))
        said = " ".join(text for _, text in SAID_BY.findall(item["trigger_query"])) or item["trigger_query"]
        asked.append((cases[at], said, str(item.get("relation_type", "cue")), keys))
    for case, text, category, keys in asked:
        case.ask(text, category, keys)
    yield from cases


def read_beam(path: Path) -> Iterator[Case]:
    """BEAM: a folder a chat, long messages of a user and an assistant; evidence names messages by number."""
    for chat in sorted(path.rglob("chat.json"), key=lambda found: (len(found.parent.name), found.parent.name)):
        case = Case(chat.parent.name)
        for session, said in beam_messages(json.loads(chat.read_text(encoding="utf-8")), case.name):
            message = {"role": said["role"], "content": said["content"]}
            at = beam_time(said.get("time_anchor"))
            case.turns.append(Turn(str(said["id"]), session, message if at is None else {**message, "occurred_at": at}))
        asked = json.loads((chat.parent / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8"))
        for ability, questions in asked.items():
            for one in questions:
                case.ask(one["question"], ability, [str(number) for number in numbers(one.get("source_chat_ids"))])
        yield case


def beam_messages(value: Any, session: str) -> Iterator[tuple[str, Any]]:
    """The messages of a chat at whatever depth, each with its batch: the object that holds `turns`."""
    if isinstance(value, dict) and {"role", "id", "content"} <= value.keys():
        if str(value["content"]).strip():
            yield session, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from beam_messages(inner, session if name == "turns" else f"{session}-{name}")
    elif isinstance(value, list):
        batches = any(isinstance(inner, dict) and "turns" in inner for inner in value)
        for place, inner in enumerate(value, start=1):
            yield from beam_messages(inner, f"{session}-{place}" if batches else session)


def beam_time(anchor: Any) -> datetime | None:
    """The day a batch is dated by, such as March-15-2024; None where there is none that can be read."""
    try:
        return datetime.strptime(str(anchor), "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def numbers(value: Any) -> Iterator[int]:
    """All numbers in nested lists and objects."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)


def read_memdaily(path: Path) -> Iterator[Case]:
    """MemDaily: a dozen messages of one Chinese user and one question; evidence names messages by their place."""
    for file in [path] if path.is_file() else sorted(path.glob("*.json")):
        for place, trajectory in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            case = Case(f"{file.stem}-{place}")
            for step, said in enumerate(trajectory["message_list"]):
                content = said["message"] if isinstance(said, dict) else said
                case.turns.append(Turn(str(step), case.name, {"role": "user", "content": content}))
            for one in trajectory.get("question_list", [trajectory["QA"]] if "QA" in trajectory else []):
                if "[ERROR" not in one["question"]:
                    case.ask(one["question"], file.stem, [str(number) for number in numbers(one["target_step_id"])])
            yield case


# --- measures ---------------------------------------------------------------------------------------------------------


def measures(few: Sequence[str], many: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """What a list of ten and one of fifty are worth, for one question. Pure."""
    found = {key: place for place, key in reversed(list(enumerate(few[:FEW], start=1))) if key in evidence}
    places = sorted(found.values())  # of each turn's first appearance
    ideal = math.fsum(1 / math.log2(place + 1) for place in range(1, min(FEW, len(evidence)) + 1))
    return {
        "R@5": sum(place <= 5 for place in places) / len(evidence),
        "R@10": len(places) / len(evidence),
        "R@50": len(evidence & set(many[:MANY])) / len(evidence),
        "hit@10": float(bool(places)),
        "MRR@10": 1 / places[0] if places else 0.0,
        "nDCG@10": math.fsum(1 / math.log2(place + 1) for place in places) / ideal,
    }


def interval(differences: Sequence[float], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """The mean of paired differences and its 95 % interval by the bootstrap, the same in every run. Pure."""
    values = np.asarray(differences, dtype=np.float64)
    draws = np.random.default_rng(0).integers(0, len(values), (rounds, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), (2.5, 97.5))
    return float(values.mean()), float(low), float(high)


def compared(name: str, new: Sequence[Row], old: Sequence[Row], measure: str = "R@10") -> str:
    """One line: how much better, over the questions that both asked. Pure."""
    before = {row["question"]: row[measure] for row in old}
    both = [100 * (row[measure] - before[row["question"]]) for row in new if row["question"] in before]
    if not both:
        return f"{name}: no question in common"
    mean, low, high = interval(both)
    return f"{name}: {measure} {mean:+.1f} ({low:+.1f} to {high:+.1f}), {len(both)} questions"


def table(runs: Mapping[str, Sequence[Row]]) -> str:
    """The measures of each run, and R@10 by category, in two tables. Pure."""
    asked = [row for rows in runs.values() for row in rows]
    categories = sorted({str(row["category"]) for row in asked})
    lines = [["run", "questions", *MEASURES, "p50 ms", "p95 ms"]]
    for name, rows in runs.items():
        times = sorted(row["ms"] for row in rows)
        cuts = [f"{times[int(len(times) * share)]:.1f}" for share in (0.5, 0.95)]
        lines.append([name, str(len(rows)), *(_mean(rows, measure) for measure in MEASURES), *cuts])
    kinds = [["R@10 of", *categories]]
    for name, rows in runs.items():
        kinds.append([name, *(_mean([r for r in rows if r["category"] == one], "R@10") for one in categories)])
    return f"{_aligned(lines)}\n\n{_aligned(kinds)}"


def _mean(rows: Sequence[Row], measure: str) -> str:
    return f"{100 * statistics.fmean(row[measure] for row in rows):.1f}" if rows else "-"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


# --- the run ----------------------------------------------------------------------------------------------------------


def add(memory: Engram, turns: Sequence[Turn]) -> dict[str, str]:
    """Remember every turn; which key each event has."""
    keys: dict[str, str] = {}
    remember: Any = memory.remember
    for session, said in groupby(turns, key=lambda turn: turn.session):
        together = list(said)
        for start in range(0, len(together), BATCH):
            part = together[start : start + BATCH]
            messages = [{**turn.message, "event_id": str(turn.message.get("event_id") or new_id())} for turn in part]
            keys |= {str(message["event_id"]): turn.key for message, turn in zip(messages, part, strict=True)}
            remember(messages, session_id=session, derive="verbatim", wait=True)
    return keys


def seeker(memory: Engram, run: str) -> Callable[[str, int], Any]:
    """The search that a run is of: a mode, with a profile behind a colon, or `deep`."""
    mode, _, profile = run.partition(":")
    options = {"profile": profile} if profile else {}
    if mode == "deep":
        deep: Any = getattr(memory, "deep_search", None)
        if deep is None:
            raise SystemExit("this version has no deep_search: leave out the mode deep")
        return lambda text, limit: deep(text, limit=limit, track=False, **options)
    search: Any = memory.search
    return lambda text, limit: search(text, mode=mode, limit=limit, track=False, **options)


def ask(memory: Engram, case: Case, keys: Mapping[str, str], run: str) -> list[Row]:
    """Every question of a case, with what was found and how long the search of ten took."""
    seek, rows = seeker(memory, run), []
    for number, question in enumerate(case.questions):
        started = time.perf_counter()
        few = seek(question.text, FEW)
        took = 1000 * (time.perf_counter() - started)
        orders = [[keys.get(one.memory.event_id, "") for one in found] for found in (few, seek(question.text, MANY))]
        worth = measures(orders[0], orders[1], question.evidence)
        rows.append({"question": f"{case.name}#{number}", "category": question.category, "ms": took, **worth})
    return rows


def cases(chosen: argparse.Namespace) -> Iterator[Case]:
    """The conversations of the data set that was named."""
    if chosen.data == "locomo":
        yield from read_locomo(chosen.path, (1, 2, 3, 4, 5) if chosen.adversarial else (1, 2, 3, 4))
    elif chosen.data == "locomo-plus":
        if chosen.histories is None:
            raise SystemExit("locomo-plus hides its dialogues in LoCoMo's: name that file with --histories")
        yield from read_locomo_plus(chosen.path, chosen.histories)
    else:
        yield from {"beam": read_beam, "memdaily": read_memdaily}[chosen.data](chosen.path)


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=("locomo", "locomo-plus", "beam", "memdaily"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--histories", type=Path, help="LoCoMo's file, for locomo-plus")
    parser.add_argument("--url", help="a migrated database, as the application role; otherwise an embedded one")
    parser.add_argument("--modes", default="keyword,semantic,hybrid", help="separated by commas; also deep, hybrid:rrf")
    parser.add_argument("--embedder", choices=sorted(EMBEDDERS), default="wordllama")
    parser.add_argument("--cases", type=int, help="only so many conversations")
    parser.add_argument("--adversarial", action="store_true", help="ask LoCoMo's questions of category 5, too")
    parser.add_argument("--json", type=Path, help="write every question's measures to this file")
    parser.add_argument("--against", type=Path, help="compare with a file that --json wrote")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    runs: dict[str, list[Row]] = {run: [] for run in chosen.modes.split(",")}
    tenant, added, repaired, dropped, spent = f"retrieval-{new_id()}", 0, 0, 0, 0.0
    with address() as url:
        head = heading(url)
        embedder = EMBEDDERS[chosen.embedder]()
        for number, case in enumerate(cases(chosen), start=1):
            if chosen.cases is not None and number > chosen.cases:
                break
            scope = Scope(tenant, user_id=case.name)
            with Engram(url, scope=scope, settings=load({}), embedder=embedder) as memory:
                started = time.perf_counter()
                keys = add(memory, case.turns)
                spent, added = spent + time.perf_counter() - started, added + len(keys)
                repaired, dropped = repaired + case.repaired, dropped + case.dropped
                for run, rows in runs.items():
                    said = f"conversation {number}, {added} turns, {run}, {len(case.questions)} questions"
                    print(f"\r{said:79}", end="", file=sys.stderr, flush=True)
                    rows += ask(memory, case, keys, run)
    print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)
    print(f"data      {chosen.data}, {added} turns added at {added / max(spent, 1e-9):.0f} a second")
    print(f"evidence  {repaired} ids mended, {dropped} name no turn and are left out\nembedder  {chosen.embedder}\n")
    print(table(runs))
    if len(runs) > 1:
        print()
    for run, rows in list(runs.items())[1:]:
        print(compared(f"{run} minus {next(iter(runs))}", rows, next(iter(runs.values()))))
    if chosen.against is not None:
        for run, rows in json.loads(chosen.against.read_text(encoding="utf-8"))["runs"].items():
            if run in runs:
                print(compared(f"{run} minus {chosen.against.name}", runs[run], rows))
    if chosen.json is not None:
        made = {"heading": head, "data": chosen.data, "turns": added, "embedder": chosen.embedder, "runs": runs}
        chosen.json.write_text(json.dumps(made, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
