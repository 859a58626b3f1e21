"""What can be asked of storage, and its views."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from instantstart.core.names import CLAIM, CLAIM_NAMESPACE

CLAIM_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
BUCKET_PATTERN = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"


class StorageCreate(BaseModel):
    """Body of s3_storage_create: a bucket, mounted through a claim."""

    model_config = ConfigDict(extra="forbid")

    claim: str = Field(
        default=CLAIM, pattern=CLAIM_PATTERN, max_length=40, description="Name of the claim that pods mount."
    )
    bucket: str | None = Field(
        default=None, pattern=BUCKET_PATTERN, description="Bucket of this region and account; default: the cluster's."
    )


class ClaimView(BaseModel):
    """One S3 mount: volume and claim."""

    claim: str
    namespace: str = CLAIM_NAMESPACE
    volume: str | None = Field(default=None, description="PersistentVolume behind the claim.")
    bucket: str
    region: str | None = None
    phase: str = Field(description="Of the claim, in Kubernetes' words: Bound, Pending, Lost.")
    managed: bool = Field(description="Whether InstantStart made it.")
    proved: bool | None = Field(
        description="Whether an object was written, read and deleted through it; null: not tried."
    )
    proved_at: datetime | None = None
    message: str | None = None


class StorageList(BaseModel):
    """The S3 mounts of one cluster."""

    items: list[ClaimView]
    default_bucket: str = Field(description="What s3_storage_create takes when no bucket is named.")
    default_claim: str = CLAIM
