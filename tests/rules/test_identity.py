"""The chain of an identity."""

from __future__ import annotations

from instantstart.identity.rules import (
    Identity,
    irsa_trust,
    pod_identity_trust,
    policy,
    provider_arn,
    role_name,
    s3_csi_identity,
)

ISSUER = "https://oidc.eks.us-west-2.amazonaws.com/id/ABC"


def test_role_names_fit() -> None:
    assert role_name("demo", "us-west-2", "s3-csi") == "instantstart-demo-us-west-2-s3-csi"
    long = role_name("a" * 20, "ap-southeast-2", "tiered-checkpointing-of-all")
    assert len(long) == 64
    assert long != role_name("a" * 20, "ap-southeast-2", "tiered-checkpointing-of-some")


def test_irsa_trusts_exactly_one_service_account() -> None:
    arn = provider_arn("aws", "111122223333", ISSUER)
    assert arn == "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/ABC"
    identity = Identity(key="k", namespace="ns", service_account="sa", mode="irsa")
    statement = irsa_trust(arn, ISSUER, identity)["Statement"][0]
    assert statement["Principal"] == {"Federated": arn}
    assert statement["Condition"]["StringEquals"] == {
        "oidc.eks.us-west-2.amazonaws.com/id/ABC:aud": "sts.amazonaws.com",
        "oidc.eks.us-west-2.amazonaws.com/id/ABC:sub": "system:serviceaccount:ns:sa",
    }


def test_pod_identity_needs_both_actions() -> None:
    assert pod_identity_trust()["Statement"][0]["Action"] == ["sts:AssumeRole", "sts:TagSession"]


def test_the_s3_driver_sees_one_bucket() -> None:
    document = policy(s3_csi_identity("data"))
    assert document is not None
    resources = [s["Resource"] for s in document["Statement"]]
    assert resources == ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]
    assert policy(Identity(key="k", namespace="n", service_account="s")) is None
