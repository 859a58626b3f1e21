"""The plan of cluster_delete: what goes, in which order, and what stays."""

from __future__ import annotations

import asyncio
from typing import Any

from instantstart.aws import cloudformation, ec2, eks, iam, s3
from instantstart.aws.absent import tags_of
from instantstart.clusters import journey, registry
from instantstart.clusters.commands import removal as commands
from instantstart.clusters.commands.removal import Inventory
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.identify import standing
from instantstart.clusters.inside import held_objects
from instantstart.clusters.planning.inside import bucket_choice
from instantstart.clusters.preflight import place_of
from instantstart.clusters.rules import Standing
from instantstart.core import names
from instantstart.core.plan import Finding, Plan, PlannedObject, critical_path_seconds
from instantstart.identity.rules import role_name
from instantstart.kube.errors import KubeProblem
from instantstart.network.rules import COMPUTE_ROLE, DEDICATED_TAG
from instantstart.network.template import ROLE_TAG
from instantstart.operations.services import Services

Doc = dict[str, Any]
KIND = "cluster_delete"
_IRREVERSIBLE = [
    "Nothing is drained: running jobs and endpoints end, and what is only on the nodes' disks is lost.",
    "The EKS cluster and everything inside it is gone.",
]


async def plan_removal(services: Services, tag: str, sent: Sent) -> Plan:
    """The plan; no stages when nothing of ours is left. Raises AwsProblem."""
    stands, place = await standing(services, tag), await place_of(services)
    there, vpc = await _inventory(services, stands)
    bucket = bucket_choice(services, stands, place, None)
    kept = await _kept(services, tag, bucket.name, vpc)
    on_record = await registry.entry(services.db, tag) is not None
    if not on_record and there == Inventory():
        return Plan(kind=KIND, cluster=tag, summary=f"Nothing of {tag} is left.", objects=kept)
    stages = journey.removal(tag, bucket, partition=place.partition)
    stays = [f"{o.name} stays: {o.detail}" for o in kept]
    return Plan(
        kind=KIND,
        cluster=tag,
        summary=f"Delete {tag}: HyperPod, then EKS, then network and roles. Bucket and data stay.",
        stages=stages,
        objects=[*_going(tag, place.region, there), *kept],
        findings=_foreign(stands),
        irreversible=_IRREVERSIBLE,
        warnings=stays,
        typical_seconds=critical_path_seconds(stages),
        commands=commands.forms(sent, tag, place, there),
    )


async def _inventory(services: Services, stands: Standing) -> tuple[Inventory, Doc | None]:
    """What of ours stands, and the VPC that is reused."""
    aws, tag = services.aws, stands.tag
    mine = [ec2.with_tag(names.OWNER_TAG, tag), ec2.with_tag(ROLE_TAG, COMPUTE_ROLE)]
    stack, subnets, tables, role, providers, inside = await asyncio.gather(
        cloudformation.describe_stack(aws, names.network_stack(tag)),
        aws.pages("ec2", "describe_subnets", "Subnets", Filters=mine),
        aws.pages("ec2", "describe_route_tables", "RouteTables", Filters=mine),
        iam.role(aws, role_name(tag, aws.region, "s3-csi")),
        _providers(services, tag),
        _inside(services, stands),
    )
    ours = stack is not None and cloudformation.tags(stack).get(names.OWNER_TAG) == tag
    dedicated = {s["SubnetId"] for s in subnets if DEDICATED_TAG in tags_of(s.get("Tags"))}
    parameters = {p["ParameterKey"]: p.get("ParameterValue") for p in (stack or {}).get("Parameters") or []}
    reused = {"vpc": parameters["VpcId"]} if ours and parameters.get("VpcId") else None
    there = Inventory(
        eks=stands.owns_eks,
        hyperpod=stands.owns_hyperpod,
        stack=ours,
        objects=inside[0],
        node_groups=inside[1],
        profiles=inside[2],
        subnets=[s["SubnetId"] for s in subnets if s["SubnetId"] not in dedicated],
        route_tables=[t["RouteTableId"] for t in tables],
        providers=providers,
        driver_role=role is not None and tags_of(role.get("Tags")).get(names.OWNER_TAG) == tag,
    )
    return there, reused


async def _inside(
    services: Services, stands: Standing
) -> tuple[list[tuple[str, str, str | None]], list[str], list[str]]:
    """Kubernetes objects that hold AWS objects; node groups and Fargate profiles."""
    if not stands.owns_eks or stands.eks is None or stands.eks["status"] not in ("ACTIVE", "UPDATING"):
        return [], [], []
    name = stands.eks["name"]
    groups, profiles = await asyncio.gather(
        eks.list_nodegroups(services.aws, name), eks.list_fargate_profiles(services.aws, name)
    )
    try:
        held = await held_objects(await services.kube.get(name))
    except KubeProblem:
        held = []  # the stage looks again, and waits
    return [(h.resource, h.name, h.namespace) for h in held], groups, profiles


async def _providers(services: Services, tag: str) -> list[str]:
    listed = await services.aws.call("iam", "list_open_id_connect_providers")
    arns = [p["Arn"] for p in listed["OpenIDConnectProviderList"]]
    found = await asyncio.gather(*(iam.oidc_provider(services.aws, arn) for arn in arns))
    return [
        arn
        for arn, provider in zip(arns, found, strict=True)
        if provider and tags_of(provider.get("Tags")).get(names.OWNER_TAG) == tag
    ]


async def _kept(services: Services, tag: str, bucket: str, vpc: Doc | None) -> list[PlannedObject]:
    """What is there and stays."""
    aws = services.aws
    account = (await aws.account()).account_id
    found = await s3.bucket(aws, bucket, account)
    kept = [("AWS::S3::Bucket", bucket, "the data in it is yours")] if found and found.ours else []
    stack = await cloudformation.describe_stack(aws, names.bucket_stack(tag))
    if stack is not None and stack["StackStatus"] != "DELETE_COMPLETE":
        kept.append(("AWS::CloudFormation::Stack", names.bucket_stack(tag), "it holds the bucket"))
    if vpc is not None:
        kept.append(("AWS::EC2::VPC", vpc["vpc"], "it was there before"))
    kept.append(("AWS::Logs::LogGroup", f"/aws/sagemaker/Clusters/{names.hyperpod_cluster(tag)}/…", "AWS keeps logs"))
    return [PlannedObject(kind=k, name=n, action="keep", where="aws", detail=d) for k, n, d in kept]


def _going(tag: str, region: str, there: Inventory) -> list[PlannedObject]:
    aws: list[tuple[str, str]] = []
    if there.hyperpod:
        aws.append(("AWS::SageMaker::Cluster", names.hyperpod_cluster(tag)))
    aws += [("AWS::EKS::Nodegroup", g) for g in there.node_groups]
    aws += [("AWS::EKS::FargateProfile", p) for p in there.profiles]
    aws += [("AWS::EC2::Subnet", s) for s in there.subnets]
    aws += [("AWS::EC2::RouteTable", t) for t in there.route_tables]
    if there.eks:
        aws.append(("AWS::EKS::Cluster", names.eks_cluster(tag)))
    aws += [("AWS::IAM::OIDCProvider", p) for p in there.providers]
    if there.driver_role:
        aws.append(("AWS::IAM::Role", role_name(tag, region, "s3-csi")))
    if there.stack:
        aws.append(("AWS::CloudFormation::Stack", names.network_stack(tag)))
    inside = [
        PlannedObject(kind=r, name=f"{ns}/{n}" if ns else n, action="remove", where="kubernetes")
        for r, n, ns in there.objects
    ]
    return inside + [PlannedObject(kind=k, name=n, action="remove", where="aws") for k, n in aws]


def _foreign(stands: Standing) -> list[Finding]:
    """Things of somebody else that have our names: left alone, and said."""
    found = []
    if stands.eks is not None and not stands.owns_eks:
        found.append(f"EKS cluster {stands.eks['name']}")
    if stands.hyperpod is not None and not stands.owns_hyperpod:
        found.append(f"HyperPod cluster {stands.hyperpod['ClusterName']}")
    return [
        Finding(
            code="left_alone",
            severity="blocking",
            title="Something of that name belongs to somebody else",
            detail=f"{what} does not carry the tag {names.OWNER_TAG}={stands.tag}, so it is not deleted.",
            remedy="Delete it with the tools it was made with, or give it that tag if it is yours.",
        )
        for what in found
    ]
