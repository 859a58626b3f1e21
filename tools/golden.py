"""Writes what follows from the code: OpenAPI, MCP tools, and the pages of problems, settings, events (`make golden`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from instantstart import settings
from instantstart.core.problem import CATALOG
from instantstart.events.log import EVENT_TYPES
from instantstart.faces.mcp_tools import tool_rows
from instantstart.faces.rest import Parts, Shown, make_app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROBLEM = ("code", "status", "title", "what to do")
SETTING = ("name", "environment", "default", "meaning")
OPENAPI, TOOLS = ROOT / "web" / "openapi.json", ROOT / "tests" / "golden" / "tools.json"


def _never() -> AbstractAsyncContextManager[Parts]:
    raise RuntimeError("this app is described, not run")


def golden() -> dict[Path, str]:
    """Text of each golden file, as it should be now."""
    document = make_app(Shown(port=3099), _never).openapi()
    tools = [r.tool.model_dump(mode="json", by_alias=True, exclude_none=True) for r in tool_rows(document).values()]
    return {OPENAPI: _text(document), TOOLS: _text(tools), **_pages()}


def _pages() -> dict[Path, str]:
    problems = [(k.code, k.status, k.title, k.remedy or "") for _, k in sorted(CATALOG.items())]
    rows = [(r.name, r.env, r.default, r.help) for r in settings.table()]
    return {
        DOCS / "problems.md": _page(
            "Problems", "What the service answers when it refuses or fails.", PROBLEM, problems
        ),
        DOCS / "settings.md": _page("Settings", "Read once, at the start.", SETTING, rows),
        DOCS / "events.md": _page("Events", "Types that the stream sends.", ("type", "meaning"), EVENT_TYPES.items()),
    }


def _page(title: str, text: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [list(head), ["---" for _ in head], *([str(c).replace("|", "\\|") for c in row] for row in rows)]
    return f"# {title}\n\n{text}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in golden().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
