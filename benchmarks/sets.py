"""The data sets of the benchmarks: conversations, and questions whose evidence is labelled. Each loader takes a path.

    demo           the project's own conversation and its questions: no path is needed
    advice         three chats of a user with an assistant that answers at length, the project's own: no path is needed
    cues           remarks whose cue shares no word with them, hidden in the demo's conversation: no path is needed
    locomo         locomo10.json
    locomo-plus    locomo_plus.json, whose dialogues are hidden in LoCoMo's: --histories locomo10.json
    longmemeval    longmemeval_s, _m or _oracle, as released or cleaned
    beam           a folder of chats, such as BEAM/chats/100K, or Mohammadta/BEAM's rows as .parquet, .arrow or .json
    personamem     questions_32k.csv with shared_contexts_32k.jsonl, or documents.json.gz with queries.json.gz
    memdaily       the folder messages_and_QAs of MemSim, or memdaily.json

No public set is part of the project, and none may be: give the path of your copy; its licence is in `SETS`. The loader
of LoCoMo was run on the data; the others follow the files and the loaders that their authors publish, and were run on
made-up files of those layouts. A run says what it read before it begins. To be expected: LoCoMo 10 conversations and
1,540 questions of categories 1 to 4 (all but 4 with evidence); LoCoMo-Plus 401 remarks; LongMemEval 500 questions, of
which 30 have no answer; BEAM 20, 35, 35 and 10 chats with 20 questions each, two of which have no answer; PersonaMem
589 questions of the size 32k, none with evidence; MemDaily 2,954 questions.

Half of the questions of `advice` and `cues` are held out, marked so in their files: who tunes looks at the others alone
(`quality.py --half shown`), and measures the held out ones once he is done (`--half held-out`).
"""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from cases import Case, Question, Turn

from engram import ingest
from engram.errors import EngramError
from engram.inputs import is_blank

HERE: Final = Path(__file__).resolve().parent
CONVERSATION: Final = HERE.parent / "engram" / "demo" / "conversation.jsonl"
LOCOMO_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DIALOGUE_ID: Final = re.compile(r"D:?(\d+):0*(\d+)")
NEXT_SAYS: Final = re.compile(r"""(?<=[.!?"'”’…)])[ ]+(?=[AB]:\s)""")
SAID_BY: Final = re.compile(r"^\s*([AB]):\s*(.+?)\s*$", re.MULTILINE)
COUNTS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
AGO: Final = re.compile(rf"\b(\d+|{'|'.join(COUNTS)})\s+(week|month|year)")
DAYS: Final = {"week": 7, "month": 30, "year": 365}
ASKED_AFTER: Final = timedelta(days=7)  # LoCoMo-Plus asks a week after the last session
BEAM_MARK: Final = re.compile(r"\s*->->\s*\d+\s*,\s*(?:\d+|N/A)\s*$")  # left behind by the making of the chats
BEAM_ANSWERS: Final = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "expected_compliance")
FAILED: Final = "[ERROR"  # MemDaily's questions and answers that were not made
EXPORTED_NAME: Final = re.compile(r"^User: [^\n]*\n\n")
EXPORTED_ROLE: Final = re.compile(r"(?:^|\n\n)\[(SYSTEM|USER|ASSISTANT)\] ")
SPOKEN: Final = re.compile(r"^(?:User|Assistant|Patient|Therapist):\s+")  # PersonaMem says again who speaks
LETTERS: Final = 16 << 20  # read at a time of a file that may be larger than memory


# --- what all loaders share -------------------------------------------------------------------------------------------


def said(role: str, content: object, at: datetime | None = None, place: int = 0, **more: Any) -> dict[str, Any] | None:
    """A message that a database can hold; None where nothing is said.

    Public sets date whole sessions: a second a turn keeps the order without inventing a clock.
    """
    text = "" if content is None else str(content).replace("\x00", "\ufffd")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if is_blank(text):
        return None
    return {"role": role, "content": text, **more} | (
        {} if at is None else {"occurred_at": at + timedelta(seconds=place)}
    )


def moment(text: object) -> datetime | None:
    """A time such as `2023/05/20 (Sat) 02:21` or `2024年04月01日 周一 08:18`, as UTC; None where it cannot be read."""
    try:
        year, month, day, *clock = (int(number) for number in re.findall(r"\d+", str(text)))
        return datetime(year, month, day, *clock[:2], tzinfo=UTC)  # type: ignore[arg-type]
    except ValueError:
        return None


def items(path: Path) -> Iterator[Any]:
    """The items of a JSON list one after the other: a file of gigabytes is never held whole."""
    decode, skip = json.JSONDecoder().raw_decode, re.compile(r"[\s,]*").match
    with path.open(encoding="utf-8-sig") as stream:
        known = stream.read(LETTERS).lstrip()
        if not known.startswith("["):
            raise ValueError("the file is no list")
        at = 1
        while True:
            at = skip(known, at).end()  # type: ignore[union-attr]
            if known.startswith("]", at):
                return
            try:
                item, at = decode(known, at)
            except json.JSONDecodeError:
                more = stream.read(max(LETTERS, len(known) - at))
                if not more:
                    raise
                known, at = known[at:] + more, 0
                continue
            yield item


@cache
def left_out(what: str) -> None:
    """Say once what is not read."""
    print(what, file=sys.stderr)


def numbers(value: Any) -> Iterator[int]:
    """All numbers in nested lists and objects."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)


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
        for place, asked in enumerate(conversation["qa"], start=1):
            if asked["category"] not in LOCOMO_CATEGORIES:
                expected = f"expected {', '.join(map(str, LOCOMO_CATEGORIES))}"
                raise ValueError(f"question {place} of {case.name} has category {asked['category']!r}, {expected}")
            if asked["category"] in categories:
                entries = locomo_evidence(asked.get("evidence"))
                evidence = [one for written in entries for one in dialogue_ids(written)]
                case.repaired += len(set(evidence) - set(entries))
                case.dropped += sum(not dialogue_ids(written) for written in entries)
                answer = asked.get("answer", asked.get("adversarial_answer", ""))
                case.ask(asked["question"], LOCOMO_CATEGORIES[asked["category"]], evidence, answer)
        yield case


def locomo_evidence(written: str | Sequence[str] | None) -> Sequence[str]:
    """The entries of a question's evidence: a list, a single one that is written as a text, or none."""
    return [written] if isinstance(written, str) else written or ()


def dialogue_ids(written: str) -> list[str]:
    """The ids of turns in an evidence entry, some of which hold several, or a colon or a zero too many."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in DIALOGUE_ID.findall(written)]


def read_locomo_plus(path: Path, histories: Path) -> Iterator[Case]:
    """LoCoMo-Plus: a short dialogue hidden in a history, and a remark that shares no word with it.

    The n-th dialogue goes into the n-th conversation of LoCoMo, again from the first when all have one, so long before
    the remark as the set says. A conversation is one scope with all its dialogues in it, each a session. The authors
    hide each alone: so where a remark is asked, what is found of the other dialogues is passed over.
    """
    cases = list(read_locomo(histories))
    speakers = [(one["conversation"]["speaker_a"], one["conversation"]["speaker_b"]) for one in items(histories)]
    for case in cases:
        last = case.ended_at
        case.questions, case.repaired, case.dropped = [], 0, 0
        case.asked_at = None if last is None else last + ASKED_AFTER
    asked: list[tuple[Case, str, str, list[str]]] = []
    for number, item in enumerate(items(path)):
        case, names = cases[number % len(cases)], dict(zip("AB", speakers[number % len(cases)], strict=True))
        at = None if case.asked_at is None else case.asked_at - timedelta(days=days_ago(item.get("time_gap", "")))
        hidden = [
            Turn(f"cue-{number}:{line}", f"cue-{number}", message)
            for line, (who, text) in enumerate(spoken_by(item["cue_dialogue"]), start=1)
            if (message := said("user" if who == "A" else "assistant", text, at, line, name=names[who]))
        ]
        case.turns += hidden
        remark = " ".join(text for _, text in spoken_by(item["trigger_query"])) or item["trigger_query"]
        asked.append((case, remark, str(item.get("relation_type", "cue")), [turn.key for turn in hidden]))
    hidden_in = {
        case.name: frozenset(key for one, _, _, keys in asked if one is case for key in keys) for case in cases
    }
    for case, text, category, keys in asked:
        case.ask(text, category, keys, aside=hidden_in[case.name] - frozenset(keys))
    for case in cases:
        if case.asked_at is not None:
            case.turns.sort(key=lambda turn: turn.message["occurred_at"])
        yield case


def spoken_by(dialogue: str) -> list[tuple[str, str]]:
    """Who says what in `A: …` and `B: …`: some write the line break as a backslash and an n, some go on in the line."""
    return SAID_BY.findall(NEXT_SAYS.sub("\n", dialogue.replace("\\n", "\n")))


def days_ago(gap: str) -> int:
    """The days in a gap such as `about two weeks later`; none where it says no number."""
    found = AGO.search(gap.lower())
    return 0 if found is None else (COUNTS.get(found[1]) or int(found[1])) * DAYS[found[2]]


def read_longmemeval(path: Path) -> Iterator[Case]:
    """LongMemEval: a question a history; evidence names sessions, and marks the turns in them that hold the answer.

    Questions whose answer is nowhere (`_abs`) have no evidence: there is nothing to find.
    """
    for item in items(path):
        case, marked = Case(str(item["question_id"]), asked_at=moment(item.get("question_date"))), []
        dated = zip(item["haystack_session_ids"], item["haystack_sessions"], item["haystack_dates"], strict=True)
        for session, turns, date in dated:
            at = moment(date)
            for place, turn in enumerate(turns, start=1):
                message = said(turn["role"], turn["content"], at, place)
                if message is not None:
                    case.turns.append(Turn(f"{session}:{place}", str(session), message))
                    marked += [case.turns[-1].key] if turn.get("has_answer") else []
        named = set() if "_abs" in case.name else {str(session) for session in item["answer_session_ids"]}
        there = named & {turn.session for turn in case.turns}
        case.dropped += len(named - there)
        case.questions.append(
            Question(
                str(item["question"]), item["question_type"] if named else "abstention",
                frozenset(marked if named else ()), frozenset(there), str(item["answer"]),
            )
        )  # fmt: skip
        yield case


def read_beam(path: Path) -> Iterator[Case]:
    """BEAM: long chats of a user and an assistant; evidence names messages by number.

    Where a chat has a number twice (four of the size 1M do), either message is the evidence. Questions whose answer is
    nowhere have none.
    """
    for name, chat, abilities in beam_chats(path):
        case = Case(name)
        for session, messages in beam_sessions(chat, name):
            dates = (dated(one.get("time_anchor")) for one in messages)
            at = next((date for date in dates if date is not None), None)  # the first message says it for all
            for place, one in enumerate(messages):
                message = said(one["role"], BEAM_MARK.sub("", str(one["content"] or "")), at, place)
                case.turns += [] if message is None else [Turn(str(one["id"]), session, message)]
        for ability, questions in abilities.items():
            for one in questions:
                evidence = () if ability == "abstention" else map(str, numbers(one.get("source_chat_ids")))
                answer = next((one[field] for field in BEAM_ANSWERS if one.get(field)), "")
                case.questions.append(case.question(one["question"], ability, evidence, answer))
        yield case


def beam_chats(path: Path) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Each chat with its name and its questions by ability, from folders or from rows as the hub has them."""
    folders = [found.parent.parent for found in path.rglob("probing_questions/probing_questions.json")]
    for folder in sorted(folders, key=lambda one: [(len(part), part) for part in one.parts]):
        short, whole = folder / "chat_trunecated.json", folder / "chat.json"  # its authors ask the first where it is
        file = short if short.exists() else whole
        if not file.exists():
            left_out(f"{folder} has questions and no chat.json: left out")
            continue
        chat = json.loads(file.read_text(encoding="utf-8"))
        questions = folder / "probing_questions" / "probing_questions.json"
        yield "-".join(folder.relative_to(path.parent).parts), chat, json.loads(questions.read_text(encoding="utf-8"))
    rows = sorted(one for one in path.rglob("*") if one.suffix in (".parquet", ".arrow"))
    for file in [path] if path.is_file() else [] if folders else rows:
        for row in beam_rows(file):
            asked = row["probing_questions"]
            abilities = ast.literal_eval(asked) if isinstance(asked, str) else asked
            yield f"{file.name.partition('-')[0]}-{row['conversation_id']}", row["chat"], abilities


def beam_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file from the hub."""
    if file.suffix not in (".parquet", ".arrow"):
        yield from items(file)
        return
    try:
        from pyarrow import ipc, memory_map, parquet  # type: ignore[import-not-found]
    except ImportError:
        raise SystemExit(
            f"{file.name} is read by pyarrow, which the project does not need: pip install pyarrow"
        ) from None
    with memory_map(str(file)) as source:
        parquets = file.suffix == ".parquet"
        for batch in parquet.ParquetFile(source).iter_batches(1) if parquets else ipc.open_stream(source):
            yield from batch.to_pylist()


def beam_sessions(chat: Any, name: str) -> Iterator[tuple[str, list[Any]]]:
    """The messages of a chat by session: an object that holds `turns`, or a list of messages in the chat itself.

    The longest chats are lists of plans, each with sessions of its own; a plan that is elsewhere is null.
    """
    for place, part in enumerate(chat, start=1):
        if isinstance(part, dict) and "turns" not in part:
            for plan, inner in part.items():
                yield from beam_sessions(inner or [], f"{name}-{plan}")
        else:
            yield f"{name}-{place}", list(messages_in(part))


def messages_in(value: Any) -> Iterator[Any]:
    """The messages at whatever depth."""
    if isinstance(value, dict) and {"role", "id", "content"} <= value.keys():
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from messages_in(inner)


def dated(anchor: object) -> datetime | None:
    """A day such as `March-15-2024`, as UTC; None where it cannot be read."""
    try:
        return datetime.strptime(str(anchor), "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def read_memdaily(path: Path) -> Iterator[Case]:
    """MemDaily: a dozen messages of one Chinese user and one question; evidence names messages by their place."""
    for file in [path] if path.is_file() else sorted(path.glob("*.json")):
        for kind, name, trajectories in memdaily_kinds(file):
            for place, trajectory in enumerate(trajectories):
                case = Case(f"{name}-{place}")
                for step, one in enumerate(trajectory["message_list"]):
                    told = one if isinstance(one, dict) else {"message": one}
                    message = said("user", told["message"], moment(told.get("time")), step)
                    case.turns += [] if message is None else [Turn(str(step), case.name, message)]
                for one in trajectory.get("question_list", [trajectory["QA"]] if "QA" in trajectory else []):
                    if FAILED not in one["question"] and FAILED not in str(one.get("answer")):
                        choices = tuple(f"({letter}) {text}" for letter, text in (one.get("choices") or {}).items())
                        answer = f"({one['ground_truth']})" if choices else one.get("answer", "")
                        evidence = map(str, numbers(one["target_step_id"]))
                        case.ask(one["question"], kind, evidence, answer, choices=choices)
                        case.asked_at = moment(one.get("time"))
                yield case


def memdaily_kinds(file: Path) -> Iterator[tuple[str, str, Sequence[Any]]]:
    """The trajectories of a file by the kind of their questions: one list, or all of them by kind and scenario."""
    read = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(read, list):
        yield re.sub(r"^\d+_|_[a-z]+$", "", file.stem), file.stem, read
        return
    for kind, scenarios in read.items():
        for scenario, trajectories in scenarios.items():
            yield kind, f"{kind}_{scenario}", trajectories or []


def read_personamem(path: Path) -> Iterator[Case]:
    """PersonaMem: a persona's conversations and questions with four answers to choose from; no evidence is labelled.

    A question is asked where its conversation has come to: so there is a case for each point at which one is asked.
    """
    exported = path if _is_exported(path) else _packed(path / "queries.json")
    if exported.is_file():
        yield from _persona_exported(exported)
        return
    files = [path] if path.is_file() else sorted(path.glob("questions_*.csv"))
    if len(files) > 1:
        raise SystemExit(f"{path} has several sizes: name one, such as personamem={files[0]}")
    for questions in files:
        contexts: dict[str, list[Any]] = {}
        with _contexts(questions).open(encoding="utf-8") as lines:
            for line in lines:
                contexts |= json.loads(line) if line.strip() else {}
        points: dict[tuple[str, int], list[Mapping[str, str]]] = {}
        with questions.open(encoding="utf-8-sig", newline="") as stream:
            for row in csv.DictReader(stream):
                point = row["shared_context_id"], int(row["end_index_in_shared_context"])
                points.setdefault(point, []).append(row)
        for (context, end), rows in sorted(points.items()):
            yield Case(
                f"{context}-{end}", _persona_turns(contexts[context][:end]), [_persona_asked(row) for row in rows]
            )


def _contexts(questions: Path) -> Path:
    return questions.with_name(questions.name.replace("questions_", "shared_contexts_")).with_suffix(".jsonl")


def _is_exported(path: Path) -> bool:
    return path.is_file() and path.name.startswith("queries.json")


def _packed(path: Path) -> Path:
    """The packed file of this name, where there is one."""
    packed = path.with_name(f"{path.name}.gz")
    return packed if packed.is_file() else path


def _unpacked(path: Path) -> Any:
    """What a JSON file holds, packed or not."""
    if path.suffix != ".gz":
        return json.loads(path.read_text(encoding="utf-8"))
    try:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return json.load(stream)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"{path.name} is cut short or damaged") from error


def _persona_exported(questions: Path) -> Iterator[Case]:
    """PersonaMem as the Agent Memory Benchmark exports it: documents that are sessions, queries that name what is past.

    A query has its choices after what is asked, and before it the persona's name, whose scope is searched anyway.
    """
    documents = _unpacked(_packed(questions.with_name("documents.json")))
    sessions = {str(one["id"]): str(one["content"] or "") for one in documents}
    points: dict[tuple[str, tuple[str, ...]], list[Question]] = {}
    for one in _unpacked(questions):
        asked, *choices = re.split(r"\n+(?=\([a-z]\) )", one["query"])
        kept = one["meta"].get("retrieval_query") or asked
        letter = next(answer for answer in reversed(one["gold_answers"]) if answer).strip("() ")[:1]
        point = str(one["user_id"]), tuple(map(str, one["gold_ids"]))
        points.setdefault(point, []).append(
            Question(
                EXPORTED_NAME.sub("", kept), one["meta"]["question_type"], frozenset(), answer=f"({letter})",
                choices=tuple(choices),
            )
        )  # fmt: skip
    for (persona, past), asked_then in sorted(points.items(), key=lambda one: (one[0][0], len(one[0][1]))):
        messages: list[Mapping[str, Any]] = []
        for session in past:
            _, *said_then = EXPORTED_ROLE.split(sessions[session])
            turns = zip(said_then[::2], said_then[1::2], strict=True)
            messages.append({"role": "system", "content": ""})
            messages += [{"role": who.lower(), "content": text} for who, text in turns if who != "SYSTEM"]
        yield Case(f"{persona}-{len(past)}", _persona_turns(messages), asked_then)


def _persona_asked(row: Mapping[str, str]) -> Question:
    choices = tuple(str(one) for one in ast.literal_eval(row["all_options"]))
    asked, kind = row.get("user_question_or_message") or row["question"], row["question_type"]
    return Question(asked, kind, frozenset(), answer=row["correct_answer"], choices=choices)


def _persona_turns(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """What was said, in sessions: each begins with what the system says of the persona, which is nobody's turn."""
    turns, session = [], 0
    for place, one in enumerate(messages):
        if one["role"] == "system":
            session += 1
        elif message := said(one["role"], SPOKEN.sub("", str(one["content"] or ""))):
            turns.append(Turn(str(place), f"session-{session}", message))
    return turns


def read_demo(path: Path = HERE / "demo_questions.json") -> Iterator[Case]:
    """The project's own conversation of seven months, and questions: evidence names events by their first digits."""
    case = Case("demo")
    for line in CONVERSATION.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        message = {"role": event["role"], "content": event["content"]}
        message["occurred_at"] = datetime.fromisoformat(event["occurred_at"])
        case.turns.append(Turn(event["event_id"][:8], event["session_id"], message))
    for one in json.loads(path.read_text(encoding="utf-8")):
        case.ask(one["ask"], one["category"], one["evidence"], one["answer"])
    yield case


def read_advice(path: Path) -> Iterator[Case]:
    """The project's own chats of a user with an assistant: long answers, several matters a session, facts that change.

    Evidence names messages by number; questions whose answer is nowhere have none.
    """
    for chat in json.loads(path.read_text(encoding="utf-8")):
        case = Case(chat["name"], [_dated_turn(str(one["id"]), one["session"], one) for one in chat["turns"]])
        for one in chat["questions"]:
            evidence, held_out = map(str, one["evidence"]), one.get("held_out", False)
            case.questions.append(
                case.question(one["ask"], one["category"], evidence, one["answer"], held_out=held_out)
            )
        yield case


def read_cues(path: Path) -> Iterator[Case]:
    """The project's own remarks: each calls to mind what was said weeks before, in other words, amid small talk.

    All of it lies between the sessions of the demo's conversation; the evidence is the turn of the cue alone.
    """
    case = Case("cues", [turn for demo in read_demo() for turn in demo.turns])
    asked: list[tuple[str, Mapping[str, Any]]] = []
    for number, item in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        said_then = [
            _dated_turn(f"cue-{number}:{place}", item["session"], one) for place, one in enumerate(item["turns"], 1)
        ]
        case.turns += said_then
        asked.append((f"cue-{number}:{item['cue']}", item))
    case.turns.sort(key=lambda turn: turn.message["occurred_at"])
    for key, item in asked:
        case.ask(item["trigger"], item["kind"], [key], held_out=item.get("held_out", False))
    yield case


def _dated_turn(key: str, session: str, one: Mapping[str, Any]) -> Turn:
    message = {"role": one["role"], "content": one["content"]}
    return Turn(key, session, message | {"occurred_at": datetime.fromisoformat(one["occurred_at"])})


# --- what there is ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A data set that can be read: by what, from where it comes, under which licence it stands, what was tuned on it.

    `developed` names its conversations that ranking was tuned on, where these are some of them.
    """

    read: Callable[[Path], Iterator[Case]]
    source: str
    licence: str
    layout: str = ""
    tuned: str = "Nothing was tuned on this set."
    developed: frozenset[str] = frozenset()

    def tuned_on(self, conversations: Collection[str]) -> str:
        """What was tuned on the set, and how many of some of its conversations that was. Pure."""
        if not self.developed:
            return self.tuned
        seen = len(self.developed.intersection(conversations))
        return f"{self.tuned} {seen} of the {len(conversations)} conversations measured here are of it."


HALF_TUNED: Final = (
    "Half of the questions was shown to those who tuned ranking, the other half held out; figures without a half are of"
    " both. `--half shown` and `--half held-out` ask one of them."
)
SETS: Final[Mapping[str, Known]] = {
    "demo": Known(
        lambda _: read_demo(), "the project", "MIT, as the project",
        tuned="Ranking was tuned with a look at all of these questions: none is held out.",
    ),
    "advice": Known(read_advice, "the project", "MIT, as the project", tuned=HALF_TUNED),
    "cues": Known(read_cues, "the project", "MIT, as the project", tuned=HALF_TUNED),
    "locomo": Known(
        read_locomo, "snap-research/LoCoMo", "CC BY-NC 4.0", "the file locomo10.json",
        "Ranking was tuned on five of LoCoMo's ten conversations, the development split, whose figures say little of"
        " the others.",
        frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"}),
    ),
    "locomo-plus": Known(
        lambda _: iter(()), "xjtuleeyf/Locomo-Plus", "none given; derived from CC BY-NC 4.0",
        "the file locomo_plus.json, and --histories locomo10.json",
    ),
    "longmemeval": Known(
        read_longmemeval, "xiaowu0162/LongMemEval", "MIT", "the file longmemeval_s.json, _m, _oracle or a cleaned one"
    ),
    "beam": Known(
        read_beam, "mohammadtavakoli78/BEAM", "none in the repository; CC BY-SA 4.0 on the hub",
        "a folder of N/chat.json and N/probing_questions/probing_questions.json, or rows as .parquet, .arrow or .json",
    ),
    "personamem": Known(
        read_personamem, "bowen-upenn/PersonaMem", "its authors' own: see the repository",
        "questions_32k.csv with shared_contexts_32k.jsonl beside it, or queries.json.gz with documents.json.gz",
    ),
    "memdaily": Known(
        read_memdaily, "nuster1128/MemSim", "none in the repository", "the folder messages_and_QAs, or memdaily.json"
    ),
}  # fmt: skip


OWN: Final[Mapping[str, Path]] = {
    "demo": HERE / "demo_questions.json", "advice": HERE / "advice.json", "cues": HERE / "cues.json",
}  # fmt: skip
"""The files of the project's own sets."""


@dataclass(frozen=True)
class Chosen:
    """A set and where it is, as the command line names it: `name` or `name=path`."""

    name: str
    path: Path
    histories: Path | None = None

    @property
    def known(self) -> Known:
        """What is known of the set."""
        return SETS[self.name]

    def cases(self, *, adversarial: bool = False) -> Iterator[Case]:
        """Its conversations, of LoCoMo with the questions of category 5 where they are wanted.

        Leaves the program where the files are laid out in another way, or hold no conversation.
        """
        read, last = self._read(adversarial), None
        while True:
            try:
                case = next(read, None)
            except (
                AttributeError,
                EngramError,
                IndexError,
                KeyError,
                OSError,
                SyntaxError,
                TypeError,
                ValueError,
            ) as error:
                where = f" after {last.name}" if last else ""
                said_so = f"{type(error).__name__}: {error}"
                raise SystemExit(f"{self._expected()}, but could not read it{where}: {said_so}") from error
            if case is None:
                break
            last = case
            yield case
        if last is None:
            raise SystemExit(f"{self._expected()}, but found no conversation in it")

    def _expected(self) -> str:
        return f"--data {self.name}={self.path}: expected {self.known.layout}"

    def _read(self, adversarial: bool) -> Iterator[Case]:
        if self.name == "locomo" and adversarial:
            return read_locomo(self.path, tuple(LOCOMO_CATEGORIES))
        if self.name == "locomo-plus":
            if self.histories is None or not self.histories.is_file():
                raise SystemExit("locomo-plus hides its dialogues in LoCoMo's: name that file with --histories")
            return read_locomo_plus(self.path, self.histories)
        return self.known.read(self.path)

    @property
    def files(self) -> list[Path]:
        """What its cases are read from."""
        if self.name in OWN:
            return [CONVERSATION, self.path] if self.name in ("demo", "cues") else [self.path]
        also = [] if self.histories is None else [self.histories]
        if self.name == "personamem" and self.path.is_file():
            exported = _is_exported(self.path)
            also = [_packed(self.path.with_name("documents.json")) if exported else _contexts(self.path)]
        return [self.path, *also]

    @property
    def about(self) -> str:
        """Where it comes from, and under which licence it stands."""
        return f"{self.name} ({self.known.source}); licence: {self.known.licence}"


def chosen(written: str, histories: Path | None = None) -> Chosen:
    """The set that a word of the command line means; leaves the program where there is none."""
    name, _, path = written.partition("=")
    if name not in SETS:
        raise SystemExit(f"--data {name}: expected one of {', '.join(SETS)}, as NAME=PATH")
    if name in OWN and path:
        raise SystemExit(f"--data {written}: {name} is the project's own, and takes no path")
    if name in OWN:
        return Chosen(name, OWN[name])
    if not path or not Path(path).exists():
        raise SystemExit(f"--data {name}: expected NAME=PATH of {SETS[name].layout}; {SETS[name].source} has it")
    return Chosen(name, Path(path), histories if name == "locomo-plus" else None)
