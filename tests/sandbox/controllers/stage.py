"""A world with one EKS cluster, an explicit clock, and the AWS side as a few plain dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from instantstart_sandbox.controllers import install
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.world import World

Obj = dict[str, Any]
CLUSTER = "eks-cluster-demo"
CORE = ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent")
POD_TRUST = {
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
    ]
}


class FewFacts:
    """Roles, buckets and objects of the account."""

    def __init__(self) -> None:
        self.roles: dict[str, Obj] = {}
        self.buckets: dict[str, Obj] = {}
        self.objects: dict[tuple[str, str], bytes] = {}
        self.providers: set[str] = set()
        self.written: list[str] = []

    def role(self, arn_or_name: str) -> Obj | None:
        return self.roles.get(arn_or_name.rpartition("/")[2])

    def role_can(self, role_name: str, action: str, resource: str) -> bool:
        allowed: set[str] = self.roles[role_name]["allowed"]
        return action in allowed

    def oidc_provider(self, arn: str) -> Obj | None:
        return {"arn": arn} if arn in self.providers else None

    def bucket(self, name: str) -> Obj | None:
        return self.buckets.get(name)

    def put_object(self, bucket: str, key: str, content: bytes) -> Any:
        self.objects[bucket, key] = content
        self.written.append(key)

    def get_object(self, bucket: str, key: str) -> bytes | None:
        return self.objects.get((bucket, key))

    def delete_object(self, bucket: str, key: str) -> Any:
        self.objects.pop((bucket, key), None)

    def list_objects(self, bucket: str, prefix: str = "") -> list[Any]:
        return [k for b, k in sorted(self.objects) if b == bucket and k.startswith(prefix)]


class Stage:
    """The world, its cluster, and short ways to look and to wait."""

    def __init__(self, state_dir: Path | None = None, addons: tuple[str, ...] = CORE) -> None:
        self.world = World(state_dir, mode="explicit")
        self.kube = KubeApi(self.world)
        self.aws = FewFacts()
        self.controllers = install(self.world, self.kube, self.aws)
        if not self.kube.has_cluster(CLUSTER):
            self.kube.create_cluster(CLUSTER)
            self.hyperpod()
            for addon in addons:
                self.addon(addon)
        self.world.work.drain()

    def hyperpod(self) -> None:
        arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdef123456"
        self.world.store.put("sagemaker.cluster", "hp-cluster-demo", {"ClusterArn": arn})

    def addon(self, name: str, status: str = "CREATING", **more: Any) -> None:
        doc = {"addonName": name, "clusterName": CLUSTER, "status": status, "addonVersion": "v1", **more}
        self.world.store.put("eks.addon", f"{CLUSTER}/{name}", doc)

    def node(self, number: int = 1, instance_type: str = "ml.g5.8xlarge", **more: Any) -> str:
        instance = f"i-{number:017x}"
        doc = {
            "cluster": "hp-cluster-demo", "group": "workers", "instance_id": instance, "logical_id": f"l{number}",
            "instance_type": instance_type, "status": "Running", "message": "", "zone": "us-west-2a",
            "zone_id": "usw2-az1", "subnet_id": "subnet-1", "private_ip": f"10.1.{number // 250}.{number % 250 + 4}",
            "eni_id": "eni-1", "eks_cluster": CLUSTER, "capacity_type": "OnDemand", "image_version": "1",
            "kubernetes_config": {"labels": {}, "taints": []}, "launched": 0.0, "network_interface": {},
            "deep_checks_pending": False, **more,
        }  # fmt: skip
        self.world.store.put("sagemaker.node", f"hp-cluster-demo/{instance}", doc)
        return f"hyperpod-{instance}"

    def wait(self, seconds: float) -> None:
        target = self.world.clock.time() + seconds
        self.world.work.drain()
        self.world.timers.fire_due(target)
        self.world.clock.step_to(target)

    def get(self, resource: str, name: str, namespace: str | None = "default") -> Obj:
        found = self.kube.get(CLUSTER, resource, namespace, name)
        assert found is not None, f"{resource} {namespace}/{name} is not there"
        return found

    def find(self, resource: str, name: str, namespace: str | None = "default") -> Obj | None:
        return self.kube.get(CLUSTER, resource, namespace, name)

    def all(self, resource: str, namespace: str | None = None, labels: Any = None) -> list[Obj]:
        return self.kube.list(CLUSTER, resource, namespace, labels)

    def create(self, resource: str, obj: Obj) -> Obj:
        return self.kube.create(CLUSTER, resource, obj)

    def pod(self, name: str, **spec: Any) -> Obj:
        containers = [{"name": "main", "image": "busybox:1.36"}]
        return self.create("pods", {"metadata": {"name": name}, "spec": {"containers": containers, **spec}})

    def messages(self, name: str, reason: str = "") -> list[str]:
        events = self.all("events")
        return [e["message"] for e in events if e["involvedObject"]["name"] == name and reason in ("", e["reason"])]

    def log(self, pod: str, container: str = "main", namespace: str = "default") -> list[str]:
        return [line.text for line in self.kube.logs.read((CLUSTER, namespace, pod, container))]


def condition(obj: Obj, kind: str) -> Obj:
    return next(c for c in obj["status"]["conditions"] if c["type"] == kind)
