"""The botocore session: hermetic when credentials are given. The only maker of AWS clients."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from botocore.client import BaseClient
from botocore.config import Config
from botocore.configprovider import BOTOCORE_DEFAUT_SESSION_VARIABLES
from botocore.session import Session

from instantstart import __version__

READ_ATTEMPTS = 4
_CONNECT_SECONDS = 3.0
_FILES = ("config_file", "credentials_file")


@dataclass(frozen=True)
class StaticCredentials:
    """Credentials given by a setting; environment, profiles and instance metadata are then ignored."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class AwsSession:
    """Makes and keeps clients: per service one that reads with retries and one that sends exactly once."""

    def __init__(
        self, *, region: str, endpoint_url: str | None, credentials: StaticCredentials | None, pool: int = 50
    ) -> None:
        self.region, self.endpoint_url, self._pool = region, endpoint_url, pool
        self._session = Session(session_vars=_hermetic() if credentials else None)
        if credentials:
            self._session.set_credentials(credentials.access_key, credentials.secret_key, credentials.session_token)
        self._hermetic = credentials is not None
        self._clients: dict[tuple[str, bool, float], BaseClient] = {}
        self._lock = threading.Lock()

    def client(self, service: str, *, changes: bool, timeout: float) -> BaseClient:
        """The client for this service, kind of call and time limit in seconds. Blocks: call it in a thread."""
        key = (service, changes, timeout)
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self._make(service, changes, timeout)
            return self._clients[key]

    def frozen_credentials(self) -> Any:
        """Credentials to sign with now, refreshed when due; None when there are none. Blocks."""
        found = self._session.get_credentials()
        return found.get_frozen_credentials() if found else None

    def close(self) -> None:
        """Close every client's connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _make(self, service: str, changes: bool, timeout: float) -> BaseClient:
        connect = min(_CONNECT_SECONDS, timeout / 2)
        retries: dict[str, Any] = {"mode": "standard", "total_max_attempts": 1 if changes else READ_ATTEMPTS}
        config = Config(
            connect_timeout=connect,
            read_timeout=timeout - connect,
            retries=retries,
            max_pool_connections=self._pool,
            user_agent_extra=f"instantstart/{__version__}",
            proxies={} if self._hermetic else None,
            s3={"addressing_style": "path"} if self.endpoint_url else None,
            ignore_configured_endpoint_urls=True if self._hermetic else None,
        )
        return self._session.create_client(
            service, region_name=self.region, endpoint_url=self.endpoint_url, config=config
        )


def _hermetic() -> dict[str, Any]:
    """Session variables that read neither environment nor configuration files."""
    closed: dict[str, Any] = {
        name: (None, None, default, convert)
        for name, (_, _, default, convert) in BOTOCORE_DEFAUT_SESSION_VARIABLES.items()
    }
    return closed | dict.fromkeys(_FILES, (None, None, "", None))
