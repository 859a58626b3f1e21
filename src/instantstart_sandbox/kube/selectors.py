"""Label and field selectors: parsed with the server's own complaints, then matched against objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from instantstart_sandbox.kube.catalog import stored
from instantstart_sandbox.kube.status import bad_request

Match = Callable[[dict[str, Any]], bool]
_TOKEN = re.compile(r"\s*(==|!=|[(),=!<>]|[^\s(),=!<>]+)")
_KEY = re.compile(r"^(?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
_VALUE = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_SPECIAL = set("(),=!<>") | {"==", "!="}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on labels."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether the labels satisfy it."""
        value = labels.get(self.key)
        if self.operator == "exists":
            return value is not None
        if self.operator == "absent":
            return value is None
        if self.operator == "in":
            return value is not None and value in self.values
        if self.operator == "notin":
            return value is None or value not in self.values
        if value is None or not value.lstrip("-").isdigit():
            return False
        bound = int(next(iter(self.values)))
        return int(value) > bound if self.operator == "gt" else int(value) < bound


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = [m.group(1) for m in _TOKEN.finditer(text)]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        word = self.peek()
        self.at += 1
        return word

    def parse(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self.peek():
            found.append(self.requirement())
            word = self.take()
            if word == "":
                return found
            if word != ",":
                raise bad_request(f"found '{word}', expected: ',' or 'end of string'")
            if not self.peek() or self.peek() == ",":
                raise bad_request(f"found '{self.peek()}', expected: identifier after ','")
        return found

    def requirement(self) -> Requirement:
        operator = ""
        if self.peek() == "!":
            self.take()
            operator = "absent"
        key = self.take()
        if key in _SPECIAL or not key:
            raise bad_request(f"unable to parse requirement: found '{key}', expected: identifier")
        _check_key(key)
        if operator or self.peek() in ("", ","):
            return Requirement(key, operator or "exists")
        operator = self.take()
        if operator in ("in", "notin"):
            return Requirement(key, operator, frozenset(_check_values(key, self.set_values())))
        if operator in ("=", "==", "!="):
            value = "" if self.peek() in ("", ",") else self.take()
            if value in _SPECIAL:
                raise bad_request(f"unable to parse requirement: found '{value}', expected: identifier")
            _check_values(key, [value])
            return Requirement(key, "notin" if operator == "!=" else "in", frozenset([value]))
        if operator in (">", "<", "gt", "lt"):
            return self.compared(key, "gt" if operator in (">", "gt") else "lt")
        raise bad_request(f"unable to parse requirement: found '{operator}', expected: {_OPERATORS}")

    def compared(self, key: str, operator: str) -> Requirement:
        value = self.take()
        if not value.lstrip("-").isdigit():
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            raise bad_request(f'unable to parse requirement: values[0][{key}]: Invalid value: "{value}": {text}')
        return Requirement(key, operator, frozenset([value]))

    def set_values(self) -> list[str]:
        word = self.take()
        if word != "(":
            raise bad_request(f"unable to parse requirement: found '{word}' expected: '('")
        values: list[str] = []
        while True:
            word = self.take()
            if word == ")":
                return values or [""]
            if word == "":
                raise bad_request("unable to parse requirement: found '', expected: ',' or ')'")
            if word == ",":
                if self.peek() in (",", ")"):
                    values.append("")
                continue
            values.append(word)


def _check_key(key: str) -> None:
    if not _KEY.match(key):
        text = (
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        )
        raise bad_request(f'unable to parse requirement: key: Invalid value: "{key}": {text}')


def _check_values(key: str, values: list[str]) -> list[str]:
    for i, value in enumerate(values):
        if len(value) > 63:
            text = "must be no more than 63 bytes"
        elif not _VALUE.match(value):
            text = (
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
                "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            )
        else:
            continue
        raise bad_request(f'unable to parse requirement: values[{i}][{key}]: Invalid value: "{value}": {text}')
    return values


def parse_labels(text: str) -> list[Requirement]:
    """The requirements of a labelSelector parameter; ApiError 400 when it does not parse."""
    return _Parser(text).parse()


def label_match(requirements: list[Requirement]) -> Match:
    """A predicate on objects."""

    def matches(obj: dict[str, Any]) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return all(r.matches(labels) for r in requirements)

    return matches


def parse_label_selector(selector: dict[str, Any] | None) -> list[Requirement]:
    """The requirements of a LabelSelector object."""
    selector = selector or {}
    found = [Requirement(k, "in", frozenset([v])) for k, v in (selector.get("matchLabels") or {}).items()]
    names = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}
    for item in selector.get("matchExpressions") or []:
        found.append(Requirement(item["key"], names[item["operator"]], frozenset(item.get("values") or ())))
    return found


_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "jobs.batch": ("status.successful",),
    "replicationcontrollers": ("status.replicas",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
}


def field_value(obj: dict[str, Any], path: str) -> str:
    """The text of a selectable field."""
    if path == "source":
        return str((obj.get("source") or {}).get("component", ""))
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if path == "spec.unschedulable" or isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def parse_fields(text: str, key: str, namespaced: bool, extra: tuple[str, ...] = ()) -> list[tuple[str, str, bool]]:
    """(path, value, wanted) triples of a fieldSelector; ApiError 400 for what the resource does not offer."""
    found: list[tuple[str, str, bool]] = []
    allowed = ("metadata.name", "metadata.namespace") if namespaced else ("metadata.name",)
    allowed = (*allowed, *_FIELDS.get(key, ()), *extra)
    for term in filter(None, text.split(",")):
        match = re.match(r"^(.*?)(!=|==|=)(.*)$", term)
        if not match:
            raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
        path, operator, value = match.groups()
        if path not in allowed:
            raise bad_request(_unsupported(key, path))
        found.append((path, value, operator != "!="))
    return found


def _unsupported(key: str, path: str) -> str:
    if key in stored() and key not in _FIELDS:
        return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {path}"


def field_match(terms: list[tuple[str, str, bool]]) -> Match:
    """A predicate on objects."""

    def matches(obj: dict[str, Any]) -> bool:
        return all((field_value(obj, path) == value) == wanted for path, value, wanted in terms)

    return matches
