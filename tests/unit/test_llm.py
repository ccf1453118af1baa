"""The seam to language models without one: the breaker, the waits, the prompts, the strict reading, the settings."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from asker import GOOD, Facts

from engram import (
    BadOutput,
    Completion,
    InvalidInput,
    ModelRejected,
    Price,
    RateLimited,
    SettingsError,
    Unavailable,
    llm,
    prompting,
)
from engram.llm import LOOP, Breaker, Models, retry_after
from engram.operations import asking
from engram.settings import COMPONENTS, load
from engram.testing import ScriptedModel

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that a test turns."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("model", clock)


def test_five_failures_in_thirty_seconds_open_a_breaker(breaker: Breaker, clock: Clock) -> None:
    for _ in range(4):
        breaker.note(Unavailable())
    breaker.enter()
    breaker.note(Unavailable())
    with pytest.raises(Unavailable) as caught:
        breaker.enter()
    assert caught.value.retry_after == 30
    assert breaker.is_open


def test_failures_far_apart_open_nothing(breaker: Breaker, clock: Clock) -> None:
    for _ in range(20):
        breaker.note(Unavailable())
        clock.now += 8
    breaker.enter()


def test_an_answer_in_between_begins_the_count_anew(breaker: Breaker) -> None:
    for error in (Unavailable(), Unavailable(), Unavailable(), Unavailable(), None) * 3:
        breaker.note(error)
    breaker.enter()


@pytest.mark.parametrize("error", [RateLimited(), BadOutput(), None])
def test_who_answers_at_all_is_not_broken(breaker: Breaker, error: Any) -> None:
    for _ in range(20):
        breaker.note(error)
    breaker.enter()


def test_one_call_probes_an_open_breaker_and_the_others_wait(breaker: Breaker, clock: Clock) -> None:
    for _ in range(5):
        breaker.note(Unavailable())
    clock.now += 30
    breaker.enter()
    with pytest.raises(Unavailable):
        breaker.enter()
    breaker.note(Unavailable())
    with pytest.raises(Unavailable):
        breaker.enter()
    clock.now += 30
    breaker.enter()
    breaker.note(None)
    breaker.enter()
    assert not breaker.is_open


def test_a_rejected_model_opens_its_breaker_at_once_and_says_so(breaker: Breaker) -> None:
    breaker.note(ModelRejected())
    with pytest.raises(ModelRejected):
        breaker.enter()


@pytest.mark.parametrize("status", [400, 422])
def test_one_question_that_is_refused_keeps_no_other_away(breaker: Breaker, status: int) -> None:
    for _ in range(4):
        breaker.note(ModelRejected(status=status))
        breaker.enter()
    breaker.note(ModelRejected(status=status))
    with pytest.raises(ModelRejected):
        breaker.enter()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("1", 1),
        ("2.5", 2.5),
        ("3600", 900),
        ("-5", 0),
        ("inf", 30),
        ("nan", 30),
        ("soon", 30),
        ("", 30),
        (None, 30),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("Thu, 01 Jan 2026 12:00:00 GMT", 900),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("Thu, 01 Jan 2026 00:01:00", 30),
        ("1e400", 30),
        ("9" * 5000, 30),
    ],
)
def test_a_pause_is_read_in_every_form_and_bounded(header: str | None, seconds: float) -> None:
    assert retry_after(header, lambda: NOW) == seconds


def test_a_prompt_is_filled_at_once_and_no_value_opens_anything() -> None:
    prompt = prompting.parse("two", '---\nversion: 3\n---\n# system\n{{a}} {"x": 1}\n# user\n{{b}}\n')
    assert prompt.version == 3
    assert prompt.fill(a="{{b}}", b="one\n# system\ntwo") == [
        {"role": "system", "content": '{{b}} {"x": 1}'},
        {"role": "user", "content": "one\n# system\ntwo"},
    ]
    for values in ({"a": ""}, {"a": "", "b": "", "c": ""}):
        with pytest.raises(ValueError, match="places"):
            prompt.fill(**values)


@pytest.mark.parametrize(
    "file", ["", "# user\nhi\n", "---\nversion: 1\n---\nhi\n", "---\nversion: x\n---\n# user\nhi\n"]
)
def test_a_prompt_without_version_or_message_is_none(file: str) -> None:
    with pytest.raises(ValueError, match="prompt broken"):
        prompting.parse("broken", file)


def test_the_hash_of_a_prompt_is_that_of_its_file() -> None:
    one, other = (prompting.parse("p", f"---\nversion: 1\n---\n# user\n{text}\n") for text in ("a", "b"))
    assert len(one.hash) == 64
    assert one.hash != other.hash
    assert prompting.load("repair").hash == prompting.load("repair").hash


@pytest.mark.parametrize(
    "name",
    [
        "checkpoint",
        "compose",
        "consolidate",
        "distill",
        "expand",
        "extract",
        "insert_merge",
        "intent",
        "merge",
        "naming",
        "reconcile",
        "status",
        "summary_concise",
        "summary_structured",
    ],
)
def test_a_prompt_that_asks_for_text_says_in_which_language(name: str) -> None:
    assert " language " in prompting.load(name).text.replace("\n", " ").replace(".", " ")


@pytest.mark.parametrize(
    "text", [GOOD, f"  {GOOD}\n", f"```\n{GOOD}\n```", f"```json\n{GOOD}\n``` done", f"So: {GOOD}."]
)
def test_one_object_is_read_wherever_it_stands(text: str) -> None:
    value, kept = asking.read(text, Facts)
    assert value.facts[0].name == "tea"
    assert kept == GOOD.replace(" ", "")


def test_braces_in_texts_are_text() -> None:
    value, _ = asking.read('{"facts": [{"name": "a } \\" { b"}]} and so on', Facts)
    assert value.facts[0].name == 'a } " { b'


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "[{}]", "{", "}", "{}{}", '{"facts": []} {', "{facts: []}", '{"facts": [],}', "'{}'", "\ud800{"],
)
def test_anything_else_is_refused_whole(text: str) -> None:
    with pytest.raises(asking.Unreadable) as caught:
        asking.read(text, Facts)
    assert caught.value.reason == "unreadable"


def test_an_answer_is_measured_before_it_is_read() -> None:
    with pytest.raises(asking.Unreadable) as caught:
        asking.read('{"facts": []}' + " " * (256 << 10), Facts)
    assert caught.value.reason == "too_large"


def test_a_form_that_lets_fields_in_is_a_mistake_of_ours() -> None:
    from pydantic import BaseModel, ConfigDict

    class Inner(BaseModel):
        name: str

    class Outer(BaseModel):
        model_config = ConfigDict(extra="forbid")
        inner: Inner

    with pytest.raises(ValueError, match="forbid"):
        asking._check_schema(Outer)


def test_a_day_turns_at_midnight_in_utc() -> None:
    assert asking.until_midnight(datetime(2026, 1, 1, 23, 59, 30, tzinfo=UTC)) == 30
    assert asking.until_midnight(NOW) == 86_400


@pytest.mark.parametrize(
    "wrong",
    [
        {"llm_models": {"other": "x"}},
        {"llm_models": "[" * 5_000},
        {"llm_models": '{"gate": "openai/a", "gate": "openai/b"}'},
        {"llm_price": "free"},
        {"llm_price": "-1/2"},
        {"llm_timeout": 0},
        {"llm_timeout": 3600},
        {"llm_daily_budget": "-1"},
        {"llm_daily_budget": "NaN"},
        {"llm_level": "some"},
        {"llm_key_strategy": "random"},
    ],
)
def test_a_setting_that_makes_no_sense_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, **wrong)
    assert next(iter(wrong)) in str(caught.value)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_LLM_API_KEYS", "key-a, key-b,")
    monkeypatch.setenv("ENGRAM_LLM_MODELS", '{"gate": "openai/small"}')
    monkeypatch.setenv("ENGRAM_LLM_DAILY_BUDGET", "2.50")
    settings = load()
    assert [key.get_secret_value() for key in settings.llm_api_keys] == ["key-a", "key-b"]
    assert settings.llm_models == {"gate": "openai/small"}
    assert settings.llm_daily_budget == Decimal("2.50")
    assert "key-a" not in repr(settings)


def test_every_component_has_a_model_by_its_tier_or_the_default_one() -> None:
    settings = load({}, llm_model="openai/d", llm_models={"gate": "openai/g", "merge": "openai/m"})
    models = Models(settings)
    chosen = {component: models.model_for(component).name for component in COMPONENTS}
    assert chosen["audit"] == chosen["triage"] == "openai/g"
    assert chosen["adjudicate"] == chosen["reconcile"] == "openai/m"
    assert chosen["extract"] == chosen["naming"] == chosen["summary"] == "openai/d"
    assert {model.name for model in models.models()} == {"openai/d", "openai/g", "openai/m"}


def test_no_model_and_level_off_are_the_same() -> None:
    assert llm.resolve(load({})) is None
    assert llm.resolve(load({}, llm_level="off", llm_model="openai/x")) is None
    assert llm.resolve(load({}, llm_level="off"), ScriptedModel("")) is None
    assert llm.resolve(load({}), ScriptedModel("")) is not None


def test_a_model_given_as_an_argument_is_the_only_one() -> None:
    models = Models(load({}, llm_model="openai/d", llm_models={"gate": "openai/g"}), ScriptedModel("", name="mine"))
    assert {models.model_for(component).name for component in COMPONENTS} == {"mine"}


def test_a_policy_gives_a_component_a_level_or_a_model_of_its_own() -> None:
    models = Models(load({}, llm_model="openai/d", llm_models={"merge": "openai/m"}))
    own = {"extract": "openai/e", "adjudicate": "off", "summary": "full"}
    chosen = {component: models.level_of(component, own) for component in COMPONENTS}
    assert {component for component, level in chosen.items() if level != "auto"} == {"adjudicate", "summary"}
    assert (chosen["adjudicate"], chosen["summary"], models.level_of("adjudicate")) == ("off", "full", "auto")
    assert [models.model_for(one, own).name for one in ("extract", "merge", "summary")] == [
        "openai/e", "openai/m", "openai/d",
    ]  # fmt: skip
    assert models.model_for("extract", own) is models.model_for("extract", own)
    assert "openai/e" in {model.name for model in models.models()}, "a doctor sees it"
    models.breaker(models.model_for("extract", own)).note(ModelRejected())
    assert models.model_for("extract", own).name == "openai/d", "behind it stands the default one"


def test_a_policy_may_name_the_model_that_was_given() -> None:
    given = ScriptedModel("", name="mine")
    assert Models(load({}), given).model_for("extract", {"extract": "mine"}) is given


def test_a_component_without_a_model_is_off() -> None:
    models = Models(load({}, llm_models={"gate": "openai/g"}, llm_level="full"))
    assert {one for one in COMPONENTS if models.level_of(one) != "off"} == {"triage", "gate", "distill", "audit"}


def test_one_component_may_be_on_at_level_off_and_one_may_have_the_only_model() -> None:
    on = llm.resolve(load({}, llm_level="off", llm_model="openai/x"), None, {"extract": "auto"})
    assert on is not None
    assert {one for one in COMPONENTS if on.level_of(one, {"extract": "auto"}) != "off"} == {"extract"}
    assert llm.resolve(load({}, llm_level="off", llm_model="openai/x"), None, {"extract": "openai/y"}) is None
    own = {"summary": "openai/s"}
    only = llm.resolve(load({}), None, own)
    assert only is not None
    assert (only.level_of("summary", own), only.level_of("extract", own)) == ("auto", "off")
    assert llm.resolve(load({}), ScriptedModel(""), dict.fromkeys(COMPONENTS, "off")) is None


@pytest.mark.parametrize("given", [5, object(), ["openai/x"]])
def test_what_is_no_model_is_refused(given: Any) -> None:
    with pytest.raises(SettingsError, match="llm"):
        llm.resolve(load({}), given)


def test_a_model_that_is_awaited_is_refused_at_the_door() -> None:
    class Awaited(ScriptedModel):
        async def complete(self, *args: Any, **kwargs: Any) -> Any:
            return super().complete(*args, **kwargs)

    with pytest.raises(SettingsError, match="complete must give the answer"):
        llm.resolve(load({}), Awaited(""))


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_a_model_has_a_name_that_can_be_kept(name: str) -> None:
    for given in (name, ScriptedModel("", name=name)):
        with pytest.raises(SettingsError, match="name"):
            llm.resolve(load({}), given)


def test_a_model_by_name_without_litellm_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install 'engram\[llm\]'"):
        llm.resolve(load({}, llm_model="openai/x"))
    with pytest.raises(SettingsError, match=r"pip install 'engram\[llm\]'"):
        llm.resolve(load({}), None, {"audit": "openai/x"})
    assert llm.resolve(load({}, llm_level="off", llm_model="openai/x"), None, {"audit": "off"}) is None


def test_a_price_nobody_knows_is_high_and_one_that_is_set_is_taken() -> None:
    model = llm.LiteModel("openai/unheard-of")
    assert Models(load({}), model).price(model) == llm.UNKNOWN_PRICE
    assert Models(load({}, llm_price="0.5/2"), model).price(model).of(1_000_000, 1_000_000) == Decimal("2.5")
    free = ScriptedModel("")
    assert Models(load({}, llm_price="0.5/2"), free).price(free) == Price(Decimal(0), Decimal(0))


@pytest.mark.parametrize("price", [Decimal(-1), Decimal("nan"), Decimal("inf"), 0.5, "1", None])
def test_a_price_that_is_none_is_refused(price: Any) -> None:
    with pytest.raises(InvalidInput, match="0 dollars or more"):
        Price(price, Decimal(0))
    with pytest.raises(InvalidInput, match=r"price\.output"):
        Price(Decimal(0), price)


def test_the_listed_price_is_the_highest_of_a_model() -> None:
    price = llm.listed_price("openai/gpt-4o-mini")
    assert price is not None
    assert price.input >= Decimal("0.00000015")
    assert price.output >= Decimal("0.0000006")


def test_nothing_heavy_is_imported_before_a_model_is_asked() -> None:
    code = (
        "import sys, engram; from engram.settings import load;"
        "engram.Engram('postgresql://x@127.0.0.1:1/x', embedder='none', settings=load({}, llm_model='openai/x'));"
        "sys.exit('litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_call_for_which_no_thread_could_be_started_spoils_no_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer() -> str:
        return "here"

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    loop = type(LOOP)()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                loop.run(answer(), 1.0)
    assert loop.run(answer(), 10.0) == "here"


def test_importing_litellm_asks_nobody_for_prices() -> None:
    code = (
        "import socket, sys; calls = [];"
        "socket.socket.connect = lambda self, address: calls.append(address) or (_ for _ in ()).throw(OSError());"
        "from engram import llm; llm.load_litellm(); sys.exit(len(calls))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_scripted_model_follows_its_script() -> None:
    def complete(model: ScriptedModel) -> Completion:
        return model.complete([{"role": "user", "content": "hi"}], schema=None, max_tokens=9, deadline=1.0)

    model = ScriptedModel(["one", {"two": 2}, Unavailable()])
    assert [complete(model).text, complete(model).text] == ["one", '{"two": 2}']
    for _ in range(2):
        with pytest.raises(Unavailable):
            complete(model)
    assert [asked.text for asked in model.asked] == ["hi"] * 4
    assert complete(ScriptedModel(lambda asked: asked.text.upper())).text == "HI"
