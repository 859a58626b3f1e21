"""Runs of containers: pull and configuration errors, output, readiness, exit codes, back-off. One behaviour plays each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instantstart_sandbox.controllers import containers as shape
from instantstart_sandbox.controllers.images import Images
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane
from instantstart_sandbox.controllers.s3_mount import Bucket, MountProblem
from instantstart_sandbox.controllers.volumes import Volumes
from instantstart_sandbox.workloads import Behaviour, Behaviours, Call, Turn

Obj = dict[str, Any]
_FIRST_WAIT, _LONGEST_WAIT, _GOOD_RUN = 10.0, 300.0, 600.0
_PULL_WAIT, _CONFIG_WAIT = 12.0, 10.0


class Runs:
    """Begins, follows and ends containers."""

    def __init__(
        self,
        plane: Plane,
        images: Images,
        volumes: Volumes,
        behaviours: Behaviours,
        advance: Callable[[str, Obj], None],
    ) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self._images, self._volumes, self._behaviours, self._advance = images, volumes, behaviours, advance
        for kind, handler in (("turn", self._turn), ("ready", self._ready), ("again", self._again)):
            self.world.timers.on(f"kube.container.{kind}", handler)

    # beginning

    def begin(self, cluster: str, pod: Obj, status: Obj, names: list[str]) -> None:
        """Begin these containers, all in one write of the status."""
        turns: list[tuple[Obj, Turn]] = []
        for name in names:
            container = spec_of(pod, name)
            status, turn = self._begin_one(cluster, pod, status, container)
            if turn is not None:
                turns.append((container, turn))
        pod = self.plane.status(cluster, "pods", pod, shape.concluded(pod, status, self.plane.now()))
        for container, turn in turns:
            self._follow(cluster, pod, container, turn)
        self._next(cluster, pod)

    def _next(self, cluster: str, pod: Obj) -> None:
        latest = self.kube.get(cluster, "pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
        if latest is not None and not finished(latest):
            self._advance(cluster, latest)

    def _begin_one(self, cluster: str, pod: Obj, status: Obj, container: Obj) -> tuple[Obj, Turn | None]:
        name, node, path = container["name"], pod["spec"]["nodeName"], _path(pod, container)
        old = shape.find(status, name)
        error = None if self._images.has(cluster, node, container) else self._images.failure(container)
        if error is not None:
            image = container["image"]
            told = f'Failed to pull image "{image}": {error}'
            self.plane.event(cluster, pod, "Failed", told, warning=True, host=node, path=path)
            self.plane.event(cluster, pod, "Failed", "Error: ErrImagePull", warning=True, host=node, path=path)
            self._later(cluster, pod, container, 2.0, "backoff", error=error)
            return shape.replaced(status, shape.held(old, "ErrImagePull", error)), None
        env, missing = self._volumes.environment(cluster, {**pod, "status": status}, container)
        self._images.pulled(cluster, node, pod, container, path)
        if missing is not None:
            self.plane.event(cluster, pod, "Failed", f"Error: {missing}", warning=True, host=node, path=path)
            self._later(cluster, pod, container, _CONFIG_WAIT, "retry")
            return shape.replaced(status, shape.held(old, "CreateContainerConfigError", missing)), None
        self.plane.event(cluster, pod, "Created", f"Created container: {name}", host=node, path=path)
        self.plane.event(cluster, pod, "Started", f"Started container {name}", host=node, path=path)
        turn = self._play(cluster, {**pod, "status": status}, container, env, {}, old["restartCount"])
        ready = turn.ready and turn.exit_code is None and ready_delay(container) == 0.0
        new = shape.running(pod, container, old, self.plane.now(), ready)
        return shape.replaced(status, new), turn

    def _call(self, cluster: str, pod: Obj, container: Obj, env: dict[str, str], restarts: int) -> Call:
        buckets: dict[str, Bucket] = {}
        if not self._volumes.plain(pod):
            try:
                buckets = self._volumes.mount(cluster, pod, mounted=True)
            except MountProblem:
                buckets = {}
        files = self._volumes.files(cluster, pod, container, buckets)
        return Call(cluster, pod, container, env, files, self.world.clock.time(), restarts)

    def _play(self, cluster: str, pod: Obj, container: Obj, env: dict[str, str], state: Obj, restarts: int) -> Turn:
        call = self._call(cluster, pod, container, env, restarts)
        turn = self._behaviours.find(call).turn(call, state)
        meta = pod["metadata"]
        if turn.lines:
            self.kube.logs.append(cluster, meta["namespace"], meta["name"], container["name"], "\n".join(turn.lines))
        return turn

    def stubborn(self, cluster: str, pod: Obj, container: Obj) -> bool:
        """Whether the container ignores SIGTERM."""
        call = Call(cluster, pod, container, {}, self._volumes.files(cluster, pod, container, {}), 0.0)
        found: Behaviour = self._behaviours.find(call)
        return found.stubborn

    # going on

    @staticmethod
    def _key(cluster: str, pod: Obj, container: Obj) -> str:
        meta = pod["metadata"]
        return f"{cluster}/{meta['namespace']}/{meta['name']}/{container['name']}"

    def _follow(self, cluster: str, pod: Obj, container: Obj, turn: Turn) -> None:
        """Arrange what comes after a turn."""
        key, uid = self._key(cluster, pod, container), pod["metadata"]["uid"]
        restarts = shape.find(pod["status"], container["name"])["restartCount"]
        if turn.exit_code is not None:
            self._ended(cluster, pod, container, turn)
            return
        if turn.after is not None:
            payload = {"uid": uid, "run": restarts, "state": turn.state}
            self.world.timers.after(turn.after, "kube.container.turn", key, **payload)
        delay = ready_delay(container)
        if turn.ready and delay > 0 and not shape.find(pod["status"], container["name"])["ready"]:
            if not self.world.timers.pending("kube.container.ready", key):
                self.world.timers.after(delay, "kube.container.ready", key, uid=uid, run=restarts)

    def _found(self, key: str, payload: Obj) -> tuple[str, Obj, Obj] | None:
        cluster, namespace, name, container = key.split("/", 3)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or pod["metadata"]["uid"] != payload["uid"] or finished(pod):
            return None
        found = spec_of(pod, container)
        if shape.find(pod["status"], container)["restartCount"] != payload["run"]:
            return None
        return cluster, pod, found

    def _turn(self, key: str, payload: Obj) -> None:
        found = self._found(key, payload)
        if found is None or "deletionTimestamp" in found[1]["metadata"]:
            return
        cluster, pod, container = found
        env, _ = self._volumes.environment(cluster, pod, container)
        turn = self._play(cluster, pod, container, env, payload["state"], payload["run"])
        old = shape.find(pod["status"], container["name"])
        if turn.exit_code is None and old["ready"] != (turn.ready and (old["ready"] or not ready_delay(container))):
            changed = shape.replaced(pod["status"], {**old, "ready": turn.ready})
            pod = self.plane.status(cluster, "pods", pod, shape.concluded(pod, changed, self.plane.now()))
        self._follow(cluster, pod, container, turn)

    def _ready(self, key: str, payload: Obj) -> None:
        found = self._found(key, payload)
        if found is None:
            return
        cluster, pod, container = found
        old = shape.find(pod["status"], container["name"])
        if "running" in old["state"]:
            status = shape.replaced(pod["status"], {**old, "ready": True})
            self.plane.status(cluster, "pods", pod, shape.concluded(pod, status, self.plane.now()))

    # ending

    def _ended(self, cluster: str, pod: Obj, container: Obj, turn: Turn) -> None:
        code = turn.exit_code or 0
        pod = self.kube.get(cluster, "pods", pod["metadata"]["namespace"], pod["metadata"]["name"]) or pod
        reason = turn.reason or ("Completed" if code == 0 else "Error")
        old = shape.find(pod["status"], container["name"])
        new = shape.terminated(old, code, reason, self.plane.now())
        again = self._restarts(pod, container, code)
        status = shape.replaced(pod["status"], new)
        wait = self._wait(old) if again else 0.0
        if again and wait >= _FIRST_WAIT:
            held = {**shape.held(new, "CrashLoopBackOff", _back_off(pod, container, wait)), "lastState": new["state"]}
            status = shape.replaced(status, held)
            text = f"Back-off restarting failed container {container['name']} in pod {_long_name(pod)}"
            self.plane.event(
                cluster, pod, "BackOff", text, warning=True, host=pod["spec"]["nodeName"], path=_path(pod, container)
            )
        status = shape.concluded(pod, status, self.plane.now())
        if status["phase"] in ("Succeeded", "Failed"):
            status = self._all_end(pod, status)
        pod = self.plane.status(cluster, "pods", pod, status)
        if again:
            self._later(cluster, pod, container, wait, "restart")
        self._next(cluster, pod)

    @staticmethod
    def _restarts(pod: Obj, container: Obj, code: int) -> bool:
        if sidecar(container):
            return True
        policy = pod["spec"].get("restartPolicy", "Always")
        if any(c["name"] == container["name"] for c in pod["spec"].get("initContainers") or ()):
            return code != 0 and policy != "Never"
        return policy == "Always" or (policy == "OnFailure" and code != 0)

    def _wait(self, old: Obj) -> float:
        began = (old["state"].get("running") or {}).get("startedAt")
        if old["restartCount"] == 0 or self.plane.age(began) >= _GOOD_RUN:
            return 1.0
        doubled: float = _FIRST_WAIT * 2.0 ** min(old["restartCount"] - 1, 10)
        return min(doubled, _LONGEST_WAIT)

    def _all_end(self, pod: Obj, status: Obj) -> Obj:
        """Sidecars stop when the pod is done."""
        for _, part in shape.PARTS:
            for item in status.get(part) or ():
                if "running" in item["state"]:
                    status = shape.replaced(status, shape.terminated(item, 0, "Completed", self.plane.now()))
        return shape.concluded(pod, status, self.plane.now())

    def killed(self, pod: Obj) -> Obj:
        """The status of a pod whose containers were all stopped."""
        status, now = pod["status"], self.plane.now()
        for _, part in shape.PARTS:
            for item in status.get(part) or ():
                if "running" in item["state"]:
                    status = shape.replaced(status, shape.terminated(item, 137, "Error", now))
        status = shape.concluded(pod, status, now)
        return {**status, "phase": "Failed"}

    # trying again

    def _later(self, cluster: str, pod: Obj, container: Obj, seconds: float, what: str, **more: Any) -> None:
        run = shape.find(pod["status"], container["name"])["restartCount"]
        payload = {"uid": pod["metadata"]["uid"], "run": run, "what": what, **more}
        self.world.timers.after(seconds, "kube.container.again", self._key(cluster, pod, container), **payload)

    def _again(self, key: str, payload: Obj) -> None:
        found = self._found(key, payload)
        if found is None or "deletionTimestamp" in found[1]["metadata"]:
            return
        cluster, pod, container = found
        old = shape.find(pod["status"], container["name"])
        if payload["what"] == "restart":
            meta = pod["metadata"]
            self.kube.logs.rotate(cluster, meta["namespace"], meta["name"], container["name"])
            last = old["state"] if "terminated" in old["state"] else old["lastState"]
            fresh = {**shape.restarted(old), "lastState": last}
            self.begin(cluster, pod, shape.replaced(pod["status"], fresh), [container["name"]])
        elif payload["what"] == "backoff":
            self._pull_back_off(cluster, pod, container, old, payload)
        else:
            if payload["what"] == "pull":
                text = f'Pulling image "{container["image"]}"'
                node = pod["spec"]["nodeName"]
                self.plane.event(cluster, pod, "Pulling", text, host=node, path=_path(pod, container))
            self.begin(cluster, pod, pod["status"], [container["name"]])

    def _pull_back_off(self, cluster: str, pod: Obj, container: Obj, old: Obj, payload: Obj) -> None:
        image, node, path = container["image"], pod["spec"]["nodeName"], _path(pod, container)
        text = f'Back-off pulling image "{image}"'
        self.plane.event(cluster, pod, "BackOff", text, host=node, path=path)
        self.plane.event(cluster, pod, "Failed", "Error: ImagePullBackOff", warning=True, host=node, path=path)
        held = shape.held(old, "ImagePullBackOff", f"{text}: ErrImagePull: {payload['error']}")
        status = shape.concluded(pod, shape.replaced(pod["status"], held), self.plane.now())
        pod = self.plane.status(cluster, "pods", pod, status)
        self._later(cluster, pod, container, _PULL_WAIT, "pull")


def spec_of(pod: Obj, name: str) -> Obj:
    """The container's spec."""
    for part in ("containers", "initContainers"):
        for container in pod["spec"].get(part) or ():
            if container["name"] == name:
                found: Obj = container
                return found
    raise KeyError(name)


def sidecar(container: Obj) -> bool:
    """Whether an init container runs beside the others."""
    return container.get("restartPolicy") == "Always"


def ready_delay(container: Obj) -> float:
    """Seconds from start to Ready by the container's probes."""
    total = 0.0
    for name in ("startupProbe", "readinessProbe"):
        probe = container.get(name)
        if probe:
            total += float(probe.get("initialDelaySeconds") or 0) + float(probe.get("periodSeconds") or 10) / 2
    return total


def _path(pod: Obj, container: Obj) -> str:
    inside = any(c["name"] == container["name"] for c in pod["spec"]["containers"])
    return f"spec.{'containers' if inside else 'initContainers'}{{{container['name']}}}"


def _long_name(pod: Obj) -> str:
    meta = pod["metadata"]
    return f"{meta['name']}_{meta['namespace']}({meta['uid']})"


def _back_off(pod: Obj, container: Obj, wait: float) -> str:
    text = f"{int(wait)}s" if wait < 60 else f"{int(wait // 60)}m{int(wait % 60)}s"
    return f"back-off {text} restarting failed container={container['name']} pod={_long_name(pod)}"
