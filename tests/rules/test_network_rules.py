"""The one function that gives compute subnets, and findings about networks."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from instantstart.core.names import OWNER_TAG
from instantstart.core.problem import ProblemError
from instantstart.network import rules
from instantstart.network.facts import NetworkFacts, SubnetFacts, VpcFacts
from instantstart.network.findings import findings
from instantstart.network.preflight import choose_network, choose_zones
from instantstart.network.security import efa_findings, endpoint_findings
from instantstart.network.template import ROLE_TAG

ZONE = "us-west-2a"
OURS = {OWNER_TAG: "demo", ROLE_TAG: "compute", "Name": f"hp-compute-{ZONE}"}


def subnet(name: str = "subnet-1", **more: Any) -> SubnetFacts:
    given: dict[str, Any] = {
        "subnet_id": name,
        "vpc_id": "vpc-1",
        "zone": ZONE,
        "zone_id": "usw2-az1",
        "cidr": "10.0.16.0/20",
        "free_addresses": 4091,
        "tags": {},
        "route_table_id": "rtb-1",
        "own_route_table": True,
        "nat_gateway_id": "nat-1",
        "default_route": "nat-1",
        "s3_endpoint": True,
    }
    return SubnetFacts(**(given | more))


def vpc(*subnets: SubnetFacts, **more: Any) -> VpcFacts:
    given: dict[str, Any] = {
        "vpc_id": "vpc-1",
        "cidrs": ["10.0.0.0/16"],
        "pending_cidrs": [],
        "subnets": list(subnets),
        "nat_gateways": {"nat-1": ZONE},
        "s3_endpoint_id": "vpce-1",
        "s3_route_tables": ["rtb-1"],
        "internet_gateway_id": "igw-1",
    }
    return VpcFacts(**(given | more))


def wish(**more: Any) -> rules.ComputeWish:
    given: dict[str, Any] = {"tag": "demo", "zone": ZONE, "addresses": 648}
    return rules.ComputeWish(**(given | more))


def test_the_named_subnet_comes_first() -> None:
    named = subnet("subnet-n", cidr="10.0.48.0/20")
    assert rules.choose(vpc(subnet(tags=OURS), named), wish(subnet_id="subnet-n")) == rules.Use(named)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"zone": "us-west-2b"}, "lies in us-west-2b"),
        ({"free_addresses": 37}, "37 free addresses, the nodes and their pods take 648"),
        ({"default_route": None, "nat_gateway_id": None}, "no way out"),
        ({"default_route": "igw-1", "nat_gateway_id": None}, "internet gateway"),
        ({"tags": {ROLE_TAG: "control-plane"}}, "control-plane subnet"),
    ],
)
def test_a_named_subnet_that_cannot_hold_the_nodes(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ProblemError, match="subnet_unfit") as error:
        rules.choose(vpc(subnet("subnet-n", **more)), wish(subnet_id="subnet-n"))
    assert says in error.value.problem.detail


def test_a_named_subnet_of_another_vpc() -> None:
    with pytest.raises(ProblemError, match="no subnet subnet-x in VPC vpc-1"):
        rules.choose(vpc(), wish(subnet_id="subnet-x"))


def test_a_compatible_subnet_comes_before_a_new_one() -> None:
    old = subnet(tags={"Name": f"hp-compute-{ZONE}"})
    assert rules.choose(vpc(old), wish()) == rules.Use(old)


@pytest.mark.parametrize(
    "more",
    [
        {"tags": {"Name": f"hp-compute-{ZONE}", OWNER_TAG: "other"}},
        {"tags": {"Name": f"hp-compute-{ZONE}", "hyperpod:dedicated-ig": "g"}},
        {"tags": {"Name": f"hp-compute-{ZONE}"}, "s3_endpoint": False},
        {"tags": {"Name": f"hp-compute-{ZONE}"}, "free_addresses": 10},
        {"tags": {"Name": "database"}},
        {"tags": {"Name": "hp-compute-us-west-2b"}, "zone": "us-west-2b"},
    ],
)
def test_others_are_not_taken(more: dict[str, Any]) -> None:
    assert rules.choose(vpc(subnet(**more)), wish()) == rules.Create("10.0.0.0/20")


def test_our_unfinished_subnet_is_completed() -> None:
    begun = subnet(tags=OURS, own_route_table=False, nat_gateway_id=None, default_route=None, s3_endpoint=False)
    assert rules.choose(vpc(begun), wish()) == rules.Complete(begun)


def test_the_kept_block_stands_until_it_is_taken() -> None:
    assert rules.choose(vpc(), wish(), "10.0.32.0/20") == rules.Create("10.0.32.0/20")
    assert rules.choose(vpc(subnet(cidr="10.0.32.0/24")), wish(), "10.0.32.0/20") == rules.Create("10.0.0.0/20")


def test_a_full_vpc_gets_another_cidr() -> None:
    full = vpc(subnet(cidr="10.0.0.0/16"))
    assert rules.choose(full, wish()) == rules.Extend("100.64.0.0/16")
    coming = vpc(subnet(cidr="10.0.0.0/16"), pending_cidrs=["100.70.0.0/16"])
    assert rules.choose(coming, wish()) == rules.Extend("100.70.0.0/16")


def test_no_room_at_all() -> None:
    cidrs = [f"10.{n}.0.0/24" for n in range(5)]
    with pytest.raises(ProblemError, match="no_address_space"):
        rules.choose(vpc(cidrs=cidrs), wish())
    with pytest.raises(ProblemError, match="has 4091"):
        rules.choose(vpc(), wish(addresses=5000))


# -- findings


def facts(**more: Any) -> NetworkFacts:
    given: dict[str, Any] = {
        "tag": "demo",
        "region": "us-west-2",
        "cidr": None,
        "vpc_id": None,
        "zones": [{"ZoneName": f"us-west-2{z}", "ZoneId": f"usw2-az{n}"} for n, z in enumerate("abc", 1)],
        "vpcs": {"vpc-d": ["172.31.0.0/16"]},
        "vpc": None,
        "dns": {},
        "stack": None,
        "roles": {},
        "vpc_quota": 5.0,
        "address_quota": 5.0,
        "addresses": 0,
    }
    return NetworkFacts(**(given | more))


def codes(found: NetworkFacts, addresses: int = 648) -> list[tuple[str, str | None]]:
    return [(f.code, f.field) for f in findings(found, addresses_needed=addresses)]


def test_a_plain_wish_has_no_findings() -> None:
    assert codes(facts()) == []
    assert choose_network(facts()) == ("10.192.0.0/16", None)
    assert choose_zones("us-west-2b", facts().zones) == ["us-west-2b", "us-west-2a"]


@pytest.mark.parametrize(
    ("cidr", "code"),
    [
        ("172.31.8.0/19", "cidr_invalid"),
        ("172.31.32.0/19", "cidr_overlaps"),
        ("10.0.0.0/20", "cidr_too_small"),
        ("10.0.0.0/8", "cidr_too_large"),
        ("ten", "cidr_invalid"),
        ("10.0.0.1/16", "cidr_invalid"),
    ],
)
def test_bad_cidrs(cidr: str, code: str) -> None:
    assert codes(facts(cidr=cidr)) == [(code, "/network/cidr")]


def test_quotas_and_addresses_are_told_at_once() -> None:
    full = facts(vpcs={f"vpc-{n}": [f"10.{n}.0.0/16"] for n in range(5)}, addresses=5)
    assert codes(full, 9999) == [
        ("no_address_space", "/instance_count"),
        ("quota_too_low", "/network"),
        ("quota_too_low", "/network"),
    ]


def test_what_has_our_names_already() -> None:
    foreign = facts(stack={"status": "CREATE_COMPLETE", "owner": None, "parameters": {}})
    assert codes(foreign) == [("tag_in_use", "/tag")]
    assert codes(facts(roles={"r": "else"})) == [("tag_in_use", "/tag")]
    assert codes(facts(roles={"r": "demo"})) == [("role_exists", "/tag")]
    dead = facts(stack={"status": "ROLLBACK_COMPLETE", "owner": "demo", "parameters": {}})
    assert [(f.code, f.severity) for f in findings(dead, addresses_needed=1)] == [("stack_dead", "warning")]


def test_the_network_that_stands_is_taken_or_differs() -> None:
    standing = {"status": "CREATE_COMPLETE", "owner": "demo", "parameters": {"VpcCidr": "10.50.0.0/16"}}
    assert choose_network(facts(stack=standing)) == ("10.50.0.0/16", None)
    assert codes(facts(stack=standing, vpcs={f"v{n}": [] for n in range(9)})) == []
    assert codes(facts(stack=standing, cidr="10.51.0.0/16")) == [("network_differs", "/network")]


def test_a_reused_vpc() -> None:
    assert codes(facts(vpc_id="vpc-x")) == [("vpc_not_found", "/network/vpc_id")]
    assert codes(facts(vpc_id="vpc-1", vpc=vpc(), dns={"enableDnsSupport": True})) == []
    closed = dataclasses.replace(vpc(), nat_gateways={}, internet_gateway_id=None)
    dns = {"enableDnsSupport": True, "enableDnsHostnames": False}
    assert codes(facts(vpc_id="vpc-1", vpc=closed, dns=dns, addresses=5)) == [
        ("vpc_dns_off", "/network/vpc_id"),
        ("quota_too_low", "/network"),
        ("internet_gateway_made", "/network/vpc_id"),
    ]
    full = vpc(subnet(cidr="10.0.0.0/16"), cidrs=["10.0.0.0/16", *[f"10.{n}.0.0/28" for n in range(1, 5)]])
    assert ("no_address_space", "/network/vpc_id") in codes(facts(vpc_id="vpc-1", vpc=full))


def test_every_group_needs_efa_rules_in_both_directions() -> None:
    def group(name: str, egress: list[dict[str, Any]]) -> dict[str, Any]:
        own = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": name}]}
        return {"GroupId": name, "IpPermissions": [own], "IpPermissionsEgress": egress}

    everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}], "UserIdGroupPairs": []}
    own = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-a"}]}
    found = efa_findings([group("sg-a", [everywhere, own]), group("sg-b", [everywhere])])
    assert [(f.evidence["group"], f.evidence["direction"]) for f in found] == [("sg-b", "egress")]
    assert "authorize-security-group-egress --group-id sg-b" in (found[0].remedy or "")


def test_closed_endpoints_are_warned_about() -> None:
    endpoint = {
        "VpcEndpointId": "vpce-9",
        "VpcEndpointType": "Interface",
        "PrivateDnsEnabled": True,
        "ServiceName": "com.amazonaws.us-west-2.ecr.dkr",
        "Groups": [{"GroupId": "sg-e"}],
    }
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/24"}]}
    closed = [{"GroupId": "sg-e", "IpPermissions": [rule]}]
    assert [f.code for f in endpoint_findings([endpoint], closed, ["10.0.0.0/16"])] == ["endpoint_closed"]
    rule["IpRanges"] = [{"CidrIp": "10.0.0.0/8"}]
    assert endpoint_findings([endpoint], closed, ["10.0.0.0/16"]) == []
