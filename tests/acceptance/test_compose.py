"""The files for Docker, held to the command line: no daemon is needed to see that they name what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from engram.cli import app
from engram.service import LEAVING, PATIENCE
from engram.settings import PREFIX, load

DOCKER = Path(__file__).parents[2] / "docker"


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"])


def test_every_service_that_stays_is_checked_and_waits_for_what_it_needs(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"postgres", "redis", "migrate", "worker"}
    assert {name for name, service in services.items() if "healthcheck" in service} == set(services) - {"migrate"}
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert services["worker"]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), "nothing is open to the world"


def test_every_command_of_engram_is_one_it_understands(services: dict[str, dict[str, Any]]) -> None:
    entry = re.search(r"ENTRYPOINT (\[.*\])", (DOCKER / "Dockerfile").read_text())
    assert entry is not None
    assert yaml.safe_load(entry[1]) == ["engram"]
    commands = [services["migrate"]["command"], services["worker"]["command"],
                services["worker"]["healthcheck"]["test"][2:]]  # fmt: skip
    program: Any = typer.main.get_command(app.built())
    for name, *arguments in commands:
        program.commands[name].make_context(name, list(arguments))
    worker, check = commands[1], commands[2]
    assert worker[worker.index("--probe") + 1] == check[check.index("--probe") + 1]
    assert PATIENCE < LEAVING < int(services["worker"]["stop_grace_period"].rstrip("s"))


def test_every_variable_is_in_the_example_and_every_file_is_there() -> None:
    text = (DOCKER / "compose.yaml").read_text()
    example = (DOCKER / ".env.example").read_text()
    wanted = set(re.findall(r"\$\{(\w+)", text))
    assert wanted == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    assert (DOCKER / "app-role.sh").stat().st_mode & 0o111
    assert "./app-role.sh:" in text


def test_workers_can_call_models_and_their_keys_stay_out_of_the_image(
    services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = re.search(r'pip install .* "\$\(echo /wheels/\*\.whl\)\[(\w+)\]"', (DOCKER / "Dockerfile").read_text())
    assert wheel is not None
    extras = tomllib.loads((DOCKER.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(needed.startswith("litellm") for needed in extras[wheel[1]])
    assert services["worker"]["env_file"] == [{"path": "worker.env", "required": False}]
    assert "docker/worker.env" in (DOCKER.parent / ".dockerignore").read_text().splitlines()
    given = dict(re.findall(r"^(\w+)=(.*)$", (DOCKER / "worker.env.example").read_text(), re.MULTILINE))
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load()
    assert settings.llm_model == given["ENGRAM_LLM_MODEL"]
    assert {name for name in given if not name.startswith(PREFIX)} == {"OPENAI_API_KEY"}
