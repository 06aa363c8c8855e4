"""Shared by all handlers: media type detection, reading files, and the error for a missing library."""
