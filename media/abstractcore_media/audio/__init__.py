"""Audio files: decoding, transcription, and the WAV header."""

from .handler import AudioHandler

__all__ = ["AudioHandler"]
