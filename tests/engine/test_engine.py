"""The engine: graph, retry, cancel, crash at every seam, lost answers, once-effects, consent, same request twice."""

from __future__ import annotations

from typing import Any

import pytest

from instantstart.core.plan import Consent, PlannedObject
from instantstart.core.problem import ProblemError, ProblemKind
from instantstart.operations.schema import InFlight, RetryRequest
from instantstart.operations.seams import AbortedError, Seams
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Unproven, Waiting
from tests.engine.conftest import CALLER, Bench, Define, spec

BROKEN = ProblemKind("test_broken", 409, "Broken")


def ensure(bench: Bench, thing: str, effect: Any = "named", **more: Any) -> Any:
    """A stage that looks, acts if absent."""

    async def run(ctx: StageContext) -> Result:
        if thing in bench.world.things:
            return Unchanged({"id": thing})
        await ctx.effect(effect, "test:Create", thing, lambda: bench.world.create(thing), **more)
        return Done({"id": thing})

    return run


async def test_a_graph_runs_in_order_and_records_what_happened(bench: Bench, define: Define) -> None:
    define("ensure_a", ensure(bench, "a"))
    define("ensure_b", ensure(bench, "b"))
    op = await bench.submit(spec("ensure_b", "ensure_a"), spec("ensure_a"))
    op = await bench.until(op.id)
    assert op.state == "succeeded"
    assert bench.world.calls == ["a", "b"]
    stage = next(s for s in op.stages if s.name == "ensure_a")
    assert (stage.state, stage.outputs, stage.history[-1].request_ids) == ("succeeded", {"id": "a"}, ["req-1"])
    assert op.progress.percent == 100


async def test_a_failure_lets_siblings_finish_and_retry_reruns_only_it(bench: Bench, define: Define) -> None:
    broken = [True]

    async def fragile(ctx: StageContext) -> Result:
        if broken[0]:
            raise BROKEN("no luck")
        return Done()

    define("ensure_bad", fragile)
    define("ensure_good", ensure(bench, "good"))
    define("ensure_after", ensure(bench, "after"))
    op = await bench.submit(spec("ensure_bad"), spec("ensure_good"), spec("ensure_after", "ensure_bad"))
    op = await bench.until(op.id)
    states = {s.name: s.state for s in op.stages}
    assert op.state == "failed" and op.problem is not None and op.problem.code == "test_broken"
    assert states == {"ensure_bad": "failed", "ensure_good": "succeeded", "ensure_after": "pending"}
    broken[0] = False
    op = await bench.engine.retry(op.id, RetryRequest(stage="ensure_bad"))
    assert not op.terminal
    op = await bench.until(op.id)
    assert op.state == "succeeded" and bench.world.calls == ["good", "after"]
    assert {s.name: s.attempts for s in op.stages} == {"ensure_bad": 2, "ensure_good": 1, "ensure_after": 1}


@pytest.mark.parametrize("point", ["before_call", "after_call", "after_commit", "stage_start", "stage_end"])
@pytest.mark.parametrize("effect", ["named", "token", "absolute"])
async def test_a_crash_at_any_seam_leaves_one_effect(bench: Bench, define: Define, point: str, effect: str) -> None:
    def hook(at: str, _stage: str, _effect: str) -> None:
        if at == point:
            raise AbortedError

    define("ensure_a", ensure(bench, "a", effect))
    await bench.stop()
    await bench.start(Seams(hook))
    op = await bench.submit(spec("ensure_a"))
    await bench.engine.aborted.wait()
    await bench.crash()
    await bench.start()
    op = await bench.until(op.id)
    assert op.state == "succeeded" and bench.world.calls == ["a"]


async def test_once_is_never_sent_twice(bench: Bench, define: Define) -> None:
    def hook(at: str, _stage: str, _effect: str) -> None:
        if at == "after_call":
            raise AbortedError

    async def reboot(ctx: StageContext) -> Result:
        await ctx.effect("once", "test:Reboot", "node-1", lambda: bench.world.create("reboot"))
        return Done()

    define("request_reboot", reboot)
    await bench.stop()
    await bench.start(Seams(hook))
    op = await bench.submit(spec("request_reboot"))
    await bench.engine.aborted.wait()
    await bench.crash()
    await bench.start()
    op = await bench.until(op.id)
    assert op.problem is not None and op.problem.code == "outcome_unknown"
    op = await bench.until((await bench.engine.retry(op.id, RetryRequest())).id)
    assert op.state == "failed" and bench.world.calls == ["reboot"]


async def test_once_with_evidence_finishes(bench: Bench, define: Define) -> None:
    def hook(at: str, _stage: str, _effect: str) -> None:
        if at == "after_call":
            raise AbortedError

    async def look() -> dict[str, Any] | None:
        return {} if bench.world.calls else None

    async def reboot(ctx: StageContext) -> Result:
        call = lambda: bench.world.create("reboot")  # noqa: E731
        await ctx.effect("once", "test:Reboot", "node-1", call, evidence=look)
        return Done()

    define("request_reboot", reboot)
    await bench.stop()
    await bench.start(Seams(hook))
    op = await bench.submit(spec("request_reboot"))
    await bench.engine.aborted.wait()
    await bench.crash()
    await bench.start()
    assert (await bench.until(op.id)).state == "succeeded" and bench.world.calls == ["reboot"]


async def test_a_lost_answer_waits_until_it_cannot_land_then_looks(bench: Bench, define: Define) -> None:
    landing: list[str] = []

    async def vanish() -> dict[str, Any]:
        landing.append("sent")
        problem = BROKEN("gone").problem
        raise ProblemError(problem, lost=True)

    async def run(ctx: StageContext) -> Result:
        if "a" in bench.world.things:
            return Unchanged()
        await ctx.effect("named", "test:Create", "a", vanish)
        return Done()

    define("ensure_a", run)
    op = await bench.submit(spec("ensure_a"))
    op = await bench.settle(op.id, lambda v: v.stages[0].state == "waiting")
    bench.advance(5)
    await bench.world.create("a")
    op = await bench.until(op.id)
    assert landing == ["sent"] and op.stages[0].state == "unchanged"
    assert [a.state for a in op.stages[0].history] == ["lost"]


async def test_tokens_and_generated_values_survive_a_crash(bench: Bench, define: Define) -> None:
    seen: list[tuple[str, str]] = []
    crash = [True]

    async def run(ctx: StageContext) -> Result:
        async def block() -> str:
            return f"10.{len(seen)}.0.0/20"

        seen.append((await ctx.token("create"), await ctx.generated("block", block)))
        if crash[0]:
            crash[0] = False
            raise AbortedError
        return Done()

    define("ensure_a", run)
    op = await bench.submit(spec("ensure_a"))
    await bench.engine.aborted.wait()
    await bench.crash()
    await bench.start()
    await bench.until(op.id)
    assert len(seen) == 2 and seen[0] == seen[1]


async def test_cancel_reaches_a_poller_and_lists_what_goes_on(bench: Bench, define: Define) -> None:
    flight = InFlight(what="EKS creates a cluster", undo="aws eks delete-cluster --name x")

    async def wait(ctx: StageContext) -> Result:
        return Waiting("creating", in_flight=flight)

    define("await_a", wait)
    op = await bench.submit(spec("await_a"), spec("await_b", "await_a"))
    await bench.settle(op.id, lambda v: v.stages[0].state == "waiting")
    await bench.engine.cancel(op.id)
    op = (await bench.engine.wait(op.id, 5)).operation
    assert op.state == "cancelled" and op.left_behind == [flight]
    assert [s.state for s in op.stages] == ["cancelled", "cancelled"]
    op = await bench.engine.retry(op.id, RetryRequest())
    assert not op.terminal


async def test_deadline_counts_only_what_counts(bench: Bench, define: Define) -> None:
    counts = [False]

    async def wait(ctx: StageContext) -> Result:
        return Waiting("deep health checks", counts=counts[0], attention=None if not counts[0] else "no capacity")

    define("await_a", wait)
    op = await bench.submit(spec("await_a", deadline_seconds=600))
    await bench.settle(op.id, lambda v: v.stages[0].state == "waiting")
    for _ in range(100):
        bench.advance(60)
        await bench.engine.wait(op.id, 0.01)
    assert (await bench.engine.view(op.id)).state == "waiting"
    counts[0] = True
    op = await bench.until(op.id, seconds=60)
    assert op.problem is not None and op.problem.code == "deadline_exceeded"


async def test_wait_returns_at_new_attention(bench: Bench, define: Define) -> None:
    attention: list[str | None] = [None]

    async def wait(ctx: StageContext) -> Result:
        return Waiting("creating", attention=attention[0])

    define("await_a", wait)
    op = await bench.submit(spec("await_a"))
    await bench.settle(op.id, lambda v: v.stages[0].state == "waiting")
    attention[0] = "us-west-2a has no capacity"
    bench.advance(60)
    waited = await bench.engine.wait(op.id, 5)
    assert waited.reason == "attention" and waited.operation.attention == ["us-west-2a has no capacity"]


async def test_the_same_request_gets_the_first_and_another_a_conflict(bench: Bench, define: Define) -> None:
    async def wait(ctx: StageContext) -> Result:
        return Waiting("creating")

    define("await_a", wait)
    first = await bench.submit(spec("await_a"), size=1)
    assert (await bench.submit(spec("await_a"), size=1)).id == first.id
    with pytest.raises(ProblemError) as caught:
        await bench.submit(spec("await_a"), size=2)
    assert caught.value.problem.data["operation"] == first.id


async def test_a_new_intent_supersedes_what_failed(bench: Bench, define: Define) -> None:
    async def fail(ctx: StageContext) -> Result:
        raise BROKEN("no")

    define("ensure_bad", fail)
    define("ensure_a", ensure(bench, "a"))
    first = await bench.until((await bench.submit(spec("ensure_bad"))).id)
    second = await bench.submit(spec("ensure_a"), size=2)
    first = await bench.engine.view(first.id)
    assert first.state == "superseded" and first.superseded_by == second.id


async def test_consent_inserts_removal_before_the_rerun(bench: Bench, define: Define) -> None:
    bench.world.things.add("dead")

    async def remove(ctx: StageContext) -> Result:
        await ctx.effect("named", "test:Delete", "dead", lambda: bench.world.create("gone"))
        bench.world.things.discard("dead")
        return Done()

    async def run(ctx: StageContext) -> Result:
        if "dead" in bench.world.things:
            gone = PlannedObject(kind="Thing", name="dead", action="remove", where="aws")
            consent = Consent(objects=[gone], stages=[spec("remove_dead")], rerun=["ensure_a"])
            raise BROKEN("a dead thing is in the way", consent=consent)
        await ctx.effect("named", "test:Create", "a", lambda: bench.world.create("a"))
        return Done()

    define("remove_dead", remove)
    define("ensure_a", run)
    op = await bench.until((await bench.submit(spec("ensure_a"))).id)
    assert [o.name for o in op.stages[0].retry_needs_consent] == ["dead"]
    with pytest.raises(ProblemError) as caught:
        await bench.engine.retry(op.id, RetryRequest())
    assert caught.value.code == "consent_required"
    op = await bench.until((await bench.engine.retry(op.id, RetryRequest(accept=["ensure_a"]))).id)
    assert op.state == "succeeded" and bench.world.calls == ["gone", "a"]
    assert [s.name for s in op.stages] == ["remove_dead", "ensure_a"]


async def test_unproven_ends_succeeded_and_can_be_run_again(bench: Bench, define: Define) -> None:
    nodes = [False]

    async def verify(ctx: StageContext) -> Result:
        return Done() if nodes[0] else Unproven("no schedulable node")

    define("verify_a", verify)
    op = await bench.until((await bench.submit(spec("verify_a"))).id)
    assert (op.state, op.stages[0].state) == ("succeeded", "unproven")
    nodes[0] = True
    op = await bench.until((await bench.engine.retry(op.id, RetryRequest(stage="verify_a"))).id)
    assert op.stages[0].state == "succeeded"


async def test_another_definition_stops_instead_of_guessing(bench: Bench, define: Define) -> None:
    define("ensure_a", ensure(bench, "a"), 2)
    op = await bench.until((await bench.submit(spec("ensure_a"))).id)
    assert op.problem is not None and op.problem.code == "stage_definition_changed"


async def test_a_stale_owner_cannot_write(bench: Bench, define: Define) -> None:
    from sqlalchemy import update

    from instantstart.db.tables import lease

    async def run(ctx: StageContext) -> Result:
        async with bench.services.db.write() as conn:
            await conn.execute(update(lease).values(fence=99))
        await ctx.effect("named", "test:Create", "a", lambda: bench.world.create("a"))
        return Done()

    define("ensure_a", run)
    op = await bench.submit(spec("ensure_a"))
    for _ in range(10):
        op = (await bench.engine.wait(op.id, 0.02)).operation
    assert bench.world.calls == [] and op.stages[0].state == "running"
    assert CALLER.can("operator")
