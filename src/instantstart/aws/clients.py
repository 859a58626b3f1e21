"""The one way to call AWS: reads are retried and shared while in flight, changing calls are sent exactly once.

Calls run in a bounded pool of threads. Time here is wall time: signing, time limits and retries are.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from instantstart.aws import errors
from instantstart.aws.session import READ_ATTEMPTS, AwsSession, StaticCredentials

__all__ = ["AccountFacts", "AwsClients", "StaticCredentials"]

T = TypeVar("T")
_READS = re.compile(r"^(describe|list|get|head|search|lookup|filter|simulate|validate|check|batch_get|estimate)_")
_THREADS = 32
_BACKOFF_SECONDS = 20.0


@dataclass(frozen=True)
class AccountFacts:
    """Who the service is, and where."""

    account_id: str
    arn: str
    region: str

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn`, `aws-us-gov`."""
        return self.arn.split(":")[1]

    @property
    def principal_arn(self) -> str:
        """The IAM ARN behind the caller: the role of an assumed-role session (its path is not known here)."""
        match = re.match(r"^arn:([\w-]+):sts::(\d+):assumed-role/([^/]+)/", self.arn)
        return f"arn:{match[1]}:iam::{match[2]}:role/{match[3]}" if match else self.arn


def changes_state(operation: str) -> bool:
    """Whether an operation (snake_case) may change something."""
    return _READS.match(operation) is None


class AwsClients:
    """Every AWS call of the product goes through one of these."""

    def __init__(
        self,
        *,
        region: str,
        endpoint_url: str | None,
        credentials: StaticCredentials | None,
        workers: int = _THREADS,
    ) -> None:
        self.region = region
        self.session = AwsSession(region=region, endpoint_url=endpoint_url, credentials=credentials)
        self._executor = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="aws")
        self._flights: dict[bytes, asyncio.Task[Any]] = {}
        self._written: dict[str, int] = {}
        self._account: AccountFacts | None = None
        self.kept: dict[str, Any] = {}
        """Facts of the account that never change (codes of quotas), by a name of the module that reads them."""

    async def call(self, service: str, operation: str, *, timeout: float = 10.0, **params: Any) -> dict[str, Any]:
        """Call `operation` (snake_case, as boto3 has it); `timeout` in seconds for one try. Raises AwsProblem.

        Reads are tried up to four times; equal reads in flight share one request. Other calls are sent once: when
        the answer is lost the problem is `lost`.
        """
        changes = changes_state(operation)

        def send() -> dict[str, Any]:
            client = self.session.client(service, changes=changes, timeout=timeout)
            return _read_body(getattr(client, operation)(**params))

        if changes:
            return await self._change(service, operation, send, timeout)
        return await self._shared(service, operation, "", params, send, timeout)

    async def pages(self, service: str, operation: str, key: str, **params: Any) -> list[dict[str, Any]]:
        """Every item under `key` of a listing operation, all pages. Raises AwsProblem."""

        def collect() -> list[dict[str, Any]]:
            client = self.session.client(service, changes=False, timeout=10.0)
            if not client.can_paginate(operation):
                return list(getattr(client, operation)(**params).get(key) or [])
            paginator = client.get_paginator(operation)
            return [item for page in paginator.paginate(**params) for item in page.get(key) or []]

        return await self._shared(service, operation, key, params, collect, 60.0)

    async def account(self) -> AccountFacts:
        """Account, caller and region; read once."""
        if self._account is None:
            found = await self.call("sts", "get_caller_identity")
            self._account = AccountFacts(found["Account"], found["Arn"], self.region)
        return self._account

    async def in_thread(self, function: Callable[[], T]) -> T:
        """Run a blocking function in the pool of threads."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)

    async def close(self) -> None:
        """Give up waiting calls and close connections."""
        for task in self._flights.values():
            task.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.session.close()

    async def _change(self, service: str, operation: str, send: Callable[[], T], timeout: float) -> T:
        self._written[service] = self._written.get(service, 0) + 1
        try:
            return await self._limited(service, operation, send, timeout + 1.0, changes=True)
        finally:
            self._written[service] += 1

    async def _shared(
        self, service: str, operation: str, key: str, params: dict[str, Any], send: Callable[[], T], timeout: float
    ) -> T:
        """Join an equal read in flight, unless a changing call to the service came since it began."""
        what = [service, operation, key, self._written.get(service, 0), params]
        name = orjson.dumps(what, default=repr, option=orjson.OPT_SORT_KEYS)
        task = self._flights.get(name)
        if task is None:
            limit = timeout * READ_ATTEMPTS + _BACKOFF_SECONDS
            task = asyncio.create_task(self._limited(service, operation, send, limit, changes=False))
            self._flights[name] = task
            task.add_done_callback(lambda done: self._landed(name, done))
        found: T = await asyncio.shield(task)
        return found

    def _landed(self, name: bytes, task: asyncio.Task[Any]) -> None:
        self._flights.pop(name, None)
        if not task.cancelled():
            task.exception()  # seen: nobody may be waiting any more

    async def _limited(self, service: str, operation: str, send: Callable[[], T], limit: float, *, changes: bool) -> T:
        try:
            return await asyncio.wait_for(self.in_thread(send), limit)
        except TimeoutError:
            raise errors.late(service, operation, limit, changes=changes) from None
        except ClientError as error:
            raise errors.from_answer(service, operation, error, changes=changes) from error
        except (BotoCoreError, ResponseParserError) as error:
            raise errors.from_failure(service, operation, error, changes=changes) from error


def _read_body(answer: dict[str, Any]) -> dict[str, Any]:
    """Streams are read here, in the thread, so that an answer is plain data."""
    body = answer.get("Body")
    return answer | {"Body": body.read()} if body is not None and hasattr(body, "read") else answer
