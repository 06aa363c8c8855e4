"""Video files: frames and transcripts."""

from .handler import VideoHandler

__all__ = ["VideoHandler"]
