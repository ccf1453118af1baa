"""The wheel: everything is in it, and it works in an environment that has never seen the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import embedded

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Path]:
    """A folder far from the repository that any user may enter."""
    path = Path(tempfile.mkdtemp(prefix="engram-test-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    embedded.stop(path / "data")
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def wheel(elsewhere: Path) -> Path:
    """The wheel, built without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(elsewhere / "dist")]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (built,) = (elsewhere / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(elsewhere: Path, wheel: Path) -> Path:
    """The programs of an environment that has the wheel; the packages it needs are lent by this one."""
    venv.create(elsewhere / "env", with_pip=False)
    packages = next((elsewhere / "env" / "lib").glob("python*/site-packages"))
    # A folder named in a .pth file lends its packages, but not its own .pth files: an editable engram stays outside.
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "lent.pth").write_text("\n".join(sorted(lent)))
    programs = elsewhere / "env" / "bin"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(programs / "python"), *install], check=True)
    return programs


def run(command: list[str], elsewhere: Path) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "PYTHON", "DATABASE_"))
    }
    environment = kept | {"ENGRAM_DATA_DIR": str(elsewhere / "data")}
    return subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_carries_every_file_of_the_package_and_the_migrations(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {f"engram/{name}" for name in files(REPOSITORY / "engram")}
    scripts = {f"engram/alembic/{name}" for name in files(REPOSITORY / "alembic")}
    actors = {f"engram/workers/{name}" for name in files(REPOSITORY / "workers")}
    assert inside == package | scripts | actors
    assert {"engram/workers/__init__.py", "engram/workers/actors.py"} <= inside
    assert {"engram/py.typed", "engram/alembic/env.py", "engram/alembic/ddl/0001/010_roles.sql"} <= inside


def files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_installed_wheel_migrates_from_its_own_files(installed: Path, elsewhere: Path) -> None:
    script = """
import os, pathlib, engram
from engram import embedded, migrations
print(pathlib.Path(engram.__file__).parent)
print(migrations.scripts_folder())
with embedded.start(pathlib.Path(os.environ["ENGRAM_DATA_DIR"])) as server:
    migrations.upgrade(server.superuser_url)
    migrations.check(server.url())
"""
    done = run([str(installed / "python"), "-c", script], elsewhere)
    assert done.returncode == 0, done.stderr
    package, scripts = map(Path, done.stdout.split())
    assert elsewhere in package.parents
    assert scripts == package / "alembic"


def test_the_installed_wheel_runs_workers(installed: Path, elsewhere: Path) -> None:
    script = """
import os, signal, subprocess, sys, time
from pathlib import Path
from engram import Engram
from engram.settings import load
programs = Path(sys.executable).parent
command = sys.argv[1:]
with Engram(settings=load(dispatch="doorbell")) as memory:
    receipt = memory.remember("I live in Ottawa.", user_id="ada")
    with subprocess.Popen([programs / command[0], *command[1:]], stderr=subprocess.PIPE, text=True) as worker:
        print(len(memory.wait_for(receipt, timeout=60, user_id="ada")))
        worker.send_signal(signal.SIGTERM)
        print(worker.wait(40), "stopped" in worker.stderr.read())
"""
    for command in (["engram", "worker"], ["engram", "worker", "--processes", "2"]):
        done = run([str(installed / "python"), "-c", script, *command], elsewhere)
        assert done.stdout.split() == ["2", "0", "True"], done.stdout + done.stderr
    found = run([str(installed / "python"), "-c", "import engram.workers"], elsewhere)
    assert "REDIS_URL" in found.stderr, "the actors are there, and say what they need"


def test_the_installed_wheel_runs_the_demo_from_another_folder(installed: Path, elsewhere: Path) -> None:
    done = run([str(installed / "engram"), "demo"], elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "superseded" in done.stdout
