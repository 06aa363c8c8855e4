"""Removes credentials from errors, records, logs and recordings, in every encoding."""

from .credentials import credentials_in, credentials_of, is_sensitive, shown_url
from .logs import scrub_logs
from .secrets import Secrets
from .secrets import SCRUBBED

__all__ = ["SCRUBBED", "Secrets", "credentials_in", "credentials_of", "is_sensitive", "scrub_logs", "shown_url"]
