"""The commands on what memories weigh: decay, feedback, a policy tried, and the audit log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Cli

from engram.errors import PolicyError
from engram.policies import built_in
from engram.policies.files import from_json

BASES = {one.name: one for one in built_in()}


def added(cli: Cli, fact: str, *more: str) -> str:
    return str(cli.json("add", fact, *more)["memory"]["memory_id"])


def test_decay_shows_what_fades_and_draws_a_curve(cli: Cli) -> None:
    memory_id = added(cli, "The gate opens at five", "--importance", "0.8")
    (row,) = cli.json("decay", "--profile", "ebbinghaus", "--limit", "5")["results"]
    assert (row["curve"], row["base"], row["next_threshold"]["name"]) == ("ebbinghaus", 0.8, "half")
    shown = cli("decay").out
    assert "The gate opens at five" in shown
    assert "half 0.40" in shown
    drawn = cli("decay", "--plot", f"mem-{memory_id[-8:]}", "--profile", "epochs")
    assert drawn.code == 0
    assert drawn.out.count("█") > 100
    assert "epochs from now" in drawn.out
    assert cli("decay", "--profile", "linear").code == 2


def test_feedback_takes_signed_values_after_any_number_of_ids(cli: Cli) -> None:
    both = [added(cli, "The gate opens at five"), added(cli, "The boat is blue")]
    rated = cli.json("feedback", *both, "+1", "--reason", "right")["results"]
    assert [one["confidence"] for one in rated] == [0.65, 0.65]
    assert cli.json("feedback", both[0], "-1", "--dry-run")["results"][0]["confidence"] == pytest.approx(0.45)
    shown = cli("feedback", both[0], "-1")
    assert "0.45" in shown.out
    assert cli("feedback", both[0], "-2").code == 2
    assert cli("feedback", both[0], "up").code == 2
    assert cli("feedback", both[0], "--unknown").code == 2


def test_a_policy_is_tried_by_name_or_from_a_file(cli: Cli, tmp_path: Path) -> None:
    added(cli, "The boat is blue")
    assert cli.json("policy", "simulate", "default")["counts"]["same"] == 1
    file = tmp_path / "boats.json"
    rule = {"name": "boats", "memory_type": "project", "patterns": ["boat"], "importance": 0.3}
    file.write_text(json.dumps({"base": "default", "name": "boats", "type_rules": [rule]}), encoding="utf-8")
    report = cli.json("policy", "simulate", str(file))
    assert (report["policy"], report["types"], report["rules"]) == ("boats@1", {"project": 1}, {"boats": 1})
    shown = cli("policy", "simulate", str(file)).out
    assert "The boat is blue" in shown
    assert "memory_type" in shown
    file.write_text("{", encoding="utf-8")
    assert cli("policy", "simulate", str(file)).code == 2
    for wrong in ("[" * 50_000, '{"name": "a", "name": "b"}'):
        file.write_text(wrong)
        ran = cli("policy", "simulate", str(file))
        assert (ran.code, ran.err.startswith("engram: policy: ")) == (2, True)
    assert cli("policy", "simulate", "no-such-policy").code == 2


def test_the_audit_says_who_changed_what_and_how_to_take_it_back(cli: Cli) -> None:
    memory_id = added(cli, "The gate opens at five", "--actor", "ada")
    cli.json("feedback", memory_id, "-1", "--actor", "bo", "--reason", "it opens at six")
    rated = cli.json("audit", "--memory", memory_id, "--limit", "1")["results"][0]
    assert (rated["entry"], rated["actor"], rated["reason"]) == ("rated", "bo", "it opens at six")
    shown = cli("audit").out
    assert "confidence: 0.5 → 0.3" in shown
    assert "it opens at six; rated down" in shown
    assert f"engram undo {rated['run_id']}" in shown
    assert [one["actor"] for one in cli.json("audit", "--actor", "ada")["results"]] == ["ada"]
    assert not cli.json("audit", "--until", "2020-01-01")["results"]
    assert cli.json("undo", rated["run_id"])["changed"] == 1
    assert "(taken back)" in cli("audit", "--memory", memory_id).out


@pytest.mark.parametrize(
    "wrong",
    [
        [], {"name": "x", "colour": "red"}, {"name": "x", "base": "none"}, {"write_mode": "gate"}, {"name": ["x"]},
        {"name": "x", "type_rules": [{"name": "r"}]}, {"name": "x", "type_rules": [3]}, {"name": "x", "guards": []},
        {"name": "x", "type_rules": [{"name": "r", "memory_type": "semantic", "compiled": []}]},
        {"name": "x", "daily_budget": "much"}, {"name": "x", "thresholds": {"near": 2}},
        {"name": "x", "session_gap": "x"},
    ],
)  # fmt: skip
def test_what_is_no_policy_is_none(wrong: object) -> None:
    with pytest.raises(PolicyError):
        from_json(wrong, BASES)


def test_a_policy_comes_whole_out_of_its_file() -> None:
    data = {
        "base": "coding_agent", "name": "mine", "version": 2, "write_mode": "gate", "surprise_threshold": 0.3,
        "session_gap": 60, "daily_budget": "1.50", "derive": {"user/user_message": ["rules"]},
        "slot_rules": [{"name": "pet", "slot": "profile:pet", "patterns": ["pet is"], "memory_types": ["profile"]}],
        "type_rules": [{"name": "r", "memory_type": "task", "patterns": ["todo"], "expires_in": 3600}],
    }  # fmt: skip
    made = from_json(data, BASES)
    assert (made.name, made.version, made.write_mode, made.surprise_threshold) == ("mine", 2, "gate", 0.3)
    assert made.session_gap.total_seconds() == 60
    assert str(made.daily_budget) == "1.50"
    assert made.derivers("user", "user_message") == ("rules",)
    assert made.type_rules[0].expires_in is not None
    assert made.slot_rules[0].slot == "profile:pet"
    assert from_json({"base": "legal", "name": "law"}, BASES).type_rules == BASES["legal"].type_rules
