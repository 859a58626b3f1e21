"""Ground stages over the wire: each reaches its goal, a second run changes nothing, the mirror leaves nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from instantstart.addons import plan as addons
from instantstart.addons import stages as _addons  # noqa: F401 - registers
from instantstart.addons.observe import observe
from instantstart.aws import ec2, iam
from instantstart.core.plan import StageSpec
from instantstart.identity import plan as identity
from instantstart.identity import stages as _identity  # noqa: F401 - registers
from instantstart.identity.rules import ROLE_ANNOTATION, Identity, s3_csi_identity
from instantstart.kube.helm import Helm
from instantstart.network import plan as network
from instantstart.network import stages as _network  # noqa: F401 - registers
from tests.kube.conftest import CLUSTER, Cluster
from tests.kube.runner import Runner, outputs, states
from tests.kube.test_helm import binary, helm  # noqa: F401 - fixtures

DRIVER = s3_csi_identity("data")
CHECKPOINTS = Identity(
    key="checkpoints",
    namespace="default",
    service_account="tiered-storage-sa",
    statements=DRIVER.statements,
    mode="irsa",
    annotate=True,
)


@pytest.fixture
async def runner(cluster: Cluster, helm: Helm, tmp_path: Path) -> AsyncIterator[Runner]:  # noqa: F811 - a fixture
    running = Runner(cluster, helm, tmp_path)
    await running.start()
    await running.changes()
    yield running
    await running.stop()


def identity_specs() -> list[StageSpec]:
    oidc = identity.oidc_provider_spec(eks_cluster=CLUSTER, tag="demo", needs=())
    access = identity.access_entry_spec(eks_cluster=CLUSTER, principal_arn=None, tag="demo", needs=())
    driver = identity.identity_spec(
        "ensure_storage_identity", tag="demo", eks_cluster=CLUSTER, identity=DRIVER, needs=(), step="storage"
    )
    checkpoints = identity.identity_spec(
        "ensure_checkpoint_identity",
        tag="demo",
        eks_cluster=CLUSTER,
        identity=CHECKPOINTS,
        needs=(oidc.name,),
        step="storage",
    )
    return [access, oidc, driver, checkpoints]


async def test_identities_there_and_back(runner: Runner, cluster: Cluster) -> None:
    first = await runner.run(*identity_specs())
    assert states(first) == {
        "ensure_access_entry": "unchanged",
        "ensure_oidc_provider": "succeeded",
        "ensure_storage_identity": "succeeded",
        "ensure_checkpoint_identity": "succeeded",
    }
    kube = await cluster.clusters.get(CLUSTER)
    account = await kube.get("serviceaccounts", "tiered-storage-sa", "default")
    made = outputs(first, "ensure_checkpoint_identity")
    assert account is not None and account["metadata"]["annotations"][ROLE_ANNOTATION] == made["role_arn"]
    assert len(await runner.changes()) == 7
    assert set(states(await runner.run(*identity_specs())).values()) == {"unchanged"}
    assert await runner.changes() == []
    removal = [
        identity.identity_removal_spec("demo", eks_cluster=CLUSTER, identity=CHECKPOINTS),
        identity.identity_removal_spec("demo", eks_cluster=CLUSTER, identity=DRIVER),
        identity.oidc_removal_spec("demo", eks_cluster=CLUSTER),
    ]
    assert set(states(await runner.run(*removal)).values()) == {"succeeded"}
    assert await iam.role(cluster.aws, made["role_name"]) is None
    assert await kube.get("serviceaccounts", "tiered-storage-sa", "default") is None
    await runner.changes()
    assert set(states(await runner.run(*removal)).values()) == {"unchanged"}
    assert await runner.changes() == []


async def test_a_role_that_drifted_is_put_right(runner: Runner, cluster: Cluster) -> None:
    spec = identity_specs()[2]
    made = outputs(await runner.run(spec), spec.name)
    less = {"Version": "2012-10-17", "Statement": DRIVER.statements[:1]}
    await iam.put_role_policy(cluster.aws, made["role_name"], "instantstart", less)
    await runner.changes()
    assert states(await runner.run(spec)) == {spec.name: "succeeded"}
    assert await runner.changes() == ["iam PutRolePolicy"]


async def test_addons_and_chart_wait_for_nodes_only(runner: Runner) -> None:
    core = addons.core_specs("demo", eks_cluster=CLUSTER, needs=())
    more = addons.dependency_specs("demo", eks_cluster=CLUSTER, region="us-west-2", needs=(core[-1].name,))
    verify = addons.verify_spec("demo", eks_cluster=CLUSTER, needs=(more[-1].name,))
    first = await runner.run(*core, *more, verify)
    assert states(first)["await_dependencies"] == "succeeded"
    assert states(first)["verify_dependencies"] == "unproven"
    assert outputs(first, "await_core_addons")["waiting_for_nodes"] == ["coredns"]
    report = await observe(runner.services, CLUSTER)
    assert report.waiting_for_nodes and not report.ready
    assert {i.name: i.owner for i in report.items}["hyperpod-dependencies"] == "instantstart"
    missing = [i.name for i in report.items if i.health == "missing"]
    assert missing == ["aws-mountpoint-s3-csi-driver"]
    await runner.changes()
    again = states(await runner.run(*core, *more))
    assert again["request_core_addons"] == again["ensure_dependency_chart"] == "unchanged"
    assert await runner.changes() == []
    removal = [
        addons.chart_removal_spec("demo", eks_cluster=CLUSTER),
        *addons.removal_specs("demo", eks_cluster=CLUSTER, addons=["cert-manager", "metrics-server"]),
    ]
    assert set(states(await runner.run(*removal)).values()) == {"succeeded"}
    assert await runner.services.helm.list(CLUSTER) == []


async def test_compute_subnets_there_and_back(runner: Runner, cluster: Cluster) -> None:
    aws = cluster.aws
    vpc = (await aws.call("ec2", "create_vpc", CidrBlock="10.30.0.0/24"))["Vpc"]["VpcId"]
    small = await aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.30.0.0/28", AvailabilityZone="us-west-2b")
    await aws.call("ec2", "create_nat_gateway", SubnetId=small["Subnet"]["SubnetId"], ConnectivityType="private")
    await cluster.advance(300)
    await runner.changes()
    spec = network.compute_subnet_spec(
        "demo", zone="us-west-2b", addresses=648, eks_cluster=CLUSTER, vpc_id=vpc, needs=()
    )
    made = await runner.run(spec)
    assert states(made) == {spec.name: "succeeded"}
    assert outputs(made, spec.name)["cidr"] == "100.64.0.0/20"  # the VPC was full
    assert "ec2 AssociateVpcCidrBlock" in await runner.changes()
    assert states(await runner.run(spec)) == {spec.name: "unchanged"}
    assert await runner.changes() == []
    removal = network.removal_specs("demo")[0]
    assert states(await runner.run(removal)) == {removal.name: "succeeded"}
    assert [s["CidrBlock"] for s in await ec2.subnets(aws, vpc)] == ["10.30.0.0/28"]
    assert len(await ec2.route_tables(aws, vpc)) == 1
    await runner.changes()
    assert states(await runner.run(removal)) == {removal.name: "unchanged"}
    assert await runner.changes() == []


@pytest.mark.slow
async def test_killed_anywhere_nothing_is_made_twice(runner: Runner, cluster: Cluster) -> None:
    """The compute subnet and an identity, stopped at every seam in turn; each turn has a tag of its own."""
    aws = cluster.aws
    vpc = (await aws.call("ec2", "create_vpc", CidrBlock="10.32.0.0/16"))["Vpc"]["VpcId"]
    small = await aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.32.0.0/28", AvailabilityZone="us-west-2b")
    await aws.call("ec2", "create_nat_gateway", SubnetId=small["Subnet"]["SubnetId"], ConnectivityType="private")
    await cluster.advance(300)
    stopped: list[str] = []
    for number in range(1, 60):
        tag = f"t{number}"
        subnet = network.compute_subnet_spec(
            tag, zone="us-west-2b", addresses=1, eks_cluster=CLUSTER, vpc_id=vpc, needs=()
        )
        rights = DRIVER.model_copy(update={"service_account": f"sa-{number}"})
        driver = identity.identity_spec(
            "ensure_storage_identity",
            tag=tag,
            eks_cluster=CLUSTER,
            identity=rights,
            needs=(subnet.name,),
            step="storage",
        )
        await runner.changes()
        view, seam = await runner.run_killed(number, subnet, driver)
        assert set(states(view).values()) <= {"succeeded", "unchanged"}, seam
        made = await runner.changes()
        assert len(made) == len(set(made)), (seam, made)
        await runner.run(network.removal_specs(tag)[0])
        if seam is None:
            break
        stopped.append(seam)
    assert seam is None and len(stopped) > 20
