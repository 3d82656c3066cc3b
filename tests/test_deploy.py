"""The files in `deploy/`: valid by the schemas of Compose and Kubernetes, and true to what the programs take."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.faces.cli import cli
from mnemic.faces.server import readiness
from mnemic.faces.server.listening import DRAIN_SECONDS

yaml = pytest.importorskip("yaml", reason="no PyYAML: install mnemic[dev]")
DEPLOY = Path(__file__).parent.parent / "deploy"


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def manifests() -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def containers() -> dict[str, Any]:
    """By name, the containers of every workload."""
    pods = {}
    for manifest in manifests():
        spec = manifest.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        for container in spec.get("template", {}).get("spec", {}).get("containers", ()):
            pods[container["name"]] = {**container, "pod": spec["template"]["spec"]}
    return pods


def test_the_compose_file_is_one() -> None:
    compose_spec = pytest.importorskip("compose_spec", reason="no compose-spec: install mnemic[dev]")
    compose_spec.PyCompose.from_json(json.dumps(compose())).to_spec()  # with what is merged (`<<`) merged
    assert set(compose()["services"]) == {"database", "pooler", "server-one", "server-two", "worker", "keys"}
    with pytest.raises(Exception, match="imagee"):
        compose_spec.PyCompose.from_yaml("services: {a: {imagee: b}}")


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_the_manifests_are_what_kubernetes_takes(version: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package's own
        kubernetes = pytest.importorskip("kubernetes_validate", reason="no kubernetes-validate: install mnemic[dev]")
        for manifest in manifests():
            kubernetes.validate(manifest, version, strict=True)
        broken = next(each for each in manifests() if each["kind"] == "Deployment")
        broken["spec"]["replicsa"] = 2
        with pytest.raises(kubernetes.ValidationError):
            kubernetes.validate(broken, version, strict=True)


def started(words: list[str]) -> None:
    """Hold a command line against what the program takes."""
    ran = CliRunner().invoke(cli, [*words, "--help"])
    assert ran.exit_code == 0, ran.output
    for option in words:
        if option.startswith("--"):
            assert option in ran.output, option


def test_programs_are_started_as_they_can_be() -> None:
    pods, services = containers(), compose()["services"]
    for name in ("server", "worker", "keys"):
        started(pods[name]["args"])
    for name in ("server-one", "server-two", "worker", "keys"):
        started(services[name]["command"])
        assert services[name]["environment"].keys() <= {"MNEMIC_STORE", "MNEMIC_BACKGROUND"}


def test_whoever_is_told_to_stop_is_given_the_time() -> None:
    server = containers()["server"]
    wait = int(server["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert server["pod"]["terminationGracePeriodSeconds"] > DRAIN_SECONDS + wait
    assert int(compose()["services"]["server-one"]["stop_grace_period"].removesuffix("s")) > DRAIN_SECONDS


def test_probes_ask_by_a_name_that_is_allowed_and_only_who_sends_requests_asks_for_the_store() -> None:
    server = containers()["server"]
    allowed = [
        word for before, word in zip(server["args"], server["args"][1:], strict=False) if before == "--allow-host"
    ]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = server[probe]["httpGet"]
        path = "/ready" if probe == "readinessProbe" else "/health"
        assert (asked["path"], asked["port"]) == (path, server["ports"][0]["name"])
        assert server[probe].get("timeoutSeconds", 1) > readiness.SECONDS or path == "/health"
        assert asked["httpHeaders"][0]["value"] in allowed
    health = compose()["services"]["server-one"]["healthcheck"]
    assert "/ready" in health["test"][-1]
    assert int(health["timeout"].removesuffix("s")) > readiness.SECONDS


def test_no_password_is_written_down() -> None:
    for path in DEPLOY.iterdir():
        text = path.read_text().replace('PGPASSWORD="$$(cat /run/secrets/memory)"', "").replace("PGPASSWORD=...", "")
        assert "PASSWORD=" not in text, path
    said = next(each["data"] for each in manifests() if each["metadata"]["name"] == "memory" and "data" in each)
    assert said["MNEMIC_STORE"] == compose()["services"]["worker"]["environment"]["MNEMIC_STORE"]
    for name in ("server", "worker", "keys"):
        assert {"secretRef": {"name": "memory"}} in containers()[name]["envFrom"]
