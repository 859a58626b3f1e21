"""Add-ons of a cluster. What runs in the cluster is the controllers' business; whether it is well, they report."""

from __future__ import annotations

from typing import Any

import orjson
import yaml

from instantstart_sandbox.aws.eks import addon_catalog as catalog
from instantstart_sandbox.aws.eks.parts import ADDON, Doc, Parts, refuse, shaped
from instantstart_sandbox.aws.eks.pod_identity import PodIdentity
from instantstart_sandbox.aws.eks.updates import Updates
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


class Addons:
    """Operations on add-ons. What comes of them later is `AddonHealth`."""

    def __init__(self, parts: Parts, identities: PodIdentity, updates: Updates) -> None:
        self.parts, self.world, self.identities, self.updates = parts, parts.world, identities, updates
        self.operations: dict[str, Handler] = {
            "DescribeAddonVersions": self.versions,
            "DescribeAddonConfiguration": self.configuration,
            "CreateAddon": self.create,
            "DescribeAddon": self.describe,
            "ListAddons": self.list,
            "UpdateAddon": self.update,
            "DeleteAddon": self.delete,
        }

    def versions(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """What could be installed."""
        name, kubernetes = params.get("addonName"), params.get("kubernetesVersion")
        found = [catalog.info(k, kubernetes) for k in catalog.KINDS.values() if name in (None, k.name)]
        for member, key in (("types", "type"), ("publishers", "publisher"), ("owners", "owner")):
            found = [a for a in found if not params.get(member) or a[key] in params[member]]
        found = [a for a in found if a["addonVersions"]]
        items, token = page(
            found, params.get("maxResults", 100), params.get("nextToken"), name, code="InvalidParameterException"
        )
        return {"addons": items, "nextToken": token}

    def configuration(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """The schema of an add-on's configuration."""
        kind = catalog.KINDS.get(params["addonName"])
        known = kind is not None and any(params["addonVersion"] in catalog.versions(kind, v) for v in kind.kubernetes)
        if kind is None or not known:
            text = f"No addon found with name {params['addonName']} and version {params['addonVersion']}."
            raise AwsError("ResourceNotFoundException", text, 404)
        accounts = [{"serviceAccount": s, "recommendedManagedPolicies": p} for s, p in kind.accounts.items()]
        return {
            "addonName": kind.name,
            "addonVersion": params["addonVersion"],
            "configurationSchema": orjson.dumps(catalog.schema(kind)).decode(),
            "podIdentityConfiguration": accounts,
        }

    def create(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin to install one."""
        cluster, name = params["clusterName"], params["addonName"]
        key = f"{cluster}/{name}"
        kubernetes = self.parts.cluster(cluster)["version"]
        held = self.world.store.get(ADDON, key)
        if held is not None and self.parts.replayed(ctx, params, key):
            return {"addon": shaped("Addon", held)}
        if held is not None:
            refuse("ResourceInUseException", "Addon already exists.", clusterName=cluster, addonName=name)
        self.parts.active_cluster(cluster)
        kind, version = self._version(params, kubernetes)
        self._check(kind, params)
        doc = self._new(kind, version, params)
        self.world.store.put(ADDON, key, doc)
        self.parts.keep_token(ctx, params, key)
        self.world.work.enqueue("eks.addon.begin", key)
        return {"addon": shaped("Addon", doc)}

    def _version(self, params: Params, kubernetes: str) -> tuple[catalog.AddonKind, str]:
        name = params["addonName"]
        kind = catalog.KINDS.get(name)
        offered = catalog.versions(kind, kubernetes) if kind else ()
        if kind is None or not offered:
            text = f"Addon {name} specified is not supported in {kubernetes} kubernetes version"
            refuse("InvalidParameterException", text, clusterName=params["clusterName"], addonName=name)
        version = params.get("addonVersion") or offered[0]
        if version not in offered:
            text = f"Addon version specified is not supported: {version}"
            refuse("InvalidParameterException", text, clusterName=params["clusterName"], addonName=name)
        return kind, version

    def _check(self, kind: catalog.AddonKind, params: Params) -> None:
        fields = {"clusterName": params["clusterName"], "addonName": kind.name}
        problem = _configuration_fault(kind, params.get("configurationValues"))
        if problem:
            text = f"ConfigurationValue provided in request is not supported: {problem}"
            refuse("InvalidParameterException", text, **fields)
        if params.get("serviceAccountRoleArn") and params.get("podIdentityAssociations"):
            text = "serviceAccountRoleArn and podIdentityAssociations cannot be specified together."
            refuse("InvalidParameterException", text, **fields)
        if params.get("serviceAccountRoleArn"):
            role = self.parts.outside.role(params["serviceAccountRoleArn"])
            if role is None:
                refuse("InvalidParameterException", f"Role {params['serviceAccountRoleArn']} does not exist.", **fields)
        for wanted in params.get("podIdentityAssociations") or []:
            if wanted["serviceAccount"] not in kind.accounts:
                text = f"Service account {wanted['serviceAccount']} is not used by addon {kind.name}."
                refuse("InvalidParameterException", text, **fields)
            self.identities.check_new(params["clusterName"], kind.namespace, wanted)

    def _new(self, kind: catalog.AddonKind, version: str, params: Params) -> Doc:
        cluster, now = params["clusterName"], self.world.clock.time()
        arn = self.parts.arn("addon", f"{cluster}/{kind.name}/{self.world.ids.uuid()}")
        doc: Doc = {
            "addonName": kind.name,
            "clusterName": cluster,
            "status": "CREATING",
            "addonVersion": version,
            "health": {"issues": []},
            "addonArn": arn,
            "createdAt": now,
            "modifiedAt": now,
            "tags": params.get("tags") or {},
            "resolve_conflicts": params.get("resolveConflicts", "NONE"),
            "namespace": (params.get("namespaceConfig") or {}).get("namespace") or kind.namespace,
        }
        doc["namespaceConfig"] = {"namespace": doc["namespace"]}
        for member in ("serviceAccountRoleArn", "configurationValues"):
            if params.get(member):
                doc[member] = params[member]
        associations = params.get("podIdentityAssociations") or []
        if associations:
            made = [
                self.identities.add({**a, "clusterName": cluster, "namespace": doc["namespace"]}, arn)
                for a in associations
            ]
            doc["podIdentityAssociations"] = [a["associationArn"] for a in made]
        return doc

    def _addon(self, params: Params) -> Doc:
        self.parts.cluster(params["clusterName"])
        found = self.world.store.get(ADDON, f"{params['clusterName']}/{params['addonName']}")
        if found is None:
            text = f"No addon: {params['addonName']} found in cluster: {params['clusterName']}"
            raise AwsError("ResourceNotFoundException", text, 404, addonName=params["addonName"])
        return found

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One add-on."""
        return {"addon": shaped("Addon", self._addon(params))}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Names."""
        self.parts.cluster(params["clusterName"])
        found = [a["addonName"] for a in self.world.store.list(ADDON, f"{params['clusterName']}/")]
        items, token = page(
            found, params.get("maxResults", 100), params.get("nextToken"), code="InvalidParameterException"
        )
        return {"addons": items, "nextToken": token}

    def update(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Change version or configuration."""
        held = self._addon(params)
        if held["status"] in ("CREATING", "UPDATING", "DELETING"):
            text = f"Addon {params['addonName']} has status {held['status']} and cannot be updated now."
            refuse("ResourceInUseException", text, addonName=params["addonName"])
        kind = catalog.KINDS[params["addonName"]]
        kubernetes = self.parts.cluster(params["clusterName"])["version"]
        wanted = {"addonVersion": held["addonVersion"], **{k: v for k, v in params.items() if v is not None}}
        _, version = self._version(wanted, kubernetes)
        self._check(kind, {**params, "podIdentityAssociations": None})
        changes: Doc = {"addonVersion": version}
        for member in ("serviceAccountRoleArn", "configurationValues"):
            if params.get(member) is not None:
                changes[member] = params[member]
        now = self.world.clock.time()
        doc = {**held, **changes, "status": "UPDATING", "modifiedAt": now}
        self.world.store.put(ADDON, f"{params['clusterName']}/{params['addonName']}", doc)
        seconds = self.parts.between(45, 90)
        record = self.updates.begin(params["clusterName"], "AddonUpdate", changes, seconds, params["addonName"])
        return {"update": shaped("Update", record)}

    def delete(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin to remove one; `preserve` leaves what runs."""
        held = self._addon(params)
        if held["status"] == "DELETING":
            refuse("InvalidRequestException", "Addon is already being deleted.", addonName=params["addonName"])
        key = f"{params['clusterName']}/{params['addonName']}"
        doc = {**held, "status": "DELETING", "preserve": bool(params.get("preserve"))}
        self.world.store.put(ADDON, key, doc)
        self.world.work.enqueue("eks.addon.end", key)
        return {"addon": shaped("Addon", doc)}


def _configuration_fault(kind: catalog.AddonKind, text: str | None) -> str | None:
    """What is wrong with configurationValues (JSON or YAML); None when they fit the schema's top level."""
    if not text:
        return None
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        return "it is neither JSON nor YAML"
    if values is None:
        return None
    if not isinstance(values, dict):
        return "it is not an object"
    for key, value in values.items():
        if key not in kind.properties:
            return f"Json schema validation failed with error: [$.{key}: is not defined in the schema and the schema does not allow additional properties]"
        if not isinstance(value, _TYPES[kind.properties[key]]):
            return f"Json schema validation failed with error: [$.{key}: {kind.properties[key]} expected]"
    return None
