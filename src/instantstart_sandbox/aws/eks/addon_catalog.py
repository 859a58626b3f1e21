"""The add-ons there are: versions, for which Kubernetes, what they need, what can be configured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.defaults import KUBERNETES_VERSIONS

_ALL = KUBERNETES_VERSIONS


@dataclass(frozen=True)
class AddonKind:
    """One add-on. `versions` are newest first; `accounts` map service accounts to recommended policies."""

    name: str
    versions: tuple[str, ...]
    namespace: str = "kube-system"
    kind: str = "networking"
    publisher: str = "eks"
    owner: str = "aws"
    kubernetes: tuple[str, ...] = _ALL
    accounts: dict[str, list[str]] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    """Top-level configuration keys and their JSON types; more of the real schema is not known here."""
    is_daemon: bool = False
    """Whether all of it runs as DaemonSets, so that it is healthy without nodes."""

    @property
    def needs_iam(self) -> bool:
        """Whether it works only with a role of its own."""
        return bool(self.accounts) and self.name not in ("vpc-cni",)


_COMMON = {
    "affinity": "object",
    "nodeSelector": "object",
    "tolerations": "array",
    "resources": "object",
    "podAnnotations": "object",
    "podLabels": "object",
}
_DEPLOYED = {**_COMMON, "replicaCount": "integer", "podDisruptionBudget": "object"}
_OPERATOR = {**_DEPLOYED, "image": "object", "controllerManager": "object"}
_KINDS = (
    AddonKind(
        "vpc-cni",
        ("v1.20.4-eksbuild.2", "v1.20.1-eksbuild.1", "v1.19.6-eksbuild.1", "v1.18.3-eksbuild.3"),
        accounts={"aws-node": ["arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"]},
        properties={
            **_COMMON,
            "env": "object",
            "init": "object",
            "enableNetworkPolicy": "string",
            "eniConfig": "object",
        },
        is_daemon=True,
    ),
    AddonKind("kube-proxy", (), properties={**_COMMON, "ipvs": "object", "mode": "string"}, is_daemon=True),
    AddonKind(
        "coredns",
        ("v1.12.4-eksbuild.1", "v1.12.1-eksbuild.2", "v1.11.4-eksbuild.14"),
        properties={**_DEPLOYED, "corefile": "string", "autoScaling": "object", "computeType": "string"},
    ),
    AddonKind(
        "eks-pod-identity-agent",
        ("v1.4.0-eksbuild.1", "v1.3.9-eksbuild.3", "v1.3.4-eksbuild.1"),
        kind="security",
        properties={**_COMMON, "agent": "object", "env": "object"},
        is_daemon=True,
    ),
    AddonKind(
        "aws-mountpoint-s3-csi-driver",
        ("v2.8.0-eksbuild.1", "v2.1.0-eksbuild.1", "v2.0.0-eksbuild.1"),
        kind="storage",
        publisher="s3",
        accounts={"s3-csi-driver-sa": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]},
        properties={"node": "object", "controller": "object", "mountpointPod": "object", "experimental": "object"},
    ),
    AddonKind(
        "aws-fsx-csi-driver",
        ("v1.10.0-eksbuild.1", "v1.7.0-eksbuild.1"),
        kind="storage",
        accounts={"fsx-csi-controller-sa": ["arn:aws:iam::aws:policy/AmazonFSxFullAccess"]},
        properties={"controller": "object", "node": "object", "image": "object"},
    ),
    AddonKind(
        "aws-ebs-csi-driver",
        ("v1.53.0-eksbuild.1", "v1.48.0-eksbuild.1"),
        kind="storage",
        accounts={"ebs-csi-controller-sa": ["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"]},
        properties={"controller": "object", "node": "object", "defaultStorageClass": "object"},
    ),
    AddonKind(
        "cert-manager",
        ("v1.18.2-eksbuild.2", "v1.17.2-eksbuild.1"),
        namespace="cert-manager",
        kind="security",
        owner="community",
        properties={**_DEPLOYED, "webhook": "object", "cainjector": "object", "crds": "object"},
    ),
    AddonKind(
        "metrics-server",
        ("v0.8.0-eksbuild.3", "v0.7.2-eksbuild.4"),
        kind="observability",
        owner="community",
        properties={**_DEPLOYED, "replicas": "integer", "args": "array"},
    ),
    AddonKind(
        "amazon-sagemaker-hyperpod-training-operator",
        ("v1.3.0-eksbuild.1", "v1.2.0-eksbuild.1"),
        namespace="aws-hyperpod",
        kind="machine-learning",
        kubernetes=("1.36", "1.35", "1.34", "1.33", "1.32", "1.31"),
        accounts={
            "hp-training-operator-controller-manager": [
                "arn:aws:iam::aws:policy/AmazonSageMakerHyperPodTrainingOperatorAccess"
            ]
        },
        properties=_OPERATOR,
    ),
    AddonKind(
        "amazon-sagemaker-hyperpod-inference",
        ("v2.1.0-eksbuild.1",),
        namespace="hyperpod-inference-system",
        kind="machine-learning",
        kubernetes=("1.36", "1.35", "1.34", "1.33", "1.32"),
        properties={
            **_OPERATOR,
            "executionRoleArn": "string",
            "tlsCertificateS3Bucket": "string",
            "hyperpodClusterArn": "string",
            "jumpstartGatedModelDownloadRoleArn": "string",
            "alb": "object",
            "keda": "object",
        },
    ),
    AddonKind(
        "amazon-sagemaker-hyperpod-observability",
        ("v1.2.0-eksbuild.3",),
        namespace="hyperpod-observability",
        kind="observability",
        kubernetes=("1.36", "1.35", "1.34", "1.33", "1.32"),
        accounts={
            "hyperpod-observability-operator-otel-collector": [
                "arn:aws:iam::aws:policy/AmazonSageMakerHyperPodObservabilityAdminAccess"
            ]
        },
        properties={**_COMMON, "ampWorkspace": "object", "amgWorkspace": "object", "metricsProvider": "object"},
    ),
    AddonKind(
        "amazon-sagemaker-hyperpod-taskgovernance",
        ("v1.6.1-eksbuild.1", "v1.3.0-eksbuild.1"),
        namespace="kueue-system",
        kind="machine-learning",
        kubernetes=("1.36", "1.35", "1.34", "1.33", "1.32", "1.31"),
        properties=_OPERATOR,
    ),
    AddonKind(
        "amazon-sagemaker-spaces",
        ("v0.1.2-eksbuild.1",),
        namespace="jupyter-k8s-system",
        kind="machine-learning",
        properties=_OPERATOR,
    ),
    AddonKind(
        "amazon-cloudwatch-observability",
        ("v6.7.0-eksbuild.1",),
        namespace="amazon-cloudwatch",
        kind="observability",
        accounts={"cloudwatch-agent": ["arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"]},
        properties={**_COMMON, "agent": "object", "containerLogs": "object", "manager": "object"},
    ),
)
KINDS = {k.name: k for k in _KINDS}


def versions(kind: AddonKind, kubernetes: str) -> tuple[str, ...]:
    """The versions for a Kubernetes version, the default first; empty when it is not supported."""
    if kubernetes not in kind.kubernetes:
        return ()
    return kind.versions or (f"v{kubernetes}.1-eksbuild.2", f"v{kubernetes}.0-eksbuild.4")


def info(kind: AddonKind, kubernetes: str | None) -> dict[str, Any]:
    """AddonInfo for DescribeAddonVersions."""
    wanted = [v for v in kind.kubernetes if kubernetes in (None, v)]
    offered: dict[str, list[dict[str, Any]]] = {}
    for cluster in wanted:
        for position, version in enumerate(versions(kind, cluster)):
            row = {"clusterVersion": cluster, "platformVersions": ["*"], "defaultVersion": position == 0}
            offered.setdefault(version, []).append(row)
    rows = [
        {
            "addonVersion": version,
            "architecture": ["amd64", "arm64"],
            "computeTypes": ["ec2", "hybrid", "auto"],
            "compatibilities": found,
            "requiresConfiguration": False,
            "requiresIamPermissions": kind.needs_iam,
        }
        for version, found in offered.items()
    ]
    return {
        "addonName": kind.name,
        "type": kind.kind,
        "addonVersions": rows,
        "publisher": kind.publisher,
        "owner": kind.owner,
        "defaultNamespace": kind.namespace,
    }


def schema(kind: AddonKind) -> dict[str, Any]:
    """The JSON schema that configurationValues are held to (its top level)."""
    return {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "type": "object",
        "additionalProperties": False,
        "title": kind.name,
        "properties": {k: {"type": v} for k, v in kind.properties.items()},
    }
