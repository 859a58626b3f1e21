"""Documents of the world: (kind, key) to a JSON object, in memory for reading, in SQLite for keeping.

A document that was read must not be changed in place: copy it, change the copy, `put` it. All writes of one
`transaction()` land together or not at all; subscribers run inside the transaction that made the change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

Doc = dict[str, Any]
Subscriber = Callable[[str, Doc | None, Doc | None], None]
"""Called with (key, old document or None, new document or None)."""

_SCHEMA = """
create table if not exists doc (kind text not null, key text not null, body blob not null, primary key (kind, key));
create table if not exists timer (kind text not null, key text not null, due real not null, seq integer not null,
  body blob not null, primary key (kind, key));
create table if not exists request (seq integer primary key, body blob not null);
create table if not exists replay (seq integer primary key, body blob not null);
create table if not exists meta (name text primary key, value blob not null);
"""


class Store:
    """Document store with write-through to one SQLite file (or to memory when `path` is None)."""

    def __init__(self, path: Path | None) -> None:
        self.db = sqlite3.connect(str(path) if path else ":memory:", isolation_level=None, check_same_thread=False)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute("pragma synchronous=normal")
        self.db.executescript(_SCHEMA)
        self._docs: dict[str, dict[str, Doc]] = {}
        self._subscribers: dict[str, list[Subscriber]] = {}
        self._depth = 0
        self._undo: list[tuple[str, str, Doc | None]] = []
        self.after_commit: list[Callable[[], None]] = []
        self.on_rollback: list[Callable[[], None]] = []
        self._load()

    def _load(self) -> None:
        for kind, key, body in self.db.execute("select kind, key, body from doc order by rowid"):
            self._docs.setdefault(kind, {})[key] = orjson.loads(body)

    def get(self, kind: str, key: str) -> Doc | None:
        """The document, or None. Do not change it in place."""
        return self._docs.get(kind, {}).get(key)

    def items(self, kind: str, prefix: str = "") -> list[tuple[str, Doc]]:
        """(key, document) pairs of a kind whose key starts with `prefix`, in key order."""
        return sorted((k, d) for k, d in self._docs.get(kind, {}).items() if k.startswith(prefix))

    def list(self, kind: str, prefix: str = "") -> list[Doc]:
        """Documents of a kind whose key starts with `prefix`, in key order."""
        return [d for _, d in self.items(kind, prefix)]

    def kinds(self) -> dict[str, int]:
        """How many documents there are of each kind."""
        return {kind: len(docs) for kind, docs in sorted(self._docs.items()) if docs}

    def put(self, kind: str, key: str, doc: Doc) -> Doc:
        """Create or replace a document; tells subscribers of the kind."""
        with self.transaction():
            old = self._docs.setdefault(kind, {}).get(key)
            self._undo.append((kind, key, old))
            self._docs[kind][key] = doc
            self.db.execute(
                "insert into doc values (?, ?, ?) on conflict (kind, key) do update set body = excluded.body",
                (kind, key, orjson.dumps(doc)),
            )
            self._tell(kind, key, old, doc)
        return doc

    def delete(self, kind: str, key: str) -> Doc | None:
        """Remove a document; returns what was there. Subscribers are told only when something was."""
        with self.transaction():
            old = self._docs.get(kind, {}).pop(key, None)
            if old is not None:
                self._undo.append((kind, key, old))
                self.db.execute("delete from doc where kind = ? and key = ?", (kind, key))
                self._tell(kind, key, old, None)
        return old

    def subscribe(self, kind: str, fn: Subscriber) -> None:
        """Have `fn` called for every change of a document of this kind, inside the changing transaction."""
        self._subscribers.setdefault(kind, []).append(fn)

    def _tell(self, kind: str, key: str, old: Doc | None, new: Doc | None) -> None:
        for fn in self._subscribers.get(kind, ()):
            fn(key, old, new)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Group writes; an exception undoes them in memory and on disk. Nested use joins the outer one."""
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        self.db.execute("begin immediate")
        self._depth, self._undo = 1, []
        try:
            yield
        except BaseException:
            self._rollback()
            raise
        self._depth = 0
        self.db.execute("commit")
        self._undo = []
        for fn in self.after_commit:
            fn()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Like `transaction()`, but an exception undoes these writes also when an outer transaction goes on."""
        if not self._depth:
            with self.transaction():
                yield
            return
        mark, name = len(self._undo), f"mark_{self._depth}"
        self.db.execute(f"savepoint {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            self.db.execute(f"rollback to {name}")
            self._restore(mark)
            raise
        finally:
            self._depth -= 1
            self.db.execute(f"release {name}")

    def _rollback(self) -> None:
        self._depth = 0
        self.db.execute("rollback")
        self._restore(0)

    def _restore(self, mark: int) -> None:
        """Put documents back as they were when the undo list was `mark` long."""
        for kind, key, old in reversed(self._undo[mark:]):
            if old is None:
                self._docs[kind].pop(key, None)
            else:
                self._docs.setdefault(kind, {})[key] = old
        del self._undo[mark:]
        for fn in self.on_rollback:
            fn()

    def meta(self, name: str, default: Any = None) -> Any:
        """A small JSON value kept beside the documents."""
        row = self.db.execute("select value from meta where name = ?", (name,)).fetchone()
        return orjson.loads(row[0]) if row else default

    def set_meta(self, name: str, value: Any) -> None:
        """Keep a small JSON value (part of the running transaction, if there is one)."""
        self.db.execute(
            "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value",
            (name, orjson.dumps(value)),
        )

    def clear(self) -> None:
        """Forget everything: documents, timers, requests, replay log and meta values."""
        for table in ("doc", "timer", "request", "replay", "meta"):
            self.db.execute(f"delete from {table}")  # noqa: S608 - names from the tuple above
        self._docs.clear()

    def close(self) -> None:
        """Close the file; every committed transaction is already on disk."""
        self.db.close()
