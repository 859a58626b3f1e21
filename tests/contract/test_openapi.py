"""Every route says who may call it, what it may answer, and what settles it; the document is one that tools accept."""

from __future__ import annotations

import pytest

from instantstart.core.problem import CATALOG
from instantstart.operations.routing import ROUTES
from tests.faces.conftest import Running, service, static

__all__ = ["service", "static"]


@pytest.fixture
def document(service: Running) -> dict[str, object]:
    return service.app.openapi()


def test_the_declared_routes(document: dict[str, object]) -> None:
    assert ROUTES
    for row in ROUTES.values():
        assert row.description, f"{row.name} has no description"
        assert row.access in ("viewer", "operator", "admin"), row.name
        if row.kind == "R":
            assert row.settled_by is None, row.name
        elif row.tool:
            assert row.settled_by, f"{row.name} must name the tool that decides completion"
        if row.kind == "D":
            assert row.access != "viewer", row.name
        for problem in row.problems:
            assert problem.code in CATALOG


def test_changing_routes_take_a_key_and_a_dry_run(document: dict[str, object]) -> None:
    paths = document["paths"]
    assert isinstance(paths, dict)
    for row in ROUTES.values():
        if row.settled_by != "operation_get_status" or row.name in ("operation_retry", "operation_cancel"):
            continue
        operation = paths[f"/api/v1{row.path}"][row.method.lower()]
        names = {p["name"] for p in operation["parameters"]}
        assert "Idempotency-Key" in names, row.name
        assert "dry_run" in names, row.name
        assert set(operation["responses"]) >= {"200", "202", "401", "403", "409", "413", "415", "422"}, row.name
