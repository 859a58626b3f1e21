"""The one STS call that is ours: who am I, by the same table that the Kubernetes endpoint's sign-in uses."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.access import identity_of
from instantstart_sandbox.aws.registry import CallContext, Handler, Params


def get_caller_identity(ctx: CallContext, _params: Params) -> dict[str, Any]:
    """The principal behind the request's access key."""
    return identity_of(ctx.world, ctx.principal)


class CallerIdentity:
    """STS, as far as it is not moto's."""

    service = "sts"
    partial = True
    operations: dict[str, Handler] = {"GetCallerIdentity": get_caller_identity}  # noqa: RUF012 - a constant table
