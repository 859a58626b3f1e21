"""Reading nodes, and adding and removing single ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker import checks, shapes
from instantstart_sandbox.aws.sagemaker.fleet import Fleet
from instantstart_sandbox.aws.sagemaker.parts import Doc, Parts, invalid, is_continuous, refuse, with_group

_TOKEN, _TOKEN_HOURS = "sagemaker.token", 8


class Nodes:
    """Operations on nodes."""

    def __init__(self, parts: Parts, fleet: Fleet) -> None:
        self.parts, self.world, self.fleet = parts, parts.world, fleet
        self.operations: dict[str, Handler] = {
            "ListClusterNodes": self.list,
            "DescribeClusterNode": self.describe,
            "BatchDeleteClusterNodes": self.batch_delete,
            "BatchAddClusterNodes": self.batch_add,
        }

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Summaries; logical ids only when asked for."""
        cluster = self.parts.cluster(params["ClusterName"])
        after, before = params.get("CreationTimeAfter", 0.0), params.get("CreationTimeBefore", float("inf"))
        wanted = params.get("InstanceGroupNameContains", "")
        nodes = [
            n
            for n in self.parts.nodes(cluster["ClusterName"])
            if wanted in n["group"] and after <= n["launched"] <= before
        ]
        if params.get("SortBy") == "NAME":
            nodes.sort(key=lambda n: n["instance_id"])
        if params.get("SortOrder") == "Descending":
            nodes = nodes[::-1]
        question = {k: v for k, v in params.items() if k not in ("NextToken", "MaxResults")}
        items, token = page(nodes, params.get("MaxResults", 100), params.get("NextToken"), question)
        logical = bool(params.get("IncludeNodeLogicalIds"))
        return {"ClusterNodeSummaries": [shapes.node_summary(n, logical=logical) for n in items], "NextToken": token}

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One node by instance id or logical id."""
        cluster = self.parts.cluster(params["ClusterName"])
        if bool(params.get("NodeId")) == bool(params.get("NodeLogicalId")):
            invalid("Exactly one of NodeId and NodeLogicalId must be specified.")
        for node in self.parts.nodes(cluster["ClusterName"]):
            if params.get("NodeId") == node["instance_id"] or params.get("NodeLogicalId") == node["logical_id"]:
                return {"NodeDetails": shapes.node_details(node, cluster["groups"][node["group"]])}
        for name, held in cluster["groups"].items():
            if params.get("NodeLogicalId") in held.get("logical", []):
                spec = held["spec"]
                waiting = {"InstanceGroupName": name, "NodeLogicalId": params["NodeLogicalId"]}
                kind = {"InstanceType": spec["InstanceType"]} if spec.get("InstanceType") else {}
                return {"NodeDetails": {**waiting, **kind, "InstanceStatus": {"Status": "Pending"}}}
        refuse(
            "ResourceNotFound",
            f"Instance with id {params.get('NodeId') or params['NodeLogicalId']} could not be found.",
        )

    def _in_service(self, name: str) -> Doc:
        cluster = self.parts.cluster(name)
        if cluster["ClusterStatus"] != "InService":
            invalid(f"Cluster {cluster['ClusterName']} is in status {cluster['ClusterStatus']}; it must be InService.")
        return cluster

    def batch_delete(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Take chosen nodes down and lower the targets; what cannot be done is told node by node."""
        cluster = self._in_service(params["ClusterName"])
        if not params.get("NodeIds") and not params.get("NodeLogicalIds"):
            invalid("Either NodeIds or NodeLogicalIds must be specified.")
        nodes = self.parts.nodes(cluster["ClusterName"])
        answer: dict[str, Any] = {}
        count = 0
        for member, key, done, failed, said in (
            ("NodeIds", "instance_id", "Successful", "Failed", "NodeId"),
            ("NodeLogicalIds", "logical_id", "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds", "NodeLogicalId"),
        ):
            by_id = {n[key]: n for n in nodes}
            for wanted in params.get(member) or []:
                node = by_id.get(wanted)
                fault = self._cannot_end(cluster, node)
                if fault is None and node is not None:
                    self._end(node)
                    answer.setdefault(done, []).append(wanted)
                    count += 1
                else:
                    answer.setdefault(failed, []).append({"Code": fault, "Message": f"{wanted}: {fault}", said: wanted})
        ctx.mark_applied(count > 0)
        return answer

    def _cannot_end(self, cluster: Doc, node: Doc | None) -> str | None:
        if node is None:
            return "NodeIdNotFound"
        if cluster["groups"][node["group"]]["status"] in ("Creating", "Updating", "Deleting"):
            return "NodeIdInUse"
        return "InvalidNodeStatus" if node["status"] == "ShuttingDown" else None

    def _end(self, node: Doc) -> None:
        cluster = self.parts.cluster(node["cluster"])
        held = cluster["groups"][node["group"]]
        cluster = self.parts.save(with_group(cluster, node["group"], target=max(0, held["target"] - 1)))
        self.fleet.terminate(cluster, node)

    def batch_add(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Raise targets; answers the logical ids that the nodes will have. The token holds for 8 hours."""
        cluster = self._in_service(params["ClusterName"])
        name, token = cluster["ClusterName"], params.get("ClientToken")
        held = self.world.store.get(_TOKEN, f"{name}/{token}") if token else None
        if held is not None and held["until"] > self.world.clock.time():
            if held["asked"] != params["NodesToAdd"]:
                invalid("The ClientToken has already been used with other parameters.")
            ctx.mark_applied(False)
            answer: dict[str, Any] = held["answer"]
            return answer
        if not is_continuous(cluster):
            invalid("BatchAddClusterNodes requires NodeProvisioningMode Continuous.")
        if sum(n["IncrementTargetCountBy"] for n in params["NodesToAdd"]) > 50:
            invalid("At most 50 nodes can be added in one request.")
        answer = self._add(cluster, params["NodesToAdd"])
        ctx.mark_applied(bool(answer["Successful"]))
        if token:
            until = self.world.clock.time() + _TOKEN_HOURS * 3600
            self.world.store.put(
                _TOKEN, f"{name}/{token}", {"until": until, "asked": params["NodesToAdd"], "answer": answer}
            )
        return answer

    def _add(self, cluster: Doc, wanted: Sequence[Doc]) -> dict[str, Any]:
        name: str = cluster["ClusterName"]
        answer: dict[str, Any] = {"Successful": [], "Failed": []}
        possible = []
        for add in wanted:
            group, more = add["InstanceGroupName"], add["IncrementTargetCountBy"]
            held = cluster["groups"].get(group)
            code = "InstanceGroupNotFound" if held is None else "InvalidInstanceGroupStatus"
            if held is None or held["status"] not in ("InService", "Degraded"):
                text = f"Instance group {group}: {code}"
                failed = {"InstanceGroupName": group, "ErrorCode": code, "FailedCount": more, "Message": text}
                answer["Failed"].append(failed)
            else:
                possible.append((group, held["spec"], more))
        checks.quotas(self.parts, [(spec, more) for _, spec, more in possible], name)
        for group, _spec, more in possible:
            ids = [f"node-{self.world.ids.text(17)}" for _ in range(more)]
            current = self.parts.cluster(name)
            held = current["groups"][group]
            logical = [*held.get("logical", []), *ids]
            self.parts.save(with_group(current, group, target=held["target"] + more, logical=logical))
            self.fleet.reconcile(name, group)
            answer["Successful"].extend(
                {"NodeLogicalId": i, "InstanceGroupName": group, "Status": "Pending"} for i in ids
            )
        return answer
