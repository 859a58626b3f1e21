"""The wire: error shapes, validation, the request log, faults, limits, Host and Origin."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from tests.sandbox.account import account
from tests.sandbox_fixture import RunningSandbox


def error_of(call: Any, **params: Any) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call(**params)
    return caught.value


def code_of(call: Any, **params: Any) -> str:
    return str(error_of(call, **params).response["Error"]["Code"])


@pytest.mark.parametrize(
    ("service", "operation", "params", "code", "status"),
    [
        ("eks", "describe_cluster", {"name": "none"}, "ResourceNotFoundException", 404),
        (
            "eks",
            "create_cluster",
            {"name": "-", "roleArn": "r", "resourcesVpcConfig": {}},
            "InvalidParameterException",
            400,
        ),
        ("eks", "list_insights", {"clusterName": "x"}, "NotImplementedBySandbox", 400),
        ("sagemaker", "describe_cluster", {"ClusterName": "none"}, "ResourceNotFound", 400),
        ("sagemaker", "describe_cluster", {"ClusterName": "_"}, "ValidationException", 400),
        ("sagemaker", "list_apps", {}, "NotImplementedBySandbox", 400),
        (
            "service-quotas",
            "get_service_quota",
            {"ServiceCode": "sagemaker", "QuotaCode": "L-00000000"},
            "NoSuchResourceException",
            400,
        ),
        ("fsx", "describe_file_systems", {}, "NotImplementedBySandbox", 400),
        ("pricing", "describe_services", {}, "NotImplementedBySandbox", 400),
        ("cloudwatch", "list_metrics", {}, "NotImplementedBySandbox", 400),
        ("elbv2", "describe_load_balancers", {}, "NotImplementedBySandbox", 400),
        ("resourcegroupstaggingapi", "get_resources", {}, "NotImplementedBySandbox", 400),
    ],
)
def test_errors_have_the_shape_of_their_protocol(
    sandbox: RunningSandbox, service: str, operation: str, params: dict[str, Any], code: str, status: int
) -> None:
    error = error_of(getattr(sandbox.client(service), operation), **params)
    assert error.response["Error"]["Code"] == code
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert error.response["ResponseMetadata"]["RequestId"]


def test_modelled_errors_are_the_clients_own_classes(sandbox: RunningSandbox) -> None:
    eks, sagemaker = sandbox.client("eks"), sandbox.client("sagemaker")
    with pytest.raises(eks.exceptions.ResourceNotFoundException) as caught:
        eks.describe_cluster(name="none")
    assert caught.value.response["clusterName"] == "none"
    with pytest.raises(sagemaker.exceptions.ResourceNotFound):
        sagemaker.describe_cluster(ClusterName="none")


def test_validation_names_every_fault_at_once(sandbox: RunningSandbox) -> None:
    group = {
        "InstanceGroupName": "_",
        "InstanceType": "ml.nothing",
        "InstanceCount": 9000,
        "ExecutionRole": "arn:aws:iam::123456789012:user/nobody",
    }
    error = error_of(sandbox.client("sagemaker").create_cluster, ClusterName="_", InstanceGroups=[group])
    text = error.response["Error"]["Message"]
    assert text.startswith("5 validation errors detected")
    for path in ("clusterName", "instanceGroups.1.member.instanceCount", "instanceGroups.1.member.instanceType"):
        assert f"at '{path}' failed" in text


def test_caller_is_the_one_behind_the_key(sandbox: RunningSandbox) -> None:
    me = sandbox.client("sts").get_caller_identity()
    assert me["Arn"] == "arn:aws:sts::123456789012:assumed-role/sandbox-admin/instantstart"
    role = account(sandbox).role("visitor", "ec2.amazonaws.com", ["s3:*"])
    session = sandbox.client("sts").assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    other = sandbox.client("sts", session["AccessKeyId"]).get_caller_identity()
    assert other["Arn"] == "arn:aws:sts::123456789012:assumed-role/visitor/me"


def test_request_log_tells_reads_refusals_and_effects(sandbox: RunningSandbox) -> None:
    ec2, eks = sandbox.client("ec2"), sandbox.client("eks")
    ec2.create_vpc(CidrBlock="10.0.0.0/16")
    ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["false"]}])
    code_of(eks.delete_cluster, name="none")
    rows = [(r["operation"], r["mutating"], r["applied"], r["status"]) for r in sandbox.requests()]
    assert rows == [
        ("CreateVpc", True, True, 200),
        ("DescribeVpcs", False, False, 200),
        ("DeleteCluster", True, False, 404),
    ]
    first = sandbox.requests("ec2")
    assert first[0]["params"] == {"CidrBlock": "10.0.0.0/16"}
    assert first[1]["params"]["Filters"] == [{"Name": "is-default", "Values": ["false"]}]


def test_s3_operations_are_told_apart(sandbox: RunningSandbox) -> None:
    s3 = sandbox.client("s3")
    s3.create_bucket(Bucket="b-1", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket="b-1", Key="a/b c.txt", Body=b"text")
    s3.copy_object(Bucket="b-1", Key="copy", CopySource={"Bucket": "b-1", "Key": "a/b c.txt"})
    s3.list_objects_v2(Bucket="b-1", Prefix="a/")
    assert s3.get_object(Bucket="b-1", Key="a/b c.txt")["Body"].read() == b"text"
    s3.head_bucket(Bucket="b-1")
    s3.delete_object(Bucket="b-1", Key="copy")
    rows = [(r["operation"], r["mutating"], r["params"].get("Key")) for r in sandbox.requests("s3")]
    assert rows == [
        ("CreateBucket", True, None),
        ("PutObject", True, "a/b c.txt"),
        ("CopyObject", True, "copy"),
        ("ListObjectsV2", False, None),
        ("GetObject", False, "a/b c.txt"),
        ("HeadBucket", False, None),
        ("DeleteObject", True, "copy"),
    ]


@pytest.mark.parametrize(
    ("kind", "service", "code"),
    [
        ("throttling", "eks", "ThrottlingException"),
        ("throttling", "sagemaker", "ThrottlingException"),
        ("throttling", "ec2", "RequestLimitExceeded"),
        ("throttling", "iam", "Throttling"),
        ("throttling", "s3", "SlowDown"),
        ("throttling", "service-quotas", "TooManyRequestsException"),
        ("server_error", "eks", "ServerException"),
        ("server_error", "ec2", "InternalError"),
        ("expired_credentials", "sagemaker", "ExpiredTokenException"),
        ("expired_credentials", "ec2", "ExpiredToken"),
    ],
)
def test_wire_faults_refuse_once_without_effect(sandbox: RunningSandbox, kind: str, service: str, code: str) -> None:
    calls = {
        "eks": "list_clusters",
        "sagemaker": "list_clusters",
        "ec2": "describe_vpcs",
        "iam": "list_roles",
        "s3": "list_buckets",
        "service-quotas": "list_services",
    }
    call = getattr(sandbox.client(service), calls[service])
    sandbox.fault(kind, service=service, count=1)
    assert code_of(call) == code
    call()
    assert [r["status"] < 400 for r in sandbox.requests(service)] == [False, True]


def test_quota_fault_meets_changes_only(sandbox: RunningSandbox) -> None:
    ec2 = sandbox.client("ec2")
    sandbox.fault("quota", service="ec2", count=1)
    ec2.describe_vpcs()
    assert code_of(ec2.create_vpc, CidrBlock="10.0.0.0/16") == "VpcLimitExceeded"


def test_lost_answer_took_effect(sandbox: RunningSandbox) -> None:
    ec2 = sandbox.client("ec2")
    sandbox.fault("lost_answer", service="ec2", operation="CreateVpc", count=1)
    with pytest.raises(ConnectionClosedError):
        ec2.create_vpc(CidrBlock="10.9.0.0/16")
    assert "10.9.0.0/16" in [v["CidrBlock"] for v in ec2.describe_vpcs()["Vpcs"]]
    assert [r["applied"] for r in sandbox.requests("ec2")] == [True, False]


def test_late_request_lands_when_its_time_has_come_also_after_a_restart(sandbox: RunningSandbox) -> None:
    ec2 = sandbox.client("ec2")
    sandbox.fault("late_request", service="ec2", count=1, delay_seconds=5)
    with pytest.raises(ConnectionClosedError):
        ec2.create_vpc(CidrBlock="10.9.0.0/16")
    sandbox.advance(4)
    assert "10.9.0.0/16" not in [v["CidrBlock"] for v in ec2.describe_vpcs()["Vpcs"]]
    sandbox.restart()
    sandbox.advance(2)
    assert "10.9.0.0/16" in [v["CidrBlock"] for v in ec2.describe_vpcs()["Vpcs"]]


def test_slow_answer_waits_for_the_worlds_clock(sandbox: RunningSandbox) -> None:
    eks = sandbox.client("eks")
    sandbox.fault("slow", service="eks", count=1, delay_seconds=30)
    done = threading.Event()

    def ask() -> None:
        eks.list_clusters()
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    while not sandbox.requests("eks"):
        time.sleep(0.01)
    assert not done.is_set()
    sandbox.advance(31)
    assert done.wait(10)
    thread.join(5)


def test_a_storm_of_polls_is_throttled_and_world_time_heals_it(sandbox: RunningSandbox) -> None:
    sagemaker = sandbox.client("sagemaker")
    with pytest.raises(ClientError, match="ThrottlingException"):
        for _ in range(2000):
            sagemaker.list_clusters()
    sandbox.advance(10)
    sagemaker.list_clusters()


def _raw(sandbox: RunningSandbox, path: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.sandbox.port, timeout=10)
    connection.request("POST" if body else "GET", path, body=body or None, headers=headers)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read() or b"{}")
    connection.close()
    return found


@pytest.mark.parametrize("path", ["/_sandbox/clock", "/clusters"])
def test_foreign_host_and_origin_are_refused(sandbox: RunningSandbox, path: str) -> None:
    assert _raw(sandbox, path, {"Host": "evil.example"})[0] == 403
    status, problem = _raw(sandbox, path, {"Host": "localhost", "Origin": "https://evil.example"})
    assert (status, problem["code"]) == (403, "origin_not_allowed")
    assert _raw(sandbox, "/_sandbox/clock", {"Host": "localhost:99", "Origin": "http://localhost:3099"})[0] == 200
    assert _raw(sandbox, "/_sandbox/clock", {"Host": "[::1]:99"})[0] == 200


def test_body_over_the_limit_is_413(sandbox: RunningSandbox) -> None:
    status, problem = _raw(sandbox, "/_sandbox/clock", {"Host": "localhost"}, b" " * 1_100_000)
    assert (status, problem["code"]) == (413, "body_too_large")


def test_aws_command_line(sandbox: RunningSandbox) -> None:
    aws = str(Path(sys.executable).parent / "aws")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [aws, *words, "--output", "json"], env=sandbox.environment(), capture_output=True, text=True, check=False
        )

    assert json.loads(run("eks", "list-clusters").stdout) == {"clusters": []}
    quota = run("service-quotas", "get-service-quota", "--service-code", "sagemaker", "--quota-code", "L-8762A75F")
    assert json.loads(quota.stdout)["Quota"]["QuotaName"] == "ml.p5.48xlarge for cluster usage"
    refused = run("sagemaker", "describe-cluster", "--cluster-name", "none")
    assert refused.returncode in (254, 255)
    assert "ResourceNotFound" in refused.stderr
