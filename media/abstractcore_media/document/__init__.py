"""Documents: text extraction from PDF, and text files."""

from .pdf import PdfHandler
from .text import TextHandler

__all__ = ["PdfHandler", "TextHandler"]
