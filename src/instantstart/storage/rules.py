"""Which bucket, what speaks against it, and whether what stands in a cluster is the mount that is asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from instantstart.core import names
from instantstart.core.plan import Finding, Severity
from instantstart.identity.rules import Identity, s3_csi_identity
from instantstart.storage.manifests import (
    BUCKET_ATTRIBUTE,
    DRIVER,
    MESSAGE_NOTE,
    PROOF_NOTE,
    PROVED_AT_NOTE,
    region_of,
)
from instantstart.storage.schema import ClaimView

Doc = dict[str, Any]
COVERED = "sagemaker-"
"""The managed instance policy reads only buckets whose name begins with this."""


@dataclass(frozen=True)
class BucketChoice:
    """The bucket of a cluster. `made` says that we make it, in a stack of its own that is kept for good."""

    name: str
    made: bool

    @property
    def needs_rights(self) -> bool:
        """Whether the nodes' role needs two S3 actions of its own for it."""
        return not self.name.startswith(COVERED)


@dataclass(frozen=True)
class BucketLook:
    """What S3 says of a bucket; `ours` is None when it was not read."""

    exists: bool
    in_account: bool = True
    region: str | None = None
    owner: str | None = None
    """Value of our tag."""


def choose(tag: str, named: str | None, *, account: str, region: str) -> BucketChoice:
    """The named bucket, else the one that is made for the tag."""
    own = names.bucket(tag, account, region)
    return BucketChoice(own, True) if named is None or named == own else BucketChoice(named, False)


def findings(choice: BucketChoice, look: BucketLook, *, tag: str, region: str) -> list[Finding]:
    """What speaks against the bucket, or is worth knowing."""
    name = choice.name
    if choice.made:
        if look.exists and look.owner != tag:
            detail = f"A bucket named {name} exists that InstantStart did not make for this tag."
            return [_finding("tag_in_use", detail, "Choose another tag, or name a bucket.", "/tag")]
        return []
    if not look.exists:
        detail = f"There is no bucket {name}."
        return [_finding("bucket_not_found", detail, "Name a bucket that exists, or none and one is made.")]
    if not look.in_account:
        detail = f"Bucket {name} belongs to another account, or may not be read."
        return [_finding("bucket_foreign", detail, "Name a bucket of this account, or none and one is made.")]
    if look.region != region:
        detail = f"Bucket {name} is in {look.region or 'another region'}; the cluster is in {region}."
        return [_finding("bucket_wrong_region", detail, f"Name a bucket in {region}, or none and one is made.")]
    if choice.needs_rights:
        detail = f"{name} does not begin with {COVERED}: the nodes' role gets s3:ListBucket and s3:GetObject on it."
        return [_finding("bucket_needs_rights", detail, "Nothing, if that may be.", severity="warning")]
    return []


def _finding(
    code: str, detail: str, remedy: str, field: str = "/bucket", *, severity: Severity = "blocking"
) -> Finding:
    return Finding(code=code, severity=severity, title=_TITLES[code], detail=detail, remedy=remedy, field=field)


_TITLES = {
    "tag_in_use": "The tag is taken by something else",
    "bucket_not_found": "There is no such bucket",
    "bucket_foreign": "The bucket belongs to somebody else",
    "bucket_wrong_region": "The bucket is in another region",
    "bucket_needs_rights": "The bucket needs rights of its own",
}


def driver_identity(buckets: list[str], *, partition: str = "aws") -> Identity:
    """What the S3 CSI driver may do: the buckets of the cluster's mounts, nothing else."""
    each = [s3_csi_identity(b, partition=partition) for b in sorted(set(buckets))]
    if len(each) == 1:
        return each[0]
    statements = [
        {**s, "Resource": [e.statements[i]["Resource"] for e in each]} for i, s in enumerate(each[0].statements)
    ]
    return each[0].model_copy(update={"statements": statements})


def is_ours(obj: Doc) -> bool:
    """Whether the product made a Kubernetes object."""
    return (obj["metadata"].get("labels") or {}).get(names.MANAGED_BY) == names.FIELD_MANAGER


def bucket_of(volume: Doc | None) -> str | None:
    """The bucket that a volume mounts; None when it is no S3 mount."""
    csi = ((volume or {}).get("spec") or {}).get("csi") or {}
    if csi.get("driver") != DRIVER:
        return None
    return str((csi.get("volumeAttributes") or {}).get(BUCKET_ATTRIBUTE) or "")


def phase(obj: Doc | None) -> str:
    """A volume's or claim's phase."""
    return str(((obj or {}).get("status") or {}).get("phase") or "Pending")


def claims(volumes: list[Doc], found: list[Doc]) -> list[ClaimView]:
    """The S3 mounts of a cluster: every volume of the driver, with the claim that is bound to it."""
    by_volume = {(c.get("spec") or {}).get("volumeName"): c for c in found}
    return [_claim(v, by_volume.get(v["metadata"]["name"])) for v in volumes if bucket_of(v) is not None]


def _claim(volume: Doc, claim: Doc | None) -> ClaimView:
    wanted = volume["spec"].get("claimRef") or {}
    notes = (claim["metadata"].get("annotations") or {}) if claim else {}
    proof = notes.get(PROOF_NOTE)
    return ClaimView(
        claim=claim["metadata"]["name"] if claim else wanted.get("name") or "",
        namespace=claim["metadata"]["namespace"] if claim else wanted.get("namespace") or "",
        volume=volume["metadata"]["name"],
        bucket=bucket_of(volume) or "",
        region=region_of(volume),
        phase=phase(claim) if claim else "Missing",
        managed=is_ours(volume),
        proved=None if proof is None else proof == "proved",
        proved_at=_moment(notes.get(PROVED_AT_NOTE)),
        message=notes.get(MESSAGE_NOTE) or (None if claim else "The claim is not there."),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


Verdict = Literal["running", "proved", "failed"]


def verdict(job: Doc) -> tuple[Verdict, str]:
    """How the proving Job stands, and the Job controller's words when it failed."""
    for condition in (job.get("status") or {}).get("conditions") or []:
        if condition.get("status") != "True":
            continue
        if condition.get("type") == "Complete":
            return "proved", ""
        if condition.get("type") == "Failed":
            return "failed", str(condition.get("message") or condition.get("reason") or "")
    return "running", ""


def newest_fault(events: list[Doc]) -> str | None:
    """The newest warning of a pod's or Job's events that says why it does not run."""
    telling = ("FailedMount", "FailedAttachVolume", "FailedScheduling", "Failed", "FailedCreate", "BackOff")
    warnings = [e for e in events if e.get("type") == "Warning" and e.get("reason") in telling]
    if not warnings:
        return None
    newest = max(warnings, key=lambda e: str(e.get("lastTimestamp") or e.get("eventTime") or ""))
    return " ".join(str(newest.get("message") or "").split())


def exit_of(pod: Doc) -> tuple[int, str] | None:
    """Exit code and message of the pod's container; None while it has not ended."""
    for status in (pod.get("status") or {}).get("containerStatuses") or []:
        ended = (status.get("state") or {}).get("terminated")
        if ended:
            return int(ended.get("exitCode", 0)), str(ended.get("message") or "").strip()
    return None
