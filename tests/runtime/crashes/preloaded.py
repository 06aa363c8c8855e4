"""What the process has loaded of which those of workers are forked."""

from __future__ import annotations

import pg8000.dbapi

from tests.runtime.crashes import processes

__all__ = ["pg8000", "processes"]
