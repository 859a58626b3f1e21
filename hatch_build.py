"""Build hook: a wheel carries the built web UI, so a missing or stale build stops it with a clear error."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebUiHook(BuildHookInterface[Any]):
    """Checks, builds nothing: `make web` builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stop unless the build belongs to the sources; an editable install needs none."""
        if version == "editable":
            return
        place = Path(self.root) / "src" / "instantstart" / "faces" / "web_build.py"
        spec = importlib.util.spec_from_file_location("web_build", place)
        if spec is None or spec.loader is None:
            raise RuntimeError(f"{place} cannot be read")
        web_build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(web_build)
        if fault := web_build.fault():
            raise RuntimeError(fault)
