"""The recipe for conda and the container file ask for what the package asks for."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

import diskret

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "distribution" / "conda" / "recipe.yaml").read_text("utf-8"))
CONTAINER = (ROOT / "distribution" / "Containerfile").read_text("utf-8")
#: What conda-forge calls otherwise.
CALLED = {"duckdb": "python-duckdb"}


def test_the_recipe_needs_what_the_package_needs():
    run = {line.replace(" ", "") for line in RECIPE["requirements"]["run"]}
    asked = {f"python{PROJECT['requires-python']}"}
    for line in PROJECT["dependencies"]:
        name, limits = re.fullmatch(r"([\w-]+)(.*)", line).groups()
        asked.add(f"{CALLED.get(name, name)}{limits}")
    assert run == asked


def test_the_recipe_is_built_with_what_the_package_is_built_with():
    host = {line.replace(" ", "") for line in RECIPE["requirements"]["host"]}
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    assert host == {f"python{PROJECT['requires-python']}", "pip", *built}


@pytest.mark.long
def test_what_the_recipe_runs_builds_the_package_and_its_tests_pass(tmp_path):
    """From the sdist as the recipe names it, offline, with only what is installed here."""
    dist, site, room = tmp_path / "dist", tmp_path / "site", tmp_path / "room"
    room.mkdir()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(dist)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    source = RECIPE["source"]["path"]
    for name, value in RECIPE["context"].items():
        source = source.replace(f"${{{{ {name} }}}}", value)
    [made] = dist.iterdir()
    assert made.name == Path(source).name
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path, filter="data")
    here = {
        **os.environ,
        "PATH": os.pathsep.join([str(site / "bin"), str(Path(sys.executable).parent)]),
        "PYTHONPATH": str(site),
        "PIP_TARGET": str(site),
        "PIP_NO_INDEX": "1",
    }
    unpacked = tmp_path / made.name.removesuffix(".tar.gz")
    subprocess.run(
        shlex.split(RECIPE["build"]["script"]), cwd=unpacked, env=here, check=True,
        capture_output=True,
    )  # fmt: skip
    for name in RECIPE["about"]["license_file"]:
        assert (unpacked / name).is_file()
    found = "import diskret; print(diskret.__file__)"
    said = subprocess.run(["python", "-c", found], cwd=room, env=here, check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert Path(said.stdout.strip()).is_relative_to(site)
    commands = [line for test in RECIPE["tests"] for line in test.get("script", [])]
    assert commands
    for line in commands:
        subprocess.run(shlex.split(line), cwd=room, env=here, check=True, capture_output=True)


def test_the_recipe_has_version_and_programs_of_the_package():
    assert RECIPE["context"]["version"] == diskret.__version__
    points = {f"{name} = {call}" for name, call in PROJECT["scripts"].items()}
    assert {*RECIPE["build"]["python"]["entry_points"]} == points


def test_the_image_is_made_without_network_and_runs_without_rights():
    assert "--no-index" in CONTAINER and "--require-hashes" in CONTAINER
    assert CONTAINER.index("\nUSER diskret") > CONTAINER.index("\nRUN ")
    assert CONTAINER.index("\nUSER diskret") < CONTAINER.index("\nENTRYPOINT")
