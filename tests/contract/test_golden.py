"""OpenAPI and MCP tools change only on purpose: `make golden` writes the files that are compared here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[2] / "tools" / "golden.py"


def _golden() -> Any:
    spec = importlib.util.spec_from_file_location("golden", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_golden_files() -> None:
    stale = [str(path) for path, text in _golden().golden().items() if not path.is_file() or path.read_text() != text]
    assert stale == [], "look at the difference after `make golden`; commit it when it is meant"
