"""The way of one AWS call: which service and operation, faults and limits, the handler, the log, the answer."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import orjson
from botocore.model import OperationModel, ServiceModel

from instantstart_sandbox.aws import wire_faults
from instantstart_sandbox.aws.access import Access
from instantstart_sandbox.aws.errors import AwsError, NotSimulated, throttling_code
from instantstart_sandbox.aws.limits import Limits
from instantstart_sandbox.aws.messages import WireRequest, WireResponse
from instantstart_sandbox.aws.moto_bridge import SERVICES
from instantstart_sandbox.aws.registry import CallContext, Handler, ServiceApi
from instantstart_sandbox.aws.wire import parsing, shown, validation
from instantstart_sandbox.aws.wire.models import (
    CBOR,
    is_read,
    operation_model,
    operation_name,
    protocol_of,
    service_model,
)
from instantstart_sandbox.aws.wire.serialising import answer, failure
from instantstart_sandbox.world import World

log = logging.getLogger("sandbox.aws")
APPLIED = "x-sandbox-applied"
"""A header with which a bridged service may say "false": the call succeeded and changed nothing. Not sent on."""
_LATE = "aws.late-request"
Check = Callable[[OperationModel, dict[str, Any]], None]
"""Called with every answer of our own services before it is sent: tests hold answers to their shapes with it."""


class Bridge(Protocol):
    """Whatever serves the services that are not ours."""

    def handle(self, request: WireRequest) -> WireResponse:
        """Answer one request."""
        ...


class Call:
    """One request, looked at: its model, operation, parameters (as parsed or as far as they could be)."""

    def __init__(self, request: WireRequest, request_id: str) -> None:
        self.request, self.request_id = request, request_id
        self.service = request.service
        self.model: ServiceModel | None = service_model(request.service) if request.service else None
        self.operation = operation_name(self.model, request) if self.model else ""
        self.shape: OperationModel | None = operation_model(self.model, self.operation) if self.model else None
        self.reads = is_read(self.operation)
        self.params: dict[str, Any] = {}
        self.unfit: AwsError | None = None
        self._parse()

    def _parse(self) -> None:
        if self.model is None or self.shape is None:
            return
        protocol = protocol_of(self.model, self.request)
        if protocol == CBOR:
            return
        try:
            lenient = protocol == "rest-xml"
            parser = parsing.parse_rest_xml(self.shape, self.request) if lenient else None
            self.params = parser if parser is not None else parsing.parse(protocol, self.shape, self.request)
        except AwsError as error:
            self.unfit = error

    @property
    def text(self) -> str:
        """What a fault's `match` is looked up in."""
        return orjson.dumps(self.shown(), default=str).decode()

    def shown(self) -> dict[str, Any]:
        """Parameters as the log may show them."""
        return shown.parameters(self.shape, self.params)

    def fail(self, error: AwsError) -> WireResponse:
        """The error as this service's protocol sends it."""
        return failure(self.model, error, self.request_id, self.request)


class Front:
    """Serves every AWS call; `serve` answers None when the connection is to be dropped."""

    def __init__(
        self,
        world: World,
        services: Iterable[ServiceApi],
        bridge: Bridge,
        access: Access,
        check: Check | None = None,
    ) -> None:
        self.world, self.bridge, self.access, self.check = world, bridge, access, check
        self.services = {s.service: s for s in services}
        self.limits = Limits(world)
        world.timers.on(_LATE, self._late)

    async def serve(self, request: WireRequest) -> WireResponse | None:
        """Answer one request."""
        call = Call(request, self.world.ids.uuid())
        if wire_faults.is_late(self.world, call, self._keep):
            return None
        refusal = self._refused(call)
        if refusal is not None:
            self._record(call, refusal.status, False)
            return refusal
        slow = wire_faults.delay_of(self.world, call)
        response = self.execute(call)
        if wire_faults.is_lost(self.world, call):
            return None
        await wire_faults.wait(self.world, slow)
        return response

    def _refused(self, call: Call) -> WireResponse | None:
        fault = wire_faults.refusal(self.world, call)
        if fault is None and not self.limits.allows(call.service, call.operation):
            fault = AwsError(*throttling_code(call.service))
        return call.fail(fault) if fault is not None else None

    def execute(self, call: Call) -> WireResponse:
        """Run the call to its answer, effect and log row in one transaction."""
        handler = self._handler(call)
        if handler is None and self._is_bridged(call):
            return self._bridged(call)
        try:
            with self.world.store.savepoint():
                response, applied = self._own(call, handler)
                self._record(call, response.status, applied)
        except AwsError as error:
            response = call.fail(error)
            self._record(call, response.status, False)
        return response

    def _handler(self, call: Call) -> Handler | None:
        service = self.services.get(call.service)
        return service.operations.get(call.operation) if service else None

    def _is_bridged(self, call: Call) -> bool:
        service = self.services.get(call.service)
        owned = service is not None and not getattr(service, "partial", False)
        return not owned and call.service in SERVICES

    def _own(self, call: Call, handler: Handler | None) -> tuple[WireResponse, bool]:
        if call.shape is None:
            raise AwsError("UnknownOperationException", f"{call.service or 'No service'} has no such operation.", 404)
        if handler is None:
            raise NotSimulated(call.service, call.operation)
        if call.unfit is not None:
            raise call.unfit
        wrong = validation.faults(call.shape.input_shape, call.params)
        if wrong:
            raise AwsError(*validation.validation_error(call.service, wrong), 400)
        principal = self.access.principal_of(call.request.access_key)
        region = call.request.region or self.world.account.region
        ctx = CallContext(self.world, principal, region, call.request_id, call.service, call.operation)
        result = handler(ctx, call.params)
        if self.check is not None:
            self.check(call.shape, result)
        applied = not call.reads if ctx.applied is None else ctx.applied
        return answer(call.shape, result, call.request_id), applied

    def _bridged(self, call: Call) -> WireResponse:
        try:
            with self.world.store.savepoint():
                response = self.bridge.handle(call.request)
                response.headers = {k.lower(): v for k, v in response.headers.items()}
                response.headers.setdefault("x-amzn-requestid", call.request_id)
                changed = response.headers.pop(APPLIED, "true") != "false"
                self.access.learn(call.request, call.operation, response)
                self._record(call, response.status, not call.reads and response.status < 300 and changed)
        except AwsError as error:
            response = call.fail(error)
            self._record(call, response.status, False)
        return response

    def _record(self, call: Call, status: int, applied: bool) -> None:
        self.world.requests.record(
            call.service,
            call.operation,
            call.request_id,
            mutating=not call.reads,
            applied=applied,
            params=call.shown(),
            status=status,
        )

    def _keep(self, call: Call, seconds: float) -> None:
        request = call.request
        kept = {**request.__dict__, "body": base64.b64encode(request.body).decode()}
        self.world.timers.after(seconds, _LATE, call.request_id, request=kept)

    def _late(self, key: str, payload: dict[str, Any]) -> None:
        kept = payload["request"]
        request = WireRequest(**{**kept, "body": base64.b64decode(kept["body"])})
        self.execute(Call(request, key))
