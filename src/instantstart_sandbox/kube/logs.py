"""Container output: appended by whoever plays the container, read by `pods/log`, kept in the state folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from instantstart_sandbox.world import World

_SCHEMA = """create table if not exists container_log (cluster text not null, namespace text not null,
  pod text not null, container text not null,
  previous integer not null, seq integer not null, time real not null, line text not null,
  primary key (cluster, namespace, pod, container, previous, seq)) without rowid"""
_KEEP = 20_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output; `time` is in epoch seconds of world time."""

    seq: int
    time: float
    text: str

    def stamped(self) -> str:
        """The line with its time in front."""
        when = datetime.fromtimestamp(self.time, UTC)
        return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond:06d}000Z {self.text}"


Stream = tuple[str, str, str, str]
Listener = Callable[[], None]


class LogBook:
    """Output by (cluster, namespace, pod, container); listeners are told after the transaction."""

    def __init__(self, world: World) -> None:
        self._world, self._db = world, world.store.db
        self._db.execute(_SCHEMA)
        self._next: dict[Stream, int] = {}
        self._touched: set[Stream] = set()
        self._listeners: dict[Stream, list[Listener]] = {}
        world.store.after_commit.append(self._tell)
        world.store.on_rollback.append(self._next.clear)

    def append(self, cluster: str, namespace: str, pod: str, container: str, line: str, previous: bool = False) -> None:
        """Add one line (or several, split at newlines) at the present world time."""
        stream = (cluster, namespace, pod, container)
        now = self._world.clock.time()
        with self._world.store.transaction():
            for text in line.split("\n"):
                seq = self._sequence(stream)
                self._db.execute(
                    "insert into container_log values (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*stream, int(previous), seq, now, text),
                )
                if seq % 1000 == 0:
                    self._trim(stream, seq)
            self._touched.add(stream)

    def _sequence(self, stream: Stream) -> int:
        if stream not in self._next:
            row = self._db.execute(
                "select max(seq) from container_log where cluster=? and namespace=? and pod=? and container=?", stream
            ).fetchone()
            self._next[stream] = row[0] or 0
        self._next[stream] += 1
        return self._next[stream]

    def _trim(self, stream: Stream, seq: int) -> None:
        self._db.execute(
            "delete from container_log where cluster=? and namespace=? and pod=? and container=? and previous=0"
            " and seq<=?",
            (*stream, seq - _KEEP),
        )

    def rotate(self, cluster: str, namespace: str, pod: str, container: str) -> None:
        """The container restarts: what it wrote becomes the previous output."""
        stream = (cluster, namespace, pod, container)
        where = "cluster=? and namespace=? and pod=? and container=?"
        with self._world.store.transaction():
            self._db.execute(f"delete from container_log where {where} and previous=1", stream)  # noqa: S608
            self._db.execute(f"update container_log set previous=1 where {where}", stream)  # noqa: S608

    def remove(self, cluster: str, namespace: str, pod: str) -> None:
        """The pod is gone: so is its output."""
        with self._world.store.transaction():
            self._db.execute(
                "delete from container_log where cluster=? and namespace=? and pod=?", (cluster, namespace, pod)
            )
        for stream in [s for s in self._next if s[:3] == (cluster, namespace, pod)]:
            del self._next[stream]

    def forget(self, cluster: str) -> None:
        """The cluster is gone."""
        self._db.execute("delete from container_log where cluster=?", (cluster,))
        self._next = {s: n for s, n in self._next.items() if s[0] != cluster}

    def read(self, stream: Stream, *, previous: bool = False, after: int = 0, since: float = 0.0) -> list[Line]:
        """Lines with seq > `after` written at or after `since` (epoch seconds), oldest first."""
        rows = self._db.execute(
            "select seq, time, line from container_log where cluster=? and namespace=? and pod=? and container=?"
            " and previous=? and seq>? and time>=? order by seq",
            (*stream, int(previous), after, since),
        )
        return [Line(*row) for row in rows]

    def has(self, stream: Stream, previous: bool) -> bool:
        """Whether there is any output."""
        row = self._db.execute(
            "select 1 from container_log where cluster=? and namespace=? and pod=? and container=? and previous=?"
            " limit 1",
            (*stream, int(previous)),
        ).fetchone()
        return row is not None

    def listen(self, stream: Stream, fn: Listener) -> Callable[[], None]:
        """Have `fn` called when the stream grew; call the answer to stop."""
        self._listeners.setdefault(stream, []).append(fn)
        return lambda: self._listeners.get(stream, []).remove(fn)

    def _tell(self) -> None:
        touched, self._touched = self._touched, set()
        for stream in touched:
            for fn in list(self._listeners.get(stream, ())):
                fn()
