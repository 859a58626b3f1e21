"""EKS: creation and its checks, tokens, dead states, entries, add-ons, identities, deletion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.account import ADMIN, CALLER, account
from tests.sandbox_fixture import RunningSandbox


def refused(call: Any, **params: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(**params)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_creation_takes_minutes_and_ends_with_an_endpoint(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    assert made.eks_cluster()["status"] == "CREATING"
    sandbox.advance(400)
    assert eks.describe_cluster(name="eks-a")["cluster"]["status"] == "CREATING"
    sandbox.advance(400)
    cluster = eks.describe_cluster(name="eks-a")["cluster"]
    assert cluster["status"] == "ACTIVE"
    assert cluster["endpoint"] == f"{sandbox.kube_url}/k8s/eks-a"
    assert cluster["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.us-west-2.amazonaws.com/id/")
    assert cluster["certificateAuthority"]["data"]
    interfaces = sandbox.client("ec2").describe_network_interfaces()["NetworkInterfaces"]
    assert {i["SubnetId"] for i in interfaces} == {made.subnets["a"], made.subnets["b"]}
    assert sandbox.world()["kubernetes.namespaces"] >= 4


def test_a_new_cluster_may_miss_from_the_list_for_a_moment(sandbox: RunningSandbox) -> None:
    account(sandbox).eks_cluster()
    sandbox.advance(6)
    assert sandbox.client("eks").list_clusters()["clusters"] == ["eks-a"]


def test_token_replays_and_mismatches(sandbox: RunningSandbox) -> None:
    made = account(sandbox)
    made.eks_cluster(clientRequestToken="once")
    assert made.eks_cluster(clientRequestToken="once")["name"] == "eks-a"
    assert refused(made.eks_cluster, clientRequestToken="once", version="1.33")[0] == "InvalidParameterException"
    assert refused(made.eks_cluster, clientRequestToken="other")[0] == "ResourceInUseException"
    rows = [(r["applied"], r["status"]) for r in sandbox.requests("eks")]
    assert rows == [(True, 200), (False, 200), (False, 400), (False, 409)]


def test_a_role_is_seen_ten_seconds_after_it_was_made(sandbox: RunningSandbox) -> None:
    made = account(sandbox)
    made.eks_role = made.role("new-role", "eks.amazonaws.com", ["ec2:*"])
    code, text = refused(made.eks_cluster)
    assert code == "InvalidParameterException" and "could not be assumed" in text
    sandbox.advance(11)
    made.eks_cluster()


def test_what_cannot_be_made_is_refused_at_once(sandbox: RunningSandbox) -> None:
    made = account(sandbox)
    one_zone = {"subnetIds": [made.subnets["a"], made.subnets["a"]]}
    for changes, words in (
        ({"resourcesVpcConfig": one_zone}, "at least two different AZs"),
        ({"resourcesVpcConfig": {"subnetIds": ["subnet-0123456789abcdef0"]}}, "does not exist"),
        ({"version": "1.11"}, "unsupported Kubernetes version"),
        ({"roleArn": made.execution_role}, "could not be assumed"),
        ({"roleArn": "arn:aws:iam::123456789012:role/none"}, "could not be assumed"),
    ):
        code, text = refused(made.eks_cluster, **changes)
        assert code == "InvalidParameterException" and words in text
    assert "eks.cluster" not in sandbox.world()


def test_a_role_without_rights_leaves_a_dead_cluster(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.eks_role = made.role("weak-role", "eks.amazonaws.com", ["s3:ListBucket"])
    sandbox.advance(11)
    made.eks_cluster()
    sandbox.advance(900)
    cluster = eks.describe_cluster(name="eks-a")["cluster"]
    assert cluster["status"] == "FAILED"
    assert cluster["health"]["issues"][0]["code"] == "AccessDenied"
    eks.delete_cluster(name="eks-a")
    sandbox.advance(600)
    assert refused(eks.describe_cluster, name="eks-a")[0] == "ResourceNotFoundException"


def test_access_entries_and_policies(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.active_eks()
    assert eks.list_access_entries(clusterName="eks-a")["accessEntries"] == []
    entry = eks.create_access_entry(clusterName="eks-a", principalArn=CALLER)["accessEntry"]
    assert entry["type"] == "STANDARD"
    assert refused(eks.create_access_entry, clusterName="eks-a", principalArn=CALLER)[0] == "ResourceInUseException"
    session = "arn:aws:sts::123456789012:assumed-role/sandbox-admin/x"
    assert refused(eks.create_access_entry, clusterName="eks-a", principalArn=session)[0] == "InvalidParameterException"
    for _ in range(2):
        eks.associate_access_policy(
            clusterName="eks-a", principalArn=CALLER, policyArn=ADMIN, accessScope={"type": "cluster"}
        )
    applied = [r["applied"] for r in sandbox.requests("eks") if r["operation"] == "AssociateAccessPolicy"]
    assert applied == [True, False]
    held = eks.list_associated_access_policies(clusterName="eks-a", principalArn=CALLER)["associatedAccessPolicies"]
    assert [p["policyArn"] for p in held] == [ADMIN]
    eks.disassociate_access_policy(clusterName="eks-a", principalArn=CALLER, policyArn=ADMIN)
    eks.delete_access_entry(clusterName="eks-a", principalArn=CALLER)
    assert (
        refused(eks.describe_access_entry, clusterName="eks-a", principalArn=CALLER)[0] == "ResourceNotFoundException"
    )
    assert len(eks.list_access_policies()["accessPolicies"]) > 5


def test_the_config_map_mode_refuses_entries_and_can_only_be_raised(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.active_eks(accessConfig={"authenticationMode": "CONFIG_MAP"})
    assert refused(eks.list_access_entries, clusterName="eks-a")[0] == "InvalidRequestException"
    update = eks.update_cluster_config(name="eks-a", accessConfig={"authenticationMode": "API"})["update"]
    assert eks.describe_cluster(name="eks-a")["cluster"]["status"] == "UPDATING"
    sandbox.advance(200)
    assert eks.describe_update(name="eks-a", updateId=update["id"])["update"]["status"] == "Successful"
    assert eks.list_access_entries(clusterName="eks-a")["accessEntries"] == []
    lower = {"authenticationMode": "CONFIG_MAP"}
    assert refused(eks.update_cluster_config, name="eks-a", accessConfig=lower)[0] == "InvalidParameterException"


def test_addons_without_nodes_are_degraded_by_missing_replicas_alone(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.active_eks()
    for name in ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"):
        assert eks.create_addon(clusterName="eks-a", addonName=name)["addon"]["status"] == "CREATING"
    sandbox.advance(240)
    found = {
        n: eks.describe_addon(clusterName="eks-a", addonName=n)["addon"]
        for n in eks.list_addons(clusterName="eks-a")["addons"]
    }
    assert {n: a["status"] for n, a in found.items()} == {
        "coredns": "DEGRADED",
        "eks-pod-identity-agent": "ACTIVE",
        "kube-proxy": "ACTIVE",
        "vpc-cni": "ACTIVE",
    }
    assert [i["code"] for i in found["coredns"]["health"]["issues"]] == ["InsufficientNumberOfReplicas"]


def test_addons_refuse_what_they_do_not_know(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.active_eks()
    for params, words in (
        ({"addonName": "nothing"}, "not supported in 1.34"),
        ({"addonName": "coredns", "addonVersion": "v0"}, "version specified is not supported"),
        ({"addonName": "coredns", "configurationValues": '{"replicas": 1}'}, "schema"),
        ({"addonName": "coredns", "configurationValues": '{"replicaCount": "1"}'}, "integer expected"),
    ):
        code, text = refused(eks.create_addon, clusterName="eks-a", **params)
        assert code == "InvalidParameterException" and words in text
    eks.create_addon(clusterName="eks-a", addonName="coredns", configurationValues="replicaCount: 1\n")
    assert refused(eks.create_addon, clusterName="eks-a", addonName="coredns")[0] == "ResourceInUseException"
    eks.delete_addon(clusterName="eks-a", addonName="coredns")
    sandbox.advance(60)
    assert refused(eks.describe_addon, clusterName="eks-a", addonName="coredns")[0] == "ResourceNotFoundException"


def test_addon_versions_and_their_schema(sandbox: RunningSandbox) -> None:
    eks = sandbox.client("eks")
    found = eks.describe_addon_versions(kubernetesVersion="1.34", addonName="aws-mountpoint-s3-csi-driver")["addons"]
    version = found[0]["addonVersions"][0]
    assert version["requiresIamPermissions"] is True
    shown = eks.describe_addon_configuration(addonName=found[0]["addonName"], addonVersion=version["addonVersion"])
    assert json.loads(shown["configurationSchema"])["type"] == "object"
    assert shown["podIdentityConfiguration"][0]["serviceAccount"] == "s3-csi-driver-sa"
    assert eks.describe_addon_versions(kubernetesVersion="1.11")["addons"] == []


def test_pod_identity_is_one_for_each_service_account(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.active_eks()
    wanted = {"clusterName": "eks-a", "namespace": "kube-system", "serviceAccount": "s3-csi-driver-sa"}
    half = made.role("half-role", "pods.eks.amazonaws.com", ["s3:*"])
    role = made.role("pod-role", "pods.eks.amazonaws.com", ["s3:*"], tag_session=True)
    sandbox.advance(11)
    assert refused(eks.create_pod_identity_association, roleArn=half, **wanted)[0] == "InvalidParameterException"
    first = eks.create_pod_identity_association(roleArn=role, **wanted)["association"]
    assert refused(eks.create_pod_identity_association, roleArn=role, **wanted)[0] == "ResourceInUseException"
    listed = eks.list_pod_identity_associations(**wanted)["associations"]
    assert [a["associationId"] for a in listed] == [first["associationId"]]
    assert "roleArn" not in listed[0]
    eks.delete_pod_identity_association(clusterName="eks-a", associationId=first["associationId"])
    assert eks.list_pod_identity_associations(clusterName="eks-a")["associations"] == []


def test_deletion_leaves_nothing_and_respects_protection(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    before = sandbox.world()
    made.active_eks(deletionProtection=True, tags={"a": "b"})
    assert refused(eks.delete_cluster, name="eks-a")[0] == "InvalidRequestException"
    eks.update_cluster_config(name="eks-a", deletionProtection=False)
    eks.create_access_entry(clusterName="eks-a", principalArn=CALLER)
    eks.create_addon(clusterName="eks-a", addonName="vpc-cni")
    assert eks.delete_cluster(name="eks-a")["cluster"]["status"] == "DELETING"
    sandbox.advance(480)
    assert refused(eks.describe_cluster, name="eks-a")[0] == "ResourceNotFoundException"
    assert sandbox.world() == before
    made.eks_cluster(clientRequestToken="again")


def test_a_restart_in_the_middle_changes_nothing(sandbox: RunningSandbox) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    made.eks_cluster()
    sandbox.advance(300)
    sandbox.restart()
    assert eks.describe_cluster(name="eks-a")["cluster"]["status"] == "CREATING"
    sandbox.advance(600)
    assert eks.describe_cluster(name="eks-a")["cluster"]["status"] == "ACTIVE"
    sandbox.restart()
    assert sandbox.world()["kubernetes.namespaces"] >= 4
    assert len(sandbox.client("ec2").describe_network_interfaces()["NetworkInterfaces"]) == 2
