"""What commands of other packages use: options, errors as lines or as JSON, notes and tables."""

from .exit_codes import EPILOG
from .given_options import repeated_in_hints
from .parameters import Json, Quiet
from .reporting import json_line, reported
from .screen import note, show_table, write

__all__ = [
    "EPILOG",
    "Json",
    "Quiet",
    "json_line",
    "note",
    "repeated_in_hints",
    "reported",
    "show_table",
    "write",
]
