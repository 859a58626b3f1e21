"""The control interface `/_sandbox/…`: clock, faults, settings, request log, what exists, reset."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import orjson

from instantstart_sandbox import settings
from instantstart_sandbox.control_fields import ControlError, Fields, fault_fields
from instantstart_sandbox.world import World

Answer = tuple[int, dict[str, Any]]
_LONGEST_WAIT = 60.0
_LONGEST_STEP = 366 * 86400.0


class Control:
    """Routes by name and method. `inventory` counts what exists; `reset` makes the world new."""

    def __init__(
        self,
        world: World,
        inventory: Callable[[], dict[str, int]],
        reset: Callable[[], Awaitable[None]],
    ) -> None:
        self.world, self._inventory, self._reset = world, inventory, reset
        self._advancing = asyncio.Lock()
        self._routes: dict[tuple[str, str], Callable[[dict[str, str], bytes], Awaitable[Answer]]] = {
            ("GET", "healthz"): self._health,
            ("GET", "requests"): self._requests,
            ("GET", "clock"): self._clock,
            ("POST", "clock"): self._set_clock,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): self._remove_faults,
            ("GET", "world"): self._world,
            ("GET", "settings"): self._settings,
            ("POST", "settings"): self._set_settings,
            ("POST", "reset"): self._reset_world,
        }

    async def serve(self, method: str, name: str, query: str, body: bytes) -> Answer:
        """Answer one call: HTTP status and JSON; 400 problems name every bad field."""
        words = {k: v[-1] for k, v in parse_qs(query, keep_blank_values=True).items()}
        if name.startswith("faults/"):
            words["id"], name = name.removeprefix("faults/"), "faults"
        route = self._routes.get((method, name))
        if route is None:
            known = any(n == name for _, n in self._routes)
            status, code = (405, "method_not_allowed") if known else (404, "not_found")
            return status, {"status": status, "code": code, "detail": f"There is no {method} /_sandbox/{name}."}
        try:
            return await route(words, body)
        except ControlError as error:
            return error.status, error.view()

    async def _health(self, _words: dict[str, str], _body: bytes) -> Answer:
        return 200, {"status": "ok"}

    async def _requests(self, words: dict[str, str], _body: bytes) -> Answer:
        fields = Fields(dict(words), known={"after", "limit"})
        after = fields.integer("after", 0, least=0, most=2**62)
        limit = fields.integer("limit", 1000, least=1, most=10_000)
        fields.check()
        return 200, self.world.requests.page(after, limit)

    async def _clock(self, words: dict[str, str], _body: bytes) -> Answer:
        fields = Fields(dict(words), known={"revision", "wait"})
        revision = fields.integer("revision", -1, least=-1, most=2**62)
        wait = fields.number("wait", 0.0, least=0.0, most=_LONGEST_WAIT)
        fields.check()
        if wait and "revision" in words:
            await self.world.clock.wait_change(revision, wait)
        return 200, self.world.clock.view()

    async def _set_clock(self, _words: dict[str, str], body: bytes) -> Answer:
        fields = Fields(_object(body), known={"mode", "speed", "advance_seconds"})
        mode = fields.choice("mode", ("explicit", "auto"))
        speed = fields.number("speed", 0.0, least=0.001, most=100_000.0)
        step = fields.number("advance_seconds", 0.0, least=0.0, most=_LONGEST_STEP)
        fields.check()
        clock = self.world.clock
        if step and (mode or clock.mode) != "explicit":
            text = "The clock runs by itself (mode auto); set mode explicit to advance it."
            raise ControlError(409, "clock_not_explicit", text)
        if mode or speed:
            clock.set(mode, speed or None)  # type: ignore[arg-type]
        if step:
            async with self._advancing:
                await self.world.timers.advance(step)
        return 200, clock.view()

    async def _faults(self, _words: dict[str, str], _body: bytes) -> Answer:
        return 200, {"items": self.world.faults.list()}

    async def _add_fault(self, _words: dict[str, str], body: bytes) -> Answer:
        spec = fault_fields(_object(body))
        return 200, self.world.faults.add(spec)

    async def _remove_faults(self, words: dict[str, str], body: bytes) -> Answer:
        given = {**words, **(_object(body) if body else {})}
        fields = Fields(given, known={"id", "kind"})
        fields.check()
        kind, wanted = given.get("kind"), given.get("id")
        ids = [f["id"] for f in self.world.faults.list() if kind in (None, f["kind"]) and wanted in (None, f["id"])]
        return 200, {"removed": sum(self.world.faults.remove(i) for i in ids)}

    async def _world(self, _words: dict[str, str], _body: bytes) -> Answer:
        return 200, dict(sorted(self._inventory().items()))

    async def _settings(self, _words: dict[str, str], _body: bytes) -> Answer:
        return 200, settings.view(self.world)

    async def _set_settings(self, _words: dict[str, str], body: bytes) -> Answer:
        settings.change(self.world, _object(body))
        return 200, settings.view(self.world)

    async def _reset_world(self, _words: dict[str, str], _body: bytes) -> Answer:
        await self._reset()
        return 200, {"reset": True}


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body) if body else {}
    except orjson.JSONDecodeError as error:
        raise ControlError(400, "not_json", "The body is not JSON.") from error
    if not isinstance(found, dict):
        raise ControlError(400, "not_an_object", "The body is not a JSON object.")
    return found
