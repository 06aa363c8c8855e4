"""Credentials kept out of errors, records, logs and recordings, in whatever form they are quoted there."""

from .credentials import credentials_in, credentials_of, is_sensitive
from .logs import keep_out_of_logs
from .secrets import Secrets
from .texts import SCRUBBED

__all__ = ["SCRUBBED", "Secrets", "credentials_in", "credentials_of", "is_sensitive", "keep_out_of_logs"]
