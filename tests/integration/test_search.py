"""Search and recall through the door: what is found, in which order, with which reasons, and what is never shown."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from engram import Engram, Filter, Scope, embedding, inputs, tenancy
from engram.channels import keyword, semantic, upkeep
from engram.database import Connection, Database, fetch_all
from engram.errors import Unavailable
from engram.settings import load

Door = Callable[..., Engram]

CITY = ["I live in Ottawa.", "I moved to Toronto."]


@pytest.fixture
def door(database_url: str, tenant: str) -> Iterator[Door]:
    """Opens doors to a tenant of the test's own; all of them are closed after it."""
    opened: list[Engram] = []

    def open_(*, settings: Any = None, embedder: Any = None, **ids: Any) -> Engram:
        scope = Scope(**{"tenant_id": tenant, "user_id": "ada", **ids})
        opened.append(Engram(database_url, scope=scope, settings=settings or load({}), embedder=embedder))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def facts(results: Any) -> list[str]:
    return [one.memory.fact for one in results]


class Failing:
    """An embedder that can be switched off."""

    name, dimensions, max_tokens = "failing", 8, None

    def __init__(self) -> None:
        self.fails = False

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        if self.fails:
            raise RuntimeError("down")
        return [[1.0 + text.count(letter) for letter in "aeioustr"] for text in texts]


# What is found -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_question_need_not_share_all_its_words(door: Door, mode: str) -> None:
    memory = door()
    for fact in ("User's cat is called Miso", "User cycles along the canal", "User's sister studies medicine in Lyon"):
        memory.add(fact)
    found = memory.search("What is the name my cat is called by everybody at home?", mode=mode)  # type: ignore[arg-type]
    assert facts(found)[0] == "User's cat is called Miso"


def conversation(door: Door, *said: tuple[str, str]) -> Engram:
    """A session of two friends, word for word."""
    memory = door()
    messages = [{"role": "user", "name": name, "content": content} for name, content in said]
    memory.remember(messages, session_id="friends", derive="verbatim", wait=True)
    return memory


ASKED = "What did Ben plant in the garden of his grandmother?"
ANSWERED = ("Cleo", "Ben, what do you plant in the garden of your grandmother?"), ("Ben", "Oh, roses and some mint.")


def test_an_answer_is_found_by_the_question_it_follows(door: Door) -> None:
    memory = conversation(door, *ANSWERED, ("Cleo", "Lovely."), ("Ben", "The garden was flooded."))
    found = {one.memory.fact: one for one in memory.search(ASKED)}
    question, answer = found[ANSWERED[0][1]], found[ANSWERED[1][1]]
    asked = question.terms["coverage"].contribution + question.terms["cosine"].contribution
    own = answer.terms["coverage"].contribution + answer.terms["cosine"].contribution
    assert answer.terms["answer"].contribution == pytest.approx(min(0.5 * asked, own))
    assert answer.terms["answer"].contribution > 0.1
    assert sum(term.contribution for term in answer.terms.values()) == pytest.approx(answer.score)
    assert [fact for fact, one in found.items() if "answer" in one.terms] == [ANSWERED[1][1]]


@pytest.mark.parametrize(
    "said",
    [
        (ANSWERED[0], ("Cleo", "I mean roses and some mint.")),  # nobody answers himself
        (ANSWERED[0], ("Ben", "One moment."), ("Ben", "Roses and some mint.")),  # only what follows at once
        (("Cleo", "You plant a lot in the garden of your grandmother."), ANSWERED[1]),  # nothing was asked
        (("Ben", ANSWERED[0][1]), ("Cleo", "Roses and some mint.")),  # Ben is asked about, and Cleo speaks
    ],
)
def test_what_answers_nothing_takes_nothing_over(door: Door, said: Sequence[tuple[str, str]]) -> None:
    found = {one.memory.fact: one.terms for one in conversation(door, *said).search(ASKED)}
    assert "answer" not in found[said[-1][1]]


def test_an_answer_that_is_not_derived_yet_is_one_too(door: Door) -> None:
    memory = conversation(door, ANSWERED[0])
    memory.remember([{"role": "user", "name": "Ben", "content": ANSWERED[1][1]}], session_id="friends", wait=False)
    found = {one.memory.fact: one for one in memory.search(ASKED)}
    assert found[ANSWERED[1][1]].terms["answer"].contribution > 0


CHAT = (
    "Which flour should I take for the rye bread?", "Coarse rye, mostly. How much bread do you eat a week?",
    "About two loaves of rye bread.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "spoken", "answers"),
    [
        ("Which flour for rye bread did you recommend?", {CHAT[1]}, {CHAT[1]}),
        ("How much rye bread do I eat a week?", {CHAT[0], CHAT[2]}, {CHAT[2]}),
        ("Which flour suits rye bread, and how much of it?", set(), {CHAT[2]}),  # and no assistant
        ("I gave the rye bread with flour of last week away.", {CHAT[0], CHAT[2]}, set()),  # nothing is asked
    ],
)
def test_whose_words_are_asked_for_in_a_chat_counts_more_and_answers(
    door: Door, query: str, spoken: set[str], answers: set[str]
) -> None:
    memory = door()
    messages = [{"role": role, "content": said} for role, said in zip(("user", "assistant", "user"), CHAT, strict=True)]
    memory.remember(messages, session_id="chat", derive="verbatim", wait=True)
    terms = {one.memory.fact: one.terms for one in memory.search(query)}
    assert terms.keys() == set(CHAT)
    assert {fact for fact, by in terms.items() if by["actor"].contribution} == spoken
    assert {fact for fact, by in terms.items() if "answer" in by} == answers


def test_what_somebody_wants_every_time_counts_where_something_new_is_asked_for(door: Door) -> None:
    wish = "The tenth row is done. Whenever you show me a knitting pattern, please count in rounds."
    engram = conversation(door, ("user", "I knit a scarf."), ("assistant", "A scarf in wool?"), ("user", wish))
    found = {one.memory.fact: one for one in engram.search("Can you write me a pattern for a hat?", track=False)}
    assert found[wish].terms["wish"].contribution > 0
    assert not any("wish" in one.terms for fact, one in found.items() if fact != wish)
    told = engram.search("Which pattern did I knit?", track=False)  # it asks for what was said
    assert told.results
    assert not any("wish" in one.terms for one in told)


FAR = ("My cousin keeps bees.", "Rice needs a lid.", "Whenever you advise, skip jargon.")  # of any mortgage


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("What does my mortgage cost?", {FAR[0]}),  # of who asks
        ("Explain annuity mortgages to me", {FAR[0], FAR[2]}),
        ("Which mortgages cost little?", set()),  # of nobody
    ],
)
def test_what_is_far_is_found_where_something_else_speaks_for_it(door: Door, query: str, shown: set[str]) -> None:
    engram = door()
    messages = [{"role": role, "content": said} for role, said in zip(("user", "assistant", "user"), FAR, strict=True)]
    engram.remember(messages, session_id="chat", derive="verbatim", wait=True)
    found = engram.search(query, track=False)
    assert set(facts(found)) == shown
    assert all(one.terms["relevance"].value > 0.1 or "wish" in one.terms for one in found)
    assert not any(one.channels for one in found)  # by no word; and being the least far is not being found


def test_every_result_says_why_it_was_found(door: Door) -> None:
    memory = door()
    memory.add("User's cat is called Miso")
    memory.add("User cycles along the canal")
    best = memory.search("my cat Miso")[0]
    assert best.rank == 1
    assert set(best.matched) == {"cat", "miso"}
    assert best.channels["keyword"].rank == best.channels["semantic"].rank == 1
    assert best.terms["coverage"].value == pytest.approx(best.channels["keyword"].value)
    assert best.keyword_score == pytest.approx(best.terms["coverage"].value)
    assert best.semantic_score is not None
    assert sum(term.contribution for term in best.terms.values()) == pytest.approx(best.score, abs=1e-9)


def test_nothing_found_is_an_empty_list(door: Door) -> None:
    memory = door()
    assert len(memory.search("anything")) == 0
    memory.add("User's cat is called Miso")
    assert facts(memory.search("zebra", mode="keyword")) == []
    assert facts(memory.search("")) == []
    assert facts(memory.search("cat", limit=0)) == []


def test_a_high_min_score_keeps_only_what_reaches_it(door: Door) -> None:
    memory = door()
    memory.add("User's cat is called Miso")
    memory.add("User cycles along the canal")
    scores = [one.score for one in memory.search("cat Miso canal")]
    assert len(scores) == 2
    kept = memory.search("cat Miso canal", min_score=scores[0] - 1e-3)
    assert [one.score for one in kept] == pytest.approx(scores[:1], abs=1e-4)


def test_the_same_search_gives_the_same_answer(door: Door) -> None:
    memory = door()
    memory.add_many([{"fact": f"User keeps tool number {n} in the shed"} for n in range(20)])
    first = memory.search("which tool is in the shed", track=False)
    again = memory.search("which tool is in the shed", track=False)
    assert [one.memory.memory_id for one in first] == [one.memory.memory_id for one in again]


def test_phrases_count_and_unwanted_words_exclude(door: Door) -> None:
    memory = door()
    memory.add("User reads red books about cars")
    memory.add("User drives a red car")
    memory.add("User paints with red and blue")
    assert facts(memory.search('"red car"', mode="keyword"))[0] == "User drives a red car"
    for mode in ("hybrid", "semantic", "keyword"):
        found = facts(memory.search("red -car", mode=mode))  # type: ignore[arg-type]
        assert found
        assert not any("car" in fact for fact in found)


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("用户喜欢在周末喝咖啡", "周末咖啡"),
        ("ユーザーは京都に住んでいます", "京都に住む"),
        ("User's favourite café is Zoë's", "cafe zoe"),
        ("User deploys to srv-17.example.org", "srv-17.example.org"),
        ("User said: it's a O'Neill's \\ backslash", "o'neill's backslash"),
        ("Пользователь живёт в Риге", "РИГЕ"),
    ],
)
def test_words_of_any_script_are_found(door: Door, fact: str, query: str) -> None:
    memory = door()
    memory.add("User cycles along the canal")
    memory.add(fact)
    assert facts(memory.search(query, mode="keyword"))[:1] == [inputs.fact(fact)]


def test_no_query_however_odd_raises(door: Door) -> None:
    memory = door()
    memory.add("User's cat is called Miso")
    rng = random.Random(7)
    alphabet = "ab c'\"\\-:&|!()<>*%{}[]$@#\t\n.,/😀猫é\u200b\u0301\u202e" + "''" + '""'
    for _ in range(150):
        query = "".join(rng.choices(alphabet, k=rng.randint(1, 40)))
        memory.search(query, track=False)
    memory.search("long " * 6_000)
    memory.search('"' * 500)
    memory.search("-" * 500)
    assert facts(memory.search("cat"))


def test_what_was_said_around_a_message_helps_to_find_it(door: Door) -> None:
    memory = door()
    talk = ["What did you name the puppy?", "Biscuit, because of her fur.", "Lovely!", "And the weather is fine."]
    memory.remember(
        [{"role": "user" if n % 2 else "assistant", "content": said} for n, said in enumerate(talk)],
        session_id="pets", derive="verbatim",
    )  # fmt: skip
    found = memory.search("puppy", mode="keyword")
    assert facts(found)[0] == talk[0]
    assert talk[1] in facts(found)
    scores = {one.memory.fact: one.terms["coverage"].value for one in found}
    assert scores[talk[0]] > scores[talk[1]] > scores.get(talk[3], 0.0)


def test_a_message_said_later_becomes_context_of_those_before_it(door: Door, database: Database, tenant: str) -> None:
    memory = door()
    memory.remember("Guess what I bought.", session_id="s", derive="verbatim")
    assert facts(memory.search("telescope", mode="keyword")) == []
    receipt = memory.remember("A telescope!", session_id="s", derive="verbatim")
    with database.transaction(tenant) as conn:
        keyword.reindex_neighbours(conn, receipt.stream_id, receipt.position, tenant_id=tenant)
    assert "Guess what I bought." in facts(memory.search("telescope", mode="keyword"))


def test_the_one_a_question_names_is_preferred(door: Door) -> None:
    memory = door()
    memory.remember(
        [
            {"role": "user", "name": "Caroline", "content": "My hobby is pottery."},
            {"role": "assistant", "name": "Melanie", "content": "My hobby is pottery, too."},
        ],
        session_id="s", derive="verbatim",
    )  # fmt: skip
    for name in ("Caroline", "Melanie"):
        best = memory.search(f"What is {name}'s hobby?")[0]
        assert best.memory.actor == name
        assert best.terms["actor"].value == 1.0


# What is never shown -------------------------------------------------------------------------------------------------


def test_a_superseded_fact_is_found_only_where_it_is_asked_for(door: Door) -> None:
    memory = door()
    for said in CITY:
        memory.remember(said)
    for mode in ("hybrid", "semantic", "keyword"):
        assert not any("Ottawa" in fact for fact in facts(memory.search("where do I live, Ottawa?", mode=mode)))  # type: ignore[arg-type]
    both = memory.search("where do I live", include_superseded=True)
    labels = {one.memory.fact: one.labels for one in both if one.memory.category != "verbatim"}
    assert any("Ottawa" in fact and "SUPERSEDED" in label for fact, label in labels.items())
    assert any("Toronto" in fact and "ACTIVE" in label for fact, label in labels.items())


def test_evidence_of_a_forgotten_fact_is_hidden_with_it(door: Door) -> None:
    memory = door()
    memory.remember("I live in Ottawa.")
    fact = next(one.memory for one in memory.search("Ottawa") if one.memory.category != "verbatim")
    memory.forget(fact.memory_id)
    assert facts(memory.search("Ottawa")) == []


def test_evidence_of_a_forgotten_fact_is_hidden_where_superseded_ones_are_shown(door: Door) -> None:
    memory = door()
    memory.remember("My landlord is Eve Moreau.", wait=30.0)
    memory.remember("My landlord's office is in Main Street.", wait=30.0)
    fact = next(one.memory for one in memory.search("landlord Eve") if one.memory.fact.endswith("Eve Moreau"))
    memory.forget(fact.memory_id)
    found = [
        *memory.search("landlord Eve", include_superseded=True),
        *memory.recall("How has my landlord changed?").evidence,
        *memory.recall("Who is my landlord?", intent="historical").evidence,
    ]
    assert found
    assert not [one.memory.fact for one in found if "Eve" in one.memory.fact]
    memory.restore(fact.memory_id)
    assert any("Eve" in one.memory.fact for one in memory.search("landlord Eve", include_superseded=True))


def test_evidence_joins_the_fact_made_of_it(door: Door) -> None:
    memory = door()
    memory.remember("I live in Ottawa.")
    found = memory.search("Ottawa")
    assert len(found) == 1
    assert found[0].memory.category != "verbatim"
    assert any(label.startswith("evidence ") for label in found[0].labels)


def test_evidence_stands_for_itself_where_the_fact_made_of_it_tells_less(door: Door) -> None:
    memory = door()
    memory.remember("We're planning our wedding for 14 June in Tuscany. My landlord is called Eve.")
    words, fact = memory.search("the landlord of our planned wedding in Tuscany")
    assert (words.memory.category, fact.memory.fact) == ("verbatim", "User's landlord is called Eve")
    assert not any(label.startswith("evidence ") for label in fact.labels)
    assert "14 June" in memory.recall("When is my wedding?").answer_text
    assert [one.memory.fact for one in memory.search("Who is my landlord?")] == ["User's landlord is called Eve"]


def test_one_row_a_lineage_is_returned(door: Door) -> None:
    memory = door()
    for n in range(5):
        memory.add(f"Current sprint: {n}", topic_key="sprint")
    assert facts(memory.search("current sprint")) == ["Current sprint: 4"]
    assert len(memory.search("current sprint", include_superseded=True)) == 5


def test_many_superseded_rows_do_not_hide_the_current_one(door: Door) -> None:
    memory = door()
    for n in range(70):
        memory.add(f"Sprint goal is goal {n}", topic_key="sprint")
    memory.add("User's cat is called Miso")
    assert facts(memory.search("Sprint goal is goal 3", mode="semantic", limit=2)) == [
        "Sprint goal is goal 69", "User's cat is called Miso",
    ]  # fmt: skip


def test_namespaces_and_users_are_walled(door: Door) -> None:
    alpha, beta, shared = door(namespace="alpha"), door(namespace="beta"), door()
    alpha.add("User's cat is called Miso")
    shared.add("User's cat likes tuna")
    assert facts(beta.search("cat")) == ["User's cat likes tuna"]
    assert facts(beta.search("cat", shared=False)) == []
    assert set(facts(alpha.search("cat"))) == {"User's cat is called Miso", "User's cat likes tuna"}
    assert facts(door(user_id="bob").search("cat")) == []
    assert facts(door(user_id=None).search("cat")) == []
    assert facts(door(tenant_id=f"other-{uuid.uuid4().hex}").search("cat")) == []


def test_private_rows_show_only_to_their_own_scope(door: Door) -> None:
    agent = door(user_id=None)
    agent.add("The agent's own cat secret", private=True)
    assert facts(agent.search("cat secret")) == ["The agent's own cat secret"]
    assert facts(door().search("cat secret")) == []


def test_a_farther_row_with_the_same_key_is_shadowed(door: Door) -> None:
    near, far = door(), door(user_id=None)
    far.add("Report style: long", topic_key="style")
    near.add("Report style: short", topic_key="style")
    labels = {one.memory.fact: one.labels for one in near.search("report style")}
    assert "shadowed" in labels["Report style: long"]
    assert "shadowed" not in labels["Report style: short"]
    assert near.recall("What is the report style?").answer_text == "Report style: short"


def test_a_less_trusted_nearer_row_shadows_nothing(door: Door) -> None:
    near, far = door(), door(user_id=None)
    far.add("Report style: long", topic_key="style", trust="operator")
    near.add("Report style: short", topic_key="style", trust="web")
    assert not any("shadowed" in one.labels for one in near.search("report style"))


def test_what_a_nearer_scope_says_with_less_trust_is_a_conflict(door: Door, database: Database, tenant: str) -> None:
    ada, agent = door(), door(user_id=None)
    project = ada.scoped(namespace="atlas")

    def told() -> list[tuple[str, str]]:
        with database.transaction(tenant) as conn:
            asked = "select fact, other_fact from engram.conflicts where kind = 'cross_scope' order by 1, 2"
            return [(fact, other) for fact, other in conn.exec_driver_sql(asked)]

    agent.add("Report style: long", topic_key="style", trust="operator")
    ada.add("Report style: short", topic_key="style", trust="web")
    project.add("Report style: none", topic_key="style")
    # Hides what is farther, and is hidden: nothing stands beside anything.
    agent.add("Report length: two pages", topic_key="length")
    ada.add("Report length: a page", topic_key="length")
    # Never read together, or not other than each other.
    door(user_id="bob").add("Report style: in verse", topic_key="style", trust="operator")
    ada.scoped(agent_id="clerk").add("Report style: in prose", topic_key="style", trust="operator")
    agent.add("Report tone: dry", topic_key="tone", trust="operator")
    ada.add("Report tone: dry", topic_key="tone", trust="web")
    user_and_agent = [("Report style: short", "Report style: long"), ("Report style: none", "Report style: long")]
    assert told() == sorted(user_and_agent)
    # Two scopes that name something of one reader each: the user's counts as the nearer.
    agent.scoped(namespace="atlas").add("Report style: tables", topic_key="style")
    assert told() == sorted([*user_and_agent, ("Report style: short", "Report style: tables"),
                             ("Report style: tables", "Report style: long")])  # fmt: skip
    ada.add("Report style: short", topic_key="style", trust="operator")
    assert ("Report style: short", "Report style: long") not in told()


def test_expired_rows_leave_search_at_once(door: Door) -> None:
    memory = door()
    memory.add("User parks on level three", expires_at=datetime.now(UTC) + timedelta(milliseconds=150))
    memory.add("User parks at home")
    import time

    time.sleep(0.2)
    assert facts(memory.search("where does the user park", include_superseded=True)) == ["User parks at home"]
    assert facts(memory.search("where does the user park")) == ["User parks at home"]


def test_words_of_another_tenant_cannot_be_read_by_its_scope_ids(door: Door, database: Database, tenant: str) -> None:
    memory = door()
    memory.add("User's cat is called Miso")
    with database.transaction(tenant, read_only=True) as conn:
        scope_ids = list(tenancy.visible(conn, Scope(tenant, user_id="ada")).scope_ids)
        query = keyword.any_scoped(["miso"], scope_ids)
        ask = "SELECT count(*) FROM engram.lexeme_matches(%(s)s::bigint[], %(q)s::tsquery, 9)"
        assert conn.exec_driver_sql(ask, {"s": scope_ids, "q": query}).scalar() == 1
    for other in (f"x{tenant}", ""):
        with database.transaction(other, read_only=True) as conn:
            assert conn.exec_driver_sql(ask, {"s": scope_ids, "q": query}).scalar() == 0
            count = "SELECT engram.lexeme_frequency(%(s)s::bigint[], %(q)s::tsquery, 9)"
            assert conn.exec_driver_sql(count, {"s": scope_ids, "q": query}).scalar() == 0


# Filters and times ---------------------------------------------------------------------------------------------------


def test_a_filter_is_applied_before_ranking(door: Door) -> None:
    memory = door()
    memory.add_many([{"fact": f"User keeps hammer number {n} in the shed"} for n in range(80)])
    memory.add("User keeps the ladder elsewhere", tags=["rare"], importance=0.1)
    for mode in ("hybrid", "semantic"):
        found = memory.search("hammer in the shed", mode=mode, filter=Filter(tags_any=["rare"]), limit=3)  # type: ignore[arg-type]
        assert facts(found) == ["User keeps the ladder elsewhere"]
    assert facts(memory.search("hammer", filter=Filter(tags_any=[]))) == []


def test_a_filter_on_statuses_shows_what_it_names(door: Door) -> None:
    memory = door()
    memory.add("Current sprint: 1", topic_key="sprint")
    memory.add("Current sprint: 2", topic_key="sprint")
    found = memory.search("sprint", filter=Filter(statuses=["superseded"]))
    assert [(one.memory.fact, one.labels) for one in found] == [("Current sprint: 1", ("SUPERSEDED",))]


def test_a_search_as_of_an_earlier_moment_finds_what_was_true(door: Door) -> None:
    memory = door()
    day = datetime(2024, 3, 1, tzinfo=UTC)
    memory.add("User lives in Ottawa", topic_key="city", valid_from=day)
    memory.add("User lives in Toronto", topic_key="city", valid_from=day + timedelta(days=100))
    assert facts(memory.search("where does the user live")) == ["User lives in Toronto"]
    assert facts(memory.search("where does the user live", as_of=day + timedelta(days=5))) == ["User lives in Ottawa"]
    assert facts(memory.search("where does the user live", as_of=day - timedelta(days=5))) == []
    assert (
        memory.recall("Where does the user live?", as_of=day + timedelta(days=5)).answer_text == "User lives in Ottawa"
    )


def test_a_search_known_at_an_earlier_moment_finds_what_was_known(door: Door) -> None:
    memory = door()
    first = memory.add("User lives in Ottawa", topic_key="city")
    assert first.memory is not None
    known = first.memory.recorded_at
    memory.add("User lives in Toronto", topic_key="city")
    assert facts(memory.search("where does the user live", known_at=known + timedelta(milliseconds=1))) in (
        ["User lives in Ottawa"], ["User lives in Toronto"],
    )  # fmt: skip
    assert facts(memory.search("where does the user live", known_at=known - timedelta(seconds=5))) == []


# Tail, degraded, no embedder -----------------------------------------------------------------------------------------


def test_what_is_not_derived_yet_is_found_and_says_so(door: Door) -> None:
    memory = door(settings=load({}, dispatch="doorbell"))
    memory.remember("My new bicycle is turquoise.", session_id="s")
    found = memory.search("what colour is my bicycle")
    assert facts(found) == ["My new bicycle is turquoise."]
    assert not found[0].derived
    assert "tail" in found[0].channels
    assert "bicycl" in found[0].matched
    assert found.watermark.behind == 1
    assert facts(memory.search("bicycle", tail=False)) == []
    assert memory.recall("What colour is my bicycle?").answer_text == "My new bicycle is turquoise."
    memory.ops.run_jobs()
    derived = memory.search("what colour is my bicycle")
    assert derived.watermark.behind == 0
    assert all(one.derived for one in derived)


def test_a_failing_model_is_named_and_words_still_answer(door: Door) -> None:
    model = Failing()
    memory = door(embedder=model)
    memory.add("User's cat is called Miso")
    model.fails = True
    found = memory.search("the cat called Miso")
    assert facts(found) == ["User's cat is called Miso"]
    assert found.degraded == ("semantic",)
    with pytest.raises(Unavailable):
        memory.search("another cat", mode="semantic")


def test_an_answer_that_found_nothing_names_the_model_that_failed(door: Door) -> None:
    model = Failing()
    memory = door(embedder=model)
    memory.add("User's cat is called Miso")
    model.fails = True
    answer = memory.recall("Where do I live?")
    assert not answer.found
    assert answer.evidence == ()
    assert answer.degraded == answer.trace.degraded == ("semantic",)


def test_without_an_embedder_words_are_enough(door: Door) -> None:
    memory = door(embedder="none")
    memory.add("User's cat is called Miso")
    found = memory.search("cat")
    assert facts(found) == ["User's cat is called Miso"]
    assert found[0].semantic_score is None
    assert found.degraded == ()
    with pytest.raises(Unavailable):
        memory.search("cat", mode="semantic")


def test_returned_rows_count_as_accessed_unless_told_not_to(door: Door) -> None:
    memory = door()
    made = memory.add("User's cat is called Miso").memory
    assert made is not None
    memory.search("User's cat is called Miso", track=False)
    assert memory.get(made.memory_id).activity.access_count == 0
    memory.search("User's cat is called Miso")
    after = memory.get(made.memory_id)
    assert after.activity.access_count == 1
    assert (after.importance, after.confidence) == (made.importance, made.confidence)


# The property: never fewer rows than there are -----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 5, 12, 40])
def test_a_small_scope_beside_a_crowded_one_returns_all_it_has(door: Door, limit: int) -> None:
    crowd, small = door(namespace="crowd"), door(namespace="small")
    crowd.add_many([{"fact": f"The harvest of field {n} was good this year"} for n in range(60)])
    rows = [
        f"Note {n}: the harvest of the year was {word}"
        for n, word in enumerate(["good", "poor", "late", "wet", "dry", "rich"] * 2)
    ]
    small.add_many([{"fact": row, "force": True} for row in rows])
    found = small.search("how was the harvest of the year", mode="semantic", limit=limit)
    assert len(found) == min(limit, len(rows))
    assert set(facts(found)) <= set(rows)
    everything = small.search("how was the harvest of the year", mode="semantic", limit=200)
    assert facts(found) == facts(everything)[:limit]
    assert len(small.search("how was the harvest of the year", limit=limit)) == min(limit, len(rows))


@pytest.fixture(scope="module")
def crowd(database: Database) -> tuple[str, int, list[str], np.ndarray[Any, Any]]:
    """A scope with 3,000 vectors of the default model, and nothing else: what the vector channel alone sees."""
    tenant, rng = f"crowd-{uuid.uuid4().hex[:8]}", np.random.default_rng(5)
    centres = rng.normal(size=(40, 256))
    vectors = centres[rng.integers(0, 40, 3_000)] + rng.normal(scale=0.7, size=(3_000, 256))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    memory_ids = sorted(str(uuid.UUID(int=rng.integers(1, 2**62).item())) for _ in range(3_000))
    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, Scope(tenant))
        for start in range(0, 3_000, 500):
            part = list(zip(memory_ids[start : start + 500], vectors[start : start + 500], strict=True))
            semantic.store(conn, tenant, scope_id, semantic.default_model(), part)
    return tenant, scope_id, memory_ids, vectors


def nearest(conn: Connection, tenant: str, scope_id: int, target: Any, graphed: Sequence[int] = ()) -> list[str]:
    """The ten nearest memories by the semantic channel alone."""
    part = semantic.part(target, semantic.default_model(), graphed=graphed)
    given = {"tenant_id": tenant, "scope_ids": [scope_id], "fetch": 10, **part.params}
    return [str(row.memory_id) for row in conn.exec_driver_sql(f"WITH {part.sql} SELECT * FROM semantic", given)]


def test_the_graph_and_its_fresh_rows_find_what_an_exact_search_finds(
    database: Database, crowd: tuple[str, int, list[str], np.ndarray[Any, Any]]
) -> None:
    tenant, scope_id, memory_ids, vectors = crowd
    model, rng = semantic.default_model(), np.random.default_rng(9)
    with database.transaction(tenant) as conn:
        assert semantic.index_fresh(conn, tenant, scope_id, model) == 0  # small: scanned exactly
        moved = 0
        while done := semantic.index_fresh(conn, tenant, scope_id, model, batch=700, large=2_000, fresh=300):
            moved += done
        assert 2_000 < moved <= 2_800
        assert semantic.index_fresh(conn, tenant, scope_id, 12345, large=0, fresh=0) == 0  # no graph of other models
    shares = []
    with database.transaction(tenant, read_only=True) as conn:
        for _ in range(30):
            target = vectors[rng.integers(0, 3_000)] + rng.normal(scale=0.03, size=256)
            target = (target / np.linalg.norm(target)).astype(np.float32)
            exact = {memory_ids[n] for n in np.argsort(-(vectors @ target))[:10]}
            hits = nearest(conn, tenant, scope_id, target, graphed=[scope_id])
            assert len(hits) == 10
            plain = set(nearest(conn, tenant, scope_id, target))
            assert len(plain & exact) >= 9  # half precision may swap the last one
            shares.append(len({*hits} & exact) / 10)
    assert sum(shares) / len(shares) >= 0.97


def test_vectors_are_stored_once_and_marked_models_are_noted(database: Database, tenant: str) -> None:
    memory_id, first, second = str(uuid.uuid4()), np.eye(256, dtype=np.float32)[0], np.eye(256, dtype=np.float32)[1]
    model = embedding.CachedEmbedder(embedding.resolve("wordllama"))  # type: ignore[arg-type]
    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, Scope(tenant))
        semantic.store(conn, tenant, scope_id, model.model_id, [(memory_id, first)])
        semantic.store(conn, tenant, scope_id, model.model_id, [(memory_id, second)])
        semantic.ensure_model(conn, tenant, model)
        semantic.ensure_model(conn, tenant, model)
        held = "SELECT memory_id::text, embedding <=> %s::halfvec FROM engram.memory_embeddings WHERE tenant_id = %s"
        distances = {row[0]: row[1] for row in conn.exec_driver_sql(held, (embedding.halves(first), tenant))}
        rows = conn.exec_driver_sql("SELECT name, dimensions, state FROM engram.embedding_models").fetchall()
    assert distances == {memory_id: pytest.approx(0.0, abs=1e-6)}
    assert [tuple(row) for row in rows] == [("wordllama", 256, "active")]


def test_kept_frequencies_rank_as_counted_ones_do(door: Door, database: Database, tenant: str) -> None:
    memory = door()
    memory.add_many([{"fact": f"User stored box {n} of colour {('red', 'blue', 'green')[n % 3]}"} for n in range(30)])
    counted = [
        (one.memory.fact, round(one.score, 9)) for one in memory.search("red box 3", mode="keyword", track=False)
    ]
    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, Scope(tenant, user_id="ada"))
        assert keyword.refresh_terms(conn, tenant, scope_id) > 1
        rows = fetch_all(
            conn, "look_up_words", tenant_id=tenant, scope_ids=[scope_id], words=["red", "box", "3", "zebra"],
            config="english", most=10_000,
        )  # fmt: skip
        kept = conn.exec_driver_sql(
            "SELECT term, df FROM engram.memory_terms WHERE term IN ('', 'red', '3')"
        ).fetchall()
    assert {row.word: row.df for row in rows} == {"red": 10, "box": 30, "3": 1, "zebra": 0}
    assert {tuple(row) for row in kept} == {("", 30), ("red", 10)}
    again = [(one.memory.fact, round(one.score, 9)) for one in memory.search("red box 3", mode="keyword", track=False)]
    assert [fact for fact, _ in again] == [fact for fact, _ in counted]


def test_a_large_scope_is_tended_and_a_small_one_left_alone(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [keyword.Entry(str(uuid.uuid4()), f"box {n} of colour {('red', 'blue')[n % 2]}") for n in range(40)]
    vectors = np.random.default_rng(3).normal(size=(40, 256)).astype(np.float32)
    model = semantic.default_model()

    def counts(conn: Any) -> tuple[int, int]:
        words = conn.exec_driver_sql("SELECT count(*) FROM engram.memory_terms").scalar()
        return words, conn.exec_driver_sql("SELECT count(*) FROM engram.memory_embeddings WHERE indexed").scalar()

    with database.transaction(tenant) as conn:
        scope_id = tenancy.ensure(conn, Scope(tenant))
        keyword.index(conn, entries, tenant_id=tenant, scope_id=scope_id)
        rows = [(e.memory_id, v / np.linalg.norm(v)) for e, v in zip(entries, vectors, strict=True)]
        semantic.store(conn, tenant, scope_id, model, rows)
        assert not upkeep.tend(conn, tenant, scope_id, model)
        assert counts(conn) == (0, 0)
        monkeypatch.setattr(keyword, "LARGE", 30)
        monkeypatch.setattr(semantic.index_fresh, "__kwdefaults__", {"batch": 25, "large": 30, "fresh": 10})
        assert upkeep.tend(conn, tenant, scope_id, model)
        assert not upkeep.tend(conn, tenant, scope_id, model) or counts(conn)[1] == 40
        words, indexed = counts(conn)
        assert words > 3
        assert indexed >= 25
        keyword.index(conn, entries[:1], tenant_id=tenant, scope_id=scope_id)
        assert not upkeep.tend(conn, tenant, scope_id, None)
        assert counts(conn) == (words, indexed)


# Recall --------------------------------------------------------------------------------------------------------------


def test_recall_answers_by_the_road_of_its_intent(door: Door) -> None:
    memory = door()
    day = datetime(2024, 3, 1, tzinfo=UTC)
    memory.add("Project target is 100 users", topic_key="target", valid_from=day)
    memory.add("Project target is 250 users", topic_key="target", valid_from=day + timedelta(days=60))
    memory.add("User is allergic to penicillin")
    now = memory.recall("What is the project target?")
    assert (now.intent, now.answer_text, now.found) == ("current", "Project target is 250 users", True)
    assert [one.fact for one in now.previous] == ["Project target is 100 users"]
    assert now.when_changed == day + timedelta(days=60)
    past = memory.recall("What was the previous project target?")
    assert (past.intent, past.answer_text) == ("historical", "Project target is 100 users")
    assert past.current is not None
    assert past.current.fact == "Project target is 250 users"
    chain = memory.recall("How has the project target changed over time?")
    assert chain.intent == "lineage"
    assert chain.answer_text.splitlines() == [
        "2024-03-01: Project target is 100 users", "2024-04-30: Project target is 250 users",
    ]  # fmt: skip
    assert memory.recall("What is the user's allergy?").answer_text == "User is allergic to penicillin"


def test_recall_says_when_nothing_is_known(door: Door) -> None:
    memory = door()
    memory.add("User's cat is called Miso")
    unknown = memory.recall("Which mountain did grandfather climb in winter?")
    assert not unknown.found
    assert unknown.answer_text == ""
    assert unknown.trace.roads == ("current", "historical")
    chat = memory.recall("Hello!")
    assert (chat.intent, chat.found, chat.evidence) == ("chat", False, ())


def test_recall_notes_a_claim_of_less_trust(door: Door) -> None:
    memory = door()
    memory.add("User lives in Ottawa", topic_key="city")
    memory.add("User lives in Bergen", topic_key="city", trust="web")
    answer = memory.recall("Where does the user live?")
    assert answer.answer_text == "User lives in Ottawa"
    assert answer.conflict_note is not None
    assert "Bergen" in answer.conflict_note
    assert "User lives in Bergen" not in facts(memory.search("where does the user live"))


def test_recall_cites_the_characters_it_rests_on(door: Door) -> None:
    memory = door()
    memory.remember("Some words first. I live in Ottawa.")
    answer = memory.recall("Where do I live?")
    assert answer.found
    assert "Ottawa" in answer.answer_text
    assert answer.sources
    event = memory.get_event(answer.sources[0].event_id)
    assert event.content is not None
    assert "Ottawa" in event.content[answer.sources[0].char_start : answer.sources[0].char_end]
