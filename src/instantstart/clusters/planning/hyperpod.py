"""The plan of hyperpod_create: nodes on an EKS cluster that stands."""

from __future__ import annotations

from dataclasses import replace

from instantstart.addons.rules import CHART
from instantstart.aws import cloudformation
from instantstart.clusters import journey, rules
from instantstart.clusters.choices import ControlPlane, Nodes
from instantstart.clusters.commands import creation as commands
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.planning.inside import dependency_report, missing_parts
from instantstart.clusters.preflight import Outlook, findings, group_of, look, ordered
from instantstart.clusters.schema import HyperPodCreate
from instantstart.core import names
from instantstart.core.plan import Finding, Plan, PlannedObject, critical_path_seconds
from instantstart.network.facts import NetworkFacts
from instantstart.network.observe import observe_vpc
from instantstart.network.preflight import zone_of
from instantstart.operations.services import Services
from instantstart.storage.plan import bucket_objects


async def plan_hyperpod(services: Services, tag: str, body: HyperPodCreate, sent: Sent) -> Plan:
    """The plan; no stages when the HyperPod cluster stands exactly so. Raises AwsProblem."""
    outlook = await look(services, body, tag)
    outlook = replace(outlook, network=await _with_vpc(services, outlook.network))
    found = [*findings(outlook, body), *await _missing(services, outlook)]
    zone = zone_of(outlook.network.zones, body.availability_zone)
    group = group_of(body, tag, outlook.capacity)
    assert group is not None
    stands = outlook.standing
    nodes = Nodes(
        tag,
        zone["ZoneName"] if zone else body.availability_zone,
        group,
        outlook.bucket,
        body.subnet_id,
        standing=stands.has_nodes,
    )
    blocked = any(f.severity == "blocking" for f in found)
    name = names.hyperpod_cluster(tag)
    if not blocked and stands.has_nodes and stands.hyperpod and rules.reached(stands.hyperpod, group):
        return Plan(kind="hyperpod_create", cluster=tag, summary=f"{name} stands exactly so.", findings=ordered(found))
    stages = journey.hyperpod(outlook.place, nodes)
    return Plan(
        kind="hyperpod_create",
        cluster=tag,
        summary=f"Create {name}: {group.count} × {group.instance_type} ({group.capacity_type}) in {nodes.zone}.",
        stages=stages,
        objects=_objects(nodes),
        findings=ordered(found),
        irreversible=["Zone, capacity type and interface mode are fixed for the life of the instance group."],
        warnings=["The nodes cost money until they are deleted."],
        typical_seconds=critical_path_seconds(stages),
        commands=sent.forms() if blocked else commands.hyperpod(sent, _plane(outlook, nodes), nodes, outlook.network),
    )


async def _missing(services: Services, outlook: Outlook) -> list[Finding]:
    stands = outlook.standing
    found = rules.incomplete(stands, network_stands=outlook.network.stands)
    if found:
        return found
    report = await dependency_report(services, stands.tag)
    needs = rules.rights_missing(stands, outlook.bucket.name, needs_rights=outlook.bucket.needs_rights)
    return [*rules.without_dependencies(stands, missing_parts(report) if report else [CHART]), *needs]


async def _with_vpc(services: Services, facts: NetworkFacts) -> NetworkFacts:
    """The same with the VPC that the network stack made or took."""
    stack = await cloudformation.describe_stack(services.aws, names.network_stack(facts.tag)) if facts.stands else None
    vpc_id = cloudformation.outputs(stack).get("VpcId") if stack else None
    return replace(facts, vpc=await observe_vpc(services.aws, vpc_id)) if vpc_id else facts


def _plane(outlook: Outlook, nodes: Nodes) -> ControlPlane:
    version = str((outlook.standing.eks or {}).get("version") or "")
    vpc_id = outlook.network.vpc.vpc_id if outlook.network.vpc else None
    return ControlPlane(nodes.tag, outlook.place, version, (nodes.zone,), None, vpc_id, outlook.bucket)


def _objects(nodes: Nodes) -> list[PlannedObject]:
    subnet = PlannedObject(
        kind="AWS::EC2::Subnet",
        name=nodes.subnet_id or f"hp-compute-{nodes.zone}",
        action="keep" if nodes.subnet_id else "create",
        where="aws",
        detail=None if nodes.subnet_id else "A compatible subnet of the zone is taken instead, if there is one",
    )
    cluster = PlannedObject(
        kind="AWS::SageMaker::Cluster",
        name=names.hyperpod_cluster(nodes.tag),
        action="adopt" if nodes.standing else "create",
        where="aws",
        detail=f"Group {nodes.group.name}; node recovery Automatic, provisioning Continuous",
    )
    return [*bucket_objects(nodes.tag, nodes.bucket), subnet, cluster]
