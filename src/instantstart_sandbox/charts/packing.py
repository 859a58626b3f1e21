"""Archives with the same bytes every time, and the names of their content: sha256 of a package, git tree id of a folder."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile

Tree = dict[str, bytes]
"""Path to content."""


def archive(files: Tree, head: str) -> bytes:
    """A .tar.gz with every path under `head`, in order, without times and owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as out:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"{head}/{path}")
            entry.size, entry.mode = len(files[path]), 0o644
            out.addfile(entry, io.BytesIO(files[path]))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as zipped:
        zipped.write(raw.getvalue())
    return packed.getvalue()


def digest(content: bytes) -> str:
    """sha256, as an index of charts gives it."""
    return hashlib.sha256(content).hexdigest()


def tree_id(files: Tree) -> str:
    """The id that git gives a folder with this content (plain files only)."""
    return _tree(files).hex()


def _tree(files: Tree) -> bytes:
    folders: dict[str, Tree] = {}
    entries: list[tuple[bytes, bytes]] = []
    for path, content in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = content
        else:
            entries.append((name.encode(), b"100644 " + name.encode() + b"\0" + _object(b"blob", content)))
    for name, inside in folders.items():
        entries.append((name.encode() + b"/", b"40000 " + name.encode() + b"\0" + _tree(inside)))
    return _object(b"tree", b"".join(line for _, line in sorted(entries)))


def _object(kind: bytes, body: bytes) -> bytes:
    return hashlib.sha1(kind + b" %d\0" % len(body) + body, usedforsecurity=False).digest()
