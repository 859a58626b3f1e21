"""What the controllers need of the AWS side, as a protocol: roles, buckets and objects, read and written synchronously."""

from __future__ import annotations

from typing import Any, Protocol

Obj = dict[str, Any]


class AwsFacts(Protocol):
    """The part of the AWS views that mounts and containers use."""

    def role(self, arn_or_name: str) -> Obj | None:
        """{arn, name, trust, policies, created_epoch, visible}, or None."""

    def role_can(self, role_name: str, action: str, resource: str) -> bool:
        """Whether the role's policies allow the action on the resource (an ARN)."""

    def oidc_provider(self, arn: str) -> Obj | None:
        """The provider, or None."""

    def bucket(self, name: str) -> Obj | None:
        """{name, region, owner}, or None."""

    def put_object(self, bucket: str, key: str, content: bytes) -> Any:
        """Write an object."""

    def get_object(self, bucket: str, key: str) -> bytes | None:
        """The object's bytes, or None."""

    def delete_object(self, bucket: str, key: str) -> Any:
        """Delete an object, if it is there."""

    def list_objects(self, bucket: str, prefix: str = "") -> list[Any]:
        """What is there under a prefix."""
