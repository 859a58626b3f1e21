"""What can go wrong while a machine becomes a node: its network, its execution role, its lifecycle script."""

from __future__ import annotations

from urllib.parse import urlsplit

from instantstart_sandbox.aws.instance_facts import facts_of
from instantstart_sandbox.aws.outside import trusts
from instantstart_sandbox.aws.sagemaker.parts import Doc, Parts

SCRIPTS_FAILED = (
    "Lifecycle scripts did not run successfully. Ensure the scripts exist in provided S3 path, are accessible, and run "
    "without errors. Please see CloudWatch logs for lifecycle script execution details."
)
EFA_FAILED = (
    "EFA health checks did not run successfully. Ensure that your VPC and security groups are properly configured "
    "before attempting to create a new cluster."
)
NO_ROLE = "The execution role {role} does not have permission to perform {action}."


def network_fault(parts: Parts, node: Doc, groups: list[str]) -> str | None:
    """EFA needs rules for all traffic from and to a security group of the node itself, in both directions."""
    if facts_of(node["instance_type"]).efas == 0:
        return None
    for group_id in groups:
        group = parts.outside.security_group(group_id)
        if group is None or not (_self_rule(group, "ingress") and _self_rule(group, "egress")):
            return EFA_FAILED
    return None


def _self_rule(group: Doc, direction: str) -> bool:
    names = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}
    if names[direction] not in group:
        return True  # the view does not tell rules
    own = group.get("group_id") or group.get("GroupId")
    return any(
        rule.get("IpProtocol") == "-1" and any(p.get("GroupId") == own for p in rule.get("UserIdGroupPairs", []))
        for rule in group[names[direction]]
    )


def script_fault(parts: Parts, node: Doc, spec: Doc) -> str | None:
    """Why the lifecycle script did not run; None when it did."""
    role = parts.outside.role(spec["ExecutionRole"])
    if role is None or not trusts(role, "sagemaker.amazonaws.com"):
        return NO_ROLE.format(role=spec["ExecutionRole"], action="sts:AssumeRole")
    if not parts.outside.role_can(role["name"], "ec2:CreateNetworkInterface", "*"):
        return NO_ROLE.format(role=spec["ExecutionRole"], action="ec2:CreateNetworkInterface")
    script = spec["LifeCycleConfig"]
    place = urlsplit(script["SourceS3Uri"])
    key = "/".join(p for p in (place.path.strip("/"), script["OnCreate"]) if p)
    words = f"{node['group']} {node['cluster']} {node['instance_id']}"
    if parts.world.faults.take("lifecycle_script_failure", "sagemaker", "", words):
        return SCRIPTS_FAILED
    arn = f"arn:aws:s3:::{place.netloc}/{key}"
    if parts.outside.bucket(place.netloc) is None or not parts.outside.role_can(role["name"], "s3:GetObject", arn):
        return SCRIPTS_FAILED
    return None if parts.outside.get_object(place.netloc, key) is not None else SCRIPTS_FAILED


def can_release(parts: Parts, spec: Doc) -> bool:
    """Whether the execution role can still take the node's interfaces down."""
    role = parts.outside.role(spec["ExecutionRole"])
    return role is not None and parts.outside.role_can(role["name"], "ec2:DeleteNetworkInterface", "*")


def deep_checks_can_run(parts: Parts, node: Doc) -> bool:
    """The checks run as pods under a service account of the dependency chart."""
    accounts = parts.kube.list(node["eks_cluster"], "serviceaccounts", "aws-hyperpod")
    return any(a["metadata"]["name"].startswith("deep-health-check") for a in accounts)
