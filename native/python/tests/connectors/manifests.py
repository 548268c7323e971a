# SPDX-License-Identifier: Apache-2.0
"""Pods of manifests/engines as processes: the same arguments, variables and files, with the addresses of a local pool.

The ConfigMap POOL-client is the one that the operator makes: a golden file of its tests.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[4]
GOLDEN = ROOT / "operator/src/test/resources/golden"
# Of pools like manifests/samples/pool.yaml. Whatever protocols a pool has, it has files for each engine.
SMALLEST = "smallest"
POD_IP = "127.0.0.1"


@dataclass(frozen=True)
class EngineProcess:
    """What a container is started with."""

    arguments: list[str]
    environment: dict[str, str]


def client_config_map(masters: str, golden: str = SMALLEST) -> dict[str, str]:
    """The data of ConfigMap POOL-client of a golden pool, with `masters` wherever it has its own."""
    [made] = (GOLDEN / golden).glob("out-configmap-*-client.yaml")
    data = yaml.safe_load(made.read_text(encoding="utf-8"))["data"]
    own = data["MOONCAKE_MASTER"]
    return {name: value.replace(own, masters) for name, value in data.items()}


def engine_process(manifest: str, masters: str, root: Path, golden: str = SMALLEST) -> EngineProcess:
    """The first container of the Deployment in manifests/engines/MANIFEST.yaml, whose files are laid out below `root`."""
    documents = list(yaml.safe_load_all((ROOT / "manifests/engines" / f"{manifest}.yaml").read_text(encoding="utf-8")))
    [pod] = [document["spec"]["template"]["spec"] for document in documents if document["kind"] == "Deployment"]
    container = pod["containers"][0]
    config_maps = {it["metadata"]["name"]: it["data"] for it in documents if it["kind"] == "ConfigMap"}
    for source in container["envFrom"]:
        name = source["configMapRef"]["name"]
        config_maps[name] = client_config_map(masters, golden)

    mounts = _lay_out_files(pod, container, config_maps, root)
    environment: dict[str, str] = {}
    for source in container["envFrom"]:
        data = config_maps[source["configMapRef"]["name"]]
        environment |= {name: value for name, value in data.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}
    for variable in container.get("env", []):
        environment[variable["name"]] = _value(variable, environment)
    # The pool of these tests runs on this machine, without TLS: there is no token to show, and none is asked for.
    environment.pop("KVPOOL_IDENTITY_DIR", None)
    placed = {name: _placed(value, mounts, root) for name, value in environment.items()}
    arguments = [*container.get("command", []), *container.get("args", [])]
    return EngineProcess([_placed(argument, mounts, root) for argument in arguments], placed)


def _lay_out_files(pod: dict, container: dict, config_maps: dict[str, dict[str, str]], root: Path) -> list[str]:
    """Writes the files of ConfigMaps below `root` instead of at their own paths; where they are mounted."""
    volumes = {it["name"]: it["configMap"]["name"] for it in pod.get("volumes", []) if "configMap" in it}
    mounts = {it["mountPath"]: volumes[it["name"]] for it in container["volumeMounts"] if it["name"] in volumes}
    for path, config_map in mounts.items():
        folder = root / path.lstrip("/")
        folder.mkdir(parents=True)
        for name, content in config_maps[config_map].items():
            (folder / name).write_text(content, encoding="utf-8")
    return list(mounts)


def _value(variable: dict, environment: dict[str, str]) -> str:
    """As the kubelet makes it: references $(NAME) to variables before it, and the pod's address."""
    if "valueFrom" in variable:
        assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}, variable
        return POD_IP
    return re.sub(r"\$\(([A-Za-z_]\w*)\)", lambda it: environment.get(it[1], it[0]), variable["value"])


def _placed(text: str, mounts: list[str], root: Path) -> str:
    """A path below a mount, below `root`."""
    return str(root / text.lstrip("/")) if any(text.startswith(f"{mount}/") for mount in mounts) else text
