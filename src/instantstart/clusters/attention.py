"""What somebody has to know of a cluster now, each with what to do. Pure."""

from __future__ import annotations

from typing import Any

from instantstart.addons.schema import DependencyView
from instantstart.core.plan import Finding, Severity
from instantstart.instance_groups.schema import GroupView
from instantstart.nodes.schema import NodeView
from instantstart.storage.schema import ClaimView

Doc = dict[str, Any]


def of_halves(eks: Doc | None, hyperpod: Doc | None) -> list[Finding]:
    """Dead and ailing halves."""
    found = []
    for issue in ((eks or {}).get("health") or {}).get("issues") or []:
        detail = f"EKS reports {issue.get('code')}: {issue.get('message')}"
        remedy = "Restore what the message names: the role, a subnet, a security group or a key."
        found.append(_finding("eks_issue", detail, remedy, severity="blocking"))
    if eks and eks["status"] == "FAILED" and not found:
        remedy = "Retry its creation with accept, or delete the cluster."
        found.append(_finding("eks_failed", f"EKS cluster {eks['name']} is FAILED.", remedy, severity="blocking"))
    if hyperpod and hyperpod["ClusterStatus"] in ("Failed", "RollingBack"):
        said = hyperpod.get("FailureMessage") or "HyperPod gives no reason."
        detail = f"HyperPod cluster {hyperpod['ClusterName']} is {hyperpod['ClusterStatus']}: {said}"
        remedy = "Remove the cause, then retry its creation with accept."
        found.append(_finding("hyperpod_failed", detail, remedy, severity="blocking"))
    return found


def of_operations(rows: list[Doc], messages: dict[str, list[str]] | None = None) -> list[Finding]:
    """Operations that failed or wait for somebody; `messages` are their stages' attention by operation id."""
    found = []
    for row in rows:
        evidence = {"operation": row["id"], "kind": row["kind"]}
        if row["state"] == "failed":
            said = (row["problem"] or {}).get("detail") or "See its stages."
            remedy = f"{(row['problem'] or {}).get('remedy') or ''} Then operation_retry {row['id']}.".strip()
            detail = f"{row['title']} failed: {said}"
            found.append(_finding("operation_failed", detail, remedy, severity="blocking", evidence=evidence))
        elif row["state"] == "cancelled":
            detail = f"{row['title']} was cancelled before its end."
            remedy = f"operation_retry {row['id']} goes on; cluster_delete removes what there is."
            found.append(_finding("operation_cancelled", detail, remedy, evidence=evidence))
        for text in (messages or {}).get(row["id"], []):
            detail = f"{row['title']}: {text}"
            found.append(_finding("operation_waits", detail, "It goes on by itself when that ends.", evidence=evidence))
    return found


def of_nodes(nodes: list[NodeView], groups: list[GroupView], *, settled: bool) -> list[Finding]:
    """Ill nodes; and groups below their target when no operation is at work."""
    found = []
    for node in [n for n in nodes if n.health == "unhealthy"][:10]:
        detail = f"Node {node.name} ({node.group}) is {node.status}: {node.message or 'no message'}"
        remedy = "Wait for HyperPod's automatic recovery; if it stays, reboot or replace the node."
        found.append(_finding("node_unhealthy", detail, remedy, evidence={"node": node.instance_id}))
    for group in groups:
        if settled and group.current < group.target:
            detail = f"Group {group.name} has {group.current} of {group.target} machines."
            remedy = "HyperPod goes on trying; its events say why. Another zone or type may have capacity."
            found.append(_finding("group_short", detail, remedy, evidence={"group": group.name}))
    return found


def of_parts(dependencies: list[DependencyView], claims: list[ClaimView], *, settled: bool) -> list[Finding]:
    """Required dependencies that are missing or ill, and mounts that do not work; while nothing is at work on them."""
    found = []
    for part in dependencies if settled else ():
        if part.required and part.health in ("missing", "failed", "degraded"):
            detail = f"{part.title} is {part.health}. {part.message or ''}".strip()
            found.append(_finding("dependency_ill", detail, "Run cluster_configure_dependencies."))
    for claim in claims if settled else ():
        if claim.proved is False or claim.phase in ("Lost", "Missing"):
            detail = f"Claim {claim.namespace}/{claim.claim} does not work: {claim.message or claim.phase}"
            found.append(
                _finding("storage_unusable", detail, "Remove the cause, then s3_storage_create proves it anew.")
            )
        elif claim.managed and claim.proved is None:
            detail = f"Nothing has been written through claim {claim.namespace}/{claim.claim} yet."
            remedy = "Run s3_storage_create when there is a schedulable node."
            found.append(_finding("storage_unproven", detail, remedy, severity="info"))
    return found


def of_silence(unseen: str | None) -> list[Finding]:
    """The API server did not answer."""
    if unseen is None:
        return []
    return [_finding("kubernetes_unseen", f"What is inside the cluster cannot be seen. {unseen}", "Try again later.")]


_TITLES = {
    "eks_issue": "The EKS cluster needs something back",
    "eks_failed": "The EKS cluster is dead",
    "hyperpod_failed": "The HyperPod cluster has failed",
    "operation_failed": "An operation failed",
    "operation_cancelled": "An operation was cancelled",
    "operation_waits": "An operation waits",
    "node_unhealthy": "A node is ill",
    "group_short": "A group is short of machines",
    "dependency_ill": "A dependency is not in order",
    "storage_unusable": "A mount does not work",
    "storage_unproven": "A mount is not proved",
    "kubernetes_unseen": "The API server does not answer",
}


def _finding(
    code: str, detail: str, remedy: str, *, severity: Severity = "warning", evidence: Doc | None = None
) -> Finding:
    return Finding(
        code=code, severity=severity, title=_TITLES[code], detail=detail, remedy=remedy, evidence=evidence or {}
    )
