"""`instantstart mcp`: an MCP server on standard input and output that passes every call on to the service's /mcp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent

from instantstart import __version__
from instantstart.cli import CliError
from instantstart.cli.local import folder_at

_CALL_SECONDS = 330.0
Context = ServerRequestContext[Any, Any]


def run(*, url: str | None, token: str | None, state_dir: Path | None) -> None:
    """Serve until standard input ends. Raises CliError when there is no address or token."""
    folder = folder_at(state_dir)
    kept = folder.read("credentials.json")
    address = url or folder.service_url()
    secret = token or kept.get("agent_token") or kept.get("admin_token")
    if not address:
        raise CliError(f"No service runs on {folder.path}. Start it with: instantstart up, or give --url.")
    if not secret:
        raise CliError("There is no token. Give --token, or make one with: instantstart token create")
    anyio.run(_serve, f"{address.rstrip('/')}/mcp", secret)


async def _serve(url: str, token: str) -> None:
    timeout = httpx2.Timeout(30.0, read=_CALL_SECONDS)
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy", cache=None) as client,
    ):
        server = _server(client)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _server(client: Client) -> Server[Any]:
    """A server with the tools that `client` sees."""

    async def list_tools(_ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return await client.list_tools(cursor=params.cursor if params else None)

    async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            await ctx.session.report_progress(progress, total, message)

        try:
            return await client.call_tool(
                params.name,
                params.arguments,
                read_timeout_seconds=_CALL_SECONDS,
                progress_callback=report,
            )
        except (httpx2.HTTPError, MCPError) as error:
            text = f"The service does not answer: {error}. Is it running? Try again in a moment."
            return CallToolResult(content=[TextContent(text=text)], is_error=True)

    info = client.server_info
    return Server(
        info.name if info else "hypd-inst",
        version=__version__,
        instructions=client.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
