"""Formulas in LaTeX as words, as far as they are simple."""

from __future__ import annotations

import re

from .tables import table

_COMMANDS = table("formulas")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_NAMED = re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname|boldsymbol|vec|hat|bar)\s*\{([^{}]*)\}")
_POWER = re.compile(r"\^(?:\{([^{}]*)\}|(\S))")
_INDEX = re.compile(r"_(?:\{([^{}]*)\}|(\S))")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LEFT = re.compile(r"\\.|[{}$&~]")
_SIGNS = {
    "=": "equals",
    "+": "plus",
    "<": "is less than",
    ">": "is greater than",
    "-": "minus",
    "/": "over",
    "*": "times",
}
_SIGN = re.compile(r"[=+<>*/-]")
_POWERS = {"2": "squared", "3": "cubed", "\\circ": "degrees"}


def formula_words(formula: str) -> str:
    """Returns a formula as words; a command without a name of its own is read as it is written."""
    text = _NAMED.sub(r" \1 ", formula)
    for _ in range(3):  # fractions within fractions
        text = _FRACTION.sub(r" \1 over \2 ", _ROOT.sub(r" the square root of \1 ", text))
    text = _POWER.sub(lambda found: _power(found[1] or found[2] or ""), text)
    text = _INDEX.sub(r" \1\2 ", text)
    text = _COMMAND.sub(lambda found: f" {_COMMANDS.get(found[1], found[1])} ", text)
    text = _SIGN.sub(lambda sign: f" {_SIGNS[sign[0]]} ", _LEFT.sub(" ", text))
    return " ".join(text.split())


def _power(exponent: str) -> str:
    return f" {_POWERS[exponent]} " if exponent in _POWERS else f" to the power of {exponent} "
