"""The row of a pod: how many containers are ready, and the one word that says how it is."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube.ages import age, parse

Obj = dict[str, Any]


def pod(obj: Obj, now: float) -> list[Any]:
    """Name, Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates."""
    meta, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
    sidecars = {c["name"] for c in spec.get("initContainers") or [] if c.get("restartPolicy") == "Always"}
    total = len(spec.get("containers") or []) + len(sidecars)
    word = status.get("reason") or status.get("phase", "")
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            word = "SchedulingGated"
    init = _init(spec, status, sidecars)
    word = init.word or word
    ready, restarts, last = init.ready, init.restarts, init.last
    if not init.running:
        word, ready, restarts, last = _main(status, word, init)
    if "deletionTimestamp" in meta:
        word = "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    shown = str(restarts)
    if restarts and last:
        shown = f"{restarts} ({age(last, now)} ago)"
    gates = spec.get("readinessGates") or []
    true = {c["type"] for c in status.get("conditions") or [] if c["status"] == "True"}
    gate_text = f"{sum(1 for g in gates if g['conditionType'] in true)}/{len(gates)}" if gates else "<none>"
    ips = status.get("podIPs") or []
    address = (ips[0]["ip"] if ips else status.get("podIP")) or "<none>"
    return [
        meta["name"], f"{ready}/{total}", word, shown, age(meta.get("creationTimestamp"), now), address,
        spec.get("nodeName") or "<none>", status.get("nominatedNodeName") or "<none>", gate_text,
    ]  # fmt: skip


class _Init:
    """What the init containers contribute."""

    def __init__(self) -> None:
        self.word = ""
        self.running = False
        self.ready = 0
        self.restarts = 0
        self.side_restarts = 0
        self.last: str | None = None


def _init(spec: Obj, status: Obj, sidecars: set[str]) -> _Init:
    out = _Init()
    total = len(spec.get("initContainers") or [])
    for i, item in enumerate(status.get("initContainerStatuses") or []):
        out.restarts += item.get("restartCount", 0)
        ended = (item.get("lastState") or {}).get("terminated")
        if ended:
            out.last = _later(out.last, ended.get("finishedAt"))
        state = item.get("state") or {}
        if item["name"] in sidecars:
            out.side_restarts += item.get("restartCount", 0)
            if item.get("started"):
                out.ready += 1 if item.get("ready") else 0
                continue
        done = state.get("terminated")
        if done is not None and done.get("exitCode") == 0:
            continue
        waiting = (state.get("waiting") or {}).get("reason")
        if done is not None:
            out.word = "Init:" + _ended(done)
        elif waiting and waiting != "PodInitializing":
            out.word = "Init:" + waiting
        else:
            out.word = f"Init:{i}/{total}"
        out.running = True
        break
    return out


def _ended(state: Obj) -> str:
    if state.get("reason"):
        return str(state["reason"])
    if state.get("signal"):
        return f"Signal:{state['signal']}"
    return f"ExitCode:{state.get('exitCode', 0)}"


def _main(status: Obj, word: str, init: _Init) -> tuple[str, int, int, str | None]:
    ready, restarts, last = init.ready, init.side_restarts, None
    running = False
    for item in reversed(status.get("containerStatuses") or []):
        restarts += item.get("restartCount", 0)
        ended = (item.get("lastState") or {}).get("terminated")
        if ended:
            last = _later(last, ended.get("finishedAt"))
        state = item.get("state") or {}
        if (state.get("waiting") or {}).get("reason"):
            word = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            word = _ended(state["terminated"])
        elif item.get("ready") and state.get("running") is not None:
            running = True
            ready += 1
    if word == "Completed" and running:
        conditions = {c["type"]: c["status"] for c in status.get("conditions") or []}
        word = "Running" if conditions.get("Ready") == "True" else "NotReady"
    return word, ready, restarts, last


def _later(one: str | None, two: str | None) -> str | None:
    if one is None or two is None:
        return one or two
    return max(one, two, key=parse)
