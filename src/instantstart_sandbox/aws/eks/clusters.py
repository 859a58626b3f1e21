"""EKS clusters: creation, reading, deletion, and the minutes in between."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.eks import checks
from instantstart_sandbox.aws.eks.entry_docs import new_entry
from instantstart_sandbox.aws.eks.parts import ADDON, ASSOCIATION, CLUSTER, ENTRY, UPDATE, Doc, Parts, refuse, shaped
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.defaults import DEFAULT_KUBERNETES

_STEP = "eks.cluster"
_LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
LIST_LAG = 5.0
"""Seconds for which a new cluster may be missing from ListClusters."""


class Clusters:
    """Operations on clusters."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "CreateCluster": self.create,
            "DescribeCluster": self.describe,
            "ListClusters": self.list,
            "DeleteCluster": self.delete,
        }
        self.world.timers.on(_STEP, self._step)

    def create(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin a cluster; ACTIVE after 8 to 12 minutes."""
        name = params["name"]
        if self.parts.replayed(ctx, params, name) and self.world.store.get(CLUSTER, name):
            return self.describe(ctx, params)
        if self.world.store.get(CLUSTER, name):
            refuse("ResourceInUseException", f"Cluster already exists with name: {name}", clusterName=name)
        network = checks.creation(self.parts, params)
        doc = self._new(params, network)
        self.world.store.put(CLUSTER, name, doc)
        self.parts.keep_token(ctx, params, name)
        self._creator_entry(ctx, doc, params)
        self.world.timers.after(60, _STEP, name, to="network")
        return {"cluster": shaped("Cluster", doc)}

    def _new(self, params: Params, network: Doc) -> Doc:
        now = self.world.clock.time()
        access = params.get("accessConfig") or {}
        return {
            "name": params["name"],
            "arn": self.parts.arn("cluster", params["name"]),
            "createdAt": now,
            "version": params.get("version") or DEFAULT_KUBERNETES,
            "roleArn": params["roleArn"],
            "resourcesVpcConfig": network,
            "kubernetesNetworkConfig": {
                "serviceIpv4Cidr": (params.get("kubernetesNetworkConfig") or {}).get(
                    "serviceIpv4Cidr", "10.100.0.0/16"
                ),
                "ipFamily": "ipv4",
                "elasticLoadBalancing": {"enabled": False},
            },
            "logging": logging_of(params.get("logging")),
            "status": "CREATING",
            "certificateAuthority": {},
            "clientRequestToken": params.get("clientRequestToken"),
            "platformVersion": "eks.9",
            "tags": params.get("tags") or {},
            "accessConfig": {
                "authenticationMode": access.get("authenticationMode", "CONFIG_MAP"),
                "bootstrapClusterCreatorAdminPermissions": access.get("bootstrapClusterCreatorAdminPermissions", True),
            },
            "upgradePolicy": params.get("upgradePolicy") or {"supportType": "EXTENDED"},
            "deletionProtection": params.get("deletionProtection", False),
            "health": {"issues": []},
            "created_epoch": now,
            "listed_after": now + LIST_LAG * self.world.ids.random(),
            "self_managed_addons": params.get("bootstrapSelfManagedAddons", True),
            "interfaces": [],
            "ca": "",
        }

    def _creator_entry(self, ctx: CallContext, doc: Doc, params: Params) -> None:
        access = doc["accessConfig"]
        if access["authenticationMode"] == "CONFIG_MAP" or not access["bootstrapClusterCreatorAdminPermissions"]:
            return
        arn = self.world.account.caller if ":assumed-role/" in ctx.principal else ctx.principal
        entry = new_entry(self.world, doc["name"], arn, {})
        entry["policies"] = [{"policyArn": ADMIN_POLICY, "accessScope": {"type": "cluster", "namespaces": []}}]
        self.world.store.put(ENTRY, f"{doc['name']}/{arn}", entry)

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One cluster."""
        return {"cluster": shaped("Cluster", self.parts.cluster(params["name"]))}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Names; a very new cluster can still be missing."""
        now = self.world.clock.time()
        names = [d["name"] for d in self.world.store.list(CLUSTER) if d["listed_after"] <= now]
        items, token = page(
            names, params.get("maxResults", 100), params.get("nextToken"), code="InvalidParameterException"
        )
        return {"clusters": items, "nextToken": token}

    def delete(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin to delete; refused with node groups, under deletion protection, and in the middle of a change."""
        name = params["name"]
        doc = self.parts.cluster(name)
        checks.deletion(doc)
        ended = {**doc, "status": "DELETING"}
        self.world.store.put(CLUSTER, name, ended)
        self.world.timers.after(self.parts.between(240, 420), _STEP, name, to="gone")
        return {"cluster": shaped("Cluster", ended)}

    def _step(self, name: str, payload: Params) -> None:
        doc = self.world.store.get(CLUSTER, name)
        if doc is None:
            return
        step = {"network": self._network, "active": self._active, "gone": self._gone}[payload["to"]]
        step(name, dict(doc))

    def _network(self, name: str, doc: Doc) -> None:
        """A minute in: the role is used for the first time, to put interfaces into the control-plane subnets."""
        issue = checks.role_at_work(self.parts, doc)
        if issue is None:
            issue = self._interfaces(name, doc)
        if issue is not None:
            self.world.store.put(CLUSTER, name, {**doc, "status": "FAILED", "health": {"issues": [issue]}})
            return
        self.world.store.put(CLUSTER, name, doc)
        self.world.timers.after(self.parts.between(420, 660), _STEP, name, to="active")

    def _interfaces(self, name: str, doc: Doc) -> Doc | None:
        network = dict(doc["resourcesVpcConfig"])
        network["clusterSecurityGroupId"] = checks.cluster_group(self.parts, name, network["vpcId"])
        groups = [network["clusterSecurityGroupId"], *network["securityGroupIds"]]
        made: list[str] = []
        for subnet in checks.one_per_zone(self.parts, network["subnetIds"])[:2]:
            try:
                made.append(self.parts.outside.create_interface(subnet, groups, f"Amazon EKS {name}")["eni_id"])
            except AwsError as error:
                return {"code": "InsufficientFreeAddresses", "message": error.message, "resourceIds": [subnet]}
        doc.update(interfaces=made, resourcesVpcConfig=network)
        return None

    def _active(self, name: str, doc: Doc) -> None:
        issuer = f"https://oidc.eks.{self.world.account.region}.amazonaws.com/id/{self.world.ids.hex('', 32).upper()}"
        doc.update(
            status="ACTIVE",
            endpoint=f"{self.parts.endpoint}/{name}",
            certificateAuthority={"data": self.parts.ca_data},
            ca=self.parts.ca_data,
            identity={"oidc": {"issuer": issuer}},
        )
        self.parts.kube.create_cluster(name, doc["version"])
        self.world.store.put(CLUSTER, name, doc)

    def _gone(self, name: str, doc: Doc) -> None:
        for eni in doc["interfaces"]:
            self.parts.outside.delete_interface(eni)
        checks.remove_cluster_group(self.parts, doc)
        if self.parts.kube.has_cluster(name):
            self.parts.kube.delete_cluster(name)
        for kind in (ADDON, ENTRY, ASSOCIATION, UPDATE):
            for key, _ in self.world.store.items(kind, f"{name}/"):
                self.world.store.delete(kind, key)
        self.parts.forget_tokens(name)
        self.world.store.delete(CLUSTER, name)


def logging_of(asked: Doc | None) -> Doc:
    """The cluster's logging as Describe shows it: one row of enabled types, one of disabled ones."""
    enabled: set[str] = set()
    for setup in (asked or {}).get("clusterLogging", []):
        enabled |= set(setup.get("types", [])) if setup.get("enabled") else set()
    rows = [([t for t in _LOGS if t in enabled], True), ([t for t in _LOGS if t not in enabled], False)]
    return {"clusterLogging": [{"types": types, "enabled": on} for types, on in rows if types]}
