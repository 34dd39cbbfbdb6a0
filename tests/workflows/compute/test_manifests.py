"""The manifests in deploy/kubernetes, as far as they can be tested without Kubernetes."""

import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker

from pipeline.spec.toml import parse_spec_file
from tests.faults import ROOT
from workflows.cli.main import main as imwk
from workflows.compute.worker_settings import worker_variables

FOLDER = ROOT / "deploy" / "kubernetes"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMAGE = f"{PROJECT['name']}:{PROJECT['version']}"
#: The secrets that docs/distributed.md tells users to create first.
SECRETS = {"imwk-tls", "imwk-store"}
COMMANDS = {
    ("dask", "worker"): dask_worker,
    ("dask", "scheduler"): dask_scheduler,
    ("imwk", "submit"): imwk.commands["submit"],
}


def documents() -> dict[str, Any]:
    found = [
        each for file in FOLDER.glob("*.yaml") for each in yaml.safe_load_all(file.read_text())
    ]
    return {document["kind"]: document for document in found}


DOCUMENTS = documents()
DASK = DOCUMENTS["DaskCluster"]["spec"]
PODS = {
    "worker": DASK["worker"]["spec"],
    "scheduler": DASK["scheduler"]["spec"],
    "submit": DOCUMENTS["Job"]["spec"]["template"]["spec"],
}


def test_versions_and_required_fields() -> None:
    versions = {kind: document["apiVersion"] for kind, document in DOCUMENTS.items()}
    assert versions == {
        "DaskCluster": "kubernetes.dask.org/v1",
        "ConfigMap": "v1",
        "Job": "batch/v1",
    }
    assert DASK["worker"]["replicas"] > 0
    assert all(document["metadata"]["name"] for document in DOCUMENTS.values())
    assert PODS["submit"]["restartPolicy"] == "Never"


@pytest.mark.parametrize("name", PODS)
def test_commands_use_existing_options_and_mounted_files(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (container,) = PODS[name]["containers"]
    program, verb, *arguments = container["args"]
    monkeypatch.setattr(click.Path, "convert", lambda _, value, *__: value)  # no such files here
    command = COMMANDS[program, verb]
    given = command.make_context(verb, arguments).params
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    files = [value for value in given.values() if isinstance(value, str) and value.startswith("/")]
    assert files
    assert {str(Path(file).parent) for file in files} <= mounted


@pytest.mark.parametrize("name", PODS)
def test_volumes_secrets_and_limits_are_consistent(name: str) -> None:
    pod = PODS[name]
    (container,) = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    used = {source["secretRef"]["name"] for source in container["envFrom"]}
    used |= {each["secret"]["secretName"] for each in volumes.values() if "secret" in each}
    assert used == SECRETS
    assert set(container["resources"]) == {"requests", "limits"}
    assert container["image"] == IMAGE


def test_the_image_is_built_under_its_name_with_support_for_object_stores() -> None:
    recipe = (ROOT / "deploy" / "Dockerfile").read_text()
    build = f"docker build -f deploy/Dockerfile -t {IMAGE} ."
    assert build in recipe
    assert build in (ROOT / "docs" / "distributed.md").read_text()
    assert re.findall(r"imwk-sweep\[(.*?)\]", recipe) == ["cloud,report"]
    assert {"cloud", "report"} <= set(PROJECT["optional-dependencies"])
    copied = re.findall(r"-c /tmp/imwk-sweep/(\S+)", recipe)
    assert copied == ["constraints.txt"]
    assert (ROOT / copied[0]).is_file()
    (python,) = re.findall(r"FROM python:(\S+)-slim", recipe)
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]


def test_workers_and_the_job_use_the_address_of_the_service() -> None:
    service = DASK["scheduler"]["service"]
    name = DOCUMENTS["DaskCluster"]["metadata"]["name"]
    ports = {port["name"]: port["port"] for port in service["ports"]}
    address = f"tls://{name}-scheduler:{ports['tcp-comm']}"
    assert service["selector"]["dask.org/cluster-name"] == name
    assert address in PODS["worker"]["containers"][0]["args"]
    assert address in PODS["submit"]["containers"][0]["args"]
    named = {port["name"] for port in PODS["scheduler"]["containers"][0]["ports"]}
    assert named == set(ports)


def test_workers_have_the_settings_of_all_workers() -> None:
    told = {each["name"]: each["value"] for each in PODS["worker"]["containers"][0]["env"]}
    assert told == worker_variables()


def test_the_spec_is_valid() -> None:
    file = parse_spec_file(DOCUMENTS["ConfigMap"]["data"]["sweep.toml"], "sweep.toml")
    assert len(file.sweep.spec.tiles) == 100
