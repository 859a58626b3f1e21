"""The git tree id of a folder on disk: how a chart that has no packages and no versions is known."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path


def tree_id(folder: Path) -> str:
    """SHA-1 tree id that git gives this folder's content; empty folders do not count."""
    return _tree(folder).hex()


def _tree(folder: Path) -> bytes:
    entries: list[tuple[bytes, bytes]] = []
    for entry in folder.iterdir():
        name = entry.name.encode()
        if entry.is_symlink():
            entries.append((name, b"120000 " + name + b"\0" + _blob(str(entry.readlink()).encode())))
        elif entry.is_dir():
            if any(p.is_file() or p.is_symlink() for p in entry.rglob("*")):
                entries.append((name + b"/", b"40000 " + name + b"\0" + _tree(entry)))
        else:
            mode = b"100755 " if entry.stat().st_mode & stat.S_IXUSR else b"100644 "
            entries.append((name, mode + name + b"\0" + _blob(entry.read_bytes())))
    body = b"".join(line for _, line in sorted(entries))
    return _hash(b"tree", body)


def _blob(content: bytes) -> bytes:
    return _hash(b"blob", content)


def _hash(kind: bytes, body: bytes) -> bytes:
    return hashlib.sha1(kind + b" %d\0" % len(body) + body, usedforsecurity=False).digest()
