"""What a create costs an agent that follows the skill: calls besides operation_wait, and tokens of answers.

    python -m bench.agent_calls [--speed 60]

Two clients: a patient one, and one that gives up any call after 60 seconds. Exits 1 above 8 calls or 12,000 tokens.
A token is counted as four characters.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from bench.harness import CREATE, Up, up

MAX_CALLS, MAX_TOKENS = 8, 12_000


@dataclass
class Bill:
    """What one agent has used."""

    calls: int = 0
    waits: int = 0
    characters: int = 0
    by_tool: dict[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Four characters each."""
        return self.characters // 4


class Agent:
    """Follows skills/create-cluster/SKILL.md to the letter."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.bill = Bill()

    async def call(self, tool: str, **arguments: Any) -> Any:
        """One tool call; the answer. Raises on a problem."""
        result = await self._client.call_tool(tool, arguments)
        block = result.content[0]
        assert isinstance(block, TextContent)
        if tool == "operation_wait":
            self.bill.waits += 1
        else:
            self.bill.calls += 1
        self.bill.characters += len(block.text)
        self.bill.by_tool[tool] = self.bill.by_tool.get(tool, 0) + len(block.text) // 4
        if result.is_error:
            raise RuntimeError(f"{tool}: {block.text}")
        return json.loads(block.text)

    async def create(self, **wish: Any) -> dict[str, Any]:
        """Inspect, plan, create, watch, verify; the final operation."""
        await self.call("cluster_list_all")
        await self.call("cluster_get_available_instances", instance_type=wish["instance_type"])
        plan = await self.call("cluster_create", **wish, dry_run=True)
        if not plan["can_start"]:
            raise RuntimeError(f"cannot start: {plan['findings']}")
        begun = await self.call("cluster_create", **wish, idempotency_key=f"create-{wish['tag']}")
        while True:
            waited = await self.call("operation_wait", operation_id=begun["id"])
            operation: dict[str, Any] = waited["operation"]
            if operation["terminal"]:
                break
        if operation["state"] != "succeeded":
            raise RuntimeError(f"ended {operation['state']}: {operation.get('problem')}")
        await self.call("cluster_get_status", cluster=wish["tag"])
        await self.call("s3_storage_list", cluster=wish["tag"])
        return operation


async def one(running: Up, tag: str, patience: float) -> Bill:
    """One create by an agent whose calls end after `patience` seconds."""
    token = running.api("POST", "/tokens", json={"name": "bench", "kind": "agent", "role": "operator"})["token"]
    url = f"{running.run()['service']['url']}/mcp"
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=patience) as http,
        Client(streamable_http_client(url, http_client=http), read_timeout_seconds=patience) as client,
    ):
        agent = Agent(client)
        await agent.create(**{**CREATE, "tag": tag})
        return agent.bill


def main() -> None:
    """Run both and say what they used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", type=float, default=60.0)
    options = parser.parse_args()
    wrong = False
    for name, patience in (("patient", 330.0), ("60 seconds", 60.0)):
        with up(options.speed) as running:
            bill = asyncio.run(one(running, "demo", patience))
        wrong |= bill.calls > MAX_CALLS or bill.tokens > MAX_TOKENS
        print(f"{name}: {bill.calls} calls and {bill.waits} waits, {bill.tokens} tokens {bill.by_tool}", flush=True)
    print(f"agent_calls: at most {MAX_CALLS} calls and {MAX_TOKENS} tokens: {'exceeded' if wrong else 'kept'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
