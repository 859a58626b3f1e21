"""IAM: roles with their policies, OIDC providers. What IAM changes is seen elsewhere only some seconds later."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from instantstart.aws.absent import gone, maybe, tag_list
from instantstart.aws.clients import AwsClients

Doc = dict[str, Any]


async def role(aws: AwsClients, name: str) -> Doc | None:
    """The role with its trust policy as data, or None."""
    answer = await maybe(aws, "iam", "get_role", RoleName=name)
    return answer["Role"] | {"AssumeRolePolicyDocument": _document(answer["Role"])} if answer else None


async def create_role(aws: AwsClients, name: str, trust: Doc, tags: dict[str, str], description: str = "") -> Doc:
    """CreateRole; its name makes it repeatable."""
    return await aws.call(
        "iam",
        "create_role",
        RoleName=name,
        AssumeRolePolicyDocument=json.dumps(trust),
        Tags=tag_list(tags),
        Description=description,
    )


async def set_trust(aws: AwsClients, name: str, trust: Doc) -> Doc:
    """UpdateAssumeRolePolicy."""
    return await aws.call("iam", "update_assume_role_policy", RoleName=name, PolicyDocument=json.dumps(trust))


async def role_policy(aws: AwsClients, role_name: str, policy: str) -> Doc | None:
    """An inline policy of the role as data, or None."""
    answer = await maybe(aws, "iam", "get_role_policy", RoleName=role_name, PolicyName=policy)
    return _parsed(answer["PolicyDocument"]) if answer else None


async def put_role_policy(aws: AwsClients, role_name: str, policy: str, document: Doc) -> Doc:
    """PutRolePolicy: declares the inline policy."""
    return await aws.call(
        "iam", "put_role_policy", RoleName=role_name, PolicyName=policy, PolicyDocument=json.dumps(document)
    )


async def inline_policies(aws: AwsClients, role_name: str) -> list[str]:
    """Names of the role's inline policies."""
    return [str(p) for p in await aws.pages("iam", "list_role_policies", "PolicyNames", RoleName=role_name)]


async def attached_policies(aws: AwsClients, role_name: str) -> list[str]:
    """ARNs of the role's managed policies."""
    found = await aws.pages("iam", "list_attached_role_policies", "AttachedPolicies", RoleName=role_name)
    return [p["PolicyArn"] for p in found]


async def attach_policy(aws: AwsClients, role_name: str, policy_arn: str) -> Doc:
    """AttachRolePolicy; repeatable."""
    return await aws.call("iam", "attach_role_policy", RoleName=role_name, PolicyArn=policy_arn)


async def detach_policy(aws: AwsClients, role_name: str, policy_arn: str) -> Doc:
    """DetachRolePolicy; {} when gone already."""
    return await gone(aws, "iam", "detach_role_policy", RoleName=role_name, PolicyArn=policy_arn)


async def delete_role_policy(aws: AwsClients, role_name: str, policy: str) -> Doc:
    """DeleteRolePolicy; {} when gone already."""
    return await gone(aws, "iam", "delete_role_policy", RoleName=role_name, PolicyName=policy)


async def delete_role(aws: AwsClients, name: str) -> Doc:
    """DeleteRole; {} when gone already."""
    return await gone(aws, "iam", "delete_role", RoleName=name)


async def oidc_provider(aws: AwsClients, arn: str) -> Doc | None:
    """The OIDC provider (Url, ClientIDList, Tags), or None."""
    return await maybe(aws, "iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn)


async def create_oidc_provider(aws: AwsClients, url: str, audience: str, tags: dict[str, str]) -> Doc:
    """CreateOpenIDConnectProvider; its URL makes it repeatable."""
    return await aws.call(
        "iam", "create_open_id_connect_provider", Url=url, ClientIDList=[audience], Tags=tag_list(tags)
    )


async def add_audience(aws: AwsClients, arn: str, audience: str) -> Doc:
    """AddClientIDToOpenIDConnectProvider; repeatable."""
    return await aws.call(
        "iam", "add_client_id_to_open_id_connect_provider", OpenIDConnectProviderArn=arn, ClientID=audience
    )


async def delete_oidc_provider(aws: AwsClients, arn: str) -> Doc:
    """DeleteOpenIDConnectProvider; {} when gone already."""
    return await gone(aws, "iam", "delete_open_id_connect_provider", OpenIDConnectProviderArn=arn)


def _document(found: Doc) -> Doc:
    return _parsed(found.get("AssumeRolePolicyDocument") or {})


def _parsed(document: Doc | str) -> Doc:
    return document if isinstance(document, dict) else dict(json.loads(unquote(document)))
