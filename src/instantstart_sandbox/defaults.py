"""The default world: quotas, capacity, which zone offers which type, training plans, Kubernetes versions."""

from __future__ import annotations

import gzip
import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from instantstart_sandbox.aws.wire.models import service_model
from instantstart_sandbox.world import World

QUOTA = "servicequotas.quota"
"""Documents by `<service code>/<quota code>`: the ServiceQuota shape plus `Default`."""
CAPACITY = "sagemaker.capacity"
"""Documents by `<instance type>/<zone>`: {total}; other pairs have DEFAULT_CAPACITY where the zone offers the type."""
PLAN = "sagemaker.training_plan"
"""Documents by plan name."""
DEFAULT_CAPACITY = 16
STOCKED = ("ml.g5.8xlarge", "ml.p5.48xlarge", "ml.c5.xlarge")
KUBERNETES_VERSIONS = ("1.36", "1.35", "1.34", "1.33", "1.32", "1.31", "1.30")
DEFAULT_KUBERNETES = "1.34"
EXTENDED_SUPPORT = ("1.32", "1.31", "1.30")
HYPERPOD_KUBERNETES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")
_CODES = {
    "ml.p4d.24xlarge for cluster usage": "L-47E0BC8F",
    "ml.p4de.24xlarge for cluster usage": "L-BEF3120E",
    "ml.p5.48xlarge for cluster usage": "L-8762A75F",
    "ml.p5e.48xlarge for cluster usage": "L-FD431820",
    "ml.p5en.48xlarge for cluster usage": "L-6EF3AE05",
    "ml.p6-b200.48xlarge for cluster usage": "L-44097F05",
    "ml.p6-b300.48xlarge for cluster usage": "L-9883FE68",
    "ml.p6e-gb200.36xlarge for cluster usage": "L-5DB70460",
    "ml.g6e.12xlarge for cluster usage": "L-A15DF696",
    "ml.g6e.48xlarge for cluster usage": "L-177AF1AD",
    "ml.p5.48xlarge for cluster spot instance usage": "L-F742E2D7",
}
MAX_PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
TOTAL_INSTANCES = "Total number of instances allowed across SageMaker HyperPod clusters"
TOTAL_SPOT = "Total number of Spot instances allowed across SageMaker HyperPod clusters"
_FIXED: tuple[tuple[str, str, str, float], ...] = (
    ("sagemaker", "L-2CE978FC", MAX_PER_CLUSTER, 6758),
    ("sagemaker", "L-3308CCC7", TOTAL_INSTANCES, 500),
    ("sagemaker", "L-97A2C724", TOTAL_SPOT, 64),
    ("sagemaker", "L-E13DF72A", "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance", 16384),
    ("sagemaker", "L-867702E6", "Number of training plans per Region", 8),
    (
        "sagemaker",
        "L-9EF527CA",
        "Number of p5.48xlarge instances in reserved capacity across training plans per Region",
        16,
    ),
    ("vpc", "L-F678F1CE", "VPCs per Region", 5),
    ("vpc", "L-A4707A72", "Internet gateways per Region", 5),
    ("vpc", "L-FE5A380F", "NAT gateways per Availability Zone", 5),
    ("vpc", "L-407747CB", "Subnets per VPC", 200),
    ("vpc", "L-DF5E4CA3", "Network interfaces per Region", 5000),
    ("vpc", "L-83CA0A9D", "IPv4 CIDR blocks per VPC", 5),
    ("vpc", "L-E79EC296", "VPC security groups per Region", 2500),
    ("vpc", "L-589F43AA", "Route tables per VPC", 200),
    ("vpc", "L-1B52E74A", "Gateway VPC endpoints per Region", 20),
    ("ec2", "L-0263D0A3", "EC2-VPC Elastic IPs", 5),
    ("eks", "L-1194D53C", "Clusters", 100),
    ("eks", "L-23414FF3", "Control plane security groups per cluster", 4),
)
_FEWER = {"ml.p6-b300.48xlarge": 0.0, "ml.p6e-gb200.36xlarge": 0.0, "ml.p6-b200.48xlarge": 0.0}
_SERVICE_NAMES = {
    "sagemaker": "Amazon SageMaker",
    "vpc": "Amazon Virtual Private Cloud (Amazon VPC)",
    "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)",
}


@lru_cache(maxsize=1)
def instance_types() -> tuple[str, ...]:
    """Every `ml.…` type a HyperPod group can have, as botocore's model lists them."""
    model = service_model("sagemaker")
    assert model is not None
    return tuple(model.shape_for("ClusterInstanceType").enum)


@lru_cache(maxsize=4)
def _offerings(region: str) -> dict[str, frozenset[str]]:
    found = find_spec("moto")
    assert found is not None and found.submodule_search_locations is not None
    folder = Path(found.submodule_search_locations[0]) / "ec2/resources/instance_type_offerings/availability-zone"
    rows = orjson.loads(gzip.decompress((folder / f"{region}.json.gz").read_bytes()))
    zones: dict[str, set[str]] = {}
    for row in rows:
        zones.setdefault(row["Location"], set()).add(row["InstanceType"])
    return {zone: frozenset(types) for zone, types in zones.items()}


def is_offered(world: World, instance_type: str, zone: str) -> bool:
    """Whether a zone offers an `ml.…` type: what EC2's DescribeInstanceTypeOfferings says."""
    return instance_type.removeprefix("ml.") in _offerings(world.account.region).get(zone, frozenset())


def capacity(world: World, instance_type: str, zone: str) -> int:
    """Machines of a type that a zone has in all."""
    if not is_offered(world, instance_type, zone):
        return 0
    held = world.store.get(CAPACITY, f"{instance_type}/{zone}")
    return int(held["total"]) if held else DEFAULT_CAPACITY


def quota_code(name: str) -> str:
    """The code of a quota: AWS's own where it is known."""
    return _CODES.get(name) or "L-" + hashlib.sha256(name.encode()).hexdigest()[:8].upper()


def quota(world: World, service: str, name: str) -> float:
    """The applied value of a quota by its name; 0 when there is none."""
    code = next((c for s, c, n, _ in _FIXED if (s, n) == (service, name)), quota_code(name))
    held = world.store.get(QUOTA, f"{service}/{code}")
    return float(held["Value"]) if held else 0.0


def _quota_doc(world: World, service: str, code: str, name: str, value: float) -> dict[str, Any]:
    account = world.account
    return {
        "ServiceCode": service,
        "ServiceName": _SERVICE_NAMES[service],
        "QuotaArn": f"arn:aws:servicequotas:{account.region}:{account.account_id}:{service}/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
        "QuotaAppliedAtLevel": "ACCOUNT",
        "Default": value,
    }


def _plan(world: World, name: str, zone: str, start: float, days: int) -> dict[str, Any]:
    return {
        "TrainingPlanName": name,
        "TrainingPlanArn": f"arn:aws:sagemaker:{world.account.region}:{world.account.account_id}:training-plan/{name}",
        "instance_type": "ml.p5.48xlarge",
        "count": 8,
        "zone": zone,
        "start": start,
        "end": start + days * 86400 + 11.5 * 3600,
        "targets": ["hyperpod-cluster"],
        "fee": "216000.00",
    }


def install(world: World) -> None:
    """Furnish a new world; does nothing for one that has been furnished."""
    if world.store.meta("furnished"):
        return
    with world.store.transaction():
        for service, code, name, value in _FIXED:
            world.store.put(QUOTA, f"{service}/{code}", _quota_doc(world, service, code, name, value))
        for kind in instance_types():
            for use in ("cluster usage", "cluster spot instance usage"):
                name = f"{kind} for {use}"
                code = quota_code(name)
                value = _FEWER.get(kind, 16.0)
                world.store.put(QUOTA, f"sagemaker/{code}", _quota_doc(world, "sagemaker", code, name, value))
        for kind in STOCKED:
            for zone in world.account.zones[:3]:
                world.store.put(CAPACITY, f"{kind}/{zone}", {"total": DEFAULT_CAPACITY})
        midnight = world.clock.time() // 86400 * 86400
        second, third = world.account.zones[1], world.account.zones[2]
        world.store.put(PLAN, "p5-plan", _plan(world, "p5-plan", second, midnight - 2 * 86400, 14))
        world.store.put(PLAN, "p5-plan-ended", _plan(world, "p5-plan-ended", third, midnight - 20 * 86400, 7))
        world.store.set_meta("furnished", True)
