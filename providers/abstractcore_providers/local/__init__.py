"""Models that run on this machine, each in a child process."""

from .provider import DEFAULT_MODEL, LocalProvider

__all__ = ["DEFAULT_MODEL", "LocalProvider"]
