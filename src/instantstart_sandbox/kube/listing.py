"""Lists: selectors, pages from one snapshot, resourceVersion rules; plain, as a Table, or metadata only."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from instantstart_sandbox.kube import conversion
from instantstart_sandbox.kube.catalog import STORED_VERSION, Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.selectors import Match, field_match, label_match, parse_fields, parse_labels
from instantstart_sandbox.kube.status import ApiError, Cause, bad_request, expired, invalid
from instantstart_sandbox.kube.store import ClusterState, Entry, Key, Table, key_of, place, tail_of
from instantstart_sandbox.kube.wire import Request

Obj = dict[str, Any]


@dataclass
class Selection:
    """What a list or watch is about: a namespace, one node's pods, and predicates on objects."""

    namespace: str | None
    node: str | None
    matches: Match | None

    def takes(self, obj: Obj) -> bool:
        """Whether the object belongs to the selection."""
        if self.namespace is not None and obj["metadata"].get("namespace") != self.namespace:
            return False
        if self.node is not None and (obj.get("spec") or {}).get("nodeName") != self.node:
            return False
        return self.matches is None or self.matches(obj)


def selection(request: Request, kind: Kind, namespace: str, name: str = "") -> Selection:
    """The selection a request asks for; ApiError 400 for selectors that do not parse."""
    labels = parse_labels(request.arg("labelSelector"))
    extra = kind.custom.selectable if kind.custom is not None else ()
    fields = parse_fields(request.arg("fieldSelector"), kind.key, kind.namespaced, extra)
    if name:
        fields.append(("metadata.name", name, True))
    node = None
    rest = []
    for path, value, wanted in fields:
        if path == "spec.nodeName" and wanted and value and node is None:
            node = value
        else:
            rest.append((path, value, wanted))
    by_label, by_field = label_match(labels), field_match(rest)
    matches: Match | None = None
    if labels and rest:

        def both(obj: Obj) -> bool:
            return by_label(obj) and by_field(obj)

        matches = both
    elif labels or rest:
        matches = by_label if labels else by_field
    return Selection(namespace or None if kind.namespaced else None, node, matches)


def check_options(request: Request, watch: bool) -> None:
    """Faults of resourceVersion, resourceVersionMatch and sendInitialEvents; ApiError 422 or 400."""
    version, match = request.arg("resourceVersion"), request.arg("resourceVersionMatch")
    initial = "sendInitialEvents" in request.query
    causes: list[Cause] = []

    def denied(field: str, text: str) -> None:
        causes.append(Cause(field, "FieldValueForbidden", f"Forbidden: {text}"))

    if watch:
        _check_watch(match, initial, bool(request.arg("continue")), causes, denied)
    else:
        if initial:
            denied("sendInitialEvents", "sendInitialEvents is forbidden for list")
        _check_list(request, version, match, causes, denied)
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)


def _check_watch(match: str, initial: bool, paged: bool, causes: list[Cause], denied: Any) -> None:
    if match and not initial:
        denied(
            "resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        )
    if initial and not match:
        denied("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    if paged:
        denied("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
    if initial and match and match != "NotOlderThan":
        text = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        causes.append(Cause("resourceVersionMatch", "FieldValueNotSupported", text))


def _check_list(request: Request, version: str, match: str, causes: list[Cause], denied: Any) -> None:
    if not match:
        return
    if not version:
        denied("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
    if request.arg("continue"):
        denied("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
    if match not in ("Exact", "NotOlderThan"):
        text = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan"'
        causes.append(Cause("resourceVersionMatch", "FieldValueNotSupported", text))
    if match == "Exact" and version == "0":
        denied("resourceVersionMatch", 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')


def number(request: Request, name: str) -> int:
    """An integer parameter, 0 when absent; ApiError 400."""
    text = request.arg(name)
    if not text:
        return 0
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error


def list_version(state: ClusterState, text: str) -> int:
    """The resourceVersion asked for; ApiError 400 when it is none, 504 when it lies in the future."""
    if not text:
        return 0
    if not text.isdigit():
        why = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise bad_request(f"invalid resource version: {why}")
    version = int(text)
    if version > state.version:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        message = f"Timeout: Too large resource version: {version}, current: {state.version}"
        raise ApiError(504, "Timeout", message, details, {"Retry-After": "1"})
    return version


@dataclass
class Page:
    """Found entries and the list's metadata."""

    entries: list[Entry]
    meta: Obj


def page(engine: Engine, state: ClusterState, request: Request, kind: Kind, chosen: Selection) -> Page:
    """One page of a list."""
    check_options(request, watch=False)
    table = state.table(kind.key)
    limit, token = number(request, "limit"), request.arg("continue")
    text = request.arg("resourceVersion")
    if token:
        if text and text != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
        version, start = _open_token(token)
        if text == "0":
            limit = 0
        return _cut(state, _snapshot(table, version), chosen, limit, version, start)
    wanted = list_version(state, text)
    if text == "0":
        limit = 0
    if request.arg("resourceVersionMatch") == "Exact" and wanted < state.version:
        return _cut(state, _snapshot(table, wanted), chosen, limit, wanted, None)
    return _cut(state, None, chosen, limit, state.version, None, table)


def _cut(
    state: ClusterState,
    snapshot: dict[Key, Entry] | None,
    chosen: Selection,
    limit: int,
    version: int,
    start: Key | None,
    table: Table | None = None,
) -> Page:
    if snapshot is not None:
        source: Iterator[Entry] = (
            snapshot[k] for k in sorted(snapshot, key=place) if start is None or place(k) > place(start)
        )
    else:
        assert table is not None
        source = table.scan(chosen.namespace, chosen.node)
    found: list[Entry] = []
    left = 0
    for entry in source:
        if not chosen.takes(entry.obj):
            continue
        if limit and len(found) == limit:
            left += 1
            continue
        found.append(entry)
    meta: Obj = {"resourceVersion": str(version)}
    if left:
        meta["continue"] = _token(version, key_of(found[-1].obj))
        if chosen.matches is None and chosen.node is None:
            meta["remainingItemCount"] = left
    return Page(found, meta)


def _snapshot(table: Table, version: int) -> dict[Key, Entry]:
    """The table as it was at a version; ApiError 410 when that is too long ago."""
    if version < table.floor:
        raise expired("The provided continue parameter is too old to display a consistent list result.")
    entries = dict(table.entries)
    for change in reversed(table.history):
        if change.version <= version:
            break
        if change.old is None:
            entries.pop(key_of(change.obj), None)
        else:
            entries[key_of(change.old)] = Entry(change.old)
    return entries


def _token(version: int, key: Key) -> str:
    body = orjson.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": "\0".join(key)})
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def _open_token(token: str) -> tuple[int, Key]:
    why = "illegal base64 data at input byte 0"
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        if raw[:1] == b"n" and raw != b"null":
            why = f"invalid character '{chr(raw[1])}' in literal null (expecting 'u')"
        elif raw[:1] != b"{":
            why = (
                f"invalid character '{chr(raw[0])}' looking for beginning of value"
                if raw
                else "unexpected end of JSON input"
            )
        if "%" in token:
            why = "illegal base64 data at input byte 0"
        body = orjson.loads(raw)
        namespace, _, name = body["start"].partition("\0")
        return int(body["rv"]), (namespace, name)
    except (binascii.Error, ValueError, KeyError, TypeError, IndexError) as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {why}") from error


def head(kind: Kind) -> bytes:
    """The first fields of an object of this kind as JSON."""
    return orjson.dumps({"kind": kind.kind, "apiVersion": kind.api_version})[:-1] + b","


def whole(kind: Kind, entry: Entry) -> bytes:
    """One object as JSON at the kind's version."""
    if _other_version(kind):
        return head(kind) + tail_of(converted(kind, entry.obj))
    return head(kind) + entry.tail


def _other_version(kind: Kind) -> bool:
    if kind.custom is not None:
        return False
    return kind.group == "events.k8s.io" or STORED_VERSION.get(kind.key, kind.version) != kind.version


def converted(kind: Kind, obj: Obj) -> Obj:
    """An object at the kind's version."""
    if obj.get("apiVersion") == kind.api_version:
        return obj
    source = Kind("", "", "", "", "", True)
    out = conversion.convert(source, obj, kind)
    if "involvedObject" in obj and kind.group == "" and kind.key == "events":
        return obj
    return out


def encode(kind: Kind, found: Page) -> bytes:
    """The list as JSON: items of built-in kinds go without apiVersion and kind."""
    meta = orjson.dumps({"continue": "", **found.meta} if kind.custom is not None else found.meta)
    start = orjson.dumps({"kind": kind.list_kind, "apiVersion": kind.api_version})[:-1]
    if kind.custom is not None:
        items = b",".join(head(kind) + e.tail for e in found.entries)
    elif _other_version(kind):
        items = b",".join(b"{" + tail_of(converted(kind, e.obj)) for e in found.entries)
    else:
        items = b",".join([b"{" + e.tail for e in found.entries])
    return start + b',"metadata":' + meta + b',"items":[' + items + b"]}\n"
