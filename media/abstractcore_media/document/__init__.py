"""Documents: text out of PDF, and files that are text by themselves."""

from .pdf import PdfHandler
from .text import TextHandler

__all__ = ["PdfHandler", "TextHandler"]
