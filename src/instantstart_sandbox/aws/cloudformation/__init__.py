"""CloudFormation without stacks: reads tell truly that there are none, and making one is refused aloud."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.registry import CallContext, Handler, Params


def _absent(name: str) -> AwsError:
    return AwsError("ValidationError", f"Stack with id {name} does not exist", 400)


def describe_stacks(_ctx: CallContext, params: Params) -> dict[str, Any]:
    """No stack by name is there; the list of all is empty."""
    if params.get("StackName"):
        raise _absent(params["StackName"])
    return {"Stacks": []}


def list_stacks(_ctx: CallContext, _params: Params) -> dict[str, Any]:
    """There is none."""
    return {"StackSummaries": []}


def of_one_stack(_ctx: CallContext, params: Params) -> dict[str, Any]:
    """Whatever is asked of one stack: it is not there."""
    raise _absent(params.get("StackName", ""))


def delete_stack(ctx: CallContext, _params: Params) -> dict[str, Any]:
    """Deleting what is not there succeeds and changes nothing, as at AWS."""
    ctx.mark_applied(False)
    return {}


class CloudFormation:
    """The service's table. CreateStack is not in it, so it is an explicit error."""

    service = "cloudformation"
    operations: dict[str, Handler] = {  # noqa: RUF012 - a constant table
        "DescribeStacks": describe_stacks,
        "ListStacks": list_stacks,
        "DescribeStackEvents": of_one_stack,
        "DescribeStackResources": of_one_stack,
        "ListStackResources": of_one_stack,
        "GetTemplate": of_one_stack,
        "DeleteStack": delete_stack,
    }
