"""Runs Python code that models have written, in bubblewrap, or in a process with limits if it is trusted."""

from __future__ import annotations

from .program import SandboxError, Stopped
from .sandbox import CodeResult, Sandbox, UntrustedCodeError
from .tool import python_tool, run_code

__all__ = ["CodeResult", "Sandbox", "SandboxError", "Stopped", "UntrustedCodeError", "python_tool", "run_code"]
