"""The access entries that HyperPod makes on the EKS cluster for its service-linked role and the execution roles."""

from __future__ import annotations

from instantstart_sandbox.aws.eks.entry_docs import new_entry
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.sagemaker.parts import CLUSTER, Doc, Parts

_ENTRY = "eks.access_entry"
_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonSagemakerHyperpodClusterPolicy"
_SERVICE = "hyperpod.sagemaker.amazonaws.com"
_ROLE = "AWSServiceRoleForSageMakerHyperPod"


def _service_role(parts: Parts) -> str:
    """The service-linked role's ARN; made at its first use, and it stays."""
    if parts.outside.role(_ROLE) is None:
        try:
            parts.outside.call("iam", "create_service_linked_role", AWSServiceName=_SERVICE)
        except AwsError:  # another cluster's first use
            pass
    return f"arn:aws:iam::{parts.world.account.account_id}:role/aws-service-role/{_SERVICE}/{_ROLE}"


def _execution_roles(cluster: Doc) -> list[str]:
    return sorted({g["spec"]["ExecutionRole"] for g in cluster["groups"].values()})


def join(parts: Parts, cluster: Doc) -> list[str]:
    """Make the entries that are missing; answers what to tell as events."""
    eks, told = cluster["eks"], []
    service = _service_role(parts)
    if parts.world.store.get(_ENTRY, f"{eks}/{service}") is None:
        entry = new_entry(parts.world, eks, service, {"username": "hyperpod-service-linked-role"})
        entry["policies"] = [{"policyArn": _POLICY, "accessScope": {"type": "cluster", "namespaces": []}}]
        parts.world.store.put(_ENTRY, f"{eks}/{service}", entry)
        told.append("SLR Access Entry creation completed successfully")
        told.append("SLR policy association completed successfully")
    for role in _execution_roles(cluster):
        if parts.world.store.get(_ENTRY, f"{eks}/{role}") is None:
            entry = new_entry(parts.world, eks, role, {"type": "HYPERPOD_LINUX"})
            parts.world.store.put(_ENTRY, f"{eks}/{role}", {**entry, "by_hyperpod": True})
            told.append("EKS Access Entries creation completed successfully")
    return told


def leave(parts: Parts, cluster: Doc) -> None:
    """Remove them again, for roles that no other cluster uses there."""
    eks = cluster["eks"]
    others = [
        c for c in parts.world.store.list(CLUSTER) if c["eks"] == eks and c["ClusterName"] != cluster["ClusterName"]
    ]
    if others:
        return
    for key, entry in parts.world.store.items(_ENTRY, f"{eks}/"):
        if entry["username"] == "hyperpod-service-linked-role" or entry.get("by_hyperpod"):
            parts.world.store.delete(_ENTRY, key)
