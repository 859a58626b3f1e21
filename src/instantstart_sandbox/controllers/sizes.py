"""What a node of an instance type has: from EC2's own description of the types, as moto carries it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True)
class Size:
    """vCPUs, memory in MiB, devices, pod addresses (one interface serves pods) and architecture."""

    cpus: int
    memory_mib: int
    gpus: int = 0
    gpu_name: str = ""
    gpu_mib: int = 0
    neurons: int = 0
    efas: int = 0
    max_pods: int = 29
    arch: str = "amd64"


_OWN = {"p6e-gb200.36xlarge": Size(144, 960 * 1024, 4, "GB200", 189440, 0, 4, 49, "arm64")}
_UNKNOWN = Size(4, 16 * 1024)


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Any]]:
    spec = find_spec("moto")
    for place in (spec.submodule_search_locations if spec else None) or ():
        path = Path(place) / "ec2" / "resources" / "instance_types.json.gz"
        if path.is_file():
            loaded: dict[str, dict[str, Any]] = orjson.loads(gzip.decompress(path.read_bytes()))
            return loaded
    return {}


@lru_cache(maxsize=512)
def size_of(instance_type: str) -> Size:
    """The size of a type, with or without `ml.`; a small machine for a type that nobody knows."""
    name = instance_type.removeprefix("ml.")
    if name in _OWN:
        return _OWN[name]
    raw = _table().get(name)
    if raw is None:
        return _UNKNOWN
    gpus = (raw.get("GpuInfo") or {}).get("Gpus") or []
    neurons = (raw.get("NeuronInfo") or {}).get("NeuronDevices") or []
    network = raw["NetworkInfo"]
    efa = (network.get("EfaInfo") or {}).get("MaximumEfaInterfaces", 0) if network.get("EfaSupported") else 0
    arch = "arm64" if "arm64" in (raw.get("ProcessorInfo") or {}).get("SupportedArchitectures", []) else "amd64"
    return Size(
        cpus=raw["VCpuInfo"]["DefaultVCpus"],
        memory_mib=raw["MemoryInfo"]["SizeInMiB"],
        gpus=sum(g.get("Count", 0) for g in gpus if g.get("Manufacturer") == "NVIDIA"),
        gpu_name=gpus[0].get("Name", "") if gpus else "",
        gpu_mib=(gpus[0].get("MemoryInfo") or {}).get("SizeInMiB", 0) if gpus else 0,
        neurons=sum(n.get("Count", 0) for n in neurons),
        efas=efa,
        max_pods=max(4, network.get("Ipv4AddressesPerInterface", 30) - 1),
        arch=arch,
    )
