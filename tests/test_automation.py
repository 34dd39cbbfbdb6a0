"""Workflows, issue forms and hooks, as far as they can be tried without GitHub."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults import ROOT

GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
FORMS = sorted(
    set((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"}
)


def parsed(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


WORKFLOWS = {file.stem: parsed(file) for file in (GITHUB / "workflows").glob("*.yml")}
JOBS = {
    f"{name}/{job}": facts
    for name, workflow in WORKFLOWS.items()
    for job, facts in workflow["jobs"].items()
}


def test_all_python_versions_that_we_claim_are_tested() -> None:
    matrix = WORKFLOWS["tests"]["jobs"]["pinned"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_all_systems_that_we_claim_are_tested() -> None:
    matrix = WORKFLOWS["tests"]["jobs"]["pinned"]["strategy"]["matrix"]
    systems = {*matrix["os"], *(each["os"] for each in matrix["include"])}
    claimed = [each for each in PROJECT["classifiers"] if each.startswith("Operating System")]
    assert systems == {"ubuntu-latest", "macos-latest"}
    assert claimed == ["Operating System :: MacOS", "Operating System :: POSIX :: Linux"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_only_read_and_does_not_run_twice(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] in ({}, {"contents": "read"})
    assert set(workflow["concurrency"]) == {"group", "cancel-in-progress"}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_ends_and_uses_actions_of_a_known_major_version(name: str) -> None:
    job = JOBS[name]
    assert job["timeout-minutes"] <= 120
    actions = [step for step in job["steps"] if "uses" in step]
    for step in actions:
        assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", step["uses"])
    for step in (step for step in actions if step["uses"].startswith("actions/checkout@")):
        assert step["with"]["persist-credentials"] is False


def test_only_the_release_may_write_and_needs_no_password() -> None:
    more = {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job}
    assert more == {
        "release/build": {"contents": "read", "id-token": "write", "attestations": "write"},
        "release/publish": {"id-token": "write"},
    }
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text()


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_a_form_has_fields_with_labels_of_their_own(file: Path) -> None:
    form = parsed(file)
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    labels = [field["attributes"]["label"] for field in fields]
    assert len(set(labels)) == len(labels)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_hooks_run_all_that_make_check_runs() -> None:
    (local,) = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    entries = " ".join(hook["entry"] for hook in local["hooks"])
    rules = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    commands = re.findall(r"\$\(BIN\)/(\S+(?: \S+)*)", rules)
    assert len(commands) == 5
    for command in commands:
        program = command.removesuffix(" .").replace(" --check", "")
        assert f".venv/bin/{program}" in entries
