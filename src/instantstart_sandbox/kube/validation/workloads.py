"""Rules of pods and of what makes pods: updates, selectors, templates, Jobs, CronJobs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.selectors import label_match, parse_label_selector
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation.kinds import rule
from instantstart_sandbox.kube.validation.metadata import (
    bad,
    denied,
    label_faults,
    not_supported,
    qualified_faults,
    required,
)
from instantstart_sandbox.kube.validation.podspec import spec as pod_spec
from instantstart_sandbox.kube.validation.podspec import tolerations

Obj = dict[str, Any]
_POD_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_SET_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


@rule("pods")
def _pod(new: Obj, old: Obj | None) -> list[Cause]:
    if old is None:
        return list(pod_spec(new["spec"]))
    return list(_pod_update(new["spec"], old["spec"]))


def _pod_update(new: Obj, old: Obj) -> Iterator[Cause]:
    if new == old:
        return
    deadline, former = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2147483647:
        yield bad("spec.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
    if former is not None and (deadline is None or deadline > former):
        if deadline is None:
            yield bad("spec.activeDeadlineSeconds", None, "must not update from a positive integer to nil value")
        else:
            yield bad("spec.activeDeadlineSeconds", deadline, "must be less than or equal to previous value")
        return
    mine, theirs = _plain_tolerations(new), _plain_tolerations(old)
    if any(t not in mine for t in theirs):
        yield denied("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
        return
    yield from tolerations(new.get("tolerations") or [], "spec.tolerations")
    if _fixed(new) != _fixed(old):
        yield denied("spec", _POD_TEXT)


def _plain_tolerations(spec: Obj) -> list[Obj]:
    return [{k: v for k, v in t.items() if k != "tolerationSeconds"} for t in spec.get("tolerations") or []]


def _fixed(spec: Obj) -> Obj:
    out = empty_copy(
        {k: v for k, v in spec.items() if k not in ("tolerations", "activeDeadlineSeconds", "schedulingGates")}
    )
    for part in ("containers", "initContainers"):
        for container in out.get(part) or []:
            container.pop("image", None)
    if spec.get("schedulingGates"):
        out.pop("nodeSelector", None)
        out.pop("affinity", None)
    fixed: Obj = out
    return fixed


def _selector(selector: Obj | None, where: str) -> Iterator[Cause]:
    selector = selector or {}
    found = list(label_faults(selector.get("matchLabels"), f"{where}.matchLabels"))
    for i, item in enumerate(selector.get("matchExpressions") or []):
        here = f"{where}.matchExpressions[{i}]"
        if item["operator"] in ("In", "NotIn") and not item.get("values"):
            found.append(required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif item["operator"] not in ("In", "NotIn", "Exists", "DoesNotExist"):
            found.append(bad(f"{here}.operator", item["operator"], "not a valid selector operator"))
        found.extend(bad(f"{here}.key", item.get("key", ""), t) for t in qualified_faults(item.get("key", "")))
    yield from found
    if found:
        yield bad(where, selector, "invalid label selector")


def _matches(selector: Obj | None, template: Obj) -> bool:
    if not selector or not (selector.get("matchLabels") or selector.get("matchExpressions")):
        return False
    return label_match(parse_label_selector(selector))(template)


def _template(obj: Obj, where: str = "spec.template") -> Iterator[Cause]:
    yield from label_faults(obj["metadata"].get("labels"), f"{where}.metadata.labels")
    yield from pod_spec(obj["spec"], f"{where}.spec")


def _owner(new: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = new["spec"]
    selector = spec.get("selector")
    for name in ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        if (spec.get(name) or 0) < 0:
            yield bad(f"spec.{name}", spec[name], "must be greater than or equal to 0")
    if not selector:
        yield required("spec.selector")
    else:
        faults = list(_selector(selector, "spec.selector"))
        yield from faults
        if not faults and selector == {}:
            yield bad("spec.selector", selector, "empty selector is invalid for deployment")
        if faults:
            return
    template = spec.get("template") or {"metadata": {}, "spec": {}}
    if not _matches(selector, template):
        labels = template["metadata"].get("labels")
        yield bad("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    policy = template["spec"].get("restartPolicy")
    yield from _template(template)
    if policy in ("OnFailure", "Never"):
        yield not_supported("spec.template.spec.restartPolicy", policy, ["Always"])
    if old is not None and selector != old["spec"].get("selector"):
        yield bad("spec.selector", selector, "field is immutable")


@rule("deployments.apps", "replicasets.apps", "daemonsets.apps")
def _workload(new: Obj, old: Obj | None) -> list[Cause]:
    return [*_owner(new, old), *_strategy(new)]


def _strategy(new: Obj) -> Iterator[Cause]:
    strategy = new["spec"].get("strategy")
    if not strategy:
        return
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate" and rolling is not None:
        yield denied("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind not in ("Recreate", "RollingUpdate"):
        yield not_supported("spec.strategy.type", kind, ["Recreate", "RollingUpdate"])
    elif rolling and _is_zero(rolling.get("maxUnavailable")) and _is_zero(rolling.get("maxSurge")):
        text = "may not be 0 when `maxSurge` is 0"
        yield bad("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], text)


def _is_zero(value: Any) -> bool:
    return value in (0, "0%", "0")


@rule("deployments.apps/status")
def _deployment_status(new: Obj, _old: Obj | None) -> list[Cause]:
    status = new.get("status") or {}
    found = []
    total = status.get("replicas", 0)
    names = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
    for name in names:
        if status.get(name, 0) < 0:
            found.append(bad(f"status.{name}", status[name], "must be greater than or equal to 0"))
    for name in names[1:4]:
        if status.get(name, 0) > total:
            found.append(bad(f"status.{name}", status.get(name, 0), "cannot be greater than status.replicas"))
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        found.append(
            bad("status.availableReplicas", status["availableReplicas"], "cannot be greater than readyReplicas")
        )
    return found


@rule("statefulsets.apps")
def _stateful_set(new: Obj, old: Obj | None) -> list[Cause]:
    free = ("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "minReadySeconds",
            "persistentVolumeClaimRetentionPolicy")  # fmt: skip
    if old is not None:
        mine, theirs = ({k: v for k, v in o["spec"].items() if k not in free} for o in (new, old))
        if mine != theirs:
            return [denied("spec", _SET_TEXT)]
        return list(_template(new["spec"]["template"]))
    name = new["spec"].get("serviceName", "")
    found = [bad("spec.serviceName", name, "must be no more than 63 characters")] if len(name) > 63 else []
    faults = list(_owner(new, None))
    return [*found, *faults]


@rule("jobs.batch")
def _job(new: Obj, old: Obj | None) -> list[Cause]:
    return list(_job_update(new, old) if old is not None else _job_spec(new["spec"], "spec", generated=True))


def _job_spec(spec: Obj, where: str, generated: bool) -> Iterator[Cause]:
    for name in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
        if (spec.get(name) or 0) < 0:
            yield bad(f"{where}.{name}", spec[name], "must be greater than or equal to 0")
    mode = spec.get("completionMode")
    if mode not in ("NonIndexed", "Indexed"):
        yield not_supported(f"{where}.completionMode", mode, ["NonIndexed", "Indexed"])
    if mode == "Indexed" and spec.get("completions") is None:
        yield required(f"{where}.completions", "when completion mode is Indexed")
    for i, item in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or []):
        codes = item.get("onExitCodes")
        if codes is not None and not codes.get("values"):
            yield bad(f"{where}.podFailurePolicy.rules[{i}].onExitCodes.values", [], "at least one value is required")
    if generated:
        if not spec.get("selector"):
            yield required(f"{where}.selector")
        if not _matches(spec.get("selector"), spec["template"]):
            labels = spec["template"]["metadata"].get("labels")
            yield bad(f"{where}.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from _template(spec["template"], f"{where}.template")
    policy = spec["template"]["spec"].get("restartPolicy")
    if policy == "Always":
        yield required(f"{where}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')


def _job_update(new: Obj, old: Obj) -> Iterator[Cause]:
    mine, theirs = new["spec"], old["spec"]
    if (mine.get("parallelism") or 0) < 0:
        yield bad("spec.parallelism", mine["parallelism"], "must be greater than or equal to 0")
    elastic = mine.get("completionMode") == "Indexed" and mine.get("completions") == mine.get("parallelism")
    if mine.get("completions") != theirs.get("completions") and not elastic:
        yield bad("spec.completions", mine.get("completions"), "field is immutable")
    for name in ("selector", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex"):
        if mine.get(name) != theirs.get(name):
            yield bad(f"spec.{name}", mine.get(name), "field is immutable")
    one, two = empty_copy(mine["template"]), empty_copy(theirs["template"])
    if theirs.get("suspend") and not (old.get("status") or {}).get("startTime"):
        for part in (one, two):
            for name in ("nodeSelector", "affinity", "tolerations", "schedulingGates"):
                part["spec"].pop(name, None)
            part["metadata"] = {}
            for container in part["spec"].get("containers") or []:
                container.pop("resources", None)
    if one != two:
        yield bad("spec.template.spec", mine["template"]["spec"], "field is immutable")


@rule("cronjobs.batch")
def _cron_job(new: Obj, _old: Obj | None) -> list[Cause]:
    spec = new["spec"]
    found: list[Cause] = []
    if not spec.get("schedule"):
        found.append(required("spec.schedule"))
    elif not re.match(r"^(@\w+|@every \S+|(\S+\s+){4}\S+)$", spec["schedule"]):
        count = len(spec["schedule"].split())
        text = f"expected exactly 5 fields, found {count}: [{spec['schedule']}]"
        found.append(bad("spec.schedule", spec["schedule"], text))
    policies = ["Allow", "Forbid", "Replace"]
    if spec.get("concurrencyPolicy") not in policies:
        found.append(not_supported("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), policies))
    found.extend(_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", generated=False))
    return found
