"""The two doors: alike in every name and argument, light to import, and useless to the wrong tenant."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_type_hints

import pytest
from waiting import PATIENCE

import engram
from engram import (
    AsyncEngram,
    AsyncOps,
    AsyncSessionContext,
    Engram,
    InvalidInput,
    NotFound,
    Ops,
    Scope,
    SessionContext,
    SettingsError,
    Unavailable,
    client,
    operations,
)
from engram.settings import Settings, load

PAIRS = [(Engram, AsyncEngram), (Ops, AsyncOps), (SessionContext, AsyncSessionContext)]


def public(door: type) -> dict[str, object]:
    return {name: value for name, value in vars(door).items() if not name.startswith("_") and callable(value)}


@pytest.mark.parametrize(("door", "twin"), PAIRS)
def test_both_doors_have_the_same_methods_with_the_same_arguments_and_words(door: type, twin: type) -> None:
    ours, theirs = public(door), public(twin)
    assert set(ours) == set(theirs)
    for name, method in ours.items():
        mine, other = inspect.signature(method), inspect.signature(theirs[name])  # type: ignore[arg-type]
        assert mine.parameters == other.parameters, name
        # What a plain call makes is awaited when it is used; its kind is the asynchronous one of the same name.
        plain = name in ("follow", "session")
        assert other.return_annotation == ("Async" if plain else "") + mine.return_annotation, name
        if name != "close":
            assert inspect.getdoc(method) == inspect.getdoc(theirs[name]), name
            assert inspect.iscoroutinefunction(theirs[name]) is not plain, name


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    assert len(set(engram.__all__)) == len(engram.__all__)
    assert set(engram._ROOM_OF) | {"__version__"} == set(engram.__all__)
    for name in engram.__all__:
        value = getattr(engram, name)
        if isinstance(value, type) or callable(value):
            assert (inspect.getdoc(value) or "").strip(), name
    with pytest.raises(AttributeError):
        engram.nothing_of_that_name  # noqa: B018


def test_importing_opens_nothing_and_loads_nothing_heavy() -> None:
    program = (
        "import sys, engram; "
        "heavy = {'sqlalchemy', 'psycopg', 'numpy', 'wordllama', 'litellm', 'pydantic', 'alembic', 'typer'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_a_door_loads_neither_the_driver_nor_what_reads_sentences() -> None:
    program = (
        "import sys; from engram import Engram, AsyncEngram; "
        "heavy = {'sqlalchemy', 'psycopg', 'numpy', 'engram.database', 'engram.policies.classify', 'engram.recall', "
        "'engram.english.subjects', 'engram.english.claims', 'engram.english.courses', 'engram.intent'}; "
        "loaded = {name for name in sys.modules if name.startswith('engram.operations.')}; "
        "print(sorted(heavy & set(sys.modules)), sorted(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] ['engram.operations.arguments', 'engram.operations.steps']"


@pytest.mark.parametrize(
    ("door", "modules"), [("Engram", ["core", "door", "ops"]), ("AsyncEngram", ["async_door", "async_ops", "core"])]
)
def test_importing_a_door_loads_nothing_of_the_other(door: str, modules: list[str]) -> None:
    program = (
        f"import sys; from engram import {door}; "
        "print(sorted(name.rpartition('.')[2] for name in sys.modules if name.startswith('engram.client.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(modules)


def test_every_door_is_found_in_the_room_of_the_doors() -> None:
    assert dir(client) == client.__all__ == sorted(door.__name__ for pair in PAIRS for door in pair)
    for name in client.__all__:
        assert getattr(client, name) is getattr(engram, name)
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        client.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize("door", [door for pair in PAIRS for door in pair])
def test_the_types_of_every_argument_are_found_by_whoever_asks_for_them(door: type) -> None:
    for method in public(door).values():
        assert "return" in get_type_hints(method)
    if door in (Engram, AsyncEngram):  # the others are made by these
        assert "settings" in get_type_hints(door.__init__)


def test_an_operation_is_loaded_when_it_is_named() -> None:
    assert operations.relating is sys.modules["engram.operations.relating"]
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        operations.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize("door", [Engram, AsyncEngram])
def test_what_a_door_is_not_opened_with_is_sent_where_it_belongs(door: type) -> None:
    for name, place in (
        ("user_id", "scoped(user_id=…)"),
        ("data_dir", "ENGRAM_DATA_DIR"),
        ("key", "one of database_url"),
    ):
        with pytest.raises(InvalidInput) as refused:
            door(**{name: "x"})
        assert f"{name}: expected " in str(refused.value)
        assert place in str(refused.value)


def test_a_setting_that_does_not_exist_is_named() -> None:
    with pytest.raises(SettingsError, match="ENGRAM_NO_SUCH_THING"):
        load({"ENGRAM_NO_SUCH_THING": "1"})


def test_settings_given_to_a_door_judge_the_names_of_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_POOLSIZE", "5")
    for made in (Settings, lambda: Settings(pool_size=3), load, lambda: Engram(settings=Settings())):
        with pytest.raises(SettingsError, match=r"^ENGRAM_POOLSIZE: no such setting; the settings are"):
            made()
    assert load({}).pool_size == Settings.model_fields["pool_size"].default


def test_an_environment_that_is_given_stands_for_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ENGRAM_USER", "ada"),
        ("DATABASE_URL", "postgresql://here/x"),
        ("ENGRAM_TIME_ZONE", "Nowhere"),
    ):
        monkeypatch.setenv(name, value)
    assert (load({}).user, load({}).database_url) == (None, None)
    told = load(
        {
            "ENGRAM_USER": "bob", "engram_pool_size": "7", "ENGRAM_LOCK_TIMEOUT": "2", "ENGRAM_TENANT": "",
            "ENGRAM_LLM_MODELS": '{"gate": "openai/g"}', "ENGRAM_LLM_API_KEYS": "a, b", "REDIS_URL": "redis://there",
            "HOME": "x",
        },
        namespace="here",
    )  # fmt: skip
    assert (told.user, told.pool_size, told.lock_timeout.total_seconds(), told.tenant) == ("bob", 7, 2, "default")
    assert (told.namespace, dict(told.llm_models), len(told.llm_api_keys)) == ("here", {"gate": "openai/g"}, 2)
    assert told.redis_url is not None
    with pytest.raises(SettingsError, match=r"^pool_size: expected a whole number"):
        load({"ENGRAM_POOL_SIZE": "many"})
    monkeypatch.setenv("ENGRAM_TIME_ZONE", "Europe/Paris")
    assert Settings().user == load().user == "ada"


def test_there_are_few_settings_and_each_says_what_it_is_for() -> None:
    assert len(Settings.model_fields) < 40
    assert all(field.description for field in Settings.model_fields.values())


def test_a_setting_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_POOL_SIZE", "many")
    with pytest.raises(SettingsError, match=r"(?i)pool_size"):
        load()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"pool_size": "many"}, "pool_size: expected a whole number"),
        ({"poolsize": 3}, "poolsize: no such setting"),
        ({"time_zone": "Nowhere"}, "time_zone: expected an IANA time zone"),
    ],
)
def test_settings_of_ones_own_that_make_no_sense_are_named_alike(given: dict[str, Any], told: str) -> None:
    for make in (Settings, load):
        with pytest.raises(SettingsError, match=f"^{told}"):
            make(**given)


def test_a_closed_door_says_so(database_url: str, tenant: str) -> None:
    door = Engram(database_url, scope=Scope(tenant_id=tenant))
    door.add("User likes tea")
    door.close()
    with pytest.raises(Unavailable, match="closed"):
        door.list_memories()


def test_a_bad_argument_is_refused_before_anything_is_opened() -> None:
    door = Engram("postgresql://nobody@127.0.0.1:1/nowhere")
    with pytest.raises(InvalidInput):
        door.add("")
    with pytest.raises(InvalidInput):
        door.search("tea", limit=-1)


@pytest.mark.parametrize(
    ("call", "takes"),
    [
        (lambda door: door.add("x", foo=1), {"fact", "memory_type", "valid_to", "actor", "user_id"}),
        (lambda door: door.annotate("mem-1a2b3c4d", foo=1), {"memory_id", "importance", "reason"}),
        (lambda door: door.search("x", foo=1), {"query", "limit", "min_score", "as_of"}),
        (lambda door: door.ops.import_("x", foo=1), {"path", "format", "on_conflict", "strict", "dry_run"}),
    ],
    ids=["add", "annotate", "search", "import"],
)  # fmt: skip
async def test_an_unknown_argument_is_refused_by_naming_all_that_the_call_takes(call: Any, takes: set[str]) -> None:
    with pytest.raises(InvalidInput) as refused, Engram("postgresql://nobody@127.0.0.1:1/nowhere") as door:
        call(door)
    with pytest.raises(InvalidInput) as awaited:
        async with AsyncEngram("postgresql://nobody@127.0.0.1:1/nowhere") as twin:
            await call(twin)
    assert str(awaited.value) == str(refused.value)
    assert refused.value.field == "foo"
    assert takes <= set(refused.value.expected.removeprefix("an argument of this call: ").split(", "))
    assert not {"self", "given"} & set(refused.value.expected.split(", "))


def test_a_database_that_is_not_there_is_unavailable_and_says_no_password() -> None:
    door = Engram("postgresql://nobody:secret-word@127.0.0.1:1/nowhere")
    with pytest.raises(Unavailable) as caught:
        door.list_memories()
    assert "secret-word" not in str(caught.value)


def test_a_scoped_door_shares_the_connections_and_closing_it_closes_nothing(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door:
        ada = door.scoped(user_id="ada")
        ada.add("User likes tea")
        ada.close()
        assert len(ada.list_memories()) == 1
        assert len(door.list_memories()) == 0


def test_a_message_list_is_for_remember(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant_id=tenant)) as door, pytest.raises(InvalidInput, match="remember"):
        door.add([{"role": "user", "content": "hello"}])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"title": 3}, "title"), ({"date": ["2026-11-20"]}, "date"), ({"summary": {}}, "summary"),
        ({"attendees": "Ann"}, "attendees"), ({"attendees": [None]}, "attendees[0]"), ({"topics": {"a": 1}}, "topics"),
        ({"decisions": ["Use PostgreSQL", 5]}, "decisions[1]"), ({"action_items": ["write docs"]}, "action_items[0]"),
        ({"action_items": [{"who": "Ann"}]}, "action_items[0].what"),
        ({"action_items": [{"what": "write", "due": 5}]}, "action_items[0].due"),
    ],
)  # fmt: skip
def test_a_meeting_that_no_rule_could_read_is_refused(
    database_url: str, tenant: str, payload: dict[str, object], field: str
) -> None:
    with Engram(database_url, scope=Scope(tenant), embedder="none") as door:
        with pytest.raises(InvalidInput) as refused:
            door.record_event("Weekly", event_type="meeting", payload=payload)
        assert refused.value.field == f"payload.{field}"
        assert not door.list_events()
        assert door.record_event("Weekly", payload=payload).position == 1  # of another type it is the caller's own


def test_a_meeting_may_leave_out_and_add_what_it_likes(database_url: str, tenant: str) -> None:
    items = [{"what": "write the docs", "who": None, "priority": 1}]
    with Engram(database_url, scope=Scope(tenant), embedder="none") as door:
        made = door.record_event(
            "Weekly", event_type="meeting", payload={"title": None, "action_items": items, "room": 7}
        )  # fmt: skip
        assert [one.memory.fact for one in made.decisions if one.memory] == ["Weekly", "write the docs"]


def test_what_a_meeting_decided_at_length_is_reached_to_its_end(database_url: str, tenant: str) -> None:
    decided = "We ship " + "after the review " * 600 + "on Monday"
    with Engram(database_url, scope=Scope(tenant), embedder="none") as door:
        made = door.record_event("Weekly", event_type="meeting", payload={"decisions": [decided]})
        kept = made.decisions[-1].memory
        assert kept is not None
        assert (kept.memory_type, kept.main_content) == ("decision", decided)


async def test_the_asynchronous_door_walks_the_same_roads(database_url: str, tenant: str) -> None:
    async with AsyncEngram(database_url, scope=Scope(tenant_id=tenant, user_id="ada")) as door:
        receipt = await door.remember("I live in Ottawa")
        assert [decision.kind for decision in receipt.decisions] == ["add", "add"]
        moved = await door.add("User lives in Toronto")
        assert moved.kind == "revise"
        answer = await door.recall("Where do I live?")
        assert "Toronto" in answer.answer_text
        assert [memory.fact for memory in answer.previous] == ["User lives in Ottawa"]
        with pytest.raises(NotFound):
            await door.get("01890000-0000-7000-8000-000000000001")
        report = await door.ops.verify_ledger()
        assert report.ok
        assert report.events == 2


async def test_what_asks_no_model_waits_for_none(database_url: str, tenant: str) -> None:
    """Threads are for models: with all of them taken, whoever wanted another to find the database waited, too."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    model = Slow()
    async with AsyncEngram(database_url, scope=Scope(tenant_id=tenant), embedder=model) as door:
        await door.record_event("The door is open")
        model.answers.clear()
        waiting = asyncio.create_task(door.add("The kettle is on"))
        while not model.asked:
            await asyncio.sleep(0.001)
        try:
            async with asyncio.timeout(PATIENCE):
                await door.record_event("The bell rang", derive="skip")
                assert len(await door.list_events()) == 2
        finally:
            model.answers.set()
        assert (await waiting).kind == "add"


class Slow:
    """An embedder that answers when it may."""

    name, dimensions, max_tokens = "slow", 3, None

    def __init__(self) -> None:
        self.asked, self.answers = False, threading.Event()
        self.answers.set()

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.asked = not self.answers.is_set()
        assert self.answers.wait(PATIENCE)
        return [[1.0, 2.0, 3.0 + len(text)] for text in texts]


@pytest.mark.parametrize("given", [{"policy": 3}, {"scope": "ada"}, {"settings": {}}, {"embedder": 3}])
def test_a_door_refuses_what_is_no_policy_scope_settings_or_embedder(given: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Engram("postgresql://nobody@127.0.0.1:1/nowhere", **given)  # type: ignore[arg-type]
