"""What the process has loaded of which those of workers are forked."""

from __future__ import annotations

import pg8000.dbapi

from abstractcore import create_llm
from tests.runtime.crashes import processes

__all__ = ["pg8000", "processes"]

create_llm("scripted", replies=["Hi."]).generate("Hi.")  # which loads what a call needs
