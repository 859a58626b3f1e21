"""The stage that makes volume and claim, or takes the ones that stand."""

from __future__ import annotations

from typing import Any

from instantstart.core.names import CLAIM_NAMESPACE
from instantstart.kube.client import Kube
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage
from instantstart.storage import manifests, rules
from instantstart.storage.plan import CLAIM
from instantstart.storage.problems import CLAIM_DIFFERS, CLAIM_FOREIGN, CLAIM_LOST

Doc = dict[str, Any]


@stage(CLAIM, effects=("absolute kubernetes:apply",))
async def ensure_claim(ctx: StageContext) -> Result:
    """A volume of the bucket, and a claim bound to it. Outputs: claim, namespace, volume, bucket."""
    p = ctx.params
    kube = await ctx.services.kube.get(p["eks_cluster"])
    name, volume_name = p["claim"], manifests.volume_name(p["claim"])
    volume = await kube.get("persistentvolumes", volume_name)
    claim = await kube.get("persistentvolumeclaims", name, CLAIM_NAMESPACE)
    _check(p, volume, claim)
    made = ctx.own_outputs.get("made", False)
    if volume is None:
        await _apply(ctx, kube, manifests.volume(p["tag"], name, p["bucket"], p["region"]))
        made = True
    if claim is None:
        await _apply(ctx, kube, manifests.claim(p["tag"], name))
        made = True
    outputs = {"claim": name, "namespace": CLAIM_NAMESPACE, "volume": volume_name, "bucket": p["bucket"]}
    phase = rules.phase(claim)
    if phase == "Lost":
        raise CLAIM_LOST(
            f"Claim {CLAIM_NAMESPACE}/{name} has lost its volume {volume_name}.",
            remedy=f"kubectl delete pvc {name} -n {CLAIM_NAMESPACE}; then retry.",
        )
    if claim is None or phase != "Bound":
        said = f"The claim is {phase}."
        attention = said if ctx.waited > 60 else None
        return Waiting(said, attention=attention, poll_after=5.0, outputs={**outputs, "made": made})
    return Done(outputs) if made else Unchanged(outputs)


def _check(p: Doc, volume: Doc | None, claim: Doc | None) -> None:
    """What stands must be ours and of this bucket. A volume's source can never be changed."""
    for kind, found in (("volume", volume), ("claim", claim)):
        if found is not None and not rules.is_ours(found):
            name = found["metadata"]["name"]
            raise CLAIM_FOREIGN(f"The {kind} {name} is there, but InstantStart did not make it.")
    if volume is not None and rules.bucket_of(volume) != p["bucket"]:
        raise CLAIM_DIFFERS(
            f"Volume {volume['metadata']['name']} mounts bucket {rules.bucket_of(volume) or 'of no S3 mount'}; "
            f"{p['bucket']} is asked for."
        )


async def _apply(ctx: StageContext, kube: Kube, obj: Doc) -> None:
    metadata = obj["metadata"]
    subject = f"{obj['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
    await ctx.effect("absolute", "kubernetes:apply", subject, lambda: kube.apply(obj))
