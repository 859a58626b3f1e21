"""The document of an access entry: made for a caller, for a cluster's creator, and by HyperPod for its own roles."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.world import World


def new_entry(world: World, cluster: str, principal: str, params: dict[str, Any]) -> dict[str, Any]:
    """DescribeAccessEntry's shape plus `policies`; keep it under `<cluster>/<principal>`."""
    account, name = world.account, principal.rpartition("/")[2]
    now = world.clock.time()
    word = "role" if ":role/" in principal else "user"
    path = f"{cluster}/{word}/{account.account_id}/{name}/{world.ids.uuid()}"
    session = f"arn:aws:sts::{account.account_id}:assumed-role/{name}/{{{{SessionName}}}}"
    kind = params.get("type", "STANDARD")
    default = session if word == "role" else principal
    if kind != "STANDARD":
        default = "system:node:{{EC2PrivateDNSName}}"
    return {
        "clusterName": cluster,
        "principalArn": principal,
        "kubernetesGroups": params.get("kubernetesGroups") or [],
        "accessEntryArn": f"arn:aws:eks:{account.region}:{account.account_id}:access-entry/{path}",
        "createdAt": now,
        "modifiedAt": now,
        "tags": params.get("tags") or {},
        "username": params.get("username") or default,
        "type": kind,
        "policies": [],
    }
