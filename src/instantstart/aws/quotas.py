"""Service Quotas by name. Codes found on the web are wrong, so they are looked up; values are read afresh."""

from __future__ import annotations

from instantstart.aws.absent import maybe
from instantstart.aws.clients import AwsClients


async def all_quotas(aws: AwsClients, service: str) -> dict[str, float]:
    """Every applied quota of a service (`sagemaker`, `vpc`, `ec2`) by name; many pages for sagemaker."""
    listed = await aws.pages("service-quotas", "list_service_quotas", "Quotas", ServiceCode=service)
    aws.kept[f"quota-codes/{service}"] = {q["QuotaName"]: q["QuotaCode"] for q in listed}
    return {q["QuotaName"]: float(q["Value"]) for q in listed}


async def quota(aws: AwsClients, service: str, name: str) -> float | None:
    """One applied quota by name, else its default; None when the service has no such quota."""
    codes = aws.kept.get(f"quota-codes/{service}")
    if codes is None:
        return (await all_quotas(aws, service)).get(name)
    if name not in codes:
        return None
    for operation in ("get_service_quota", "get_aws_default_service_quota"):
        answer = await maybe(aws, "service-quotas", operation, ServiceCode=service, QuotaCode=codes[name])
        if answer is not None:
            return float(answer["Quota"]["Value"])
    return None
