"""The MCP face with the official client, over HTTP in both protocol eras: tools, answers, problems, waiting."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from instantstart.faces.rest import ROUTERS
from instantstart.operations.routing import ROUTES
from tests.faces.conftest import Running, served, service, static
from tests.faces.operations import begin, never, stages

__all__ = ["service", "stages", "static"]
TOOLS = {
    "operation_get_status",
    "operation_wait",
    "operation_retry",
    "cluster_list_all",
    "cluster_get_status",
    "cluster_get_available_instances",
    "cluster_create",
    "cluster_create_eks",
    "cluster_switch",
    "cluster_configure_dependencies",
    "cluster_get_dependency_status",
    "hyperpod_create",
    "cluster_delete",
    "s3_storage_list",
    "s3_storage_create",
}
ERAS = ["legacy", "auto"]


@asynccontextmanager
async def connected(service: Running, token: str, mode: Any = "auto") -> AsyncIterator[Client]:
    async with (
        served(service) as url,
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def body(result: CallToolResult) -> Any:
    """The one JSON text block of a result."""
    assert len(result.content) == 1
    block = result.content[0]
    assert isinstance(block, TextContent)
    return json.loads(block.text)


async def test_without_a_token_no_mcp(service: Running) -> None:
    async with service.client(None) as client:
        for method in ("GET", "POST", "DELETE"):
            answer = await client.request(method, "/mcp")
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("mode", ERAS)
async def test_the_tools(service: Running, mode: str) -> None:
    async with connected(service, await service.token(), mode) as client:
        info = client.server_info
        assert info is not None
        assert info.name == "hypd-inst"
        tools = (await client.list_tools()).tools
    assert {t.name for t in tools} == {n for n, r in ROUTES.items() if r.tool}
    listed = json.dumps([t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in tools])
    assert len(listed) / 4 < 8_000, "tools/list must stay under 8,000 tokens"
    for tool in tools:
        row = ROUTES[tool.name]
        assert tool.description
        assert tool.output_schema is None
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.input_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (row.kind == "R")
        assert tool.annotations.destructive_hint is (row.kind == "D")
        properties = tool.input_schema["properties"]
        assert ("idempotency_key" in properties) is (row.kind != "R")
        if row.kind != "R":
            assert row.settled_by
            assert row.settled_by in tool.description
        if "{cluster}" in row.path:
            assert "cluster" in properties
            assert "cluster" not in tool.input_schema.get("required", [])


async def test_exactly_the_fifteen_tools(service: Running) -> None:
    assert ROUTERS
    assert {n for n, r in ROUTES.items() if r.tool} == TOOLS


@pytest.mark.parametrize("mode", ERAS)
async def test_a_problem_is_the_body_that_rest_answers(service: Running, mode: str) -> None:
    token = await service.token()
    async with service.client(token) as rest:
        wanted = (await rest.get("/api/v1/operations/op-none")).json()
    async with connected(service, token, mode) as client:
        result = await client.call_tool("operation_get_status", {"operation_id": "op-none"})
        assert result.is_error
        assert body(result) == wanted
        bad = await client.call_tool("operation_wait", {"operation_id": "x", "timeout_seconds": 301})
        assert [e["field"] for e in body(bad)["errors"]] == ["/timeout_seconds"]
        unknown = await client.call_tool("operation_retry", {"operation_id": "x", "stagee": "y", "accept": 1})
        assert {e["field"] for e in body(unknown)["errors"]} == {"/stagee", "/accept"}
        closed = await client.call_tool("operation_get_status", {"cluster": "x"})
        assert {e["field"] for e in body(closed)["errors"]} == {"/operation_id", "/cluster"}
        none = await client.call_tool("no_such_tool", {})
        assert body(none)["code"] == "not_found"


async def test_a_viewer_cannot_change(service: Running) -> None:
    async with connected(service, await service.token(role="viewer")) as client:
        result = await client.call_tool("operation_retry", {"operation_id": "x"})
        assert result.is_error
        assert body(result)["code"] == "forbidden"


@pytest.mark.parametrize("mode", ERAS)
async def test_waiting_tells_progress_and_returns_in_time(
    service: Running, stages: None, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instantstart.faces.mcp._PROGRESS_SECONDS", 0.05)
    operation = await begin(service, "await_never")
    heard: list[tuple[float, str | None]] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with connected(service, await service.token(), mode) as client:
        result = await client.call_tool(
            "operation_wait", {"operation_id": operation, "timeout_seconds": 0.5}, progress_callback=progress
        )
    found = body(result)
    assert found["reason"] == "timeout"
    assert found["next_poll_seconds"] > 0
    assert found["operation"]["terminal"] is False
    assert len(heard) >= 2
    assert heard == sorted(heard, key=lambda h: h[0])
    assert never.said in (heard[-1][1] or "")


async def test_waiting_ends_with_the_operation(service: Running, stages: None) -> None:
    operation = await begin(service, "ensure_quick")
    async with connected(service, await service.token()) as client:
        found = body(await client.call_tool("operation_wait", {"operation_id": operation}))
    assert found["reason"] == "terminal"
    assert found["operation"]["state"] == "succeeded"
    assert found["operation"]["settled_by"] == "operation_get_status"


async def test_the_face_of_a_call_cannot_be_claimed(service: Running) -> None:
    seen: list[str] = []
    original = service.parts.engine.view

    async def view(operation_id: str) -> Any:
        seen.append(operation_id)
        return await original(operation_id)

    service.parts.engine.view = view  # type: ignore[method-assign]
    async with service.client(**{"x-instantstart-face": "mcp", "instantstart.face": "mcp"}) as client:
        await client.get("/api/v1/operations/op-x")
    assert seen == ["op-x"]
