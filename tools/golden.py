"""Writes the golden files that follow from the routes: web/openapi.json and tests/golden/tools.json (`make golden`)."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from instantstart.faces.mcp_tools import tool_rows
from instantstart.faces.rest import Parts, Shown, make_app

ROOT = Path(__file__).parents[1]
OPENAPI, TOOLS = ROOT / "web" / "openapi.json", ROOT / "tests" / "golden" / "tools.json"


def _never() -> AbstractAsyncContextManager[Parts]:
    raise RuntimeError("this app is described, not run")


def golden() -> dict[Path, str]:
    """Text of each golden file, as it should be now."""
    document = make_app(Shown(port=3099), _never).openapi()
    tools = [r.tool.model_dump(mode="json", by_alias=True, exclude_none=True) for r in tool_rows(document).values()]
    return {OPENAPI: _text(document), TOOLS: _text(tools)}


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in golden().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
