"""One endpoint for all tests of a module, and the client programs once per run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.kube.endpoint import Endpoint, client_programs


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = client_programs(tmp_path_factory.mktemp("clients"))
    if not found:
        pytest.skip("the package with kubectl and helm is not installed")
    return found


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    running = Endpoint(Path(tmp_path_factory.mktemp("endpoint")))
    yield running
    running.stop()
