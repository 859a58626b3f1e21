"""AWS clients over the wire: what is retried, what is not, what an error becomes, what the environment can do."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from instantstart.aws import eks, sagemaker
from instantstart.aws.clients import AccountFacts, AwsClients, StaticCredentials, changes_state
from instantstart.aws.errors import AwsProblem, classify
from instantstart.aws.sts import kube_token
from tests.aws.scripted import Answer, Scripted, scripted


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted() as running:
        yield running


@pytest.fixture
async def aws(server: Scripted) -> AsyncIterator[AwsClients]:
    clients = AwsClients(
        region="us-west-2", endpoint_url=server.url, credentials=StaticCredentials("AKIAEXAMPLE", "secret")
    )
    yield clients
    await clients.close()


def refusal(code: str, message: str = "no", status: int = 400) -> Answer:
    return Answer(status, {"__type": code, "message": message}, {"x-amzn-errortype": code, "x-amzn-requestid": "r-1"})


async def test_a_read_of_what_is_not_there_is_none(server: Scripted, aws: AwsClients) -> None:
    server.answers = [refusal("ResourceNotFoundException", status=404), refusal("ResourceNotFound")]
    assert await eks.describe_cluster(aws, "x") is None
    assert await sagemaker.describe_cluster(aws, "x") is None


async def test_a_throttled_read_is_tried_again(server: Scripted, aws: AwsClients) -> None:
    server.answers = [refusal("ThrottlingException"), Answer(body={"cluster": {"name": "x"}})]
    assert await eks.describe_cluster(aws, "x") == {"name": "x"}
    assert len(server.asked) == 2


async def test_a_changing_call_is_sent_once(server: Scripted, aws: AwsClients) -> None:
    server.answers = [refusal("ThrottlingException")]
    with pytest.raises(AwsProblem) as error:
        await eks.delete_cluster(aws, "x")
    assert (error.value.code, error.value.transient, error.value.lost) == ("aws_throttled", True, False)
    assert len(server.asked) == 1


async def test_a_lost_answer_is_lost_and_not_sent_again(server: Scripted, aws: AwsClients) -> None:
    server.answers = [Answer(hang_up=True)]
    with pytest.raises(AwsProblem) as error:
        await eks.delete_cluster(aws, "x")
    assert (error.value.code, error.value.lost) == ("aws_answer_lost", True)
    assert len(server.asked) == 1


async def test_a_page_of_a_gateway_is_no_answer(server: Scripted, aws: AwsClients) -> None:
    server.answers = [Answer(502, b"<html>bad gateway</html>")] * 2
    with pytest.raises(AwsProblem) as error:
        await aws.call("iam", "delete_role", RoleName="x")
    assert error.value.lost
    with pytest.raises(AwsProblem) as error:
        await eks.delete_cluster(aws, "x")
    assert error.value.lost


async def test_a_late_answer_is_lost(server: Scripted, aws: AwsClients) -> None:
    server.answers = [Answer(delay=asyncio.Event())]
    with pytest.raises(AwsProblem) as error:
        await aws.call("eks", "delete_cluster", timeout=0.4, name="x")
    assert error.value.lost


async def test_a_broken_service_may_have_acted(server: Scripted, aws: AwsClients) -> None:
    server.answers = [refusal("InternalFailure", status=500), refusal("ServiceUnavailable", status=503)]
    with pytest.raises(AwsProblem) as broken:
        await eks.delete_cluster(aws, "x")
    assert (broken.value.code, broken.value.lost) == ("aws_unavailable", True)
    with pytest.raises(AwsProblem) as busy:
        await eks.delete_cluster(aws, "x")
    assert (busy.value.transient, busy.value.lost) == (True, False)


async def test_nobody_there_was_not_sent() -> None:
    clients = AwsClients(region="us-west-2", endpoint_url="http://127.0.0.1:9", credentials=StaticCredentials("a", "b"))
    with pytest.raises(AwsProblem) as error:
        await eks.delete_cluster(clients, "x")
    assert (error.value.code, error.value.transient, error.value.lost) == ("aws_unavailable", True, False)
    await clients.close()


async def test_a_quota_says_its_four_figures(server: Scripted, aws: AwsClients) -> None:
    text = (
        "The account-level service limit 'ml.p5.48xlarge for cluster usage' is 0 Instances, with current utilization "
        "of 0 Instances and a request delta of 2 Instances. Please use AWS Service Quotas to request an increase."
    )
    server.answers = [refusal("ResourceLimitExceeded", text)]
    with pytest.raises(AwsProblem) as error:
        await sagemaker.create_cluster(aws, ClusterName="x")
    problem = error.value.problem
    assert (problem.code, problem.status) == ("aws_quota", 409)
    assert problem.data == {"quota": "ml.p5.48xlarge for cluster usage", "limit": 0, "in_use": 0, "asked": 2}
    assert problem.aws is not None
    assert (problem.aws.code, problem.aws.operation) == ("ResourceLimitExceeded", "create_cluster")
    assert problem.aws.request_id == "r-1"


async def test_a_bad_parameter_never_leaves(server: Scripted, aws: AwsClients) -> None:
    with pytest.raises(AwsProblem, match="aws_refused"):
        await sagemaker.create_cluster(aws, Unknown=1)
    assert server.asked == []


async def test_equal_reads_in_flight_share_one_request(server: Scripted, aws: AwsClients) -> None:
    gate = asyncio.Event()
    server.rule = lambda asked: Answer(body={"cluster": {"name": asked.path[-1]}}, delay=gate)
    reads = [asyncio.create_task(eks.describe_cluster(aws, "x")) for _ in range(5)]
    await server.until(1)
    reads[0].cancel()
    gate.set()
    found = await asyncio.gather(*reads, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError) and found[1:] == [{"name": "x"}] * 4
    assert len(server.asked) == 1


async def test_a_read_after_a_change_is_a_new_one(server: Scripted, aws: AwsClients) -> None:
    gate = asyncio.Event()
    server.rule = lambda asked: Answer(body={"cluster": {"name": "x"}}, delay=gate if asked.method == "GET" else None)
    first = asyncio.create_task(eks.describe_cluster(aws, "x"))
    await server.until(1)
    await eks.delete_cluster(aws, "x")
    second = asyncio.create_task(eks.describe_cluster(aws, "x"))
    await server.until(3)
    gate.set()
    await asyncio.gather(first, second)


async def test_pages_are_followed(server: Scripted, aws: AwsClients) -> None:
    server.answers = [Answer(body={"addons": ["a"], "nextToken": "t"}), Answer(body={"addons": ["b"]})]
    assert await eks.list_addons(aws, "x") == ["a", "b"]
    assert server.asked[1].query["nextToken"] == "t"


async def test_the_environment_is_ignored(server: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hostile = tmp_path / "config"
    hostile.write_text("[default]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:9\n")
    for name, value in {
        "AWS_PROFILE": "nobody",
        "AWS_ACCESS_KEY_ID": "AKIAHOSTILE",
        "AWS_SECRET_ACCESS_KEY": "hostile",
        "AWS_SESSION_TOKEN": "hostile",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_CONFIG_FILE": str(hostile),
        "AWS_CA_BUNDLE": "/nowhere",
        "AWS_RETRY_MODE": "nonsense",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    clients = AwsClients(region="us-west-2", endpoint_url=server.url, credentials=StaticCredentials("AKIAOURS", "s"))
    server.answers = [Answer(body={"cluster": {"name": "x"}})]
    assert await eks.describe_cluster(clients, "x") == {"name": "x"}
    signed = server.asked[0].headers["authorization"]
    assert "AKIAOURS" in signed and "/us-west-2/eks/" in signed
    assert "x-amz-security-token" not in server.asked[0].headers
    assert "instantstart/" in server.asked[0].headers["user-agent"]
    await clients.close()


async def test_kube_tokens(aws: AwsClients, server: Scripted) -> None:
    token = await kube_token(aws, "eks-cluster-demo")
    url = base64.urlsafe_b64decode(token.removeprefix("k8s-aws-v1.") + "==").decode()
    query = {k: v[0] for k, v in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(server.url)
    assert (query["Action"], query["X-Amz-Expires"]) == ("GetCallerIdentity", "60")
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert server.asked == []


async def test_the_principal_of_a_session_is_its_role() -> None:
    session = AccountFacts("111122223333", "arn:aws:sts::111122223333:assumed-role/ops/me", "us-west-2")
    assert session.principal_arn == "arn:aws:iam::111122223333:role/ops"
    user = AccountFacts("111122223333", "arn:aws-cn:iam::111122223333:user/me", "cn-north-1")
    assert (user.principal_arn, user.partition) == (user.arn, "aws-cn")


@pytest.mark.parametrize(
    ("code", "message", "status", "kind"),
    [
        ("RequestLimitExceeded", "", 503, "aws_throttled"),
        ("ExpiredTokenException", "", 403, "aws_credentials"),
        ("UnauthorizedOperation", "", 403, "aws_denied"),
        ("AccessDeniedException", "", 400, "aws_denied"),
        ("ValidationError", "Stack with id x does not exist", 400, "aws_not_found"),
        ("InvalidVpcID.NotFound", "", 400, "aws_not_found"),
        ("404", "", 404, "aws_not_found"),
        ("NoSuchEntity", "", 404, "aws_not_found"),
        ("VpcLimitExceeded", "", 400, "aws_quota"),
        ("ResourceLimitExceeded", "", 400, "aws_quota"),
        ("ConflictException", "", 400, "aws_conflict"),
        ("ResourceInUse", "", 400, "aws_conflict"),
        ("EntityAlreadyExists", "", 409, "aws_conflict"),
        ("InvalidSubnet.Conflict", "", 400, "aws_conflict"),
        ("InvalidPermission.Duplicate", "", 400, "aws_conflict"),
        ("RouteAlreadyExists", "", 400, "aws_conflict"),
        ("DependencyViolation", "", 400, "aws_conflict"),
        ("ValidationException", "bad", 400, "aws_refused"),
        ("InvalidParameterException", "bad", 400, "aws_refused"),
        ("ServerException", "", 500, "aws_unavailable"),
    ],
)
async def test_kinds(code: str, message: str, status: int, kind: str) -> None:
    assert classify(code, message, status).code == kind


async def test_reads_and_changes_are_told_apart() -> None:
    assert not any(map(changes_state, ("describe_cluster", "list_stacks", "get_role", "head_bucket")))
    assert all(map(changes_state, ("create_stack", "delete_role", "associate_access_policy", "put_object")))
