"""The EKS add-ons as data: what each puts into a cluster. Names and service accounts are those of the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Obj = dict[str, Any]
_ALL = ({"operator": "Exists"},)
_CRITICAL = ({"key": "CriticalAddonsOnly", "operator": "Exists"},)
_MOST = (*_CRITICAL, {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})


@dataclass(frozen=True)
class Part:
    """One Deployment (`replicas` set) or DaemonSet. `images` are name to image; the first container is the main one."""

    name: str
    images: dict[str, str]
    account: str
    replicas: int | None = None
    app: str = ""
    k8s_app: str = ""
    init: dict[str, str] = field(default_factory=dict)
    host_network: bool = False
    critical: str = ""
    tolerations: tuple[Obj, ...] = ()
    cpu: str = "50m"
    memory: str = "64Mi"
    port: int = 0
    slow: float = 0.0
    """Seconds until its readiness probe succeeds."""


@dataclass(frozen=True)
class AddonKind:
    """An add-on: namespace, service accounts, workloads, custom resources as `plural.group/version/Kind`."""

    namespace: str
    parts: tuple[Part, ...]
    accounts: tuple[str, ...]
    driver: str = ""
    customs: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    cluster_scoped: frozenset[str] = frozenset()


def _ecr(name: str) -> str:
    return f"602401143452.dkr.ecr.us-west-2.amazonaws.com/{name}"


def _csi(short: str, label: str, version: str) -> tuple[Part, ...]:
    image = _ecr(f"eks/{label}:{version}")
    node = {f"{short}-plugin": image, "node-driver-registrar": _ecr("eks/csi-node-driver-registrar:v2.14.0")}
    plain = {f"{short}-plugin": image}
    return (
        Part(f"{short}-csi-controller", plain, f"{short}-csi-controller-sa", 2, label, critical="cluster"),
        Part(f"{short}-csi-node", node, f"{short}-csi-node-sa", None, label, critical="node", tolerations=_MOST),
    )


_KUEUE = tuple(
    f"{plural}.kueue.x-k8s.io/v1beta1/{kind}"
    for plural, kind in (
        ("clusterqueues", "ClusterQueue"),
        ("localqueues", "LocalQueue"),
        ("resourceflavors", "ResourceFlavor"),
        ("workloads", "Workload"),
        ("workloadpriorityclasses", "WorkloadPriorityClass"),
    )
)
_CERTIFICATES = (
    "certificates.cert-manager.io/v1/Certificate",
    "certificaterequests.cert-manager.io/v1/CertificateRequest",
    "clusterissuers.cert-manager.io/v1/ClusterIssuer",
    "issuers.cert-manager.io/v1/Issuer",
)
_INFERENCE = tuple(
    f"{plural}.inference.sagemaker.aws.amazon.com/v1/{kind}"
    for plural, kind in (
        ("inferenceendpointconfigs", "InferenceEndpointConfig"),
        ("jumpstartmodels", "JumpStartModel"),
        ("sagemakerendpointregistrations", "SageMakerEndpointRegistration"),
    )
)

ADDONS: dict[str, AddonKind] = {
    "vpc-cni": AddonKind(
        "kube-system",
        (
            Part(
                "aws-node",
                {
                    "aws-node": _ecr("amazon-k8s-cni:v1.20.4"),
                    "aws-eks-nodeagent": _ecr("amazon/aws-network-policy-agent:v1.2.7"),
                },
                "aws-node",
                app="aws-node",
                k8s_app="aws-node",
                init={"aws-vpc-cni-init": _ecr("amazon-k8s-cni-init:v1.20.4")},
                host_network=True,
                critical="node",
                tolerations=_ALL,
                cpu="25m",
                memory="0",
                slow=2.0,
            ),
        ),
        ("aws-node",),
        customs=(
            "eniconfigs.crd.k8s.amazonaws.com/v1alpha1/ENIConfig",
            "cninodes.vpcresources.k8s.aws/v1alpha1/CNINode",
        ),
        cluster_scoped=frozenset({"ENIConfig", "CNINode"}),
    ),
    "kube-proxy": AddonKind(
        "kube-system",
        (
            Part(
                "kube-proxy",
                {"kube-proxy": _ecr("eks/kube-proxy:v1.34.1-minimal-eksbuild.2")},
                "kube-proxy",
                k8s_app="kube-proxy",
                host_network=True,
                critical="node",
                tolerations=_ALL,
                cpu="100m",
                memory="0",
            ),
        ),
        ("kube-proxy",),
    ),
    "coredns": AddonKind(
        "kube-system",
        (
            Part(
                "coredns",
                {"coredns": _ecr("eks/coredns:v1.12.3-eksbuild.1")},
                "coredns",
                2,
                k8s_app="kube-dns",
                critical="cluster",
                tolerations=(*_CRITICAL, {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}),
                cpu="100m",
                memory="70Mi",
                port=53,
                slow=3.0,
            ),
        ),
        ("coredns",),
    ),
    "eks-pod-identity-agent": AddonKind(
        "kube-system",
        (
            Part(
                "eks-pod-identity-agent",
                {"eks-pod-identity-agent": _ecr("eks/eks-pod-identity-agent:v0.1.34")},
                "default",
                app="eks-pod-identity-agent",
                init={"eks-pod-identity-agent-init": _ecr("eks/eks-pod-identity-agent:v0.1.34")},
                host_network=True,
                critical="node",
                tolerations=_ALL,
            ),
        ),
        (),
    ),
    "cert-manager": AddonKind(
        "cert-manager",
        tuple(
            Part(
                name, {f"{name}-controller" if name == "cert-manager" else name: _ecr(f"eks/{image}:v1.18.2")}, name, 1
            )
            for name, image in (
                ("cert-manager", "cert-manager-controller"),
                ("cert-manager-cainjector", "cert-manager-cainjector"),
                ("cert-manager-webhook", "cert-manager-webhook"),
            )
        ),
        ("cert-manager", "cert-manager-cainjector", "cert-manager-webhook"),
        customs=_CERTIFICATES,
        cluster_scoped=frozenset({"ClusterIssuer"}),
    ),
    "metrics-server": AddonKind(
        "kube-system",
        (
            Part(
                "metrics-server",
                {"metrics-server": _ecr("eks/metrics-server:v0.8.0")},
                "metrics-server",
                2,
                critical="cluster",
                cpu="100m",
                memory="200Mi",
                port=10251,
                slow=20.0,
            ),
        ),
        ("metrics-server",),
    ),
    "aws-mountpoint-s3-csi-driver": AddonKind(
        "kube-system",
        (
            Part(
                "s3-csi-controller",
                {"s3-csi-controller": _ecr("eks/aws-s3-csi-driver:v2.1.0")},
                "s3-csi-driver-controller-sa",
                1,
                "aws-mountpoint-s3-csi-driver",
                critical="cluster",
                tolerations=_MOST,
            ),
            Part(
                "s3-csi-node",
                {
                    "s3-plugin": _ecr("eks/aws-s3-csi-driver:v2.1.0"),
                    "node-driver-registrar": _ecr("eks/csi-node-driver-registrar:v2.14.0"),
                    "liveness-probe": _ecr("eks/livenessprobe:v2.16.0"),
                },
                "s3-csi-driver-sa",
                None,
                "aws-mountpoint-s3-csi-driver",
                init={"install-mountpoint": _ecr("eks/aws-s3-csi-driver:v2.1.0")},
                critical="node",
                tolerations=_MOST,
                cpu="10m",
                memory="40Mi",
            ),
        ),
        ("s3-csi-driver-sa", "s3-csi-driver-controller-sa"),
        driver="s3.csi.aws.com",
        namespaces=("mount-s3",),
        customs=("mountpoints3podattachments.s3.csi.aws.com/v2/MountpointS3PodAttachment",),
        cluster_scoped=frozenset({"MountpointS3PodAttachment"}),
    ),
    "aws-fsx-csi-driver": AddonKind(
        "kube-system",
        _csi("fsx", "aws-fsx-csi-driver", "v1.7.0"),
        ("fsx-csi-controller-sa", "fsx-csi-node-sa"),
        driver="fsx.csi.aws.com",
    ),
    "aws-ebs-csi-driver": AddonKind(
        "kube-system",
        _csi("ebs", "aws-ebs-csi-driver", "v1.51.0"),
        ("ebs-csi-controller-sa", "ebs-csi-node-sa"),
        driver="ebs.csi.aws.com",
    ),
    "amazon-sagemaker-hyperpod-training-operator": AddonKind(
        "aws-hyperpod",
        (
            Part(
                "hp-training-operator-controller-manager",
                {"manager": _ecr("hyperpod-training-operator:v1.3.0")},
                "hp-training-operator-controller-manager",
                1,
                cpu="500m",
                memory="512Mi",
            ),
        ),
        ("hp-training-operator-controller-manager",),
        customs=("hyperpodpytorchjobs.sagemaker.amazonaws.com/v1/HyperPodPyTorchJob",),
    ),
    "amazon-sagemaker-hyperpod-taskgovernance": AddonKind(
        "kueue-system",
        (
            Part(
                "kueue-controller-manager",
                {"manager": _ecr("hyperpod-kueue:v1.6.1")},
                "kueue-controller-manager",
                1,
                cpu="500m",
                memory="512Mi",
            ),
        ),
        ("kueue-controller-manager",),
        customs=_KUEUE,
        cluster_scoped=frozenset({"ClusterQueue", "ResourceFlavor", "WorkloadPriorityClass"}),
    ),
    "amazon-sagemaker-hyperpod-observability": AddonKind(
        "hyperpod-observability",
        (
            Part(
                "hyperpod-observability-central-collector",
                {"otel-collector": _ecr("hyperpod-observability/otel-collector:v1.2.0")},
                "hyperpod-observability-operator-otel-collector",
                1,
                cpu="1",
                memory="2Gi",
            ),
            Part(
                "hyperpod-observability-node-collector",
                {"otel-collector": _ecr("hyperpod-observability/otel-collector:v1.2.0")},
                "hyperpod-observability-operator-otel-collector",
                tolerations=_ALL,
                cpu="100m",
                memory="256Mi",
            ),
        ),
        ("hyperpod-observability-operator-otel-collector",),
    ),
    "amazon-sagemaker-hyperpod-inference": AddonKind(
        "hyperpod-inference-system",
        (
            Part(
                "hyperpod-inference-controller-manager",
                {"manager": _ecr("hyperpod-inference-operator:v2.1.0")},
                "hyperpod-inference-controller-manager",
                1,
            ),
            Part("keda-operator", {"keda-operator": _ecr("eks/keda:2.17.1")}, "keda-operator", 1),
            Part(
                "aws-load-balancer-controller",
                {"controller": _ecr("eks/aws-load-balancer-controller:v2.13.2")},
                "aws-load-balancer-controller",
                2,
            ),
        ),
        ("hyperpod-inference-controller-manager", "keda-operator", "aws-load-balancer-controller"),
        customs=_INFERENCE,
    ),
    "amazon-cloudwatch-observability": AddonKind(
        "amazon-cloudwatch",
        (
            Part(
                "amazon-cloudwatch-observability-controller-manager",
                {"manager": _ecr("cloudwatch-agent-operator:3.2.0")},
                "amazon-cloudwatch-observability-controller-manager",
                1,
            ),
            Part(
                "cloudwatch-agent",
                {"otc-container": _ecr("cloudwatch-agent:1.300059")},
                "cloudwatch-agent",
                tolerations=_ALL,
            ),
            Part("fluent-bit", {"fluent-bit": _ecr("aws-for-fluent-bit:2.32.5")}, "cloudwatch-agent", tolerations=_ALL),
        ),
        ("amazon-cloudwatch-observability-controller-manager", "cloudwatch-agent"),
    ),
}


def kind_of(addon: str) -> AddonKind:
    """The add-on's row; one Deployment in kube-system for an add-on that the table does not know."""
    found = ADDONS.get(addon)
    if found is not None:
        return found
    return AddonKind("kube-system", (Part(addon, {addon: _ecr(f"eks/{addon}:latest")}, addon, 1),), (addon,))
