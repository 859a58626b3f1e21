"""STS: bearer tokens for the Kubernetes API of an EKS cluster. They are signed with wall time."""

from __future__ import annotations

import base64

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest

from instantstart.aws.clients import AwsClients
from instantstart.aws.errors import AWS_CREDENTIALS, AwsProblem

TOKEN_SECONDS = 14 * 60
"""How long a token is used: EKS takes it for about 15 minutes after signing."""
_EXPIRES = 60


async def kube_token(aws: AwsClients, eks_cluster: str) -> str:
    """A bearer token for this EKS cluster: a presigned GetCallerIdentity URL, made without a request."""

    def make() -> str:
        credentials = aws.session.frozen_credentials()
        if credentials is None:
            raise AwsProblem(AWS_CREDENTIALS("There are no AWS credentials to sign a Kubernetes token with."))
        host = aws.session.client("sts", changes=False, timeout=10.0).meta.endpoint_url.rstrip("/")
        url = f"{host}/?Action=GetCallerIdentity&Version=2011-06-15"
        request = AWSRequest(method="GET", url=url, headers={"x-k8s-aws-id": eks_cluster})
        SigV4QueryAuth(credentials, "sts", aws.region, expires=_EXPIRES).add_auth(request)
        return "k8s-aws-v1." + base64.urlsafe_b64encode(request.url.encode()).decode().rstrip("=")

    return await aws.in_thread(make)
