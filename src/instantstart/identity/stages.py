"""Stages of access entries and the OIDC provider. The chain of one identity is in `chain.py`."""

from __future__ import annotations

from typing import Any

from instantstart.aws import eks, iam
from instantstart.aws.absent import tags_of
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import OWNER_TAG, owner_tags
from instantstart.identity import chain
from instantstart.identity.plan import ACCESS, OIDC, REMOVE_ACCESS, REMOVE_OIDC
from instantstart.identity.problems import EKS_MISSING, OIDC_MISSING
from instantstart.identity.rules import AUDIENCE, provider_arn
from instantstart.kube.errors import KubeProblem
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

__all__ = ["chain"]
Doc = dict[str, Any]


@stage(ACCESS, effects=("token eks:CreateAccessEntry", "absolute eks:AssociateAccessPolicy"))
async def ensure_access_entry(ctx: StageContext) -> Result:
    """The service's role is known to the cluster and is its admin: an entry alone grants nothing."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    principal = ctx.params["principal_arn"] or await _caller(ctx)
    entry = await eks.describe_access_entry(aws, cluster, principal)
    if entry is None:
        try:
            await _create_entry(ctx, cluster, principal)
        except AwsProblem as error:
            if not error.conflict:
                raise
    policies = await eks.associated_policies(aws, cluster, principal) if entry else []
    granted = any(
        p["policyArn"] == eks.CLUSTER_ADMIN_POLICY and p["accessScope"]["type"] == "cluster" for p in policies
    )
    if not granted:
        try:
            await ctx.effect(
                "absolute",
                "eks:AssociateAccessPolicy",
                principal,
                lambda: eks.associate_access_policy(aws, cluster, principal, eks.CLUSTER_ADMIN_POLICY),
            )
        except AwsProblem as error:
            if error.not_found:
                return Waiting("The access entry is not to be seen yet.", poll_after=3.0)
            raise
    outputs = {"principal_arn": principal}
    if not await _lets_in(ctx, cluster):
        return Waiting("The access entry does not work yet.", poll_after=5.0, outputs=outputs)
    return Unchanged(outputs) if entry and granted else Done(outputs)


@stage(REMOVE_ACCESS, effects=("named eks:DeleteAccessEntry",))
async def remove_access_entry(ctx: StageContext) -> Result:
    """Remove the entry that carries our tag; others are left alone."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    principal = ctx.params["principal_arn"] or await _caller(ctx)
    entry = await eks.describe_access_entry(aws, cluster, principal)
    if entry is None or (entry.get("tags") or {}).get(OWNER_TAG) != ctx.params["tag"]:
        return Unchanged()
    await ctx.effect(
        "named", "eks:DeleteAccessEntry", principal, lambda: eks.delete_access_entry(aws, cluster, principal)
    )
    return Done({"principal_arn": principal})


@stage(OIDC, effects=("named iam:CreateOpenIDConnectProvider", "absolute iam:AddClientIDToOpenIDConnectProvider"))
async def ensure_oidc_provider(ctx: StageContext) -> Result:
    """IAM trusts the cluster's OIDC issuer, for tokens meant for STS. Outputs: provider_arn, issuer."""
    aws, tag = ctx.services.aws, ctx.params["tag"]
    issuer = await issuer_of(ctx, ctx.params["eks_cluster"])
    account = await aws.account()
    arn = provider_arn(account.partition, account.account_id, issuer)
    outputs = {"provider_arn": arn, "issuer": issuer}
    found = await iam.oidc_provider(aws, arn)
    if found is None:
        try:
            await ctx.effect(
                "named",
                "iam:CreateOpenIDConnectProvider",
                arn,
                lambda: iam.create_oidc_provider(aws, issuer, AUDIENCE, owner_tags(tag)),
            )
        except AwsProblem as error:
            if error.conflict:
                return Waiting("The provider was there after all; looking again.", poll_after=3.0)
            raise
        return Done(outputs)
    if AUDIENCE in found.get("ClientIDList", []):
        return Unchanged(outputs)
    await ctx.effect(
        "absolute",
        "iam:AddClientIDToOpenIDConnectProvider",
        arn,
        lambda: iam.add_audience(aws, arn, AUDIENCE),
    )
    return Done(outputs, "The provider was there, but did not take tokens for STS.")


@stage(REMOVE_OIDC, effects=("named iam:DeleteOpenIDConnectProvider",))
async def remove_oidc_provider(ctx: StageContext) -> Result:
    """Remove the OIDC providers that carry this cluster's tag: the EKS cluster may be gone already."""
    aws, tag = ctx.services.aws, ctx.params["tag"]
    listed = await aws.call("iam", "list_open_id_connect_providers")
    removed = []
    for arn in [p["Arn"] for p in listed["OpenIDConnectProviderList"]]:
        found = await iam.oidc_provider(aws, arn)
        if found is None or tags_of(found.get("Tags")).get(OWNER_TAG) != tag:
            continue
        await _delete_provider(ctx, arn)
        removed.append(arn)
    return Done({"providers": removed}) if removed else Unchanged()


async def issuer_of(ctx: StageContext, cluster: str) -> str:
    """The OIDC issuer's URL of an EKS cluster. Raises eks_missing, oidc_missing."""
    found = await eks.describe_cluster(ctx.services.aws, cluster)
    if found is None:
        raise EKS_MISSING(f"There is no EKS cluster {cluster}.")
    issuer = ((found.get("identity") or {}).get("oidc") or {}).get("issuer")
    if not issuer:
        raise OIDC_MISSING(f"The EKS cluster {cluster} is {found['status']} and has no OIDC issuer.")
    return str(issuer)


async def _caller(ctx: StageContext) -> str:
    """The IAM principal that the service calls AWS as; a role's path is not in the session's ARN, so IAM is asked."""
    aws = ctx.services.aws
    account = await aws.account()
    if ":assumed-role/" not in account.arn:
        return account.arn
    try:
        role = await iam.role(aws, account.principal_arn.rpartition("/")[2])
    except AwsProblem as error:
        if error.transient:
            raise
        role = None
    return str(role["Arn"]) if role else account.principal_arn


async def _create_entry(ctx: StageContext, cluster: str, principal: str) -> None:
    token, aws = await ctx.token(f"access-entry/{principal}"), ctx.services.aws
    await ctx.effect(
        "token",
        "eks:CreateAccessEntry",
        principal,
        lambda: eks.create_access_entry(
            aws,
            clusterName=cluster,
            principalArn=principal,
            type="STANDARD",
            clientRequestToken=token,
            tags=owner_tags(ctx.params["tag"]),
        ),
    )


async def _delete_provider(ctx: StageContext, arn: str) -> None:
    aws = ctx.services.aws
    await ctx.effect("named", "iam:DeleteOpenIDConnectProvider", arn, lambda: iam.delete_oidc_provider(aws, arn))


async def _lets_in(ctx: StageContext, cluster: str) -> bool:
    """Whether the API server takes our token and lets us read: access is granted some seconds after it is given."""
    kube = await ctx.services.kube.get(cluster)
    try:
        return await kube.get("namespaces", "kube-system") is not None
    except KubeProblem as error:
        if error.forbidden:
            return False
        raise
