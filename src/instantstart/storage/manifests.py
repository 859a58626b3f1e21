"""Kubernetes objects of an S3 mount, and of the Job that proves it. Pure; golden files in the tests."""

from __future__ import annotations

from typing import Any

from instantstart.core import names

Doc = dict[str, Any]
DRIVER = "s3.csi.aws.com"
BUCKET_ATTRIBUTE = "bucketName"
PROOF_NOTE = "instantstart.dev/proof"
PROVED_AT_NOTE = "instantstart.dev/proved-at"
MESSAGE_NOTE = "instantstart.dev/proof-message"
JOB_LABEL = "instantstart.dev/proves"
_SIZE = "1200Gi"
"""Kubernetes wants a size; S3 has none."""
_IMAGE = "public.ecr.aws/docker/library/busybox:1.36"
MOUNT = "/s3"
_PROOF = f"""set -e
mkdir -p {MOUNT}/.instantstart
f="{MOUNT}/.instantstart/verify-$HOSTNAME"
echo "proof $HOSTNAME" > "$f"
test "$(cat "$f")" = "proof $HOSTNAME"
rm "$f"
test ! -e "$f"
echo proved
"""
"""Writes, reads and deletes one object. Mountpoint takes whole new files only, so nothing is appended or renamed."""


def volume_name(claim: str) -> str:
    """Name of the volume behind a claim."""
    return f"pv-{claim}"


def volume(tag: str, claim: str, bucket: str, region: str) -> Doc:
    """The static volume of one bucket. Its handle must be unique in the cluster: two volumes with one hang a pod."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume_name(claim), "labels": names.owner_labels(tag)},
        "spec": {
            "capacity": {"storage": _SIZE},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "claimRef": {"namespace": names.CLAIM_NAMESPACE, "name": claim},
            "mountOptions": ["allow-delete", "allow-overwrite", "allow-other", f"region {region}"],
            "csi": {
                "driver": DRIVER,
                "volumeHandle": f"s3-csi-driver-volume-{claim}",
                "volumeAttributes": {BUCKET_ATTRIBUTE: bucket, "authenticationSource": "driver"},
            },
        },
    }


def claim(tag: str, name: str) -> Doc:
    """The claim. An empty storage class keeps a default class from binding it elsewhere."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": names.CLAIM_NAMESPACE, "labels": names.owner_labels(tag)},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": volume_name(name),
            "resources": {"requests": {"storage": _SIZE}},
        },
    }


def proof_job(tag: str, claim_name: str, name: str) -> Doc:
    """A Job that mounts the claim and writes, reads and deletes one object. Root, since the mount is root's."""
    labels = names.owner_labels(tag) | {JOB_LABEL: claim_name}
    container = {
        "name": "proof",
        "image": _IMAGE,
        "command": ["/bin/sh", "-c", _PROOF],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": "s3", "mountPath": MOUNT}],
    }
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [{"name": "s3", "persistentVolumeClaim": {"claimName": claim_name}}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": names.CLAIM_NAMESPACE, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": 3600,
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def proof_notes(result: str, at: str, message: str | None) -> Doc:
    """A merge patch that writes the result of a proof onto the claim; None removes a note."""
    notes = {PROOF_NOTE: result, PROVED_AT_NOTE: at if result == "proved" else None, MESSAGE_NOTE: message}
    return {"metadata": {"annotations": notes}}


def region_of(volume: Doc) -> str | None:
    """The region among a volume's mount options."""
    for option in volume["spec"].get("mountOptions") or []:
        word, _, value = str(option).removeprefix("--").replace("=", " ").partition(" ")
        if word == "region":
            return value.strip()
    return None
