"""What eks and sagemaker ask of the neighbouring services; `AwsViews` answers it over moto's ec2, iam and s3."""

from __future__ import annotations

from typing import Any, Protocol

Doc = dict[str, Any]


class Outside(Protocol):
    """Synchronous reads, and the few changes a managed service makes in the account."""

    def role(self, arn_or_name: str) -> Doc | None:
        """{arn, name, trust, policies, created_epoch, visible} or None."""
        ...

    def role_can(self, role_name: str, action: str, resource: str) -> bool:
        """Whether the role's policies allow the action."""
        ...

    def bucket(self, name: str) -> Doc | None:
        """{name, region, owner} or None."""
        ...

    def get_object(self, bucket: str, key: str) -> bytes | None:
        """Content of an object, or None."""
        ...

    def list_objects(self, bucket: str, prefix: str = "") -> Any:
        """Keys of a bucket."""
        ...

    def vpc(self, vpc_id: str) -> Doc | None:
        """The VPC, or None."""
        ...

    def subnet(self, subnet_id: str) -> Doc | None:
        """{subnet_id, vpc_id, zone, zone_id, cidr, free_addresses} or None."""
        ...

    def security_group(self, group_id: str) -> Doc | None:
        """The security group, or None."""
        ...

    def create_interface(
        self, subnet_id: str, security_groups: list[str], description: str, requester_managed: bool = True
    ) -> Doc:
        """A new interface {eni_id, private_ip}; raises InsufficientFreeAddresses."""
        ...

    def delete_interface(self, eni_id: str) -> None:
        """Remove an interface; nothing happens when it is gone."""
        ...

    def call(self, service: str, operation: str, **params: Any) -> Doc:
        """A boto-shaped call to a bridged service from inside."""
        ...


def trusts(role: Doc, service: str, action: str = "sts:AssumeRole") -> bool:
    """Whether a role's trust policy lets a service principal take the action."""
    statements = role.get("trust", {}).get("Statement", [])
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal")
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        actions = statement.get("Action", [])
        named = service in ([services] if isinstance(services, str) else services)
        listed = [actions] if isinstance(actions, str) else actions
        if statement.get("Effect") == "Allow" and named and {action, "sts:*", "*"} & set(listed):
            return True
    return False
