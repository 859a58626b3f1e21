"""One answer for a body with bad fields: those of the wrong shape, and those that cannot be had, all at once."""

from __future__ import annotations

from instantstart.clusters.preflight import findings, look
from instantstart.clusters.schema import Body
from instantstart.core.problem import INVALID_REQUEST, FieldError
from instantstart.operations.services import Services


async def refuse_bad_fields(services: Services, body: Body, tag: str | None = None) -> None:
    """Raise invalid_request when a field could not be read; what else is wrong is told with it."""
    if not body.faults:
        return
    outlook = await look(services, body, tag)
    blocking = [f for f in findings(outlook, body) if f.severity == "blocking"]
    errors = [*body.faults, *(FieldError(field=f.field or "", code=f.code, message=f.detail) for f in blocking)]
    shown = ", ".join(dict.fromkeys(e.field for e in errors if e.field))
    raise INVALID_REQUEST(f"These fields are not right: {shown}.", errors=errors)
