"""The report of the benchmarks: what a saved run holds, what the page makes of it, and that the page is up to date."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> Iterator[Any]:
    """The report, which is a script beside the benchmarks and no part of the package."""
    yield from script("report")


@pytest.fixture
def saved(report: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A run as it was read back from its file."""
    monkeypatch.setattr(sys, "argv", [str(ROOT / "benchmarks" / "speed.py"), "--data", "set=/far/away/set.json"])
    path = report.save(
        "tried",
        title="What was tried",
        about="Two ways, side by side.",
        versions={"engram": "1"},
        data=[report.Data("set", "ab" * 32, "MIT", "3 questions")],
        tables=[report.Table("By way", ["way", "found", "share"], [["a|b", 1200, 0.25], ["c", 2, None]], ["A note."])],
        plots=[
            report.Plot("Shares", "bars", [report.Series("x", ["one", "two"], [1.0, 2.0], [0.5, 1.5], [1.5, 2.5])]),
            report.Plot("Times", "lines", [report.Series("y", [10, 100], [1.0, 20.0])], log=["x", "y"]),
        ],
        folder=tmp_path / "results",
    )
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return made


def test_a_saved_run_says_what_it_is_a_run_of_and_names_no_folder_of_its_machine(saved: dict[str, Any]) -> None:
    assert saved["command"] == "python benchmarks/speed.py --data set=set.json"
    assert "cores" in saved["machine"]
    assert re.fullmatch(r"[0-9a-f]{12}\+?|unknown", saved["commit"])
    assert saved["finished_at"].endswith("+00:00")
    assert saved["data"] == [{"name": "set", "sha256": "ab" * 32, "licence": "MIT", "rows": "3 questions"}]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("--data=a=/x/y.json", "--data=a=y.json"),
        ("postgresql://me:secret@host/db", "URL"),
        ("/x/folder/", "folder"),
        ("keyword,hybrid:rrf", "keyword,hybrid:rrf"),
        ("../x/y.json", "y.json"),
    ],
)
def test_a_command_is_shown_without_addresses_and_folders(report: Any, given: str, shown: str) -> None:
    assert report.command([str(ROOT / "benchmarks" / "speed.py"), given]) == f"python benchmarks/speed.py {shown}"


def test_what_does_not_fit_is_refused(report: Any, tmp_path: Path) -> None:
    about: dict[str, Any] = {"title": "x", "about": "x", "versions": {}, "folder": tmp_path}
    with pytest.raises(ValueError, match="name"):
        report.save("../x", **about)
    with pytest.raises(ValueError, match="columns"):
        report.save("x", tables=[report.Table("t", ["a", "b"], [[1]])], **about)
    with pytest.raises(ValueError, match="series"):
        report.save("x", plots=[report.Plot("p", "lines", [report.Series("s", [1, 2], [1.0])])], **about)
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_tables_notes_data_and_plots(report: Any, saved: dict[str, Any]) -> None:
    page = report.page([saved])
    assert "## What was tried\n\nTwo ways, side by side.\n\n    python benchmarks/speed.py" in page
    assert "| way | found | share |\n| --- | ---: | ---: |\n| a\\|b | 1,200 | 0.2 |\n| c | 2 |  |\n" in page
    assert "A note." in page
    assert f"set, 3 questions; licence: MIT; SHA-256 `{'ab' * 8}…`" in page
    assert "![Times](benchmarks/tried-2.svg)" in page
    assert "```" not in page  # a fenced block would be run by the tests of the pages


def test_runs_stand_in_the_order_of_the_page(report: Any, tmp_path: Path) -> None:
    for name in ("zeta", "alpha", "speed", "quality"):
        report.save(name, title=name, about="x", versions={}, folder=tmp_path)
    assert [run["name"] for run in report.runs(tmp_path)] == ["quality", "speed", "alpha", "zeta"]


def test_plots_are_the_same_every_time_and_old_ones_go(report: Any, saved: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plots, drawn = tmp_path / "plots", []
    plots.mkdir()
    (plots / "gone-1.svg").write_text("<svg/>", encoding="utf-8")
    for _ in range(2):
        report.write([saved], tmp_path / "page.md", plots)
        drawn.append({file.name: file.read_bytes() for file in plots.iterdir()})
    assert drawn[0] == drawn[1]
    assert sorted(drawn[0]) == ["tried-1.svg", "tried-2.svg"]
    assert b"<dc:date>" not in drawn[0]["tried-1.svg"]
    assert b">two</text>" in drawn[0]["tried-1.svg"]


def test_a_hash_is_of_names_and_contents(report: Any, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_text("1", encoding="utf-8")
    alone = report.sha256(tmp_path / "a")
    assert alone == report.sha256(tmp_path / "a" / "one")
    (tmp_path / "a" / "two").write_text("2", encoding="utf-8")
    both = report.sha256(tmp_path / "a")
    (tmp_path / "a" / "two").rename(tmp_path / "a" / "three")
    assert len({alone, both, report.sha256(tmp_path / "a")}) == 3


def test_progress_says_a_line_now_and_then_where_there_is_no_terminal(
    report: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "SAID_EVERY", 0.0)
    with report.progress("questions", 1200) as step:
        step("first", 5)
        step()
    assert capsys.readouterr().err.splitlines() == ["questions: 5 of 1,200 first", "questions: 6 of 1,200"]


def test_a_run_of_the_project_is_on_its_page_at_once(
    report: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    for name in ("RESULTS", "PLOTS"):
        monkeypatch.setattr(report, name, tmp_path / name)
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    report.save("speed", title="How fast", about="x", versions={})
    assert "## How fast" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_the_page_of_the_project_is_made_from_its_results(report: Any) -> None:
    saved = report.runs()
    assert report.PAGE.read_text(encoding="utf-8") == report.page(saved), "run: make bench-report"
    wanted = {report.plot_name(run, place) for run in saved for place in range(1, len(run["plots"]) + 1)}
    assert {file.name for file in report.PLOTS.glob("*.svg")} == wanted


def test_every_benchmark_that_the_page_names_is_made_by_its_target(report: Any) -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^    make (bench-\w+)", report.INTRO, re.MULTILINE):
        ran = re.search(rf"^{target}: env ## .+\n\t@\$\(BIN\)/python (\S+) \$\(ARGS\)$", made, re.MULTILINE)
        assert ran is not None
        assert (ROOT / ran[1]).exists(), ran[1]
