"""Changes of a cluster: configuration, version; and the update records that tell how they go."""

from __future__ import annotations

from typing import Any

import orjson

from instantstart_sandbox.aws.eks.clusters import logging_of
from instantstart_sandbox.aws.eks.parts import ADDON, CLUSTER, UPDATE, Doc, Parts, refuse, shaped
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.defaults import KUBERNETES_VERSIONS

_STEP = "eks.update"
_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
_KINDS = {
    "resourcesVpcConfig": "EndpointAccessUpdate",
    "logging": "LoggingUpdate",
    "accessConfig": "AccessConfigUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
}


class Updates:
    """Update records, and the operations that make them."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "UpdateClusterConfig": self.config,
            "UpdateClusterVersion": self.version,
            "DescribeUpdate": self.describe,
            "ListUpdates": self.list,
        }
        self.world.timers.on(_STEP, self._done)

    def begin(self, cluster: str, kind: str, changes: Doc, seconds: float, addon: str | None = None) -> Doc:
        """Keep a record that is in progress for `seconds`, then set `changes` on the cluster (or the add-on)."""
        shown = [{"type": k[0].upper() + k[1:], "value": orjson.dumps(v).decode()} for k, v in changes.items()]
        doc = {
            "id": self.world.ids.uuid(),
            "status": "InProgress",
            "type": kind,
            "params": [p for p in shown if p["type"] in _PARAMETERS],
            "createdAt": self.world.clock.time(),
            "errors": [],
            "addon": addon,
        }
        self.world.store.put(UPDATE, f"{cluster}/{doc['id']}", doc)
        self.world.timers.after(seconds, _STEP, f"{cluster}/{doc['id']}", changes=changes)
        return doc

    def _done(self, key: str, payload: dict[str, Any]) -> None:
        doc, name = self.world.store.get(UPDATE, key), key.partition("/")[0]
        cluster = self.world.store.get(CLUSTER, name)
        if doc is None or cluster is None:
            return
        self.world.store.put(UPDATE, key, {**doc, "status": "Successful"})
        if doc["addon"] is None:
            self.world.store.put(CLUSTER, name, {**cluster, **payload["changes"], "status": "ACTIVE"})
            return
        addon = self.world.store.get(ADDON, f"{name}/{doc['addon']}")
        if addon is not None:
            now = self.world.clock.time()
            self.world.store.put(ADDON, f"{name}/{doc['addon']}", {**addon, "status": "ACTIVE", "modifiedAt": now})
            self.world.work.enqueue("eks.addon", f"{name}/{doc['addon']}")

    def config(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """One kind of change at a time; what is already so is refused, as on AWS."""
        cluster = self.parts.cluster(params["name"])
        asked = [k for k in _KINDS if params.get(k) is not None]
        if len(asked) != 1:
            refuse("InvalidParameterException", "Exactly one type of update must be specified.")
        if cluster["status"] != "ACTIVE":
            text = f"Cluster {params['name']} has status {cluster['status']} and cannot be updated now."
            refuse("ResourceInUseException", text, clusterName=params["name"])
        changes = self._changes(cluster, params, asked[0])
        if all(cluster.get(k) == v for k, v in changes.items()):
            text = "No changes needed for the cluster configuration provided."
            refuse("InvalidParameterException", text, clusterName=params["name"])
        del ctx
        if asked[0] == "deletionProtection":
            self.world.store.put(CLUSTER, params["name"], {**cluster, **changes})
            return {"update": shaped("Update", self.begin(params["name"], _KINDS[asked[0]], changes, 1))}
        self.world.store.put(CLUSTER, params["name"], {**cluster, "status": "UPDATING"})
        seconds = self.parts.between(90, 180)
        return {"update": shaped("Update", self.begin(params["name"], _KINDS[asked[0]], changes, seconds))}

    def _changes(self, cluster: Doc, params: Params, kind: str) -> Doc:
        if kind == "logging":
            return {"logging": logging_of(params["logging"])}
        if kind == "resourcesVpcConfig":
            return {kind: {**cluster[kind], **params[kind]}}
        if kind == "accessConfig":
            mode = params[kind].get("authenticationMode", cluster[kind]["authenticationMode"])
            if _MODES.index(mode) < _MODES.index(cluster[kind]["authenticationMode"]):
                text = f"Unsupported authentication mode update from {cluster[kind]['authenticationMode']} to {mode}"
                refuse("InvalidParameterException", text, clusterName=params["name"])
            return {kind: {**cluster[kind], "authenticationMode": mode}}
        return {kind: params[kind]}

    def version(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One minor version up."""
        cluster, wanted = self.parts.cluster(params["name"]), params["version"]
        if cluster["status"] != "ACTIVE":
            text = f"Cluster {params['name']} has status {cluster['status']} and cannot be updated now."
            refuse("ResourceInUseException", text, clusterName=params["name"])
        now = int(cluster["version"].partition(".")[2])
        if wanted not in KUBERNETES_VERSIONS or int(wanted.partition(".")[2]) != now + 1:
            text = f"Unsupported Kubernetes minor version update from {cluster['version']} to {wanted}"
            refuse("InvalidParameterException", text, clusterName=params["name"])
        self.world.store.put(CLUSTER, params["name"], {**cluster, "status": "UPDATING"})
        doc = self.begin(params["name"], "VersionUpdate", {"version": wanted}, self.parts.between(480, 720))
        return {"update": shaped("Update", doc)}

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One update record."""
        self.parts.cluster(params["name"])
        found = self.world.store.get(UPDATE, f"{params['name']}/{params['updateId']}")
        if found is None or found["addon"] != params.get("addonName"):
            raise AwsError("ResourceNotFoundException", f"No update found for ID: {params['updateId']}", 404)
        return {"update": shaped("Update", found)}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Ids of a cluster's or an add-on's updates."""
        self.parts.cluster(params["name"])
        docs = self.world.store.list(UPDATE, f"{params['name']}/")
        found = sorted((d for d in docs if d["addon"] == params.get("addonName")), key=lambda d: d["createdAt"])
        items, token = page(
            [d["id"] for d in found],
            params.get("maxResults", 100),
            params.get("nextToken"),
            code="InvalidParameterException",
        )
        return {"updateIds": items, "nextToken": token}


_PARAMETERS = {"Version", "AddonVersion", "DeletionProtection", "ConfigurationValues", "ResolveConflicts"}
