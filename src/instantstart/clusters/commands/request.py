"""The request itself for a terminal and for an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instantstart.clusters.commands.shell import dumps
from instantstart.core.plan import TerminalForms


@dataclass(frozen=True)
class Sent:
    """One request as it came, without `dry_run`."""

    tool: str
    method: str
    path: str
    """Below /api/v1."""
    body: dict[str, Any]
    """Only what was given."""
    base: str
    """Address of the service, e.g. http://127.0.0.1:3099."""
    cluster: str | None = None
    """The path's cluster, which a tool takes as an argument."""

    def forms(self) -> TerminalForms:
        """The request as curl and as an MCP call."""
        curl = f"curl -sS -X {self.method} '{self.base}/api/v1{self.path}'"
        curl += ' -H "Authorization: Bearer $INSTANTSTART_TOKEN"'
        if self.body:
            data = dumps(self.body).replace("'", "'\\''")
            curl += f" -H 'Content-Type: application/json' -d '{data}'"
        arguments = ({"cluster": self.cluster} if self.cluster else {}) | self.body
        return TerminalForms(curl=curl, mcp=f"{self.tool} {dumps(arguments)}")
