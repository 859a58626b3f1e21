"""A small `sh -c`: enough for a Job that writes, reads and deletes files, also in a mounted bucket.

Plays: `echo printf cat test [ rm mkdir rmdir cmp cp mv ls touch head wc grep sha256sum date sleep set export trap cd
pwd exit true false : sync hostname`, quotes, variables, `$(…)`, pipes, `&&`, `||`, `!`, `if`, groups, redirections, `set -e`.
Anything else ends the container with 127 and a line that names it. Sleeps inside one statement take effect after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.workloads.behaviours import Call, Turn
from instantstart_sandbox.workloads.files import FileError
from instantstart_sandbox.workloads.shell_commands import COMMANDS, Outcome, Run
from instantstart_sandbox.workloads.shell_syntax import Chain, Command, Group, If, Node, Parser, Pipe, Unsupported

Obj = dict[str, Any]
_SHELLS = ("sh", "bash", "ash", "dash")
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*|[?#@0-9])(?:(:?[-=?+])([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*|[?#@0-9$]))"
)


def is_script(call: Call) -> bool:
    """Whether a call is `sh -c SCRIPT`, with flags before or after `-c`."""
    argv = call.argv
    return (
        len(argv) >= 3 and argv[0].rpartition("/")[2] in _SHELLS and any("c" in w for w in argv[1:-1] if w[0:1] == "-")
    )


class ScriptExit(Exception):  # noqa: N818 - the script's own end
    """`exit N`, or a failed command under `set -e`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Session:
    """One run of a script: variables, options, and what it has said in this turn."""

    call: Call
    variables: dict[str, str]
    errexit: bool = False
    code: int = 0
    trap: str = ""
    folder: str = "/"
    lines: list[str] = field(default_factory=list)
    partial: str = ""
    slept: float = 0.0

    # output

    def say(self, text: str) -> None:
        """Write to the container's output."""
        whole = self.partial + text
        *done, self.partial = whole.split("\n")
        self.lines += done

    # running

    def run(self, node: Node, stdin: str = "", tested: bool = False) -> Outcome:
        """Run a node; its output is given back. `tested` when a failure does not end a script under `set -e`."""
        if isinstance(node, Command):
            found = self._command(node, stdin)
        elif isinstance(node, Pipe):
            found = self._pipe(node, stdin)
        elif isinstance(node, Chain):
            found = self._chain(node, tested)
            tested = tested or found.code != 0
        elif isinstance(node, If):
            found = self._if(node, tested)
        else:
            found = self._body(node.body if isinstance(node, Group) else [], tested)
        self.code = found.code
        if found.code and self.errexit and not tested and isinstance(node, (Command, Pipe)):
            if not (isinstance(node, Pipe) and node.negated):
                self.say(found.text)
                raise ScriptExit(found.code)
        return found

    def _body(self, body: list[Node], tested: bool) -> Outcome:
        text, code = "", 0
        for node in body:
            found = self._say_first(node, tested, text)
            text, code = text + found.text, found.code
        return Outcome(code, text)

    def _say_first(self, node: Node, tested: bool, before: str) -> Outcome:
        try:
            return self.run(node, tested=tested)
        except ScriptExit:
            if before:
                self.lines[:0] = before.rstrip("\n").split("\n")
            raise

    def _pipe(self, node: Pipe, stdin: str) -> Outcome:
        found = Outcome(0, stdin)
        for part in node.parts:
            found = self.run(part, found.text, tested=True)
        return Outcome(0 if found.code else 1, found.text) if node.negated else found

    def _chain(self, node: Chain, tested: bool) -> Outcome:
        left = self.run(node.left, tested=True)
        if (left.code == 0) != (node.operator == "&&"):
            return left
        right = self.run(node.right, tested=tested)
        return Outcome(right.code, left.text + right.text)

    def _if(self, node: If, tested: bool) -> Outcome:
        text = ""
        for condition, body in node.branches:
            found = self._body(condition, True)
            text += found.text
            if found.code == 0:
                done = self._body(body, tested)
                return Outcome(done.code, text + done.text)
        done = self._body(node.otherwise, tested)
        return Outcome(done.code, text + done.text)

    def _command(self, node: Command, stdin: str) -> Outcome:
        given = {name: self.one(value) for name, value in node.assignments}
        words = [w for raw in node.words for w in self.words(raw)]
        if not words:
            self.variables |= given
            return self._redirect(node, Outcome(0, ""))
        for operator, raw in node.redirections:
            if operator == "<":
                try:
                    stdin = self.call.files.read(self.path(self.one(raw))).decode(errors="replace")
                except FileError as error:
                    return Outcome(1, f"sh: can't open {self.one(raw)}: {error}\n")
        name = words[0].rpartition("/")[2]
        command = COMMANDS.get(name)
        if command is None:
            raise Unsupported(f"{words[0]}: not found")
        return self._redirect(node, command(Run(self, words, stdin, given)))

    def _redirect(self, node: Command, found: Outcome) -> Outcome:
        for operator, raw in node.redirections:
            target = self.one(raw)
            if operator in ("2>", "2>>"):
                found = Outcome(found.code, found.text, "" if target == "/dev/null" else found.error)
                continue
            if operator not in (">", ">>", "&>") or target == "/dev/stdout":
                continue
            if target == "/dev/stderr":
                found = Outcome(found.code, "", found.error + found.text)
                continue
            problem = self.write(target, found.text, operator == ">>")
            found = Outcome(found.code, "", found.error if operator != "&>" else "")
            if problem:
                found = Outcome(1, "", f"sh: can't create {target}: {problem}\n")
        return Outcome(found.code, found.text + found.error)

    def write(self, path: str, text: str, append: bool = False) -> str:
        """Write a file; answers what is wrong, or ''."""
        try:
            self.call.files.write(self.path(path), text.encode(), append)
        except FileError as error:
            return str(error)
        return ""

    @staticmethod
    def ending(code: int) -> ScriptExit:
        """What `exit` raises."""
        return ScriptExit(code)

    def path(self, name: str) -> str:
        """An absolute path."""
        return name if name.startswith("/") else f"{self.folder.rstrip('/')}/{name}"

    # words

    def one(self, raw: str) -> str:
        """A word, expanded and not split."""
        return "".join(text for text, _ in self._parts(raw))

    def words(self, raw: str) -> list[str]:
        """A word, expanded; what variables give outside quotes is split at white space."""
        out: list[str] = []
        current: str | None = None
        for text, whole in self._parts(raw):
            if whole:
                current = (current or "") + text
                continue
            pieces = text.split()
            if text[:1].isspace() and current is not None:
                out.append(current)
                current = None
            for i, piece in enumerate(pieces):
                current = (current or "") + piece
                if i < len(pieces) - 1 or text[-1:].isspace():
                    out.append(current)
                    current = None
        return [*out, current] if current is not None else out

    def _parts(self, raw: str) -> list[tuple[str, bool]]:
        """(text, whether it stays whole) pieces of a raw word."""
        found: list[tuple[str, bool]] = []
        at = 0
        while at < len(raw):
            char = raw[at]
            if char == "'":
                end = raw.index("'", at + 1)
                found.append((raw[at + 1 : end], True))
                at = end + 1
            elif char == '"':
                text, at = self._double(raw, at + 1)
                found.append((text, True))
            elif char == "\\":
                found.append((raw[at + 1 : at + 2], True))
                at += 2
            elif char == "$":
                text, at = self._dollar(raw, at)
                found.append((text, False))
            elif char == "`":
                raise Unsupported("`")
            else:
                found.append((char, True))
                at += 1
        return found

    def _double(self, raw: str, at: int) -> tuple[str, int]:
        text = ""
        while raw[at] != '"':
            if raw[at] == "\\":
                text += raw[at + 1] if raw[at + 1] in '"\\$`\n' else raw[at : at + 2]
                at += 2
            elif raw[at] == "$":
                more, at = self._dollar(raw, at)
                text += more
            else:
                text += raw[at]
                at += 1
        return text, at + 1

    def _dollar(self, raw: str, at: int) -> tuple[str, int]:
        if raw[at : at + 3] == "$((":
            raise Unsupported("$((")
        if raw[at : at + 2] == "$(":
            depth, end = 1, at + 2
            while depth:
                depth += {"(": 1, ")": -1}.get(raw[end], 0)
                end += 1
            found = self._body(Parser(raw[at + 2 : end - 1]).script(), True)
            return found.text.rstrip("\n"), end
        match = _VARIABLE.match(raw, at)
        if match is None:
            if raw[at : at + 2] == "${":
                raise Unsupported(raw[at:])
            return "$", at + 1
        name, operator, word = match.group(1) or match.group(4), match.group(2), match.group(3)
        return self._value(name, operator, word), match.end()

    def _value(self, name: str, operator: str | None, word: str | None) -> str:
        if name == "?":
            return str(self.code)
        if name == "$":
            return "1"
        value = self.variables.get(name)
        if operator in (":-", "-") and not value:
            return self.one(word or "")
        if operator in (":?", "?") and not value:
            self.say(f"sh: {name}: {self.one(word or 'parameter not set')}\n")
            raise ScriptExit(2)
        if operator in ("+", ":+"):
            return self.one(word or "") if value else ""
        return value or ""


class Shell:
    """Plays a script; between two statements it is its variables and its place."""

    stubborn = True

    def turn(self, call: Call, state: Obj) -> Turn:
        """Run statements until one sleeps or the script ends."""
        session = Session(call, dict(state.get("variables") or call.env), errexit=_errexit(call))
        session.errexit, session.trap = state.get("errexit", session.errexit), state.get("trap", "")
        session.code = state.get("code", 0)
        session.folder = str(state.get("folder") or call.container.get("workingDir") or "/")
        call.files.restore(state)
        try:
            body = Parser(_script(call)).script()
            for at in range(state.get("at", 0), len(body)):
                session.say(session.run(body[at]).text)
                if session.slept:
                    return Turn(lines=session.lines, after=session.slept, state=_kept(session, at + 1))
            code = session.code
        except ScriptExit as end:
            code = end.code
        except Unsupported as what:
            session.say(f"sh: {what} (the sandbox plays simple scripts only)\n")
            return Turn(lines=_all(session), exit_code=127)
        return Turn(lines=_all(self._at_end(session)), exit_code=code)

    @staticmethod
    def _at_end(session: Session) -> Session:
        if session.trap:
            session.errexit = False
            try:
                for node in Parser(session.trap).script():
                    session.say(session.run(node).text)
            except (ScriptExit, Unsupported) as problem:
                session.say(f"sh: trap: {problem}\n")
        return session


def _all(session: Session) -> list[str]:
    return [*session.lines, *([session.partial] if session.partial else [])]


def _kept(session: Session, at: int) -> Obj:
    return {
        **session.call.files.keep(),
        "at": at,
        "variables": session.variables,
        "errexit": session.errexit,
        "trap": session.trap,
        "code": session.code,
        "folder": session.folder,
    }


def _script(call: Call) -> str:
    argv = call.argv
    flag = next(i for i, word in enumerate(argv) if i and word.startswith("-") and "c" in word)
    return argv[flag + 1] if flag + 1 < len(argv) else ""


def _errexit(call: Call) -> bool:
    flags = [w for w in call.argv[1:] if w.startswith("-")]
    return any("e" in w for w in flags[:2])
