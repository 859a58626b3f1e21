"""Findings about the network of a wish, each with the field it is about and what to do. Pure."""

from __future__ import annotations

from instantstart.core.names import network_stack
from instantstart.core.plan import Finding, Severity
from instantstart.network.blocks import (
    COMPUTE_ADDRESSES,
    COMPUTE_PREFIX,
    MOST_CIDRS,
    SMALLEST_VPC_PREFIX,
    free_blocks,
    overlapping,
    parse,
)
from instantstart.network.facts import ADDRESS_QUOTA, VPC_QUOTA, NetworkFacts, VpcFacts
from instantstart.network.security import endpoint_findings

CIDR_FIELD, VPC_FIELD, NETWORK_FIELD = "/network/cidr", "/network/vpc_id", "/network"


def findings(facts: NetworkFacts, *, addresses_needed: int) -> list[Finding]:
    """Everything about the network that forbids the wish or is worth knowing; `addresses_needed` by all nodes."""
    found = [*_names_in_use(facts), *_space_for_nodes(addresses_needed)]
    if facts.stands:
        return [*found, *_same_network(facts)]
    if facts.vpc_id is not None:
        return [*found, *_reused(facts, addresses_needed)]
    return [*found, *_new_cidr(facts), *_quotas(facts, vpcs=1, addresses=1)]


def _finding(
    code: str, detail: str, remedy: str, field: str, *, severity: Severity = "blocking", **more: object
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        title=_TITLES[code],
        detail=detail,
        remedy=remedy,
        field=field,
        evidence=dict(more),
    )


_TITLES = {
    "cidr_invalid": "The CIDR is not a network",
    "cidr_too_small": "The CIDR is too small",
    "cidr_too_large": "The CIDR is larger than a VPC can be",
    "cidr_overlaps": "The CIDR overlaps with an existing VPC",
    "vpc_not_found": "There is no such VPC in this region",
    "vpc_dns_off": "The VPC has DNS switched off",
    "no_address_space": "There is not enough address space",
    "quota_too_low": "An account quota is too low",
    "tag_in_use": "The tag is taken by something else",
    "network_differs": "The network of this tag was made with other settings",
    "stack_dead": "An earlier attempt left a dead stack",
    "role_exists": "A role of that name is left over",
    "internet_gateway_made": "The VPC gets an internet gateway",
}


def _names_in_use(facts: NetworkFacts) -> list[Finding]:
    found, stack = [], facts.stack
    name = network_stack(facts.tag)
    if stack is not None and stack["owner"] != facts.tag:
        detail = f"A CloudFormation stack named {name} exists that InstantStart did not make for this tag."
        found.append(_finding("tag_in_use", detail, "Choose another tag.", "/tag", stack=name))
    elif stack is not None and stack["status"] in ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"):
        detail = f"Stack {name} is {stack['status']}. The creation will stop there and ask whether it may go."
        remedy = "Retry with accept when asked, or delete the stack first."
        found.append(_finding("stack_dead", detail, remedy, "/tag", severity="warning", stack=name))
    if stack is None:
        for role, owner in facts.roles.items():
            if owner != facts.tag:
                detail = f"An IAM role named {role} exists that InstantStart did not make for this tag."
                found.append(_finding("tag_in_use", detail, "Choose another tag.", "/tag", role=role))
            else:
                detail = f"The IAM role {role} of an earlier cluster is left, without its stack."
                remedy = f"Delete the role: aws iam delete-role --role-name {role}"
                found.append(_finding("role_exists", detail, remedy, "/tag", role=role))
    return found


def _space_for_nodes(needed: int) -> list[Finding]:
    if needed <= COMPUTE_ADDRESSES:
        return []
    room = f"a compute subnet (/{COMPUTE_PREFIX}) has {COMPUTE_ADDRESSES}"
    detail = f"The nodes and their pods take {needed} addresses; {room}."
    remedy = "Ask for fewer instances, or for the interface mode efa-only, which takes fewer addresses."
    return [_finding("no_address_space", detail, remedy, "/instance_count", needed=needed, free=COMPUTE_ADDRESSES)]


def _same_network(facts: NetworkFacts) -> list[Finding]:
    standing = facts.standing_parameters
    for asked, key in ((facts.vpc_id, "VpcId"), (facts.cidr, "VpcCidr")):
        if asked and standing.get(key) != asked:
            where = standing.get("VpcId") or standing.get("VpcCidr")
            detail = f"The network of {facts.tag} stands in {where}; {asked} is asked for now."
            remedy = "Leave the network out, ask for the same one, or delete the cluster first."
            return [_finding("network_differs", detail, remedy, NETWORK_FIELD, standing=where)]
    return []


def _new_cidr(facts: NetworkFacts) -> list[Finding]:
    if facts.cidr is None:
        return []
    try:
        network = parse(facts.cidr)
    except ValueError as error:
        return [
            _finding("cidr_invalid", f"{facts.cidr}: {error}.", "Give a network such as 10.192.0.0/16.", CIDR_FIELD)
        ]
    if network.prefixlen > SMALLEST_VPC_PREFIX:
        detail = f"{facts.cidr} has no room for a /{COMPUTE_PREFIX} for compute beside the control plane's subnets."
        remedy = f"Give a /{SMALLEST_VPC_PREFIX} or larger; a /16 leaves room for more groups."
        return [_finding("cidr_too_small", detail, remedy, CIDR_FIELD)]
    if network.prefixlen < 16:
        detail = f"{facts.cidr} is larger than a /16, the largest block of a VPC."
        return [_finding("cidr_too_large", detail, "Give a /16 to /19.", CIDR_FIELD)]
    return [
        _finding(
            "cidr_overlaps",
            f"{facts.cidr} overlaps with {', '.join(hit)} of VPC {vpc_id}.",
            "Give another CIDR, or none and a free one is chosen.",
            CIDR_FIELD,
            vpc=vpc_id,
            blocks=hit,
        )
        for vpc_id, cidrs in facts.vpcs.items()
        if (hit := overlapping(facts.cidr, cidrs))
    ]


def _reused(facts: NetworkFacts, needed: int) -> list[Finding]:
    vpc = facts.vpc
    if vpc is None:
        detail = f"VPC {facts.vpc_id} is not in {facts.region} in this account."
        return [_finding("vpc_not_found", detail, "Name a VPC of this region, or none.", VPC_FIELD)]
    found = _room(vpc, needed)
    if off := [k for k, on in facts.dns.items() if not on]:
        detail = f"VPC {vpc.vpc_id} has {' and '.join(off)} off; nodes cannot find the EKS cluster."
        remedy = "; ".join(f"aws ec2 modify-vpc-attribute --vpc-id {vpc.vpc_id} {_flag(k)}" for k in off)
        found.append(_finding("vpc_dns_off", detail, remedy, VPC_FIELD, off=off))
    if not vpc.nat_gateways:
        found += _quotas(facts, vpcs=0, addresses=1)
        if vpc.internet_gateway_id is None:
            detail = f"VPC {vpc.vpc_id} has no NAT gateway and no internet gateway; the stack adds both."
            remedy = "Nothing, unless the VPC must stay closed: then give it a NAT gateway of yours."
            found.append(_finding("internet_gateway_made", detail, remedy, VPC_FIELD, severity="warning"))
    return found + endpoint_findings(facts.endpoints, facts.security_groups, vpc.cidrs)


def _flag(attribute: str) -> str:
    return "--enable-dns-support" if attribute == "enableDnsSupport" else "--enable-dns-hostnames"


def _room(vpc: VpcFacts, needed: int) -> list[Finding]:
    """Whether a reused VPC has small blocks for the control plane and a /20 for compute, perhaps in a further CIDR."""
    taken = [s.cidr for s in vpc.subnets]
    small = [b for b, _ in zip(free_blocks(vpc.cidrs, taken, 28, last=True), range(3), strict=False)]
    found = []
    if len(small) < 3:
        detail = f"VPC {vpc.vpc_id} has {len(small)} free /28 blocks; the control plane needs 3."
        remedy = "Free some addresses of the VPC, or name another VPC."
        found.append(_finding("no_address_space", detail, remedy, VPC_FIELD, free_small_blocks=len(small)))
    block = next(free_blocks(vpc.cidrs, [*taken, *small], COMPUTE_PREFIX), None)
    if block is None and needed and len(vpc.cidrs) >= MOST_CIDRS:
        detail = (
            f"VPC {vpc.vpc_id} has no free /{COMPUTE_PREFIX}, and {len(vpc.cidrs)} of {MOST_CIDRS} CIDR blocks already."
        )
        remedy = "Free a /20, or raise the quota 'IPv4 CIDR blocks per VPC'."
        found.append(_finding("no_address_space", detail, remedy, VPC_FIELD, cidrs=vpc.cidrs))
    return found


def _quotas(facts: NetworkFacts, *, vpcs: int, addresses: int) -> list[Finding]:
    found = []
    rows = (
        (VPC_QUOTA, facts.vpc_quota, len(facts.vpcs), vpcs, "Name a VPC to reuse, delete one, or ask for an increase."),
        (ADDRESS_QUOTA, facts.address_quota, facts.addresses, addresses, "Release an address, or ask for an increase."),
    )
    for name, limit, used, asked, remedy in rows:
        if asked and limit is not None and used + asked > limit:
            detail = f"The quota '{name}' is {limit:g}; {used} are in use and {asked} more is needed."
            found.append(
                _finding(
                    "quota_too_low",
                    detail,
                    remedy,
                    NETWORK_FIELD,
                    quota=name,
                    limit=limit,
                    in_use=used,
                    asked=asked,
                )
            )
    return found
