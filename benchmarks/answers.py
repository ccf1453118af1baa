"""Answers by a language model from what Engram gives it to read, judged by another. Needs a key, and costs money.

    OPENAI_API_KEY=... python benchmarks/answers.py --reader openai/gpt-4.1-mini
    python benchmarks/answers.py --reader MODEL --judge MODEL --data locomo=locomo10.json --tokens 6000 --limit 100

Each question is answered from `build_context(question)` of so many tokens at most; the judge sees the question, the
answer that is expected, and the one that was given. Questions with answers to choose from are judged by their letter,
without a model. Models are named as LiteLLM names them; ENGRAM_LLM_API_BASE and ENGRAM_LLM_API_KEYS count here too.

Every answer is written to --out at once: a run that was stopped goes on where it was when it is started again. Figures
of different readers, judges or sizes of a context cannot be compared with each other, and a judge accepts some wrong
answers: retrieval against labels (`quality.py`) says more about a memory.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

sys.path.insert(0, str(Path(__file__).parent))

import report
from books import Book
from cases import Case, Question, draw, look, only
from machine import address, database, number, versions
from quality import add, interval
from sets import SETS, Chosen, chosen

from engram import Engram, Scope
from engram.errors import EngramError, ModelRejected, Unavailable
from engram.ids import new_id
from engram.llm import Completion, LanguageModel, LiteModel
from engram.prompting import ChatMessage
from engram.settings import Settings, load

READ: Final = """\
You answer questions about people from memories of their conversations. Use only what the memories say. Dates matter:
where a memory says "yesterday", reckon from its own date. Where something changed, the newest memory counts, unless
the question asks about the past. Answer in as few words as possible. If the memories do not say it, answer: I don't
know.

Memories:
{context}"""
JUDGE: Final = """\
You compare an answer with the one that is expected. It is correct where it says the same thing: other words, more
detail and another form of a date or number are fine. It is wrong where a name, number, date or fact differs, where a
part of the expected answer is missing, and where it evades. Where the expected answer is that this was never said or
cannot be known, an answer that says so, or that it does not know, is correct, and one that names something is wrong.
Where the expected answer lists points, or says what a good answer takes into account, all of that must be met. Reply
with JSON only: {"correct": true} or {"correct": false}."""
ANSWER_TOKENS: Final = 300
VERDICT_TOKENS: Final = 50
DEADLINE: Final = 120.0
TRIES: Final = 5
LONGEST_PAUSE: Final = 60.0
# The letter of a choice: in brackets, or all that is said, or before what it stands for, or after what announces it.
LETTERS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\(([a-d])\)", r"^\W*([a-d])\W*$", r"^\W*([a-d])[.):]",
        r"\b(?:answer|choice|letter|option)(?:\s+is)?\W+([a-d])\b", r"\b([a-d])\W*$",
    )
)  # fmt: skip
JSON: Final = re.compile(r"\{.*\}", re.DOTALL)

Answered = dict[str, Any]


class Verdict(BaseModel):
    """What a judge says."""

    correct: bool


class Spent:
    """What the calls of a run have taken so far."""

    def __init__(self) -> None:
        self.input_tokens, self.output_tokens, self.cost = 0, 0, 0.0

    def note(self, said: Completion) -> None:
        """Add a call."""
        self.input_tokens += said.input_tokens or 0
        self.output_tokens += said.output_tokens or 0
        self.cost += float(said.cost or 0)


# --- one question -----------------------------------------------------------------------------------------------------


def said_by(
    model: LanguageModel, messages: Sequence[ChatMessage], tokens: int, schema: type[BaseModel] | None
) -> Completion:
    """What a model says, after pauses where it asks for them; raises what is still wrong at the fifth try."""
    for left in reversed(range(TRIES)):
        try:
            return model.complete(messages, schema=schema, max_tokens=tokens, deadline=DEADLINE)
        except ModelRejected:
            raise  # the key or the model is wrong: it will be so the next time
        except Unavailable as error:
            if not left:
                raise
            time.sleep(min(float(error.facts.get("retry_after") or 1.0), LONGEST_PAUSE))
    raise AssertionError


def read(model: LanguageModel, context: str, question: Question, asked_at: datetime | None = None) -> Completion:
    """The reader's answer to a question, or the letter of one of its choices; it is told when the question is asked."""
    asked = question.text if asked_at is None else f"Asked on {asked_at:%A, %Y-%m-%d}: {question.text}"
    if question.choices:
        listed = "\n".join(question.choices)
        asked = f"{asked}\n\nWhich of these fits the person best? Answer with its letter only.\n{listed}"
    messages: list[ChatMessage] = [
        {"role": "system", "content": READ.replace("{context}", context)},
        {"role": "user", "content": asked},
    ]
    return said_by(model, messages, ANSWER_TOKENS, None)


def letter_of(said: str) -> str | None:
    """The letter of the choice that is said; the article "a" is none. Pure."""
    found = next((found for pattern in LETTERS if (found := pattern.search(said.strip()))), None)
    return None if found is None else found[1].lower()


def is_correct(model: LanguageModel, question: Question, answer: str, spent: Spent) -> bool | None:
    """Whether an answer is the expected one; None where the judge cannot be understood twice."""
    if question.choices:
        given = letter_of(answer)
        return given is not None and given == letter_of(question.answer)
    told = f"Question: {question.text}\nExpected: {question.answer}\nAnswer: {answer}"
    messages: list[ChatMessage] = [{"role": "system", "content": JUDGE}, {"role": "user", "content": told}]
    for _ in range(2):
        said = said_by(model, messages, VERDICT_TOKENS, Verdict)
        spent.note(said)
        found = JSON.search(said.text)
        try:
            return Verdict.model_validate_json(found[0] if found else said.text).correct
        except ValidationError:
            continue
    return None


# --- a run ------------------------------------------------------------------------------------------------------------


def has_answer(question: Question) -> bool:
    """Whether the set says what the answer is. Pure."""
    return bool(question.answer)


def answer(
    url: str, cases: Iterable[Case], book: Book, reader: LanguageModel, judge: LanguageModel, *, tokens: int, total: int
) -> None:
    """Have every question answered and judged that has an answer, and none in the book yet."""
    with report.progress("answers", total) as step:
        for case in cases:
            mine = [(name, one) for name, one in case.asked() if has_answer(one)]
            left = [(name, one) for name, one in mine if name not in book.lines]
            step(case.name, len(mine) - len(left))
            if not left:
                continue
            with Engram(url, scope=Scope(f"answers-{new_id()}", user_id=case.name), settings=load({})) as memory:
                step(f"{case.name}, remembering {len(case.turns):,} turns", 0)
                add(memory, case.turns)
                for name, question in left:
                    told = _answered(memory, question, case.ended_at, reader, judge, tokens)
                    book.write({"question": name, **told})
                    step(case.name)


def _answered(
    memory: Engram,
    question: Question,
    asked_at: datetime | None,
    reader: LanguageModel,
    judge: LanguageModel,
    tokens: int,
) -> Answered:
    context, spent = memory.build_context(question.text, max_tokens=tokens), Spent()
    said = read(reader, context.text, question, asked_at)
    spent.note(said)
    correct = is_correct(judge, question, said.text, spent)
    return {
        "category": question.category, "asked": question.text, "expected": question.answer, "answer": said.text,
        "correct": correct, "context_tokens": context.tokens, "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens, "cost": round(spent.cost, 6),
    }  # fmt: skip


# --- what is shown ----------------------------------------------------------------------------------------------------


def table(answers: Sequence[Answered]) -> report.Table:
    """How many answers are correct, by category and together; what no judge understood counts as wrong. Pure."""
    kinds = sorted({one["category"] for one in answers})
    lines: list[list[report.Cell]] = []
    for kind in [*kinds, "all"]:
        some = [one for one in answers if kind in ("all", one["category"])]
        value, low, high = interval([100.0 * bool(one["correct"]) for one in some])
        lines.append([kind, len(some), round(value, 1), f"{low:.1f} to {high:.1f}"])
    tokens = round(sum(one["context_tokens"] for one in answers) / len(answers))
    cost = sum(one["cost"] for one in answers)
    unclear = sum(one["correct"] is None for one in answers)
    unread = f"{unclear} verdicts not understood, taken as wrong"
    note = f"{tokens:,} tokens of context a question; {cost:.2f} dollars; {unread}."
    return report.Table("Answers judged correct", ["category", "questions", "per cent", "95 %"], lines, [note])


def save(data: Chosen, answers: Sequence[Answered], about: Mapping[str, Any], with_versions: Mapping[str, str]) -> Path:
    """Write the results for the report."""
    known = SETS[data.name]
    return report.save(
        f"answers-{data.name}",
        title=f"Answers: {data.name}",
        about=f"Answered by {about['reader']} from at most {about['tokens']:,} tokens of context,"
        f" judged by {about['judge']}.",
        versions=with_versions,
        data=[
            report.Data(f"{data.name} ({known.source})", about["sha256"], known.licence, f"{len(answers):,} questions")
        ],
        tables=[table(answers)],
    )


def model(name: str, settings: Settings) -> LanguageModel:
    """A model by its name, reached as the settings say."""
    keys = tuple(key.get_secret_value() for key in settings.llm_api_keys)
    return LiteModel(name, keys=keys, base=settings.llm_api_base)


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", required=True, help="the model that answers")
    parser.add_argument("--judge", help="the model that judges; otherwise the reader")
    parser.add_argument("--data", default="demo", help="demo, or NAME=PATH. Names: " + ", ".join(SETS))
    parser.add_argument("--histories", type=Path, help="LoCoMo's file, for locomo-plus")
    parser.add_argument(
        "--url", type=database, help="a migrated database, as the application role; otherwise an embedded one"
    )
    parser.add_argument("--tokens", type=number, default=4_000, help="of the context at most")
    parser.add_argument("--limit", type=number, help="only so many questions, drawn by --seed; nothing is saved")
    parser.add_argument("--seed", type=int, default=0, help="of the draw: a larger one holds every smaller one")
    parser.add_argument("--out", type=Path, help="where the answers are; otherwise answers-NAME.jsonl")
    return parser.parse_args()


def main() -> None:
    """Answer, judge, print, and save for the report."""
    given, settings = options(), load()
    data = chosen(given.data, given.histories)
    found = look(data.cases(), has_answer)
    print(f"{data.about}\n{found.told()}\n")
    if not found.names:
        raise SystemExit("no question of this set has an expected answer")
    names = draw(found.names, given.limit, given.seed)
    about = {
        "reader": given.reader, "judge": given.judge or given.reader, "tokens": given.tokens, "data": data.name,
        "sha256": report.sha256(*data.files), "commit": report.commit(),
    }  # fmt: skip
    book = Book(given.out or Path(f"answers-{data.name}.jsonl"), about)
    reader, judge = model(about["reader"], settings), model(about["judge"], settings)
    with address(given.url) as url:
        try:
            cases = only(data.cases(), names)
            answer(url, cases, book, reader, judge, tokens=given.tokens, total=len(names))
        except EngramError as error:
            raise SystemExit(f"{error}\nWhat was answered is kept: start the same command again to go on.") from None
        answers = [line for name, line in book.lines.items() if name in names]
        shown = table(answers)
        print(f"\n{shown.title}\n{report.markdown(shown.columns, shown.rows)}\n{shown.notes[0]}")
        if given.limit is None:
            saved = save(data, answers, about, versions(url, "litellm"))
            print(f"\n{report.shown(saved)} is written, and docs/benchmarks.md")


if __name__ == "__main__":
    main()
