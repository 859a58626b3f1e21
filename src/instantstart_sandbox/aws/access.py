"""Who makes a request and of which service: read from the SigV4 credential scope, never checked for a valid signature."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from instantstart_sandbox.aws.messages import WireRequest, WireResponse
from instantstart_sandbox.aws.wire.models import botocore_name
from instantstart_sandbox.world import World

_SCOPE = re.compile(r"Credential=([^/,\s]+)/(\d{8})/(?:([^/,\s]+)/)?([^/,\s]+)/aws4_request")
_TARGETS = {
    "SageMaker": "sagemaker",
    "ServiceQuotasV20190624": "service-quotas",
    "Logs_20140328": "logs",
    "AmazonSSM": "ssm",
    "AWSPriceListService": "pricing",
}
_ACTIONS = {"AssumeRoleWithWebIdentity": "sts", "AssumeRoleWithSAML": "sts", "GetCallerIdentity": "sts"}
KIND = "aws.access_key"


@dataclass(frozen=True)
class Scope:
    """Access key id, region and botocore service name of a request; all may be ""."""

    access_key: str
    region: str
    service: str


def scope_of(headers: dict[str, str], query_string: str, body: bytes) -> Scope:
    """The credential scope of a request, else what can be guessed of an unsigned one."""
    match = _SCOPE.search(headers.get("authorization", ""))
    query = {k.lower(): v[0] for k, v in parse_qs(query_string).items()}
    if match is None and "x-amz-credential" in query:
        match = _SCOPE.search(f"Credential={query['x-amz-credential']}")
    if match is not None:
        key, _date, region, service = match.groups()
        return Scope(key, region or "", botocore_name(service))
    target = headers.get("x-amz-target", "").partition(".")[0]
    if target in _TARGETS:
        return Scope("", "", _TARGETS[target])
    form = parse_qs(body[:2000].decode("utf-8", "replace")) if b"Action=" in body[:2000] else {}
    action = query.get("action") or (form.get("Action") or [""])[0]
    return Scope("", "", _ACTIONS.get(action, ""))


class Access:
    """Access key ids to principals. A key that nobody issued stands for the account's caller."""

    def __init__(self, world: World) -> None:
        self._world = world

    def principal_of(self, access_key: str) -> str:
        """ARN of the principal behind a key (for a role, the session's sts form)."""
        known = self._world.store.get(KIND, access_key)
        if known is not None:
            return str(known["arn"])
        account = self._world.account
        role = account.caller.rpartition("/")[2]
        return f"arn:aws:sts::{account.account_id}:assumed-role/{role}/instantstart"

    def learn(self, request: WireRequest, operation: str, response: WireResponse) -> None:
        """Remember keys that STS or IAM issued in this answer."""
        if response.status != 200 or (request.service, operation.partition("With")[0]) not in (
            ("sts", "AssumeRole"),
            ("iam", "CreateAccessKey"),
        ):
            return
        text = response.body.decode("utf-8", "replace")
        key = re.search(r"<AccessKeyId>([^<]+)<", text)
        arn = re.search(r"<Arn>(arn:aws[^<]+)<", text)
        user = re.search(r"<UserName>([^<]+)<", text)
        found = arn[1] if arn else f"arn:aws:iam::{self._world.account.account_id}:user/{user[1]}" if user else ""
        if key and found:
            self._world.store.put(KIND, key[1], {"arn": found})


def identity_of(world: World, arn: str) -> dict[str, Any]:
    """What GetCallerIdentity answers for a principal."""
    name = arn.rpartition("/")[2]
    user_id = f"AROA{'SANDBOX':0<17}:{name}" if ":assumed-role/" in arn else f"AIDA{'SANDBOX':0<17}"
    return {"UserId": user_id, "Account": world.account.account_id, "Arn": arn}
