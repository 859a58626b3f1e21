"""How groups reach their counts: machines launched, provisioned, checked, retried, and taken down."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.sagemaker import lifecycle, machines
from instantstart_sandbox.aws.sagemaker.events import Events
from instantstart_sandbox.aws.sagemaker.parts import NODE, Doc, Parts, is_continuous, live, with_group

_LAUNCH, _NODE, _MINIMUM = "sagemaker.launch", "sagemaker.node", "sagemaker.minimum"
_BATCH = 50
_RETRY_SECONDS = (300.0, 420.0)
_FAILED_STAYS = 600.0
_DEEP_CHECKS = (3600.0, 5400.0)
MINIMUM_SECONDS = 3 * 3600.0


class Fleet:
    """Moves nodes; what becomes of the cluster as a whole is `Ending`'s business in clusters.py."""

    def __init__(self, parts: Parts, events: Events) -> None:
        self.parts, self.world, self.events = parts, parts.world, events
        self.world.timers.on(_LAUNCH, self._launch)
        self.world.timers.on(_NODE, self._node_step)
        self.world.timers.on(_MINIMUM, self._minimum_missed)

    def reconcile(self, name: str, group: str, *, after: float = 0.0) -> None:
        """Have the group looked at, after `after` seconds of world time."""
        self.world.timers.after(after, _LAUNCH, f"{name}/{group}")

    def await_minimum(self, name: str, group: str) -> None:
        """Begin the three hours in which MinInstanceCount has to be reached."""
        self.world.timers.after(MINIMUM_SECONDS, _MINIMUM, f"{name}/{group}")

    # up and down to the target

    def _launch(self, key: str, _payload: dict[str, Any]) -> None:
        name, group = key.split("/")
        cluster = self.parts.find(name)
        if cluster is None or group not in cluster["groups"] or cluster["ClusterStatus"] in ("Deleting", "Failed"):
            return
        held = cluster["groups"][group]
        present = live(self.parts.nodes(name, group))
        missing = held["target"] - len(present)
        if missing < 0:
            self._shrink(cluster, present, -missing)
        elif missing > 0 and held["status"] != "Deleting":
            self._grow(cluster, held, missing)

    def _shrink(self, cluster: Doc, present: list[Doc], surplus: int) -> None:
        ill_first = sorted(present, key=lambda n: (n["status"] == "Running", -n["launched"]))
        for node in ill_first[:surplus]:
            self.terminate(cluster, node)

    def _grow(self, cluster: Doc, held: Doc, missing: int) -> None:
        shortage: machines.Shortage | None = None
        for _ in range(min(missing, _BATCH)):
            place = machines.find(self.parts, cluster, held["spec"])
            if isinstance(place, machines.Shortage):
                shortage = place
                break
            node = machines.launch(self.parts, cluster, held, place)
            if isinstance(node, machines.Shortage):
                shortage = node
                break
            self._begin(cluster, held, node)
        if shortage is not None:
            self._short(cluster, held, shortage)
        elif missing > _BATCH:
            self.reconcile(cluster["ClusterName"], held["spec"]["InstanceGroupName"], after=20)

    def _begin(self, cluster: Doc, held: Doc, node: Doc) -> None:
        cluster = self.parts.find(node["cluster"]) or cluster
        promised = list(cluster["groups"][node["group"]].get("logical", []))
        if promised:
            node["logical_id"] = promised.pop(0)
            self.parts.save(with_group(cluster, node["group"], logical=promised))
        self.parts.save_node(node)
        text = f"Successfully created Customer ENI {node['eni_id']} for instance {node['instance_id']}"
        metadata = {"Instance": {"CustomerEni": node["eni_id"], "NodeLogicalId": node["logical_id"]}}
        self.events.add(cluster, text, group=node["group"], instance=node["instance_id"], metadata=metadata)
        self._later(node, self.parts.between(240, 420), "provisioned")

    def _short(self, cluster: Doc, held: Doc, shortage: machines.Shortage) -> None:
        name, group = cluster["ClusterName"], held["spec"]["InstanceGroupName"]
        if not is_continuous(cluster):
            self._all_or_nothing(cluster, shortage.message)
            return
        details: Doc = {"FailureMessage": shortage.message}
        if shortage.subnet_id:
            details.update(SubnetId=shortage.subnet_id, AvailabilityZoneId=shortage.zone_id)
        text = f"Failed to provision EC2 Instance in Cluster {name} and InstanceGroup {group}"
        self.events.add(cluster, text, level="Error", group=group, metadata={"InstanceGroup": details})
        text = f"Instance creation in Cluster {name} and InstanceGroup {group} failed"
        self.events.add(cluster, text, level="Error", group=group, metadata={"InstanceGroup": details})
        self.reconcile(name, group, after=self.parts.between(*_RETRY_SECONDS))

    def _all_or_nothing(self, cluster: Doc, message: str) -> None:
        """Without Continuous one shortage ends the whole request."""
        current = self.parts.find(cluster["ClusterName"]) or cluster
        self.parts.save({**current, "FailureMessage": message, "unmet": True})
        self.world.work.enqueue("sagemaker.cluster", cluster["ClusterName"])

    # one node

    def _later(self, node: Doc, seconds: float, step: str) -> None:
        self.world.timers.after(seconds, _NODE, f"{node['cluster']}/{node['instance_id']}", to=step)

    def _node_step(self, key: str, payload: dict[str, Any]) -> None:
        node = self.world.store.get(NODE, key)
        cluster = self.parts.find(key.split("/", maxsplit=1)[0])
        if node is None or cluster is None:
            return
        steps = {
            "provisioned": self._provisioned,
            "script": self._script,
            "checked": self._checked,
            "gone": self._gone,
            "discard": self.terminate,
        }
        steps[payload["to"]](cluster, dict(node))

    def _spec(self, cluster: Doc, node: Doc) -> Doc:
        spec: Doc = cluster["groups"][node["group"]]["spec"]
        return spec

    def _tell(self, cluster: Doc, node: Doc, text: str, *, level: str = "Info", **facts: Any) -> None:
        metadata = {"Instance": {"NodeLogicalId": node["logical_id"], **facts}}
        self.events.add(
            cluster, text, level=level, group=node["group"], instance=node["instance_id"], metadata=metadata
        )

    def _provisioned(self, cluster: Doc, node: Doc) -> None:
        instance, spec = node["instance_id"], self._spec(cluster, node)
        self._tell(cluster, node, f"EC2 Instance {instance} successfully provisioned")
        groups = (spec.get("OverrideVpcConfig") or cluster["VpcConfig"])["SecurityGroupIds"]
        fault = lifecycle.network_fault(self.parts, node, groups)
        if fault is not None:
            self._fail(cluster, node, fault, None)
            return
        text = f"Lifecycle script execution for EC2 Instance {instance} has Started"
        self._tell(cluster, node, text, LcsExecutionState="Started")
        self._later(node, self.parts.between(60, 150), "script")

    def _script(self, cluster: Doc, node: Doc) -> None:
        fault = lifecycle.script_fault(self.parts, node, self._spec(cluster, node))
        text = f"Lifecycle script execution for EC2 Instance {node['instance_id']} has "
        if fault is not None:
            self._fail(cluster, node, fault, text + "Failed")
            return
        self._tell(cluster, node, text + "Succeeded", LcsExecutionState="Succeeded")
        if node["deep_checks_pending"]:
            self.parts.save_node({**node, "status": "DeepHealthCheckInProgress"})
            self._later(node, self.parts.between(*_DEEP_CHECKS), "checked")
            return
        self._run(cluster, node)

    def _checked(self, cluster: Doc, node: Doc) -> None:
        if not lifecycle.deep_checks_can_run(self.parts, node):
            self._later(node, 600, "checked")
            return
        self._run(cluster, {**node, "deep_checks_pending": False})

    def _run(self, cluster: Doc, node: Doc) -> None:
        self.parts.save_node({**node, "status": "Running"})
        held = cluster["groups"][node["group"]]
        if held["status"] == "Degraded":
            cluster = self.parts.save(with_group(cluster, node["group"], status="InService"))
        self.world.work.enqueue("sagemaker.cluster", cluster["ClusterName"])

    def _fail(self, cluster: Doc, node: Doc, message: str, text: str | None) -> None:
        self.parts.save_node({**node, "status": "Failure", "message": message})
        shown = f'Instance `{node["instance_id"]}` failed to provision with the following error: "{message}"'
        state = {"LcsExecutionState": "Failed"} if text else {}
        if text:
            self._tell(cluster, node, text, level="Error", FailureMessage=shown, **state)
        name, group = cluster["ClusterName"], node["group"]
        text = f"Failed to provision EC2 Instance in Cluster {name} and InstanceGroup {group}"
        self._tell(cluster, node, text, level="Error", FailureMessage=shown)
        if not is_continuous(cluster):
            self._all_or_nothing(cluster, shown)
            return
        if cluster["groups"][group]["status"] == "InService":
            self.parts.save(with_group(cluster, group, status="Degraded"))
        self._later(node, _FAILED_STAYS, "discard")

    # ends

    def terminate(self, cluster: Doc, node: Doc) -> None:
        """Begin to take a node down."""
        self.parts.save_node({**node, "status": "ShuttingDown"})
        self._tell(cluster, node, f"Termination of EC2 Instance {node['instance_id']} has Started")
        self._later(node, self.parts.between(90, 180), "gone")

    def _gone(self, cluster: Doc, node: Doc) -> None:
        if not lifecycle.can_release(self.parts, self._spec(cluster, node)):
            message = lifecycle.NO_ROLE.format(
                role=self._spec(cluster, node)["ExecutionRole"], action="ec2:DeleteNetworkInterface"
            )
            self.parts.save_node({**node, "message": message})
            self._later(node, 60, "gone")
            return
        self.parts.outside.delete_interface(node["eni_id"])
        self.world.store.delete(NODE, f"{node['cluster']}/{node['instance_id']}")
        self._tell(cluster, node, f"Termination of EC2 Instance {node['instance_id']} has Succeeded")
        self.reconcile(cluster["ClusterName"], node["group"], after=5)
        self.world.work.enqueue("sagemaker.cluster", cluster["ClusterName"])

    def _minimum_missed(self, key: str, _payload: dict[str, Any]) -> None:
        """Three hours without the minimum: back to what was before (nothing, for a new group)."""
        name, group = key.split("/")
        cluster = self.parts.find(name)
        if cluster is None or group not in cluster["groups"]:
            return
        held = cluster["groups"][group]
        if held["status"] not in ("Creating", "Updating"):
            return
        before = held.get("before") or {"target": 0, "min": 0}
        cluster = with_group(cluster, group, status="InService", **before)
        self.parts.save(cluster)
        text = f"Instance Group {group} update in Cluster {name} failed: the minimum was not reached; rolled back"
        details = {"TargetCount": before["target"], "MinCount": before["min"] or 0, "FailureMessage": text}
        self.events.add(cluster, text, level="Error", group=group, metadata={"InstanceGroupScaling": details})
        self.reconcile(name, group)
