"""The recipe for conda and the container file ask for what the package asks for."""

import re
import tomllib
from pathlib import Path

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


def test_the_recipe_has_version_and_programs_of_the_package():
    assert RECIPE["context"]["version"] == diskret.__version__
    points = {f"{name} = {call}" for name, call in PROJECT["scripts"].items()}
    assert {*RECIPE["build"]["python"]["entry_points"]} == points


def test_the_image_is_made_without_network_and_runs_without_rights():
    assert "--no-index" in CONTAINER and "--require-hashes" in CONTAINER
    assert CONTAINER.index("\nUSER diskret") > CONTAINER.index("\nRUN ")
    assert CONTAINER.index("\nUSER diskret") < CONTAINER.index("\nENTRYPOINT")
