"""Composes the stages of the lower slices into journeys: which stages there are, and which must wait for which. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from instantstart.addons import plan as addons
from instantstart.clusters import specs
from instantstart.clusters.choices import ControlPlane, Mount, Nodes, Place
from instantstart.core import names
from instantstart.core.plan import StageSpec
from instantstart.identity import plan as identity
from instantstart.network import plan as network
from instantstart.storage import plan as storage
from instantstart.storage.rules import BucketChoice, driver_identity


def control_plane(choice: ControlPlane) -> list[StageSpec]:
    """Network and roles, EKS; then access, add-ons and OIDC provider side by side."""
    tag, eks = choice.tag, choice.eks_cluster
    return [
        *network.stack_specs(
            tag, zones=list(choice.zones), cidr=choice.cidr, vpc_id=choice.vpc_id, bucket=choice.rights_bucket
        ),
        *specs.eks_specs(tag, version=choice.version, facts=choice.facts, needs=[network.AWAIT]),
        *_access(tag, choice.place),
        identity.oidc_provider_spec(eks_cluster=eks, tag=tag),
        *addons.core_specs(tag, eks_cluster=eks),
    ]


def creation(choice: ControlPlane, nodes: Nodes, mount: Mount) -> list[StageSpec]:
    """The whole chain of cluster_create. Bucket, script and subnet need not wait for EKS."""
    tag, eks = choice.tag, choice.eks_cluster
    return [
        *control_plane(choice),
        specs.select_spec(tag),
        *_dependencies(tag, choice.place, needs=[identity.ACCESS]),
        *_nodes(choice.place, nodes),
        *_mount(tag, choice.place, mount, nodes=[specs.AWAIT_NODES], access=[identity.ACCESS]),
        addons.verify_spec(
            tag, eks_cluster=eks, needs=[specs.AWAIT_NODES, "await_core_addons", addons.AWAIT_ALL], step="hyperpod"
        ),
    ]


def hyperpod(place: Place, nodes: Nodes) -> list[StageSpec]:
    """The HyperPod cluster on an EKS cluster and a network that stand."""
    tag = nodes.tag
    standing = [_await_network(tag), *_access(tag, place), _await_eks(tag)]
    verify = addons.verify_spec(tag, eks_cluster=names.eks_cluster(tag), needs=[specs.AWAIT_NODES])
    return _closed([*standing, *_nodes(place, nodes), verify], step="hyperpod")


def dependencies(tag: str, place: Place, *, verify: bool) -> list[StageSpec]:
    """Core add-ons and dependencies; with nodes there, they must be healthy."""
    eks = names.eks_cluster(tag)
    found = [
        *_access(tag, place),
        *addons.core_specs(tag, eks_cluster=eks),
        *_dependencies(tag, place, needs=[identity.ACCESS]),
    ]
    if verify:
        found.append(addons.verify_spec(tag, eks_cluster=eks, needs=["await_core_addons", addons.AWAIT_ALL]))
    return _closed(found, step="dependencies")


def mounting(tag: str, place: Place, mount: Mount) -> list[StageSpec]:
    """One more S3 mount on a cluster that stands."""
    found = [
        *_access(tag, place),
        *storage.bucket_specs(tag, mount.bucket),
        *_mount(tag, place, mount, nodes=(), access=[identity.ACCESS]),
    ]
    return _closed(found, step="storage")


def removal(tag: str, bucket: BucketChoice, *, partition: str) -> list[StageSpec]:
    """The mirror, in the order that AWS demands: it drains nothing, and what is in use cannot go."""
    eks, driver = names.eks_cluster(tag), driver_identity([bucket.name], partition=partition)
    networks = network.removal_specs(tag, needs=[specs.REMOVE_NODE_GROUPS])
    subnets, stack = networks[0], networks[1:]
    rights = identity.identity_removal_spec(
        tag, eks_cluster=eks, identity=driver, needs=[specs.AWAIT_EKS_REMOVED], step="eks"
    )
    oidc = identity.oidc_removal_spec(tag, eks_cluster=eks, needs=[specs.AWAIT_EKS_REMOVED])
    stack[0] = stack[0].model_copy(update={"needs": [subnets.name, rights.name, oidc.name]})
    return [
        specs.objects_removal_spec(tag),
        *specs.hyperpod_removal_specs(tag, needs=[specs.REMOVE_OBJECTS]),
        specs.node_groups_removal_spec(tag, needs=[specs.AWAIT_HYPERPOD_REMOVED]),
        subnets,
        *specs.eks_removal_specs(tag, needs=[subnets.name]),
        rights,
        oidc,
        *stack,
        specs.record_removal_spec(tag, needs=[network.AWAIT_REMOVED]),
    ]


def _access(tag: str, place: Place) -> list[StageSpec]:
    return [
        identity.access_entry_spec(
            eks_cluster=names.eks_cluster(tag), principal_arn=place.service_role, tag=tag, needs=[specs.AWAIT_EKS]
        )
    ]


def _dependencies(tag: str, place: Place, *, needs: list[str]) -> list[StageSpec]:
    return addons.dependency_specs(tag, eks_cluster=names.eks_cluster(tag), region=place.region, needs=needs)


def _nodes(place: Place, nodes: Nodes) -> list[StageSpec]:
    """Bucket, script and subnet, then the cluster; HyperPod wants the dependencies in before."""
    tag = nodes.tag
    subnet = network.compute_subnet_spec(
        tag,
        zone=nodes.zone,
        addresses=nodes.addresses,
        eks_cluster=names.eks_cluster(tag),
        subnet_id=nodes.subnet_id,
    )
    ready = [specs.AWAIT_EKS, addons.AWAIT_ALL, "await_core_addons", storage.LIFECYCLE, network.SUBNET]
    return [
        *storage.bucket_specs(tag, nodes.bucket),
        storage.lifecycle_spec(tag),
        subnet,
        *specs.hyperpod_specs(tag, group=nodes.wish, facts=nodes.facts, needs=ready),
    ]


def _mount(tag: str, place: Place, mount: Mount, *, nodes: Iterable[str], access: list[str]) -> list[StageSpec]:
    return storage.mount_specs(
        tag,
        eks_cluster=names.eks_cluster(tag),
        region=place.region,
        partition=place.partition,
        claim=mount.claim,
        bucket=mount.bucket.name,
        buckets=mount.others,
        ready=[specs.AWAIT_EKS, storage.AWAIT_BUCKET],
        access=access,
        nodes=list(nodes),
    )


def _await_network(tag: str) -> StageSpec:
    """The network stack that stands, for its outputs."""
    found = network.stack_specs(tag, zones=[], cidr=None, vpc_id=None)[1]
    return found.model_copy(update={"typical_seconds": 2})


def _await_eks(tag: str) -> StageSpec:
    """The EKS cluster that stands, for its outputs."""
    found = specs.eks_specs(tag, version="", facts={}, needs=[])[1]
    return found.model_copy(update={"typical_seconds": 2})


def _closed(found: list[StageSpec], *, step: str) -> list[StageSpec]:
    """The same stages under one step, without needs that are no part of this journey."""
    there = {s.name for s in found}
    return [s.model_copy(update={"step": step, "needs": [n for n in s.needs if n in there]}) for s in found]
