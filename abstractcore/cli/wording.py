"""Rewrites hints for Python programs into options of the command line."""

from __future__ import annotations

import re

import abstractcore

_OPTIONS = {
    "base_url": ("--base-url", "URL"),
    "context_size": ("--context-size", "TOKENS"),
    "max_output_tokens": ("--max-tokens", "TOKENS"),
    "model": ("--model", "NAME"),
    "temperature": ("--temperature", "NUMBER"),
    "timeout": ("--timeout", "SECONDS"),
}
"""Each option in Python, the option of the command, and its argument."""

_PHRASES = (
    (", or pass api_key=...", "."),
    ("api_key=..., or ", ""),
    ("Pass api_key=... or headers=...", "Set the provider's environment variable."),
    ("Pass api_key=...", "Set the provider's environment variable."),
    ("Use tts_stream, and write its parts to a file.", "Write it to stdout: --output - > FILE."),
    ("None means no limit.", "The default is 600."),
)
"""Texts to replace: the command reads keys from the environment only."""

_BACKEND_KEY = re.compile(r",? or (?:pass )?(?:voice|vision|music)_api_key=\.\.\.(?: (?:to|in) create_llm)?")
_BACKEND = re.compile(r"\b(?:voice|audio|vision|music)_backend(?:=('[^']*'|\.\.\.)|(?=:))")
_CALL = re.compile(r"create_llm\('[^']*', (model=[^()]*)\)")
_PROVIDER = re.compile(r"""create_llm\((["'])([^"',()]+)\1\)""")
_VALUE = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|[A-Z]+|\.\.\.)")
_NAME = re.compile(rf"(?<![\w-])({'|'.join(name for name in _OPTIONS if '_' in name)}|temperature(?=:)|timeout(?=:))")


def rewritten(error: abstractcore.AbstractCoreError, text: str) -> str:
    """Returns the message or the hint of an error with options of the command; unchanged for an error in a file, whose
    fields have the names of options.
    """
    in_file = isinstance(error, abstractcore.ConfigurationError) and error.file is not None
    return text if in_file else in_options(text)


def in_options(text: str) -> str:
    """Returns `text` with options of the command, as `--timeout SECONDS` for `timeout=SECONDS`."""
    for replaced, written in _PHRASES:
        text = text.replace(replaced, written)
    text = _BACKEND.sub(_backend, _BACKEND_KEY.sub("", text))
    stop = "." if text.endswith("=...") else ""  # "..." as the value at the end of a sentence also ends it
    text = _PROVIDER.sub(r"--provider \2", _CALL.sub(r"\1", text))
    text = _VALUE.sub(_option_with_value, text)
    return _NAME.sub(lambda match: _OPTIONS[match[1]][0], text) + stop


def _backend(match: re.Match[str]) -> str:
    if match[1] is None:
        return "--backend"
    return f"--backend {'NAME' if match[1] == '...' else match[1][1:-1]}"


def _option_with_value(match: re.Match[str]) -> str:
    option, takes = _OPTIONS[match[1]]
    value = match[2].strip("'").replace("...", takes)
    return f"{option} {value}"
