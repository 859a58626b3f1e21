"""What EKS checks before it makes or ends a cluster, and the role's first use a minute later."""

from __future__ import annotations

from instantstart_sandbox.aws.eks.parts import Doc, Parts, refuse
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.registry import Params
from instantstart_sandbox.defaults import DEFAULT_KUBERNETES, KUBERNETES_VERSIONS

_OPEN = ["0.0.0.0/0"]


def creation(parts: Parts, params: Params) -> Doc:
    """The cluster's resourcesVpcConfig, when every part of the request is possible."""
    name, version = params["name"], params.get("version") or DEFAULT_KUBERNETES
    if version not in KUBERNETES_VERSIONS:
        refuse("InvalidParameterException", f"unsupported Kubernetes version {version}", clusterName=name)
    parts.role_or_refuse(params["roleArn"], "eks.amazonaws.com", clusterName=name)
    asked = params["resourcesVpcConfig"]
    subnets = _subnets(parts, name, asked.get("subnetIds") or [])
    groups = asked.get("securityGroupIds") or []
    _groups(parts, name, groups, subnets[0]["vpc_id"])
    public, private = asked.get("endpointPublicAccess", True), asked.get("endpointPrivateAccess", False)
    if not public and not private:
        text = "Private and public endpoint access cannot be false"
        refuse("InvalidParameterException", text, clusterName=name)
    return {
        "subnetIds": [s["subnet_id"] for s in subnets],
        "securityGroupIds": groups,
        "vpcId": subnets[0]["vpc_id"],
        "endpointPublicAccess": public,
        "endpointPrivateAccess": private,
        "publicAccessCidrs": (asked.get("publicAccessCidrs") or _OPEN) if public else [],
    }


def _subnets(parts: Parts, name: str, ids: list[str]) -> list[Doc]:
    found = []
    for subnet_id in ids:
        subnet = parts.outside.subnet(subnet_id)
        if subnet is None:
            text = f"The subnet ID '{subnet_id}' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidSubnetID.NotFound)"
            refuse("InvalidParameterException", text, clusterName=name)
        found.append(subnet)
    if len({s["vpc_id"] for s in found}) > 1:
        refuse("InvalidParameterException", "Subnets must belong to the same VPC", clusterName=name)
    if len({s["zone"] for s in found}) < 2:
        text = "Subnets specified must be in at least two different AZs"
        refuse("InvalidParameterException", text, clusterName=name)
    return found


def _groups(parts: Parts, name: str, ids: list[str], vpc_id: str) -> None:
    for group_id in ids:
        group = parts.outside.security_group(group_id)
        if group is None:
            text = f"The security group ID '{group_id}' does not exist"
            refuse("InvalidParameterException", text, clusterName=name)
        if group.get("vpc_id", vpc_id) != vpc_id:
            text = f"Security group(s) [{group_id}] are not in the same VPC as the subnets."
            refuse("InvalidParameterException", text, clusterName=name)


def role_at_work(parts: Parts, doc: Doc) -> Doc | None:
    """The health issue of a role that cannot do its work; None when it can."""
    role = parts.outside.role(doc["roleArn"])
    if role is None:
        text = "We couldn't find the role associated with your cluster."
        return {"code": "IamRoleNotFound", "message": text, "resourceIds": [doc["roleArn"]]}
    if not parts.outside.role_can(role["name"], "ec2:CreateNetworkInterface", "*"):
        text = "The role associated with your cluster lacks permission to create network interfaces."
        return {"code": "AccessDenied", "message": text, "resourceIds": [doc["roleArn"]]}
    return None


def one_per_zone(parts: Parts, subnet_ids: list[str]) -> list[str]:
    """The first subnet of each zone."""
    chosen: dict[str, str] = {}
    for subnet_id in subnet_ids:
        subnet = parts.outside.subnet(subnet_id)
        if subnet is not None:
            chosen.setdefault(subnet["zone"], subnet_id)
    return list(chosen.values())


def cluster_group(parts: Parts, name: str, vpc_id: str) -> str:
    """Make the security group that EKS gives every cluster; answers its id."""
    made = parts.outside.call(
        "ec2",
        "create_security_group",
        GroupName=f"eks-cluster-sg-{name}-{parts.world.ids.hex('', 8)}",
        Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes.",
        VpcId=vpc_id,
    )
    return str(made["GroupId"])


def remove_cluster_group(parts: Parts, doc: Doc) -> None:
    """Remove the cluster's own security group; one that others use stays, as on AWS."""
    group_id = doc["resourcesVpcConfig"].get("clusterSecurityGroupId")
    if group_id and parts.outside.security_group(group_id):
        try:
            parts.outside.call("ec2", "delete_security_group", GroupId=group_id)
        except AwsError:
            return


def deletion(doc: Doc) -> None:
    """Refuse to delete what cannot be deleted now."""
    name = doc["name"]
    if doc["status"] in ("CREATING", "UPDATING", "DELETING"):
        text = f"Cluster {name} has status {doc['status']} and cannot be deleted now."
        code = "ResourceInUseException"
        refuse(code, text, clusterName=name)
    if doc.get("deletionProtection"):
        text = f"Cluster {name} has deletion protection enabled; disable it before the cluster is deleted."
        refuse("InvalidRequestException", text, clusterName=name)
