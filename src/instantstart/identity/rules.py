"""The chain of an identity: service account, role, trust, policy. What each link must say. Pure."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, Field

Doc = dict[str, Any]
Mode = Literal["pod_identity", "irsa"]
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"
AUDIENCE = "sts.amazonaws.com"
INLINE_POLICY = "instantstart"
_ROLE_NAME_MAX = 64


class Identity(BaseModel):
    """Rights of one Kubernetes service account. `key` tells the cluster's identities apart (`s3-csi`)."""

    key: str
    namespace: str
    service_account: str
    statements: list[Doc] = Field(default_factory=list, description="Statements of the role's inline policy.")
    managed_policies: list[str] = Field(default_factory=list, description="ARNs of managed policies.")
    mode: Mode = "pod_identity"
    annotate: bool = Field(default=False, description="With irsa: make and annotate the service account ourselves.")


def role_name(tag: str, region: str, key: str) -> str:
    """Name of an identity's role; at most 64 characters, shortened with a hash where it would be longer."""
    name = f"instantstart-{tag}-{region}-{key}"
    if len(name) <= _ROLE_NAME_MAX:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _ROLE_NAME_MAX - 9]}-{digest}"


def pod_identity_trust() -> Doc:
    """Who may take the role on: EKS Pod Identity, for the service account that an association binds to it."""
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
    )


def irsa_trust(provider_arn: str, issuer: str, identity: Identity) -> Doc:
    """Who may take the role on: exactly this service account, with a token of the cluster's OIDC issuer."""
    host = issuer.removeprefix("https://")
    subject = f"system:serviceaccount:{identity.namespace}:{identity.service_account}"
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Federated": provider_arn},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {"StringEquals": {f"{host}:aud": AUDIENCE, f"{host}:sub": subject}},
        }
    )


def policy(identity: Identity) -> Doc | None:
    """The role's inline policy; None when it has only managed ones."""
    return _document(*identity.statements) if identity.statements else None


def _document(*statements: Doc) -> Doc:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def provider_arn(partition: str, account: str, issuer: str) -> str:
    """ARN of the OIDC provider for an issuer."""
    return f"arn:{partition}:iam::{account}:oidc-provider/{issuer.removeprefix('https://')}"


def s3_csi_identity(bucket: str, *, partition: str = "aws") -> Identity:
    """What the S3 CSI driver may do: one bucket, nothing else."""
    arn = f"arn:{partition}:s3:::{bucket}"
    return Identity(
        key="s3-csi",
        namespace="kube-system",
        service_account="s3-csi-driver-sa",
        statements=[
            {"Sid": "List", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": arn},
            {
                "Sid": "Objects",
                "Effect": "Allow",
                "Action": ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"],
                "Resource": f"{arn}/*",
            },
        ],
    )
