"""Opens the product's database and hands out connections: `read()` for looking, `write()` for one transaction.

SQLite: WAL, `synchronous=FULL`, one writer at a time, `BEGIN IMMEDIATE`. PostgreSQL is reached by its URL.
"""

from __future__ import annotations

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import orjson
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine


class DatabaseInUseError(Exception):
    """Another process has this SQLite database open."""


MIGRATIONS = Path(__file__).parent / "migrations"


def sqlite_url(path: Path) -> str:
    """URL of a SQLite database file."""
    return f"sqlite+aiosqlite:///{path}"


def _dumps(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


class Database:
    """One database. `open()` migrates it to the newest schema."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine: AsyncEngine | None = None
        self._writer = asyncio.Lock()
        self._lock_file: IO[str] | None = None

    async def open(self) -> None:
        """Migrate and connect. Raises DatabaseInUseError when another process owns the SQLite file."""
        if self.is_sqlite and self.url.database:
            self._own(Path(f"{self.url.database}.lock"))
        await asyncio.to_thread(migrate, self.url.render_as_string(hide_password=False))
        self._engine = create_async_engine(self.url, json_serializer=_dumps, json_deserializer=orjson.loads)
        if self.is_sqlite:
            _prepare_sqlite(self._engine)

    async def close(self) -> None:
        """Close all connections."""
        if self._engine is not None:
            await self._engine.dispose()
            self._engine = None
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None

    def _own(self, path: Path) -> None:
        file = path.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise DatabaseInUseError(f"{self.url.database} is in use by another process") from None
        self._lock_file = file

    @property
    def engine(self) -> AsyncEngine:
        """The SQLAlchemy engine; only after `open()`."""
        if self._engine is None:
            raise RuntimeError("database is not open")
        return self._engine

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection for reading."""
        async with self.engine.connect() as conn:
            yield conn

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        if not self.is_sqlite:
            async with self.engine.begin() as conn:
                yield conn
            return
        async with self._writer, self.engine.connect() as conn:
            await conn.execution_options(immediate=True)
            async with conn.begin():
                yield conn

    async def wall_time(self, conn: AsyncConnection) -> float:
        """Wall time that leases are counted in: the database's on PostgreSQL, the process's on SQLite."""
        if self.is_sqlite:
            return time.time()
        result = await conn.execute(text("select extract(epoch from clock_timestamp())"))
        return float(result.scalar_one())


def _prepare_sqlite(engine: AsyncEngine) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def on_connect(dbapi: Any, _record: Any) -> None:
        dbapi.isolation_level = None
        cursor = dbapi.cursor()
        for pragma in ("journal_mode=wal", "synchronous=full", "foreign_keys=on", "busy_timeout=10000"):
            cursor.execute(f"pragma {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def on_begin(conn: Connection) -> None:
        immediate = conn.get_execution_options().get("immediate", False)
        conn.exec_driver_sql("begin immediate" if immediate else "begin")


def migrate(url: str) -> None:
    """Bring the schema of the database at `url` (async driver names are understood) to the newest version."""
    sync_url = make_url(url)
    if sync_url.drivername == "sqlite+aiosqlite":
        sync_url = sync_url.set(drivername="sqlite")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(sync_url)
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()
