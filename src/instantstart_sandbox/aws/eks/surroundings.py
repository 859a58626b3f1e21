"""The rest of EKS: versions, tags, and the node groups and Fargate profiles that nobody can make here."""

from __future__ import annotations

from typing import Any, NoReturn

from instantstart_sandbox import defaults
from instantstart_sandbox.aws.eks.parts import ADDON, ASSOCIATION, CLUSTER, ENTRY, Doc, Parts
from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params

_RELEASED = 1_748_000_000.0
_QUARTER = 91 * 86400.0
_ARNS = ((CLUSTER, "arn"), (ADDON, "addonArn"), (ENTRY, "accessEntryArn"), (ASSOCIATION, "associationArn"))


class Surroundings:
    """Operations that only read, and tags."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "DescribeClusterVersions": self.versions,
            "ListTagsForResource": self.tags,
            "TagResource": self.tag,
            "UntagResource": self.untag,
            "ListNodegroups": self.nodegroups,
            "ListFargateProfiles": self.fargate_profiles,
            "DescribeNodegroup": self.no_nodegroup,
            "DeleteNodegroup": self.no_nodegroup,
            "DescribeFargateProfile": self.no_profile,
            "DeleteFargateProfile": self.no_profile,
        }

    def versions(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Kubernetes versions with their support."""
        found = []
        for position, version in enumerate(reversed(defaults.KUBERNETES_VERSIONS)):
            extended = version in defaults.EXTENDED_SUPPORT
            released = _RELEASED + position * _QUARTER
            found.append(
                {
                    "clusterVersion": version,
                    "clusterType": "eks",
                    "defaultPlatformVersion": "eks.9",
                    "defaultVersion": version == defaults.DEFAULT_KUBERNETES,
                    "releaseDate": released,
                    "endOfStandardSupportDate": released + 14 * 30 * 86400,
                    "endOfExtendedSupportDate": released + 26 * 30 * 86400,
                    "status": "extended-support" if extended else "standard-support",
                    "versionStatus": "EXTENDED_SUPPORT" if extended else "STANDARD_SUPPORT",
                    "kubernetesPatchVersion": f"{version}.1",
                }
            )
        found = [v for v in reversed(found) if _is_wanted(v, params)]
        items, token = page(found, params.get("maxResults", 100), params.get("nextToken"))
        return {"clusterVersions": items, "nextToken": token}

    def _tagged(self, arn: str) -> tuple[str, str, Doc]:
        for kind, member in _ARNS:
            for key, doc in self.world.store.items(kind):
                if doc[member] == arn:
                    return kind, key, doc
        raise AwsError("NotFoundException", f"Resource not found: {arn}", 404)

    def tags(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Tags of anything of EKS."""
        return {"tags": self._tagged(params["resourceArn"])[2].get("tags") or {}}

    def tag(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Set tags."""
        kind, key, doc = self._tagged(params["resourceArn"])
        tags = {**(doc.get("tags") or {}), **params["tags"]}
        ctx.mark_applied(tags != doc.get("tags"))
        self.world.store.put(kind, key, {**doc, "tags": tags})
        return {}

    def untag(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Remove tags."""
        kind, key, doc = self._tagged(params["resourceArn"])
        tags = {k: v for k, v in (doc.get("tags") or {}).items() if k not in params["tagKeys"]}
        ctx.mark_applied(tags != doc.get("tags"))
        self.world.store.put(kind, key, {**doc, "tags": tags})
        return {}

    def nodegroups(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """None: the sandbox makes no managed node groups."""
        self.parts.cluster(params["clusterName"])
        return {"nodegroups": []}

    def fargate_profiles(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """None: the sandbox makes no Fargate profiles."""
        self.parts.cluster(params["clusterName"])
        return {"fargateProfileNames": []}

    def no_nodegroup(self, _ctx: CallContext, params: Params) -> NoReturn:
        """There is no such node group."""
        text = f"No node group found for name: {params['nodegroupName']}."
        raise AwsError("ResourceNotFoundException", text, 404)

    def no_profile(self, _ctx: CallContext, params: Params) -> NoReturn:
        """There is no such profile."""
        text = f"No Fargate Profile found with name: {params['fargateProfileName']}."
        raise AwsError("ResourceNotFoundException", text, 404)


def _is_wanted(version: Doc, params: Params) -> bool:
    return (
        (not params.get("clusterVersions") or version["clusterVersion"] in params["clusterVersions"])
        and (not params.get("defaultOnly") or version["defaultVersion"])
        and (not params.get("status") or version["status"] == params["status"])
        and (not params.get("versionStatus") or version["versionStatus"] == params["versionStatus"])
    )
