"""Scripted models: predefined replies, through the same pipeline as real ones, for tests and examples."""

from .canonical_json import CanonicalDecoder, CanonicalJson, CanonicalRenderer
from .provider import ScriptedProvider

__all__ = ["CanonicalDecoder", "CanonicalJson", "CanonicalRenderer", "ScriptedProvider"]
