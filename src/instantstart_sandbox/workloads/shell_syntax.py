"""The grammar of the small shell: words, lists, pipelines, redirections, `if`; anything else is refused by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Unsupported(Exception):  # noqa: N818 - the container says so and exits 127
    """The script uses something that this shell does not play; the text names it."""


@dataclass
class Command:
    """A simple command: `NAME=value` words first, then the words, then (operator, word) redirections."""

    assignments: list[tuple[str, str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    redirections: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Pipe:
    """Commands whose output feeds the next; `negated` turns the exit code around."""

    parts: list[Node]
    negated: bool = False


@dataclass
class Chain:
    """`left && right` or `left || right`."""

    operator: str
    left: Node
    right: Node


@dataclass
class If:
    """Conditions with their bodies, then what is left."""

    branches: list[tuple[list[Node], list[Node]]]
    otherwise: list[Node]


@dataclass
class Group:
    """`{ …; }` or `( … )`."""

    body: list[Node]


Node = Command | Pipe | Chain | If | Group
_TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\\\n)|(?P<comment>\#[^\n]*)|(?P<newline>\n)|(?P<op>&&|\|\||;;|2>&1|&>|2>>|2>|>>|<<|[;|<>()&])"""
)
_ASSIGN = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.S)
_REDIRECTIONS = (">", ">>", "<", "2>", "2>>", "&>")
_REFUSED = ("for", "while", "until", "case", "function", "select", "[[", "eval", "exec", "source", ".")
_ENDS = ("then", "elif", "else", "fi", "}", ")")


def _quoted_end(text: str, at: int) -> int:
    """The index after a quoted part, a `$(…)` or an escape that begins at `at`."""
    if text[at] == "'":
        end = text.find("'", at + 1)
    elif text[at] == '"':
        end = at + 1
        while end < len(text) and text[end] != '"':
            end = _quoted_end(text, end) if text[end : end + 2] == "$(" else end + (2 if text[end] == "\\" else 1)
    elif text[at] == "\\":
        return at + 2
    else:
        depth, end = 1, at + 2
        while end < len(text) and depth:
            if text[end] in "'\"":
                end = _quoted_end(text, end)
                continue
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        return end
    if end < 0 or end >= len(text):
        raise Unsupported("unterminated quoted string")
    return end + 1


def tokens(text: str) -> list[str]:
    """Operators, newlines (as `;`) and raw words."""
    found: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match and not (match.lastgroup == "comment" and at and text[at - 1] not in " \t\n;"):
            if match.lastgroup == "newline":
                found.append("\n")
            elif match.lastgroup == "op":
                found.append(match.group())
            at = match.end()
            continue
        start = at
        while at < len(text) and text[at] not in " \t\n;|<>()&":
            special = text[at] in "'\"\\" or text[at : at + 2] == "$("
            at = _quoted_end(text, at) if special else at + 1
        found.append(text[start:at])
    return found


class Parser:
    """Parses a whole script."""

    def __init__(self, text: str) -> None:
        self._tokens, self._at = tokens(text), 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        word = self._peek()
        self._at += 1
        return word

    def _skip(self) -> None:
        while self._peek() in (";", "\n"):
            self._take()

    def script(self) -> list[Node]:
        """All statements. Raises Unsupported."""
        found = self._list(())
        if self._peek():
            raise Unsupported(f"unexpected {self._peek()!r}")
        return found

    def _list(self, ends: tuple[str, ...]) -> list[Node]:
        found: list[Node] = []
        self._skip()
        while self._peek() and self._peek() not in ends:
            found.append(self._chain())
            if self._peek() == "&":
                raise Unsupported("&")
            if self._peek() not in (";", "\n", "") and self._peek() not in ends:
                raise Unsupported(f"unexpected {self._peek()!r}")
            self._skip()
        return found

    def _chain(self) -> Node:
        left = self._pipe()
        while self._peek() in ("&&", "||"):
            operator = self._take()
            while self._peek() == "\n":
                self._take()
            left = Chain(operator, left, self._pipe())
        return left

    def _pipe(self) -> Node:
        negated = self._peek() == "!"
        if negated:
            self._take()
        parts = [self._command()]
        while self._peek() == "|":
            self._take()
            parts.append(self._command())
        return parts[0] if len(parts) == 1 and not negated else Pipe(parts, negated)

    def _command(self) -> Node:
        word = self._peek()
        if word == "if":
            return self._if()
        if word in ("{", "("):
            self._take()
            close = "}" if word == "{" else ")"
            body = self._list((close,))
            self._expect(close)
            return Group(body)
        if word in _REFUSED or word in _ENDS:
            raise Unsupported(word)
        return self._simple()

    def _expect(self, word: str) -> None:
        if self._take() != word:
            raise Unsupported(f"{word!r} expected")

    def _if(self) -> Node:
        branches: list[tuple[list[Node], list[Node]]] = []
        otherwise: list[Node] = []
        word = self._take()
        while word in ("if", "elif"):
            condition = self._list(("then",))
            self._expect("then")
            branches.append((condition, self._list(("elif", "else", "fi"))))
            word = self._take()
        if word == "else":
            otherwise = self._list(("fi",))
            word = self._take()
        if word != "fi":
            raise Unsupported("'fi' expected")
        return If(branches, otherwise)

    def _simple(self) -> Command:
        command = Command()
        while True:
            word = self._peek()
            if word in _REDIRECTIONS:
                operator = self._take()
                command.redirections.append((operator, self._take()))
            elif word == "2>&1":
                self._take()
            elif word in ("<<", "&", ";;", "(", ")"):
                if word == ")" and (command.words or command.assignments):
                    return command
                raise Unsupported(word)
            elif word in ("", ";", "\n", "|", "&&", "||"):
                if not command.words and not command.assignments and not command.redirections:
                    raise Unsupported(f"unexpected {word!r}")
                return command
            else:
                self._word(command, self._take())

    @staticmethod
    def _word(command: Command, word: str) -> None:
        match = _ASSIGN.match(word)
        if match and not command.words:
            command.assignments.append((match.group(1), match.group(2)))
        else:
            command.words.append(word)
