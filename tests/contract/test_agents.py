"""Skills and agent configurations name only tools that exist, and ask only for what a person decides."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.test_mcp import TOOLS

ROOT = Path(__file__).parents[2]
SKILLS = sorted((ROOT / "skills").glob("*/SKILL.md"))
READING = {
    "cluster_list_all",
    "cluster_get_status",
    "cluster_get_available_instances",
    "cluster_get_dependency_status",
    "operation_get_status",
    "operation_wait",
    "s3_storage_list",
}


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    _, head, body = path.read_text().split("---\n", 2)
    return yaml.safe_load(head), body


@pytest.mark.parametrize("path", SKILLS, ids=lambda p: p.parent.name)
def test_skills(path: Path) -> None:
    head, body = front_matter(path)
    assert head["name"] == path.parent.name
    assert len(head["description"]) > 40
    named = {w for w in re.findall(r"`([a-z0-9_]+)`", body) if re.match(r"(operation|cluster|hyperpod|s3_storage)_", w)}
    assert named
    assert named - {"operation_id"} <= TOOLS


def test_the_agent_in_both_forms() -> None:
    head, prompt = front_matter(ROOT / "agents" / "hypd-inst-agent.md")
    old = json.loads((ROOT / "agents" / "hypd-inst-agent.json").read_text())
    for agent in (head, old):
        assert agent["name"] == "hypd-inst-agent"
        assert agent["mcpServers"]["hypd-inst"]["command"] == "instantstart"
        assert agent["mcpServers"]["hypd-inst"]["args"] == ["mcp"]
    allowed = next(p["match"] for p in head["permissions"] if p["capability"] == "mcp")
    assert allowed == old["allowedTools"]
    patterns = [p.removeprefix("@hypd-inst/") for p in allowed]
    assert {t for t in TOOLS if any(fnmatch.fnmatch(t, p) for p in patterns)} == READING
    assert "operation_wait" in prompt
