"""Specs of the network's stages and the objects they make, for the journeys that compose them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart.core import names
from instantstart.core.plan import PlannedObject, StageSpec
from instantstart.network.rules import name_of

REQUEST, AWAIT = "request_network_stack", "await_network_stack"
SUBNET = "ensure_compute_subnet"
REMOVE_SUBNETS, REMOVE, AWAIT_REMOVED = "remove_compute_subnets", "remove_network_stack", "await_network_stack_removed"


def stack_specs(
    tag: str,
    *,
    zones: list[str],
    cidr: str | None,
    vpc_id: str | None,
    bucket: str | None = None,
    needs: Sequence[str] = (),
    step: str = "eks",
) -> list[StageSpec]:
    """request_network_stack and await_network_stack. `zones` are names, the compute zone first; one of cidr, vpc_id.

    `bucket` is named only when it does not begin with `sagemaker-`: the nodes' role then gets two S3 actions on it.
    """
    params: dict[str, Any] = {"tag": tag, "zones": zones, "cidr": cidr, "vpc_id": vpc_id, "bucket": bucket}
    return [
        StageSpec(
            name=REQUEST,
            step=step,
            title="Ask for the network and the roles",
            needs=list(needs),
            definition=REQUEST,
            params=params,
        ),
        StageSpec(
            name=AWAIT,
            step=step,
            title="Network and roles",
            needs=[REQUEST],
            definition=AWAIT,
            params={"tag": tag},
            typical_seconds=240,
        ),
    ]


def compute_subnet_spec(
    tag: str,
    *,
    zone: str,
    addresses: int,
    eks_cluster: str,
    subnet_id: str | None = None,
    vpc_id: str | None = None,
    needs: Sequence[str] = (AWAIT,),
    step: str = "hyperpod",
) -> StageSpec:
    """ensure_compute_subnet. `vpc_id` only when no stage of the operation awaits the network stack."""
    return StageSpec(
        name=SUBNET,
        step=step,
        title="Compute subnet",
        needs=list(needs),
        definition=SUBNET,
        params={
            "tag": tag,
            "zone": zone,
            "addresses": addresses,
            "eks_cluster": eks_cluster,
            "subnet_id": subnet_id,
            "vpc_id": vpc_id,
        },
        typical_seconds=10,
    )


def stack_removal_specs(tag: str, *, needs: Sequence[str] = (), step: str = "eks") -> list[StageSpec]:
    """remove_network_stack and await_network_stack_removed."""
    return [
        StageSpec(
            name=REMOVE,
            step=step,
            title="Ask for the removal of network and roles",
            needs=list(needs),
            definition=REMOVE,
            params={"tag": tag},
        ),
        StageSpec(
            name=AWAIT_REMOVED,
            step=step,
            title="Network and roles are gone",
            needs=[REMOVE],
            definition=AWAIT_REMOVED,
            params={"tag": tag},
            typical_seconds=120,
        ),
    ]


def removal_specs(tag: str, *, needs: Sequence[str] = (), step: str = "eks") -> list[StageSpec]:
    """remove_compute_subnets, then the stack's removal. HyperPod must be gone before."""
    subnets = StageSpec(
        name=REMOVE_SUBNETS,
        step=step,
        title="Remove compute subnets",
        needs=list(needs),
        definition=REMOVE_SUBNETS,
        params={"tag": tag},
        typical_seconds=30,
    )
    return [subnets, *stack_removal_specs(tag, needs=[REMOVE_SUBNETS], step=step)]


def network_objects(
    tag: str, *, zones: list[str], cidr: str | None, vpc_id: str | None, subnet_id: str | None = None
) -> list[PlannedObject]:
    """What the network part of a creation touches, for the plan."""
    found = [
        PlannedObject(
            kind="AWS::CloudFormation::Stack",
            name=names.network_stack(tag),
            action="create",
            where="aws",
            detail="Control-plane subnets, NAT gateway, S3 endpoint, security group, two roles",
        )
    ]
    if vpc_id is None:
        found.append(PlannedObject(kind="AWS::EC2::VPC", name=cidr or "new", action="create", where="aws"))
    else:
        found.append(PlannedObject(kind="AWS::EC2::VPC", name=vpc_id, action="keep", where="aws"))
    action: Any = "keep" if subnet_id else "create"
    name = subnet_id or name_of(zones[0])
    detail = "A compatible subnet of the zone is taken instead, if there is one" if not subnet_id else None
    found.append(PlannedObject(kind="AWS::EC2::Subnet", name=name, action=action, where="aws", detail=detail))
    return found
