"""Resource quantities (`500m`, `1Gi`, `1e3`): parsed to exact decimals and written in canonical form."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

_FORM = re.compile(r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
FORM_TEXT = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_BY_EXPONENT = {v: k for k, v in _DECIMAL.items()}


def _split(text: str) -> tuple[Decimal, str, str]:
    match = _FORM.match(text)
    if not match:
        raise ValueError(FORM_TEXT)
    number, suffix = match.groups()
    if number.count(".") > 1 or not number.strip("+-."):
        raise ValueError(FORM_TEXT)
    if suffix in _BINARY:
        return Decimal(number) * 1024 ** _BINARY[suffix], "binary", suffix
    if suffix in _DECIMAL:
        return Decimal(number).scaleb(_DECIMAL[suffix]), "decimal", suffix
    if suffix[:1] in ("e", "E") and suffix[1:].lstrip("+-").isdigit():
        return Decimal(number).scaleb(int(suffix[1:])), "exponent", suffix
    raise ValueError("unable to parse quantity's suffix")


@lru_cache(maxsize=4096)
def parse(text: str) -> Decimal:
    """The amount, rounded up to nano; ValueError with the server's words."""
    return _split(text)[0]


def _decimal_form(value: Decimal, exponent_style: bool) -> str:
    if value == 0:
        return "0"
    for exponent in (18, 15, 12, 9, 6, 3, 0, -3, -6, -9):
        scaled = value.scaleb(-exponent)
        if scaled == scaled.to_integral_value():
            number = str(int(scaled))
            if exponent_style:
                return number + (f"e{exponent}" if exponent else "")
            return number + _BY_EXPONENT[exponent]
    return str(int(value.scaleb(9).to_integral_value(ROUND_CEILING))) + "n"


def _binary_form(value: Decimal) -> str:
    if abs(value) < 1024:
        return _decimal_form(value, False)
    number = int(value) if value == value.to_integral_value() else None
    if number is None:
        return _decimal_form(value, False)
    power = 0
    while number % 1024 == 0 and power < 6:
        number //= 1024
        power += 1
    names = {v: k for k, v in _BINARY.items()}
    return str(number) + (names[power] if power else "")


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """The form in which the API server writes it back: largest unit with an integer in front, same family of units."""
    value, family, _ = _split(text)
    if family == "binary":
        return _binary_form(value)
    return _decimal_form(value, family == "exponent")


def whole(text: str) -> int:
    """The amount as an integer, rounded up."""
    return int(parse(text).to_integral_value(ROUND_CEILING))


def add(amounts: list[str]) -> str:
    """The sum, in the units of the first amount."""
    if not amounts:
        return "0"
    total = sum((parse(a) for a in amounts), Decimal(0))
    return _binary_form(total) if _split(amounts[0])[1] == "binary" else _decimal_form(total, False)
