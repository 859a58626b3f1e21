"""HyperPod: creation, nodes, shortages, quotas, lifecycle scripts, updates, deletion."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.account import Account, account
from tests.sandbox_fixture import RunningSandbox

P5 = "ml.p5.48xlarge"


def refused(call: Any, *args: Any, **params: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(*args, **params)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


@pytest.fixture
def made(sandbox: RunningSandbox) -> Account:
    return account(sandbox)


@pytest.fixture
def eks(made: Account) -> dict[str, Any]:
    return made.active_eks()


def events(sandbox: RunningSandbox, name: str = "hp-a", **filters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.client("sagemaker").list_cluster_events(ClusterName=name, **filters)["Events"]
    return found


def causes(sandbox: RunningSandbox, name: str = "hp-a") -> set[str]:
    """FailureMessages of all error events: only an event's details tell them."""
    found = set()
    for event in events(sandbox, name):
        if event["EventLevel"] == "Error":
            shown = sandbox.client("sagemaker").describe_cluster_event(ClusterName=name, EventId=event["EventId"])
            metadata = shown["EventDetails"]["EventDetails"]["EventMetadata"]
            found |= {part.get("FailureMessage", "") for part in metadata.values()}
    return found


def test_in_service_comes_before_the_nodes(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    arn = made.hyperpod(eks)
    assert made.hyperpod_status()["ClusterStatus"] == "Creating"
    sandbox.advance(310)
    status = made.hyperpod_status()
    group = status["InstanceGroups"][0]
    assert (status["ClusterStatus"], group["Status"]) == ("InService", "InService")
    assert (group["CurrentCount"], group["TargetCount"]) == (0, 2)
    assert group["ActiveOperations"] == {"Scaling": 1}
    sandbox.advance(600)
    group = made.hyperpod_status()["InstanceGroups"][0]
    assert (group["CurrentCount"], "ActiveOperations" in group) == (2, False)
    assert made.hyperpod_status(arn)["ClusterName"] == "hp-a"
    nodes = made.nodes()
    assert [n["InstanceStatus"]["Status"] for n in nodes] == ["Running", "Running"]
    node = sandbox.client("sagemaker").describe_cluster_node(ClusterName="hp-a", NodeId=nodes[0]["InstanceId"])
    assert node["NodeDetails"]["Placement"] == {"AvailabilityZone": "us-west-2a", "AvailabilityZoneId": "usw2-az2"}
    enis = sandbox.client("ec2").describe_network_interfaces(
        Filters=[{"Name": "subnet-id", "Values": [made.subnets["a"]]}]
    )["NetworkInterfaces"]
    assert node["NodeDetails"]["PrivatePrimaryIp"] in [e["PrivateIpAddress"] for e in enis]
    told = [e["Description"] for e in events(sandbox)]
    assert "Cluster hp-a creation completed successfully" in told
    assert any("Lifecycle script execution" in t and "Succeeded" in t for t in told)


def test_hyperpod_makes_its_access_entries_and_takes_them_away(
    sandbox: RunningSandbox, made: Account, eks: dict[str, Any]
) -> None:
    made.hyperpod(eks)
    sandbox.advance(900)
    entries = sandbox.client("eks").list_access_entries(clusterName="eks-a")["accessEntries"]
    assert made.execution_role in entries and any("AWSServiceRoleForSageMakerHyperPod" in e for e in entries)
    sandbox.client("sagemaker").delete_cluster(ClusterName="hp-a")
    sandbox.advance(600)
    assert sandbox.client("eks").list_access_entries(clusterName="eks-a")["accessEntries"] == []


def test_refusals_of_creation(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    plain = {"Subnets": [made.subnets["a"]], "SecurityGroupIds": [made.group]}
    plans = sandbox.client("sagemaker").list_training_plans()["TrainingPlanSummaries"]
    arns = {p["Status"]: p["TrainingPlanArn"] for p in plans}
    p5: dict[str, Any] = {"InstanceType": P5, "InstanceCount": 1}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"InstanceGroups": [made.spec(InstanceCount=17)]}, "ResourceLimitExceeded", "ml.g5.8xlarge for cluster usage"),
        ({"InstanceGroups": [made.spec(LifeCycleConfig=None)]}, "ValidationException", "LifeCycleConfig"),
        (
            {"InstanceGroups": [made.spec(ExecutionRole=made.eks_role)]},
            "ValidationException",
            "cannot assume the execution role",
        ),
        ({"InstanceGroups": [made.spec(), made.spec()]}, "ValidationException", "unique"),
        ({"InstanceGroups": [made.spec(InstanceType=None)]}, "ValidationException", "Exactly one of InstanceType"),
        ({"VpcConfig": {**plain, "Subnets": ["subnet-0123456789abcdef0"]}}, "ValidationException", "does not exist"),
        (
            {"VpcConfig": {**plain, "SecurityGroupIds": ["sg-0123456789abcdef0"]}},
            "ValidationException",
            "does not exist",
        ),
        ({"VpcConfig": None}, "ValidationException", "VpcConfig is required"),
        (
            {"NodeProvisioningMode": None, "InstanceGroups": [made.spec(MinInstanceCount=1)]},
            "ValidationException",
            "requires",
        ),
        (
            {"InstanceGroups": [made.spec(InstanceType="ml.c5.xlarge", OnStartDeepHealthChecks=["InstanceStress"])]},
            "ValidationException",
            "Deep health",
        ),
        (
            {"InstanceGroups": [made.spec(InstanceType="ml.c5.xlarge", NetworkInterface={"InterfaceType": "efa"})]},
            "ValidationException",
            "EFA",
        ),
        ({"InstanceGroups": [made.spec(**p5, TrainingPlanArn=arns["Expired"])]}, "ValidationException", "Expired"),
        (
            {"InstanceGroups": [made.spec(**p5, TrainingPlanArn=arns["Active"])]},
            "ValidationException",
            "No subnets in the capacity AZ",
        ),
        (
            {"InstanceGroups": [made.spec(TrainingPlanArn=arns["Active"])]},
            "ValidationException",
            "is for ml.p5.48xlarge",
        ),
    ]
    for changes, code, words in cases:
        found = refused(made.hyperpod, eks, **changes)
        assert found[0] == code and words in found[1], (changes, found)
    assert "sagemaker.cluster" not in sandbox.world()


def test_an_eks_cluster_belongs_to_one_cluster_until_that_is_gone(
    sandbox: RunningSandbox, made: Account, eks: dict[str, Any]
) -> None:
    made.hyperpod(eks)
    assert refused(made.hyperpod, eks)[0] == "ResourceInUse"
    assert "already in use" in refused(made.hyperpod, eks, name="hp-b")[1]
    sagemaker = sandbox.client("sagemaker")
    assert refused(sagemaker.delete_cluster, ClusterName="hp-a")[0] == "ConflictException"
    sandbox.advance(400)
    sagemaker.delete_cluster(ClusterName="hp-a")
    assert "already in use" in refused(made.hyperpod, eks, name="hp-b")[1]
    sandbox.advance(900)
    assert refused(sagemaker.describe_cluster, ClusterName="hp-a")[0] == "ResourceNotFound"
    made.hyperpod(eks, name="hp-b")


def test_the_config_map_mode_is_refused(sandbox: RunningSandbox, made: Account) -> None:
    old = made.active_eks("eks-old", accessConfig={"authenticationMode": "CONFIG_MAP"})
    assert "authentication mode" in refused(made.hyperpod, old)[1]


def test_shortage_is_told_by_events_and_ends_by_itself(
    sandbox: RunningSandbox, made: Account, eks: dict[str, Any]
) -> None:
    fault = sandbox.fault("insufficient_capacity", match="ml.g5.8xlarge us-west-2a")
    made.hyperpod(eks)
    sandbox.advance(1200)
    status = made.hyperpod_status()
    assert status["ClusterStatus"] == "InService"
    assert status["InstanceGroups"][0]["CurrentCount"] == 0
    text = "We currently do not have sufficient capacity to launch new ml.g5.8xlarge instances. Please try again."
    assert causes(sandbox) == {text}
    sandbox.control(f"faults?id={fault['id']}", method="DELETE")
    sandbox.advance(1200)
    assert made.hyperpod_status()["InstanceGroups"][0]["CurrentCount"] == 2


def test_partial_success(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    sandbox.control("settings", {"capacity": {"ml.g5.8xlarge/us-west-2a": 1}})
    made.hyperpod(eks)
    sandbox.advance(1200)
    group = made.hyperpod_status()["InstanceGroups"][0]
    assert (group["CurrentCount"], group["TargetCount"]) == (1, 2)


def test_a_missing_script_fails_the_nodes_until_it_is_there(sandbox: RunningSandbox) -> None:
    made = account(sandbox, script=False)
    made.hyperpod(made.active_eks())
    sandbox.advance(800)
    group, nodes = made.hyperpod_status()["InstanceGroups"][0], made.nodes()
    assert group["Status"] == "Degraded"
    assert {n["InstanceStatus"]["Status"] for n in nodes} == {"Failure"}
    assert "Lifecycle scripts did not run successfully" in nodes[0]["InstanceStatus"]["Message"]
    assert any("Lifecycle scripts did not run" in c for c in causes(sandbox))
    made.put_script()
    sandbox.advance(2400)
    group = made.hyperpod_status()["InstanceGroups"][0]
    assert (group["Status"], group["CurrentCount"]) == ("InService", 2)


def test_efa_needs_self_rules_in_both_directions(sandbox: RunningSandbox) -> None:
    made = account(sandbox, efa_rules=False)
    made.hyperpod(made.active_eks())
    sandbox.advance(800)
    assert any("EFA health checks did not run successfully" in c for c in causes(sandbox))


def test_without_continuous_it_is_all_or_nothing(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    sandbox.control("settings", {"capacity": {"ml.g5.8xlarge/us-west-2a": 1}})
    made.hyperpod(eks, NodeProvisioningMode=None)
    sandbox.advance(1500)
    status = made.hyperpod_status()
    assert status["ClusterStatus"] == "Failed"
    assert "sufficient capacity" in status["FailureMessage"]
    sagemaker = sandbox.client("sagemaker")
    assert refused(sagemaker.list_cluster_events, ClusterName="hp-a")[0] == "ValidationException"
    assert refused(sagemaker.update_cluster, ClusterName="hp-a", NodeRecovery="None")[0] == "ConflictException"
    sagemaker.delete_cluster(ClusterName="hp-a")
    sandbox.advance(600)
    sandbox.control("settings", {"capacity": {"ml.g5.8xlarge/us-west-2a": 16}})
    made.hyperpod(eks, NodeProvisioningMode=None)
    sandbox.advance(310)
    assert made.hyperpod_status()["ClusterStatus"] == "Creating"
    sandbox.advance(900)
    assert made.hyperpod_status()["ClusterStatus"] == "InService"
    sandbox.control("settings", {"capacity": {"ml.g5.8xlarge/us-west-2a": 3}})
    sagemaker.update_cluster(ClusterName="hp-a", InstanceGroups=[made.spec(InstanceCount=4)])
    assert made.hyperpod_status()["ClusterStatus"] == "Updating"
    sandbox.advance(1800)
    status = made.hyperpod_status()
    assert (status["ClusterStatus"], status["InstanceGroups"][0]["TargetCount"]) == ("InService", 2)
    assert "sufficient capacity" in status["FailureMessage"]


@pytest.mark.parametrize("mode", ["upsert", "replace"])
def test_a_group_that_is_left_out(sandbox: RunningSandbox, made: Account, eks: dict[str, Any], mode: str) -> None:
    sandbox.control("settings", {"sagemaker_update_mode": mode})
    made.hyperpod(eks, InstanceGroups=[made.spec("first", InstanceCount=1)])
    sandbox.advance(900)
    sagemaker = sandbox.client("sagemaker")
    sagemaker.update_cluster(ClusterName="hp-a", InstanceGroups=[made.spec("second", InstanceCount=1)])
    sandbox.advance(1200)
    groups = {g["InstanceGroupName"]: g["CurrentCount"] for g in made.hyperpod_status()["InstanceGroups"]}
    assert groups == ({"first": 1, "second": 1} if mode == "upsert" else {"second": 1})


def test_groups_scale_and_go(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    made.hyperpod(eks)
    sandbox.advance(900)
    sagemaker = sandbox.client("sagemaker")
    override = {"Subnets": [made.subnets["b"]], "SecurityGroupIds": [made.group]}
    changed = made.spec(OverrideVpcConfig=override)
    assert "OverrideVpcConfig" in refused(sagemaker.update_cluster, ClusterName="hp-a", InstanceGroups=[changed])[1]
    assert "no changes" in refused(sagemaker.update_cluster, ClusterName="hp-a", InstanceGroups=[made.spec()])[1]
    sagemaker.update_cluster(ClusterName="hp-a", InstanceGroups=[made.spec(InstanceCount=1)])
    sandbox.advance(20)
    assert [n["InstanceStatus"]["Status"] for n in made.nodes()].count("ShuttingDown") == 1
    sandbox.advance(300)
    assert len(made.nodes()) == 1
    added = made.spec("b-group", OverrideVpcConfig=override, InstanceCount=1)
    sagemaker.update_cluster(ClusterName="hp-a", InstanceGroups=[made.spec(InstanceCount=1), added])
    sandbox.advance(900)
    assert len(made.nodes()) == 2
    sagemaker.update_cluster(ClusterName="hp-a", InstanceGroupsToDelete=["b-group"])
    sandbox.advance(400)
    assert [g["InstanceGroupName"] for g in made.hyperpod_status()["InstanceGroups"]] == ["workers"]


def test_nodes_are_added_and_deleted_one_by_one(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    made.hyperpod(eks)
    sandbox.advance(900)
    sagemaker = sandbox.client("sagemaker")
    wanted = {
        "ClusterName": "hp-a",
        "ClientToken": "t",
        "NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}],
    }
    first, again = (sagemaker.batch_add_cluster_nodes(**wanted)["Successful"] for _ in range(2))
    assert first == again
    logical = first[0]["NodeLogicalId"]
    waiting = sagemaker.describe_cluster_node(ClusterName="hp-a", NodeLogicalId=logical)["NodeDetails"]
    assert waiting["InstanceStatus"]["Status"] == "Pending"
    sandbox.advance(900)
    node = sagemaker.describe_cluster_node(ClusterName="hp-a", NodeLogicalId=logical)["NodeDetails"]
    assert node["InstanceStatus"]["Status"] == "Running"
    answer = sagemaker.batch_delete_cluster_nodes(
        ClusterName="hp-a", NodeIds=[node["InstanceId"], "i-0123456789abcdef0"]
    )
    assert answer["Successful"] == [node["InstanceId"]]
    assert answer["Failed"][0]["Code"] == "NodeIdNotFound"
    sandbox.advance(300)
    assert len(made.nodes()) == 2 and made.hyperpod_status()["InstanceGroups"][0]["TargetCount"] == 2


def test_a_minimum_that_is_not_reached_rolls_back(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    sandbox.control("settings", {"capacity": {"ml.g5.8xlarge/us-west-2a": 1}})
    made.hyperpod(eks, InstanceGroups=[made.spec(MinInstanceCount=2)])
    sandbox.advance(1200)
    assert made.hyperpod_status()["InstanceGroups"][0]["Status"] == "Creating"
    sandbox.advance(3 * 3600)
    group = made.hyperpod_status()["InstanceGroups"][0]
    assert (group["Status"], group["TargetCount"], group["MinCount"]) == ("InService", 0, 0)


def test_a_plan_gives_its_machines(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    sagemaker = sandbox.client("sagemaker")
    plan = sagemaker.describe_training_plan(TrainingPlanName="p5-plan")
    assert (plan["Status"], plan["AvailableInstanceCount"]) == ("Active", 8)
    assert plan["ReservedCapacitySummaries"][0]["AvailabilityZone"] == "us-west-2b"
    spec = made.spec(InstanceType=P5, TrainingPlanArn=plan["TrainingPlanArn"])
    network = {"Subnets": [made.subnets["b"]], "SecurityGroupIds": [made.group]}
    made.hyperpod(eks, InstanceGroups=[spec], VpcConfig=network)
    sandbox.advance(900)
    assert made.hyperpod_status()["InstanceGroups"][0]["CurrentCount"] == 2
    assert sagemaker.describe_training_plan(TrainingPlanName="p5-plan")["InUseInstanceCount"] == 2
    offering = sagemaker.search_training_plan_offerings(
        InstanceType=P5, InstanceCount=2, DurationHours=48, TargetResources=["hyperpod-cluster"]
    )["TrainingPlanOfferings"][0]
    bought = {"TrainingPlanName": "mine", "TrainingPlanOfferingId": offering["TrainingPlanOfferingId"]}
    sagemaker.create_training_plan(**bought)
    assert refused(sagemaker.create_training_plan, **bought)[0] == "ResourceInUse"
    assert sagemaker.describe_training_plan(TrainingPlanName="mine")["Status"] == "Scheduled"


def test_deletion_hangs_without_the_execution_role(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    made.hyperpod(eks)
    sandbox.advance(900)
    iam, sagemaker = sandbox.client("iam"), sandbox.client("sagemaker")
    iam.delete_role_policy(RoleName="execution-role", PolicyName="all")
    iam.delete_role(RoleName="execution-role")
    sagemaker.delete_cluster(ClusterName="hp-a")
    sandbox.advance(1800)
    assert made.hyperpod_status()["ClusterStatus"] == "Deleting"
    assert "does not have permission" in made.nodes()[0]["InstanceStatus"]["Message"]
    made.role("execution-role", "sagemaker.amazonaws.com", ["ec2:*", "s3:*"])
    sandbox.advance(600)
    assert refused(sagemaker.describe_cluster, ClusterName="hp-a")[0] == "ResourceNotFound"


def test_late_echo_and_tags(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    arn = made.hyperpod(eks, TieredStorageConfig={"Mode": "Enable"}, Tags=[{"Key": "a", "Value": "b"}])
    sagemaker = sandbox.client("sagemaker")
    assert "TieredStorageConfig" not in made.hyperpod_status()
    sandbox.advance(60)
    assert made.hyperpod_status()["TieredStorageConfig"] == {"Mode": "Enable"}
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "SageMaker", "Value": "true"}])
    assert [t["Key"] for t in sagemaker.list_tags(ResourceArn=arn)["Tags"]] == ["SageMaker", "a"]


def test_a_restart_in_the_middle_changes_nothing(sandbox: RunningSandbox, made: Account, eks: dict[str, Any]) -> None:
    made.hyperpod(eks)
    sandbox.advance(330)
    before = made.nodes()
    sandbox.restart()
    assert made.nodes() == before
    sandbox.advance(600)
    assert made.hyperpod_status()["InstanceGroups"][0]["CurrentCount"] == 2


def test_quotas_by_name_over_many_pages(sandbox: RunningSandbox) -> None:
    quotas = sandbox.client("service-quotas")
    pages = list(quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker"))
    found = {q["QuotaName"]: q for p in pages for q in p["Quotas"]}
    assert len(pages) > 3
    for kind in ("ml.g5.8xlarge", P5, "ml.c5.xlarge"):
        assert found[f"{kind} for cluster usage"]["Value"] >= 8
    vpc = {q["QuotaName"]: q["Value"] for q in quotas.list_service_quotas(ServiceCode="vpc")["Quotas"]}
    assert vpc["VPCs per Region"] == 5
