"""Rules of pod specs: containers, volumes, tolerations, affinity, names, resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instantstart_sandbox.kube import quantity
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation import resources
from instantstart_sandbox.kube.validation.metadata import (
    LABEL,
    LABEL_TEXT,
    bad,
    denied,
    label_faults,
    name_faults,
    not_supported,
    qualified_faults,
    required,
)

Obj = dict[str, Any]
_DNS = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]
_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_PULL = ["Always", "IfNotPresent", "Never"]
_PROTOCOLS = ["SCTP", "TCP", "UDP"]
_ENV = "a valid environment variable name must consist only of printable ASCII characters other than '='"


def spec(obj: Obj, where: str = "spec", restart: list[str] | None = None) -> Iterator[Cause]:
    """Faults of a pod spec."""
    volumes = yield from _volumes(obj, f"{where}.volumes")
    yield from _containers(obj, where, volumes)
    policies = ["Always", "OnFailure", "Never"]
    if restart is None and obj.get("restartPolicy") not in policies:
        yield not_supported(f"{where}.restartPolicy", obj.get("restartPolicy", ""), policies)
    if obj.get("dnsPolicy") not in _DNS:
        yield not_supported(f"{where}.dnsPolicy", obj.get("dnsPolicy", ""), _DNS)
    yield from label_faults(obj.get("nodeSelector"), f"{where}.nodeSelector")
    yield from _numbers(obj, where)
    yield from _names(obj, where)
    yield from tolerations(obj.get("tolerations") or [], f"{where}.tolerations")
    yield from _affinity(obj.get("affinity") or {}, f"{where}.affinity")
    yield from _spread(obj.get("topologySpreadConstraints") or [], f"{where}.topologySpreadConstraints")


def _numbers(obj: Obj, where: str) -> Iterator[Cause]:
    deadline = obj.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2147483647:
        yield bad(f"{where}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
    grace = obj.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        yield bad(f"{where}.terminationGracePeriodSeconds", grace, "must be greater than or equal to 0")


def _names(obj: Obj, where: str) -> Iterator[Cause]:
    for name in ("hostname", "subdomain"):
        value = obj.get(name)
        if value and not LABEL.match(value):
            yield bad(f"{where}.{name}", value, LABEL_TEXT)
    for name in ("serviceAccountName", "nodeName", "priorityClassName"):
        if obj.get(name):
            yield from name_faults("", obj[name], f"{where}.{name}")


def _volumes(obj: Obj, where: str) -> Any:
    found: set[str] = set()
    for i, volume in enumerate(obj.get("volumes") or []):
        here = f"{where}[{i}]"
        faults = list(_volume(volume, here))
        name = volume.get("name", "")
        if not name:
            faults.append(required(f"{here}.name"))
        elif not LABEL.match(name):
            faults.append(bad(f"{here}.name", name, LABEL_TEXT))
        elif name in found:
            faults.append(Cause(f"{here}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"'))
        yield from faults
        if not faults:
            found.add(name)
    return found


def _volume(volume: Obj, where: str) -> Iterator[Cause]:
    sources = [k for k in volume if k != "name"]
    if not sources:
        yield required(where, "must specify a volume type")
    for extra in sources[1:]:
        yield denied(f"{where}.{extra}", "may not specify more than 1 volume type")
    limit = (volume.get("emptyDir") or {}).get("sizeLimit")
    if limit and quantity.parse(limit) < 0:
        yield denied(f"{where}.emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity")
    needs = {
        "hostPath": "path",
        "persistentVolumeClaim": "claimName",
        "nfs": "server",
        "secret": "secretName",
        "csi": "driver",
    }
    for source, name in needs.items():
        if source in volume and not volume[source].get(name):
            yield required(f"{where}.{source}.{name}")
    if "configMap" in volume and not volume["configMap"].get("name"):
        yield required(f"{where}.configMap.name")


def _containers(obj: Obj, where: str, volumes: set[str]) -> Iterator[Cause]:
    seen: set[str] = set()
    if not obj.get("containers"):
        yield required(f"{where}.containers")
    for part in ("initContainers", "containers"):
        for i, container in enumerate(obj.get(part) or []):
            here = f"{where}.{part}[{i}]"
            name = container.get("name", "")
            if not name:
                yield required(f"{here}.name")
            elif not LABEL.match(name) or len(name) > 63:
                yield bad(f"{here}.name", name, LABEL_TEXT)
            elif name in seen:
                yield Cause(f"{here}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
            seen.add(name)
            yield from _container(container, here, volumes)


def _container(item: Obj, here: str, volumes: set[str]) -> Iterator[Cause]:
    image = item.get("image", "")
    if not image:
        yield required(f"{here}.image")
    elif image != image.strip():
        yield bad(f"{here}.image", image, "must not have leading or trailing whitespace")
    if item.get("imagePullPolicy") not in _PULL:
        yield not_supported(f"{here}.imagePullPolicy", item.get("imagePullPolicy", ""), _PULL)
    yield from _ports(item.get("ports") or [], f"{here}.ports")
    yield from _env(item.get("env") or [], f"{here}.env")
    yield from _mounts(item.get("volumeMounts") or [], f"{here}.volumeMounts", volumes)
    yield from resources.check(item.get("resources") or {}, f"{here}.resources")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if item.get(probe) is not None:
            yield from _probe(item[probe], f"{here}.{probe}", probe)


def port_number(value: Any, field: str) -> Iterator[Cause]:
    """Faults of a port number."""
    if not isinstance(value, int) or not 1 <= value <= 65535:
        yield bad(field, value, "must be between 1 and 65535, inclusive")


def port_name(name: str, field: str) -> Iterator[Cause]:
    """Faults of a port's name (IANA service name)."""
    if len(name) > 15:
        yield bad(field, name, "must be no more than 15 characters")
    if not all(c.islower() or c.isdigit() or c == "-" for c in name):
        yield bad(field, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any(c.isalpha() and c.islower() for c in name):
        yield bad(field, name, "must contain at least one letter (a-z)")
    if "--" in name:
        yield bad(field, name, "must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        yield bad(field, name, "must not begin or end with a hyphen")


def _ports(ports: list[Obj], here: str) -> Iterator[Cause]:
    names: set[str] = set()
    for i, port in enumerate(ports):
        name = port.get("name")
        if name:
            yield from port_name(name, f"{here}[{i}].name")
            if name in names:
                yield Cause(f"{here}[{i}].name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
            names.add(name)
        if not port.get("containerPort"):
            yield required(f"{here}[{i}].containerPort")
        else:
            yield from port_number(port["containerPort"], f"{here}[{i}].containerPort")
        if port.get("hostPort"):
            yield from port_number(port["hostPort"], f"{here}[{i}].hostPort")
        if port.get("protocol") not in _PROTOCOLS:
            yield not_supported(f"{here}[{i}].protocol", port.get("protocol", ""), _PROTOCOLS)


def _env(env: list[Obj], here: str) -> Iterator[Cause]:
    for i, item in enumerate(env):
        name = item.get("name", "")
        if not name:
            yield required(f"{here}[{i}].name")
        elif "=" in name or not name.isascii() or not name.isprintable():
            yield bad(f"{here}[{i}].name", name, _ENV)
        source = item.get("valueFrom")
        if source is not None and item.get("value"):
            yield bad(f"{here}[{i}].valueFrom", "", "may not be specified when `value` is not empty")
        if source is not None and len(source) != 1:
            text = (
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            )
            yield bad(
                f"{here}[{i}].valueFrom",
                "",
                text if not source else "may not have more than one field specified at a time",
            )


def _mounts(mounts: list[Obj], here: str, volumes: set[str]) -> Iterator[Cause]:
    paths: set[str] = set()
    for i, mount in enumerate(mounts):
        name = mount.get("name", "")
        if not name:
            yield required(f"{here}[{i}].name")
        if name not in volumes:
            yield Cause(f"{here}[{i}].name", "FieldValueNotFound", f'Not found: "{name}"')
        path = mount.get("mountPath", "")
        if not path:
            yield required(f"{here}[{i}].mountPath")
        if path in paths:
            yield bad(f"{here}[{i}].mountPath", path, "must be unique")
        paths.add(path)
        if mount.get("subPath", "").startswith("/"):
            yield bad(f"{here}[{i}].subPath", mount["subPath"], "must be a relative path")


def _probe(probe: Obj, here: str, name: str) -> Iterator[Cause]:
    handlers = [h for h in ("exec", "httpGet", "tcpSocket", "grpc") if probe.get(h) is not None]
    if not handlers:
        yield required(here, "must specify a handler type")
    for extra in handlers[1:]:
        yield denied(f"{here}.{extra}", "may not specify more than 1 handler type")
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if probe.get(field, 0) < 0:
            yield bad(f"{here}.{field}", probe[field], "must be greater than or equal to 0")
    if name != "readinessProbe" and probe.get("successThreshold", 1) != 1:
        yield bad(f"{here}.successThreshold", probe["successThreshold"], "must be 1")
    port = (probe.get("httpGet") or probe.get("tcpSocket") or {}).get("port")
    kind = "httpGet" if "httpGet" in probe else "tcpSocket"
    if isinstance(port, int) and handlers and handlers[0] in ("httpGet", "tcpSocket"):
        yield from port_number(port, f"{here}.{kind}.port")
    elif isinstance(port, str):
        yield from port_name(port, f"{here}.{kind}.port")
    if probe.get("exec") is not None and not probe["exec"].get("command"):
        yield required(f"{here}.exec.command")


def tolerations(items: list[Obj], where: str) -> Iterator[Cause]:
    """Faults of tolerations."""
    for i, item in enumerate(items):
        here = f"{where}[{i}]"
        if item.get("key"):
            for text in qualified_faults(item["key"]):
                yield bad(f"{here}.key", item["key"], text)
        elif item.get("operator") != "Exists":
            yield bad(
                f"{here}.operator",
                item.get("operator", ""),
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        operator = item.get("operator") or "Equal"
        if operator == "Exists" and item.get("value"):
            yield bad(f"{here}.operator", item["value"], "value must be empty when `operator` is 'Exists'")
        elif operator not in ("Equal", "Exists"):
            yield not_supported(f"{here}.operator", operator, ["Equal", "Exists"])
        if item.get("effect") and item["effect"] not in _EFFECTS:
            yield not_supported(f"{here}.effect", item["effect"], _EFFECTS)
        if item.get("tolerationSeconds") is not None and item.get("effect") != "NoExecute":
            yield bad(
                f"{here}.effect", item.get("effect", ""), "effect must be 'NoExecute' when `tolerationSeconds` is set"
            )


def _affinity(affinity: Obj, where: str) -> Iterator[Cause]:
    node = affinity.get("nodeAffinity") or {}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    needed = node.get(key)
    if needed is not None:
        here = f"{where}.nodeAffinity.{key}.nodeSelectorTerms"
        if not needed.get("nodeSelectorTerms"):
            yield required(here, "must have at least one node selector term")
        for i, term in enumerate(needed.get("nodeSelectorTerms") or []):
            yield from node_term(term, f"{here}[{i}]")
    wish = "preferredDuringSchedulingIgnoredDuringExecution"
    for i, term in enumerate(node.get(wish) or []):
        here = f"{where}.nodeAffinity.{wish}[{i}]"
        if not 1 <= term.get("weight", 0) <= 100:
            yield bad(f"{here}.weight", term.get("weight", 0), "must be in the range 1-100")
        yield from node_term(term.get("preference") or {}, f"{here}.preference")
    for part in ("podAffinity", "podAntiAffinity"):
        for i, term in enumerate((affinity.get(part) or {}).get(key) or []):
            if not term.get("topologyKey"):
                yield required(f"{where}.{part}.{key}[{i}].topologyKey", "can not be empty")


def node_term(term: Obj, where: str) -> Iterator[Cause]:
    """Faults of a node selector term."""
    for i, item in enumerate(term.get("matchExpressions") or []):
        here = f"{where}.matchExpressions[{i}]"
        operator, values = item.get("operator", ""), item.get("values") or []
        if operator in ("In", "NotIn") and not values:
            yield required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif operator in ("Exists", "DoesNotExist") and values:
            yield denied(f"{here}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        elif operator in ("Gt", "Lt") and len(values) != 1:
            yield required(f"{here}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"):
            yield bad(f"{here}.operator", operator, "not a valid selector operator")
        for text in qualified_faults(item.get("key", "")):
            yield bad(f"{here}.key", item.get("key", ""), text)


def _spread(items: list[Obj], where: str) -> Iterator[Cause]:
    for i, item in enumerate(items):
        here = f"{where}[{i}]"
        if item.get("maxSkew", 0) <= 0:
            yield bad(f"{here}.maxSkew", item.get("maxSkew", 0), "must be greater than zero")
        if not item.get("topologyKey"):
            yield required(f"{here}.topologyKey", "can not be empty")
        if item.get("whenUnsatisfiable") not in ("DoNotSchedule", "ScheduleAnyway"):
            yield not_supported(
                f"{here}.whenUnsatisfiable", item.get("whenUnsatisfiable", ""), ["DoNotSchedule", "ScheduleAnyway"]
            )
