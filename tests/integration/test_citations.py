"""Citations through the door: every one resolves to its characters, and says when it does not hold."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from engram import AsyncEngram, Citation, Conflict, Engram, Filter, InvalidInput, Memory, NotFound, Scope
from engram.settings import load

Door = Callable[..., Engram]


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own; all of them are closed after it."""
    opened: list[Engram] = []

    def open_(**ids: Any) -> Engram:
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        opened.append(Engram(database_url, scope=scope, settings=load({})))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


SAID = "Dear all,\nthe meeting has moved.\nThe launch moved to May, as Ada says.\nBring coffee.\nAnd tea.\nBo"


def launch(engram: Engram) -> tuple[str, str]:
    """An event and a memory that cites a part of it."""
    event = engram.record_event(SAID, role="user", derive="skip").event_ids[0]
    start = SAID.index("moved to May")
    made = engram.add("The launch is in May", sources=[(event, start, start + len("moved to May"))]).memory
    assert made is not None
    return event, made.memory_id


def of(engram: Engram, memory_id: str, event_id: str) -> Citation:
    return next(one for one in engram.get(memory_id).citations if one.event_id == event_id)


def test_a_quote_is_shown_in_its_place(door: Door) -> None:
    engram = door()
    event, memory = launch(engram)
    told = next(one for one in engram.cite(memory, lines=1) if one.citation.event_id == event)
    assert told.citation.quote == "moved to May"
    assert (told.before, told.after) == ("the meeting has moved.\nThe launch ", ", as Ada says.\nBring coffee.\n")
    assert (told.state, told.line, told.trust, told.role) == ("verified", 3, "user", "user")
    assert told.memory_id == memory
    assert told.before + str(told.citation.quote) + told.after in SAID
    none = next(one for one in engram.cite(memory, lines=0) if one.citation.event_id == event)
    assert (none.before, none.after) == ("The launch ", ", as Ada says.\n")


def test_a_citation_that_cannot_be_is_told_of_its_item(door: Door) -> None:
    engram = door()
    event = engram.record_event(SAID, role="user", derive="skip").event_ids[0]
    fine = {"fact": "The launch is in May", "sources": [(event, 0, 4)]}
    with pytest.raises(NotFound, match=r"^items\[1\]: no event with that id in this scope$"):
        engram.add_many([fine, {"fact": "Bo brings tea", "sources": [(str(uuid4()), 0, 4)]}])
    with pytest.raises(InvalidInput, match=r"^items\[1\]\.sources: expected a span inside"):
        engram.add_many([fine, {"fact": "Bo brings tea", "sources": [(event, 0, 4_000)]}])
    with pytest.raises(NotFound, match=r"^no event"):
        engram.add("Bo brings tea", sources=[(str(uuid4()), 0, 4)])


def test_every_citation_of_a_memory_is_looked_up(door: Door) -> None:
    engram = door()
    _event, memory = launch(engram)
    told = engram.cite(memory)
    assert [one.citation.event_id for one in told] == [one.event_id for one in engram.get(memory).citations]
    assert len(told) >= 2, "the direct write is an event too"
    assert {one.state for one in told} == {"verified"}
    assert engram.cite(engram.get(memory).short_id) == told


def test_an_event_is_cited_whole_by_its_id_and_by_its_mark(door: Door) -> None:
    engram = door()
    event, _ = launch(engram)
    (told,) = engram.cite(event)
    assert told.citation.quote == SAID
    assert (told.before, told.after, told.line, told.memory_id) == ("", "", 1, None)
    assert engram.cite(f"evt-{event[-8:]}") == (told,)
    assert engram.cite(f"evt-{event.replace('-', '')[-12:]}") == (told,)
    with pytest.raises(NotFound):
        engram.cite(f"evt-0000{event[-8:]}")


def test_a_mark_with_more_digits_names_a_memory_everywhere(door: Door) -> None:
    engram = door()
    _, memory = launch(engram)
    digits = memory.replace("-", "")
    for count in (8, 12, 16, 20, 24, 32):
        assert engram.get(f"mem-{digits[-count:]}").memory_id == memory
    with pytest.raises(NotFound):
        engram.get(f"mem-0000{digits[-8:]}")
    with pytest.raises(InvalidInput):
        engram.get(f"mem-{digits[-9:]}")


def test_a_filter_names_memories_by_their_marks_in_every_read_that_takes_one(door: Door) -> None:
    engram = door()
    _, memory = launch(engram)
    engram.add("The launch party is in June.")
    digits = memory.replace("-", "")
    for mark in (f"mem-{memory[-8:]}", f"MEM-{memory[-8:].upper()}", f"mem-{digits[-12:]}"):
        for named in (Filter(memory_ids=[mark]), {"memory_ids": [mark]}, {"any_of": [{"memory_ids": [mark]}]}):
            assert [one.memory_id for one in engram.list_memories(named)] == [memory]
            assert [one.memory.memory_id for one in engram.search("launch", filter=named)] == [memory]
            assert [one.memory.memory_id for one in engram.deep_search("launch", filter=named)] == [memory]
            assert {one.memory.memory_id for one in engram.get_history(filter=named)} == {memory}
            assert engram.trace_recall("launch", filter=named).search_ids == (memory,)
            found = engram.recall("When is the launch?", filter=named)
            assert {one.memory.memory_id for one in found.evidence} == {memory}
            assert engram.explain("launch", memory, filter=named).found
    unknown = f"mem-0000{memory[-8:]}"
    assert list(engram.list_memories(Filter(memory_ids=[unknown]))) == []
    assert [one.memory_id for one in engram.list_memories({"memory_ids": [unknown, memory]})] == [memory]
    assert list(door(user_id="bob").list_memories({"memory_ids": [f"mem-{memory[-8:]}"]})) == []


def test_an_event_is_named_by_its_mark_where_it_is_read_waited_for_cited_and_erased(door: Door) -> None:
    engram = door()
    event, _ = launch(engram)
    other = door(user_id="bob")
    other.add("Bob has a memory of his own")
    mark = f"evt-{event[-8:]}"
    for one in (mark, mark.upper(), f"evt-{event.replace('-', '')[-12:]}"):
        assert engram.get_event(one) == engram.get_event(event)
        assert engram.wait_for(one) == engram.wait_for(event)
    made = engram.add("Ada has oars", sources=[(mark, 0, 3)]).memory
    assert made is not None
    assert event in {one.event_id for one in made.citations}
    [told] = engram.list_events(newest_first=True, limit=1)
    assert told.payload["request"]["sources"] == [[event, 0, 3]]
    for refused in (
        lambda: other.get_event(mark), lambda: other.wait_for(mark), lambda: other.ops.redact_event(mark),
        lambda: other.add("Bob knows", sources=[(mark, 0, 3)]), lambda: engram.get_event(f"evt-0000{event[-8:]}"),
        lambda: other.wait_for(event), lambda: other.wait_for("01890000-0000-7000-8000-000000000001"),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            refused()
    assert engram.ops.redact_event(mark).redaction_event_ids
    assert engram.get_event(event).erased


def test_a_mark_of_several_events_is_refused_and_the_full_id_is_not(door: Door) -> None:
    engram = door()
    first, second = (f"01890000-0000-7000-8000-000{n}1234abcd" for n in (1, 2))
    engram.remember([{"role": "user", "content": "Hello.", "event_id": one} for one in (first, second)])
    for refused in (lambda: engram.get_event("evt-1234abcd"), lambda: engram.wait_for("evt-1234abcd")):
        with pytest.raises(Conflict):
            refused()
    assert engram.get_event("evt-00011234abcd").event_id == first
    assert engram.get_event(second).event_id == second


def test_a_citation_holds_until_its_characters_differ(door: Door) -> None:
    engram = door()
    event, memory = launch(engram)
    cited = of(engram, memory, event)
    assert engram.verify_citation(cited) == "verified"
    assert engram.verify_citation(cited.to_dict()) == "verified"
    assert engram.verify_citation(replace(cited, quote_hash=cited.quote_hash.upper())) == "verified"
    for wrong in (
        replace(cited, char_start=cited.char_start + 1), replace(cited, char_end=cited.char_end + 1),
        replace(cited, char_end=cited.char_start), replace(cited, char_end=10**9), replace(cited, quote_hash="0" * 64),
        Citation(event, 0, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ):  # fmt: skip
        assert engram.verify_citation(wrong) == "changed", wrong


def test_the_first_24_digits_of_a_hash_are_enough(door: Door) -> None:
    engram = door()
    event, memory = launch(engram)
    cited = of(engram, memory, event)
    assert len(cited.quote_hash) == 64
    for digits in (24, 40, 63):
        short = replace(cited, quote_hash=cited.quote_hash[:digits])
        assert engram.verify_citation(short) == engram.verify_citation(short.to_dict()) == "verified"
        assert engram.verify_citation(replace(short, char_start=cited.char_start + 1)) == "changed"
    for wrong in (cited.quote_hash[:23], cited.quote_hash + "0", "", "x" * 24, cited.quote_hash[:24] + "\n"):
        with pytest.raises(InvalidInput, match="first 24 hex digits"):
            engram.verify_citation(replace(cited, quote_hash=wrong))


def test_what_was_erased_says_so_and_shows_nothing(door: Door) -> None:
    engram = door()
    event, memory = launch(engram)
    cited = of(engram, memory, event)
    engram.ops.redact_event(event)
    assert engram.verify_citation(cited) == "erased"
    (told,) = engram.cite(event)
    assert (told.state, told.citation.quote, told.before, told.after) == ("erased", None, "", "")
    assert "moved to May" not in str(engram.cite(memory))


def test_nobody_elses_citation_is_seen(door: Door) -> None:
    engram = door()
    event, memory = launch(engram)
    cited = of(engram, memory, event)
    other = door(user_id="bob")
    other.add("Bob has a memory of his own")  # somebody without a scope would see nothing anyway
    for asked in (lambda: other.verify_citation(cited), lambda: other.cite(memory), lambda: other.cite(event),
                  lambda: other.cite(f"evt-{event[-8:]}"), lambda: other.cite(f"mem-{memory[-8:]}")):  # fmt: skip
        with pytest.raises(NotFound):
            asked()


def test_what_was_not_known_then_is_not_cited(door: Door) -> None:
    engram = door()
    before = engram.add("The sky is blue").memory
    assert before is not None
    event, memory = launch(engram)
    for cited in (event, memory):
        with pytest.raises(NotFound):
            engram.cite(cited, known_at=before.recorded_at)
    assert engram.cite(before.memory_id, known_at=before.recorded_at)


def test_what_a_forgotten_task_said_is_not_cited(door: Door) -> None:
    engram = door()
    run = engram.start_task("Paint the keel")
    event = engram.record_event("The keel is green now", task_run_id=run.task_run_id, derive="skip").event_ids[0]
    assert engram.cite(event)
    engram.forget_task(run.task_run_id)
    with pytest.raises(NotFound):
        engram.cite(event)


@pytest.mark.parametrize(
    "citation",
    [None, "mem-1a2b3c4d", {}, {"event_id": "x", "char_start": 0, "char_end": 1, "quote_hash": ""},
     Citation("01890000-0000-7000-8000-000000000001", -1, 2, "0"), Citation("nonsense", 0, 2, "0"),
     Citation("01890000-0000-7000-8000-000000000001", 0, 2, None)],  # type: ignore[arg-type]
)  # fmt: skip
def test_what_is_no_citation_is_refused_before_anything_is_opened(citation: Any) -> None:
    nowhere = Engram("postgresql://nobody@127.0.0.1:1/nothing", settings=load({}))
    with pytest.raises(InvalidInput):
        nowhere.verify_citation(citation)
    nowhere.close()


async def test_the_other_door_cites_the_same(door: Door, database_url: str) -> None:
    engram = door()
    event, memory = launch(engram)
    twin = AsyncEngram(database_url, scope=engram.scope, settings=load({}))
    try:
        assert await twin.cite(memory) == engram.cite(memory)
        assert await twin.verify_citation(of(engram, memory, event)) == "verified"
    finally:
        await twin.close()


def test_an_answers_marks_lead_to_the_characters(door: Door) -> None:
    engram = door()
    _event, memory = launch(engram)
    block = engram.build_context("When is the launch?", max_tokens=1_000)
    mark = next(mark for mark, cited in block.citations.items() if cited == memory)
    (item,) = block.cited(f"It is in May **[{mark.upper()}]**.")
    assert (item.item_id, item.trust) == (memory, "user")
    quotes = [one.citation.quote for one in engram.cite(item.item_id)]
    assert "moved to May" in quotes
    assert item.citations == engram.get(memory).citations
    for one in block.items:
        for citation in one.citations:
            assert engram.verify_citation(citation) == "verified", one
    assert {one.mark for one in block.items if one.mark} == set(block.citations)


# Spans of the stored text --------------------------------------------------------------------------------------------


def nfd(said: str) -> str:
    return unicodedata.normalize("NFD", said)


def test_a_span_counted_in_decomposed_text_is_refused_and_never_wrong(door: Door) -> None:
    engram = door()
    theirs = nfd("Café Zoë moved to May. Again: Café.")
    event = engram.record_event(theirs, derive="skip").event_ids[0]
    stored = engram.get_event(event).content or ""
    assert stored != theirs
    start = theirs.index("moved to May")
    end = start + len("moved to May")
    with pytest.raises(InvalidInput, match="fourth part"):
        engram.add("The launch is in May", sources=[(event, start, end)])
    with pytest.raises(InvalidInput, match="stands at 9:21"):
        engram.add("The launch is in May", sources=[(event, start, end, "moved to May")])
    with pytest.raises(InvalidInput, match="does not"):
        engram.add("The launch is in May", sources=[(event, 0, 5, nfd("Café"))])
    made = engram.add(
        "The launch is in May", sources=[(event, 9, 21, "moved to May"), (event, 0, 4, nfd("Café"))]
    ).memory
    assert made is not None
    quotes = [one.citation.quote for one in engram.cite(made.memory_id) if one.citation.event_id == event]
    assert quotes == ["moved to May", "Café"]


def test_a_span_before_which_all_forms_count_alike_needs_no_quote(door: Door) -> None:
    engram = door()
    event = engram.record_event("moved to May 😀 漢字 in the café", derive="skip").event_ids[0]
    made = engram.add("The launch is in May", sources=[(event, 9, 17)]).memory
    assert made is not None
    with pytest.raises(InvalidInput):
        engram.add("The launch is in June", sources=[(event, 25, 29)])


def test_a_character_that_is_stored_as_several_is_found_out_too(door: Door) -> None:
    engram = door()
    theirs = "\u0958\u0958 moved"
    event = engram.record_event(theirs, derive="skip").event_ids[0]
    assert len(engram.get_event(event).content or "") == len(theirs) + 2
    with pytest.raises(InvalidInput):
        engram.add("It moved", sources=[(event, 3, 8)])
    assert engram.add("It moved", sources=[(event, 5, 10, "moved")]).memory is not None


def test_a_quote_is_checked_and_leaves_no_copy(door: Door) -> None:
    engram = door()
    event = engram.record_event("The vault code is 4411", derive="skip").event_ids[0]
    made = engram.add("There is a code", sources=[(event, 18, 22, "4411")], idempotency_key="k").memory
    assert made is not None
    again = engram.add("There is a code", sources=[(event, 18, 22)], idempotency_key="k").memory
    assert again is not None
    assert again.memory_id == made.memory_id, "with and without its quote it is the same request"
    assert "4411" not in str([engram.get_event(one.event_id) for one in made.citations if one.event_id != event])


def test_a_fact_is_trusted_no_more_than_the_worst_event_it_cites(door: Door) -> None:
    engram = door()
    told, read = (
        engram.record_event("The user lives in Bergen", trust=trust, derive="skip").event_ids[0]
        for trust in ("operator", "web")
    )
    head = engram.add("User lives in Ottawa").memory
    cited = engram.add("User lives in Bergen", sources=[(told, 4, 24), (read, 4, 24)])
    assert cited.memory is not None
    assert (cited.memory.trust, cited.memory.status) == ("web", "contested")
    event = engram.get_event(cited.event_id)
    assert (event.trust, event.role) == ("web", "tool"), "so that a replay judges alike"
    refused = engram.add("User lives in Oslo", supersedes=[head.memory_id], sources=[(read, 4, 24)])
    assert (refused.kind, refused.reasons[-1]) == ("conflict", "less_trusted_than_superseded")


def test_each_fact_of_a_batch_has_the_trust_of_what_it_cites(door: Door) -> None:
    engram = door()
    read = engram.record_event("Tea is at four. Lunch is at one.", trust="tool", derive="skip").event_ids[0]
    told = engram.record_event("Tea is at four", trust="operator", derive="skip").event_ids[0]
    items = [{"fact": "Tea is at four", "sources": [(read, 0, 14)]}, {"fact": "The office closes at six"}]
    once, again = (engram.add_many(items, idempotency_key="k") for _ in range(2))
    assert [one.memory.trust for one in once] == ["tool", "user"]
    assert [one.memory.memory_id for one in again] == [one.memory.memory_id for one in once]
    raised = engram.add("The door is green", sources=[(told, 0, 14)])
    assert raised.memory.trust == "user", "what a fact cites lends it no trust"
    said = engram.add("The desk is oak", sources=[(read, 0, 14)], trust="user")
    assert said.memory.trust == "user", "a caller who says it is taken at his word"


@pytest.mark.parametrize("quote", [4, b"May", ["May"], "", "x" * 600_000])
def test_a_quote_that_is_none_is_refused(door: Door, quote: Any) -> None:
    engram = door()
    event = engram.record_event("in May", derive="skip").event_ids[0]
    with pytest.raises(InvalidInput):
        engram.add("The launch is in May", sources=[(event, 3, 6, quote)])


BITS = (
    "a", "Z", " ", "é", "e\u0301", "\u0301", "a\u0323\u0302", "한", "\u1112\u1161\u11ab", "\u212b", "\u0958", "\ufb1d",
    "漢", "😀", "👨\u200d👩\u200d👧", "🇳🇴", "𝔘", "\U0001d15e", "\r\n", "\n", "\r", "\t", "\u202e", "\u202c", "\u2067",
    "\u05e9\u05dc\u05d5\u05dd", "\u0644\u0627", "\u200b", "\ufe0f", "\u2028", "\x85", "ﬁ", "ß", "İ", "…", "“", "\u0345",
    "\u0f73", "ｱ", "0",
)  # fmt: skip


def test_10000_spans_of_any_text_resolve_to_their_characters(door: Door) -> None:
    engram, dice = door(), random.Random(1234)
    theirs = ["".join(dice.choice(BITS) for _ in range(dice.randint(20, 120))) + f" {n}" for n in range(340)]
    theirs = [said if n % 3 else nfd(said) for n, said in enumerate(theirs)]
    received = engram.remember([{"role": "user", "content": said} for said in theirs], derive="skip")
    stored = [engram.get_event(one).content or "" for one in received.event_ids]
    assert [unicodedata.normalize("NFC", said) for said in theirs] == stored, "CRLF and all else stay as they are"
    spans: dict[str, list[tuple[str, int, int, str]]] = {}
    items: list[dict[str, Any]] = []
    for n, (event, said) in enumerate(zip(received.event_ids, stored, strict=True)):
        given = []
        for _ in range(30):
            start = dice.randrange(len(said))
            end = dice.randint(start + 1, len(said))
            given.append((event, start, end, said[start:end] if dice.random() < 0.5 else nfd(said[start:end])))
        # A quote that begins with half of a character becomes another when it is composed on its own.
        given = [one for one in given if unicodedata.normalize("NFC", one[3]) == said[one[1] : one[2]]]
        spans[event] = given
        items.append({"fact": f"Witness {n} said something of their own {n}", "sources": given, "force": True})
    assert sum(map(len, spans.values())) > 10_000
    made = [decided.memory for begin in range(0, 340, 85) for decided in engram.add_many(items[begin : begin + 85])]  # type: ignore[arg-type]
    checked = 0
    for n, memory in enumerate(made):
        assert memory is not None
        event, said = received.event_ids[n], stored[n]
        found = [one for one in engram.cite(memory.memory_id) if one.citation.event_id == event]
        assert [(one.citation.char_start, one.citation.char_end) for one in found] == [one[1:3] for one in spans[event]]
        for one in found:
            cited = one.citation
            assert one.state == "verified"
            assert cited.quote == said[cited.char_start : cited.char_end]
            assert one.before + str(cited.quote) + one.after in said
            checked += 1
    assert checked > 10_000


# Everywhere -----------------------------------------------------------------------------------------------------------


def memories_in(value: Any) -> Iterator[Memory]:
    """Every memory somewhere in a value."""
    if isinstance(value, Memory):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from memories_in(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from memories_in(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from memories_in(one)


READS: dict[str, Callable[[Engram, str], Any]] = {
    "get": lambda engram, one: engram.get(one),
    "find": lambda engram, one: engram.find(one),
    "get_current": lambda engram, one: engram.get_current(one),
    "list_memories": lambda engram, _: engram.list_memories(),
    "get_all": lambda engram, _: engram.get_all(),
    "get_lineage": lambda engram, one: engram.get_lineage(one),
    "get_history": lambda engram, one: engram.get_history(memory_id=one),
    "timeline": lambda engram, one: engram.timeline(around=one),
    "list_decisions": lambda engram, _: engram.list_decisions(),
    "explain_memory": lambda engram, one: engram.explain_memory(one),
    "search": lambda engram, _: engram.search("Where does the user live?"),
    "deep_search": lambda engram, _: engram.deep_search("Where does the user live?"),
    "recall": lambda engram, _: engram.recall("Where do I live?"),
    "recall_before": lambda engram, _: engram.recall("Where did I live before?"),
    "recall_critical": lambda engram, _: engram.recall_critical(),
    "recall_trigger": lambda engram, _: engram.recall_trigger("git-push"),
    "traverse": lambda engram, one: engram.traverse(one, direction="any", include_superseded=True),
}


@pytest.mark.parametrize("read", sorted(READS))
def test_every_read_says_what_its_memories_rest_on(door: Door, read: str) -> None:
    engram = door()
    engram.remember("I live in Leipzig. I'm allergic to peanuts.", session_id="one")
    engram.remember("I moved to Hamburg.", session_id="two")
    rule = engram.add("Run the tests before a push", tags=["trigger:git-push"]).memory
    home = engram.recall("Where do I live?").current
    assert rule is not None
    assert home is not None
    engram.relate(home.memory_id, rule.memory_id)
    found = list(memories_in(READS[read](engram, home.memory_id)))
    assert found
    for one in found:
        assert one.citations, one.fact
        assert {engram.verify_citation(citation) for citation in one.citations} == {"verified"}, one.fact


def test_what_is_not_derived_yet_rests_on_its_event(door: Door, database_url: str, tenant: str) -> None:
    scope = Scope(tenant_id=tenant, user_id="ada")
    with Engram(database_url, scope=scope, settings=load({}, dispatch="doorbell")) as engram:
        engram.remember("My violin is made of maple.", session_id="a")
        found = [one.memory for one in engram.search("What is my violin made of?")]
        assert found
        for one in found:
            assert [engram.verify_citation(citation) for citation in one.citations] == ["verified"]
        block = engram.build_context("What is my violin made of?", session_id="b", max_tokens=500)
        (item,) = (one for one in block.items if one.mark)
        assert item.item_id == found[0].event_id
        assert [told.citation.quote for told in engram.cite(item.mark)] == ["My violin is made of maple."]
        assert [engram.verify_citation(citation) for citation in item.citations] == ["verified"]


def test_what_somebody_keeps_private_is_cited_by_nobody_else(door: Door) -> None:
    owner, reader = door(user_id=None), door()
    kept = owner.add("The vault code is 4411", private=True).memory
    open_ = owner.add("The vault is in the cellar").memory
    assert kept is not None
    assert open_ is not None
    assert owner.cite(kept.event_id)
    assert reader.cite(open_.event_id), "what the agent knows is there for its users"
    for asked in (kept.event_id, kept.memory_id, f"evt-{kept.event_id[-8:]}", f"mem-{kept.memory_id[-8:]}"):
        with pytest.raises(NotFound):
            reader.cite(asked)
    with pytest.raises(NotFound):
        reader.verify_citation(kept.citations[0])


def test_a_chunk_of_a_document_is_cited_by_its_id_and_by_its_marks(door: Door) -> None:
    engram = door()
    chunk = engram.record_long_input("The comet returns in May.", derive="skip").chunks[0]
    cited = (chunk.chunk_id, engram.get(chunk.chunk_id).short_id, chunk.event_id, f"evt-{chunk.event_id[-8:]}")
    for one in cited:
        (told,) = engram.cite(one)
        assert (told.citation.quote, told.citation.event_id, told.state) == (chunk.text, chunk.event_id, "verified")
    with pytest.raises(NotFound):
        door(user_id="eve").cite(chunk.chunk_id)
