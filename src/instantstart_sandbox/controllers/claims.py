"""PersistentVolumeClaims and PersistentVolumes: static binding, phases, protection. Nothing is provisioned by itself."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.amounts import amount
from instantstart_sandbox.controllers.plane import Plane, join, split
from instantstart_sandbox.kube.selectors import label_match, parse_label_selector

Obj = dict[str, Any]
CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"
_COMPLETED, _BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"
_CLAIM_MARK, _VOLUME_MARK = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


class Binder:
    """Joins claims and volumes."""

    component = "persistentvolume-controller"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.claim", self._claim)
        self.world.work.on("kube.volume", self._volume)

    def claim_changed(self, cluster: str, event: str, claim: Obj, old: Obj | None) -> None:
        """Look at the claim; when it goes, at its volume."""
        if event != "DELETED":
            self.world.work.enqueue("kube.claim", join(cluster, claim))
        volume = claim["spec"].get("volumeName")
        if volume:
            self.world.work.enqueue("kube.volume", f"{cluster}/-/{volume}")

    def volume_changed(self, cluster: str, event: str, volume: Obj, old: Obj | None) -> None:
        """Look at the volume, and at claims that may want it."""
        if event != "DELETED":
            self.world.work.enqueue("kube.volume", join(cluster, volume))
        for claim in self.kube.list(cluster, CLAIMS):
            if (claim.get("status") or {}).get("phase") != "Bound" or claim["spec"].get("volumeName") == _name(volume):
                self.world.work.enqueue("kube.claim", join(cluster, claim))

    def pod_changed(self, cluster: str, pod: Obj) -> None:
        """A pod ended or went: a claim may be free to go."""
        for volume in pod["spec"].get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                name = volume["persistentVolumeClaim"]["claimName"]
                self.world.work.enqueue("kube.claim", f"{cluster}/{pod['metadata']['namespace']}/{name}")

    # claims

    def _claim(self, key: str) -> None:
        cluster, namespace, name = split(key)
        claim = self.kube.get(cluster, CLAIMS, namespace, name)
        if claim is None:
            return
        if "deletionTimestamp" in claim["metadata"]:
            users = self.plane.index.of(cluster).claims.get((namespace, name))
            if not users and _CLAIM_MARK in (claim["metadata"].get("finalizers") or []):
                self.kube.finalize(cluster, CLAIMS, namespace, name, _CLAIM_MARK)
            return
        if (claim.get("status") or {}).get("phase") == "Bound":
            self._still_bound(cluster, claim)
            return
        volume = self._match(cluster, claim)
        if volume is None:
            self._unbound(cluster, claim)
            return
        self._bind(cluster, claim, volume)

    def _still_bound(self, cluster: str, claim: Obj) -> None:
        if self.kube.get(cluster, VOLUMES, None, claim["spec"].get("volumeName", "")) is None:
            self.plane.status(cluster, CLAIMS, claim, {**claim["status"], "phase": "Lost"})
            text = "Bound claim has lost its PersistentVolume. Any data on the volume is lost!"
            self.plane.event(cluster, claim, "ClaimLost", text, warning=True, component=self.component)

    def _unbound(self, cluster: str, claim: Obj) -> None:
        spec = claim["spec"]
        if spec.get("volumeName"):
            return
        label = spec.get("storageClassName")
        found = self.kube.get(cluster, CLASSES, None, label) if label else None
        if found is not None:
            if found.get("volumeBindingMode") == "WaitForFirstConsumer":
                reason, text = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
            else:
                who = found["provisioner"]
                reason = "ExternalProvisioning"
                text = (
                    f"Waiting for a volume to be created either by the external provisioner '{who}' or manually by the "
                    "system administrator. If volume creation is delayed, please verify that the provisioner is "
                    "running and correctly registered."
                )
            self.plane.event(cluster, claim, reason, text, component=self.component)
        elif label:
            text = f'storageclass.storage.k8s.io "{label}" not found'
            self.plane.event(cluster, claim, "ProvisioningFailed", text, warning=True, component=self.component)
        else:
            text = "no persistent volumes available for this claim and no storage class is set"
            self.plane.event(cluster, claim, "FailedBinding", text, component=self.component)

    def _match(self, cluster: str, claim: Obj) -> Obj | None:
        wanted = claim["spec"].get("volumeName")
        if wanted:
            volume = self.kube.get(cluster, VOLUMES, None, wanted)
            if volume is None or not self._fits(claim, volume, named=True):
                self._tell_mismatch(cluster, claim, volume)
                return None
            return volume
        fitting = [v for v in self.kube.list(cluster, VOLUMES) if self._fits(claim, v, named=False)]
        mine = [v for v in fitting if v["spec"].get("claimRef")]
        ordered = sorted(mine or fitting, key=lambda v: (_size(v["spec"].get("capacity")), _name(v)))
        return ordered[0] if ordered else None

    def _tell_mismatch(self, cluster: str, claim: Obj, volume: Obj | None) -> None:
        if volume is None:
            return
        ref = volume["spec"].get("claimRef")
        if ref and not _refers(ref, claim):
            text = f'volume "{_name(volume)}" already bound to a different claim.'
            self.plane.event(cluster, claim, "FailedBinding", text, warning=True, component=self.component)
            return
        why = _mismatch(claim, volume)
        if why:
            text = f'Cannot bind to requested volume "{_name(volume)}": {why}'
            self.plane.event(cluster, claim, "VolumeMismatch", text, warning=True, component=self.component)

    @staticmethod
    def _fits(claim: Obj, volume: Obj, named: bool) -> bool:
        if "deletionTimestamp" in volume["metadata"] or _mismatch(claim, volume):
            return False
        ref = volume["spec"].get("claimRef")
        if ref:
            return _refers(ref, claim)
        selector = claim["spec"].get("selector")
        if selector and not label_match(parse_label_selector(selector))(volume):
            return False
        phase = (volume.get("status") or {}).get("phase")
        return named or phase in ("Available", "Pending")

    def _bind(self, cluster: str, claim: Obj, volume: Obj) -> None:
        meta, by_us = claim["metadata"], not volume["spec"].get("claimRef")
        reference = self.plane.reference(claim)
        notes = dict(volume["metadata"].get("annotations") or {})
        if by_us:
            notes[_BY_CONTROLLER] = "yes"
        new = {
            **volume,
            "metadata": {**volume["metadata"], **({"annotations": notes} if notes else {})},
            "spec": {**volume["spec"], "claimRef": reference},
            "status": {"phase": "Bound", "lastPhaseTransitionTime": self.plane.now()},
        }
        if not _refers_exactly(volume["spec"].get("claimRef"), claim) or volume["status"].get("phase") != "Bound":
            self.plane.write(cluster, VOLUMES, new, volume)
        marks = {**(meta.get("annotations") or {}), _COMPLETED: "yes"}
        if not claim["spec"].get("volumeName"):
            marks[_BY_CONTROLLER] = "yes"
        bound = {
            **claim,
            "metadata": {**meta, "annotations": marks},
            "spec": {**claim["spec"], "volumeName": _name(volume)},
            "status": {
                "phase": "Bound",
                "accessModes": volume["spec"]["accessModes"],
                "capacity": volume["spec"]["capacity"],
            },
        }
        self.plane.write(cluster, CLAIMS, bound, claim)

    # volumes

    def _volume(self, key: str) -> None:
        cluster, _, name = split(key)
        volume = self.kube.get(cluster, VOLUMES, None, name)
        if volume is None:
            return
        ref = volume["spec"].get("claimRef")
        claim = self.kube.get(cluster, CLAIMS, ref["namespace"], ref["name"]) if ref else None
        if claim is not None and ref.get("uid") and claim["metadata"]["uid"] != ref["uid"]:
            claim = None
        phase = (volume.get("status") or {}).get("phase", "Pending")
        if ref is None or not ref.get("uid"):
            wanted = "Available" if phase != "Bound" else phase
        elif claim is not None:
            wanted = "Bound"
        else:
            wanted = "Released"
        if wanted == "Released" and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            self.kube.delete(cluster, VOLUMES, None, name)
            volume = self.kube.get(cluster, VOLUMES, None, name) or volume
        if wanted != phase:
            status = {"phase": wanted, "lastPhaseTransitionTime": self.plane.now()}
            volume = self.plane.status(cluster, VOLUMES, volume, status)
        if "deletionTimestamp" in volume["metadata"] and wanted != "Bound":
            self.kube.finalize(cluster, VOLUMES, None, name, _VOLUME_MARK)


def _name(obj: Obj) -> str:
    return str(obj["metadata"]["name"])


def _size(capacity: Obj | None) -> int:
    return amount("storage", str((capacity or {}).get("storage", "0")))


def _mismatch(claim: Obj, volume: Obj) -> str:
    """Why the volume does not serve the claim; '' when it does."""
    spec, offered = claim["spec"], volume["spec"]
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if _size(offered.get("capacity")) < amount("storage", str(asked)):
        return "requested PV is too small"
    if (spec.get("storageClassName") or "") != (offered.get("storageClassName") or ""):
        return "storageClassName does not match"
    if spec.get("volumeMode", "Filesystem") != offered.get("volumeMode", "Filesystem"):
        return "incompatible volumeMode"
    if not set(spec.get("accessModes") or []) <= set(offered.get("accessModes") or []):
        return "incompatible accessMode"
    return ""


def _refers(ref: Obj, claim: Obj) -> bool:
    meta = claim["metadata"]
    named = ref.get("namespace") == meta["namespace"] and ref.get("name") == meta["name"]
    return named and ref.get("uid") in (None, "", meta["uid"])


def _refers_exactly(ref: Obj | None, claim: Obj) -> bool:
    return ref is not None and ref.get("uid") == claim["metadata"]["uid"]
