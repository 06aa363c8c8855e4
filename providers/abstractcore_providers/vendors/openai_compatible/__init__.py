"""The vendors whose APIs are compatible with OpenAI's chat completions, a row each."""

from __future__ import annotations

from .embedders import EMBEDDERS
from .gateways import GATEWAYS
from .hosts import HOSTS
from .makers import MAKERS
from .servers import SERVERS

VENDORS = (*MAKERS, *GATEWAYS, *HOSTS, *SERVERS, *EMBEDDERS)
"""All of them."""

__all__ = ["VENDORS"]
