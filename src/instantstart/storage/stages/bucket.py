"""Stages of the bucket and the lifecycle script in it. The bucket's stack is never removed once it stands."""

from __future__ import annotations

from typing import Any

from instantstart.aws import cloudformation, s3
from instantstart.core.names import OWNER_TAG, bucket_stack
from instantstart.network.stacks import (
    CREATE_EFFECT,
    DELETE_EFFECT,
    StackWish,
    await_removed,
    await_stack,
    request_removal,
    request_stack,
)
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage
from instantstart.storage import template
from instantstart.storage.observe import look_at_bucket
from instantstart.storage.plan import (
    AWAIT_BUCKET,
    AWAIT_STACK_REMOVED,
    LIFECYCLE,
    REMOVE_STACK,
    REQUEST_BUCKET,
    bucket_removal_specs,
)
from instantstart.storage.problems import BUCKET_FOREIGN, BUCKET_UNFIT
from instantstart.storage.rules import BucketLook

Doc = dict[str, Any]
_TITLE = "The bucket stack"


@stage(REQUEST_BUCKET, effects=(CREATE_EFFECT,))
async def request_bucket(ctx: StageContext) -> Result:
    """See that the named bucket can be used, or ask for the stack of our own. Outputs: bucket, stack_id."""
    bucket, tag = ctx.params["bucket"], ctx.params["tag"]
    if not ctx.params["made"]:
        _check_named(ctx, await look_at_bucket(ctx.services, bucket))
        return Unchanged({"bucket": bucket, "stack_id": ""})
    wish = _wish(tag)
    if await cloudformation.describe_stack(ctx.services.aws, wish.name) is None:
        look = await look_at_bucket(ctx.services, bucket)
        if look.exists:
            _check_ours(bucket, tag, look)
            return Unchanged({"bucket": bucket, "stack_id": ""}, "The bucket of an earlier cluster is used again.")

    async def make() -> tuple[str, dict[str, str]]:
        return template.bucket_template(tag), {"BucketName": bucket}

    result = await request_stack(ctx, wish, make)
    result.outputs["bucket"] = bucket
    return result


@stage(AWAIT_BUCKET)
async def await_bucket(ctx: StageContext) -> Result:
    """Wait until the bucket can be used. Outputs: bucket, region, made."""
    bucket = ctx.params["bucket"]
    outputs = {"bucket": bucket, "region": ctx.services.aws.region, "made": ctx.params["made"]}
    stack_id = ctx.outputs(REQUEST_BUCKET).get("stack_id")
    if stack_id:
        result = await await_stack(ctx, _wish(ctx.params["tag"]), stack_id)
        if not isinstance(result, Done):
            return result
    look = await look_at_bucket(ctx.services, bucket)
    if not look.exists:
        return Waiting(f"Bucket {bucket} is not to be seen yet.", poll_after=5.0)
    return Done(outputs) if stack_id else Unchanged(outputs)


@stage(LIFECYCLE, effects=("absolute s3:PutObject",))
async def ensure_lifecycle_script(ctx: StageContext) -> Result:
    """The script that HyperPod runs on new nodes is in the bucket. Outputs: source, script."""
    aws, tag = ctx.services.aws, ctx.params["tag"]
    bucket = ctx.outputs(AWAIT_BUCKET)["bucket"]
    key, content = f"{template.script_prefix(tag)}/{template.SCRIPT}", template.script()
    outputs = {"source": template.script_source(tag, bucket), "script": template.SCRIPT}
    if await s3.get_object(aws, bucket, key) == content:
        return Unchanged(outputs)
    account = (await aws.account()).account_id
    await ctx.effect(
        "absolute", "s3:PutObject", f"{bucket}/{key}", lambda: s3.put_object(aws, bucket, key, content, account)
    )
    return Done(outputs)


@stage(REMOVE_STACK, effects=(DELETE_EFFECT,))
async def remove_bucket_stack(ctx: StageContext) -> Result:
    """Remove a bucket stack that never came to be; the bucket itself is kept by its policy."""
    return await request_removal(ctx, bucket_stack(ctx.params["tag"]), ctx.params["tag"], _TITLE)


@stage(AWAIT_STACK_REMOVED)
async def await_bucket_stack_removed(ctx: StageContext) -> Result:
    """Wait until that stack is gone."""
    before = next((n for n in ctx.spec.needs if n.startswith(REMOVE_STACK)), REMOVE_STACK)
    stack_id = str(ctx.outputs(before).get("stack_id", ""))
    return await await_removed(ctx, stack_id, _TITLE, [REMOVE_STACK, AWAIT_STACK_REMOVED])


def _wish(tag: str) -> StackWish:
    removal = tuple(bucket_removal_specs(tag))
    return StackWish(bucket_stack(tag), tag, _TITLE, False, removal, (REQUEST_BUCKET, AWAIT_BUCKET))


def _check_named(ctx: StageContext, look: BucketLook) -> None:
    bucket, region = ctx.params["bucket"], ctx.services.aws.region
    if not look.exists:
        raise BUCKET_UNFIT(f"There is no bucket {bucket} any more.")
    if not look.in_account:
        raise BUCKET_FOREIGN(f"Bucket {bucket} belongs to another account, or may not be read.")
    if look.region != region:
        raise BUCKET_UNFIT(f"Bucket {bucket} is in {look.region}; the cluster is in {region}.")


def _check_ours(bucket: str, tag: str, look: BucketLook) -> None:
    if look.owner != tag:
        raise BUCKET_FOREIGN(f"Bucket {bucket} is there, but does not carry the tag {OWNER_TAG}={tag}.")
