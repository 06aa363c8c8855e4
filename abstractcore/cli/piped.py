"""Text that is piped or redirected to stdin."""

from __future__ import annotations

import os
import stat
import sys

import abstractcore


def piped_text(hint: str) -> str | None:
    """Returns piped or redirected text. A terminal or /dev/null is not read.

    Raises `InvalidInputError` with `hint` for what is not UTF-8 text.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return None
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise abstractcore.InvalidInputError("stdin is not UTF-8 text.", hint=hint) from None
