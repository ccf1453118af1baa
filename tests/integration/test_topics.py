"""Topics in the database: made, changed, named, read, linked, and forgotten with what is erased."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from engram import Engram, MemoryPolicy, Scope, tenancy
from engram.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from engram.lifecycle import topics, trees
from engram.operations import spaces, steps
from engram.operations import topics as rooms
from engram.testing import ScriptedModel
from tests.quiet import quiet

DATABASE = [
    "The database of the shop is PostgreSQL 16", "Backups of the database run every night",
    "The database is restored from backups in an hour", "PostgreSQL backups are kept for a month",
    "The shop database lives on the server atlas",
]  # fmt: skip
DOG = [
    "The dog of the user is a golden retriever", "Rex is the name of the dog", "The dog eats twice a day",
    "The dog sleeps in the kitchen", "The golden retriever likes the lake",
]  # fmt: skip


class Kinds:
    """An embedder by which texts of one kind, their first word, are `near` alike, and texts of two kinds are not."""

    name, dimensions, max_tokens = "kinds", 64, None

    def __init__(self, near: float = 0.7) -> None:
        self.near = near

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        return np.array([self._of(text) for text in texts], dtype=np.float32)

    def _of(self, text: str) -> Any:
        own = np.zeros(64)
        own[sum(map(ord, text.split()[0])) % 16] = self.near**0.5
        chance = np.random.default_rng(sum(ord(sign) * (place + 1) for place, sign in enumerate(text)))
        rest = chance.normal(size=48)
        own[16:] = rest / np.linalg.norm(rest) * (1 - self.near) ** 0.5
        return own


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Engram]:
    with Engram(database_url, scope=Scope(tenant, user_id="mia"), embedder=Kinds()) as made:
        yield quiet(made)


def told(door: Engram, facts: Sequence[str], **words: Any) -> list[str]:
    call = {name: words.pop(name) for name in ("user_id", "trust") if name in words}
    items: list[Any] = [{"fact": fact, "force": True, **words} for fact in facts]
    made = door.add_many(items, **call)
    return [one.memory.memory_id for one in made if one.memory is not None]


def kinds(word: str, many: int, start: int = 0) -> list[str]:
    return [f"{word} fact number{n} of the {word}" for n in range(start, start + many)]


def counted(calls: list[int]) -> Any:
    """What makes a tree, and a note that one was made."""
    grow = topics.grow

    def noted(*given: Any) -> Any:
        calls.append(1)
        return grow(*given)

    return noted


def leaf_of(door: Engram, memory_id: str) -> str | None:
    names = [topic.topic_id for topic in door.list_topics()]
    opened = door.get_topics(names)
    return next((name for name in names if memory_id in [one.memory_id for one in opened[name].memories]), None)


def members(door: Engram, topic_id: str) -> set[str]:
    return {one.memory_id for one in door.get_topics([topic_id])[topic_id].memories}


def tend(door: Engram) -> None:
    """What the job of links and topics does, now."""
    setup = door._setup

    def find(conn: Any) -> int:
        return int(tenancy.find(conn, setup.scope) or 0)

    def whole() -> Any:
        made = yield from spaces.ready(setup, setup.scope.tenant_id)
        scope_id = yield from steps.read(setup.scope.tenant_id, find)
        yield from rooms.rebuild_step(made, setup.scope.for_write(), scope_id)

    door._run(whole())


def rows(door: Engram, sql: str, **values: Any) -> list[Any]:
    tenant = door._setup.scope.tenant_id
    return door._run(steps.read(tenant, lambda conn: list(conn.execute(sa.text(sql), {"tenant": tenant, **values}))))


# The tree ------------------------------------------------------------------------------------------------------------


def test_there_are_no_topics_until_they_are_made(door: Engram) -> None:
    assert door.list_topics() == ()
    told(door, kinds("apple", 3))
    assert door.list_topics() == ()


def test_memories_that_belong_together_are_one_topic_named_by_their_words(database_url: str, tenant: str) -> None:
    with Engram(database_url, scope=Scope(tenant, user_id="mia")) as made:
        door = quiet(made)
        shop, dog = told(door, DATABASE), told(door, DOG)
        run = door.ops.rebuild_topics()
        assert (run.step, run.changes, run.dry_run) == ("topics", (), False)
        found = door.list_topics()
        assert sum(topic.members for topic in found) == 10
        assert [topic.members for topic in found] == sorted((topic.members for topic in found), reverse=True)
        assert all(topic.name and topic.named_by == "words" for topic in found)
        assert leaf_of(door, shop[1]) == leaf_of(door, shop[3]) != leaf_of(door, dog[1])


def test_a_topic_is_opened_by_its_id(door: Engram) -> None:
    apples, boats = told(door, kinds("apple", 5)), told(door, kinds("boat", 3))
    door.ops.rebuild_topics()
    first, second = door.list_topics()
    assert (first.members, second.members) == (5, 3)
    assert {first.topic_id, second.topic_id} == {"kb1", "kb2"}
    opened = door.get_topics([first.topic_id, second.topic_id])
    assert list(opened) == [first.topic_id, second.topic_id]
    assert [one.memory_id for one in opened[first.topic_id].memories] == apples[::-1]  # the newest first
    assert members(door, second.topic_id) == set(boats)
    assert opened[first.topic_id].topic == first
    assert "apple" in first.name
    assert "boat" in second.name
    assert first.scope == door._setup.scope.for_write()


def test_an_id_that_is_none_and_one_that_nobody_has_are_told_apart(door: Engram) -> None:
    told(door, kinds("apple", 3))
    door.ops.rebuild_topics()
    for wrong in ("kb0", "3", "kb01", "", 7):
        with pytest.raises(InvalidInput):
            door.get_topics([wrong])  # type: ignore[list-item]
    for missing in ("kb99", "kb1.999999999"):
        with pytest.raises(NotFound):
            door.get_topics([missing])
    with pytest.raises(LimitExceeded):
        door.get_topics(["kb1"] * 51)
    with pytest.raises(InvalidInput):
        door.list_topics(as_of="2020-01-01")  # type: ignore[call-arg]
    assert door.get_topics([]) == {}


def test_what_is_no_longer_current_is_shown_in_no_topic_even_before_the_tree_follows(door: Engram) -> None:
    apples, boats = told(door, kinds("apple", 4)), told(door, kinds("boat", 2))
    door.ops.rebuild_topics()
    apple, boat = leaf_of(door, apples[0]), leaf_of(door, boats[0])
    assert apple is not None
    assert boat is not None
    door.forget(apples[0])
    for memory_id in boats:
        door.forget(memory_id)
    assert members(door, apple) == set(apples[1:])
    assert [topic.topic_id for topic in door.list_topics()] == [apple]
    tend(door)
    assert [(topic.topic_id, topic.members) for topic in door.list_topics()] == [(apple, 3)]


def test_evidence_is_in_no_topic(door: Engram) -> None:
    told(door, kinds("apple", 3))
    told(door, ["apple word for word"], category="verbatim")
    door.ops.rebuild_topics()
    assert sum(topic.members for topic in door.list_topics()) == 3


def test_a_few_new_memories_are_put_in_and_the_rest_stays(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    told(door, kinds("apple", 6)), told(door, kinds("boat", 6))
    door.ops.rebuild_topics()
    before = {topic.topic_id: topic.name for topic in door.list_topics()}
    grown: list[int] = []
    monkeypatch.setattr(topics, "grow", lambda *given: grown.append(1))
    [apple] = told(door, kinds("apple", 1, 50))
    fresh = told(door, kinds("cellar", 3))
    tend(door)
    assert grown == []
    after = {topic.topic_id: topic.name for topic in door.list_topics()}
    assert before.items() < after.items()
    assert leaf_of(door, apple) in before
    assert leaf_of(door, fresh[0]) == leaf_of(door, fresh[2]) == "kb3"
    assert "cellar" in after["kb3"]


@pytest.mark.parametrize(("changes", "anew"), [(10, False), (11, True)])
def test_a_tree_is_made_anew_above_ten_changes(
    door: Engram, monkeypatch: pytest.MonkeyPatch, changes: int, anew: bool
) -> None:
    told(door, kinds("apple", 5))
    door.ops.rebuild_topics()
    grown: list[int] = []
    monkeypatch.setattr(topics, "grow", counted(grown))
    told(door, kinds("boat", changes))
    tend(door)
    assert bool(grown) is anew
    assert sorted(topic.members for topic in door.list_topics()) == sorted([5, changes])


def test_many_small_changes_make_a_tree_anew_too(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    told(door, kinds("apple", 5))
    door.ops.rebuild_topics()
    grown: list[int] = []
    monkeypatch.setattr(topics, "grow", counted(grown))
    told(door, kinds("boat", 6))
    tend(door)
    assert grown == []
    told(door, kinds("boat", 6, 20))
    tend(door)
    assert grown == [1]


def test_ids_and_names_go_on_when_the_tree_is_made_anew(door: Engram) -> None:
    apples = told(door, kinds("apple", 9))
    boats = told(door, kinds("boat", 9))
    door.ops.rebuild_topics()
    before = {leaf_of(door, apples[0]), leaf_of(door, boats[0])}
    names = {topic.topic_id: topic.name for topic in door.list_topics()}
    told(door, kinds("cellar", 20))
    tend(door)
    assert {leaf_of(door, apples[0]), leaf_of(door, boats[0])} == before
    after = {topic.topic_id: topic.name for topic in door.list_topics()}
    assert names.items() < after.items()
    assert set(after) - set(names) == {"kb3"}


def test_a_worse_tree_does_not_replace_the_one_there_is(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    told(door, kinds("apple", 9)), told(door, kinds("boat", 9))
    door.ops.rebuild_topics()
    before = door.list_topics()

    def muddled(blocks: Any, many: int, limits: Any) -> Any:
        return topics.regrown(blocks, (np.arange(many) % 2).astype(np.int32), limits)

    monkeypatch.setattr(topics, "grow", muddled)
    new = told(door, kinds("apple", 1, 80))
    door.ops.rebuild_topics()
    after = door.list_topics()
    names = {topic.topic_id: topic.name for topic in before}
    assert {topic.topic_id: topic.name for topic in after} == names
    assert names[leaf_of(door, new[0])].startswith("apple")  # and what is new is in it all the same
    assert sum(topic.members for topic in after) == 19


def test_a_tree_is_not_made_anew_while_memories_lack_their_vectors(door: Engram, database_url: str) -> None:
    told(door, kinds("apple", 12))
    door.ops.rebuild_topics()
    before = door.list_topics()
    with Engram(database_url, scope=door._setup.scope, embedder="none") as blind:
        told(quiet(blind), kinds("boat", 12))
    door.ops.rebuild_topics()
    assert door.list_topics() == before


def test_a_tree_with_an_unnamed_topic_does_not_replace_a_good_one(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(door, kinds("apple", 6))
    door.ops.rebuild_topics()
    before = door.list_topics()
    told(door, kinds("boat", 12))
    monkeypatch.setattr(topics, "cut_name", lambda name: "")
    monkeypatch.setattr(rooms, "_type_of", lambda several: "")
    door.ops.rebuild_topics()
    assert door.list_topics() == before


def test_who_changed_the_tree_meanwhile_is_not_overwritten(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    apples = told(door, kinds("apple", 6))
    grow = topics.grow
    calls: list[Any] = []

    def slow(*given: Any) -> Any:
        if not calls:
            calls.append(door.ops.erase(memories=[apples[0]], reason="asked to"))
        return grow(*given)

    monkeypatch.setattr(topics, "grow", slow)
    door.ops.rebuild_topics()
    assert calls
    assert sum(topic.members for topic in door.list_topics()) == 5


def test_a_dry_run_makes_no_tree(door: Engram) -> None:
    told(door, kinds("apple", 6))
    run = door.ops.rebuild_topics(dry_run=True)
    assert run.dry_run
    assert door.list_topics() == ()


def test_inner_topics_hold_the_members_of_their_leaves(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("apple", "boat", "cellar")
    ids = {word: told(door, kinds(word, 4)) for word in words}

    def nested(blocks: Any, many: int, limits: Any) -> Any:
        found = topics.regrown(blocks, (np.arange(many) // 4).astype(np.int32), limits)
        return dataclasses.replace(found, inner=np.array([0, 0, -1], np.int32))

    monkeypatch.setattr(topics, "grow", nested)
    door.ops.rebuild_topics()
    found = {topic.topic_id: topic for topic in door.list_topics()}
    assert len(found) == 4
    [wide] = [topic for topic in found.values() if topic.members == 8]
    under = [topic for topic in found.values() if topic.parent_id == wide.topic_id]
    assert [topic.members for topic in under] == [4, 4]
    opened = door.get_topics([wide.topic_id])[wide.topic_id]
    assert {topic.topic_id for topic in opened.topics} == {topic.topic_id for topic in under}
    together = [set(ids[a]) | set(ids[b]) for a in words for b in words if a < b]
    assert {one.memory_id for one in opened.memories} in together


def test_what_leaves_while_a_tree_is_made_is_not_counted(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = told(door, [*kinds("zebra", 6), *kinds("yacht", 6)])
    grow = topics.grow

    def leaving(*given: Any) -> Any:
        door.forget(ids[0])
        return grow(*given)

    monkeypatch.setattr(topics, "grow", leaving)
    door.ops.rebuild_topics()
    assert sorted(topic.members for topic in door.list_topics()) == [5, 6]


def test_a_tree_does_not_go_while_memories_are_moved_in_it(door: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = told(door, [*kinds("zebra", 6), *kinds("yacht", 6)])
    door.ops.rebuild_topics()
    tenant, tree = door.scope.tenant_id, trees.tree
    erasing = threading.Thread(target=door.ops.erase, kwargs={"memories": ids[:1]})

    def erased_meanwhile(*given: Any) -> Any:
        found = tree(*given)
        if not erasing.ident:
            erasing.start()
            erasing.join(0.5)
        return found

    def move(conn: Any) -> None:
        scope_id = tenancy.find(conn, door.scope)
        state = trees.begin(conn, tenant, int(scope_id or 0), {})
        leaf = tree(conn, tenant, int(scope_id or 0))[0].topic_id
        trees.move(conn, tenant, int(scope_id or 0), int(state.active_id or 0), [(one, leaf) for one in ids[1:]])

    monkeypatch.setattr(trees, "tree", erased_meanwhile)
    door._run(steps.write(tenant, move, key=None))
    erasing.join()
    lost = rows(
        door, "SELECT k.memory_id FROM engram.memory_topic_members k"
        " WHERE k.tenant_id = :tenant AND k.topic_id IS NOT NULL AND NOT EXISTS ("
        " SELECT FROM engram.memory_topics t"
        " WHERE t.tenant_id = k.tenant_id AND t.scope_id = k.scope_id AND t.topic_id = k.topic_id)",
    )  # fmt: skip
    assert not lost


def test_a_tree_that_others_change_each_time_it_is_made_leaves_no_run(
    door: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(door, [*kinds("zebra", 6), *kinds("yacht", 6)])

    def changed(*_: Any, **__: Any) -> None:
        raise Conflict("the topics of this scope were changed meanwhile")

    monkeypatch.setattr(trees, "set_tree", changed)
    with pytest.raises(Conflict):
        door.ops.rebuild_topics()
    assert not door.ops.list_runs().results


def test_near_identical_members_are_reported(database_url: str, tenant: str) -> None:
    near = Kinds(near=0.97)
    with Engram(database_url, scope=Scope(tenant, user_id="mia"), embedder=near) as made:
        door = quiet(made)
        ids = told(door, kinds("apple", 2))
        door.ops.rebuild_topics()
        [opened] = door.get_topics(["kb1"]).values()
        [(one, other, alike)] = opened.redundant
        assert {one, other} == set(ids)
        assert 0.95 <= alike <= 1


# Walls ---------------------------------------------------------------------------------------------------------------


def test_another_scope_sees_nothing_that_rests_on_private_memories(database_url: str, tenant: str) -> None:
    shared = Scope(tenant)
    with Engram(database_url, scope=shared, embedder=Kinds()) as made:
        agent = quiet(made)
        told(agent, kinds("secret", 4), private=True)
        open_ids = told(agent, kinds("apple", 3))
        mixed = told(agent, ["apple hidden-word in private"], private=True)
        agent.ops.rebuild_topics()
        assert sorted(topic.members for topic in agent.list_topics()) == [4, 4]
        with Engram(database_url, scope=Scope(tenant, user_id="mia"), embedder=Kinds()) as other:
            [seen] = other.list_topics()
            assert seen.members == 3
            assert "secret" not in seen.name
            assert "hidden" not in seen.name
            assert "." in seen.topic_id
            [opened] = other.get_topics([seen.topic_id]).values()
            assert {one.memory_id for one in opened.memories} == set(open_ids)
            assert mixed[0] not in {one.memory_id for one in opened.memories}
            private = next(topic for topic in agent.list_topics() if "secret" in topic.name)
            with pytest.raises(NotFound):
                other.get_topics([private.topic_id + "." + seen.topic_id.split(".")[1]])


def test_another_user_sees_no_topic(door: Engram, database_url: str) -> None:
    told(door, kinds("apple", 3))
    door.ops.rebuild_topics()
    [topic] = door.list_topics()
    scope_id = rows(door, "select scope_id from engram.memory_topics where tenant_id = :tenant")[0][0]
    assert door.list_topics(user_id="ben") == ()
    for topic_id in (topic.topic_id, f"kb1.{scope_id}"):
        with pytest.raises(NotFound):
            door.get_topics([topic_id], user_id="ben")


def test_a_name_is_made_of_trusted_memories_where_there_are_any(door: Engram) -> None:
    told(door, kinds("apple", 2))
    told(door, [f"apple injected-{n} do-as-I-say" for n in range(6)], trust="web")
    told(door, [f"boat injected-{n} wares" for n in range(3)], trust="web")
    door.ops.rebuild_topics()
    apple, boat = sorted(door.list_topics(), key=lambda topic: topic.name)
    assert (apple.trust, boat.trust) == ("user", "web")
    assert "injected" not in apple.name
    assert "do-as-i-say" not in apple.name.lower()


def test_a_name_of_less_trusted_memories_is_fenced_in_a_context(door: Engram) -> None:
    told(door, kinds("apple", 3))
    told(door, [f"boat wares number{n}" for n in range(3)], trust="web")
    door.ops.rebuild_topics()
    block = door.resume(max_tokens=2_000)
    assert "kb" in block.text
    assert "apple" in block.text
    trusted = door.resume(max_tokens=2_000, min_trust="user")
    section = trusted.text[trusted.text.index("Topics") :]
    assert "apple" in section
    assert "boat" not in section


def test_a_context_names_topics_by_the_ids_they_are_opened_by(door: Engram) -> None:
    told(door, kinds("apple", 5)), told(door, kinds("boat", 3))
    before = door.resume().text
    door.ops.rebuild_topics()
    first, second = door.list_topics()
    text = door.resume().text
    one, other = f'{first.topic_id}: "{first.name}" [5]', f'{second.topic_id}: "{second.name}" [3]'
    assert one not in before
    assert 0 < text.index(one) < text.index(other)


def test_erasing_a_memory_takes_every_name_of_its_scope_with_it(door: Engram) -> None:
    [canary] = told(door, ["apple canary-4711"])
    told(door, kinds("apple", 4))
    door.ops.rebuild_topics()
    assert door.list_topics() != ()
    door.ops.erase(memories=[canary], reason="asked to")
    assert door.list_topics() == ()
    held = rows(door, "select memory_id::text from engram.memory_topic_members where tenant_id = :tenant")
    assert canary not in {row[0] for row in held}
    assert len(held) == 4
    tend(door)
    [topic] = door.list_topics()
    assert topic.members == 4
    assert "canary" not in topic.name


def test_a_switch_of_projections_begins_the_topics_anew(door: Engram) -> None:
    told(door, kinds("apple", 4))
    door.ops.rebuild_topics()
    diff = door.ops.replay()
    door.ops.switch_replay(diff.shadow_id)
    assert door.list_topics() == ()
    door.ops.run_jobs()
    tend(door)
    assert sum(topic.members for topic in door.list_topics()) == 4


# Names by a model ----------------------------------------------------------------------------------------------------


def namer(asked: Any) -> Any:
    """A model that names each topic by the first word of its first text."""
    given = [json.loads(line) for line in asked.text.splitlines() if line.startswith('{"topic"')]
    return {"names": [{"topic": one["topic"], "name": f"All about {one['texts'][0].split()[0]}s"} for one in given]}


@pytest.fixture
def naming(database_url: str, tenant: str) -> Iterator[tuple[Engram, ScriptedModel]]:
    model = ScriptedModel(namer)
    scope = Scope(tenant, user_id="mia")
    with Engram(database_url, scope=scope, embedder=Kinds(), llm=model) as made:
        yield quiet(made), model


def test_a_model_names_topics_thirty_at_a_time(
    naming: tuple[Engram, ScriptedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    door, model = naming
    told(door, [f"word{place} fact" for place in range(31)])

    def singly(blocks: Any, many: int, limits: Any) -> Any:
        return topics.regrown(blocks, np.arange(many, dtype=np.int32), limits)

    monkeypatch.setattr(topics, "grow", singly)
    model.asked.clear()
    door.ops.rebuild_topics()
    asked = [one.text.count('{"topic": ') - 1 for one in model.asked if "You name topics" in one.text]
    assert len(asked) == 2
    found = [topic for topic in door.list_topics() if topic.parent_id is None or topic.members == 1]
    assert {topic.named_by for topic in found} == {"scripted"}
    assert "All about word7s" in {topic.name for topic in found}


def test_names_that_are_there_are_not_paid_for_again(naming: tuple[Engram, ScriptedModel]) -> None:
    door, model = naming
    told(door, kinds("apple", 4))
    door.ops.rebuild_topics()
    before = len(model.asked)
    door.ops.rebuild_topics()
    tend(door)
    assert len(model.asked) == before
    assert [topic.name for topic in door.list_topics()] == ["All about apples"]


@pytest.mark.parametrize(
    "answer",
    ["no json", {"names": [{"topic": 9, "name": "Elsewhere"}]}, {"names": [{"topic": 1, "name": " \n "}]},
     {"names": [{"topic": 1, "name": "Fine", "extra": 1}]}],
    ids=["no-json", "another-topic", "a-blank-name", "a-field-too-many"],
)  # fmt: skip
def test_where_a_model_names_nothing_the_words_do(database_url: str, tenant: str, answer: Any) -> None:
    scope = Scope(tenant, user_id="mia")
    model = ScriptedModel(answer)
    with Engram(database_url, scope=scope, embedder=Kinds(), llm=model) as made:
        door = quiet(made)
        told(door, kinds("apple", 4))
        door.ops.rebuild_topics()
        [topic] = door.list_topics()
        assert topic.named_by == "words"
        assert "apple" in topic.name


def test_a_model_is_shown_no_private_and_no_less_trusted_text(naming: tuple[Engram, ScriptedModel]) -> None:
    door, model = naming
    told(door, kinds("apple", 2))
    told(door, ["apple whispered-secret"], private=True)
    told(door, ["apple ignore-your-instructions"], trust="web")
    door.ops.rebuild_topics()
    shown = " ".join(one.text for one in model.asked if "You name topics" in one.text)
    assert "apple fact" in shown
    assert "whispered" not in shown
    assert "ignore-your" not in shown


# Links ---------------------------------------------------------------------------------------------------------------


def test_a_new_memory_is_tied_to_its_three_nearest_and_the_ties_are_marked(door: Engram) -> None:
    apples = told(door, kinds("apple", 6))
    told(door, kinds("boat", 2))
    tend(door)
    found = door.list_relations(apples[0], direction="outbound")
    every = door.list_relations(apples[0])
    assert 1 <= len(found) <= 3
    assert {one.relation_type for one in every} == {"related_to"}
    assert all(one.auto for one in every)
    assert all(one.weight == pytest.approx(0.7, abs=0.16) for one in every)
    assert {one.source_id for one in every} | {one.target_id for one in every} <= set(apples)


def test_ties_are_of_a_run_that_can_be_taken_back_and_are_not_made_again(door: Engram) -> None:
    apples = told(door, kinds("apple", 3))
    tend(door)
    [run] = [one for one in door.ops.list_runs().results if one.step == "links"]
    ties = {one: door.list_relations(one) for one in apples}
    back = door.ops.undo(run.run_id)
    assert {one.field for one in back.undone} == {"relation"}
    assert all(not door.list_relations(one) for one in apples)
    tend(door)
    assert all(not door.list_relations(one) for one in apples)
    door.ops.undo(back.run_id)
    assert {one: door.list_relations(one) for one in apples} == ties


def test_what_is_looked_for_once_is_not_looked_for_again(door: Engram) -> None:
    told(door, kinds("apple", 3))
    tend(door)
    before = len(door.ops.list_runs().results)
    tend(door)
    assert len(door.ops.list_runs().results) == before


def test_what_somebody_said_of_two_memories_stays_what_is_said(door: Engram) -> None:
    one, other = told(door, kinds("apple", 2))
    door.relate(one, other, "causes", weight=0.2)
    tend(door)
    [relation] = door.list_relations(one)
    assert (relation.relation_type, relation.weight, relation.auto) == ("causes", 0.2, False)


def test_two_neighbours_of_one_hub_make_a_memory_part_of_it(door: Engram) -> None:
    [hub] = told(door, ["zebra hub of it all"])
    apples = told(door, kinds("apple", 2))
    for one in apples:
        door.relate(one, hub, "part_of")
    tend(door)
    [new] = told(door, kinds("apple", 1, 40))
    tend(door)
    ties = {(one.target_id, one.relation_type) for one in door.list_relations(new, direction="outbound")}
    assert (hub, "part_of") in ties
    assert {one.auto for one in door.list_relations(new)} == {True}


def test_a_relation_never_joins_two_users(door: Engram) -> None:
    told(door, kinds("apple", 2))
    told(door, kinds("apple", 2, 10), user_id="ben")
    tend(door)
    ends = rows(
        door,
        "select a.scope_id, b.scope_id from engram.memory_relations r"
        " join engram.agent_memory a on a.tenant_id = r.tenant_id and a.memory_id = r.source_id"
        " join engram.agent_memory b on b.tenant_id = r.tenant_id and b.memory_id = r.target_id"
        " where r.tenant_id = :tenant",
    )
    assert ends
    assert all(one == other for one, other in ends)


# When ----------------------------------------------------------------------------------------------------------------


def test_a_cycle_asks_for_topics_once(door: Engram) -> None:
    told(door, kinds("apple", 3))
    door.ops.consolidate()
    waiting = rows(door, "select kind, state from engram.memory_jobs where tenant_id = :tenant and kind = 'link'")
    assert waiting == [("link", "queued")]


def test_by_policy_many_writes_are_one_job_of_links(
    database_url: str, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000.0)
    policy = MemoryPolicy("linking", links="write")
    scope = Scope(tenant, user_id="mia")
    with Engram(database_url, scope=scope, policy=policy, embedder=Kinds()) as made:
        door = quiet(made)
        told(door, kinds("apple", 4))
        waiting = rows(
            door,
            "select extract(epoch from run_at - created_at) from engram.memory_jobs"
            " where tenant_id = :tenant and kind = 'link'",
        )
        assert [round(float(one[0])) for one in waiting] == [5]
        monkeypatch.setattr(time, "time", lambda: 1_006.0)
        told(door, kinds("apple", 1, 9))
        assert len(rows(door, "select from engram.memory_jobs where tenant_id = :tenant and kind = 'link'")) == 2


def test_without_that_policy_a_write_asks_for_nothing(door: Engram) -> None:
    told(door, kinds("apple", 2))
    assert rows(door, "select from engram.memory_jobs where tenant_id = :tenant and kind = 'link'") == []
