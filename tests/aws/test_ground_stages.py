"""Stages of the ground slices, one at a time: what stands is told apart as usable, busy, dead, foreign."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import pytest

from instantstart.addons import plan as addons
from instantstart.addons import stages as _addons  # noqa: F401 - registers
from instantstart.aws.clients import AwsClients, StaticCredentials
from instantstart.core.names import OWNER_TAG
from instantstart.core.problem import ProblemError
from instantstart.identity import stages as _identity  # noqa: F401 - registers
from instantstart.network import plan as network
from instantstart.network import stages as _network  # noqa: F401 - registers
from instantstart.operations.stage import REGISTRY, Done, Unchanged, Waiting
from tests.aws.scripted import Answer, Asked, Scripted, scripted
from tests.aws.stage_bench import Bench

STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/instantstart-demo/1"


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted() as running:
        yield running


@pytest.fixture
async def aws(server: Scripted) -> AsyncIterator[AwsClients]:
    clients = AwsClients(region="us-west-2", endpoint_url=server.url, credentials=StaticCredentials("AKIAX", "s"))
    yield clients
    await clients.close()


# -- the network stack


def xml(action: str, inner: str) -> Answer:
    body = f"<{action}Response><{action}Result>{inner}</{action}Result></{action}Response>"
    return Answer(body=body.encode(), headers={"content-type": "text/xml"})


def stack(status: str, owner: str | None = "demo", cidr: str = "10.192.0.0/16") -> Answer:
    tag = f"<member><Key>{OWNER_TAG}</Key><Value>{owner}</Value></member>" if owner else ""
    parameter = f"<member><ParameterKey>VpcCidr</ParameterKey><ParameterValue>{cidr}</ParameterValue></member>"
    output = "<member><OutputKey>ControlSubnetIds</OutputKey><OutputValue>subnet-1,subnet-2</OutputValue></member>"
    output += "<member><OutputKey>VpcId</OutputKey><OutputValue>vpc-1</OutputValue></member>"
    inner = (
        f"<StackId>{STACK_ID}</StackId><StackName>instantstart-demo</StackName><StackStatus>{status}</StackStatus>"
        f"<CreationTime>2026-12-01T00:00:00Z</CreationTime><Tags>{tag}</Tags><Parameters>{parameter}</Parameters>"
        f"<Outputs>{output}</Outputs>"
    )
    return xml("DescribeStacks", f"<Stacks><member>{inner}</member></Stacks>")


def missing() -> Answer:
    error = "<Code>ValidationError</Code><Message>Stack with id instantstart-demo does not exist</Message>"
    body = f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error><RequestId>r</RequestId></ErrorResponse>"
    return Answer(400, body.encode(), {"content-type": "text/xml"})


def events() -> Answer:
    rows = [("NatGateway", "CREATE_FAILED", "Resource creation cancelled"), ("NatAddress", "CREATE_FAILED", "limit")]
    members = "".join(
        f"<member><StackId>{STACK_ID}</StackId><EventId>{n}</EventId><StackName>s</StackName>"
        f"<Timestamp>2026-12-01T00:00:00Z</Timestamp><LogicalResourceId>{n}</LogicalResourceId>"
        f"<PhysicalResourceId>{n}</PhysicalResourceId><ResourceType>AWS::EC2::{n}</ResourceType>"
        f"<ResourceStatus>{s}</ResourceStatus><ResourceStatusReason>{r}</ResourceStatusReason></member>"
        for n, s, r in rows
    )
    return xml("DescribeStackEvents", f"<StackEvents>{members}</StackEvents>")


def answering(server: Scripted, found: Answer) -> None:
    """One state of the stack for every read."""

    def rule(asked: Asked) -> Answer | None:
        action = parse_qs(asked.body.decode()).get("Action", [""])[0]
        known = {"DescribeStacks": found, "DescribeStackEvents": events()}
        known["CreateStack"] = xml("CreateStack", f"<StackId>{STACK_ID}</StackId>")
        known["DeleteStack"] = xml("DeleteStack", "")
        return known.get(action)

    server.rule = rule


def request(aws: AwsClients, cidr: str = "10.192.0.0/16") -> Bench:
    specs = network.stack_specs("demo", zones=["us-west-2a", "us-west-2b"], cidr=cidr, vpc_id=None)
    return Bench(aws, specs[0])


def awaiting(aws: AwsClients) -> Bench:
    specs = network.stack_specs("demo", zones=["us-west-2a", "us-west-2b"], cidr="10.192.0.0/16", vpc_id=None)
    return Bench(aws, specs[1], {"request_network_stack": {"stack_id": STACK_ID}})


async def test_a_new_stack_is_asked_for_with_a_token(server: Scripted, aws: AwsClients) -> None:
    answering(server, missing())
    bench = request(aws)
    result = await bench.run()
    assert isinstance(result, Done) and result.outputs["stack_id"] == STACK_ID and result.in_flight
    assert bench.effects == [("token", "cloudformation:CreateStack", "instantstart-demo")]
    sent = {k: v[0] for k, v in parse_qs(server.asked[-1].body.decode()).items()}
    assert sent["ClientRequestToken"] == bench.kept["token:create"]
    assert sent["Capabilities.member.1"] == "CAPABILITY_NAMED_IAM"
    assert (sent["Tags.member.1.Key"], sent["Tags.member.1.Value"]) == (OWNER_TAG, "demo")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("CREATE_COMPLETE", Unchanged),
        ("CREATE_IN_PROGRESS", Done),
        ("DELETE_IN_PROGRESS", Waiting),
        ("ROLLBACK_IN_PROGRESS", Waiting),
    ],
)
async def test_what_stands_is_taken_or_awaited(server: Scripted, aws: AwsClients, status: str, kind: type) -> None:
    answering(server, stack(status))
    bench = request(aws)
    assert isinstance(await bench.run(), kind) and bench.effects == []


async def test_a_dead_stack_needs_consent(server: Scripted, aws: AwsClients) -> None:
    answering(server, stack("ROLLBACK_COMPLETE"))
    for bench in (request(aws), awaiting(aws)):
        with pytest.raises(ProblemError, match="stack_failed") as error:
            await bench.run()
        assert error.value.problem.data["reasons"] == ["NatAddress (AWS::EC2::NatAddress): limit"]
        consent = error.value.consent
        assert [s.definition for s in consent.stages] == ["remove_network_stack", "await_network_stack_removed"]
        assert consent.rerun == ["request_network_stack", "await_network_stack"]


@pytest.mark.parametrize("owner", [None, "other"])
async def test_a_foreign_stack_is_named(server: Scripted, aws: AwsClients, owner: str | None) -> None:
    answering(server, stack("ROLLBACK_COMPLETE", owner))
    with pytest.raises(ProblemError, match="stack_foreign") as error:
        await request(aws).run()
    assert error.value.consent is None
    removal = Bench(aws, network.stack_removal_specs("demo")[0])
    with pytest.raises(ProblemError, match="stack_foreign"):
        await removal.run()
    assert removal.effects == []


async def test_another_network_than_the_one_that_stands(server: Scripted, aws: AwsClients) -> None:
    answering(server, stack("CREATE_COMPLETE"))
    with pytest.raises(ProblemError, match="network_differs"):
        await request(aws, "10.50.0.0/16").run()


async def test_outputs_are_what_later_stages_build_on(server: Scripted, aws: AwsClients) -> None:
    answering(server, stack("CREATE_COMPLETE"))
    result = await awaiting(aws).run()
    assert isinstance(result, Done)
    assert result.outputs["control_subnet_ids"] == ["subnet-1", "subnet-2"] and result.outputs["vpc_id"] == "vpc-1"


async def test_a_stack_that_rolls_back_says_why(server: Scripted, aws: AwsClients) -> None:
    answering(server, stack("ROLLBACK_IN_PROGRESS"))
    result = await awaiting(aws).run()
    assert isinstance(result, Waiting) and result.attention == "NatAddress (AWS::EC2::NatAddress): limit"


async def test_removal_of_our_stack(server: Scripted, aws: AwsClients) -> None:
    answering(server, stack("CREATE_COMPLETE"))
    bench = Bench(aws, network.stack_removal_specs("demo")[0])
    assert isinstance(await bench.run(), Done)
    assert bench.effects == [("token", "cloudformation:DeleteStack", "instantstart-demo")]
    answering(server, stack("DELETE_FAILED"))
    spec = network.stack_removal_specs("demo")[1]
    with pytest.raises(ProblemError, match="stack_removal_failed") as error:
        await Bench(aws, spec, {"remove_network_stack": {"stack_id": STACK_ID}}).run()
    assert error.value.consent.rerun == ["remove_network_stack", "await_network_stack_removed"]


# -- add-ons


def eks(server: Scripted, state: dict[str, dict[str, Any]]) -> None:
    """EKS with these add-ons; others are missing."""

    def rule(asked: Asked) -> Answer | None:
        if asked.path == "/addons/supported-versions":
            fit = [{"clusterVersion": "1.34", "defaultVersion": True}]
            return Answer(body={"addons": [{"addonVersions": [{"addonVersion": "v9", "compatibilities": fit}]}]})
        if asked.path == "/clusters/eks-cluster-demo":
            return Answer(body={"cluster": {"name": "eks-cluster-demo", "version": "1.34", "status": "ACTIVE"}})
        name = asked.path.rpartition("/")[2]
        if asked.method == "GET" and name not in state:
            return Answer(404, {"message": "no"}, {"x-amzn-errortype": "ResourceNotFoundException"})
        return Answer(body={"addon": {"addonName": name, "addonVersion": "v1", **state.get(name, {})}})

    server.rule = rule


def core(aws: AwsClients, stage: int) -> Bench:
    return Bench(aws, addons.core_specs("demo", eks_cluster="eks-cluster-demo")[stage])


OURS = {"tags": {OWNER_TAG: "demo"}}


async def test_what_is_missing_is_asked_for_and_what_stands_is_taken(server: Scripted, aws: AwsClients) -> None:
    eks(server, {"vpc-cni": {"status": "ACTIVE"}, "kube-proxy": {"status": "UPDATE_FAILED"}})
    bench = core(aws, 0)
    result = await bench.run()
    assert isinstance(result, Done) and result.outputs["created"] == ["coredns", "eks-pod-identity-agent"]
    assert result.outputs["versions"]["coredns"] == "v9"
    sent = [a.json for a in server.asked if a.method == "POST"]
    assert [s["addonName"] for s in sent] == ["coredns", "eks-pod-identity-agent"]
    assert len({s["clientRequestToken"] for s in sent}) == 2 and sent[0]["resolveConflicts"] == "OVERWRITE"
    eks(server, {a: {"status": "ACTIVE"} for a in core(aws, 0).params["addons"]})
    assert isinstance(await core(aws, 0).run(), Unchanged)


async def test_a_dead_addon_of_ours_needs_consent(server: Scripted, aws: AwsClients) -> None:
    issue = {"health": {"issues": [{"code": "ConfigurationConflict", "message": "in the way"}]}}
    eks(server, {a: {"status": "CREATE_FAILED", **OURS, **issue} for a in core(aws, 0).params["addons"]})
    for stage in (0, 1):
        with pytest.raises(ProblemError, match="addon_failed") as error:
            await core(aws, stage).run()
        assert "in the way" in error.value.problem.detail
        assert error.value.consent.rerun == ["request_core_addons", "await_core_addons"]
        assert error.value.consent.stages[0].definition == "remove_addons"


async def test_a_dead_addon_of_others_is_named(server: Scripted, aws: AwsClients) -> None:
    eks(server, {"vpc-cni": {"status": "CREATE_FAILED"}})
    with pytest.raises(ProblemError, match="addon_foreign_failed") as error:
        await core(aws, 0).run()
    assert error.value.consent is None


async def test_awaiting_addons(server: Scripted, aws: AwsClients) -> None:
    names = core(aws, 1).params["addons"]
    eks(server, {a: {"status": "CREATING"} for a in names[:-1]})
    result = await core(aws, 1).run()
    assert isinstance(result, Waiting) and "eks-pod-identity-agent not to be seen yet" in result.message
    eks(server, {a: {"status": "ACTIVE"} for a in names})
    assert isinstance(await core(aws, 1).run(), Done)
    denied = {"status": "DEGRADED", "health": {"issues": [{"code": "AccessDenied", "message": "no"}]}}
    eks(server, dict.fromkeys(names, denied))
    result = await core(aws, 1).run()
    assert isinstance(result, Waiting) and "AccessDenied: no" in (result.attention or "")


async def test_only_our_addons_are_removed(server: Scripted, aws: AwsClients) -> None:
    eks(server, {"vpc-cni": {"status": "ACTIVE"}, "coredns": {"status": "ACTIVE", **OURS}})
    specs = addons.removal_specs("demo", eks_cluster="eks-cluster-demo", addons=["vpc-cni", "coredns", "kube-proxy"])
    bench = Bench(aws, specs[0])
    result = await bench.run()
    assert isinstance(result, Done) and result.outputs == {"removed": ["coredns"]}
    assert bench.effects == [("named", "eks:DeleteAddon", "eks-cluster-demo/coredns")]
    assert isinstance(await Bench(aws, specs[1]).run(), Waiting)


def test_stages_that_only_wait_send_nothing() -> None:
    for name, definition in REGISTRY.items():
        if name.startswith(("await_", "verify_dependencies")):
            assert definition.effects == (), name
