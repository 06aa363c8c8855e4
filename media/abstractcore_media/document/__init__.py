"""Documents: a module or folder for each format, all of which yield the same blocks; PDF; and text files."""

from .format_handler import DocumentFormat, FormatHandler
from .formats import FORMATS
from .pdf.handler import PdfHandler
from .text import TextHandler

__all__ = ["FORMATS", "DocumentFormat", "FormatHandler", "PdfHandler", "TextHandler"]
