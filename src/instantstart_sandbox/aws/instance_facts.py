"""What HyperPod has to know of an instance type to place a machine: EFA interfaces and addresses of pods.

From EC2's own description of the types, as moto carries it.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True)
class Facts:
    """EFA interfaces (each on a card of its own) and addresses that pods take on the one interface that serves them."""

    efas: int
    pod_addresses: int


_UNKNOWN = Facts(0, 15)
_OWN = {"p6e-gb200.36xlarge": Facts(4, 50)}


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Any]]:
    found = find_spec("moto")
    assert found is not None and found.submodule_search_locations is not None
    path = Path(found.submodule_search_locations[0]) / "ec2/resources/instance_types.json.gz"
    rows: dict[str, dict[str, Any]] = orjson.loads(gzip.decompress(path.read_bytes()))
    return rows


@lru_cache(maxsize=512)
def facts_of(instance_type: str) -> Facts:
    """Facts of an `ml.…` type."""
    name = instance_type.removeprefix("ml.")
    row = _table().get(name)
    if row is None:
        return _OWN.get(name, _UNKNOWN)
    network = row["NetworkInfo"]
    efas = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0) if network.get("EfaSupported") else 0
    return Facts(efas, network.get("Ipv4AddressesPerInterface", 15))
