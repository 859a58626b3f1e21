"""The commands of the small shell."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from instantstart_sandbox.workloads.behaviours import parse_seconds
from instantstart_sandbox.workloads.files import MISSING, BucketFolder, FileError

if TYPE_CHECKING:
    from instantstart_sandbox.workloads.shell import Session


@dataclass(frozen=True)
class Outcome:
    """Exit code, output, and what went to standard error."""

    code: int
    text: str
    error: str = ""


@dataclass
class Run:
    """One command: its session, its words (the name first), its input, variables given for it alone."""

    session: Session
    words: list[str]
    stdin: str
    given: dict[str, str]

    @property
    def plain(self) -> list[str]:
        """Arguments that are no options."""
        return [w for w in self.words[1:] if not w.startswith("-") or w == "-"]

    def flag(self, letter: str) -> bool:
        """Whether a one-letter option is given."""
        return any(w.startswith("-") and letter in w[1:] for w in self.words[1:])

    def read(self, name: str) -> str:
        """A file's content, or the input for `-`. Raises FileError."""
        if name == "-":
            return self.stdin
        return self.session.call.files.read(self.session.path(name)).decode("utf-8", "replace")


def _ok(text: str = "") -> Outcome:
    return Outcome(0, text)


def _fail(run: Run, text: str, code: int = 1) -> Outcome:
    return Outcome(code, "", f"{run.words[0]}: {text}\n")


def _echo(run: Run) -> Outcome:
    words = run.words[1:]
    bare = words[:1] == ["-n"]
    if words[:1] in (["-n"], ["-e"]):
        words = words[1:]
    text = " ".join(words)
    if run.words[1:2] == ["-e"]:
        text = text.replace("\\n", "\n").replace("\\t", "\t")
    return _ok(text if bare else text + "\n")


def _printf(run: Run) -> Outcome:
    if len(run.words) < 2:
        return _fail(run, "usage: printf FORMAT [ARGUMENT...]")
    form = run.words[1].replace("\\n", "\n").replace("\\t", "\t")
    values, text, at = run.words[2:], "", 0
    while True:
        used = form.count("%s") + form.count("%d")
        part, rest = "", form
        while "%" in rest:
            head, _, tail = rest.partition("%")
            part += head
            if tail[:1] in ("s", "d"):
                part += values[at] if at < len(values) else ""
                at += 1
            else:
                part += "%" if tail[:1] == "%" else "%" + tail[:1]
            rest = tail[1:]
        text += part + rest
        if not used or at >= len(values):
            return _ok(text)


def _cat(run: Run) -> Outcome:
    text, errors = "", ""
    for name in run.plain or ["-"]:
        try:
            text += run.read(name)
        except FileError as error:
            errors += f"cat: can't open '{name}': {error}\n"
    return Outcome(1 if errors else 0, text, errors)


def _rm(run: Run) -> Outcome:
    files, errors = run.session.call.files, ""
    for name in run.plain:
        path = posixpath.normpath(run.session.path(name))
        try:
            if run.flag("r") and files.is_folder(path):
                _rm_folder(run, path)
            else:
                files.remove(path)
        except FileError as error:
            if not (run.flag("f") and str(error) == MISSING):
                errors += f"rm: can't remove '{name}': {error}\n"
    return Outcome(1 if errors else 0, "", errors)


def _rm_folder(run: Run, path: str) -> None:
    files = run.session.call.files
    for name in files.names(path) or []:
        inside = f"{path}/{name}"
        if files.is_folder(inside):
            _rm_folder(run, inside)
        else:
            files.remove(inside)
    files.folders.discard(path)


def _mkdir(run: Run) -> Outcome:
    files = run.session.call.files
    for name in run.plain:
        path = posixpath.normpath(run.session.path(name))
        if files.is_folder(path):
            if not run.flag("p"):
                return _fail(run, f"can't create directory '{name}': File exists")
            continue
        parent = posixpath.dirname(path)
        if not run.flag("p") and not files.is_folder(parent):
            return _fail(run, f"can't create directory '{name}': {MISSING}")
        while path not in ("/", ""):
            files.folders.add(path)
            path = posixpath.dirname(path)
    return _ok()


def _rmdir(run: Run) -> Outcome:
    files = run.session.call.files
    for name in run.plain:
        path = posixpath.normpath(run.session.path(name))
        if not files.is_folder(path):
            return _fail(run, f"'{name}': {MISSING}")
        if files.names(path):
            return _fail(run, f"'{name}': Directory not empty")
        files.folders.discard(path)
    return _ok()


def _cmp(run: Run) -> Outcome:
    names = [*run.plain, "-"][:2]
    try:
        one, two = (run.read(name) for name in names)
    except FileError as error:
        return _fail(run, f"{names[0]} {names[1]}: {error}", 2)
    if one == two:
        return _ok()
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    if at is None:
        short = names[0] if len(one) < len(two) else names[1]
        return Outcome(1, "", "" if run.flag("s") else f"cmp: EOF on {short}\n")
    line = one[:at].count("\n") + 1
    return Outcome(1, "" if run.flag("s") else f"{names[0]} {names[1]} differ: char {at + 1}, line {line}\n")


def _cp(run: Run) -> Outcome:
    if len(run.plain) != 2:
        return _fail(run, "two names are needed")
    source, target = run.plain
    if run.session.call.files.is_folder(run.session.path(target)):
        target = f"{target.rstrip('/')}/{posixpath.basename(source)}"
    try:
        text = run.read(source)
    except FileError as error:
        return _fail(run, f"can't stat '{source}': {error}")
    problem = run.session.write(target, text)
    return _fail(run, f"can't create '{target}': {problem}") if problem else _ok()


def _mv(run: Run) -> Outcome:
    if len(run.plain) != 2:
        return _fail(run, "two names are needed")
    source = run.plain[0]
    files = run.session.call.files
    in_bucket = any(
        isinstance(folder, BucketFolder) and run.session.path(source).startswith(mount)
        for mount, folder in files.mounts.items()
    )
    if in_bucket:
        return _fail(run, f"can't rename '{source}': Function not implemented")
    done = _cp(run)
    if done.code == 0:
        files.remove(run.session.path(source))
    return done


def _ls(run: Run) -> Outcome:
    files, text = run.session.call.files, ""
    for name in run.plain or ["."]:
        path = posixpath.normpath(run.session.path(name))
        names = files.names(path)
        if names is None:
            if not files.exists(path):
                return _fail(run, f"{name}: {MISSING}")
            names = [name]
        shown = names if run.flag("a") or run.flag("A") else [n for n in names if not n.startswith(".")]
        text += "".join(f"{n}\n" for n in shown)
    return _ok(text)


def _touch(run: Run) -> Outcome:
    for name in run.plain:
        if not run.session.call.files.exists(run.session.path(name)):
            problem = run.session.write(name, "")
            if problem:
                return _fail(run, f"{name}: {problem}")
    return _ok()


def _text(run: Run, names: list[str]) -> str:
    return "".join(run.read(n) for n in names) if names else run.stdin


def _head(run: Run) -> Outcome:
    words, count, unit = run.words[1:], 10, "n"
    if words[:1] and words[0][:2] in ("-n", "-c"):
        unit = words[0][1]
        number = words[0][2:] or words[1]
        words = words[1:] if words[0][2:] else words[2:]
        count = int(number)
    try:
        text = _text(run, words)
    except FileError as error:
        return _fail(run, f"{words[0]}: {error}")
    return _ok(text[:count] if unit == "c" else "".join(text.splitlines(keepends=True)[:count]))


def _wc(run: Run) -> Outcome:
    try:
        text = _text(run, run.plain)
    except FileError as error:
        return _fail(run, f"{run.plain[0]}: {error}")
    counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text.encode())}
    shown = [str(v) for k, v in counts.items() if run.flag(k)] or [str(v) for v in counts.values()]
    return _ok(" ".join([*shown, *run.plain]) + "\n")


def _grep(run: Run) -> Outcome:
    if not run.plain:
        return _fail(run, "a pattern is needed", 2)
    try:
        lines = _text(run, run.plain[1:]).splitlines()
    except FileError as error:
        return _fail(run, f"{run.plain[1]}: {error}", 2)
    found = [line for line in lines if (run.plain[0] in line) != run.flag("v")]
    return Outcome(0 if found else 1, "" if run.flag("q") else "".join(f"{x}\n" for x in found))


def _sha256(run: Run) -> Outcome:
    text = ""
    for name in run.plain or ["-"]:
        try:
            text += f"{hashlib.sha256(run.read(name).encode()).hexdigest()}  {name}\n"
        except FileError as error:
            return _fail(run, f"{name}: {error}")
    return _ok(text)


def _date(run: Run) -> Outcome:
    now = datetime.fromtimestamp(run.session.call.time, UTC)
    form = next((w[1:] for w in run.words[1:] if w.startswith("+")), "%a %b %e %H:%M:%S UTC %Y")
    return _ok(now.strftime(form.replace("%s", str(int(run.session.call.time)))) + "\n")


def _sleep(run: Run) -> Outcome:
    seconds = parse_seconds(run.words[1:])
    if seconds is None:
        return _fail(run, f"invalid number '{' '.join(run.words[1:])}'")
    run.session.slept += max(seconds, 0.001)
    return _ok()


def _set(run: Run) -> Outcome:
    for word in run.words[1:]:
        if word[:1] in "-+" and "e" in word and "pipefail" not in word:
            run.session.errexit = word[0] == "-"
    return _ok()


def _export(run: Run) -> Outcome:
    for word in run.words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            run.session.variables[name] = value
    return _ok()


def _trap(run: Run) -> Outcome:
    if run.words[2:3] in (["EXIT"], ["0"]):
        run.session.trap = run.words[1]
    return _ok()


def _cd(run: Run) -> Outcome:
    target = run.words[1] if len(run.words) > 1 else "/"
    path = posixpath.normpath(run.session.path(target))
    if not run.session.call.files.is_folder(path):
        return Outcome(1, "", f"sh: cd: can't cd to {target}: {MISSING}\n")
    run.session.folder = path
    return _ok()


def _exit(run: Run) -> Outcome:
    from_words = run.words[1] if len(run.words) > 1 else str(run.session.code)
    if not from_words.lstrip("-").isdigit():
        return _fail(run, f"Illegal number: {from_words}", 2)
    raise run.session.ending(int(from_words) % 256)


def _number(text: str) -> int:
    if not text.lstrip("-").isdigit():
        raise ValueError(text)
    return int(text)


def _test(run: Run) -> Outcome:
    words = run.words[1:]
    if run.words[0] == "[":
        if words[-1:] != ["]"]:
            return _fail(run, "missing ]", 2)
        words = words[:-1]
    negated = words[:1] == ["!"]
    try:
        true = _truth(run, words[1:] if negated else words)
    except (ValueError, IndexError):
        return _fail(run, f"{' '.join(words)}: bad expression", 2)
    return Outcome(0 if true != negated else 1, "")


def _truth(run: Run, words: list[str]) -> bool:
    files, session = run.session.call.files, run.session
    if len(words) <= 1:
        return bool(words and words[0])
    if len(words) == 2:
        operator, value = words
        path = session.path(value)
        checks: dict[str, Callable[[], bool]] = {
            "-n": lambda: bool(value),
            "-z": lambda: not value,
            "-e": lambda: files.exists(path),
            "-d": lambda: files.is_folder(path),
            "-f": lambda: files.exists(path) and not files.is_folder(path),
            "-r": lambda: files.exists(path),
            "-w": lambda: files.exists(path),
            "-s": lambda: files.exists(path) and (files.is_folder(path) or bool(files.read(path))),
        }
        if operator not in checks:
            raise ValueError(operator)
        return checks[operator]()
    left, operator, right = words[0], words[1], words[2]
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    one, two = _number(left), _number(right)
    numbers = {"-eq": one == two, "-ne": one != two, "-gt": one > two, "-ge": one >= two, "-lt": one < two}
    numbers["-le"] = one <= two
    if operator not in numbers:
        raise ValueError(operator)
    return numbers[operator]


COMMANDS: dict[str, Callable[[Run], Outcome]] = {
    "echo": _echo, "printf": _printf, "cat": _cat, "rm": _rm, "mkdir": _mkdir, "rmdir": _rmdir, "cmp": _cmp,
    "cp": _cp, "mv": _mv, "ls": _ls, "touch": _touch, "head": _head, "wc": _wc, "grep": _grep,
    "sha256sum": _sha256, "date": _date, "sleep": _sleep, "set": _set, "export": _export, "trap": _trap, "cd": _cd,
    "pwd": lambda run: _ok(run.session.folder + "\n"), "exit": _exit, "true": lambda run: _ok(),
    "false": lambda run: Outcome(1, ""), ":": lambda run: _ok(), "sync": lambda run: _ok(),
    "hostname": lambda run: _ok(run.session.variables.get("HOSTNAME", "") + "\n"), "test": _test, "[": _test,
    "diff": _cmp,
}  # fmt: skip
