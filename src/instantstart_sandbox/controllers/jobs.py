"""Jobs: pods until enough have succeeded or too many have failed, with conditions as the real controller words them."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane, controller_of, is_true, join, pod_ready, split
from instantstart_sandbox.controllers.replicas import create_pod, delete_pod
from instantstart_sandbox.kube.canonical import empty_copy

Obj = dict[str, Any]
_INDEX = "batch.kubernetes.io/job-completion-index"
_BACK_OFF, _LONGEST = 10.0, 600.0


class Jobs:
    """Reconciles Jobs."""

    component = "job-controller"
    resource = "jobs.batch"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.job", self._sync)
        self.world.timers.on("kube.job.later", self._later)
        self.world.timers.on("kube.job.expire", self._expire)

    def _later(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.job", key)

    def pod_changed(self, cluster: str, pod: Obj) -> None:
        """A pod of a Job changed."""
        owner = controller_of(pod)
        if owner is not None and owner["kind"] == "Job":
            self.world.work.enqueue("kube.job", f"{cluster}/{pod['metadata']['namespace']}/{owner['name']}")

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        job = self.kube.get(cluster, self.resource, namespace, name)
        if job is None or "deletionTimestamp" in job["metadata"]:
            return
        status = job.get("status") or {}
        if is_true(status, "Complete") or is_true(status, "Failed"):
            self._expire_later(key, job)
            return
        pods = self.plane.index.owned(cluster, job["metadata"]["uid"], "pods")
        active = [p for p in pods if not finished(p) and "deletionTimestamp" not in p["metadata"]]
        tally = _tally(job, pods)
        if job["spec"].get("suspend"):
            self._suspend(cluster, job, active)
            return
        if not status.get("startTime"):
            status = {**status, "startTime": self.plane.now()}
        verdict = self._verdict(job, status, pods, tally)
        if verdict is None:
            active = self._work(cluster, key, job, active, pods, tally)
            self._write(cluster, job, status, active, tally, [])
            return
        for pod in active:
            delete_pod(self.plane, cluster, job, pod, self.component)
        self._finish(cluster, key, job, status, tally, verdict)

    # judging

    def _verdict(self, job: Obj, status: Obj, pods: list[Obj], tally: Obj) -> tuple[str, str, str] | None:
        """(Complete or Failed, reason, message), or None while it runs."""
        spec = job["spec"]
        limit = spec.get("backoffLimit", 6)
        completions = spec.get("completions")
        if tally["failed"] > limit or _restarts(pods) > limit:
            return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        deadline = spec.get("activeDeadlineSeconds")
        if deadline is not None and self.plane.age(status["startTime"]) >= deadline:
            return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
        if completions is not None and tally["succeeded"] >= completions:
            return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
        idle = not any(not finished(p) for p in pods)
        if completions is None and tally["succeeded"] and idle:
            return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
        return None

    def _finish(self, cluster: str, key: str, job: Obj, status: Obj, tally: Obj, verdict: tuple[str, str, str]) -> None:
        kind, reason, message = verdict
        now = self.plane.now()
        before = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
        body = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now, "reason": reason, "message": message}
        if kind == "Complete":
            status = {**status, "completionTime": now}
        self._write(cluster, job, status, [], tally, [{"type": before, **body}, {"type": kind, **body}])
        text = "Job completed" if kind == "Complete" else message
        self.plane.event(
            cluster, job, "Completed" if kind == "Complete" else reason, text,
            warning=kind != "Complete", component=self.component,
        )  # fmt: skip
        latest = self.kube.get(cluster, self.resource, job["metadata"]["namespace"], job["metadata"]["name"])
        self._expire_later(key, latest or job)

    def _write(self, cluster: str, job: Obj, status: Obj, active: list[Obj], tally: Obj, more: list[Obj]) -> None:
        new: Obj = {
            **{k: v for k, v in status.items() if k in ("startTime", "completionTime")},
            "active": len(active),
            "succeeded": tally["succeeded"],
            "failed": tally["failed"],
            "ready": len([p for p in active if pod_ready(p)]),
            "terminating": 0,
            "uncountedTerminatedPods": {},
        }
        if tally["indexes"]:
            new["completedIndexes"] = _ranges(tally["indexes"])
        kept = [c for c in status.get("conditions") or () if c["type"] not in {m["type"] for m in more}]
        if kept or more:
            new["conditions"] = [*kept, *more]
        shown = ("ready", "terminating", "uncountedTerminatedPods")
        new = {k: v for k, v in new.items() if v or k in shown}
        self.plane.status(cluster, self.resource, job, new)

    # working

    def _work(self, cluster: str, key: str, job: Obj, active: list[Obj], pods: list[Obj], tally: Obj) -> list[Obj]:
        spec = job["spec"]
        self._watch_deadline(key, job)
        wait = self._back_off(pods)
        if wait > 0:
            self.world.timers.after(wait, "kube.job.later", key)
            return active
        width = spec.get("parallelism", 1)
        completions = spec.get("completions")
        if completions is None:
            wanted = 0 if tally["succeeded"] else width
        else:
            wanted = min(width, completions - tally["succeeded"])
        missing = self._missing(job, active, tally)
        for _ in range(max(0, wanted - len(active))):
            made = self._create(cluster, job, next(missing) if missing is not None else None)
            if made is None:
                self.world.timers.after(_BACK_OFF, "kube.job.later", key)
                break
            active = [*active, made]
        for pod in active[wanted:] if len(active) > wanted else []:
            delete_pod(self.plane, cluster, job, pod, self.component)
        return active[: max(wanted, 0)]

    def _watch_deadline(self, key: str, job: Obj) -> None:
        deadline = job["spec"].get("activeDeadlineSeconds")
        if deadline is None or self.world.timers.pending("kube.job.later", key):
            return
        spent = self.plane.age((job.get("status") or {}).get("startTime"))
        self.world.timers.after(max(0.0, deadline - spent), "kube.job.later", key)

    def _back_off(self, pods: list[Obj]) -> float:
        failed = [p for p in pods if (p.get("status") or {}).get("phase") == "Failed"]
        if not failed:
            return 0.0
        since = min(self.plane.age(_ended_at(p)) for p in failed)
        pause: float = min(_BACK_OFF * 2.0 ** (len(failed) - 1), _LONGEST)
        return max(0.0, pause - since)

    @staticmethod
    def _missing(job: Obj, active: list[Obj], tally: Obj) -> Any:
        if job["spec"].get("completionMode") != "Indexed":
            return None
        busy = {_index_of(p) for p in active} | tally["indexes"]
        return iter([i for i in range(job["spec"]["completions"]) if i not in busy])

    def _create(self, cluster: str, job: Obj, index: int | None) -> Obj | None:
        template = job["spec"]["template"]
        if index is None:
            return create_pod(self.plane, cluster, job, template, self.component)
        template = empty_copy(template)
        meta = template.setdefault("metadata", {})
        meta["annotations"] = {**(meta.get("annotations") or {}), _INDEX: str(index)}
        template["spec"].setdefault("hostname", f"{job['metadata']['name']}-{index}")
        for container in [*template["spec"]["containers"], *(template["spec"].get("initContainers") or [])]:
            value = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{_INDEX}']"}}
            container["env"] = [*(container.get("env") or []), {"name": "JOB_COMPLETION_INDEX", "valueFrom": value}]
        name = f"{job['metadata']['name']}-{index}-{self.world.ids.text(5)}"
        return create_pod(self.plane, cluster, job, template, self.component, name=name, labels={_INDEX: str(index)})

    def _suspend(self, cluster: str, job: Obj, active: list[Obj]) -> None:
        for pod in active:
            delete_pod(self.plane, cluster, job, pod, self.component)
        status = {k: v for k, v in (job.get("status") or {}).items() if k not in ("startTime", "active")}
        now = self.plane.now()
        if not is_true(status, "Suspended"):
            mark = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
            status["conditions"] = [{**mark, "lastProbeTime": now, "lastTransitionTime": now}]
            self.plane.status(cluster, self.resource, job, status)
            self.plane.event(cluster, job, "Suspended", "Job suspended", component=self.component)

    # after the end

    def _expire_later(self, key: str, job: Obj) -> None:
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is not None and not self.world.timers.pending("kube.job.expire", key):
            ended = [c for c in job["status"].get("conditions") or () if c["type"] in ("Complete", "Failed")]
            spent = self.plane.age(ended[0]["lastTransitionTime"]) if ended else 0.0
            self.world.timers.after(max(0.0, seconds - spent), "kube.job.expire", key, uid=job["metadata"]["uid"])

    def _expire(self, key: str, payload: Obj) -> None:
        cluster, namespace, name = split(key)
        job = self.kube.get(cluster, self.resource, namespace, name)
        if job is not None and job["metadata"]["uid"] == payload["uid"] and join(cluster, job) == key:
            self.kube.delete(cluster, self.resource, namespace, name, propagation="Foreground")


def _index_of(pod: Obj) -> int:
    return int((pod["metadata"].get("annotations") or {}).get(_INDEX, -1))


def _tally(job: Obj, pods: list[Obj]) -> Obj:
    """How many pods succeeded and failed, not less than was counted before; completed indexes of an Indexed Job."""
    old = job.get("status") or {}
    won = [p for p in pods if (p.get("status") or {}).get("phase") == "Succeeded"]
    lost = [p for p in pods if (p.get("status") or {}).get("phase") == "Failed"]
    indexes = {_index_of(p) for p in won} if job["spec"].get("completionMode") == "Indexed" else set()
    if job["spec"].get("completionMode") == "Indexed":
        indexes |= _numbers(old.get("completedIndexes", ""))
        succeeded = len(indexes)
    else:
        succeeded = max(len(won), old.get("succeeded", 0))
    return {"succeeded": succeeded, "failed": max(len(lost), old.get("failed", 0)), "indexes": indexes}


def _restarts(pods: list[Obj]) -> int:
    """Restarts inside pods count against the limit when the pods restart by themselves."""
    total = 0
    for pod in pods:
        if pod["spec"].get("restartPolicy") == "OnFailure" and not finished(pod):
            total += sum(s["restartCount"] for s in pod["status"].get("containerStatuses") or ())
    return total


def _ended_at(pod: Obj) -> str:
    times = [
        (s["state"].get("terminated") or {}).get("finishedAt") or ""
        for s in (pod.get("status") or {}).get("containerStatuses") or ()
    ]
    return max(times, default="") or str(pod["metadata"]["creationTimestamp"])


def _numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def _ranges(numbers: set[int]) -> str:
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" if b > a + 1 else f"{a},{b}" for a, b in parts)
