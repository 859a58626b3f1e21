"""S3: buckets and the few objects the product writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instantstart.aws.absent import maybe
from instantstart.aws.clients import AwsClients
from instantstart.aws.errors import AwsProblem

Doc = dict[str, Any]


@dataclass(frozen=True)
class BucketFacts:
    """What HeadBucket tells. `region` is None where the answer does not say; `ours` is False for other owners."""

    name: str
    region: str | None
    ours: bool


async def bucket(aws: AwsClients, name: str, account_id: str) -> BucketFacts | None:
    """The bucket, or None when nobody has that name. A bucket of another owner is there, but not ours."""
    try:
        answer = await maybe(aws, "s3", "head_bucket", Bucket=name, ExpectedBucketOwner=account_id)
    except AwsProblem as error:
        status = error.aws_code
        if status in ("403", "AccessDenied", "Forbidden"):
            return BucketFacts(name, None, ours=False)
        if status in ("301", "400", "PermanentRedirect", "BadRequest"):
            return BucketFacts(name, "another region", ours=True)
        raise
    if answer is None:
        return None
    headers = answer["ResponseMetadata"].get("HTTPHeaders", {})
    return BucketFacts(name, answer.get("BucketRegion") or headers.get("x-amz-bucket-region"), ours=True)


async def get_object(aws: AwsClients, bucket_name: str, key: str) -> bytes | None:
    """The object's bytes, or None."""
    answer = await maybe(aws, "s3", "get_object", Bucket=bucket_name, Key=key)
    return bytes(answer["Body"]) if answer else None


async def put_object(aws: AwsClients, bucket_name: str, key: str, body: bytes, account_id: str) -> Doc:
    """PutObject: declares the object's content, in our own bucket only."""
    return await aws.call("s3", "put_object", Bucket=bucket_name, Key=key, Body=body, ExpectedBucketOwner=account_id)


async def bucket_tags(aws: AwsClients, name: str) -> dict[str, str]:
    """Tags of the bucket; {} when it has none."""
    answer = await maybe(aws, "s3", "get_bucket_tagging", Bucket=name)
    return {t["Key"]: t["Value"] for t in answer["TagSet"]} if answer else {}
