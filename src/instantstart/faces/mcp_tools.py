"""Derives MCP tools from the route table and the OpenAPI document: names, closed schemas, annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_types import Tool, ToolAnnotations

from instantstart.operations.routing import ROUTES, RouteInfo

# fmt: off
_KEPT = frozenset({
    "type", "enum", "const", "description", "default", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minLength", "maxLength", "pattern", "items", "minItems", "maxItems", "uniqueItems",
    "properties", "required", "additionalProperties", "anyOf", "oneOf", "allOf", "format",
})
# fmt: on
_KEY = {"type": "string", "maxLength": 200, "description": "Same key, same body: the first answer again (24 h)."}
_CLUSTER = {"type": "string", "description": "The cluster's tag."}


@dataclass(frozen=True)
class ToolRow:
    """One tool: the route it calls, and where each argument goes."""

    info: RouteInfo
    path: str
    path_names: frozenset[str]
    query_names: frozenset[str]
    has_body: bool
    tool: Tool

    @property
    def changes(self) -> bool:
        """Whether it changes state."""
        return self.info.kind != "R"


def tool_rows(document: dict[str, Any]) -> dict[str, ToolRow]:
    """Every tool by name, from the routes declared as tools in an OpenAPI document."""
    rows = {}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            info = ROUTES.get(operation.get("operationId", ""))
            if info is not None and info.tool:
                rows[info.name] = _row(info, path, operation, document)
    return rows


def _row(info: RouteInfo, path: str, operation: dict[str, Any], document: dict[str, Any]) -> ToolRow:
    properties: dict[str, Any] = {}
    required: list[str] = []
    names: dict[str, set[str]] = {"path": set(), "query": set(), "header": set()}
    for parameter in operation.get("parameters", []):
        name, where = parameter["name"], parameter["in"]
        names[where].add(name)
        if where == "header":
            continue
        described = {"description": parameter["description"]} if "description" in parameter else {}
        properties[name] = _plain(parameter["schema"] | described, document)
        if parameter.get("required") and not (name == "cluster" and where == "path"):
            required.append(name)
    if "cluster" in names["path"]:
        properties["cluster"] = dict(_CLUSTER)
    body = _body_schema(operation, document)
    for name, schema in body.get("properties", {}).items():
        properties[name] = _plain(schema, document)
    required += [n for n in body.get("required", []) if n not in required]
    if info.kind != "R":
        properties["idempotency_key"] = dict(_KEY)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    path_names, query_names = frozenset(names["path"]), frozenset(names["query"])
    return ToolRow(info, path, path_names, query_names, "requestBody" in operation, _tool(info, schema))


def _tool(info: RouteInfo, schema: dict[str, Any]) -> Tool:
    text = info.description
    if info.settled_by:
        text += f" Settled by {info.settled_by}"
        text += f"; then verify with {info.verify_with}." if info.verify_with else "."
    return Tool(
        name=info.name,
        description=text,
        input_schema=schema,
        annotations=ToolAnnotations(
            read_only_hint=info.kind == "R",
            destructive_hint=info.kind == "D",
            idempotent_hint=info.kind == "R" or info.settled_by == "operation_get_status" or info.method == "PUT",
            open_world_hint=True,
        ),
    )


def _body_schema(operation: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = _resolve(content.get("schema", {}), document)
    for choice in schema.get("anyOf", []):
        if choice.get("type") != "null":
            return _resolve(choice, document)
    return schema


def _resolve(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """The schema behind a `$ref`, with what stands beside the `$ref` laid over it."""
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[-1]
    found: dict[str, Any] = document["components"]["schemas"][name]
    return {**found, **{k: v for k, v in schema.items() if k != "$ref"}}


def _plain(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """A schema without references, titles and the choice of null: what an agent needs to read, and no more."""
    schema = _resolve(schema, document)
    choices = [c for c in schema.get("anyOf", []) if c.get("type") != "null"]
    if len(choices) == 1:
        rest = {k: v for k, v in schema.items() if k not in ("anyOf", "default")}
        return _plain({**_resolve(choices[0], document), **rest}, document)
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in _KEPT or (key == "default" and value is None):
            continue
        if key == "properties":
            out[key] = {name: _plain(part, document) for name, part in value.items()}
        elif key == "items":
            out[key] = _plain(value, document)
        elif key in ("anyOf", "oneOf", "allOf"):
            out[key] = [_plain(part, document) for part in value if part.get("type") != "null"]
        else:
            out[key] = value
    return out
