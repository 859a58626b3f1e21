"""The database: migrations make exactly the declared tables, a file has one owner, a failed write leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, insert, select

from instantstart.db.database import Database, DatabaseInUseError, migrate, sqlite_url
from instantstart.db.tables import metadata, selection


def test_migrations_make_the_declared_tables(tmp_path: Path) -> None:
    migrate(sqlite_url(tmp_path / "a.sqlite"))
    engine = create_engine(f"sqlite:///{tmp_path / 'a.sqlite'}")
    with engine.connect() as conn:
        assert compare_metadata(MigrationContext.configure(conn), metadata) == []
    engine.dispose()


async def test_one_process_owns_a_file(tmp_path: Path) -> None:
    first, second = Database(sqlite_url(tmp_path / "a.sqlite")), Database(sqlite_url(tmp_path / "a.sqlite"))
    await first.open()
    with pytest.raises(DatabaseInUseError):
        await second.open()
    await first.close()
    await second.open()
    await second.close()


async def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    db = Database(sqlite_url(tmp_path / "a.sqlite"))
    await db.open()
    with pytest.raises(ZeroDivisionError):
        async with db.write() as conn:
            await conn.execute(insert(selection).values(principal="a", cluster="x"))
            raise ZeroDivisionError
    async with db.read() as conn:
        assert (await conn.execute(select(selection))).all() == []
    await db.close()
