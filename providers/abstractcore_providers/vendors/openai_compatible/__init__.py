"""The vendors whose APIs are compatible with OpenAI's chat completions, a row each."""

from __future__ import annotations

from .gateways import GATEWAYS
from .hosts import HOSTS
from .makers import MAKERS
from .servers import SERVERS

VENDORS = (*MAKERS, *GATEWAYS, *HOSTS, *SERVERS)
"""All of them."""

__all__ = ["VENDORS"]
