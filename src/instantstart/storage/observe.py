"""Reads buckets and the S3 mounts of a cluster."""

from __future__ import annotations

import asyncio

from instantstart.aws import s3
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import OWNER_TAG
from instantstart.operations.services import Services
from instantstart.storage import rules
from instantstart.storage.rules import BucketLook
from instantstart.storage.schema import ClaimView


async def look_at_bucket(services: Services, name: str) -> BucketLook:
    """What S3 says of a bucket now. Raises AwsProblem."""
    aws = services.aws
    found = await s3.bucket(aws, name, (await aws.account()).account_id)
    if found is None:
        return BucketLook(exists=False)
    if not found.ours:
        return BucketLook(exists=True, in_account=False)
    owner = None
    if found.region == aws.region:
        try:
            owner = (await s3.bucket_tags(aws, name)).get(OWNER_TAG)
        except AwsProblem as error:
            if error.aws_code not in ("NoSuchTagSet", "AccessDenied"):
                raise
    return BucketLook(exists=True, region=found.region, owner=owner)


async def observe(services: Services, eks_cluster: str) -> list[ClaimView]:
    """The S3 mounts of a cluster. Raises KubeProblem."""
    kube = await services.kube.get(eks_cluster)
    volumes, claims = await asyncio.gather(kube.list("persistentvolumes"), kube.list("persistentvolumeclaims"))
    return rules.claims(volumes, claims)
