"""Errors name what Python programs write; the command's own options are named in their place here."""

from __future__ import annotations

import re

_OPTIONS = {
    "base_url": ("--base-url", "URL"),
    "context_size": ("--context-size", "TOKENS"),
    "max_output_tokens": ("--max-tokens", "TOKENS"),
    "model": ("--model", "NAME"),
    "temperature": ("--temperature", "NUMBER"),
    "timeout": ("--timeout", "SECONDS"),
}
"""What Python calls an option, what the command calls it, and what it takes."""

_PHRASES = (
    (", or pass api_key=...", "."),
    ("api_key=..., or ", ""),
    ("Pass api_key=...", "Put the key into the provider's environment variable."),
    ("None is no limit.", "It is 600 unless given."),
)
"""What a Python program may do and the command may not: keys are read from the environment only."""

_CALL = re.compile(r"create_llm\('[^']*', (model=[^)]*)\)")
_VALUE = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|[A-Z]+|\.\.\.)")
_NAME = re.compile(rf"(?<![\w-])({'|'.join(name for name in _OPTIONS if '_' in name)}|temperature(?=:)|timeout(?=:))")


def in_options(text: str) -> str:
    """`text`, with `timeout=SECONDS` as `--timeout SECONDS` and the like."""
    for spoken, written in _PHRASES:
        text = text.replace(spoken, written)
    stop = "." if text.endswith("=...") else ""  # the dots of a value that ends a sentence end it too
    text = _VALUE.sub(_option_with_value, _CALL.sub(r"\1", text))
    return _NAME.sub(lambda match: _OPTIONS[match[1]][0], text) + stop


def _option_with_value(match: re.Match[str]) -> str:
    option, takes = _OPTIONS[match[1]]
    value = match[2].strip("'").replace("...", takes)
    return f"{option} {value}"
