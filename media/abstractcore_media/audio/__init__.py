"""Sound files: decoding, transcription, and the header of WAV."""

from .handler import AudioHandler

__all__ = ["AudioHandler"]
