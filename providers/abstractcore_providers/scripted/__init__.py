"""Scripted models: predefined replies, through the same pipeline as real ones, for tests and examples."""

from .provider import ScriptedProvider

__all__ = ["ScriptedProvider"]
