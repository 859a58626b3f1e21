"""Pod identity associations: which role the pods of a service account get."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.eks.parts import ASSOCIATION, Doc, Parts, refuse, shaped
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.outside import trusts
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params

_SUMMARY = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId", "ownerArn")
_SERVICE = "pods.eks.amazonaws.com"


class PodIdentity:
    """Operations on associations."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "CreatePodIdentityAssociation": self.create,
            "DescribePodIdentityAssociation": self.describe,
            "ListPodIdentityAssociations": self.list,
            "UpdatePodIdentityAssociation": self.update,
            "DeletePodIdentityAssociation": self.delete,
        }

    def create(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """One association for each service account; a second is ResourceInUse."""
        self.parts.active_cluster(params["clusterName"])
        held = self._of(params["clusterName"], params["namespace"], params["serviceAccount"])
        if held is not None:
            key = f"{params['clusterName']}/{held['associationId']}"
            if self.parts.replayed(ctx, params, key):
                return {"association": shaped("PodIdentityAssociation", held)}
            account = f"{params['namespace']}/{params['serviceAccount']}"
            refuse("ResourceInUseException", f"Association already exists: {held['associationId']} for {account}")
        self._role(params["roleArn"])
        doc = self.add(params, None)
        self.parts.keep_token(ctx, params, f"{params['clusterName']}/{doc['associationId']}")
        return {"association": shaped("PodIdentityAssociation", doc)}

    def check_new(self, cluster: str, namespace: str, wanted: Params) -> None:
        """Refuse an association that an add-on wants and cannot have."""
        if self._of(cluster, namespace, wanted["serviceAccount"]) is not None:
            account = f"{namespace}/{wanted['serviceAccount']}"
            refuse("ResourceInUseException", f"A pod identity association already exists for {account}")
        self._role(wanted["roleArn"])

    def _role(self, arn: str) -> None:
        role = self.parts.outside.role(arn)
        if role is None or not role["visible"]:
            text = f"Role provided in the request does not exist: {arn}"
            refuse("InvalidParameterException", text)
        if not trusts(role, _SERVICE) or not trusts(role, _SERVICE, "sts:TagSession"):
            text = (
                f"Trust policy of the role {arn} is invalid. Please verify that pods.eks.amazonaws.com may assume it."
            )
            refuse("InvalidParameterException", text)

    def add(self, params: Params, owner: str | None) -> Doc:
        """Keep a new association; `owner` is the ARN of the add-on it belongs to."""
        cluster, now = params["clusterName"], self.world.clock.time()
        number = self.world.ids.text(17)
        doc = {
            "clusterName": cluster,
            "namespace": params["namespace"],
            "serviceAccount": params["serviceAccount"],
            "roleArn": params["roleArn"],
            "associationArn": self.parts.arn("podidentityassociation", f"{cluster}/a-{number}"),
            "associationId": f"a-{number}",
            "tags": params.get("tags") or {},
            "createdAt": now,
            "modifiedAt": now,
            "ownerArn": owner,
            "disableSessionTags": params.get("disableSessionTags", False),
            "targetRoleArn": params.get("targetRoleArn"),
        }
        doc = {k: v for k, v in doc.items() if v is not None}
        return self.world.store.put(ASSOCIATION, f"{cluster}/{doc['associationId']}", doc)

    def _of(self, cluster: str, namespace: str, account: str) -> Doc | None:
        found = self.world.store.list(ASSOCIATION, f"{cluster}/")
        return next((a for a in found if (a["namespace"], a["serviceAccount"]) == (namespace, account)), None)

    def _one(self, params: Params) -> Doc:
        self.parts.cluster(params["clusterName"])
        found = self.world.store.get(ASSOCIATION, f"{params['clusterName']}/{params['associationId']}")
        if found is None:
            raise AwsError("ResourceNotFoundException", f"Association not found: {params['associationId']}", 404)
        return found

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One association."""
        return {"association": shaped("PodIdentityAssociation", self._one(params))}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Summaries; without roles."""
        self.parts.cluster(params["clusterName"])
        wanted: dict[str, Any] = {k: params[k] for k in ("namespace", "serviceAccount") if k in params}
        found = [
            {k: a[k] for k in _SUMMARY if k in a}
            for a in self.world.store.list(ASSOCIATION, f"{params['clusterName']}/")
            if all(a[k] == v for k, v in wanted.items())
        ]
        question = {**wanted, "cluster": params["clusterName"]}
        items, token = page(
            found, params.get("maxResults", 100), params.get("nextToken"), question, code="InvalidParameterException"
        )
        return {"associations": items, "nextToken": token}

    def update(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Change the role."""
        held = self._one(params)
        changes: dict[str, Any] = {
            k: params[k] for k in ("roleArn", "targetRoleArn", "disableSessionTags") if k in params
        }
        if "roleArn" in changes:
            self._role(changes["roleArn"])
        if all(held.get(k) == v for k, v in changes.items()):
            ctx.mark_applied(False)
        doc = {**held, **changes, "modifiedAt": self.world.clock.time()}
        self.world.store.put(ASSOCIATION, f"{params['clusterName']}/{params['associationId']}", doc)
        return {"association": shaped("PodIdentityAssociation", doc)}

    def delete(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Remove one at once."""
        held = self._one(params)
        key = f"{params['clusterName']}/{params['associationId']}"
        self.world.store.delete(ASSOCIATION, key)
        self.parts.forget_tokens(key)
        return {"association": shaped("PodIdentityAssociation", held)}
