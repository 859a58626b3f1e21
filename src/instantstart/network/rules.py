"""The one rule that gives compute subnets: the named one, else a compatible one of the zone, else a new /20. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from instantstart.core.names import OWNER_TAG
from instantstart.network.blocks import COMPUTE_PREFIX, MOST_CIDRS, free_blocks, overlapping, secondary_cidr
from instantstart.network.facts import SubnetFacts, VpcFacts
from instantstart.network.problems import NO_ADDRESS_SPACE, SUBNET_UNFIT
from instantstart.network.template import ROLE_TAG

COMPUTE_ROLE = "compute"
DEDICATED_TAG = "instantstart:dedicated"
_OTHERS_DEDICATED = "hyperpod:dedicated-ig"


@dataclass(frozen=True)
class ComputeWish:
    """What is asked of a compute subnet."""

    tag: str
    zone: str
    """Zone name."""
    addresses: int
    """Free addresses that the nodes will take, pods included."""
    subnet_id: str | None = None


@dataclass(frozen=True)
class Use:
    """Take this subnet as it is."""

    subnet: SubnetFacts


@dataclass(frozen=True)
class Complete:
    """This subnet is ours: give it what it still lacks of route table, way out and S3 endpoint."""

    subnet: SubnetFacts


@dataclass(frozen=True)
class Create:
    """Make a subnet of this block."""

    block: str


@dataclass(frozen=True)
class Extend:
    """Add this CIDR to the VPC first."""

    cidr: str


Choice = Use | Complete | Create | Extend


def name_of(zone: str) -> str:
    """The Name tag of a compute subnet."""
    return f"hp-compute-{zone}"


def choose(vpc: VpcFacts, wish: ComputeWish, kept_block: str | None = None) -> Choice:
    """What to do now. `kept_block` is the block chosen earlier; it stands unless another subnet took it.

    Raises subnet_unfit for a named subnet that cannot hold the nodes, no_address_space when there is no room.
    """
    if wish.subnet_id is not None:
        return Use(_named(vpc, wish))
    ours = [s for s in vpc.subnets if is_ours(s, wish.tag) and s.zone == wish.zone and DEDICATED_TAG not in s.tags]
    if kept_block and (begun := [s for s in ours if s.cidr == kept_block]):
        return Complete(begun[0])
    roomy = [s for s in ours if s.free_addresses >= wish.addresses]
    if roomy:
        return Complete(max(roomy, key=lambda s: s.free_addresses))
    fit = [s for s in vpc.subnets if _compatible(s, wish)]
    if fit:
        return Use(max(fit, key=lambda s: s.free_addresses))
    return _new(vpc, wish, kept_block)


def is_ours(subnet: SubnetFacts, tag: str) -> bool:
    """Whether it is a compute subnet that the product made for this cluster."""
    return subnet.tags.get(OWNER_TAG) == tag and subnet.tags.get(ROLE_TAG) == COMPUTE_ROLE


def faults(subnet: SubnetFacts, wish: ComputeWish) -> list[str]:
    """Everything that keeps a subnet from holding the nodes, in words."""
    found = []
    if subnet.zone != wish.zone:
        found.append(f"it lies in {subnet.zone} ({subnet.zone_id}), not in {wish.zone}")
    if subnet.tags.get(ROLE_TAG) in ("control-plane", "public"):
        found.append(f"it is the cluster's {subnet.tags[ROLE_TAG]} subnet")
    if subnet.free_addresses < wish.addresses:
        found.append(
            f"it has {subnet.free_addresses} free addresses, the nodes and their pods take {wish.addresses}; "
            "a subnet cannot be made larger"
        )
    if subnet.default_route is None:
        found.append("it has no way out: no default route")
    elif subnet.default_route.startswith("igw-"):
        found.append("its default route leads to an internet gateway, which nodes without public addresses cannot use")
    return found


def _named(vpc: VpcFacts, wish: ComputeWish) -> SubnetFacts:
    subnet = next((s for s in vpc.subnets if s.subnet_id == wish.subnet_id), None)
    if subnet is None:
        raise SUBNET_UNFIT(f"There is no subnet {wish.subnet_id} in VPC {vpc.vpc_id}.")
    if found := faults(subnet, wish):
        raise SUBNET_UNFIT(f"Subnet {subnet.subnet_id}: " + "; ".join(found) + ".", data={"faults": found})
    return subnet


def _compatible(subnet: SubnetFacts, wish: ComputeWish) -> bool:
    """A compute subnet without an owner of ours, known by its name; one of another cluster is not taken."""
    return (
        OWNER_TAG not in subnet.tags
        and subnet.tags.get("Name", "").startswith(name_of(wish.zone))
        and DEDICATED_TAG not in subnet.tags
        and _OTHERS_DEDICATED not in subnet.tags
        and subnet.s3_endpoint
        and not faults(subnet, wish)
    )


def _new(vpc: VpcFacts, wish: ComputeWish, kept_block: str | None) -> Choice:
    taken = [s.cidr for s in vpc.subnets]
    inside = kept_block is not None and bool(overlapping(kept_block, vpc.cidrs))
    if kept_block is not None and inside and not overlapping(kept_block, taken):
        return Create(kept_block)
    if wish.addresses > 2 ** (32 - COMPUTE_PREFIX) - 5:
        raise NO_ADDRESS_SPACE(
            f"{wish.addresses} addresses are needed, a /{COMPUTE_PREFIX} subnet has 4091. Use the interface mode "
            "efa-only, fewer instances, or name a larger subnet."
        )
    block = next(free_blocks(vpc.cidrs, taken, COMPUTE_PREFIX), None)
    if block is not None:
        return Create(block)
    if vpc.pending_cidrs:
        return Extend(vpc.pending_cidrs[0])
    cidr = secondary_cidr([*vpc.cidrs, *vpc.routed])
    if cidr is None or len(vpc.cidrs) >= MOST_CIDRS:
        raise NO_ADDRESS_SPACE(
            f"VPC {vpc.vpc_id} has no free /{COMPUTE_PREFIX} in {', '.join(vpc.cidrs)}, and no further CIDR block "
            f"can be added ({len(vpc.cidrs)} of {MOST_CIDRS})."
        )
    return Extend(cidr)
