"""Passes calls of admins on to the control interface of the endpoint in use, when a setting names one."""

from __future__ import annotations

import httpx2
from fastapi import Request, Response

from instantstart.core.problem import NOT_FOUND, UPSTREAM, UPSTREAM_TIMEOUT
from instantstart.operations.routing import SliceRouter, caller_of

router = SliceRouter(tags=["control"])
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_TIMEOUT_SECONDS = 60.0


@router.api_route("/control/{path:path}", methods=_METHODS, include_in_schema=False)
async def control(request: Request, path: str) -> Response:
    """Whatever the control interface answers."""
    caller_of(request).require("admin")
    base: str = request.app.state.shown.control_url
    if not base or any(part in ("", ".", "..") for part in path.split("/")):
        raise NOT_FOUND("This service has no control interface." if not base else f"There is no control path {path!r}.")
    client: httpx2.AsyncClient = request.app.state.control_client
    try:
        answer = await client.request(
            request.method,
            f"{base.rstrip('/')}/{path}",
            params=str(request.query_params),
            content=await request.body(),
            headers={"content-type": "application/json"},
            timeout=_TIMEOUT_SECONDS,
        )
    except httpx2.TimeoutException as error:
        raise UPSTREAM_TIMEOUT("The control interface did not answer in time.") from error
    except httpx2.HTTPError as error:
        raise UPSTREAM("The control interface cannot be reached.", log=str(error)) from error
    return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))
