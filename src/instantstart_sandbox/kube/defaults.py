"""Default values of built-in types: one function per struct, applied wherever that struct occurs in an object."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from instantstart_sandbox.kube.types import Struct, TypeRef, struct

Obj = dict[str, Any]
Default = Callable[[Obj], None]
_RULES: dict[str, list[Default]] = {}


def rule(*names: str) -> Callable[[Default], Default]:
    """Register a defaulting function for structs."""

    def add(fn: Default) -> Default:
        for name in names:
            _RULES.setdefault(name, []).append(fn)
        return fn

    return add


def _constants(where: str, **values: Any) -> None:
    def fill(obj: Obj) -> None:
        for key, value in values.items():
            if obj.get(key) in (None, ""):
                obj[key] = dict(value) if isinstance(value, dict) else value

    rule(where)(fill)


_constants(
    "core/v1.PodSpec",
    restartPolicy="Always",
    terminationGracePeriodSeconds=30,
    dnsPolicy="ClusterFirst",
    securityContext={},
    schedulerName="default-scheduler",
)
_constants("core/v1.ContainerPort", protocol="TCP")
_constants("core/v1.SecretVolumeSource", defaultMode=420)
_constants("core/v1.ConfigMapVolumeSource", defaultMode=420)
_constants("core/v1.DownwardAPIVolumeSource", defaultMode=420)
_constants("core/v1.ProjectedVolumeSource", defaultMode=420)
_constants("core/v1.ServiceAccountTokenProjection", expirationSeconds=3600)
_constants("core/v1.HostPathVolumeSource", type="")
_constants("core/v1.ObjectFieldSelector", apiVersion="v1")
_constants("core/v1.ResourceFieldSelector", divisor="0")
_constants("core/v1.HTTPGetAction", path="/", scheme="HTTP")
_constants("core/v1.GRPCAction", service="")
_constants("core/v1.Secret", type="Opaque")
_constants("core/v1.EndpointPort", protocol="TCP")
_constants("core/v1.PersistentVolumeClaimSpec", volumeMode="Filesystem")
_constants("core/v1.PersistentVolumeSpec", volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
_constants("apps/v1.DeploymentSpec", replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
_constants("apps/v1.ReplicaSetSpec", replicas=1)
_constants("core/v1.ReplicationControllerSpec", replicas=1)
_constants("apps/v1.DaemonSetSpec", revisionHistoryLimit=10)
_constants("apps/v1.StatefulSetSpec", replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
_constants("batch/v1.CronJobSpec", concurrencyPolicy="Allow", suspend=False)
_constants("batch/v1.CronJobSpec", successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
_constants("rbac/v1.RoleRef", apiGroup="rbac.authorization.k8s.io")
_constants("storage/v1.StorageClass", reclaimPolicy="Delete", volumeBindingMode="Immediate")
_constants(
    "storage/v1.CSIDriverSpec",
    attachRequired=True,
    podInfoOnMount=False,
    storageCapacity=False,
    fsGroupPolicy="ReadWriteOnceWithFSType",
    requiresRepublish=False,
    seLinuxMount=False,
)
_constants("scheduling/v1.PriorityClass", preemptionPolicy="PreemptLowerPriority")
_constants("admissionregistration/v1.ServiceReference", port=443)
_constants("apiregistration/v1.ServiceReference", port=443)
for _hook in ("ValidatingWebhook", "MutatingWebhook"):
    _constants(
        f"admissionregistration/v1.{_hook}",
        failurePolicy="Fail",
        matchPolicy="Equivalent",
        namespaceSelector={},
        objectSelector={},
        timeoutSeconds=10,
    )
_constants("admissionregistration/v1.MutatingWebhook", reinvocationPolicy="Never")
_constants("discovery/v1.EndpointPort", name="", protocol="TCP")
_constants("networking/v1.NetworkPolicyPort", protocol="TCP")
_constants("apiextensions/v1.ServiceReference", port=443)
_constants("autoscaling/v2.HorizontalPodAutoscalerSpec", minReplicas=1)
_constants("autoscaling/v1.HorizontalPodAutoscalerSpec", minReplicas=1)
_constants("core/v1.ISCSIVolumeSource", iscsiInterface="default")
_constants("core/v1.AzureDiskVolumeSource", kind="Shared", cachingMode="ReadWrite", fsType="ext4", readOnly=False)


@rule("core/v1.Container", "core/v1.EphemeralContainer", "core/v1.EphemeralContainerCommon")
def _container(obj: Obj) -> None:
    obj.setdefault("terminationMessagePath", "/dev/termination-log")
    obj.setdefault("terminationMessagePolicy", "File")
    if not obj.get("imagePullPolicy"):
        obj["imagePullPolicy"] = pull_policy(obj.get("image") or "")
    for handler in ("limits", "requests"):
        if obj.get("resources", {}).get(handler) == {}:
            del obj["resources"][handler]


def pull_policy(image: str) -> str:
    """Always for a moving tag, IfNotPresent for a fixed tag or a digest."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


@rule("core/v1.Probe")
def _probe(obj: Obj) -> None:
    obj.setdefault("timeoutSeconds", 1)
    obj.setdefault("periodSeconds", 10)
    obj.setdefault("successThreshold", 1)
    obj.setdefault("failureThreshold", 3)


@rule("core/v1.Volume")
def _volume(obj: Obj) -> None:
    if set(obj) <= {"name"}:
        obj["emptyDir"] = {}


@rule("core/v1.Pod")
def _pod(obj: Obj) -> None:
    spec = obj["spec"]
    spec.setdefault("enableServiceLinks", True)
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        limits = container.get("resources", {}).get("limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for name, value in limits.items():
                requests.setdefault(name, value)
    if spec.get("hostNetwork"):
        _host_ports(spec)


@rule("core/v1.PodTemplateSpec")
def _template(obj: Obj) -> None:
    if obj["spec"].get("hostNetwork"):
        _host_ports(obj["spec"])


def _host_ports(spec: Obj) -> None:
    for container in spec.get("containers") or []:
        for port in container.get("ports") or []:
            port.setdefault("hostPort", port["containerPort"])


@rule("core/v1.Service")
def _service(obj: Obj) -> None:
    spec = obj["spec"]
    spec.setdefault("sessionAffinity", "None")
    spec.setdefault("type", "ClusterIP")
    if spec["sessionAffinity"] == "ClientIP":
        spec.setdefault("sessionAffinityConfig", {"clientIP": {"timeoutSeconds": 10800}})
    for port in spec.get("ports") or []:
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


@rule("core/v1.PersistentVolume", "core/v1.PersistentVolumeClaim")
def _volume_phase(obj: Obj) -> None:
    obj["status"].setdefault("phase", "Pending")


@rule("core/v1.LimitRangeItem")
def _limit_item(obj: Obj) -> None:
    if obj.get("type") != "Container":
        return
    for source, target in (("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")):
        for name, value in (obj.get(source) or {}).items():
            obj.setdefault(target, {}).setdefault(name, value)


@rule("apps/v1.DeploymentSpec")
def _deployment(obj: Obj) -> None:
    strategy = obj["strategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")


@rule("apps/v1.DaemonSetSpec")
def _daemon_set(obj: Obj) -> None:
    strategy = obj["updateStrategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)


@rule("apps/v1.StatefulSetSpec")
def _stateful_set(obj: Obj) -> None:
    strategy = obj["updateStrategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    policy = obj.setdefault("persistentVolumeClaimRetentionPolicy", {})
    policy.setdefault("whenDeleted", "Retain")
    policy.setdefault("whenScaled", "Retain")
    for claim in obj.get("volumeClaimTemplates") or []:
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")


@rule("batch/v1.JobSpec")
def _job(obj: Obj) -> None:
    _job_size(obj)
    if obj.get("backoffLimit") is None:
        obj["backoffLimit"] = 2147483647 if obj.get("backoffLimitPerIndex") is not None else 6
    if obj.get("completionMode") is None:
        obj["completionMode"] = "NonIndexed"
    if obj.get("suspend") is None:
        obj["suspend"] = False
    if obj.get("podReplacementPolicy") is None:
        obj["podReplacementPolicy"] = "Failed" if obj.get("podFailurePolicy") else "TerminatingOrFailed"
    if obj.get("manualSelector") is None:
        obj["manualSelector"] = False


def _job_size(obj: Obj) -> None:
    if obj.get("completions") is None and obj.get("parallelism") is None:
        obj["completions"] = 1
    if obj.get("parallelism") is None:
        obj["parallelism"] = 1


@rule("rbac/v1.Subject")
def _subject(obj: Obj) -> None:
    if not obj.get("apiGroup") and obj.get("kind") in ("User", "Group"):
        obj["apiGroup"] = "rbac.authorization.k8s.io"


@rule("storage/v1.CSIDriverSpec")
def _csi_driver(obj: Obj) -> None:
    obj.setdefault("volumeLifecycleModes", ["Persistent"])


@rule("networking/v1.NetworkPolicySpec")
def _network_policy(obj: Obj) -> None:
    if not obj.get("policyTypes"):
        obj["policyTypes"] = ["Ingress", "Egress"] if obj.get("egress") else ["Ingress"]


@rule("admissionregistration/v1.RuleWithOperations")
def _webhook_rule(obj: Obj) -> None:
    obj.setdefault("scope", "*")


@rule("autoscaling/v2.HorizontalPodAutoscalerSpec")
def _autoscaler(obj: Obj) -> None:
    if not obj.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        obj["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    for side in ("scaleUp", "scaleDown"):
        rules = (obj.get("behavior") or {}).get(side)
        if rules is not None:
            _scaling_rules(rules, side)
    if obj.get("behavior"):
        for side in ("scaleUp", "scaleDown"):
            if side not in obj["behavior"]:
                _scaling_rules(obj["behavior"].setdefault(side, {}), side)


def _scaling_rules(rules: Obj, side: str) -> None:
    rules.setdefault("selectPolicy", "Max")
    if side == "scaleUp":
        rules.setdefault("stabilizationWindowSeconds", 0)
        rules.setdefault(
            "policies",
            [{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}],
        )
    else:
        rules.setdefault("policies", [{"type": "Percent", "value": 100, "periodSeconds": 15}])


@rule("apiextensions/v1.CustomResourceDefinitionSpec")
def _definition(obj: Obj) -> None:
    names = obj["names"]
    if names.get("kind"):
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", names["kind"] + "List")
    obj.setdefault("conversion", {"strategy": "None"})


@lru_cache(maxsize=2048)
def _reaches(name: str) -> bool:
    return name in _RULES or any(_child_reaches(f.type, {name}) for f in struct(name).fields.values())


def _child_reaches(ref: TypeRef, seen: set[str]) -> bool:
    while ref.elem is not None:
        ref = ref.elem
    if ref.shape != "struct" or ref.struct in seen:
        return False
    seen.add(ref.struct)
    return ref.struct in _RULES or any(_child_reaches(f.type, seen) for f in struct(ref.struct).fields.values())


def apply(kind: Struct, obj: Obj) -> Obj:
    """Fill in defaults in place; the object must be canonical."""
    for item in _RULES.get(kind.name, ()):
        item(obj)
    for name, value in obj.items():
        found = kind.fields.get(name)
        if found is not None and isinstance(value, (dict, list)):
            _descend(found.type, value)
    return obj


def _descend(ref: TypeRef, value: Any) -> None:
    if ref.shape == "struct":
        if isinstance(value, dict) and _reaches(ref.struct):
            apply(struct(ref.struct), value)
    elif ref.elem is not None and ref.elem.shape in ("struct", "list", "map") and value:
        for item in value.values() if isinstance(value, dict) else value:
            _descend(ref.elem, item)
