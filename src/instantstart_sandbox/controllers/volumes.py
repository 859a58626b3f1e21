"""A pod's volumes at its start: what must exist, what is mounted where, and the kubelet's words when something is missing."""

from __future__ import annotations

import base64
from typing import Any

from instantstart_sandbox.controllers.plane import Plane
from instantstart_sandbox.controllers.s3_mount import DRIVER, Bucket, MountProblem, S3Mounts, driver_runs, no_driver
from instantstart_sandbox.workloads.files import BucketFolder, Files, Folder, LocalFolder

Obj = dict[str, Any]


def _missing(volume: str, kind: str, name: str) -> MountProblem:
    return MountProblem(f'MountVolume.SetUp failed for volume "{volume}" : {kind} "{name}" not found')


class Volumes:
    """Checks and mounts the volumes of pods."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.kube = plane, plane.kube
        self._s3 = S3Mounts(plane)

    @staticmethod
    def plain(pod: Obj) -> bool:
        """Whether nothing of the pod's volumes can be missing."""
        held = ("persistentVolumeClaim", "configMap", "secret", "csi")
        return not any(kind in v for v in pod["spec"].get("volumes") or () for kind in held)

    def mount(self, cluster: str, pod: Obj, mounted: bool = False) -> dict[str, Bucket]:
        """Mounted buckets by volume name; `mounted` when they stand already and only their identity is asked for.

        Raises MountProblem for the first volume that cannot be set up.
        """
        found: dict[str, Bucket] = {}
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            name = volume["name"]
            if "configMap" in volume:
                self._need(cluster, namespace, name, "configmap", volume["configMap"], "name")
            elif "secret" in volume:
                self._need(cluster, namespace, name, "secret", volume["secret"], "secretName")
            elif "persistentVolumeClaim" in volume:
                bucket = self._claim(cluster, pod, volume["persistentVolumeClaim"]["claimName"], mounted)
                if bucket is not None:
                    found[name] = bucket
        return found

    def _need(self, cluster: str, namespace: str, volume: str, kind: str, source: Obj, field: str) -> None:
        name = source.get(field, "")
        if not source.get("optional") and self.kube.get(cluster, f"{kind}s", namespace, name) is None:
            raise _missing(volume, kind, name)

    def _claim(self, cluster: str, pod: Obj, name: str, mounted: bool) -> Bucket | None:
        namespace = pod["metadata"]["namespace"]
        claim = self.kube.get(cluster, "persistentvolumeclaims", namespace, name)
        if claim is None:
            raise MountProblem(f'Unable to attach or mount volumes: persistentvolumeclaim "{name}" not found')
        volume = self.kube.get(cluster, "persistentvolumes", None, claim["spec"].get("volumeName", ""))
        if volume is None or (claim.get("status") or {}).get("phase") != "Bound":
            raise MountProblem(
                f"Unable to attach or mount volumes: error processing PVC {namespace}/{name}: PVC is not bound"
            )
        csi = volume["spec"].get("csi")
        if csi is None:
            return None
        if csi["driver"] == DRIVER:
            return self._s3.mount(cluster, pod, volume, mounted)
        if not driver_runs(self.plane, cluster, pod["spec"]["nodeName"], csi["driver"]):
            raise no_driver(volume["metadata"]["name"], csi["driver"])
        return None

    def files(self, cluster: str, pod: Obj, container: Obj, buckets: dict[str, Bucket]) -> Files:
        """What a container finds under its mount paths."""
        sources = {v["name"]: v for v in pod["spec"].get("volumes") or ()}
        mounts: dict[str, Folder] = {}
        for item in container.get("volumeMounts") or ():
            source = sources.get(item["name"]) or {}
            read_only = bool(item.get("readOnly"))
            if item["name"] in buckets:
                sub = (item.get("subPath") or "").strip("/")
                bucket = buckets[item["name"]]
                if sub:
                    bucket = Bucket(**{**bucket.__dict__, "prefix": f"{bucket.prefix}{sub}/"})
                mounts[item["mountPath"]] = BucketFolder(self.plane.aws, bucket, read_only)
            else:
                mounts[item["mountPath"]] = LocalFolder(self._content(cluster, pod, source), read_only)
        return Files(mounts)

    def _content(self, cluster: str, pod: Obj, source: Obj) -> dict[str, str]:
        namespace = pod["metadata"]["namespace"]
        if "configMap" in source:
            found = self.kube.get(cluster, "configmaps", namespace, source["configMap"].get("name", "")) or {}
            return {"/" + k: v.encode().decode("latin-1") for k, v in (found.get("data") or {}).items()}
        if "secret" in source:
            found = self.kube.get(cluster, "secrets", namespace, source["secret"].get("secretName", "")) or {}
            return {"/" + k: base64.b64decode(v).decode("latin-1") for k, v in (found.get("data") or {}).items()}
        return {}

    # environment

    def environment(self, cluster: str, pod: Obj, container: Obj) -> tuple[dict[str, str], str | None]:
        """The container's variables, and what is missing for them (the message of CreateContainerConfigError)."""
        namespace, found = pod["metadata"]["namespace"], {"HOSTNAME": pod["metadata"]["name"]}
        for source in container.get("envFrom") or ():
            for field, kind in (("configMapRef", "configmap"), ("secretRef", "secret")):
                if field in source:
                    got = self.kube.get(cluster, f"{kind}s", namespace, source[field]["name"])
                    if got is None and not source[field].get("optional"):
                        return found, f'{kind} "{source[field]["name"]}" not found'
                    prefix = source.get("prefix", "")
                    found |= {prefix + k: _decoded(kind, v) for k, v in ((got or {}).get("data") or {}).items()}
        for item in container.get("env") or ():
            value, missing = self._value(cluster, pod, item)
            if missing:
                return found, missing
            if value is not None:
                found[item["name"]] = value
        return found, None

    def _value(self, cluster: str, pod: Obj, item: Obj) -> tuple[str | None, str | None]:
        source = item.get("valueFrom")
        if source is None:
            return item.get("value", ""), None
        for field, kind in (("configMapKeyRef", "configmap"), ("secretKeyRef", "secret")):
            if field not in source:
                continue
            ref, namespace = source[field], pod["metadata"]["namespace"]
            got = self.kube.get(cluster, f"{kind}s", namespace, ref["name"])
            value = ((got or {}).get("data") or {}).get(ref["key"])
            if value is not None:
                return _decoded(kind, value), None
            if ref.get("optional"):
                return None, None
            if got is None:
                return None, f'{kind} "{ref["name"]}" not found'
            word = "Secret" if kind == "secret" else "ConfigMap"
            return None, f"couldn't find key {ref['key']} in {word} {namespace}/{ref['name']}"
        return _field(pod, (source.get("fieldRef") or {}).get("fieldPath", "")), None


def _decoded(kind: str, value: str) -> str:
    return base64.b64decode(value).decode(errors="replace") if kind == "secret" else value


def _field(pod: Obj, path: str) -> str:
    name, bracket, key = path.partition("['")
    value: Any = pod
    for part in name.split("."):
        value = (value or {}).get(part) if isinstance(value, dict) else None
    if bracket:
        value = (value or {}).get(key.removesuffix("']"))
    return "" if value is None else str(value)
