"""What exists, counted by kind: our documents, what the bridged services hold, and Kubernetes objects."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.world import World

_SHOWN = (
    "eks.cluster",
    "eks.addon",
    "eks.access_entry",
    "eks.pod_identity",
    "sagemaker.cluster",
    "sagemaker.node",
    "sagemaker.training_plan",
)


def count(world: World, outside: Any, kube: KubeApi) -> dict[str, int]:
    """{kind: how many}; kinds of which there are none are left out."""
    kinds = world.store.kinds()
    found = {k: n for k, n in kinds.items() if k in _SHOWN or k.startswith("cloudformation.")}
    counts = getattr(outside, "counts", None)
    found.update(counts() if counts is not None else {})
    for state in kube.engine.store.clusters.values():
        for resource, table in state.tables.items():
            if table.entries:
                key = f"kubernetes.{resource}"
                found[key] = found.get(key, 0) + len(table.entries)
    return {k: n for k, n in found.items() if n}
