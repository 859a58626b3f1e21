"""Tags of clusters and training plans."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker.parts import CLUSTER, Doc, Parts, invalid, refuse
from instantstart_sandbox.defaults import PLAN


class Tags:
    """AddTags, ListTags, DeleteTags."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {"AddTags": self.add, "ListTags": self.list, "DeleteTags": self.delete}

    def _found(self, arn: str) -> tuple[str, str, Doc]:
        for kind, member in ((CLUSTER, "ClusterArn"), (PLAN, "TrainingPlanArn")):
            for key, doc in self.world.store.items(kind):
                if doc[member] == arn:
                    return kind, key, doc
        refuse("ResourceNotFound", f"Resource {arn} could not be found.")

    def add(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Set tags."""
        kind, key, doc = self._found(params["ResourceArn"])
        before = doc.get("tags") or {}
        tags = {**before, **{t["Key"]: t["Value"] for t in params["Tags"]}}
        if len(tags) > 50:
            invalid("A resource can have at most 50 tags.")
        ctx.mark_applied(tags != before)
        self.world.store.put(kind, key, {**doc, "tags": tags})
        return {"Tags": _shown(tags)}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """All tags, by key."""
        tags = _shown(self._found(params["ResourceArn"])[2].get("tags") or {})
        items, token = page(tags, params.get("MaxResults", 50), params.get("NextToken"), params["ResourceArn"])
        return {"Tags": items, "NextToken": token}

    def delete(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Remove tags."""
        kind, key, doc = self._found(params["ResourceArn"])
        before = doc.get("tags") or {}
        tags = {k: v for k, v in before.items() if k not in params["TagKeys"]}
        ctx.mark_applied(tags != before)
        self.world.store.put(kind, key, {**doc, "tags": tags})
        return {}


def _shown(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": k, "Value": v} for k, v in sorted(tags.items())]
