"""Plans of cluster_create and cluster_create_eks."""

from __future__ import annotations

from dataclasses import dataclass

from instantstart.addons.plan import addon_objects, dependency_objects
from instantstart.addons.rules import CHART, CORE
from instantstart.clusters import journey, rules
from instantstart.clusters.choices import DEFAULT_KUBERNETES, ControlPlane, Mount, Nodes
from instantstart.clusters.commands import creation as commands
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.preflight import Outlook, findings, group_of, look
from instantstart.clusters.schema import ClusterCreate, EksCreate
from instantstart.core import names
from instantstart.core.plan import (
    Action,
    Finding,
    Plan,
    PlannedObject,
    StageSpec,
    TerminalForms,
    critical_path_seconds,
)
from instantstart.identity.rules import role_name
from instantstart.network.plan import network_objects
from instantstart.network.preflight import choose_network, choose_zones, zone_of
from instantstart.operations.services import Services
from instantstart.storage.plan import bucket_objects, mount_objects

COSTS = "A NAT gateway, the EKS control plane and the nodes cost money from creation until they are deleted."


@dataclass(frozen=True)
class Choices:
    """Everything that a creation has decided. `nodes` and `mount` are None for the EKS half alone."""

    plane: ControlPlane
    nodes: Nodes | None = None
    mount: Mount | None = None


async def plan_creation(services: Services, body: ClusterCreate, sent: Sent) -> Plan:
    """The plan of the whole chain; no stages when all of it stands. Raises AwsProblem."""
    outlook = await look(services, body)
    found = findings(outlook, body)
    choices = decide(services, outlook, body)
    assert choices.nodes is not None and choices.mount is not None
    if not any(f.severity == "blocking" for f in found) and _stands(outlook, choices):
        summary = f"Cluster {body.tag} stands exactly so: {_words(choices.nodes)}, storage proved."
        return Plan(kind="cluster_create", cluster=body.tag, summary=summary, findings=found)
    stages = journey.creation(choices.plane, choices.nodes, choices.mount)
    objects = [*_plane_objects(outlook, choices.plane), *_node_objects(outlook, choices.nodes, choices.mount)]
    return _plan("cluster_create", body.tag, choices, outlook, found, stages, objects, sent, services)


async def plan_eks(services: Services, body: EksCreate, sent: Sent) -> Plan:
    """The plan of network and control plane; no stages when they stand. Raises AwsProblem."""
    outlook = await look(services, body)
    found = findings(outlook, body)
    choices = decide(services, outlook, body)
    stands = outlook.standing.owns_eks and (outlook.standing.eks or {}).get("status") == "ACTIVE"
    if stands and outlook.network.stands and not any(f.severity == "blocking" for f in found):
        summary = f"EKS cluster {choices.plane.eks_cluster} and its network stand."
        return Plan(kind="cluster_create_eks", cluster=body.tag, summary=summary, findings=found)
    stages = journey.control_plane(choices.plane)
    objects = [o for o in _plane_objects(outlook, choices.plane) if o.kind != "AWS::EC2::Subnet"]
    return _plan("cluster_create_eks", body.tag, choices, outlook, found, stages, objects, sent, services)


def decide(services: Services, outlook: Outlook, body: ClusterCreate | EksCreate) -> Choices:
    """What the request left open: version, zones, network, bucket."""
    network, stands = outlook.network, outlook.standing
    zone = zone_of(network.zones, body.availability_zone)
    zone_name = zone["ZoneName"] if zone else body.availability_zone
    cidr, vpc_id = choose_network(network)
    live = stands.eks.get("version") if stands.eks and stands.owns_eks else None
    plane = ControlPlane(
        tag=body.tag,
        place=outlook.place,
        version=body.kubernetes_version or live or services.options.kubernetes_version or DEFAULT_KUBERNETES,
        zones=tuple(choose_zones(zone_name, network.zones)),
        cidr=cidr,
        vpc_id=vpc_id,
        bucket=outlook.bucket,
    )
    if not isinstance(body, ClusterCreate):
        return Choices(plane)
    group = group_of(body, body.tag, outlook.capacity)
    assert group is not None
    nodes = Nodes(body.tag, zone_name, group, outlook.bucket, standing=stands.has_nodes)
    others = tuple(c.bucket for c in outlook.claims if c.managed and c.claim != names.CLAIM)
    return Choices(plane, nodes, Mount(names.CLAIM, outlook.bucket, others))


def _stands(outlook: Outlook, choices: Choices) -> bool:
    """Whether nothing at all is left to do."""
    stands, nodes = outlook.standing, choices.nodes
    if not (stands.owns_eks and stands.owns_hyperpod and stands.eks and stands.hyperpod and nodes):
        return False
    proved = any(c.claim == names.CLAIM and c.proved and c.phase == "Bound" for c in outlook.claims)
    whole = stands.eks["status"] == "ACTIVE" and rules.reached(stands.hyperpod, nodes.group)
    return whole and proved and outlook.dependencies_ready and outlook.network.stands


def _plan(
    kind: str,
    tag: str,
    choices: Choices,
    outlook: Outlook,
    found: list[Finding],
    stages: list[StageSpec],
    objects: list[PlannedObject],
    sent: Sent,
    services: Services,
) -> Plan:
    blocked = any(f.severity == "blocking" for f in found)
    plane, nodes = choices.plane, choices.nodes
    what = f"network, EKS {plane.version}"
    what += f", dependencies, {_words(nodes)}, storage in {plane.bucket.name}" if nodes else " and core add-ons"
    irreversible = ["Zone, capacity type and interface mode are fixed for the life of the instance group."]
    return Plan(
        kind=kind,
        cluster=tag,
        summary=f"Create {tag} in {plane.place.region}: {what}.",
        stages=stages,
        objects=objects,
        findings=found,
        irreversible=irreversible if nodes else [],
        warnings=[COSTS, *(f.detail for f in found if f.severity == "warning")],
        typical_seconds=critical_path_seconds(stages),
        commands=sent.forms() if blocked else _commands(sent, choices, outlook, services),
    )


def _commands(sent: Sent, choices: Choices, outlook: Outlook, services: Services) -> TerminalForms:
    plane, nodes, mount = choices.plane, choices.nodes, choices.mount
    if nodes is None or mount is None:
        return commands.control_plane(sent, plane, outlook.network)
    chart = services.helm.charts.rows[CHART]
    return commands.creation(sent, plane, nodes, mount, outlook.network, chart)


def _words(nodes: Nodes) -> str:
    group = nodes.group
    return f"{group.count} × {group.instance_type} ({group.capacity_type}) in {nodes.zone}"


def _plane_objects(outlook: Outlook, plane: ControlPlane) -> list[PlannedObject]:
    eks = plane.eks_cluster
    adopt: Action = "adopt" if outlook.standing.owns_eks else "create"
    network = network_objects(plane.tag, zones=list(plane.zones), cidr=plane.cidr, vpc_id=plane.vpc_id)
    if outlook.network.stands:
        network = [o.model_copy(update={"action": "adopt"}) if o.kind != "AWS::EC2::Subnet" else o for o in network]
    return [
        *network,
        PlannedObject(
            kind="AWS::EKS::Cluster", name=eks, action=adopt, where="aws", detail=f"Kubernetes {plane.version}"
        ),
        PlannedObject(
            kind="AWS::EKS::AccessEntry",
            name=f"{eks}/{plane.place.service_role or 'role of this service'}",
            action=adopt,
            where="aws",
            detail="AmazonEKSClusterAdminPolicy",
        ),
        PlannedObject(kind="AWS::IAM::OIDCProvider", name=f"issuer of {eks}", action=adopt, where="aws"),
        *addon_objects(CORE, eks),
    ]


def _node_objects(outlook: Outlook, nodes: Nodes, mount: Mount) -> list[PlannedObject]:
    eks, action = names.eks_cluster(nodes.tag), "adopt" if outlook.standing.has_nodes else "create"
    role = role_name(nodes.tag, outlook.place.region, "s3-csi")
    cluster = PlannedObject(
        kind="AWS::SageMaker::Cluster",
        name=names.hyperpod_cluster(nodes.tag),
        action="adopt" if action == "adopt" else "create",
        where="aws",
        detail=f"Group {nodes.group.name}: {_words(nodes)}; node recovery Automatic, provisioning Continuous",
    )
    bucket = bucket_objects(nodes.tag, nodes.bucket)
    if outlook.look.exists:
        made = ("AWS::CloudFormation::Stack", "AWS::S3::Bucket")
        bucket = [
            o.model_copy(update={"action": "adopt"}) if o.kind in made and nodes.bucket.made else o for o in bucket
        ]
    return [
        *dependency_objects(eks),
        *bucket,
        cluster,
        *mount_objects(nodes.tag, eks_cluster=eks, claim=mount.claim, bucket=mount.bucket.name, role=role),
    ]
