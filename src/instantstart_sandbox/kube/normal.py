"""Comparing an answer with a recorded one: placeholders are bound to the values seen, order of keys does not count."""

from __future__ import annotations

import re
from typing import Any

_PLACEHOLDER = re.compile(r"<(?:uid|rv|hash|continue|ip|gen):\d+>|<port>|<time>|<age>|<rv>|<url>|<string>")
_LOOSE = {
    "<time>": r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z?",
    "<age>": r"(?:\d+[smhdy])+|<invalid>|<unknown>|0s",
    "<port>": r"\d+",
    "<rv>": r"\d+",
    "<url>": r"\S*",
    "<string>": r".*",
}
_STAND_IN = {"<time>": "2026-01-01T00:00:00Z"}
_STATUS_CAUSES = ("field", "reason")


class Normaliser:
    """Placeholder to value, learnt from the answers of one replay."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def fill(self, value: Any) -> Any:
        """The value with its placeholders replaced by what they stand for here."""
        if isinstance(value, dict):
            return {self.fill(k): self.fill(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.fill(v) for v in value]
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda m: self.known.get(m.group(0), _STAND_IN.get(m.group(0), m.group(0))), value)
        return value

    def learn(self, wanted: Any, actual: Any) -> None:
        """Bind placeholders without judging."""
        if isinstance(wanted, dict) and isinstance(actual, dict):
            for key, value in wanted.items():
                if key in actual:
                    self.learn(value, actual[key])
        elif isinstance(wanted, list) and isinstance(actual, list):
            for one, two in zip(wanted, actual, strict=False):
                self.learn(one, two)
        elif isinstance(wanted, str):
            self.same_text(wanted, actual)

    def same_text(self, wanted: str, actual: Any) -> bool:
        """Whether a text fits, binding placeholders that are new."""
        if "<" not in wanted:
            return bool(wanted == actual)
        if not isinstance(actual, str):
            return wanted in ("<port>",) and isinstance(actual, int)
        pattern, names, at = "", [], 0
        for match in _PLACEHOLDER.finditer(wanted):
            pattern += re.escape(wanted[at : match.start()])
            token = match.group(0)
            at = match.end()
            if token in _LOOSE:
                pattern += f"(?:{_LOOSE[token]})"
            elif token in self.known:
                pattern += re.escape(self.known[token])
            else:
                pattern += r"(.+?)"
                names.append(token)
        found = re.fullmatch(pattern + re.escape(wanted[at:]), actual, re.DOTALL)
        if not found:
            return False
        self.known.update(zip(names, found.groups(), strict=True))
        return True


def _drop(value: Any, managed: bool) -> Any:
    if isinstance(value, dict):
        return {k: _drop(v, managed) for k, v in value.items() if managed or k != "managedFields"}
    return [_drop(v, managed) for v in value] if isinstance(value, list) else value


def _status_form(value: Any) -> Any:
    """A Status of a validation fault by its causes; the wording of its message does not count."""
    if isinstance(value, dict) and value.get("kind") == "Status" and value.get("reason") == "Invalid":
        details = dict(value.get("details") or {})
        causes = [{k: c.get(k) for k in _STATUS_CAUSES} for c in details.get("causes") or []]
        details["causes"] = sorted(causes, key=str)
        return {**{k: v for k, v in value.items() if k != "message"}, "details": details}
    return value


def _sorted_items(value: Any) -> Any:
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("List") and isinstance(value.get("items"), list):
        named = [i for i in value["items"] if isinstance(i, dict) and "metadata" in i]
        if named and all(isinstance(i.get("metadata"), dict) and i["metadata"].get("generateName") for i in named):
            ordered = sorted(value["items"], key=lambda i: str(i["metadata"].get("creationTimestamp", "")))
            return {**value, "items": ordered}
    return value


def differs(normal: Normaliser, wanted: Any, actual: Any, *, managed: bool, trimmed: bool = False) -> str:
    """Where an answer differs from the recorded one; '' when it does not."""
    one = _sorted_items(_status_form(_drop(wanted, managed)))
    two = _without_bundle(one, _sorted_items(_status_form(_drop(actual, managed))))
    return _walk(normal, one, two, "", trimmed)


def _without_bundle(wanted: Any, actual: Any) -> Any:
    """Lists without the CA bundle that a controller adds to each namespace, where the recording has none."""
    name = "kube-root-ca.crt"
    if isinstance(actual, dict):
        for part in ("items", "rows"):
            given, found = (v.get(part) if isinstance(v, dict) else None for v in (wanted, actual))
            if isinstance(given, list) and isinstance(found, list) and name not in str(given):
                actual = {**actual, part: [x for x in found if name not in str(x)]}
    return actual


def _walk(normal: Normaliser, wanted: Any, actual: Any, where: str, trimmed: bool) -> str:
    if isinstance(wanted, dict) and isinstance(actual, dict):
        for key in wanted:
            plain = normal.fill(key) if isinstance(key, str) else key
            if plain not in actual:
                return f"{where}/{key} is missing ({str(wanted[key])[:120]})"
        filled = {normal.fill(k) for k in wanted}
        extra = [k for k in actual if k not in filled]
        if extra and not trimmed:
            return f"{where}/{extra[0]} is too much ({str(actual[extra[0]])[:120]})"
        for key, value in wanted.items():
            found = _walk(normal, value, actual[normal.fill(key)], f"{where}/{key}", trimmed)
            if found:
                return found
        return ""
    if isinstance(wanted, list) and isinstance(actual, list):
        if trimmed and len(actual) > len(wanted):
            actual = _matching(wanted, actual)
        if len(wanted) != len(actual):
            return (
                f"{where} has {len(actual)} items instead of {len(wanted)}: {str(actual)[:200]} | {str(wanted)[:200]}"
            )
        for i, (one, two) in enumerate(zip(wanted, actual, strict=True)):
            found = _walk(normal, one, two, f"{where}/{i}", trimmed)
            if found:
                return found
        return ""
    if isinstance(wanted, str):
        return (
            "" if normal.same_text(wanted, actual) else f"{where} is {str(actual)[:300]!r} instead of {wanted[:300]!r}"
        )
    if type(wanted) is not type(actual) and not (isinstance(wanted, (int, float)) and isinstance(actual, (int, float))):
        return f"{where} is {str(actual)[:200]!r} instead of {str(wanted)[:200]!r}"
    return "" if wanted == actual else f"{where} is {actual!r} instead of {wanted!r}"


def _matching(wanted: list[Any], actual: list[Any]) -> list[Any]:
    """Of a longer list, the items that a trimmed recording kept (by their names)."""
    names = [_label(w) for w in wanted]
    return [a for a in actual if _label(a) in names] or actual


def _label(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return str((value.get("metadata") or {}).get("name") or value.get("name") or "")
