"""Specs of the storage stages and the objects they make, for the journeys that compose them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from instantstart.addons.plan import addon_objects, storage_addon_specs
from instantstart.addons.rules import STORAGE
from instantstart.core import names
from instantstart.core.plan import PlannedObject, StageSpec
from instantstart.identity.plan import identity_spec
from instantstart.storage.manifests import volume_name
from instantstart.storage.rules import BucketChoice, driver_identity
from instantstart.storage.template import SCRIPT, script_source

REQUEST_BUCKET, AWAIT_BUCKET = "request_bucket", "await_bucket"
REMOVE_STACK, AWAIT_STACK_REMOVED = "remove_bucket_stack", "await_bucket_stack_removed"
LIFECYCLE = "ensure_lifecycle_script"
IDENTITY, CLAIM, VERIFY = "ensure_storage_identity", "ensure_claim", "verify_storage"


def bucket_specs(
    tag: str, choice: BucketChoice, *, needs: Sequence[str] = (), step: str = "hyperpod"
) -> list[StageSpec]:
    """request_bucket, await_bucket. Outputs of the latter: bucket, region, made."""
    params = {"tag": tag, "bucket": choice.name, "made": choice.made}
    return [
        StageSpec(
            name=REQUEST_BUCKET,
            step=step,
            title="Ask for the bucket" if choice.made else "Look at the bucket",
            needs=list(needs),
            definition=REQUEST_BUCKET,
            params=params,
        ),
        StageSpec(
            name=AWAIT_BUCKET,
            step=step,
            title="Bucket",
            needs=[REQUEST_BUCKET],
            definition=AWAIT_BUCKET,
            params=params,
            typical_seconds=30 if choice.made else 2,
            deadline_seconds=20 * 60,
        ),
    ]


def bucket_removal_specs(tag: str, *, step: str = "hyperpod") -> list[StageSpec]:
    """remove_bucket_stack, await_bucket_stack_removed: only for a stack that never came to be."""
    return [
        StageSpec(
            name=REMOVE_STACK,
            step=step,
            title="Ask for the removal of the dead bucket stack",
            definition=REMOVE_STACK,
            params={"tag": tag},
        ),
        StageSpec(
            name=AWAIT_STACK_REMOVED,
            step=step,
            title="The dead bucket stack is gone",
            needs=[REMOVE_STACK],
            definition=AWAIT_STACK_REMOVED,
            params={"tag": tag},
            typical_seconds=15,
        ),
    ]


def lifecycle_spec(tag: str, *, needs: Sequence[str] = (AWAIT_BUCKET,), step: str = "hyperpod") -> StageSpec:
    """ensure_lifecycle_script; outputs source (s3:// folder), script."""
    return StageSpec(
        name=LIFECYCLE,
        step=step,
        title="Lifecycle script",
        needs=list(needs),
        definition=LIFECYCLE,
        params={"tag": tag},
    )


def mount_specs(
    tag: str,
    *,
    eks_cluster: str,
    region: str,
    partition: str,
    claim: str,
    bucket: str,
    buckets: Sequence[str],
    ready: Sequence[str] = (AWAIT_BUCKET,),
    access: Sequence[str] = (),
    nodes: Sequence[str] = (),
    step: str = "storage",
) -> list[StageSpec]:
    """The driver with its rights, volume and claim, and their proof.

    `buckets` are those of every mount of the cluster, this one among them. `ready`, `access`, `nodes` are stages after
    which bucket and EKS cluster, the API server, and the nodes can be used.
    """
    identity = identity_spec(
        IDENTITY,
        tag=tag,
        eks_cluster=eks_cluster,
        identity=driver_identity([bucket, *buckets], partition=partition),
        needs=ready,
        step=step,
        title="Rights of the S3 driver",
    )
    request, wait = storage_addon_specs(tag, eks_cluster=eks_cluster, needs=[IDENTITY, *access], step=step)
    where = {"tag": tag, "eks_cluster": eks_cluster, "claim": claim, "bucket": bucket, "region": region}
    return [
        identity,
        request,
        wait,
        StageSpec(
            name=CLAIM,
            step=step,
            title="Volume and claim",
            needs=list(dict.fromkeys([*ready, *access])),
            definition=CLAIM,
            params=where,
            deadline_seconds=10 * 60,
        ),
        StageSpec(
            name=VERIFY,
            step=step,
            title="Storage is proved",
            needs=[wait.name, CLAIM, *nodes],
            definition=VERIFY,
            params=where,
            typical_seconds=20,
            deadline_seconds=30 * 60,
        ),
    ]


def bucket_objects(tag: str, choice: BucketChoice) -> list[PlannedObject]:
    """The bucket and the script in it, for the plan."""
    script = PlannedObject(
        kind="S3 object", name=f"{script_source(tag, choice.name)}/{SCRIPT}", action="create", where="aws"
    )
    if not choice.made:
        return [PlannedObject(kind="AWS::S3::Bucket", name=choice.name, action="keep", where="aws"), script]
    return [
        PlannedObject(kind="AWS::CloudFormation::Stack", name=names.bucket_stack(tag), action="create", where="aws"),
        PlannedObject(
            kind="AWS::S3::Bucket",
            name=choice.name,
            action="create",
            where="aws",
            detail="Kept for good, also when the cluster is deleted",
        ),
        script,
    ]


def mount_objects(tag: str, *, eks_cluster: str, claim: str, bucket: str, role: str) -> list[PlannedObject]:
    """What a mount consists of, for the plan."""
    return [
        PlannedObject(
            kind="AWS::IAM::Role", name=role, action="create", where="aws", detail=f"S3 driver: bucket {bucket} only"
        ),
        *addon_objects(STORAGE, eks_cluster),
        PlannedObject(kind="PersistentVolume", name=volume_name(claim), action="create", where="kubernetes"),
        PlannedObject(
            kind="PersistentVolumeClaim",
            name=f"{names.CLAIM_NAMESPACE}/{claim}",
            action="create",
            where="kubernetes",
            detail=f"Bucket {bucket}",
        ),
    ]
