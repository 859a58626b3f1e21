"""The small shell, by what a script prints and how it ends."""

from __future__ import annotations

import pytest

from instantstart_sandbox.workloads import Call
from instantstart_sandbox.workloads.files import Files
from instantstart_sandbox.workloads.table import standard


def play(script: str, shell: str = "sh", flags: str = "-c") -> tuple[list[str], int | None]:
    container = {"name": "main", "image": "busybox:1.36", "command": [shell, flags, script]}
    call = Call("c", {}, container, {"NAME": "world", "HOSTNAME": "pod-1"}, Files({}), 1_700_000_000.0)
    turn = standard().find(call).turn(call, {})
    return turn.lines, turn.exit_code


@pytest.mark.parametrize(
    ("script", "lines", "code"),
    [
        ("echo hello $NAME", ["hello world"], 0),
        ("echo 'a $NAME' \"b $NAME\" c\\ d", ["a $NAME b world c d"], 0),
        ("false && echo no || echo yes", ["yes"], 0),
        ("set -e\nfalse\necho never", [], 1),
        ("set -e; false || true; if false; then echo a; else echo b; fi; ! false; echo c", ["b", "c"], 0),
        ("x=$(echo one two); echo \"[$x]\" $x", ["[one two] one two"], 0),
        ("echo ${MISSING:-default} ${NAME:+set} $?", ["default set 0"], 0),
        ("printf '%s-%s\\n' a b; printf 'n\\n'", ["a-b", "n"], 0),
        ("mkdir -p /w/x && echo 1 > /w/x/f && echo 2 >> /w/x/f && cat /w/x/f && ls /w/x", ["1", "2", "f"], 0),
        ("echo a > /tmp/a; echo b > /tmp/b; cmp /tmp/a /tmp/b; echo $?", ["/tmp/a /tmp/b differ: char 1, line 1", "1"], 0),
        ("cat /none", ["cat: can't open '/none': No such file or directory"], 1),
        ("rm -f /none; rm /none 2>/dev/null; echo $?", ["1"], 0),
        ("echo hi > /none/f", ["sh: can't create /none/f: No such file or directory"], 1),
        ("echo one two three | wc -w; echo abc | grep -q b && echo found", ["3", "found"], 0),
        ("trap 'echo bye' EXIT; echo hi; exit 4", ["hi", "bye"], 4),
        ("[ -n \"$NAME\" ] && [ 3 -gt 2 ] && test world = $NAME && echo ok", ["ok"], 0),
        ("{ echo a; echo b; } > /tmp/x; cat < /tmp/x", ["sh: unexpected '>' (the sandbox plays simple scripts only)"], 127),
        ("python train.py", ["sh: python: not found (the sandbox plays simple scripts only)"], 127),
        ("for i in 1 2; do echo $i; done", ["sh: for (the sandbox plays simple scripts only)"], 127),
        ("# a comment\necho '# not one' # but this", ["# not one"], 0),
        ("echo \"a\nb\"", ["a", "b"], 0),
        ("cd /tmp && echo x > here && cat /tmp/here && pwd", ["x", "/tmp"], 0),
        ("date +%Y; hostname", ["2023", "pod-1"], 0),
        ("echo 'unterminated", ["sh: unterminated quoted string (the sandbox plays simple scripts only)"], 127),
        ("test 1 -foo 2", ["test: 1 -foo 2: bad expression"], 2),
    ],
)  # fmt: skip
def test_scripts(script: str, lines: list[str], code: int) -> None:
    assert play(script) == (lines, code)


def test_flags_and_other_shells() -> None:
    assert play("false; echo no", "/bin/bash", "-ec") == ([], 1)


def test_sleep_gives_the_turn_back() -> None:
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", "A=1; echo $A; sleep 2m; echo $A; exit 3"]}
    call = Call("c", {}, container, {}, Files({}), 0.0)
    behaviour = standard().find(call)
    first = behaviour.turn(call, {})
    assert (first.lines, first.after, first.exit_code) == (["1"], 120.0, None)
    call = Call("c", {}, container, {}, Files({}), 0.0)
    second = behaviour.turn(call, first.state)
    assert (second.lines, second.exit_code) == (["1"], 3)
