"""How words are read: one text search configuration a tenant, and languages that put no blanks between words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from commands import Cli
from quiet import quiet

from engram import Engram, Scope, SearchResults, tenancy
from engram.channels import keyword
from engram.database import Connection, Database
from engram.errors import Conflict, InvalidInput, SettingsError
from engram.operations import reindexing
from engram.settings import load
from engram.values import ReindexProgress

Door = Callable[..., Engram]

# fmt: off
CHINESE = ("我住在北京市海淀区", "我的猫叫小白", "下周三要去上海出差", "妈妈喜欢喝龙井茶", "他对花生过敏")
JAPANESE = (
    "東京に住んでいます",
    "猫の名前はタマです",
    "来週大阪へ出張します",
    "母は緑茶が好きです",
    "彼はピーナッツアレルギーです",
)
KOREAN = (
    "저는 서울에 살고 있습니다",
    "고양이 이름은 나비입니다",
    "다음 주에 부산으로 출장을 갑니다",
    "어머니는 녹차를 좋아합니다",
)
THAI = ("ฉันอาศัยอยู่ที่เชียงใหม่", "แมวของฉันชื่อมะลิ", "แม่ชอบดื่มชาเขียว")
KHMER = ("ខ្ញុំរស់នៅភ្នំពេញ", "ឆ្មារបស់ខ្ញុំឈ្មោះមីមី")
TEA = {"妈妈喜欢喝龙井茶", "母は緑茶が好きです", "茶"}
CATS = {"我的猫叫小白", "猫の名前はタマです"}


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to one user's memory that search by words alone; all of them are closed after the test."""
    opened: list[Engram] = []

    def open_(config: str = "english", embedder: Any = "none", **ids: Any) -> Engram:
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        settings = load({}, text_search_config=config)
        opened.append(Engram(database_url, scope=scope, settings=settings, embedder=embedder))
        return quiet(opened[-1])

    yield open_
    for one in opened:
        one.close()


def added(memory: Engram, *facts: str) -> Engram:
    memory.add_many([{"fact": fact, "force": True} for fact in facts])
    return memory


def first(results: SearchResults) -> str:
    return results[0].memory.fact if len(results) else ""


@pytest.mark.parametrize("config", ["english", "simple"])
@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        (CHINESE, "我住在哪里？北京？", 0), (CHINESE, "猫叫什么名字", 1), (CHINESE, "什么时候去上海", 2),
        (CHINESE, "妈妈喜欢什么茶", 3), (CHINESE, "谁花生过敏", 4),
        (JAPANESE, "東京のどこに住んでいますか", 0), (JAPANESE, "猫の名前は何ですか", 1),
        (JAPANESE, "大阪への出張はいつ", 2),
        (JAPANESE, "母の好きな緑茶", 3), (JAPANESE, "ピーナッツ", 4),
        (KOREAN, "서울에 살아요?", 0), (KOREAN, "고양이 이름이 뭐예요", 1),
        (KOREAN, "부산 출장", 2), (KOREAN, "녹차", 3),
        (THAI, "ฉันอยู่ที่ไหน เชียงใหม่", 0), (THAI, "แมวชื่ออะไร", 1), (THAI, "ชาเขียว", 2), (KHMER, "ភ្នំពេញ", 0),
    ],
)  # fmt: skip
def test_a_question_without_blanks_between_words_finds_its_memory(
    door: Door, config: str, facts: tuple[str, ...], question: str, answer: int
) -> None:
    memory = added(door(config), *facts)
    assert first(memory.search(question, mode="keyword", expand=False)) == facts[answer]
    assert memory.recall(question).evidence[0].memory.fact == facts[answer]


@pytest.mark.parametrize("config", ["english", "simple"])
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("茶", TEA), ("猫？", CATS), ("白", {"我的猫叫小白"}), ("狗", {"他的狗怕雷声"}), ("茶 猫", TEA | CATS),
        ("鱼", set()),
    ],
)  # fmt: skip
def test_one_character_finds_what_holds_it(door: Door, config: str, question: str, found: set[str]) -> None:
    memory = added(door(config), *CHINESE, *JAPANESE, "茶", "Tea is served at 5")
    added(door(config, user_id=None), "他的狗怕雷声")
    for results in (memory.search(question, mode="keyword", limit=20), memory.search(question, expand=False, limit=20)):
        assert {one.memory.fact for one in results} == found
        assert all(set(one.matched) <= set(question) for one in results)


def test_one_character_counts_beside_a_word(door: Door) -> None:
    memory = added(door(), "沙发是灰色的", "猫在沙发上睡觉", "我想养一只猫")
    results = memory.search("猫 沙发", mode="keyword")
    assert first(results) == "猫在沙发上睡觉"
    assert set(results[0].matched) == {"猫", "沙发"}
    assert {one.memory.fact for one in results} == {"沙发是灰色的", "猫在沙发上睡觉", "我想养一只猫"}
    assert {one.memory.fact for one in memory.search("沙发 -猫", mode="keyword")} >= {"沙发是灰色的"}


def test_one_character_finds_what_ends_with_it_in_a_large_scope(door: Door, database: Database, tenant: str) -> None:
    memory = added(door(), *(f"{name}养了一只猫" for name in ("小王", "小李", "小张", "小陈", "小赵")), *CHINESE)
    with database.transaction(tenant) as conn:
        (scope_id,) = tenancy.visible(conn, memory.scope).scope_ids
        assert keyword.refresh_terms(conn, tenant, scope_id)
    assert len(memory.search("猫", mode="keyword", limit=20)) == 6


@pytest.mark.parametrize(
    ("fact", "asked"),
    [
        ("المستخدم يحب القَهْوَة العربية", "القهوة"), ("המשתמש גר בְּחֵיפָה", "בחיפה"), ("IŞIK söndü", "ışık"),
        ("Kullanıcı İSTANBUL'da yaşıyor", "YAŞIYOR"), ("đường Nguyễn Huệ", "duong"), ("Born in Łódź", "lodz"),
    ],
)  # fmt: skip
def test_what_many_leave_out_in_writing_makes_no_difference(door: Door, fact: str, asked: str) -> None:
    engram = door("simple")
    engram.add(fact)
    assert [one.memory.fact for one in engram.search(asked, mode="keyword")] == [fact]


def test_chinese_and_english_stand_in_one_memory(door: Door) -> None:
    memory = added(door(), "Ada 在 Kubernetes 上部署了服务", "Ben deployed the website", "部署失败了")
    assert first(memory.search("Kubernetes 部署", expand=False)) == "Ada 在 Kubernetes 上部署了服务"
    found = {one.memory.fact for one in memory.search("deployed", expand=False)}
    assert found == {"Ben deployed the website"}


def test_half_width_and_full_width_are_one_word(door: Door) -> None:
    memory = added(door(), "ﾀﾏは猫です", "Ｐｙｔｈｏｎ ３ is installed")
    assert first(memory.search("タマ", expand=False)) == "ﾀﾏは猫です"
    assert first(memory.search("python", expand=False)).endswith("is installed")


def test_a_picture_alone_finds_what_holds_it(door: Door) -> None:
    memory = added(door(), "User's dog 🐶 eats beef", "The party is on Friday 🎉🎉", "User rows 👩🏽‍🚀 on Mondays")
    for asked, found in (("🐶?", "dog"), ("🎉", "party"), ("👩‍🚀", "rows"), ('"🎉 🎉"', "party")):
        assert found in first(memory.search(asked)), asked
        assert found in first(memory.search(asked, mode="keyword")), asked
    assert memory.search("🐶?")[0].matched == ("🐶",)
    assert not memory.search("🐱?", mode="keyword").results


def test_beside_words_a_picture_is_not_asked_for(door: Door) -> None:
    memory = added(door(), "User's dog 🐶 eats beef", "The party is on Friday 🎉🎉")
    plainly, gladly = memory.search("When is the party?"), memory.search("When is the party? 🐶😀")
    assert [one.memory.fact for one in gladly] == [one.memory.fact for one in plainly]
    assert "dog" not in first(memory.search("party 🐶", mode="keyword"))


def test_a_word_left_out_leaves_out_in_chinese_too(door: Door) -> None:
    memory = added(door(), "我喜欢绿茶", "我喜欢咖啡")
    assert {one.memory.fact for one in memory.search("喜欢 -咖啡", expand=False)} == {"我喜欢绿茶"}


def test_an_event_not_derived_yet_is_found_in_chinese(door: Door) -> None:
    memory = door()
    memory.record_event("服务器在凌晨三点重启了", derive="skip")
    assert [hit.event.content for hit in memory.search_events("服务器重启")] == ["服务器在凌晨三点重启了"]


def test_a_german_tenant_is_searched_in_german_by_every_process(door: Door, tenant: str) -> None:
    memory = added(door("german"), "Die Häuser am See wurden verkauft", "Der Zug kommt um acht")
    assert first(memory.search("Haus verkaufen", expand=False)).startswith("Die Häuser")
    other = door("english")  # a process that is set otherwise reads and writes as the tenant does
    assert first(other.search("Haus verkaufen", expand=False)).startswith("Die Häuser")
    added(other, "Meine Katzen schlafen")
    assert first(memory.search("Katze", expand=False)) == "Meine Katzen schlafen"


def test_another_configuration_reads_all_words_anew(door: Door) -> None:
    memory = added(door("english"), *(f"Die {n} Häuser am See" for n in range(30)), "Der Zug fährt")
    assert len(memory.search("Haus", limit=50, expand=False)) == 0
    heard: list[ReindexProgress] = []
    told = memory.ops.reindex_words("german", progress=heard.append)
    assert told == ReindexProgress("german", 31, done=True)
    assert heard[-1] == told
    assert len(memory.search("Haus", limit=50, expand=False)) == 30
    assert first(door("english").search("Züge", expand=False)) == "Der Zug fährt"
    assert memory.ops.reindex_words().config == "german"


def test_the_words_of_events_are_read_anew_too(door: Door, database: Database, tenant: str) -> None:
    memory = door("english")
    memory.record_event("Die Häuser wurden gestrichen", derive="skip")
    assert len(memory.search_events("Haus", mode="keyword")) == 0
    memory.ops.reindex_words("german")
    assert len(memory.search_events("Haus", mode="keyword")) == 1
    with database.transaction(tenant) as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM engram.event_readings").scalar_one() == 0


def test_a_change_in_whose_place_another_came_says_so(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once left words by either, and each said that it was done."""
    monkeypatch.setattr(reindexing, "BATCH", 2)
    memory, other = added(door(), *(f"Die {n} Häuser am See" for n in range(6))), door()
    heard: list[ReindexProgress] = []

    def tell(told: ReindexProgress) -> None:
        heard.append(told)
        if len(heard) == 2:
            other.ops.reindex_words("german")

    with pytest.raises(Conflict, match="text search configuration"):
        memory.ops.reindex_words("simple", progress=tell)
    assert len(heard) == 2
    assert len(memory.search("Haus", limit=50, expand=False)) == 6


def test_what_is_just_written_by_the_words_of_before_is_read_anew_too(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, writer = added(door(), "Die Häuser am See"), door()
    writing, changed = threading.Event(), threading.Event()
    write = keyword.index_all

    def wait(conn: Connection, tenant_id: str, several: Sequence[keyword.Indexed]) -> None:
        if threading.current_thread() is thread:
            writing.set()
            assert changed.wait(30)
            time.sleep(0.3)
        write(conn, tenant_id, several)

    monkeypatch.setattr(keyword, "index_all", wait)
    thread = threading.Thread(target=lambda: added(writer, "Die Häuser am Fluss"))
    thread.start()
    assert writing.wait(30)
    switch = reindexing._switch

    def switched(conn: Connection, tenant_id: str, config: str) -> bool:
        threading.Timer(0.2, changed.set).start()
        return switch(conn, tenant_id, config)

    monkeypatch.setattr(reindexing, "_switch", switched)
    memory.ops.reindex_words("german")
    thread.join()
    assert len(memory.search("Haus", expand=False)) == 2


def test_a_shadow_brings_no_words_of_before(door: Door) -> None:
    memory = added(door(), "Die Häuser am See", "Die Häuser am Fluss")
    shadow = memory.ops.replay().shadow_id
    assert memory.ops.reindex_words("german") == ReindexProgress("german", 2, done=True)
    memory.ops.switch_replay(shadow)
    assert len(memory.search("Haus", expand=False)) == 2
    memory.ops.switch_replay(shadow)
    assert len(memory.search("Haus", expand=False)) == 2


def test_an_unknown_configuration_is_refused_and_changes_nothing(door: Door) -> None:
    memory = added(door(), "The houses are sold")
    for name in ("klingon", "english; drop table x", "pg_catalog.nothing", "%(x)s"):
        with pytest.raises(InvalidInput, match="config"):
            memory.ops.reindex_words(name)
    assert first(memory.search("house", expand=False)) == "The houses are sold"


def test_a_setting_that_names_no_configuration_of_the_server_is_told_at_the_first_call(door: Door) -> None:
    with pytest.raises(SettingsError, match=r"^text_search_config: .*, german, .*, simple, .*, found klingon$"):
        door("klingon").list_memories()
    assert door("German").add("Die Häuser").kind == "add"


def test_two_tenants_have_two_configurations(door: Door, tenant: str) -> None:
    german, english = door("german"), door("english", tenant_id=f"{tenant}-2")
    added(german, "Die Häuser")
    added(english, "The houses")
    german.ops.reindex_words("simple")
    assert first(english.search("house", expand=False)) == "The houses"
    assert len(german.search("Haus", expand=False)) == 0
    assert first(german.search("Häuser", expand=False)) == "Die Häuser"


def test_the_command_line_reads_the_words_anew(
    door: Door, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database_url: str, tenant: str
) -> None:
    added(door("english"), "Die Häuser am See")
    for name, value in {"DATABASE_URL": database_url, "ENGRAM_TENANT": tenant}.items():
        monkeypatch.setenv(name, value)
    cli = Cli(capsys)
    seen = {"config": "german", "memories": 1, "done": True}
    assert cli.json("reindex-words", "--config", "german", "--dry-run") == {**seen, "dry_run": True}
    assert "by the configuration english" in " ".join(cli("reindex-words", "--dry-run").out.split())
    elsewhere = cli.json("reindex-words", "--config", "german", "--tenant", f"{tenant}-2")
    assert elsewhere == {**seen, "memories": 0, "dry_run": False}
    assert cli.json("reindex-words", "--config", "german") == {**seen, "dry_run": False}
    assert "read anew by the configuration german" in " ".join(cli("reindex-words").out.split())
    assert cli("reindex-words", "--config", "klingon").code == 2
