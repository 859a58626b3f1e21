"""Access entries and their policies: who may do what in a cluster."""

from __future__ import annotations

import re
from typing import Any

from instantstart_sandbox.aws.eks.entry_docs import new_entry
from instantstart_sandbox.aws.eks.parts import ENTRY, Doc, Parts, refuse, shaped
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params

PREFIX = "arn:aws:eks::aws:cluster-access-policy/"
POLICIES = (
    "AmazonEKSAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
    "AmazonEKSAutoNodePolicy",
    "AmazonEMRJobPolicy",
    "AmazonSagemakerHyperpodClusterPolicy",
    "AmazonSagemakerHyperpodControllerPolicy",
    "AmazonSagemakerHyperpodSystemNamespacePolicy",
)
_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+")


class Entries:
    """Operations on access entries."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "CreateAccessEntry": self.create,
            "DescribeAccessEntry": self.describe,
            "ListAccessEntries": self.list,
            "UpdateAccessEntry": self.update,
            "DeleteAccessEntry": self.delete,
            "AssociateAccessPolicy": self.associate,
            "DisassociateAccessPolicy": self.disassociate,
            "ListAssociatedAccessPolicies": self.associated,
            "ListAccessPolicies": self.policies,
        }

    def _cluster(self, name: str) -> Doc:
        cluster = self.parts.cluster(name)
        if cluster["accessConfig"]["authenticationMode"] == "CONFIG_MAP":
            text = (
                "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this "
                "operation."
            )
            refuse("InvalidRequestException", text)
        return cluster

    def _entry(self, params: Params) -> Doc:
        self._cluster(params["clusterName"])
        found = self.world.store.get(ENTRY, f"{params['clusterName']}/{params['principalArn']}")
        if found is None:
            text = f"The specified principalArn could not be found: {params['principalArn']}."
            raise AwsError("ResourceNotFoundException", text, 404)
        return found

    def _put(self, entry: Doc) -> None:
        self.world.store.put(ENTRY, f"{entry['clusterName']}/{entry['principalArn']}", entry)

    def create(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """A new entry grants nothing until a policy or a group does."""
        self._cluster(params["clusterName"])
        key = f"{params['clusterName']}/{params['principalArn']}"
        held = self.world.store.get(ENTRY, key)
        if held is not None and self.parts.replayed(ctx, params, key):
            return {"accessEntry": shaped("AccessEntry", held)}
        if held is not None:
            text = "The specified access entry resource is already in use on this cluster."
            refuse("ResourceInUseException", text)
        self._check(params)
        entry = new_entry(self.world, params["clusterName"], params["principalArn"], params)
        self._put(entry)
        self.parts.keep_token(ctx, params, key)
        return {"accessEntry": shaped("AccessEntry", entry)}

    def _check(self, params: Params) -> None:
        arn = params["principalArn"]
        if not _PRINCIPAL.fullmatch(arn):
            refuse("InvalidParameterException", f"The principalArn parameter format is not valid: {arn}")
        if ":role/" in arn and arn != self.world.account.caller and self.parts.outside.role(arn) is None:
            text = f"The specified principalArn is invalid: invalid principal: {arn}"
            refuse("InvalidParameterException", text)
        for group in params.get("kubernetesGroups") or []:
            if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
                text = f"The kubernetes group name {group} is invalid, it cannot start with system:"
                refuse("InvalidParameterException", text)
        if params.get("type", "STANDARD") != "STANDARD" and (params.get("kubernetesGroups") or params.get("username")):
            text = f"The kubernetesGroups and username parameters do not apply to type {params['type']}."
            refuse("InvalidParameterException", text)

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One entry."""
        return {"accessEntry": shaped("AccessEntry", self._entry(params))}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Principals, optionally those with a policy."""
        name, policy = params["clusterName"], params.get("associatedPolicyArn")
        self._cluster(name)
        found = [
            e["principalArn"]
            for e in self.world.store.list(ENTRY, f"{name}/")
            if policy is None or any(p["policyArn"] == policy for p in e["policies"])
        ]
        items, token = page(
            found, params.get("maxResults", 100), params.get("nextToken"), name, code="InvalidParameterException"
        )
        return {"accessEntries": items, "nextToken": token}

    def update(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Change groups or user name."""
        entry = self._entry(params)
        self._check({**params, "type": entry["type"]})
        changes: dict[str, Any] = {k: params[k] for k in ("kubernetesGroups", "username") if k in params}
        if all(entry.get(k) == v for k, v in changes.items()):
            ctx.mark_applied(False)
        entry = {**entry, **changes, "modifiedAt": self.world.clock.time()}
        self._put(entry)
        return {"accessEntry": shaped("AccessEntry", entry)}

    def delete(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Remove an entry and its policies at once."""
        self._entry(params)
        key = f"{params['clusterName']}/{params['principalArn']}"
        self.world.store.delete(ENTRY, key)
        self.parts.forget_tokens(key)
        return {}

    def associate(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Give a policy within a scope; repeatable."""
        entry, scope = self._entry(params), params["accessScope"]
        self._known(params["policyArn"])
        namespaces = scope.get("namespaces") or []
        if (scope.get("type") == "namespace") != bool(namespaces):
            text = "Namespaces must be specified for scope type namespace, and only then."
            refuse("InvalidParameterException", text)
        if entry["type"] != "STANDARD":
            text = f"Access policies cannot be associated with an entry of type {entry['type']}."
            refuse("InvalidRequestException", text)
        policy: Doc = {
            "policyArn": params["policyArn"],
            "accessScope": {"type": scope.get("type", "cluster"), "namespaces": namespaces},
        }
        now = self.world.clock.time()
        before = next((p for p in entry["policies"] if p["policyArn"] == params["policyArn"]), None)
        if before is not None and before["accessScope"] == policy["accessScope"]:
            ctx.mark_applied(False)
            policy = before
        else:
            policy.update(associatedAt=(before or {}).get("associatedAt", now), modifiedAt=now)
        others = [p for p in entry["policies"] if p["policyArn"] != params["policyArn"]]
        self._put({**entry, "policies": [*others, policy]})
        return {
            "clusterName": entry["clusterName"],
            "principalArn": entry["principalArn"],
            "associatedAccessPolicy": self._shown(policy),
        }

    def _shown(self, policy: Doc) -> Doc:
        created = self.world.clock.time()
        return {"associatedAt": created, "modifiedAt": created, **policy}

    def _known(self, arn: str) -> None:
        if arn.removeprefix(PREFIX) not in POLICIES:
            refuse("InvalidParameterException", f"The specified policyArn is invalid: {arn}")

    def disassociate(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Take a policy away."""
        entry = self._entry(params)
        left = [p for p in entry["policies"] if p["policyArn"] != params["policyArn"]]
        if len(left) == len(entry["policies"]):
            raise AwsError("ResourceNotFoundException", "The specified policyArn is not associated.", 404)
        self._put({**entry, "policies": left})
        return {}

    def associated(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Policies of one entry."""
        entry = self._entry(params)
        items, token = page(
            [self._shown(p) for p in entry["policies"]],
            params.get("maxResults", 100),
            params.get("nextToken"),
            code="InvalidRequestException",
        )
        found = {"clusterName": entry["clusterName"], "principalArn": entry["principalArn"]}
        return {**found, "associatedAccessPolicies": items, "nextToken": token}

    def policies(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """All policies there are."""
        found = [{"name": p, "arn": PREFIX + p} for p in POLICIES]
        items, token = page(found, params.get("maxResults", 100), params.get("nextToken"))
        return {"accessPolicies": items, "nextToken": token}
