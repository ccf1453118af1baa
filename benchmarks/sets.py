"""The data sets of the benchmarks: conversations, and questions whose evidence is labelled. Each loader takes a path.

    demo           the project's own conversation and its questions: no path is needed
    locomo         locomo10.json
    locomo-plus    locomo_plus.json, whose dialogues are hidden in LoCoMo's: --histories locomo10.json
    longmemeval    longmemeval_s.json, or _m, or _oracle
    beam           a folder of chats, such as BEAM/chats/100K
    personamem     the folder with questions_32k.csv and shared_contexts_32k.jsonl
    memdaily       the folder messages_and_QAs of MemSim

No public set is part of the project, and none may be: give the path of your copy; its licence is in `SETS`. The loader
of LoCoMo was run on the data. The others were written from their authors' code or a third party's reading of it, and
only ever ran on made-up files of those layouts: look at the counts they print before you believe them.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from engram import ingest

HERE: Final = Path(__file__).parent
CONVERSATION: Final = HERE.parent / "engram" / "demo" / "conversation.jsonl"
LOCOMO_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DIALOGUE_ID: Final = re.compile(r"D:?(\d+):0*(\d+)")
SAID_BY: Final = re.compile(r"^\s*([AB]):\s*(.+?)\s*$", re.MULTILINE)
HISTORY_DATE: Final = "%Y/%m/%d (%a) %H:%M"


@dataclass(frozen=True)
class Turn:
    """One message of a conversation, and the name that evidence calls it by."""

    key: str
    session: str
    message: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question, its kind, the turns and the sessions that hold its answer, and the answer, where there is one.

    `evidence` is empty where a set labels sessions only, and both are where it is made for answers and not for search.
    """

    text: str
    category: str
    evidence: frozenset[str]
    sessions: frozenset[str] = frozenset()
    answer: str = ""
    choices: tuple[str, ...] = ()


@dataclass
class Case:
    """One conversation, which gets a scope of its own, and what is asked about it."""

    name: str
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    repaired: int = 0  # evidence ids that were not written as the turns' are
    dropped: int = 0  # evidence ids that name no turn

    @property
    def ended_at(self) -> datetime | None:
        """When the last turn was said: its questions are asked then; None where no turn is dated."""
        times = [_moment(turn.message["occurred_at"]) for turn in self.turns if turn.message.get("occurred_at")]
        return max(times, default=None)

    def ask(self, text: str, category: str, evidence: Iterable[str], answer: object = "") -> None:
        """Add a question, with the evidence that there is; without any it is left out."""
        sessions, named = {turn.key: turn.session for turn in self.turns}, frozenset(evidence)
        known = named & sessions.keys()
        self.dropped += len(named - known)
        if known:
            within = frozenset(sessions[key] for key in known)
            self.questions.append(Question(text, category, known, within, str(answer)))


def _moment(written: datetime | str) -> datetime:
    return written if isinstance(written, datetime) else datetime.fromisoformat(written)


# --- loaders ----------------------------------------------------------------------------------------------------------


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
                answer = asked.get("answer", asked.get("adversarial_answer", ""))
                case.ask(asked["question"], LOCOMO_CATEGORIES[asked["category"]], evidence, answer)
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
            at = _time(said.get("time_anchor"), "%B-%d-%Y")  # such as March-15-2024
            case.turns.append(Turn(str(said["id"]), session, message if at is None else {**message, "occurred_at": at}))
        asked = json.loads((chat.parent / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8"))
        for ability, questions in asked.items():
            for one in questions:
                evidence = [str(number) for number in numbers(one.get("source_chat_ids"))]
                case.ask(one["question"], ability, evidence, one.get("ideal_response", one.get("answer", "")))
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


def read_longmemeval(path: Path) -> Iterator[Case]:
    """LongMemEval: a question a history; evidence names sessions, and marks the turns in them that hold the answer.

    Questions whose answer is nowhere (`_abs`) are left out: there is nothing to find.
    """
    for item in json.loads(path.read_text(encoding="utf-8")):
        if str(item["question_id"]).endswith("_abs"):
            continue
        case, marked = Case(str(item["question_id"])), []
        dated = zip(item["haystack_session_ids"], item["haystack_sessions"], item["haystack_dates"], strict=True)
        for session, said, date in dated:
            at = _time(date, HISTORY_DATE)
            for place, turn in enumerate(said, start=1):
                message = {"role": turn["role"], "content": turn["content"]} | (
                    {} if at is None else {"occurred_at": at}
                )
                if not str(turn["content"]).strip():
                    continue
                case.turns.append(Turn(f"{session}:{place}", str(session), message))
                marked += [case.turns[-1].key] if turn.get("has_answer") else []
        there = {turn.session for turn in case.turns}
        named = {str(session) for session in item["answer_session_ids"]}
        case.dropped += len(named - there)
        asked = Question(
            item["question"], item["question_type"], frozenset(marked), frozenset(named & there), str(item["answer"])
        )
        case.questions += [asked] if asked.sessions else []
        yield case


def read_personamem(path: Path) -> Iterator[Case]:
    """PersonaMem: a persona's conversations and questions with four answers to choose from; no evidence is labelled.

    A question is asked where its conversation has come to: so there is a case for each point at which one is asked.
    """
    for questions in sorted(path.glob("questions_*.csv")):
        size = questions.stem.removeprefix("questions_")
        contexts: dict[str, list[Any]] = {}
        for line in (path / f"shared_contexts_{size}.jsonl").read_text(encoding="utf-8").splitlines():
            contexts |= json.loads(line) if line.strip() else {}
        with questions.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        for context, end in sorted(
            {(row["shared_context_id"], int(row["end_index_in_shared_context"])) for row in rows}
        ):
            case = Case(f"{context}-{end}", _persona_turns(contexts[context][:end]))
            for row in rows:
                if (row["shared_context_id"], int(row["end_index_in_shared_context"])) == (context, end):
                    choices = tuple(str(one) for one in ast.literal_eval(row["all_options"]))
                    asked, kind = row["user_question_or_message"], row["question_type"]
                    case.questions.append(
                        Question(asked, kind, frozenset(), answer=row["correct_answer"], choices=choices)
                    )
            yield case


def _persona_turns(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """What was said, in sessions: each begins with what the system says of the persona, which is nobody's turn."""
    turns, session = [], 0
    for place, said in enumerate(messages):
        if said["role"] == "system":
            session += 1
        elif str(said["content"]).strip():
            message = {"role": said["role"], "content": said["content"]}
            turns.append(Turn(str(place), f"session-{session}", message))
    return turns


def read_demo(path: Path = HERE / "demo_questions.json") -> Iterator[Case]:
    """The project's own conversation of seven months, and questions: evidence names events by their first digits."""
    case = Case("demo")
    for line in CONVERSATION.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        message = {"role": said["role"], "content": said["content"]}
        message["occurred_at"] = datetime.fromisoformat(said["occurred_at"])
        case.turns.append(Turn(said["event_id"][:8], said["session_id"], message))
    for one in json.loads(path.read_text(encoding="utf-8")):
        case.ask(one["ask"], one["category"], one["evidence"], one["answer"])
    yield case


def _time(text: object, form: str) -> datetime | None:
    """A time written in this form, as UTC; None where it cannot be read."""
    try:
        return datetime.strptime(str(text), form).replace(tzinfo=UTC)
    except ValueError:
        return None


# --- what there is ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A data set that can be read: by what, from where it comes, and under which licence it stands."""

    read: Callable[[Path], Iterator[Case]]
    source: str
    licence: str


SETS: Final[Mapping[str, Known]] = {
    "demo": Known(lambda _: read_demo(), "the project", "MIT, as the project"),
    "locomo": Known(read_locomo, "snap-research/LoCoMo", "CC BY-NC 4.0"),
    "locomo-plus": Known(lambda _: iter(()), "xjtuleeyf/Locomo-Plus", "none given; derived from CC BY-NC 4.0"),
    "longmemeval": Known(read_longmemeval, "xiaowu0162/LongMemEval", "MIT"),
    "beam": Known(read_beam, "mohammadtavakoli78/BEAM", "none in the repository"),
    "personamem": Known(read_personamem, "bowen-upenn/PersonaMem", "its authors' own: see the repository"),
    "memdaily": Known(read_memdaily, "nuster1128/MemSim", "none in the repository"),
}


@dataclass(frozen=True)
class Chosen:
    """A set and where it is, as the command line names it: `name` or `name=path`."""

    name: str
    path: Path
    histories: Path | None = None

    def cases(self, *, adversarial: bool = False) -> Iterator[Case]:
        """Its conversations; of LoCoMo with the questions of category 5 where they are wanted."""
        if self.name == "locomo":
            return read_locomo(self.path, (1, 2, 3, 4, 5) if adversarial else (1, 2, 3, 4))
        if self.name == "locomo-plus":
            if self.histories is None:
                raise SystemExit("locomo-plus hides its dialogues in LoCoMo's: name that file with --histories")
            return read_locomo_plus(self.path, self.histories)
        return SETS[self.name].read(self.path)

    @property
    def files(self) -> list[Path]:
        """What its cases are read from."""
        if self.name == "demo":
            return [CONVERSATION, self.path]
        return [self.path, *([] if self.histories is None else [self.histories])]


def chosen(written: str, histories: Path | None = None) -> Chosen:
    """The set that a word of the command line means; leaves the program where there is none."""
    name, _, path = written.partition("=")
    if name not in SETS:
        raise SystemExit(f"--data {name}: expected one of {', '.join(SETS)}, as NAME=PATH")
    if name == "demo":
        return Chosen(name, HERE / "demo_questions.json")
    if not path or not Path(path).exists():
        raise SystemExit(f"--data {name}: expected NAME=PATH of what there is; {SETS[name].source} has it")
    return Chosen(name, Path(path), histories if name == "locomo-plus" else None)
