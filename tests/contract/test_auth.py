"""Who gets in: tokens, login codes, sessions, Host and Origin; every refusal is a problem with the right status."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from instantstart.faces.auth import BODY_LIMIT, LOOPBACK, cookie_name, host_name
from instantstart.operations.routing import ROUTES
from tests.faces.conftest import ADMIN_TOKEN, PORT, Running, service, static

__all__ = ["service", "static"]
ORIGIN = f"http://127.0.0.1:{PORT}"


async def login(service: Running) -> dict[str, str]:
    """Log in with a fresh code; the headers of a browser that is logged in."""
    async with service.client() as admin:
        code = (await admin.post("/api/v1/login-codes")).json()["code"]
    async with service.client(None) as browser:
        answer = await browser.post("/api/v1/session", json={"code": code}, headers={"origin": ORIGIN})
    assert answer.status_code == 200, answer.text
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(PORT)}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    return {"cookie": cookie.partition(";")[0]}


@pytest.mark.parametrize("path", ["/api/v1/operations", "/api/v1/session", "/api/v1/nothing", "/mcp"])
@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer ", "Basic YTpi", "wrong"])
async def test_without_a_valid_token_401(service: Running, path: str, header: str | None) -> None:
    async with service.client(None) as client:
        answer = await client.get(path, headers={"authorization": header} if header else {})
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "unauthenticated"


async def test_every_declared_route_refuses_the_anonymous(service: Running) -> None:
    async with service.client(None) as client:
        for info in ROUTES.values():
            path = info.path.replace("{", "").replace("}", "")
            answer = await client.request(info.method, f"/api/v1{path}")
            assert answer.status_code == 401, info.name


async def test_expired_and_revoked_tokens(service: Running) -> None:
    expired = await service.token(seconds=-1)
    revoked = await service.token()
    async with service.client(revoked) as client:
        assert (await client.get("/api/v1/operations")).status_code == 200
        listed = await service.accounts.bearer_tokens()
        await service.accounts.revoke(
            next(r["id"] for r in listed if r["principal"] != "admin" and r["expires_wall"] is None)
        )
        assert (await client.get("/api/v1/operations")).status_code == 401
    async with service.client(expired) as client:
        assert (await client.get("/api/v1/operations")).status_code == 401


async def test_roles(service: Running) -> None:
    async with service.client(await service.token(role="viewer")) as viewer:
        answer = await viewer.post("/api/v1/operations/op-1/retry", json={})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert (await viewer.get("/api/v1/tokens")).status_code == 403
    async with service.client(await service.token(role="operator")) as operator:
        assert (await operator.post("/api/v1/operations/op-1/retry", json={})).status_code == 404
        assert (await operator.get("/api/v1/tokens")).status_code == 403
        assert (await operator.get("/api/v1/control/clock")).status_code == 403


async def test_login_codes_work_once(service: Running) -> None:
    code = (await service.accounts.make_secret("admin", "login", 600)).text
    late = (await service.accounts.make_secret("admin", "login", -1)).text
    async with service.client(None) as client:
        assert (await client.post("/api/v1/session", json={"code": code})).status_code == 200
        for used in (code, late, "nonsense"):
            answer = await client.post("/api/v1/session", json={"code": used})
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert (await client.post("/api/v1/session", json={})).status_code == 422


async def test_a_session_reads_and_ends(service: Running) -> None:
    headers = await login(service)
    async with service.client(None, **headers) as browser:
        view = (await browser.get("/api/v1/session")).json()
        assert (view["principal"], view["role"], view["kind"]) == ("admin", "admin", "person")
        assert view["notice"] == "A notice."
        assert view["control"] is False
        assert view["account"] is None
        change = {"origin": ORIGIN, "x-instantstart": "1"}
        assert (await browser.delete("/api/v1/session", headers=change)).status_code == 204
        assert (await browser.get("/api/v1/session", headers=headers)).status_code == 401


async def test_a_change_by_cookie_needs_origin_and_header(service: Running) -> None:
    headers = await login(service)
    path = "/api/v1/operations/op-1/cancel"
    async with service.client(None, **headers) as browser:
        for wrong in (
            {},
            {"origin": ORIGIN},
            {"x-instantstart": "1"},
            {"origin": "http://evil.example", "x-instantstart": "1"},
            {"origin": "null", "x-instantstart": "1"},
            {"origin": "http://127.0.0.1:1", "x-instantstart": "1"},
        ):
            answer = await browser.post(path, headers=wrong)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_origin"), wrong
        right = await browser.post(path, headers={"origin": ORIGIN, "x-instantstart": "1"})
        assert right.status_code == 404


async def test_a_bearer_may_lack_an_origin_but_not_lie(service: Running) -> None:
    async with service.client() as client:
        assert (await client.get("/api/v1/operations")).status_code == 200
        answer = await client.get("/api/v1/operations", headers={"origin": "https://evil.example"})
        assert answer.json()["code"] == "forbidden_origin"


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/v1/operations", "/api/v1/openapi.json", "/mcp"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:3099", "127.0.0.1.evil.example", "[::2]:3099", ""])
async def test_foreign_hosts(service: Running, path: str, host: str) -> None:
    async with service.client() as client:
        answer = await client.get(path, headers={"host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_host")


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost", "LOCALHOST:1", "[::1]:3099", "127.0.0.1"])
async def test_loopback_names_with_any_port(service: Running, host: str) -> None:
    async with service.client() as client:
        assert (await client.get("/healthz", headers={"host": host})).status_code == 200


def test_host_name() -> None:
    assert {host_name(h) for h in ("127.0.0.1:1", "localhost", "[::1]:2")} == LOOPBACK


async def test_mcp_takes_no_cookie(service: Running) -> None:
    headers = await login(service)
    async with service.client(None, **headers) as browser:
        answer = await browser.post("/mcp", json={}, headers={"origin": ORIGIN, "x-instantstart": "1"})
        assert answer.status_code == 401


async def test_agents_are_kept_from_tokens(service: Running) -> None:
    agent = await service.token(kind="agent", role="admin")
    async with service.client(agent) as client:
        for method, path in (("GET", "/tokens"), ("POST", "/login-codes"), ("DELETE", "/tokens/x")):
            assert (await client.request(method, f"/api/v1{path}")).status_code == 403


async def test_tokens_by_rest(service: Running) -> None:
    async with service.client() as admin:
        refused = await admin.post("/api/v1/tokens", json={"name": "x", "kind": "agent", "role": "admin"})
        assert refused.status_code == 422
        made = (await admin.post("/api/v1/tokens", json={"name": "ci", "role": "viewer", "days": 1})).json()
        assert made["token"].startswith("ist_")
        listed = (await admin.get("/api/v1/tokens")).json()
        assert {r["name"] for r in listed} == {"admin", "ci"}
        assert "token" not in listed[0]
        assert (await admin.delete(f"/api/v1/tokens/{made['id']}")).status_code == 204
        assert (await admin.delete(f"/api/v1/tokens/{made['id']}")).json()["code"] == "token_not_found"
    async with service.client(made["token"]) as gone:
        assert (await gone.get("/api/v1/operations")).status_code == 401


async def test_secrets_are_kept_as_hashes(service: Running, tmp_path: Path) -> None:
    code = (await service.accounts.make_secret("admin", "login", 600)).text
    kept = "".join(_texts(tmp_path / "db.sqlite"))
    assert ADMIN_TOKEN not in kept
    assert code not in kept


def _texts(path: Path) -> Iterator[str]:
    with sqlite3.connect(path) as conn:
        for row in conn.execute("select * from token"):
            yield str(row)


async def test_a_large_body_is_413(service: Running) -> None:
    async with service.client() as client:
        for path in ("/api/v1/session", "/api/v1/operations/x/retry", "/mcp"):
            answer = await client.post(
                path, content=b"x" * (BODY_LIMIT + 1), headers={"content-type": "application/json"}
            )
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), path


async def test_only_json_bodies(service: Running) -> None:
    async with service.client() as client:
        answer = await client.post("/api/v1/operations/x/retry", content=b"a=1", headers={"content-type": "text/plain"})
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
