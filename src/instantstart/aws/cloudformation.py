"""CloudFormation: stacks, their outputs and what failed in them."""

from __future__ import annotations

from typing import Any

from instantstart.aws.absent import maybe, tag_list, tags_of
from instantstart.aws.clients import AwsClients

Doc = dict[str, Any]
BUSY = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS")
USABLE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")


async def describe_stack(aws: AwsClients, name_or_id: str) -> Doc | None:
    """The stack, or None; a name never answers a deleted stack, an id does (DELETE_COMPLETE)."""
    answer = await maybe(aws, "cloudformation", "describe_stacks", StackName=name_or_id)
    stacks = answer["Stacks"] if answer else []
    return stacks[0] if stacks else None


async def create_stack(
    aws: AwsClients,
    *,
    name: str,
    template: str,
    parameters: dict[str, str],
    token: str,
    tags: dict[str, str],
    iam: bool = False,
    on_failure: str = "ROLLBACK",
) -> Doc:
    """CreateStack with a client token. `iam` acknowledges that the template makes named roles."""
    return await aws.call(
        "cloudformation",
        "create_stack",
        StackName=name,
        TemplateBody=template,
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
        ClientRequestToken=token,
        Tags=tag_list(tags),
        Capabilities=["CAPABILITY_NAMED_IAM"] if iam else [],
        OnFailure=on_failure,
    )


async def delete_stack(aws: AwsClients, name_or_id: str, token: str) -> Doc:
    """DeleteStack with a client token; no error when it is gone already."""
    return await aws.call("cloudformation", "delete_stack", StackName=name_or_id, ClientRequestToken=token)


async def events(aws: AwsClients, name_or_id: str) -> list[Doc]:
    """Every event of the stack, newest first."""
    return await aws.pages("cloudformation", "describe_stack_events", "StackEvents", StackName=name_or_id)


async def resources(aws: AwsClients, name_or_id: str) -> list[Doc]:
    """Summaries of the stack's resources."""
    return await aws.pages("cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=name_or_id)


def outputs(stack: Doc) -> dict[str, str]:
    """A stack's outputs by key."""
    return {o["OutputKey"]: o.get("OutputValue", "") for o in stack.get("Outputs") or []}


def tags(stack: Doc) -> dict[str, str]:
    """A stack's tags."""
    return tags_of(stack.get("Tags"))


def first_failures(found: list[Doc], token: str | None = None) -> list[Doc]:
    """What failed by itself, oldest first: `{resource, type, reason}`, without what was only cancelled.

    `found` are events newest first; `token` limits them to one request.
    """
    return [
        {"resource": e.get("LogicalResourceId"), "type": e.get("ResourceType"), "reason": e["ResourceStatusReason"]}
        for e in reversed(found)
        if str(e.get("ResourceStatus", "")).endswith("_FAILED")
        and e.get("ResourceStatusReason")
        and "cancelled" not in e["ResourceStatusReason"].lower()
        and e.get("PhysicalResourceId") != e.get("StackId")
        and (token is None or e.get("ClientRequestToken") in (None, token))
    ]
