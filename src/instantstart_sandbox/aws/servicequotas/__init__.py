"""Service Quotas: applied and default values of sagemaker, ec2, vpc and eks."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.defaults import QUOTA
from instantstart_sandbox.world import World

_SERVICES = {
    "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)",
    "sagemaker": "Amazon SageMaker",
    "vpc": "Amazon Virtual Private Cloud (Amazon VPC)",
}


def _shape(doc: dict[str, Any], *, default: bool) -> dict[str, Any]:
    shown = {k: v for k, v in doc.items() if k != "Default"}
    return {**shown, "Value": doc["Default"]} if default else shown


def _of(world: World, service: str) -> list[dict[str, Any]]:
    if service not in _SERVICES:
        raise AwsError(
            "NoSuchResourceException", f"The request failed because the specified service does not exist: {service}"
        )
    return sorted(world.store.list(QUOTA, f"{service}/"), key=lambda q: str(q["QuotaCode"]))


def _one(ctx: CallContext, params: Params, *, default: bool) -> dict[str, Any]:
    _of(ctx.world, params["ServiceCode"])
    held = ctx.world.store.get(QUOTA, f"{params['ServiceCode']}/{params['QuotaCode']}")
    if held is None:
        text = "The request failed because the specified quota does not exist."
        raise AwsError("NoSuchResourceException", text)
    return {"Quota": _shape(held, default=default)}


def _many(ctx: CallContext, params: Params, *, default: bool) -> dict[str, Any]:
    found = [_shape(q, default=default) for q in _of(ctx.world, params["ServiceCode"])]
    if params.get("QuotaCode"):
        found = [q for q in found if q["QuotaCode"] == params["QuotaCode"]]
    limit = min(params.get("MaxResults", 100), 100)
    items, token = page(
        found, limit, params.get("NextToken"), params["ServiceCode"], code="InvalidPaginationTokenException"
    )
    return {"Quotas": items, "NextToken": token}


def get_service_quota(ctx: CallContext, params: Params) -> dict[str, Any]:
    """The applied value of one quota."""
    return _one(ctx, params, default=False)


def get_default_quota(ctx: CallContext, params: Params) -> dict[str, Any]:
    """AWS's default value of one quota."""
    return _one(ctx, params, default=True)


def list_service_quotas(ctx: CallContext, params: Params) -> dict[str, Any]:
    """Applied values, 100 a page."""
    return _many(ctx, params, default=False)


def list_default_quotas(ctx: CallContext, params: Params) -> dict[str, Any]:
    """Default values, 100 a page."""
    return _many(ctx, params, default=True)


def list_services(_ctx: CallContext, params: Params) -> dict[str, Any]:
    """The services whose quotas are known."""
    found = [{"ServiceCode": code, "ServiceName": name} for code, name in _SERVICES.items()]
    items, token = page(found, min(params.get("MaxResults", 100), 100), params.get("NextToken"))
    return {"Services": items, "NextToken": token}


class ServiceQuotas:
    """The service's table."""

    service = "service-quotas"
    operations: dict[str, Handler] = {  # noqa: RUF012 - a constant table
        "GetServiceQuota": get_service_quota,
        "GetAWSDefaultServiceQuota": get_default_quota,
        "ListServiceQuotas": list_service_quotas,
        "ListAWSDefaultServiceQuotas": list_default_quotas,
        "ListServices": list_services,
    }
