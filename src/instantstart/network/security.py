"""Rules of security groups: what EFA needs of every group of a node, and who may reach an endpoint. Pure."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

from instantstart.core.plan import Finding

Doc = dict[str, Any]


def efa_findings(groups: list[Doc], *, field: str | None = None) -> list[Finding]:
    """One finding for each group and direction without its own self rule; a rule to 0.0.0.0/0 does not count."""
    found = []
    for group in groups:
        name = group["GroupId"]
        for direction, key, command in (
            ("ingress", "IpPermissions", "authorize-security-group-ingress"),
            ("egress", "IpPermissionsEgress", "authorize-security-group-egress"),
        ):
            if _self_rule(group, key):
                continue
            permission = f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={name}}}]"
            found.append(
                Finding(
                    code="efa_security_group",
                    severity="blocking",
                    title="A security group lacks a rule that EFA needs",
                    detail=f"Security group {name} has no {direction} rule for all protocols with itself.",
                    remedy=f"aws ec2 {command} --group-id {name} --ip-permissions {permission}",
                    field=field,
                    evidence={"group": name, "direction": direction, "rules": group.get(key) or []},
                )
            )
    return found


def _self_rule(group: Doc, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs") or [])
        for rule in group.get(key) or []
    )


def lets_in(groups: list[Doc], cidrs: list[str], port: int) -> bool:
    """Whether one of the groups lets TCP `port` in from all of `cidrs`."""
    rules = [rule for group in groups for rule in group.get("IpPermissions") or [] if _covers(rule, port)]
    allowed = [IPv4Network(r["CidrIp"], strict=False) for rule in rules for r in rule.get("IpRanges") or []]
    return all(any(IPv4Network(c).subnet_of(a) for a in allowed) for c in cidrs)


def _covers(rule: Doc, port: int) -> bool:
    if rule.get("IpProtocol") == "-1":
        return True
    return rule.get("IpProtocol") in ("tcp", "6") and rule.get("FromPort", 0) <= port <= rule.get("ToPort", 65535)


def endpoint_findings(endpoints: list[Doc], groups: list[Doc], cidrs: list[str]) -> list[Finding]:
    """Warnings for interface endpoints with private DNS that nodes of the VPC could not reach over HTTPS."""
    by_id = {g["GroupId"]: g for g in groups}
    found = []
    for endpoint in endpoints:
        if endpoint.get("VpcEndpointType") != "Interface" or not endpoint.get("PrivateDnsEnabled"):
            continue
        mine = [by_id[g["GroupId"]] for g in endpoint.get("Groups") or [] if g["GroupId"] in by_id]
        if mine and not lets_in(mine, cidrs, 443):
            names = ", ".join(g["GroupId"] for g in mine)
            found.append(
                Finding(
                    code="endpoint_closed",
                    severity="warning",
                    title="Nodes may not reach an AWS service through the VPC's endpoint",
                    detail=f"{endpoint['ServiceName']} resolves to {endpoint['VpcEndpointId']}, whose security groups "
                    f"({names}) do not let port 443 in from {', '.join(cidrs)}.",
                    remedy=f"Let TCP 443 in from the VPC's blocks in one of {names}.",
                    field="/network/vpc_id",
                    evidence={"endpoint": endpoint["VpcEndpointId"], "groups": names},
                )
            )
    return found
