"""Stages of the network stack: ask for it, await it, and the mirrors that remove it."""

from __future__ import annotations

from typing import Any

from instantstart.aws import cloudformation
from instantstart.core.names import network_stack
from instantstart.network import compute, removal, shapes, template
from instantstart.network.blocks import overlapping
from instantstart.network.facts import VpcFacts
from instantstart.network.observe import observe_vpc
from instantstart.network.plan import AWAIT, AWAIT_REMOVED, REMOVE, REQUEST, stack_removal_specs
from instantstart.network.problems import NETWORK_DIFFERS
from instantstart.network.stacks import (
    CREATE_EFFECT,
    DELETE_EFFECT,
    StackWish,
    await_removed,
    await_stack,
    request_removal,
    request_stack,
)
from instantstart.network.template import StackShape
from instantstart.operations.stage import Done, Result, StageContext, stage

__all__ = ["compute", "removal"]
_TITLE = "The network stack"


@stage(REQUEST, effects=(CREATE_EFFECT,))
async def request_network_stack(ctx: StageContext) -> Result:
    """Ask for the stack of this tag, or take the one that stands."""
    wish = _wish(ctx)
    await _check_same(ctx, wish)

    async def make() -> tuple[str, dict[str, str]]:
        shape = await _shape(ctx)
        return template.text(shape), template.parameters(shape)

    return await request_stack(ctx, wish, make)


@stage(AWAIT)
async def await_network_stack(ctx: StageContext) -> Result:
    """Wait for the stack; its outputs are what later stages build on."""
    result = await await_stack(ctx, _wish(ctx), ctx.outputs(REQUEST).get("stack_id", ""))
    if isinstance(result, Done):
        subnets = str(result.outputs["control_subnet_ids"])
        return Done({**result.outputs, "control_subnet_ids": subnets.split(",")})
    return result


@stage(REMOVE, effects=(DELETE_EFFECT,))
async def remove_network_stack(ctx: StageContext) -> Result:
    """Ask for the removal of our stack; a foreign one is left alone."""
    return await request_removal(ctx, network_stack(ctx.params["tag"]), ctx.params["tag"], _TITLE)


@stage(AWAIT_REMOVED)
async def await_network_stack_removed(ctx: StageContext) -> Result:
    """Wait until the stack is gone."""
    return await await_removed(ctx, _removal_id(ctx), _TITLE, [REMOVE, AWAIT_REMOVED])


def _removal_id(ctx: StageContext) -> str:
    """The stack's id from the removal before; consented removals may have a number in their name."""
    before = next((n for n in ctx.spec.needs if n.startswith(REMOVE)), REMOVE)
    return str(ctx.outputs(before).get("stack_id", ""))


def _wish(ctx: StageContext) -> StackWish:
    tag = ctx.params["tag"]
    return StackWish(network_stack(tag), tag, _TITLE, True, tuple(stack_removal_specs(tag)), (REQUEST, AWAIT))


async def _check_same(ctx: StageContext, wish: StackWish) -> None:
    """What stands must lie in the VPC, or have the CIDR, that is asked for now."""
    stack = await cloudformation.describe_stack(ctx.services.aws, wish.name)
    if stack is None or stack["StackStatus"] not in cloudformation.USABLE:
        return
    stands = {p["ParameterKey"]: p.get("ParameterValue") for p in stack.get("Parameters") or []}
    for name, asked in (("VpcId", ctx.params["vpc_id"]), ("VpcCidr", ctx.params["cidr"])):
        if asked and stands.get(name) != asked:
            where = stands.get("VpcId") or stands.get("VpcCidr")
            raise NETWORK_DIFFERS(f"The network of {wish.tag} stands in {where}; {asked} is asked for now.")


async def _shape(ctx: StageContext) -> StackShape:
    params = ctx.params
    zones = tuple(params["zones"])
    common: dict[str, Any] = {
        "tag": params["tag"],
        "region": ctx.services.aws.region,
        "zones": zones,
        "bucket": params["bucket"],
    }
    if params["vpc_id"] is None:
        return shapes.new_vpc(params["cidr"], zones, common)
    vpc = await observe_vpc(ctx.services.aws, params["vpc_id"])
    if vpc is None:
        raise NETWORK_DIFFERS(f"There is no VPC {params['vpc_id']} in {ctx.services.aws.region}.")
    return shapes.reused_vpc(vpc, zones, await _blocks(ctx, vpc, zones), common)


async def _blocks(ctx: StageContext, vpc: VpcFacts, zones: tuple[str, ...]) -> list[str]:
    """The small blocks, stored before the stack is asked for, chosen again when taken since."""
    taken = [s.cidr for s in vpc.subnets]

    async def choose() -> list[str]:
        return shapes.choose_blocks(vpc, zones)

    blocks = await ctx.generated("blocks", choose)
    if len(blocks) == shapes.block_count(vpc, zones) and not any(overlapping(b, taken) for b in blocks):
        return blocks
    await ctx.forget("blocks")
    return await ctx.generated("blocks", choose)
