"""Specs of the identity stages, for the journeys that compose them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from instantstart.core.plan import StageSpec
from instantstart.identity.rules import Identity

ACCESS, OIDC, IDENTITY = "ensure_access_entry", "ensure_oidc_provider", "ensure_identity"
REMOVE_ACCESS, REMOVE_OIDC, REMOVE_IDENTITY = "remove_access_entry", "remove_oidc_provider", "remove_identity"


def access_entry_spec(
    *,
    eks_cluster: str,
    principal_arn: str | None,
    tag: str,
    needs: Sequence[str] = ("await_eks_cluster",),
    step: str = "eks",
) -> StageSpec:
    """ensure_access_entry for the service's role; None means the role that calls AWS."""
    params = {"eks_cluster": eks_cluster, "principal_arn": principal_arn, "tag": tag}
    return StageSpec(
        name=ACCESS,
        step=step,
        title="Access to the cluster for this service",
        needs=list(needs),
        definition=ACCESS,
        params=params,
        typical_seconds=10,
        deadline_seconds=15 * 60,
    )


def oidc_provider_spec(
    *, eks_cluster: str, tag: str, needs: Sequence[str] = ("await_eks_cluster",), step: str = "eks"
) -> StageSpec:
    """ensure_oidc_provider; outputs provider_arn and issuer."""
    return StageSpec(
        name=OIDC,
        step=step,
        title="OpenID Connect provider",
        needs=list(needs),
        definition=OIDC,
        params={"eks_cluster": eks_cluster, "tag": tag},
    )


def identity_spec(
    name: str,
    *,
    tag: str,
    eks_cluster: str,
    identity: Identity,
    needs: Sequence[str],
    step: str,
    title: str | None = None,
) -> StageSpec:
    """A stage that makes one identity true; outputs role_arn, role_name, association_id."""
    return StageSpec(
        name=name,
        step=step,
        title=title or f"Rights of {identity.service_account}",
        needs=list(needs),
        definition=IDENTITY,
        params={"tag": tag, "eks_cluster": eks_cluster, "identity": identity.model_dump(mode="json")},
    )


def identity_removal_spec(
    tag: str, *, eks_cluster: str, identity: Identity, needs: Sequence[str] = (), step: str = "eks"
) -> StageSpec:
    """remove_identity_<key>: association, annotation, policies and role, in this order."""
    return StageSpec(
        name=f"{REMOVE_IDENTITY}_{identity.key.replace('-', '_')}",
        step=step,
        title=f"Remove the rights of {identity.service_account}",
        needs=list(needs),
        definition=REMOVE_IDENTITY,
        params={"tag": tag, "eks_cluster": eks_cluster, "identity": identity.model_dump(mode="json")},
    )


def oidc_removal_spec(tag: str, *, eks_cluster: str, needs: Sequence[str] = (), step: str = "eks") -> StageSpec:
    """remove_oidc_provider of this cluster; runs before or after the EKS cluster is gone."""
    return StageSpec(
        name=REMOVE_OIDC,
        step=step,
        title="Remove the OpenID Connect provider",
        needs=list(needs),
        definition=REMOVE_OIDC,
        params={"tag": tag, "eks_cluster": eks_cluster},
    )
