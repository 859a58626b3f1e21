"""The files that a container sees: mounted buckets as S3 objects, everything else in a small file system of its own."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

_LARGEST = 4 * 1024 * 1024


class Objects(Protocol):
    """The bucket operations that a mount needs."""

    def role_can(self, role_name: str, action: str, resource: str) -> bool:
        """Whether a role may do an action."""

    def put_object(self, bucket: str, key: str, content: bytes) -> Any:
        """Write."""

    def get_object(self, bucket: str, key: str) -> bytes | None:
        """Read."""

    def delete_object(self, bucket: str, key: str) -> Any:
        """Delete."""

    def list_objects(self, bucket: str, prefix: str = "") -> list[Any]:
        """List."""


class MountedBucket(Protocol):
    """What is known of a mounted bucket."""

    @property
    def name(self) -> str: ...
    @property
    def prefix(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def may_delete(self) -> bool: ...
    @property
    def may_overwrite(self) -> bool: ...


class FileError(Exception):
    """What the C library would say, e.g. "No such file or directory"."""


MISSING = "No such file or directory"
_REFUSED = "Operation not permitted"
_DENIED = "Permission denied"
_IO = "Input/output error"


@dataclass
class BucketFolder:
    """A bucket, mounted: whole files only, no overwriting or deleting unless the mount allows it."""

    aws: Objects
    bucket: MountedBucket
    read_only: bool = False

    def _key(self, path: str) -> str:
        return self.bucket.prefix + path.lstrip("/")

    def _can(self, action: str, path: str) -> bool:
        return self.aws.role_can(self.bucket.role, f"s3:{action}", f"arn:aws:s3:::{self.bucket.name}/{self._key(path)}")

    def read(self, path: str) -> bytes:
        """The object's content."""
        if not self._can("GetObject", path):
            raise FileError(_DENIED)
        found = self.aws.get_object(self.bucket.name, self._key(path))
        if found is None:
            raise FileError(MISSING)
        return found

    def write(self, path: str, content: bytes, append: bool) -> None:
        """Write a new object, or replace one where the mount allows it."""
        if self.read_only or self.bucket.read_only:
            raise FileError("Read-only file system")
        there = self.aws.get_object(self.bucket.name, self._key(path)) is not None
        if there and (append or not self.bucket.may_overwrite):
            raise FileError(_REFUSED)
        if not self._can("PutObject", path):
            raise FileError(_DENIED if not there else _IO)
        self.aws.put_object(self.bucket.name, self._key(path), content)

    def remove(self, path: str) -> None:
        """Delete an object where the mount and the role allow it."""
        if self.read_only or self.bucket.read_only:
            raise FileError("Read-only file system")
        if self.aws.get_object(self.bucket.name, self._key(path)) is None:
            raise FileError(MISSING)
        if not self.bucket.may_delete:
            raise FileError(_REFUSED)
        if not self._can("DeleteObject", path):
            raise FileError(_DENIED)
        self.aws.delete_object(self.bucket.name, self._key(path))

    def names(self, path: str) -> list[str] | None:
        """Names in a folder; None when there is no such folder."""
        prefix = self._key(path).rstrip("/")
        prefix = f"{prefix}/" if prefix else ""
        found = [_key_of(o) for o in self.aws.list_objects(self.bucket.name, prefix)]
        inside = sorted({k[len(prefix) :].partition("/")[0] for k in found if k.startswith(prefix)} - {""})
        return inside if inside or path.strip("/") == "" else None


def _key_of(item: Any) -> str:
    if isinstance(item, str):
        return item
    return str(item.get("Key") or item.get("key"))


@dataclass
class LocalFolder:
    """Files of the container itself; `content` is kept in the state between turns."""

    content: dict[str, str]
    read_only: bool = False

    def read(self, path: str) -> bytes:
        """A file's content."""
        if path not in self.content:
            raise FileError("Is a directory" if self.names(path) is not None else MISSING)
        return self.content[path].encode("latin-1")

    def write(self, path: str, content: bytes, append: bool) -> None:
        """Write a file."""
        if self.read_only:
            raise FileError("Read-only file system")
        before = self.content.get(path, "") if append else ""
        if len(before) + len(content) > _LARGEST:
            raise FileError("No space left on device")
        self.content[path] = before + content.decode("latin-1")

    def remove(self, path: str) -> None:
        """Delete a file."""
        if path not in self.content:
            raise FileError(MISSING)
        if self.read_only:
            raise FileError("Read-only file system")
        del self.content[path]

    def names(self, path: str) -> list[str] | None:
        """Names in a folder; None when there is no such folder."""
        prefix = path.rstrip("/") + "/"
        found = sorted({k[len(prefix) :].partition("/")[0] for k in self.content if k.startswith(prefix)})
        return found if found or prefix in ("/", "/tmp/") else None  # noqa: S108 - a path inside a played container


Folder = BucketFolder | LocalFolder


class Files:
    """All folders of a container by mount path; `folders` are those that its script made and nothing holds."""

    def __init__(self, mounts: dict[str, Folder], base: Callable[[], LocalFolder] | None = None) -> None:
        self.mounts = mounts
        self.root = base() if base else LocalFolder({})
        self.folders: set[str] = set()

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what the last turn left."""
        self.root.content.update(state.get("files") or {})
        for path, content in (state.get("mounts") or {}).items():
            folder = self.mounts.get(path)
            if isinstance(folder, LocalFolder):
                folder.content.update(content)
        self.folders = set(state.get("folders") or ())

    def keep(self) -> dict[str, Any]:
        """What the next turn needs."""
        local = {p: f.content for p, f in self.mounts.items() if isinstance(f, LocalFolder) and not f.read_only}
        return {"files": self.root.content, "mounts": local, "folders": sorted(self.folders)}

    def _at(self, path: str) -> tuple[Folder, str]:
        path = posixpath.normpath(path)
        for mount in sorted(self.mounts, key=len, reverse=True):
            where = mount.rstrip("/")
            if path == where or path.startswith(where + "/"):
                folder = self.mounts[mount]
                inside = path[len(where) :].lstrip("/")
                return folder, inside if isinstance(folder, BucketFolder) else "/" + inside
        return self.root, path

    def read(self, path: str) -> bytes:
        """A file's content. Raises FileError."""
        if self.is_folder(path):
            raise FileError("Is a directory")
        folder, inside = self._at(path)
        return folder.read(inside)

    def write(self, path: str, content: bytes, append: bool = False) -> None:
        """Write a file; its folder must be there. Raises FileError."""
        path = posixpath.normpath(path)
        if path in ("/dev/null", "/dev/stdout", "/dev/stderr"):
            return
        if not self.is_folder(posixpath.dirname(path)):
            raise FileError(MISSING)
        folder, inside = self._at(path)
        folder.write(inside, content, append)

    def remove(self, path: str) -> None:
        """Delete a file. Raises FileError."""
        folder, inside = self._at(path)
        folder.remove(inside)

    def names(self, path: str) -> list[str] | None:
        """Names in a folder, with those that a script made; None when there is none."""
        path = posixpath.normpath(path)
        folder, inside = self._at(path)
        found = folder.names(inside)
        made = {
            f[len(path) :].lstrip("/").partition("/")[0] for f in self.folders if f.startswith(path.rstrip("/") + "/")
        }
        if found is None and path not in self.folders and not made and path not in self.mounts:
            return None
        return sorted({*(found or []), *made} - {""})

    def is_folder(self, path: str) -> bool:
        """Whether there is such a folder."""
        path = posixpath.normpath(path)
        return path in ("/", "") or path in {m.rstrip("/") for m in self.mounts} or self.names(path) is not None

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        if self.is_folder(path):
            return True
        try:
            self.read(path)
        except FileError as error:
            return str(error) != MISSING
        return True
