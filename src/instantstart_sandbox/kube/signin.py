"""Sign-in: EKS tokens (a presigned GetCallerIdentity URL), service account tokens, static tokens, impersonation."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time as wall
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import orjson

from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.status import unauthorized
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.wire import Request, User
from instantstart_sandbox.world import World

Principal = Callable[[str], str]
"""Access key id to the principal's ARN (for an assumed role the sts form)."""
_PREFIX = "k8s-aws-v1."
_MAX_AGE = 900
_ROLE = re.compile(r"^arn:(?P<part>aws[\w-]*):sts::(?P<account>\d{12}):assumed-role/(?P<role>[^/]+)/(?P<session>.+)$")
POLICIES = {
    "AmazonEKSClusterAdminPolicy": "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
    "AmazonEKSAdminViewPolicy": "view",
}


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class SignIn:
    """Turns a request's credentials into a User; ApiError 401."""

    def __init__(self, world: World, engine: Engine, principal: Principal | None = None) -> None:
        self.world, self.engine = world, engine
        self.principal: Principal = principal or (lambda _key: world.account.caller)
        self._secret = world.store.meta("kube-token-key")
        if self._secret is None:
            self._secret = world.ids.hex("", 64)
            world.store.set_meta("kube-token-key", self._secret)

    def user(self, state: ClusterState, request: Request) -> User:
        """Who makes the request, impersonation not yet applied."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return User("system:anonymous", ("system:unauthenticated",))
        found = self.by_token(state, token.strip())
        if found is None:
            raise unauthorized()
        return found

    def by_token(self, state: ClusterState, token: str) -> User | None:
        """The user a token stands for; None when it is not valid here."""
        if token.startswith(_PREFIX):
            return self._eks(state, token[len(_PREFIX) :])
        static = (state.doc.get("tokens") or {}).get(hashlib.sha256(token.encode()).hexdigest())
        if static:
            return User(static["name"], tuple(static["groups"]))
        return self._service_account(state, token)

    # EKS

    def _eks(self, state: ClusterState, text: str) -> User | None:
        try:
            parts = urlsplit(_decode(text).decode())
        except (binascii.Error, ValueError, UnicodeDecodeError):
            return None
        query = {k.lower(): v[0] for k, v in parse_qs(parts.query).items()}
        if query.get("action") != "GetCallerIdentity" or "x-k8s-aws-id" not in query.get("x-amz-signedheaders", ""):
            return None
        signed = query.get("x-k8s-aws-id")
        if signed is not None and signed != state.name:
            return None
        if not self._fresh(query.get("x-amz-date", ""), query.get("x-amz-expires", "60")):
            return None
        key = unquote(query.get("x-amz-credential", "")).partition("/")[0]
        return self._entry(state, self.principal(key)) if key else None

    @staticmethod
    def _fresh(stamp: str, expires: str) -> bool:
        try:
            made = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
            int(expires)
        except ValueError:
            return False
        return -300 <= wall.time() - made <= _MAX_AGE

    def _entry(self, state: ClusterState, arn: str) -> User | None:
        match = _ROLE.match(arn)
        wanted = f"arn:{match['part']}:iam::{match['account']}:role/{match['role']}" if match else arn
        for key, entry in self.world.store.items("eks.access_entry", f"{state.name}/"):
            principal = entry.get("principalArn") or key.partition("/")[2]
            plain = re.sub(r":role/.*/", ":role/", principal)
            if principal not in (wanted, arn) and plain != wanted:
                continue
            default = (
                arn
                if not match
                else f"arn:aws:sts::{match['account']}:assumed-role/{match['role']}/{{{{SessionName}}}}"
            )
            name = str(entry.get("username") or default)
            if match:
                name = name.replace("{{SessionName}}", match["session"])
            groups = (*entry.get("kubernetesGroups", []), "system:authenticated")
            extra = {
                "arn": [principal],
                "canonicalArn": [principal],
                "accessKeyId": [],
                "sessionName": [match["session"] if match else ""],
            }
            return User(
                name, tuple(groups), f"aws-iam-authenticator:{state.name}", {**extra, "eks/policies": _policies(entry)}
            )
        return None

    # service accounts

    def issue(
        self, state: ClusterState, namespace: str, name: str, claims: dict[str, Any], seconds: int
    ) -> tuple[str, float]:
        """A signed token of a service account and its expiry (epoch seconds of world time)."""
        now = int(self.world.clock.time())
        body = {
            "aud": claims.get("audiences") or ["https://kubernetes.default.svc"],
            "exp": now + seconds,
            "iat": now,
            "nbf": now,
            "iss": "https://kubernetes.default.svc",
            "jti": self.world.ids.uuid(),
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": claims.get("uid", "")}},
            "sub": f"system:serviceaccount:{namespace}:{name}",
            "cluster": state.name,
        }
        head = _encode(orjson.dumps({"alg": "HS256", "kid": "sandbox"}))
        middle = f"{head}.{_encode(orjson.dumps(body))}"
        return f"{middle}.{self._sign(middle)}", float(now + seconds)

    def _sign(self, text: str) -> str:
        return _encode(hmac.new(str(self._secret).encode(), text.encode(), hashlib.sha256).digest())

    def _service_account(self, state: ClusterState, token: str) -> User | None:
        head, _, signature = token.rpartition(".")
        if head.count(".") != 1 or not hmac.compare_digest(self._sign(head), signature):
            return None
        claims = orjson.loads(_decode(head.partition(".")[2]))
        if claims["cluster"] != state.name or claims["exp"] < self.world.clock.time():
            return None
        namespace, account = claims["kubernetes.io"]["namespace"], claims["kubernetes.io"]["serviceaccount"]
        entry = state.table("serviceaccounts").entries.get((namespace, account["name"]))
        if entry is None or entry.obj["metadata"]["uid"] != account["uid"]:
            return None
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return User(
            claims["sub"],
            groups,
            account["uid"],
            {"authentication.kubernetes.io/credential-id": ["JTI=" + claims["jti"]]},
        )


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _policies(entry: dict[str, Any]) -> list[str]:
    found = []
    for policy in entry.get("policies", []):
        role = POLICIES.get(str(policy["policyArn"]).rpartition("/")[2])
        scope = policy.get("accessScope") or {}
        if role:
            names = ",".join(scope.get("namespaces") or []) if scope.get("type") == "namespace" else ""
            found.append(f"{role}|{names}" if names or scope.get("type") != "namespace" else f"{role}|-")
    return found


def impersonated(request: Request, user: User) -> User | None:
    """The user that Impersonate-* headers name, None without them."""
    name = request.headers.get("impersonate-user")
    if not name:
        return None
    listed = [g for g in request.headers.get("impersonate-group", "").split("\0") if g]
    groups = tuple(listed)
    if name.startswith("system:serviceaccount:") and not listed:
        namespace = name.split(":")[2]
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    extra = "system:unauthenticated" if name == "system:anonymous" else "system:authenticated"
    return User(name, groups if extra in groups else (*groups, extra))
