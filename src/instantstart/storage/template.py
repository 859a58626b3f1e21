"""The stack of a cluster's bucket, which outlives the cluster, and the lifecycle script of its nodes. Pure."""

from __future__ import annotations

import json

from instantstart.core.names import OWNER_TAG

SCRIPT = "on_create.sh"
_CONTENT = """#!/bin/bash
# Runs once on each new HyperPod node. HyperPod wants a script; the nodes need nothing from it.
set -euo pipefail
echo "instantstart: lifecycle script on $(hostname) at $(date -u +%FT%TZ)"
"""


def bucket_template(tag: str, *, compact: bool = False) -> str:
    """CloudFormation template as JSON text. The bucket is kept when the stack goes: what is in it is the user's."""
    properties = {
        "BucketName": {"Ref": "BucketName"},
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
        },
        "PublicAccessBlockConfiguration": {
            "BlockPublicAcls": True,
            "BlockPublicPolicy": True,
            "IgnorePublicAcls": True,
            "RestrictPublicBuckets": True,
        },
        "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        "Tags": [{"Key": OWNER_TAG, "Value": tag}],
    }
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"InstantStart {tag}: the cluster's bucket. Kept when the cluster is deleted.",
        "Parameters": {"BucketName": {"Type": "String"}},
        "Resources": {
            "Bucket": {
                "Type": "AWS::S3::Bucket",
                "DeletionPolicy": "RetainExceptOnCreate",
                "UpdateReplacePolicy": "Retain",
                "Properties": properties,
            }
        },
        "Outputs": {"Bucket": {"Value": {"Ref": "Bucket"}}},
    }
    return json.dumps(document, separators=(",", ":")) if compact else json.dumps(document, indent=1, sort_keys=True)


def script() -> bytes:
    """The lifecycle script's content."""
    return _CONTENT.encode()


def script_prefix(tag: str) -> str:
    """Folder of the lifecycle script in the bucket."""
    return f"instantstart/{tag}/lifecycle"


def script_source(tag: str, bucket: str) -> str:
    """The folder as SourceS3Uri."""
    return f"s3://{bucket}/{script_prefix(tag)}"
