"""Images: measured, made to fit the limits of models, and described in words."""

from .handler import ImageHandler

__all__ = ["ImageHandler"]
