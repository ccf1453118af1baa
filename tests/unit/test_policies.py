"""Policies: types, slots, keys, and everything that must not get one."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from compounds import COMPOUND
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import NO_KEY, RIGHT_KEY, TAKEN_BACK

from engram import gates
from engram.errors import PolicyError
from engram.lifecycle import links, thresholds, topics
from engram.policies import (
    TYPE_ALIASES,
    TYPE_WEIGHTS,
    MemoryPolicy,
    Reject,
    SlotRule,
    TypeRule,
    built_in,
    get_policy,
    rules,
)
from engram.policies.classify import Classified, Place, Proposal, classify
from engram.policies.files import from_json
from engram.policies.patterns import compile_safe, joined
from engram.ranking import Profile
from engram.values import MEMORY_TYPES

DEFAULT = get_policy("default")
LEGAL = get_policy("legal")
CODING = get_policy("coding_agent")


def judged(fact: str, policy: MemoryPolicy = DEFAULT, **fields: Any) -> Classified:
    return classify(policy, Proposal(fact, **fields))


# ------------------------------------------------ sentences in tables


# Of another thing than the pinned slots, which the words name.
ATTRIBUTES = {
    "I was born in Oslo": "slot:profile:~birthplace",
    "My username is Ada": "slot:profile:username",
    "My middle name is Ada": "slot:profile:middle name",
    "My pen name is Bell": "slot:profile:pen name",
    "My company's name is Acme": "slot:profile:employer",
    "My hometown is Split": "slot:profile:hometown",
    "My favourite city is Rome": "slot:profile:favourite city",
    "Rome is my favourite city": "slot:profile:favourite city",
    "I'm from Naples": "slot:profile:~is from",
    "I am a manager at Shopify": "slot:profile:occupation",
    "Our office is in Munich": "slot:profile:~workplace",
    "I moved my desk to Berlin": "slot:profile:~workplace",
}


@pytest.mark.parametrize("sentence", NO_KEY)
def test_a_sentence_about_something_else_makes_no_key_of_the_user(sentence: str) -> None:
    for role in ("user", None):
        found = judged(sentence, role=role, user_name="ada")
        assert found.conflict_key in (None, ATTRIBUTES.get(sentence)) or found.negates is not None
        assert found.critical_slot is None


@pytest.mark.parametrize(("sentence", "key"), RIGHT_KEY)
def test_a_statement_of_the_user_takes_its_key(sentence: str, key: str) -> None:
    for role in ("user", None):
        found = judged(sentence, role=role, user_name="ada")
        assert (found.conflict_key, found.critical_slot, found.negates) == (key, key.removeprefix("slot:"), None)
        assert found.subject == "user"


@pytest.mark.parametrize(("sentence", "key", "value"), TAKEN_BACK)
def test_what_no_longer_holds_shares_the_key_and_names_the_value(sentence: str, key: str, value: str) -> None:
    found = judged(sentence, role="user")
    assert (found.conflict_key, found.negates, found.critical_slot) == (key, value, None)


@pytest.mark.parametrize(("said", "facts"), COMPOUND)
def test_a_fact_that_says_several_things_takes_none_but_their_slots(
    said: str, facts: tuple[tuple[str, str | None], ...]
) -> None:
    for role in ("user", None):
        found = judged(said, role=role, user_name="ada")
        slot = found.critical_slot
        joint = slot is not None and slot.startswith("profile:allergy:") and " and " in slot
        assert joint or slot in {None, *(one for _, one in facts)}


@pytest.mark.parametrize(
    ("fact", "slot"),
    [
        ("User is allergic to peanuts and lives in Ottawa", "profile:allergy:peanuts"),
        ("User lives in Ottawa and is allergic to peanuts", "profile:current_city"),
        ("User works at Acme and lives in Ottawa", "profile:current_city"),
        ("User does not smoke and lives in Ottawa", "profile:current_city"),
        ("User has a dog and a peanut allergy", "profile:allergy:peanuts"),
        ("User had an allergic reaction to penicillin in 2019", "profile:allergy:penicillin"),
        ("User once had a severe anaphylactic shock from prawns", "profile:allergy:prawns"),
        ("User never had an allergic reaction to nuts", None),
        ("User's son had an allergic reaction to nuts", None),
        ("User had a chemical reaction to study", None),
        ("User's sister is a nurse and lives in Ottawa", None),
        ("Bob works at Acme and lives in Ottawa", None),
    ],
)
def test_a_fact_added_whole_takes_the_slot_of_what_it_says_first(fact: str, slot: str | None) -> None:
    assert judged(fact).critical_slot == slot


@pytest.mark.parametrize(
    ("one", "other", "slot"),
    [
        ("User has a peanut allergy", "User is allergic to peanuts", "peanuts"),
        ("User has a dust mite allergy", "User is allergic to dust mites", "dust mites"),
        ("User has a strawberry allergy", "User is allergic to strawberries", "strawberries"),
        ("User has a mango allergy", "User is allergic to mangos", "mangoes"),
        ("User has an egg allergy", "User is no longer allergic to eggs", "eggs"),
        ("User has a latex allergy", "User is allergic to latex", "latex"),
        (
            "User is allergic to peanuts and shellfish",
            "User is allergic to shellfish and peanuts",
            "peanuts and shellfish",
        ),
    ],
)
def test_one_allergen_has_one_slot_however_it_is_named(one: str, other: str, slot: str) -> None:
    assert {judged(one).conflict_key, judged(other).conflict_key} == {f"slot:profile:allergy:{slot}"}


def test_the_tables_are_as_large_as_promised() -> None:
    assert len(set(NO_KEY)) >= 120
    assert len({sentence for sentence, _ in RIGHT_KEY}) >= 80


@pytest.mark.parametrize("role", ["assistant", "tool", "agent", "system"])
def test_first_person_of_others_gives_no_slot(role: str) -> None:
    assert judged("I live in Ottawa", role=role).conflict_key is None
    assert judged("User lives in Ottawa", role=role).conflict_key == "slot:profile:current_city"


def test_a_compound_with_a_relative_clause_does_not_lend_its_subject() -> None:
    policy = MemoryPolicy("mine", slot_rules=(SlotRule("home", "profile:home", (r"\blives? in (?P<where>\w+)",)),))
    assert judged("I visited my sister who lives in Toronto", policy, role="user").conflict_key is None
    assert judged("I live in Toronto", policy, role="user").conflict_key == "slot:profile:home"
    assert judged("Bob lives in Toronto", policy, role="user").conflict_key is None


# ------------------------------------------------ keys and slots


def test_an_explicit_subject_gives_a_key_of_that_subject_and_no_pin() -> None:
    found = judged("Bob lives in Oslo", subject="Bob")
    assert (found.conflict_key, found.critical_slot, found.subject) == ("slot:profile:current_city@bob", None, "bob")
    sister = judged("User's sister lives in Toronto", subject="User's sister")
    assert sister.conflict_key == "slot:profile:current_city@user's sister"


@pytest.mark.parametrize("name", ["user", "The User", "self", "ada", "ＡＤＡ"])
def test_an_explicit_subject_that_is_the_user_is_self(name: str) -> None:
    found = judged("Ada lives in Oslo", subject=name, user_name="Ada")
    assert (found.conflict_key, found.subject) == ("slot:profile:current_city", "user")


def test_the_topic_key_comes_before_triple_and_slot() -> None:
    found = judged("User lives in Oslo", topic_key=" My  HOME ", subject="bob", attribute="name")
    assert found.conflict_key == "topic:my home"
    assert judged("Robert is fine", subject="Bob", attribute="Name").conflict_key == "fact:bob:name"
    assert (
        judged("User lives in Oslo", subject="user", attribute="current_city").conflict_key
        == "slot:profile:current_city"
    )


def test_only_functional_attributes_give_a_key() -> None:
    assert judged("Bob knows Ann", subject="bob", attribute="knows").conflict_key is None
    policy = MemoryPolicy("mine", functional_attributes=("employer",))
    assert judged("Bob is at Nokia", policy, subject="Bob", attribute="employer").conflict_key == "fact:bob:employer"
    assert judged("Bob is Robert", policy, subject="Bob", attribute="name").conflict_key is None


def test_an_attribute_is_functional_however_it_is_written() -> None:
    policy = MemoryPolicy("mine", functional_attributes=("Budget", "ＬＥＡＤ"))
    for said in ("budget", "Budget", " BUDGET ", "lead"):
        found = judged("Apollo has 500 dollars", policy, subject="Apollo", attribute=said)
        assert found.conflict_key == f"fact:apollo:{said.strip().casefold()}"


def test_a_triple_about_the_user_has_the_slot_of_its_attribute_whatever_its_text() -> None:
    stated = judged("Manager is Kim", subject="user", attribute="Manager")
    assert (stated.conflict_key, stated.critical_slot) == ("slot:profile:manager", "profile:manager")
    assert judged("Manager is Kim", subject="Bob", attribute="manager").conflict_key == "fact:bob:manager"
    for said in ("User may get Kim as a manager", "Is it Kim?", "Kim used to be the manager"):
        assert judged(said, subject="user", attribute="manager").critical_slot is None
    assert judged("x y z", subject="user", attribute="manager", category="verbatim").critical_slot is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("Café", "Cafe\u0301"), ("HOME", "home"), ("ho\u200bme", "home"), (" a  b ", "a b"), ("ｈｏｍｅ", "home")],
)
def test_twins_of_a_key_are_one_key(one: str, other: str) -> None:
    assert judged("x", topic_key=one).conflict_key == judged("y", topic_key=other).conflict_key


def test_a_slot_given_by_the_caller_wins_and_pins() -> None:
    found = judged("anything at all", critical_slot="Home  Base")
    assert (found.critical_slot, found.conflict_key) == ("home base", "slot:home base")


def test_types_alone_never_pin_unless_the_policy_says_so() -> None:
    assert judged("User must finish by May").critical_slot is None
    pinned = MemoryPolicy("strict", critical_types=("constraint",))
    found = judged("User must finish by May", pinned, memory_type="constraint")
    assert (found.critical_slot, found.conflict_key) == ("type:constraint", None)


def test_positive_and_negative_statements_of_an_allergy_share_the_slot() -> None:
    keys = {judged(text).conflict_key for text in ("User is allergic to nuts", "User is not allergic to nuts")}
    assert keys == {"slot:profile:allergy:nuts"}


def test_a_past_state_takes_the_slot_only_when_the_caller_states_its_end() -> None:
    assert judged("In 2025 I lived in Lyon").conflict_key is None
    assert judged("In 2025 I lived in Lyon", ended=True).conflict_key == "slot:profile:current_city"


def test_evidence_of_the_verbatim_deriver_gets_no_slot() -> None:
    found = judged("I live in Rome", category="verbatim", memory_type="episodic", role="user")
    assert (found.conflict_key, found.critical_slot, found.memory_type) == (None, None, "episodic")


# ------------------------------------------------ types


@pytest.mark.parametrize(
    ("fact", "memory_type"),
    [
        ("User is allergic to peanuts", "profile"),
        ("User's name is Ada", "profile"),
        ("User moved to Toronto", "profile"),
        ("User prefers dark mode", "preference"),
        ("User does not like cilantro", "preference"),
        ("Never deploy on Fridays", "constraint"),
        ("The deadline is May 3", "constraint"),
        ("User's team switched to Postgres", "decision"),
        ("The project uses Rust", "project"),
        ("User needs to renew the passport", "task"),
        ("User went to the dentist yesterday", "episodic"),
        ("The sky is blue", "semantic"),
        ("Does the user prefer tea?", "semantic"),
        ("If the user prefers tea, buy some", "semantic"),
        ("Perhaps the user prefers tea", "semantic"),
        ("the manager of the hotel was rude", "semantic"),
    ],
)
def test_the_default_policy_types_a_fact(fact: str, memory_type: str) -> None:
    assert judged(fact).memory_type == memory_type


def test_the_type_comes_from_caller_then_metadata_then_rule() -> None:
    fact = "User prefers tea"
    assert judged(fact, memory_type="task", metadata={"type": "decision"}).memory_type == "task"
    assert judged(fact, metadata={"type": "decision"}).memory_type == "decision"
    assert judged(fact, metadata={"category": "task", "type": "decision"}).memory_type == "task"
    assert judged(fact, metadata={"category": "nonsense", "type": 7}).memory_type == "preference"


def test_the_first_rule_wins_and_gives_category_importance_and_expiry() -> None:
    policy = MemoryPolicy(
        "mine",
        type_rules=(
            TypeRule(
                "badge", "constraint", (r"\bbadge\b",), category="access", importance=0.9, expires_in=timedelta(days=3)
            ),
            TypeRule("all", "task", (r"badge|door",), metadata_values=("door",)),
        ),
    )
    first = judged("The badge opens the door", policy)
    assert (first.memory_type, first.category, first.importance, first.expires_in, first.rule) == (
        "constraint", "access", 0.9, timedelta(days=3), "badge",
    )  # fmt: skip
    assert judged("The door", policy).rule == "all"
    assert judged("nothing", policy, metadata={"kind": "DOOR"}).memory_type == "task"
    own = judged("The badge", policy, importance=0.1, category="mine")
    assert (own.importance, own.category) == (0.1, "mine")


# ------------------------------------------------ policies of one's own


@given(st.text(alphabet=st.sampled_from(list("abc xyz^.")), max_size=12))
def test_joined_patterns_are_found_where_one_of_them_is(said: str) -> None:
    patterns = (r"^a(?:b|c)", r"\bx y\b", r"z+$", r"b|^c", r"^x|^y")
    both = joined(patterns)
    assert both is not None
    assert both.is_in(said) == any(re.search(pattern, said) for pattern in patterns)


def test_rules_with_a_group_of_one_name_type_a_fact_each() -> None:
    rules = tuple(
        TypeRule(kind, kind, (rf"\b{word} (?P<what>\w+)",)) for kind, word in (("task", "fetch"), ("decision", "take"))
    )
    policy = MemoryPolicy("twins", type_rules=rules)
    assert policy.types_joined is None
    assert [classify(policy, Proposal(f"{word} milk")).memory_type for word in ("fetch", "take", "drink")] == [
        "task", "decision", "semantic",
    ]  # fmt: skip


def test_a_slot_with_a_group_that_did_not_match_is_no_slot() -> None:
    rule = SlotRule("pet", "profile:pet:{kind}", (r"^user has a pet(?: (?P<kind>cat|dog))?",))
    policy = MemoryPolicy("mine", slot_rules=(rule,))
    assert judged("User has a pet cat", policy).critical_slot == "profile:pet:cat"
    assert judged("User has a pet", policy).conflict_key is None


def test_text_in_slots_is_compared_text() -> None:
    policy = MemoryPolicy("mine", slot_rules=(SlotRule("car", "profile:car:{car}", (r"^user drives a (?P<car>.+)$",)),))
    keys = {
        judged(f"User drives a {car}", policy).conflict_key
        for car in ("Citroën  DS", "citroe\u0308n ds", "CITROËN\u200b DS")
    }
    assert keys == {"slot:profile:car:citroën ds"}


def test_a_rule_that_does_not_pin_gives_a_key_only() -> None:
    policy = MemoryPolicy(
        "mine", slot_rules=(SlotRule("car", "profile:car", (r"^user drives a (?P<v>\w+)",), critical=False),)
    )
    found = judged("I drive a Volvo", policy, role="user")
    assert (found.conflict_key, found.critical_slot) == ("slot:profile:car", None)


def test_a_value_of_ones_own_slot_is_taken_back() -> None:
    rule = SlotRule("colour", "preference:colour", (r"^user's favourite colour is (?P<value>\w+)",))
    policy = MemoryPolicy("mine", slot_rules=(rule,))
    assert judged("My favourite colour is no longer blue", policy, role="user").negates == "blue"


@pytest.mark.parametrize(
    "build",
    [
        lambda: TypeRule("x", "nonsense", ("a",)),  # type: ignore[arg-type]
        lambda: TypeRule("x", "task", ("(",)),
        lambda: TypeRule("x", "task"),
        lambda: TypeRule("x", "task", "abc"),  # type: ignore[arg-type]
        lambda: TypeRule("x", "task", ("a",), importance=1.5),
        lambda: TypeRule("x", "task", ("a",), expires_in=7),  # type: ignore[arg-type]
        lambda: TypeRule("bad name!", "task", ("a",)),
        lambda: SlotRule("x", "slot:{missing}", ("a",)),
        lambda: SlotRule("x", "slot:{", ("a",)),
        lambda: SlotRule("x", "slot:{a!r}", ("(?P<a>b)",)),
        lambda: SlotRule("x", "slot:{a.b}", ("(?P<a>b)",)),
        lambda: SlotRule("x", "", ("a",)),
        lambda: SlotRule("x", "slot", ()),
        lambda: SlotRule("x", "slot", ("a",), subject="other"),  # type: ignore[arg-type]
        lambda: SlotRule("x", "slot", ("a",), memory_types=("nonsense",)),  # type: ignore[arg-type]
        lambda: TypeRule("x", "task", ("a",), expires_in=timedelta.max),
        lambda: TypeRule("x", "task", ("a",), expires_in=timedelta(seconds=-1)),
        lambda: TypeRule("x", "task", ("a",), category="a\x00b"),
        lambda: SlotRule("x", "a\x00b", ("a",)),
        lambda: SlotRule("x", "a\ud800b", ("a",)),
        lambda: Reject("a\x00b"),
        lambda: from_json({"name": "x", "base": ["default"]}, {}),
        lambda: from_json({"name": "x", "session_gap": 1e300}, {}),
        lambda: MemoryPolicy("x", version=0),
        lambda: MemoryPolicy("x", version=2**31),  # more than a row of a memory holds
        lambda: MemoryPolicy("x", write_mode="maybe"),  # type: ignore[arg-type]
        lambda: MemoryPolicy("x", unverified="believe"),  # type: ignore[arg-type]
        lambda: MemoryPolicy("x", critical_types=("nonsense",)),  # type: ignore[arg-type]
        lambda: MemoryPolicy("x", secret_patterns={"ticket": ["BOAT"]}),  # type: ignore[dict-item]
        lambda: MemoryPolicy("x", thresholds={"near": 2}),
        lambda: MemoryPolicy("x", thresholds={"core_overlp": 0.9}),
        lambda: MemoryPolicy("x", derive={("user", "user_message"): ("magic",)}),
        lambda: MemoryPolicy("x", derive={("nobody", "user_message"): ("rules",)}),
        lambda: MemoryPolicy("x", type_rules=(TypeRule("a", "task", ("a",)), TypeRule("a", "task", ("b",)))),
        lambda: get_policy("nonsense"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_when_it_is_made(build: Any) -> None:
    with pytest.raises(PolicyError):
        build()


@pytest.mark.parametrize(
    "said",
    [
        {"critical_slot": "k" * 1_000, "subject": "s" * 150},
        {"subject": "\ufdfa" * 200, "attribute": "style"},  # each stands for 18 letters
        {"fact": "User's name is Ada"},
    ],
)
def test_a_key_is_never_longer_than_its_row_holds(said: dict[str, str]) -> None:
    """The database refused it: a Conflict for who adds, and a dead job where a deriver proposed it."""
    slot = replace(DEFAULT.slot_rules[0], slot="\ufdfa" * 100)
    wide = replace(DEFAULT, slot_rules=(slot,), functional_attributes=("style",))
    found = classify(wide, Proposal(**{"fact": "The door is blue", **said}))  # type: ignore[arg-type]
    other = classify(wide, Proposal(**{"fact": "The door is red", **said, "subject": "somebody else"}))  # type: ignore[arg-type]
    assert found.conflict_key is not None
    assert len(found.conflict_key.encode()) <= 1_100
    assert len((found.critical_slot or "").encode()) <= 1_024
    assert found.conflict_key != other.conflict_key
    assert classify(wide, Proposal(**{"fact": "The door is blue", **said})) == found  # type: ignore[arg-type]


def test_a_pattern_of_any_depth_is_taken_or_refused() -> None:
    deepest = "(?:a|" * 700 + "a" + ")" * 700
    for depth in range(150, 490, 4):
        with suppress(PolicyError):
            compile_safe("(?:a|" * depth + "a" + ")" * depth)
    with pytest.raises(PolicyError):
        compile_safe(deepest)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a*)*",
        r"(?:\w+\s?)*$",
        r"(.*)(.*)(.*)x",
        r".*a.*b.*c.*d",
        r"(a|aa)+$",
        r"(?=a)b",
        r"(?<!a)b",
        r"(a)\1",
        r"(?:a{1,99}){1,99}b",
    ],
)
def test_a_pattern_that_could_be_slow_is_refused(pattern: str) -> None:
    with pytest.raises(PolicyError):
        TypeRule("slow", "task", (pattern,))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bfoo\b",
        r"(?P<a>.+) lives in (?P<b>.+)",
        r"^(\w+) (\w+) (\w+)$",
        r"\b(\w+) manages (\w+)\b",
        r"^user's (?:new )?car is (?P<v>[\w -]{1,40})",
        r"colou?r: *(\w+)",
    ],
)
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    assert TypeRule("fine", "task", (pattern,)).compiled[0].pattern == pattern


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "user lives in ",
        "section 8 liable ",
        "my ",
        "allergic to ",
        "1 may ",
        "never in the repo ",
        '"',
        "'s ",
        "and i ",
    ],
)
def test_the_time_of_judging_grows_with_the_fact_and_no_faster(unit: str) -> None:
    def judge(fact: str) -> object:
        return [classify(policy, Proposal(fact, role="user")) for policy in built_in()]

    assert_linear(judge, unit, 8192)


# ------------------------------------------------ the other built-ins


def test_liability_clauses_of_different_sections_never_share_a_key() -> None:
    eight = judged("Section 8.2: the Supplier's liability shall not exceed $1m unless agreed.", LEGAL)
    nine = judged("Section 9: the Supplier's liability shall not exceed $2m.", LEGAL)
    assert eight.conflict_key == "slot:legal:liability:8.2"
    assert nine.conflict_key == "slot:legal:liability:9"
    assert eight.memory_type == nine.memory_type == "constraint"


@pytest.mark.parametrize(
    ("fact", "slot"),
    [
        ("Liability is capped at $5m under Section 12", "legal:liability:12"),
        ("The Supplier shall indemnify the Customer", "legal:indemnity:supplier:customer indemnify"),
        ("Clause 4 requires audit logs for seven years", "legal:audit_logs:4"),
        ("All information under Section 3 is confidential", "legal:confidentiality:3"),
        ("Liability is capped at $5m", None),
        ("Liability under Section 8 follows Section 9", None),
        ("Is liability under Section 8 capped?", None),
    ],
)
def test_a_legal_slot_needs_its_section_or_party(fact: str, slot: str | None) -> None:
    assert judged(fact, LEGAL).critical_slot == slot


CAPPED = "The Supplier's liability is capped at $5m."


def test_a_clause_of_a_document_has_the_section_it_stands_in_and_not_one_it_refers_to() -> None:
    place = Place("Lease", "12")
    capped = judged("Liability under Section 8 is capped at $5m.", LEGAL, place=place)
    assert capped.conflict_key == "slot:legal:liability:12:cap liability@lease"
    assert judged(CAPPED, LEGAL, place=place).critical_slot == "legal:liability:12:cap liability supplier@lease"
    assert judged(CAPPED, LEGAL, place=place, subject="supplier").conflict_key != judged(CAPPED, LEGAL).conflict_key


@pytest.mark.parametrize("fact", [CAPPED, "Liability under Section 8 is capped at $5m."])
def test_a_clause_of_no_known_section_has_no_slot(fact: str) -> None:
    assert judged(fact, LEGAL, place=Place("Lease", None)).critical_slot is None


def test_what_is_no_clause_keeps_its_slot_in_a_document() -> None:
    rule = "In the engram repo, never force-push"
    assert judged(rule, CODING, place=Place("Rules", None)).conflict_key == judged(rule, CODING).conflict_key


@pytest.mark.parametrize(
    ("fact", "memory_type", "slot"),
    [
        ("exit code 1 in suite billing", "tool_result", "coding:test_result:billing"),
        ("suite billing: 3 failed, 20 passed", "tool_result", "coding:test_result:billing"),
        ("The billing test suite passed", "tool_result", "coding:test_result:billing"),
        ("the suite passed", "tool_result", None),
        ("User's team switched to Postgres", "decision", "coding:implementation_decision:database"),
        ("User's team switched from MySQL to Postgres", "decision", "coding:implementation_decision:database"),
        ("We chose Redis for sessions", "decision", "coding:implementation_decision:session"),
        ("We chose Hatchet for background-jobs", "decision", "coding:implementation_decision:background job"),
        ("Bob's team switched to Postgres", "decision", None),
        ("In the engram repo, never force-push", "constraint", "coding:repo_constraint:engram:force push"),
        ("Implement the login page", "task", None),
        ("Writes need approval in the sandbox", "constraint", None),
    ],
)
def test_the_coding_policy_types_and_pins(fact: str, memory_type: str, slot: str | None) -> None:
    found = judged(fact, CODING)
    assert (found.memory_type, found.critical_slot) == (memory_type, slot)


@pytest.mark.parametrize(
    ("facts", "topic"),
    [
        (("We decided to use MySQL as our main database", "User's team switched to Postgres"), "database"),
        (("We chose Redis as the message queue", "We switched to RabbitMQ for message queues"), "message queue"),
        (("We decided to use Postgres for caching", "We switched from Redis to Memcached as a cache"), "cache"),
        (("For caching, we decided to use Redis", "We use Valkey for caching because of its licence"), "cache"),
        (("We decided to use Redis to store sessions", "We picked Postgres for storing sessions"), "session"),
        (("We chose npm as the package manager", "We switched to pnpm"), "javascript package manager"),
        (("We chose Jenkins", "We switched to GitHub Actions for CI"), "ci"),
        (("We use Postgres for its reliability", "We use MySQL for now"), "database"),
    ],
)
def test_a_decision_is_about_its_purpose_and_not_its_product(facts: tuple[str, ...], topic: str) -> None:
    assert {judged(fact, CODING, role="user").critical_slot for fact in facts} == {
        f"coding:implementation_decision:{topic}"
    }


@pytest.mark.parametrize(
    "fact",
    [
        "We decided to use Redis",
        "We decided to use Python",
        "We chose Redis for caching and sessions",
        "We decided to use MySQL for billing and Postgres for search",
        "We use Postgres in tests",
        "We use Redis for speed",
        "We use Redis for now",
    ],
)
def test_a_decision_without_one_certain_purpose_takes_no_slot(fact: str) -> None:
    assert judged(fact, CODING, role="user").conflict_key is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In the engram repo, never push to main", "In the engram repo, always run tests before merging"),
        ("In the engram repo, always run tests before merging", "In the engram repo, always run tests before pushing"),
        ("In the engram repo, never deploy without approval", "In the engram repo, never deploy without tests"),
        ("In the engram repo, never push to main", "In the atlas repo, never push to main"),
        ("The repo engram must use tabs for indentation", "The repo engram must use pnpm as the package manager"),
        ("We decided to use MySQL as our main database", "We decided to use Postgres for caching"),
        ("The billing suite passed on linux", "The billing suite failed on macOS"),
    ],
)
def test_different_things_of_one_project_do_not_share_a_key(one: str, other: str) -> None:
    keys = [judged(fact, CODING, role="user").conflict_key for fact in (one, other)]
    assert None not in keys
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In the engram repo, never force-push", "In the engram repo, always force-push"),
        ("Always run tests before merging in the engram repo", "In the engram repo, tests must run before merging"),
        ("In the engram repo, PRs must have 2 approvals", "In the engram repo, PRs must have three approvals"),
        ("The repo engram must use tabs for indentation", "The repo engram must use spaces for indentation"),
        ("The billing suite passed on Monday", "suite billing: 3 failed, 20 passed"),
    ],
)
def test_a_changed_rule_or_result_shares_the_key_of_the_old_one(one: str, other: str) -> None:
    keys = {judged(fact, CODING, role="user").conflict_key for fact in (one, other)}
    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The Supplier shall deliver within 30 days", "The Supplier shall deliver within 45 business days", True),
        ("The Supplier shall deliver within 30 days", "The Supplier shall pay invoices within 10 days", False),
        ("The deadline under Section 7 is May 3", "The deadline under Section 7 is June 4", True),
        ("Section 5: the Buyer shall pay within 30 days", "Section 5: the Buyer shall pay within 45 days", True),
        ("Section 5: the Buyer shall pay within 30 days", "Section 5: the Buyer shall reply within 9 days", False),
        ("The Supplier's liability is capped at $5m", "The Supplier's liability is capped at $6m", True),
        ("The Supplier's liability is capped at $5m", "The Supplier's liability for theft is unlimited", False),
    ],
)
def test_duties_of_one_party_or_section_share_a_key_only_when_they_are_one_duty(
    one: str, other: str, same: bool
) -> None:
    keys = [judged(fact, LEGAL).conflict_key for fact in (one, other)]
    assert None not in keys
    assert (keys[0] == keys[1]) is same


def test_other_policies_keep_the_rules_of_the_default() -> None:
    for policy in built_in():
        assert judged("I live in Ottawa", policy).critical_slot == "profile:current_city"


def test_derivers_are_chosen_by_role_and_type() -> None:
    assert DEFAULT.derivers("user", "user_message") == ("verbatim", "rules", "llm")
    assert DEFAULT.derivers("assistant", "assistant_message") == ("verbatim",)
    assert DEFAULT.derivers("tool", "tool_result") == ("verbatim",)
    assert DEFAULT.derivers("system", "meeting") == ("rules",)
    assert DEFAULT.derivers("agent", "decision") == ("rules",)
    assert DEFAULT.derivers("system", "memory_added") == ()
    assert CODING.derivers("tool", "tool_result") == ("verbatim", "rules")


def test_aliases_and_weights_name_types_that_exist() -> None:
    assert {kind for kind, _ in TYPE_ALIASES.values()} == set(MEMORY_TYPES)
    assert TYPE_ALIASES["meeting_ledger"] == ("episodic", "meeting")
    assert TYPE_ALIASES["error"] == ("tool_result", "error")
    assert (TYPE_WEIGHTS["semantic"], TYPE_WEIGHTS["preference"], TYPE_WEIGHTS["context"]) == (0.8, 0.9, 0.5)
    assert set(MEMORY_TYPES) <= set(TYPE_WEIGHTS)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=300), st.sampled_from(["user", "assistant", None]), st.none() | st.text(min_size=1, max_size=20)
)
def test_any_text_is_judged_and_twice_the_same(text: str, role: str | None, subject: str | None) -> None:
    for policy in built_in():
        proposal = Proposal(text, role=role, subject=subject, user_name="ada")
        found = classify(policy, proposal)
        assert found == classify(policy, proposal)
        assert found.memory_type in MEMORY_TYPES


_SUBJECTS = st.sampled_from(
    [
        "My sister",
        "Bob",
        "The client",
        "My best friend's cousin",
        "She",
        "Her manager",
        "The guy at the desk",
        "Everyone",
    ]
)
_SAYS = st.sampled_from(
    [
        "lives in Toronto",
        "moved to Rome last week",
        "is allergic to nuts",
        "prefers short answers",
        "is based in Berlin",
        "reports to Maria",
    ]
)


@given(_SUBJECTS, _SAYS)
def test_nobody_elses_statement_is_pinned_to_the_user(who: str, says: str) -> None:
    found = judged(f"{who} {says}", role="user")
    assert (found.conflict_key, found.critical_slot) == (None, None)


# ------------------------------------------------ language models


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"extraction": "off"}, "extraction"), ({"extract": ""}, "extract"), ({"summary": None}, "summary"),
        ({"audit": "a\nb"}, "audit"), ({"gate": "x" * 201}, "gate"), ({5: "off"}, "'5'"), ("off", "llm"), (None, "llm"),
    ],
)  # fmt: skip
def test_a_component_that_makes_no_sense_is_named(wrong: Any, named: str) -> None:
    with pytest.raises(PolicyError, match=named):
        MemoryPolicy("own", llm=wrong)


def test_what_a_policy_says_of_components_cannot_be_changed_later() -> None:
    said = {"extract": "off", "summary": "openai/small"}
    policy = MemoryPolicy("own", llm=said)
    said["extract"] = "full"
    assert policy.llm == {"extract": "off", "summary": "openai/small"}
    with pytest.raises(TypeError):
        policy.llm["extract"] = "full"  # type: ignore[index]


@pytest.mark.parametrize("wrong", [1, 0.5, "2", True, Decimal("-1"), Decimal("NaN"), Decimal("Infinity")])
def test_a_budget_that_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(PolicyError, match="daily_budget"):
        MemoryPolicy("own", daily_budget=wrong)
    assert MemoryPolicy("own", daily_budget=Decimal(0)).daily_budget == 0


def test_a_policy_names_the_scoring_profile_of_its_searches() -> None:
    mine = Profile("mine", {"cosine": 1.0})
    policy = MemoryPolicy("own", profile="mine", profiles=[mine])  # type: ignore[arg-type]
    assert policy.profiles == (mine,)
    assert MemoryPolicy("own", profile="hybrid").profile == "hybrid"
    for wrong in (
        {"profile": "mine"}, {"profile": 7}, {"profiles": (mine, mine)}, {"profiles": ("mine",)}, {"profiles": mine},
        {"profile": ["mine"], "profiles": (mine,)},
    ):  # fmt: skip
        with pytest.raises(PolicyError, match="profile"):
            MemoryPolicy("own", **wrong)  # type: ignore[arg-type]


def test_a_threshold_that_a_policy_may_name_is_one_of_the_rooms() -> None:
    rooms = (gates.Thresholds, thresholds.Thresholds, links.Limits, topics.Limits)
    assert set(rules.THRESHOLDS) == {one.name for room in rooms for one in fields(room)}
