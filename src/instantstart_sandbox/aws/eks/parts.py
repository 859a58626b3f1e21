"""What all parts of EKS share: the neighbours, errors, tokens, and how a document becomes an answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.outside import Outside, trusts
from instantstart_sandbox.aws.registry import CallContext, Params
from instantstart_sandbox.aws.wire.models import service_model
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.world import World

Doc = dict[str, Any]
CLUSTER, ADDON, ENTRY, ASSOCIATION = "eks.cluster", "eks.addon", "eks.access_entry", "eks.pod_identity"
UPDATE, TOKEN = "eks.update", "eks.token"


@dataclass
class Parts:
    """The neighbours. `endpoint` is the URL of the Kubernetes endpoint up to `/k8s`, `ca_data` its authority (base64)."""

    world: World
    outside: Outside
    kube: KubeApi
    endpoint: str
    ca_data: str

    def arn(self, kind: str, path: str) -> str:
        """ARN of an EKS object."""
        account = self.world.account
        return f"arn:aws:eks:{account.region}:{account.account_id}:{kind}/{path}"

    def between(self, least: float, most: float) -> float:
        """Seconds within a range, from the world's dice."""
        return least + (most - least) * self.world.ids.random()

    def cluster(self, name: str) -> Doc:
        """The cluster's document; ResourceNotFoundException when there is none."""
        found = self.world.store.get(CLUSTER, name)
        if found is None:
            text = f"No cluster found for name: {name}."
            raise AwsError("ResourceNotFoundException", text, 404, clusterName=name)
        return found

    def active_cluster(self, name: str) -> Doc:
        """The cluster, when it takes changes; InvalidRequestException while it is being made or ended."""
        found = self.cluster(name)
        if found["status"] not in ("ACTIVE", "UPDATING"):
            text = f"Cluster is not in a valid state: cluster {name} has status {found['status']}."
            raise AwsError("InvalidRequestException", text, 400, clusterName=name)
        return found

    def role_or_refuse(self, arn: str, service: str, **fields: Any) -> None:
        """InvalidParameterException unless the role is there, seen, and trusts the service."""
        role = self.outside.role(arn)
        if role is None or not role["visible"] or (service and not trusts(role, service)):
            text = f"Role with arn: {arn}, could not be assumed because it does not exist or the trusted entity is not correct"
            raise AwsError("InvalidParameterException", text, 400, **fields)

    def replayed(self, ctx: CallContext, params: Params, key: str) -> bool:
        """Whether this token made the object `key` before, with the same parameters; a mismatch is refused."""
        token = params.get("clientRequestToken")
        held = self.world.store.get(TOKEN, f"{ctx.operation}/{token}") if token else None
        if held is None:
            return False
        if held["digest"] != digest(params):
            text = "The client request token has already been used with other parameters."
            raise AwsError("InvalidParameterException", text, 400)
        ctx.mark_applied(False)
        return True

    def keep_token(self, ctx: CallContext, params: Params, key: str) -> None:
        """Remember what a token made, for as long as that exists."""
        token = params.get("clientRequestToken")
        if token:
            doc = {"digest": digest(params), "object": key}
            self.world.store.put(TOKEN, f"{ctx.operation}/{token}", doc)

    def forget_tokens(self, key: str) -> None:
        """Forget the tokens that made `key`, and what is below it."""
        for name, doc in self.world.store.items(TOKEN):
            if doc["object"] == key or doc["object"].startswith(f"{key}/"):
                self.world.store.delete(TOKEN, name)


def digest(params: Params) -> str:
    """Of the parameters without the token."""
    kept = {k: v for k, v in params.items() if k != "clientRequestToken"}
    return hashlib.sha256(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)).hexdigest()


def shaped(shape: str, doc: Doc) -> Doc:
    """The document's members that the botocore shape has; lower_snake extras of ours stay out."""
    model = service_model("eks")
    assert model is not None
    members = model.shape_for(shape).members
    return {k: v for k, v in doc.items() if k in members}


def refuse(code: str, text: str, **fields: Any) -> NoReturn:
    """Raise an error of EKS; the HTTP status comes from the model."""
    raise AwsError(code, text, None, **fields)
