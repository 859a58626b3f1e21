"""One identity, link by link, in both directions: role, policy, trust, then the binding to the service account."""

from __future__ import annotations

from typing import Any

from instantstart.aws import eks, iam
from instantstart.aws.absent import tags_of
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import OWNER_TAG, owner_labels, owner_tags
from instantstart.identity import rules
from instantstart.identity.plan import IDENTITY, OIDC, REMOVE_IDENTITY
from instantstart.identity.problems import ASSOCIATION_FOREIGN, OIDC_MISSING, ROLE_FOREIGN
from instantstart.identity.rules import Identity
from instantstart.kube.errors import KubeProblem
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]
_SEEN_AFTER = 120.0
"""Seconds within which every part of AWS sees a new role."""
_MAKES = (
    "named iam:CreateRole",
    "absolute iam:UpdateAssumeRolePolicy",
    "absolute iam:PutRolePolicy",
    "absolute iam:AttachRolePolicy",
    "token eks:CreatePodIdentityAssociation",
    "absolute kubernetes:apply",
)
_REMOVES = (
    "named eks:DeletePodIdentityAssociation",
    "named kubernetes:delete",
    "absolute iam:DetachRolePolicy",
    "absolute iam:DeleteRolePolicy",
    "named iam:DeleteRole",
)


@stage(IDENTITY, effects=_MAKES)
async def ensure_identity(ctx: StageContext) -> Result:
    """The service account has exactly its rights. Outputs: role_arn, role_name, association_id ("" with irsa)."""
    identity = Identity.model_validate(ctx.params["identity"])
    try:
        return await _make_true(ctx, identity)
    except AwsProblem as error:
        if error.not_found and ctx.waited < _SEEN_AFTER:
            return Waiting("IAM does not show the new role everywhere yet.", poll_after=5.0)
        raise


async def _make_true(ctx: StageContext, identity: Identity) -> Result:
    name = rules.role_name(ctx.params["tag"], ctx.services.aws.region, identity.key)
    trust = _trust(ctx, identity)
    role, changed = await _ensure_role(ctx, name, trust)
    changed = await _ensure_policies(ctx, name, identity) or changed
    outputs = {"role_arn": role["Arn"], "role_name": name, "association_id": ""}
    if identity.mode == "irsa":
        changed = await _ensure_annotation(ctx, identity, role["Arn"]) or changed
        return Done(outputs) if changed else Unchanged(outputs)
    bound = await _binding(ctx, identity, role["Arn"])
    if bound is not None:
        outputs["association_id"] = bound
        return Done(outputs) if changed else Unchanged(outputs)
    return await _bind(ctx, identity, outputs)


@stage(REMOVE_IDENTITY, effects=_REMOVES)
async def remove_identity(ctx: StageContext) -> Result:
    """The chain backwards: binding, service account, policies, role. Only what is ours."""
    identity = Identity.model_validate(ctx.params["identity"])
    name = rules.role_name(ctx.params["tag"], ctx.services.aws.region, identity.key)
    await _unbind(ctx, identity, name)
    removed = await _remove_role(ctx, name)
    return Done({"role_name": name}) if removed else Unchanged()


def _trust(ctx: StageContext, identity: Identity) -> Doc:
    if identity.mode == "irsa":
        provider = ctx.outputs(OIDC)
        if not provider.get("provider_arn"):
            raise OIDC_MISSING("There is no OIDC provider in this operation to trust.")
        return rules.irsa_trust(provider["provider_arn"], provider["issuer"], identity)
    return rules.pod_identity_trust()


async def _ensure_role(ctx: StageContext, name: str, trust: Doc) -> tuple[Doc, bool]:
    """The role with this trust policy; whether something was changed. Raises role_foreign."""
    aws, tag = ctx.services.aws, ctx.params["tag"]
    role = await iam.role(aws, name)
    if role is None:
        answer = await ctx.effect(
            "named",
            "iam:CreateRole",
            name,
            lambda: iam.create_role(aws, name, trust, owner_tags(tag), f"InstantStart {tag}"),
        )
        return answer["Role"], True
    if tags_of(role.get("Tags")).get(OWNER_TAG) != tag:
        raise ROLE_FOREIGN(f"The role {name} does not carry the tag {OWNER_TAG}={tag}.", data={"role": role["Arn"]})
    if role["AssumeRolePolicyDocument"] == trust:
        return role, False
    await ctx.effect("absolute", "iam:UpdateAssumeRolePolicy", name, lambda: iam.set_trust(aws, name, trust))
    return role, True


async def _ensure_policies(ctx: StageContext, name: str, identity: Identity) -> bool:
    aws, changed = ctx.services.aws, False
    wanted = rules.policy(identity)
    if wanted is not None and await iam.role_policy(aws, name, rules.INLINE_POLICY) != wanted:
        await ctx.effect(
            "absolute",
            "iam:PutRolePolicy",
            f"{name}/{rules.INLINE_POLICY}",
            lambda: iam.put_role_policy(aws, name, rules.INLINE_POLICY, wanted),
        )
        changed = True
    attached = await iam.attached_policies(aws, name) if identity.managed_policies else []
    for arn in identity.managed_policies:
        if arn not in attached:
            await _attach(ctx, name, arn)
            changed = True
    return changed


async def _attach(ctx: StageContext, name: str, arn: str) -> None:
    aws = ctx.services.aws
    await ctx.effect("absolute", "iam:AttachRolePolicy", f"{name} {arn}", lambda: iam.attach_policy(aws, name, arn))


async def _binding(ctx: StageContext, identity: Identity, role_arn: str) -> str | None:
    """Id of the association of the service account with our role, or None. Raises association_foreign."""
    found = await eks.pod_identities(
        ctx.services.aws, ctx.params["eks_cluster"], identity.namespace, identity.service_account
    )
    for association in found:
        if association["roleArn"] == role_arn:
            return str(association["associationId"])
        raise ASSOCIATION_FOREIGN(
            f"{identity.namespace}/{identity.service_account} is bound to {association['roleArn']}.",
            data={"association": association["associationId"], "statements": identity.statements},
        )
    return None


async def _bind(ctx: StageContext, identity: Identity, outputs: Doc) -> Result:
    """Associate; IAM shows a new role to EKS only after some seconds."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    token = await ctx.token("association")
    try:
        answer = await ctx.effect(
            "token",
            "eks:CreatePodIdentityAssociation",
            f"{cluster}/{identity.namespace}/{identity.service_account}",
            lambda: eks.create_pod_identity(
                aws,
                clusterName=cluster,
                namespace=identity.namespace,
                serviceAccount=identity.service_account,
                roleArn=outputs["role_arn"],
                clientRequestToken=token,
                tags=owner_tags(ctx.params["tag"]),
            ),
        )
    except AwsProblem as error:
        if error.conflict:
            return Waiting("The association was there after all; looking again.", poll_after=3.0)
        if error.says("role", "assume", "trust") and not error.transient and ctx.waited < _SEEN_AFTER:
            return Waiting("EKS does not see the new role yet.", poll_after=5.0)
        raise
    return Done(outputs | {"association_id": answer["association"]["associationId"]})


async def _ensure_annotation(ctx: StageContext, identity: Identity, role_arn: str) -> bool:
    """The service account with the role's annotation, when it is ours to make."""
    if not identity.annotate:
        return False
    kube = await ctx.services.kube.get(ctx.params["eks_cluster"])
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {
            "name": identity.service_account,
            "namespace": identity.namespace,
            "labels": owner_labels(ctx.params["tag"]),
            "annotations": {rules.ROLE_ANNOTATION: role_arn},
        },
    }
    found = await kube.get("serviceaccounts", identity.service_account, identity.namespace)
    if found and (found["metadata"].get("annotations") or {}).get(rules.ROLE_ANNOTATION) == role_arn:
        return False
    subject = f"ServiceAccount {identity.namespace}/{identity.service_account}"
    await ctx.effect("absolute", "kubernetes:apply", subject, lambda: kube.apply(account))
    return True


async def _unbind(ctx: StageContext, identity: Identity, name: str) -> None:
    """Remove our association, or the service account that we made; the cluster may be gone already."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    if await eks.describe_cluster(aws, cluster) is None:
        return
    for found in await eks.pod_identities(aws, cluster, identity.namespace, identity.service_account):
        if found["roleArn"].rpartition("/")[2] == name:
            await _remove_association(ctx, cluster, found["associationId"])
    if identity.mode == "irsa" and identity.annotate:
        await _remove_account(ctx, cluster, identity)


async def _remove_association(ctx: StageContext, cluster: str, association: str) -> None:
    aws = ctx.services.aws
    await ctx.effect(
        "named",
        "eks:DeletePodIdentityAssociation",
        association,
        lambda: eks.delete_pod_identity(aws, cluster, association),
    )


async def _remove_account(ctx: StageContext, cluster: str, identity: Identity) -> None:
    try:
        kube = await ctx.services.kube.get(cluster)
        found = await kube.get("serviceaccounts", identity.service_account, identity.namespace)
    except KubeProblem as error:
        if error.transient:
            raise
        return
    labels = (found or {}).get("metadata", {}).get("labels") or {}
    if owner_labels(ctx.params["tag"]).items() <= labels.items():

        async def send() -> Doc:
            return {"deleted": await kube.delete("serviceaccounts", identity.service_account, identity.namespace)}

        await ctx.effect(
            "named", "kubernetes:delete", f"ServiceAccount {identity.namespace}/{identity.service_account}", send
        )


async def _remove_role(ctx: StageContext, name: str) -> bool:
    """Policies first, then the role; a role without our tag is left alone."""
    aws, tag = ctx.services.aws, ctx.params["tag"]
    role = await iam.role(aws, name)
    if role is None or tags_of(role.get("Tags")).get(OWNER_TAG) != tag:
        return False
    for arn in await iam.attached_policies(aws, name):
        await _detach(ctx, name, arn)
    for policy in await iam.inline_policies(aws, name):
        await _delete_policy(ctx, name, policy)
    await ctx.effect("named", "iam:DeleteRole", name, lambda: iam.delete_role(aws, name))
    return True


async def _detach(ctx: StageContext, name: str, arn: str) -> None:
    aws = ctx.services.aws
    await ctx.effect("absolute", "iam:DetachRolePolicy", f"{name} {arn}", lambda: iam.detach_policy(aws, name, arn))


async def _delete_policy(ctx: StageContext, name: str, policy: str) -> None:
    aws = ctx.services.aws
    await ctx.effect(
        "absolute", "iam:DeleteRolePolicy", f"{name}/{policy}", lambda: iam.delete_role_policy(aws, name, policy)
    )
