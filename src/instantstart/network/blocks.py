"""Address arithmetic: free blocks of a VPC, overlaps, CIDRs for new VPCs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

COMPUTE_PREFIX = 20
COMPUTE_ADDRESSES = 2 ** (32 - COMPUTE_PREFIX) - 5
"""Usable addresses of a /20: AWS keeps five of every subnet."""
SMALLEST_VPC_PREFIX = 19
"""A new VPC must hold one /20 for compute beside the small subnets."""
MOST_CIDRS = 5
"""CIDR blocks per VPC, by default quota."""
_NEW_VPCS = (*range(192, 220), *range(90, 100), *range(110, 190))
_SECONDARY = range(64, 128)


def parse(cidr: str) -> IPv4Network:
    """The network. Raises ValueError when it is none, or has host bits."""
    return IPv4Network(cidr, strict=True)


def overlapping(cidr: str, others: Iterable[str]) -> list[str]:
    """Those of `others` that share addresses with `cidr`."""
    network = IPv4Network(cidr, strict=False)
    return [o for o in others if network.overlaps(IPv4Network(o, strict=False))]


def free_blocks(cidrs: Iterable[str], taken: Iterable[str], prefix: int, *, last: bool = False) -> Iterator[str]:
    """Aligned blocks of `prefix` inside `cidrs` that touch nothing in `taken`; from the end when `last`."""
    used = [IPv4Network(t, strict=False) for t in taken]
    for cidr in cidrs:
        space = IPv4Network(cidr, strict=False)
        if space.prefixlen > prefix:
            continue
        size = 2 ** (32 - prefix)
        first = int(space.network_address)
        starts = range(first, first + space.num_addresses, size)
        for start in reversed(starts) if last else starts:
            block = IPv4Network((start, prefix))
            if not any(block.overlaps(u) for u in used):
                yield str(block)


def new_vpc_cidr(existing: Iterable[str]) -> str:
    """A /16 for a new VPC that no VPC of the region uses; the first of them when all are used."""
    known = list(existing)
    for second in _NEW_VPCS:
        cidr = f"10.{second}.0.0/16"
        if not overlapping(cidr, known):
            return cidr
    return f"10.{_NEW_VPCS[0]}.0.0/16"


def secondary_cidr(known: Iterable[str]) -> str | None:
    """A /16 that can be added to a VPC, apart from all `known` blocks (its own and those it routes to)."""
    taken = list(known)
    for second in _SECONDARY:
        cidr = f"100.{second}.0.0/16"
        if not overlapping(cidr, taken):
            return cidr
    return None


def small_blocks(cidr: str, zones: int) -> tuple[str, list[str]]:
    """Public block and control-plane blocks of a new VPC: /24s (smaller in a small VPC) in its first /20."""
    prefix = 24 if parse(cidr).prefixlen <= SMALLEST_VPC_PREFIX else 27
    blocks = free_blocks([cidr], [], prefix)
    public = next(blocks)
    return public, [next(blocks) for _ in range(zones)]
