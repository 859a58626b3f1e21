"""The stage that proves a mount: a Job writes, reads and deletes an object through it, then its result is kept."""

from __future__ import annotations

import secrets
from typing import Any

from instantstart.addons.rules import schedulable
from instantstart.core.names import CLAIM_NAMESPACE
from instantstart.core.redaction import redact
from instantstart.kube.client import Kube
from instantstart.kube.errors import KubeProblem
from instantstart.operations.schema import InFlight
from instantstart.operations.stage import Done, Result, StageContext, Unproven, Waiting, stage
from instantstart.storage import manifests, rules
from instantstart.storage.plan import VERIFY
from instantstart.storage.problems import CLAIM_MISSING, STORAGE_UNUSABLE

Doc = dict[str, Any]
_EFFECTS = ("named kubernetes:create", "named kubernetes:delete", "absolute kubernetes:patch")
_GIVE_UP_SECONDS = 600.0
_SETTLING_SECONDS = 60.0
"""A role or driver that was made a moment ago may fail a first mount, which the kubelet tries again."""
_NO_NODE = "There is no schedulable node yet: the mount is not proved. Retry this stage when there is one."


@stage(VERIFY, effects=_EFFECTS)
async def verify_storage(ctx: StageContext) -> Result:
    """Outputs: claim, proved. Ends unproven without a node that takes pods; raises storage_unusable with the cause."""
    kube = await ctx.services.kube.get(ctx.params["eks_cluster"])
    claim = ctx.params["claim"]
    name = await ctx.generated("job", lambda: _name(claim))
    kept: Doc | None = await ctx.generated("verdict", _nothing)
    if kept:
        return await _conclude(ctx, kube, name, kept)
    job = await kube.get("jobs.batch", name, CLAIM_NAMESPACE)
    nodes = [n for n in await kube.list("nodes") if schedulable(n)]
    if job is None:
        if not nodes:
            return Unproven(_NO_NODE, {"claim": claim, "proved": False})
        return await _begin(ctx, kube, name)
    result, said = rules.verdict(job)
    if result == "proved":
        return await _conclude(ctx, kube, name, await _keep(ctx, {"result": "proved"}))
    pods = await kube.list("pods", CLAIM_NAMESPACE, labels=f"job-name={name}")
    fault = await _fault(kube, name, pods)
    if result == "failed":
        why = await _exit(kube, pods) or fault or said
        return await _conclude(ctx, kube, name, await _keep(ctx, {"result": "failed", "message": why}))
    if not nodes and not any((p.get("spec") or {}).get("nodeName") for p in pods):
        await _remove(ctx, kube, name)
        return Unproven(_NO_NODE, {"claim": claim, "proved": False})
    if fault and ctx.waited > _GIVE_UP_SECONDS:
        return await _conclude(ctx, kube, name, await _keep(ctx, {"result": "failed", "message": fault}))
    attention = fault if ctx.waited > _SETTLING_SECONDS else None
    return Waiting(fault or "The Job is at work.", attention=attention, poll_after=10.0, in_flight=_in_flight(name))


async def _name(claim: str) -> str:
    return f"verify-{claim}-{secrets.token_hex(3)}"


async def _nothing() -> Doc:
    return {}


async def _keep(ctx: StageContext, verdict: Doc) -> Doc:
    """Store the verdict before the Job that it was read from is removed."""
    await ctx.forget("verdict")

    async def same() -> Doc:
        return verdict

    return await ctx.generated("verdict", same)


async def _begin(ctx: StageContext, kube: Kube, name: str) -> Result:
    p = ctx.params
    if await kube.get("persistentvolumeclaims", p["claim"], CLAIM_NAMESPACE) is None:
        raise CLAIM_MISSING(f"There is no claim {p['claim']} in {CLAIM_NAMESPACE}.")
    job = manifests.proof_job(p["tag"], p["claim"], name)
    try:
        await ctx.effect("named", "kubernetes:create", f"Job {CLAIM_NAMESPACE}/{name}", lambda: kube.create(job))
    except KubeProblem as error:
        if not error.conflict:
            raise
    return Waiting(f"The Job {name} writes, reads and deletes an object.", poll_after=5.0, in_flight=_in_flight(name))


async def _conclude(ctx: StageContext, kube: Kube, name: str, verdict: Doc) -> Result:
    """Write the result onto the claim, remove the Job, and say how it ended. What failed is tried anew by a retry."""
    claim, message = ctx.params["claim"], verdict.get("message")
    found = await kube.get("persistentvolumeclaims", claim, CLAIM_NAMESPACE)
    shown = str(redact(message))[:500] if message else None
    if found is not None and _notes(found) != (verdict["result"], shown):
        notes = manifests.proof_notes(verdict["result"], ctx.clock.now().isoformat(timespec="seconds"), shown)
        await ctx.effect(
            "absolute",
            "kubernetes:patch",
            f"PersistentVolumeClaim {CLAIM_NAMESPACE}/{claim}",
            lambda: kube.patch("persistentvolumeclaims", claim, notes, CLAIM_NAMESPACE),
        )
    await _remove(ctx, kube, name)
    if verdict["result"] == "proved":
        return Done({"claim": claim, "proved": True}, "An object was written, read and deleted.")
    await ctx.forget("job")
    await ctx.forget("verdict")
    raise STORAGE_UNUSABLE(f"Claim {claim}: {shown or 'the Job failed without saying why'}")


def _notes(claim: Doc) -> tuple[str | None, str | None]:
    notes = claim["metadata"].get("annotations") or {}
    return notes.get(manifests.PROOF_NOTE), notes.get(manifests.MESSAGE_NOTE)


async def _remove(ctx: StageContext, kube: Kube, name: str) -> None:
    if await kube.get("jobs.batch", name, CLAIM_NAMESPACE) is None:
        return

    async def call() -> Doc:
        await kube.delete("jobs.batch", name, CLAIM_NAMESPACE)
        return {}

    await ctx.effect("named", "kubernetes:delete", f"Job {CLAIM_NAMESPACE}/{name}", call)


async def _fault(kube: Kube, job: str, pods: list[Doc]) -> str | None:
    """The newest warning of the Job's pods, else of the Job itself."""
    events: list[Doc] = []
    for name in [*(p["metadata"]["name"] for p in pods), job]:
        events += await kube.list("events", CLAIM_NAMESPACE, fields=f"involvedObject.name={name}")
        if fault := rules.newest_fault(events):
            return fault
    return None


async def _exit(kube: Kube, pods: list[Doc]) -> str | None:
    """How the script ended, with its last words."""
    for pod in pods:
        ended = rules.exit_of(pod)
        if ended is not None and ended[0] != 0:
            words = ended[1] or await _last_words(kube, pod["metadata"]["name"])
            return f"The proving script ended with {ended[0]}" + (f": {words}" if words else ".")
    return None


async def _last_words(kube: Kube, pod: str) -> str:
    try:
        text = await kube.logs(CLAIM_NAMESPACE, pod, tail=3)
    except KubeProblem as error:
        if error.transient:
            raise
        return ""
    return " ".join(text.split())


def _in_flight(name: str) -> InFlight:
    return InFlight(
        what=f"The Job {name} goes on and is removed an hour after its end.",
        undo=f"kubectl delete job {name} -n {CLAIM_NAMESPACE}",
    )
