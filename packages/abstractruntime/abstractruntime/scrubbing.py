"""Removes credentials from errors before they are recorded or logged: a ledger is kept, exported and shown.

Credentials are the values of environment variables whose names say so, such as `BANK_API_KEY` and `DB_PASSWORD`. Those
that an LLM, a server of tools or a remote agent was given are removed by the SDK before.
"""

from __future__ import annotations

import os
from typing import Final

from abstractcore.scrubbing import Secrets, is_sensitive, scrub_logs

_SHORTEST: Final = 8
"""Of shorter values some are words, such as those of switches."""
_secrets: Final = Secrets()
scrub_logs(_secrets)  # of tools that fail: they are the SDK's


def secrets() -> Secrets:
    """Returns the credentials of the environment, with those that it has now."""
    _secrets.add(value for name, value in os.environ.items() if len(value) >= _SHORTEST and is_sensitive(name))
    return _secrets
