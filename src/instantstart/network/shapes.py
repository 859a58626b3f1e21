"""From a wish for a network to the shape of its template: a new VPC, or what a reused one still lacks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart.network.blocks import free_blocks, small_blocks
from instantstart.network.facts import VpcFacts
from instantstart.network.problems import NO_ADDRESS_SPACE
from instantstart.network.template import StackShape

SMALL_PREFIX = 28


def new_vpc(cidr: str, zones: Sequence[str], common: dict[str, Any]) -> StackShape:
    """A VPC of its own. `common`: tag, region, zones, bucket."""
    public, control = small_blocks(cidr, len(zones))
    return StackShape(**common, cidr=cidr, public_block=public, control_blocks=tuple(control))


def reused_vpc(vpc: VpcFacts, zones: Sequence[str], blocks: Sequence[str], common: dict[str, Any]) -> StackShape:
    """What is added to a VPC; `blocks` are as `choose_blocks` gave them."""
    nat = nat_gateway(vpc, zones[0])
    return StackShape(
        **common,
        vpc_id=vpc.vpc_id,
        control_blocks=tuple(blocks[: len(zones)]),
        public_block=None if nat else blocks[-1],
        nat_gateway_id=nat,
        internet_gateway_id=vpc.internet_gateway_id,
        s3_endpoint_id=vpc.s3_endpoint_id,
    )


def choose_blocks(vpc: VpcFacts, zones: Sequence[str]) -> list[str]:
    """Small blocks from the end of a reused VPC: one per zone, one more for a NAT gateway. Raises no_address_space."""
    count = block_count(vpc, zones)
    found = free_blocks(vpc.cidrs, [s.cidr for s in vpc.subnets], SMALL_PREFIX, last=True)
    chosen = [b for b, _ in zip(found, range(count), strict=False)]
    if len(chosen) < count:
        raise NO_ADDRESS_SPACE(f"VPC {vpc.vpc_id} has no {count} free /{SMALL_PREFIX} blocks left.")
    return chosen


def block_count(vpc: VpcFacts, zones: Sequence[str]) -> int:
    """How many small blocks a reused VPC has to give."""
    return len(zones) + (0 if nat_gateway(vpc, zones[0]) else 1)


def nat_gateway(vpc: VpcFacts, zone: str) -> str | None:
    """A NAT gateway of the VPC: the zone's own before any other."""
    here = [n for n, z in vpc.nat_gateways.items() if z == zone]
    return next(iter([*here, *vpc.nat_gateways]), None)
