"""AWS errors as services raise them; the wire gives them the shape of the protocol."""

from __future__ import annotations

from typing import Any


class AwsError(Exception):
    """An error with the service's own code. `status` is the HTTP status where the model does not name one."""

    def __init__(self, code: str, message: str, status: int | None = None, **fields: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.fields = code, message, status, fields


class NotSimulated(AwsError):  # noqa: N818 - it reads as what it says
    """The sandbox does not know the operation: said aloud, never answered with nothing.

    A 400, since a client would try a 5xx again.
    """

    def __init__(self, service: str, operation: str) -> None:
        message = f"The sandbox does not simulate {operation} of {service}."
        super().__init__("NotImplementedBySandbox", message, 400)


def throttling_code(service: str) -> tuple[str, str, int]:
    """(code, message, HTTP status) with which a service throttles."""
    if service == "ec2":
        return "RequestLimitExceeded", "Request limit exceeded.", 503
    if service == "s3":
        return "SlowDown", "Please reduce your request rate.", 503
    if service in ("iam", "sts", "cloudformation"):
        return "Throttling", "Rate exceeded", 400
    if service == "service-quotas":
        return "TooManyRequestsException", "Rate exceeded", 400
    status = 429 if service == "eks" else 400
    return "ThrottlingException", "Rate exceeded", status


def server_error_code(service: str) -> tuple[str, str, int]:
    """(code, message, HTTP status) of a failure inside a service."""
    codes = {
        "eks": ("ServerException", "Internal failure", 500),
        "ec2": ("InternalError", "An internal error has occurred", 500),
        "s3": ("InternalError", "We encountered an internal error. Please try again.", 500),
        "iam": ("ServiceFailure", "The request processing has failed because of an unknown error.", 500),
        "service-quotas": ("ServiceException", "Something went wrong.", 500),
    }
    return codes.get(
        service, ("InternalFailure", "The request processing has failed because of an unknown error.", 500)
    )


def quota_code(service: str) -> str:
    """The code with which a service says that a limit is reached."""
    codes = {
        "eks": "ResourceLimitExceededException",
        "iam": "LimitExceeded",
        "s3": "TooManyBuckets",
        "cloudformation": "LimitExceededException",
        "service-quotas": "QuotaExceededException",
        "logs": "LimitExceededException",
    }
    return codes.get(service, "ResourceLimitExceeded")


def ec2_quota_code(operation: str) -> str:
    """EC2's limit codes differ by what is made."""
    codes = {
        "CreateVpc": "VpcLimitExceeded",
        "CreateSubnet": "SubnetLimitExceeded",
        "AllocateAddress": "AddressLimitExceeded",
        "CreateInternetGateway": "InternetGatewayLimitExceeded",
        "CreateNatGateway": "NatGatewayLimitExceeded",
        "CreateSecurityGroup": "SecurityGroupLimitExceeded",
    }
    return codes.get(operation, "ResourceLimitExceeded")
