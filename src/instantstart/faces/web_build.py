"""Knows whether the built web UI belongs to the sources beside it. Run as a module it stamps a fresh build.

Standard library only, since it also runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

STATIC = Path(__file__).parent.parent / "static"
SOURCES = Path(__file__).parents[3] / "web"
STAMP = "build.json"
_PLACES = ("src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")
HOW = "Build it with `make up` (or `make web`)."


def _files(web: Path) -> Iterator[Path]:
    for place in _PLACES:
        path = web / place
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.is_file())


def source_hash(web: Path) -> str:
    """SHA-256, in hex, over names and contents of everything that the build reads."""
    digest = hashlib.sha256()
    for path in _files(web):
        digest.update(str(path.relative_to(web)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def fault(static: Path = STATIC, web: Path = SOURCES) -> str | None:
    """What is wrong with the build, in a sentence for the user; None when it can be served."""
    if not (static / "index.html").is_file():
        return f"The web UI has not been built. {HOW}"
    if not (web / "package.json").is_file():
        return None
    try:
        stamped = json.loads((static / STAMP).read_text())["source_hash"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"The web UI was built without a stamp, so it may be stale. {HOW}"
    return None if stamped == source_hash(web) else f"The web UI is older than its sources. {HOW}"


def stamp(static: Path, web: Path) -> None:
    """Write down which sources the build in `static` was made from."""
    (static / STAMP).write_text(json.dumps({"source_hash": source_hash(web)}) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["stamp"]:
        stamp(STATIC, SOURCES)
    sys.exit(0 if fault() is None else 1)
