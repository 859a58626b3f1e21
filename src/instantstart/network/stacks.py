"""CloudFormation stacks of ours, asked for and awaited: what is there is told apart as usable, busy, dead, foreign."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from instantstart.aws import cloudformation
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import OWNER_TAG, owner_tags
from instantstart.core.plan import Consent, PlannedObject, StageSpec
from instantstart.core.problem import ProblemError
from instantstart.network.problems import STACK_FAILED, STACK_FOREIGN, STACK_REMOVAL_FAILED
from instantstart.operations.schema import InFlight
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting

Doc = dict[str, Any]
CREATE_EFFECT = "token cloudformation:CreateStack"
DELETE_EFFECT = "token cloudformation:DeleteStack"
_DEAD = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")


@dataclass(frozen=True)
class StackWish:
    """One stack: its name, whose it is, and what a retry over a dead one must do."""

    name: str
    tag: str
    title: str
    """In a sentence: "the network stack"."""
    iam: bool
    remove: tuple[StageSpec, ...]
    """Removal stages for a dead stack."""
    rerun: tuple[str, ...]
    """Stages that run again after it."""

    def consent(self) -> Consent:
        """What a retry over the dead stack removes first."""
        gone = PlannedObject(kind="AWS::CloudFormation::Stack", name=self.name, action="remove", where="aws")
        return Consent(objects=[gone], stages=list(self.remove), rerun=list(self.rerun))


Template = Callable[[], Awaitable[tuple[str, dict[str, str]]]]
"""Makes the template's text and its parameters; called only when the stack must be created."""


async def request_stack(ctx: StageContext, wish: StackWish, template: Template) -> Result:
    """Ask for the stack unless it is there. Outputs: stack_id, stack_name."""
    aws = ctx.services.aws
    stack = await cloudformation.describe_stack(aws, wish.name)
    if stack is None:
        return await _create(ctx, wish, template)
    _check_owner(stack, wish)
    status = stack["StackStatus"]
    outputs = {"stack_id": stack["StackId"], "stack_name": wish.name}
    if status in cloudformation.USABLE:
        return Unchanged(outputs, f"{wish.title} is there.")
    if status == "CREATE_IN_PROGRESS":
        return Done(outputs, f"{wish.title} is being created.", _in_flight(wish))
    if status in _DEAD:
        raise await _failure(ctx, wish, stack)
    return Waiting(f"{wish.title} is {status}.", poll_after=10.0)


async def await_stack(ctx: StageContext, wish: StackWish, stack_id: str) -> Result:
    """Wait until the stack is there. Outputs: the stack's own, in snake_case, and stack_id."""
    aws = ctx.services.aws
    stack = await cloudformation.describe_stack(aws, stack_id or wish.name)
    if stack is None:
        return Waiting(f"{wish.title} is not to be seen yet.", poll_after=5.0)
    status = stack["StackStatus"]
    if status in cloudformation.USABLE:
        found = {_snake(k): v for k, v in cloudformation.outputs(stack).items()}
        return Done({**found, "stack_id": stack["StackId"], "stack_name": wish.name})
    if status in _DEAD or status == "DELETE_COMPLETE":
        raise await _failure(ctx, wish, stack)
    if status == "CREATE_IN_PROGRESS":
        return Waiting(await _progress(ctx, wish, stack), in_flight=_in_flight(wish))
    reasons = await _reasons(ctx, stack)
    return Waiting(f"{wish.title} is {status}.", attention="; ".join(reasons) or None, in_flight=_in_flight(wish))


async def request_removal(ctx: StageContext, name: str, tag: str, title: str) -> Result:
    """Ask CloudFormation to remove our stack. Outputs: stack_id ("" when there is none)."""
    aws = ctx.services.aws
    stack = await cloudformation.describe_stack(aws, name)
    if stack is None or stack["StackStatus"] == "DELETE_COMPLETE":
        return Unchanged({"stack_id": ""}, f"{title} is gone.")
    if cloudformation.tags(stack).get(OWNER_TAG) != tag:
        raise STACK_FOREIGN(f"Stack {name} does not carry the tag {OWNER_TAG}={tag}; it is left alone.")
    outputs = {"stack_id": stack["StackId"]}
    if stack["StackStatus"] == "DELETE_IN_PROGRESS":
        return Done(outputs, f"{title} is being removed.")
    if stack["StackStatus"].endswith("_IN_PROGRESS") and stack["StackStatus"] != "CREATE_IN_PROGRESS":
        return Waiting(f"{title} is {stack['StackStatus']}.", poll_after=10.0)
    if stack["StackStatus"] == "DELETE_FAILED":
        await ctx.renew_token("delete")
    token = await ctx.token("delete")
    await ctx.effect(
        "token", "cloudformation:DeleteStack", name, lambda: cloudformation.delete_stack(aws, stack["StackId"], token)
    )
    return Done(outputs, f"{title} is being removed.")


async def await_removed(ctx: StageContext, stack_id: str, title: str, rerun: list[str]) -> Result:
    """Wait until the stack is gone; `rerun` are the stages that a retry over a failed removal runs again."""
    if not stack_id:
        return Unchanged()
    stack = await cloudformation.describe_stack(ctx.services.aws, stack_id)
    if stack is None or stack["StackStatus"] == "DELETE_COMPLETE":
        return Done(message=f"{title} is gone.")
    if stack["StackStatus"] == "DELETE_FAILED":
        reasons = await _reasons(ctx, stack)
        raise STACK_REMOVAL_FAILED(
            f"{title} could not be removed: " + ("; ".join(reasons) or "no reason was given") + ".",
            data={"stack": stack["StackName"], "reasons": reasons},
            consent=Consent(objects=[], stages=[], rerun=rerun),
        )
    return Waiting(f"{title} is {stack['StackStatus']}.")


async def _create(ctx: StageContext, wish: StackWish, template: Template) -> Result:
    text, parameters = await template()
    token = await ctx.token("create")
    aws = ctx.services.aws
    try:
        answer = await ctx.effect(
            "token",
            "cloudformation:CreateStack",
            wish.name,
            lambda: cloudformation.create_stack(
                aws,
                name=wish.name,
                template=text,
                parameters=parameters,
                token=token,
                tags=owner_tags(wish.tag),
                iam=wish.iam,
            ),
        )
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"{wish.title} was there after all; looking again.", poll_after=3.0)
        raise
    return Done({"stack_id": answer["StackId"], "stack_name": wish.name}, in_flight=_in_flight(wish))


def _check_owner(stack: Doc, wish: StackWish) -> None:
    owner = cloudformation.tags(stack).get(OWNER_TAG)
    if owner != wish.tag:
        whose = f"belongs to {owner}" if owner else "was not made by InstantStart"
        raise STACK_FOREIGN(f"The stack {wish.name} is there, but it {whose}.", data={"stack": stack["StackId"]})


async def _failure(ctx: StageContext, wish: StackWish, stack: Doc) -> ProblemError:
    reasons = await _reasons(ctx, stack)
    said = "; ".join(reasons) or stack.get("StackStatusReason") or "no reason was given"
    return STACK_FAILED(
        f"{wish.title} is {stack['StackStatus']}: {said}",
        data={"stack": wish.name, "status": stack["StackStatus"], "reasons": reasons},
        consent=wish.consent(),
    )


async def _reasons(ctx: StageContext, stack: Doc) -> list[str]:
    found = cloudformation.first_failures(await cloudformation.events(ctx.services.aws, stack["StackId"]))
    return [f"{f['resource']} ({f['type']}): {f['reason']}" for f in found][:5]


async def _progress(ctx: StageContext, wish: StackWish, stack: Doc) -> str:
    made = await cloudformation.resources(ctx.services.aws, stack["StackId"])
    done = sum(1 for r in made if r["ResourceStatus"] == "CREATE_COMPLETE")
    return f"{wish.title}: {done} of {len(made)} objects begun so far are done."


def _in_flight(wish: StackWish) -> InFlight:
    return InFlight(
        what=f"CloudFormation goes on creating {wish.title[:1].lower()}{wish.title[1:]}.",
        undo=f"aws cloudformation delete-stack --stack-name {wish.name}",
    )


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
