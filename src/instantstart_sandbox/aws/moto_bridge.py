"""Serves ec2, iam, s3, sts, logs and ssm by moto, in this process, and makes what it holds survive a restart.

moto keeps everything in memory. Each changing request is logged as it came, in the transaction of its effect, and is
replayed at start with the same seed and the clock held at the same time, which gives the same ids and times.
"""

from __future__ import annotations

import base64
import os
from urllib.parse import parse_qs

import orjson
import time_machine
from moto.core.base_backend import BackendDict
from moto.moto_api._internal import mock_random
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import EnvironBuilder, run_wsgi_app

from instantstart_sandbox.aws.messages import WireRequest, WireResponse
from instantstart_sandbox.world import World

SERVICES = frozenset({"ec2", "iam", "s3", "sts", "logs", "ssm"})
_READS = ("Describe", "Get", "List", "Head", "Search", "Lookup", "Simulate")
_HOSTS = {"iam": "iam.amazonaws.com"}
_HOP = {"connection", "transfer-encoding", "server", "date", "content-length"}


class MotoBridge:
    """Answers one request at a time; `handle` is synchronous and never reaches a network."""

    services = SERVICES

    def __init__(self, world: World) -> None:
        self._world = world
        os.environ.setdefault("MOTO_ACCOUNT_ID", world.account.account_id)
        os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
        self._app = DomainDispatcherApplication(create_backend_app)
        BackendDict.reset()
        for seq, body in world.store.db.execute("select seq, body from replay order by seq").fetchall():
            kept = orjson.loads(body)
            request = WireRequest(**{**kept["request"], "body": base64.b64decode(kept["request"]["body"])})
            self._serve(request, seq, kept["time"])

    def handle(self, request: WireRequest) -> WireResponse:
        """Answer one request; a change that succeeded is in the replay log when this returns."""
        seq = 1 + (self._world.store.db.execute("select max(seq) from replay").fetchone()[0] or 0)
        now = self._world.clock.time()
        response = self._serve(request, seq, now)
        if changes(request) and response.status < 400:
            kept = {**request.__dict__, "body": base64.b64encode(request.body).decode()}
            body = orjson.dumps({"time": now, "request": kept})
            self._world.store.db.execute("insert into replay values (?, ?)", (seq, body))
        return response

    def _serve(self, request: WireRequest, seq: int, at: float) -> WireResponse:
        mock_random.seed(seq)
        with time_machine.travel(at, tick=False):
            builder = EnvironBuilder(
                method=request.method,
                path=request.path,
                query_string=request.query_string,
                headers=list(request.headers.items()),
                data=request.body,
            )
            environ = builder.get_environ()
            environ["HTTP_HOST"] = _HOSTS.get(request.service, f"{request.service}.{request.region}.amazonaws.com")
            chunks, status, headers = run_wsgi_app(self._app, environ)
        kept = {k.lower(): v for k, v in headers if k.lower() not in _HOP}
        return WireResponse(int(status.split()[0]), kept, b"".join(chunks))


def changes(request: WireRequest) -> bool:
    """Whether a request may change something, by its operation's name or, for S3, by its method."""
    if request.service == "s3":
        return request.method not in ("GET", "HEAD")
    action = parse_qs(request.body.decode(errors="replace")).get("Action") or parse_qs(request.query_string).get(
        "Action"
    )
    name = action[0] if action else request.headers.get("x-amz-target", "").rpartition(".")[2]
    return not name.startswith(_READS)
