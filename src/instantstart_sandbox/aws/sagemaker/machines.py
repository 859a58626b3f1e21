"""Where one machine comes from: capacity of the zone or of a training plan, addresses of a subnet, and its interface."""

from __future__ import annotations

from dataclasses import dataclass

from instantstart_sandbox import defaults
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.instance_facts import facts_of
from instantstart_sandbox.aws.sagemaker import plans
from instantstart_sandbox.aws.sagemaker.parts import NODE, Doc, Parts, live

NO_CAPACITY = "We currently do not have sufficient capacity to launch new {kind} instances. Please try again."
NO_ADDRESS = "Insufficient free addresses in subnet {subnet} to launch {kind} instances."
NO_PLAN_ZONE = "No subnets in the capacity AZ {zone}"


@dataclass(frozen=True)
class Place:
    """A machine that can be had."""

    instance_type: str
    subnet: Doc
    security_groups: list[str]


@dataclass(frozen=True)
class Shortage:
    """Why there is none. `retry` is false when only a person can change it."""

    message: str
    zone_id: str = ""
    subnet_id: str = ""
    retry: bool = True


def find(parts: Parts, cluster: Doc, spec: Doc) -> Place | Shortage:
    """A place for one more node of the group, by priority of types and order of subnets."""
    config = spec.get("OverrideVpcConfig") or cluster["VpcConfig"]
    subnets = [s for s in (parts.outside.subnet(i) for i in config["Subnets"]) if s is not None]
    plan = plans.by_arn(parts, spec["TrainingPlanArn"]) if spec.get("TrainingPlanArn") else None
    if plan is not None:
        subnets = [s for s in subnets if s["zone"] == plan["zone"]]
        if not subnets:
            return Shortage(NO_PLAN_ZONE.format(zone=plan["zone"]), retry=False)
    shortage = Shortage("Instance bootstrap failed likely because of customer network misconfiguration", retry=False)
    for kind in (spec.get("InstanceRequirements") or {}).get("InstanceTypes") or [spec["InstanceType"]]:
        for subnet in subnets:
            refused = _refused(parts, cluster, spec, kind, subnet, plan)
            if refused is None:
                return Place(kind, subnet, list(config["SecurityGroupIds"]))
            shortage = refused
    return shortage


def _refused(parts: Parts, cluster: Doc, spec: Doc, kind: str, subnet: Doc, plan: Doc | None) -> Shortage | None:
    zone = subnet["zone"]
    words = f"{kind} {zone} {subnet['zone_id']} {spec['InstanceGroupName']} {cluster['ClusterName']}"
    short = Shortage(NO_CAPACITY.format(kind=kind), subnet["zone_id"], subnet["subnet_id"])
    if parts.world.faults.take("insufficient_capacity", "sagemaker", "", words):
        return short
    if plan is None and _taken(parts, kind, zone) >= defaults.capacity(parts.world, kind, zone):
        return short
    if plan is not None and (plans.status(parts, plan) != "Active" or _of_plan(parts, plan) >= plan["count"]):
        return short
    if subnet["free_addresses"] - _promised(parts, subnet["subnet_id"]) < addresses(kind, spec):
        return Shortage(
            NO_ADDRESS.format(subnet=subnet["subnet_id"], kind=kind), subnet["zone_id"], subnet["subnet_id"]
        )
    return None


def _taken(parts: Parts, kind: str, zone: str) -> int:
    nodes = live(parts.world.store.list(NODE))
    return sum(1 for n in nodes if n["instance_type"] == kind and n["zone"] == zone and not n["plan"])


def _of_plan(parts: Parts, plan: Doc) -> int:
    return sum(1 for n in live(parts.world.store.list(NODE)) if n["plan"] == plan["TrainingPlanArn"])


def addresses(kind: str, spec: Doc) -> int:
    """Addresses that a node takes from its subnet: its pods', and with `efa` one for each further card."""
    facts = facts_of(kind)
    mode = (spec.get("NetworkInterface") or {}).get("InterfaceType", "efa")
    return facts.pod_addresses + (max(0, facts.efas - 1) if mode == "efa" else 0)


def _promised(parts: Parts, subnet_id: str) -> int:
    """Addresses that nodes of the subnet take beyond that of their interface."""
    return sum(n["addresses"] - 1 for n in parts.world.store.list(NODE) if n["subnet_id"] == subnet_id)


def launch(parts: Parts, cluster: Doc, held: Doc, place: Place) -> Doc | Shortage:
    """A new node's document (not yet kept), with its interface in the account's subnet."""
    spec, subnet = held["spec"], place.subnet
    instance_id = parts.world.ids.hex("i-", 17)
    text = f"[DO NOT DELETE] ENI managed by SageMaker HyperPod cluster {cluster['ClusterArn']}, instance {instance_id}"
    try:
        interface = parts.outside.create_interface(subnet["subnet_id"], place.security_groups, text)
    except AwsError:
        message = NO_ADDRESS.format(subnet=subnet["subnet_id"], kind=place.instance_type)
        return Shortage(message, subnet["zone_id"], subnet["subnet_id"])
    asked = spec.get("KubernetesConfig") or {}
    return {
        "cluster": cluster["ClusterName"],
        "group": spec["InstanceGroupName"],
        "instance_id": instance_id,
        "logical_id": f"node-{parts.world.ids.text(17)}",
        "instance_type": place.instance_type,
        "status": "Pending",
        "message": "",
        "zone": subnet["zone"],
        "zone_id": subnet["zone_id"],
        "subnet_id": subnet["subnet_id"],
        "private_ip": interface["private_ip"],
        "eni_id": interface["eni_id"],
        "eks_cluster": cluster["eks"],
        "capacity_type": "Spot" if "Spot" in (spec.get("CapacityRequirements") or {}) else "OnDemand",
        "plan": spec.get("TrainingPlanArn") or "",
        "image_version": "1.4.2",
        "kubernetes_config": {"labels": asked.get("Labels") or {}, "taints": asked.get("Taints") or []},
        "launched": parts.world.clock.time(),
        "network_interface": (spec.get("NetworkInterface") or {}).get("InterfaceType", ""),
        "addresses": addresses(place.instance_type, spec),
        "deep_checks_pending": bool(spec.get("OnStartDeepHealthChecks")),
    }
