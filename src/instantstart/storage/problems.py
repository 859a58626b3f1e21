"""Problems of buckets, claims and their proof."""

from __future__ import annotations

from instantstart.core.problem import define

BUCKET_UNFIT = define(
    "bucket_unfit",
    409,
    "The bucket cannot be used",
    "Name a bucket of this account and region, or none and one is made; then retry.",
)
BUCKET_FOREIGN = define(
    "bucket_foreign",
    409,
    "A bucket of that name belongs to somebody else",
    "Name a bucket of yours, or choose another tag.",
)
CLAIM_FOREIGN = define(
    "claim_foreign",
    409,
    "A volume or claim of that name belongs to somebody else",
    "Choose another name for the claim, or delete that one yourself if nobody needs it.",
)
CLAIM_DIFFERS = define(
    "claim_differs",
    409,
    "The claim mounts another bucket",
    "A volume cannot be pointed at another bucket: choose another name, or delete volume and claim first.",
)
CLAIM_LOST = define(
    "claim_lost", 409, "The claim has lost its volume", "Delete the claim when no pod uses it; then retry."
)
CLAIM_MISSING = define("claim_missing", 409, "The claim is gone", "Create the storage again.")
STORAGE_UNUSABLE = define(
    "storage_unusable",
    502,
    "The mount does not work",
    "Remove the cause named in the detail (driver, role, policy, bucket, region); then retry the stage.",
)
