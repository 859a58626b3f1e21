"""Container and pod statuses as a kubelet writes them: pure functions from spec and state to status objects."""

from __future__ import annotations

import hashlib
from typing import Any

from instantstart_sandbox.controllers.plane import condition, with_condition

Obj = dict[str, Any]
PARTS = (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses"))
_NO_NUMBER = {"lastProbeTime": None}


def full_image(image: str) -> str:
    """An image name with registry and tag, as containerd spells it."""
    head, slash, _ = image.partition("/")
    if not slash:
        image = f"docker.io/library/{image}"
    elif "." not in head and ":" not in head and head != "localhost":
        image = f"docker.io/{image}"
    last = image.rpartition("/")[2]
    return image if ":" in last or "@" in last else f"{image}:latest"


def image_id(image: str) -> str:
    """A digest that stands for the image."""
    whole = full_image(image)
    mark = hashlib.sha256(whole.encode()).hexdigest()
    return f"{whole.partition('@')[0].rpartition(':')[0]}@sha256:{mark}"


def container_id(pod: Obj, name: str, restarts: int) -> str:
    """The id of one run of a container."""
    text = f"{pod['metadata']['uid']}/{name}/{restarts}"
    return "containerd://" + hashlib.sha256(text.encode()).hexdigest()


def waiting(container: Obj, reason: str, message: str = "") -> Obj:
    """A status before the first run."""
    state = {"reason": reason, **({"message": message} if message else {})}
    return {
        "name": container["name"],
        "state": {"waiting": state},
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "image": container.get("image", ""),
        "imageID": "",
        "started": False,
    }


def held(status: Obj, reason: str, message: str = "") -> Obj:
    """The same container waiting for another reason."""
    state = {"reason": reason, **({"message": message} if message else {})}
    return {**status, "state": {"waiting": state}, "ready": False, "started": False}


def running(pod: Obj, container: Obj, status: Obj, now: str, ready: bool) -> Obj:
    """A status of a run that began now."""
    restarts = status["restartCount"]
    return {
        **status,
        "state": {"running": {"startedAt": now}},
        "ready": ready,
        "started": True,
        "image": full_image(container["image"]),
        "imageID": image_id(container["image"]),
        "containerID": container_id(pod, container["name"], restarts),
    }


def terminated(status: Obj, code: int, reason: str, now: str, message: str = "") -> Obj:
    """A status of a run that ended now."""
    began = (status["state"].get("running") or {}).get("startedAt", now)
    state = {
        "exitCode": code,
        "reason": reason,
        **({"message": message} if message else {}),
        "startedAt": began,
        "finishedAt": now,
        "containerID": status.get("containerID", ""),
    }
    return {**status, "state": {"terminated": state}, "ready": False, "started": False}


def restarted(status: Obj) -> Obj:
    """The status of the next run, not yet begun: the last one becomes lastState."""
    return {**status, "restartCount": status["restartCount"] + 1, "lastState": status["state"]}


def find(status: Obj, name: str) -> Obj:
    """The status of a container of either part."""
    for _, part in PARTS:
        for item in status.get(part) or ():
            if item["name"] == name:
                found: Obj = item
                return found
    raise KeyError(name)


def replaced(status: Obj, new: Obj) -> Obj:
    """The pod's status with one container's status replaced."""
    out = dict(status)
    for _, part in PARTS:
        if part in out:
            out[part] = [new if item["name"] == new["name"] else item for item in out[part]]
    return out


def admitted(pod: Obj, node: Obj, now: str) -> Obj:
    """The first status on a node: everything waits."""
    spec, address = pod["spec"], _address(node)
    init = spec.get("initContainers") or []
    status = {**pod["status"], "phase": "Pending", "startTime": now, "hostIP": address, "hostIPs": [{"ip": address}]}
    reason = "PodInitializing" if init else "ContainerCreating"
    if init:
        status["initContainerStatuses"] = [waiting(c, "PodInitializing") for c in init]
    status["containerStatuses"] = [waiting(c, reason) for c in spec["containers"]]
    names = " ".join(c["name"] for c in spec["containers"])
    marks: list[Obj] = [{"type": "PodReadyToStartContainers", "status": "False"}]
    if init:
        marks.append(
            {
                "type": "Initialized",
                "status": "False",
                "reason": "ContainersNotInitialized",
                "message": f"containers with incomplete status: [{' '.join(c['name'] for c in init)}]",
            }
        )
    else:
        marks.append({"type": "Initialized", "status": "True"})
    unready = {
        "status": "False",
        "reason": "ContainersNotReady",
        "message": f"containers with unready status: [{names}]",
    }
    marks += [{"type": "Ready", **unready}, {"type": "ContainersReady", **unready}]
    scheduled = condition(status, "PodScheduled")
    marks.append(scheduled or {"type": "PodScheduled", "status": "True"})
    status["conditions"] = [{"lastProbeTime": None, "lastTransitionTime": now, **m} for m in marks]
    return status


def _address(node: Obj) -> str:
    for item in node["status"].get("addresses") or ():
        if item["type"] == "InternalIP":
            return str(item["address"])
    return ""


def concluded(pod: Obj, status: Obj, now: str) -> Obj:
    """The status with phase and conditions that follow from its containers."""
    spec = pod["spec"]
    mains, inits = status.get("containerStatuses") or [], status.get("initContainerStatuses") or []
    phase = _phase(spec, mains, inits)
    status = {**status, "phase": phase}
    marks: list[Obj] = []
    pending = [s["name"] for s in inits if not _init_done(spec, s)]
    if not pending:
        done = {"type": "Initialized", "status": "True"}
        marks.append({**done, "reason": "PodCompleted"} if phase == "Succeeded" else done)
    started = any("containerID" in s for s in [*mains, *inits]) and phase in ("Running", "Pending")
    marks.append({"type": "PodReadyToStartContainers", "status": "True" if started else "False"})
    unready = [s["name"] for s in mains if not s["ready"]]
    if phase in ("Succeeded", "Failed"):
        why: Obj = {"status": "False", "reason": "PodCompleted" if phase == "Succeeded" else "PodFailed"}
    elif unready:
        text = f"containers with unready status: [{' '.join(unready)}]"
        why = {"status": "False", "reason": "ContainersNotReady", "message": text}
    else:
        why = {"status": "True"}
    marks += [{"type": "Ready", **why}, {"type": "ContainersReady", **why}]
    for mark in marks:
        status["conditions"] = with_condition(status, {**_NO_NUMBER, **mark}, now)
    return status


def _sidecar(spec: Obj, name: str) -> bool:
    found = [c for c in spec.get("initContainers") or [] if c["name"] == name]
    return bool(found) and found[0].get("restartPolicy") == "Always"


def _init_done(spec: Obj, status: Obj) -> bool:
    if _sidecar(spec, status["name"]):
        return bool(status.get("started"))
    return (status["state"].get("terminated") or {}).get("exitCode") == 0


def _phase(spec: Obj, mains: list[Obj], inits: list[Obj]) -> str:
    policy = spec.get("restartPolicy", "Always")
    plain = [s for s in inits if not _sidecar(spec, s["name"])]
    if any((s["state"].get("terminated") or {}).get("exitCode", 0) != 0 for s in plain) and policy == "Never":
        return "Failed"
    codes = [(s["state"].get("terminated") or {}).get("exitCode") for s in mains]
    if all(c is not None for c in codes):
        if policy == "Never":
            return "Succeeded" if not any(codes) else "Failed"
        if policy == "OnFailure" and not any(codes):
            return "Succeeded"
    begun = any("running" in s["state"] or "terminated" in s["state"] or s["restartCount"] for s in mains)
    return "Running" if begun else "Pending"
