"""The commands that let memories age: a consolidation cycle, and pruning."""

from __future__ import annotations

from commands import Cli


def test_consolidate_runs_a_cycle_where_something_was_written(cli: Cli) -> None:
    cli.json("add", "The gate opens at five")
    shown = cli.json("consolidate", "--dry-run")
    assert shown["dry_run"] is True
    done = cli.json("consolidate")
    assert {"promotion", "epoch", "triage"} <= set(done["steps"])
    assert "merge" not in done["steps"]
    assert cli.json("consolidate", "--merge")["steps"] == [], "nothing new was written"
    cli.json("add", "The boat is blue")
    assert "merge" in cli.json("consolidate", "--merge")["steps"]
    assert "consolidate" in cli("runs").out
    newest = cli.json("runs", "--limit", "1")
    older = cli.json("runs", "--limit", "1", "--cursor", newest["cursor"])
    assert older["results"] != newest["results"]
    assert f"More: --cursor {newest['cursor']}" in cli("runs", "--limit", "1").out


def test_groups_are_of_one_owners_memories(cli: Cli) -> None:
    assert cli.json("clusters", "--user", "ada") == {"results": []}
    assert cli("clusters", "--all-users").code == 2, "nothing there reads everybody's"


def test_prune_puts_away_by_mode_and_undo_brings_back(cli: Cli) -> None:
    memory_id = cli.json("add", "The offer holds", "--expires-in", "2 weeks")["memory"]["memory_id"]
    assert cli.json("prune", "aggressive")["changed"] == 0, "a tenth of one is none"
    cli.json("add", "The sale is over", "--expires-in", "2020-01-01")
    assert cli.json("prune", "--dry-run", "--layer", "buffer")["changed"] == 0
    shown = cli.json("prune", "gentle", "--dry-run")
    done = cli.json("prune")
    assert [one["memory_id"] for one in done["changes"]] == [one["memory_id"] for one in shown["changes"]]
    assert done["changed"] == 1
    assert memory_id not in {one["memory_id"] for one in done["changes"]}
    assert {one["because"] for one in done["changes"]} == {"expired on 2020-01-02"}
    assert cli.json("undo", done["run_id"])["changed"] == 1
    assert cli("prune", "brutally").code == 2
