"""The house in numbers: sizes of files and functions, names that say nothing, modules that say what they are for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(p for top in ("src", "tests", "bench", "web/e2e") for p in (ROOT / top).rglob("*.py") if p.is_file())
WEB = sorted(p for p in (ROOT / "web" / "src").rglob("*.ts*") if p.name != "schema.d.ts")
NAMELESS = {"service", "services", "manager", "utils", "util", "helpers", "helper", "common", "misc", "lib"}
KNOWN = {"src/instantstart/operations/services.py"}
FILE_LINES, FUNCTION_LINES, DOCSTRING_LINES = 500, 60, 5


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_python_sizes(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= FILE_LINES
    for function in functions(tree):
        assert (function.end_lineno or 0) - function.lineno < FUNCTION_LINES, function.name


@pytest.mark.parametrize("path", [p for p in FILES if "src" in p.parts and p.read_text().strip()], ids=shown)
def test_modules_say_what_they_are_for(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring
    assert len(docstring.splitlines()) <= DOCSTRING_LINES + 2


@pytest.mark.parametrize("path", WEB, ids=shown)
def test_web_sizes(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LINES


def test_names_that_say_nothing() -> None:
    assert {shown(p) for p in FILES if p.stem in NAMELESS} - KNOWN == set()


def test_no_import_dodges_a_cycle() -> None:
    """Imports stand at the top, except in the command line, which loads what it needs when it runs."""
    bad = []
    for path in (p for p in FILES if "src" in p.parts and "cli" not in p.parts):
        for function in functions(ast.parse(path.read_text())):
            inside = [n for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom)]
            names = {getattr(n, "module", None) or n.names[0].name for n in inside}
            if any(name.startswith(("instantstart", ".")) for name in names):
                bad.append(f"{shown(path)}: {function.name}")
    assert bad == []
