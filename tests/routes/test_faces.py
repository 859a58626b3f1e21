"""What REST does the same everywhere: problems, pointers, X-Now, OpenAPI, health, static files, the stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from instantstart.core.problem import FieldError
from instantstart.faces import web_build
from instantstart.faces.auth import cookie_name
from instantstart.faces.problems import field_errors
from instantstart.faces.web import CSP
from instantstart.operations.routing import ROUTES
from tests.faces.conftest import ADMIN_TOKEN, PORT, Running, running, served, service, static
from tests.faces.operations import begin, stages

__all__ = ["service", "stages", "static"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v1/operations/op-none", 404, "operation_not_found"),
        ("PUT", "/api/v1/operations", 405, "method_not_allowed"),
        ("GET", "/api/v1/operations/x/retry", 405, "method_not_allowed"),
        ("POST", "/", 405, "method_not_allowed"),
        ("GET", "/assets/nothing.js", 404, "not_found"),
        ("GET", "/api/v1/control/clock", 404, "not_found"),
    ],
)
async def test_every_error_is_a_problem(service: Running, method: str, path: str, status: int, code: str) -> None:
    async with service.client() as client:
        answer = await client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) >= {"type", "title", "status", "code", "detail"}


async def test_all_bad_fields_at_once(service: Running) -> None:
    async with service.client() as client:
        answer = await client.post("/api/v1/tokens", json={"kind": "robot", "days": 0, "rule": 1})
        assert answer.status_code == 422
        errors = {e["field"]: e["code"] for e in answer.json()["errors"]}
        assert set(errors) == {"/name", "/kind", "/days", "/rule"}
        query = await client.get("/api/v1/operations?limit=0&state=bad")
        assert {e["field"] for e in query.json()["errors"]} == {"/limit", "/state"}
        for content in (b"{", b"", b"[]", b"null", b'"x"'):
            bad = await client.post("/api/v1/tokens", content=content, headers={"content-type": "application/json"})
            assert (bad.status_code, bad.json()["code"]) == (422, "invalid_request"), content
            assert bad.json()["errors"]


def test_pointers_leave_out_the_names_of_choices() -> None:
    given = {"network": {"cidr": 5}, "list": [{"a~/b": 1}]}
    errors: list[dict[str, Any]] = [
        {"type": "string_type", "loc": ("body", "network", "ByCidr", "cidr"), "msg": "m"},
        {"type": "missing", "loc": ("body", "network", "ByVpc", "vpc_id"), "msg": "m"},
        {"type": "string_type", "loc": ("body", "list", 0, "a~/b"), "msg": "m"},
        {"type": "string_type", "loc": ("body", "list", 0, "a~/b"), "msg": "again"},
        {"type": "missing", "loc": ("body",), "msg": "m"},
    ]
    assert field_errors(errors, given) == [
        FieldError(field="/network/cidr", code="string_type", message="m"),
        FieldError(field="/network/vpc_id", code="missing", message="m"),
        FieldError(field="/list/0/a~0~1b", code="string_type", message="m"),
        FieldError(field="", code="missing", message="m"),
    ]


async def test_a_defect_says_nothing(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(**_: Any) -> Any:
        raise RuntimeError("the secret reason")

    monkeypatch.setattr(service.parts.engine, "page", broken)
    async with service.client() as client:
        answer = await client.get("/api/v1/operations")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text


async def test_answers_carry_the_product_time(service: Running) -> None:
    async with service.client() as client:
        for path in ("/api/v1/operations", "/api/v1/nothing", "/healthz"):
            assert (await client.get(path)).headers["x-now"] == "2027-01-15T08:00:00.000Z"


async def test_health_is_anonymous(service: Running) -> None:
    async with service.client(None) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")


async def test_openapi(service: Running) -> None:
    async with service.client(None) as client:
        answer = await client.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    document = answer.json()
    assert "HTTPValidationError" not in answer.text
    found = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found[operation["operationId"]] = (method.upper(), path)
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    assert list(response["content"]) == ["application/problem+json"]
            if operation["x-access"] != "anonymous":
                assert "401" in operation["responses"]
    for name, row in ROUTES.items():
        assert found[name] == (row.method, f"/api/v1{row.path}")
    for reference in _references(document):
        assert reference.rsplit("/", 1)[-1] in document["components"]["schemas"], reference


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [v for k, v in value.items() if k == "$ref"] + [r for v in value.values() for r in _references(v)]
    return [r for v in value for r in _references(v)] if isinstance(value, list) else []


async def test_static_files(service: Running) -> None:
    async with service.client(None) as client:
        for path in ("/", "/clusters/demo", "/operations/op-1"):
            page = await client.get(path)
            assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
            assert page.headers["content-security-policy"] == CSP
            assert "unsafe" not in CSP
        asset = await client.get("/assets/main-abc123.js")
        assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert asset.headers["content-encoding"] == "gzip"
        same = await client.get("/assets/main-abc123.js", headers={"if-none-match": asset.headers["etag"]})
        assert same.status_code == 304
        for path in ("/../db.sqlite", "/assets/../../db.sqlite", "/..%2fdb.sqlite", "/%2e%2e/db.sqlite"):
            assert "SQLite" not in (await client.get(path)).text


async def test_a_missing_build_is_said_clearly(tmp_path: Path) -> None:
    empty = tmp_path / "nothing"
    empty.mkdir()
    async with running(tmp_path / "db.sqlite", empty) as one, one.client(None) as client:
        page = await client.get("/")
        assert page.status_code == 503
        assert "has not been built" in page.text
        assert (await client.get("/healthz")).status_code == 200


def test_a_stale_build_is_noticed(tmp_path: Path, static: Path) -> None:
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    (web / "package.json").write_text("{}")
    (web / "src" / "main.ts").write_text("1")
    assert "without a stamp" in (web_build.fault(static, web) or "")
    web_build.stamp(static, web)
    assert web_build.fault(static, web) is None
    (web / "src" / "main.ts").write_text("2")
    assert "older than its sources" in (web_build.fault(static, web) or "")


async def test_the_stream(service: Running, stages: None) -> None:
    bearer = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    async with served(service) as url:
        address = f"ws{url.removeprefix('http')}/api/v1/stream"
        async with connect(address, additional_headers=bearer) as socket:
            assert json.loads(await socket.recv())["type"] == "open"
            operation = await begin(service, "ensure_quick")
            first = json.loads(await socket.recv())
            assert (first["topic"], first["subject"]) == ("operation", operation)
            assert set(first) == {"topic", "subject", "revision", "type"}
        for wrong, status in (
            ({}, 401),
            ({"authorization": "Bearer wrong"}, 401),
            ({"origin": "http://evil.example", **bearer}, 403),
        ):
            with pytest.raises(InvalidStatus) as refused:
                await connect(address, additional_headers=wrong)
            assert refused.value.response.status_code == status


async def test_the_stream_by_cookie_needs_the_origin(service: Running) -> None:
    session = await service.accounts.make_secret("admin", "session", 60)
    cookie = {"cookie": f"{cookie_name(PORT)}={session.text}"}
    async with served(service) as url:
        address = f"ws{url.removeprefix('http')}/api/v1/stream"
        with pytest.raises(InvalidStatus) as refused:
            await connect(address, additional_headers=cookie)
        assert refused.value.response.status_code == 403
        async with connect(address, additional_headers=cookie, origin=Origin(url)) as socket:
            assert json.loads(await socket.recv())["topic"] == "stream"


async def test_the_stream_ends_with_the_session(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instantstart.faces.stream._RECHECK_SECONDS", 0.02)
    session = await service.accounts.make_secret("admin", "session", 60)
    headers = {"cookie": f"{cookie_name(PORT)}={session.text}"}
    async with served(service) as url:
        address = f"ws{url.removeprefix('http')}/api/v1/stream"
        async with connect(address, additional_headers=headers, origin=Origin(url)) as socket:
            await socket.recv()
            await service.accounts.revoke(session.id)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
