"""Mounts of S3 buckets by the Mountpoint CSI driver, version 2: what must be there, and the kubelet's words when it is not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from instantstart_sandbox.controllers.plane import Plane

Obj = dict[str, Any]
DRIVER = "s3.csi.aws.com"
DRIVER_ACCOUNT = ("kube-system", "s3-csi-driver-sa")
_AGENT = "eks-pod-identity-agent"
_ROLE_NOTE = "eks.amazonaws.com/role-arn"


class MountProblem(Exception):  # noqa: N818 - an outcome that the kubelet reports and tries again
    """The mount cannot be made; the text is the message of the FailedMount event."""


@dataclass(frozen=True)
class Bucket:
    """A mounted bucket: what a container may do there and with which role."""

    name: str
    prefix: str
    role: str
    read_only: bool
    may_delete: bool
    may_overwrite: bool


class S3Mounts:
    """Checks one volume for one pod."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.aws = plane, plane.world, plane.aws

    def mount(self, cluster: str, pod: Obj, volume: Obj, mounted: bool = False) -> Bucket:
        """The mounted bucket; of one that is `mounted` already only the identity is worked out. Raises MountProblem."""
        name = volume["metadata"]["name"]
        bucket = (volume["spec"]["csi"].get("volumeAttributes") or {}).get("bucketName", "")
        options = self._options(volume)
        if not mounted:
            self._driver(cluster, pod, volume, bucket, options["region"])
        role = self._role(cluster, pod, volume, bucket, options["region"])
        if not mounted:
            self._reach(pod, name, bucket, role, options)
        return Bucket(
            bucket,
            options["prefix"],
            role,
            "read-only" in options["flags"] or "ReadOnlyMany" in volume["spec"].get("accessModes", []),
            "allow-delete" in options["flags"],
            "allow-overwrite" in options["flags"],
        )

    def _driver(self, cluster: str, pod: Obj, volume: Obj, bucket: str, region: str) -> None:
        """What fails before S3 is asked: no driver on the node, a fault, a volume without a bucket."""
        name = volume["metadata"]["name"]
        if not driver_runs(self.plane, cluster, pod["spec"]["nodeName"], DRIVER):
            raise no_driver(name, DRIVER)
        where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        claim = (volume["spec"].get("claimRef") or {}).get("name", "")
        if self.world.faults.take("mount_failure", "kubernetes", "", f"{where} {claim} {name} {bucket}") is not None:
            raise self._client_error(pod, name, bucket, region, "Client error", "Forbidden: Access Denied")
        if not bucket:
            raise MountProblem(_failed(name, "InvalidArgument", "Bucket name not provided"))

    def _options(self, volume: Obj) -> Obj:
        found: Obj = {"region": self.world.account.region, "prefix": "", "flags": set()}
        for text in volume["spec"].get("mountOptions") or ():
            word, _, value = text.removeprefix("--").replace("=", " ").partition(" ")
            if word in ("region", "prefix"):
                found[word] = value.strip()
            else:
                found["flags"].add(word)
        return found

    def _reach(self, pod: Obj, name: str, bucket: str, role: str, options: Obj) -> None:
        """What the mount itself asks of S3: the bucket, its region, and leave to list it."""
        found, region = self.aws.bucket(bucket), options["region"]
        if found is None:
            raise self._client_error(pod, name, bucket, region, "Service error", "The bucket does not exist")
        if found["region"] != region:
            why = f"Wrong region (expecting {found['region']})"
            raise self._client_error(pod, name, bucket, region, "Client error", why)
        owner = found.get("owner")
        foreign = owner not in (None, "", self.world.account.account_id)
        if foreign or not self.aws.role_can(role, "s3:ListBucket", f"arn:aws:s3:::{bucket}"):
            raise self._client_error(pod, name, bucket, region, "Client error", "Forbidden: Access Denied")

    # identity

    def _role(self, cluster: str, pod: Obj, volume: Obj, bucket: str, region: str) -> str:
        """The role that signs: of the service account's annotation first, else of its pod identity association."""
        attributes = volume["spec"]["csi"].get("volumeAttributes") or {}
        namespace, account = DRIVER_ACCOUNT
        if attributes.get("authenticationSource") == "pod":
            namespace = pod["metadata"]["namespace"]
            account = pod["spec"].get("serviceAccountName") or "default"
        name = volume["metadata"]["name"]
        note = self.plane.kube.get(cluster, "serviceaccounts", namespace, account)
        arn = ((note or {}).get("metadata", {}).get("annotations") or {}).get(_ROLE_NOTE)
        if arn:
            role = self._by_token(cluster, arn, namespace, account)
        else:
            role = self._by_association(cluster, pod["spec"]["nodeName"], namespace, account)
        if role is None:
            why = "No signing credentials available, see CRT debug logs"
            raise self._client_error(pod, name, bucket, region, "Client error", why)
        return role

    def _by_token(self, cluster: str, arn: str, namespace: str, account: str) -> str | None:
        role = self.aws.role(arn)
        eks = self.world.store.get("eks.cluster", cluster) or {}
        issuer = (((eks.get("identity") or {}).get("oidc") or {}).get("issuer") or "").removeprefix("https://")
        if role is None or not role.get("visible", True) or not issuer:
            return None
        provider = f"arn:aws:iam::{self.world.account.account_id}:oidc-provider/{issuer}"
        if self.aws.oidc_provider(provider) is None:
            return None
        subject = f"system:serviceaccount:{namespace}:{account}"
        given = {f"{issuer}:sub": subject, f"{issuer}:aud": "sts.amazonaws.com"}
        trusted = trusts(role["trust"], "Federated", provider, "sts:AssumeRoleWithWebIdentity", given)
        return str(role["name"]) if trusted else None

    def _by_association(self, cluster: str, node: str, namespace: str, account: str) -> str | None:
        if not app_runs(self.plane, cluster, node, _AGENT):
            return None
        for doc in self.world.store.list("eks.pod_identity", f"{cluster}/"):
            if (doc["namespace"], doc["serviceAccount"]) != (namespace, account):
                continue
            role = self.aws.role(doc["roleArn"])
            if role is None or not role.get("visible", True):
                return None
            service = "pods.eks.amazonaws.com"
            both = [trusts(role["trust"], "Service", service, a, {}) for a in ("sts:AssumeRole", "sts:TagSession")]
            return str(role["name"]) if all(both) else None
        return None

    @staticmethod
    def _client_error(pod: Obj, name: str, bucket: str, region: str, kind: str, why: str) -> MountProblem:
        path = f"/var/lib/kubelet/pods/{pod['metadata']['uid']}/volumes/kubernetes.io~csi/{name}/mount"
        mark = hashlib.sha256(f"{pod['spec']['nodeName']}{name}".encode()).hexdigest()[:56]
        text = (
            f'Could not mount "{bucket}" at "{path}": Failed to wait for Mountpoint Pod mp-{mark} to be ready '
            f"for {path}: Mountpoint Pod mp-{mark} failed: Error: Failed to create S3 client\n\nCaused by:\n"
            f"    0: initial ListObjectsV2 failed for bucket {bucket} in region {region}\n    1: {kind}\n    2: {why}\n"
        )
        return MountProblem(_failed(name, "Internal", text))


def no_driver(name: str, driver: str) -> MountProblem:
    """No pod of the driver has registered with the node's kubelet."""
    return MountProblem(
        f'MountVolume.SetUp failed for volume "{name}" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: '
        f"driver name {driver} not found in the list of registered CSI drivers"
    )


def _failed(name: str, code: str, text: str) -> str:
    return f'MountVolume.SetUp failed for volume "{name}" : rpc error: code = {code} desc = {text}'


_DRIVER_IMAGES = {
    DRIVER: "mount-s3",
    "fsx.csi.aws.com": "fsx-csi",
    "ebs.csi.aws.com": "ebs-csi",
    "efs.csi.aws.com": "efs-csi",
}


def driver_runs(plane: Plane, cluster: str, node: str, driver: str) -> bool:
    """Whether a Ready pod of the driver's DaemonSet is on the node."""
    word = _DRIVER_IMAGES.get(driver, driver.partition(".")[0])
    for pod in plane.kube.list(cluster, "pods", fields={"spec.nodeName": node}):
        named = pod["metadata"]["name"].startswith(f"{driver.partition('.')[0]}-csi-node")
        imaged = any(word in c.get("image", "") for c in pod["spec"]["containers"])
        if (named or imaged) and (pod.get("status") or {}).get("phase") == "Running":
            return True
    return False


def app_runs(plane: Plane, cluster: str, node: str, app: str) -> bool:
    """Whether a running pod with this `app.kubernetes.io/name` is on the node."""
    for pod in plane.kube.list(cluster, "pods", fields={"spec.nodeName": node}):
        mine = (pod["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == app
        if mine and (pod.get("status") or {}).get("phase") == "Running":
            return True
    return False


def _texts(value: Any) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else [str(value)] if value is not None else []


def trusts(trust: Obj, kind: str, who: str, action: str, given: dict[str, str]) -> bool:
    """Whether a trust policy lets the principal do the action; `given` are the condition keys of the request."""
    statements = trust.get("Statement") or []
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal")
        named = principal == "*" or (isinstance(principal, dict) and who in _texts(principal.get(kind)))
        actions = _texts(statement.get("Action"))
        acts = any(a in (action, "sts:*", "*") for a in actions)
        if statement.get("Effect") == "Allow" and named and acts and _conditions(statement, given):
            return True
    return False


def _conditions(statement: Obj, given: dict[str, str]) -> bool:
    for operator, wanted in (statement.get("Condition") or {}).items():
        for key, values in wanted.items():
            if key not in given and given == {}:
                continue
            actual = given.get(key, "")
            if operator.startswith("StringEquals") and actual not in _texts(values):
                return False
            if operator.startswith("StringLike") and not any(_like(actual, v) for v in _texts(values)):
                return False
    return True


def _like(text: str, pattern: str) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return text == pattern
    return text.startswith(head) and text.endswith(tail.lstrip("*"))
