"""Google's models through the Gemini API and Vertex AI, and cached content.

Requests, responses and errors on the wire (status 429, quotas, retry delays): `formats/gemini`,
`formats/gemini_interactions` and `common/google_errors.py`.
"""

from typing import TYPE_CHECKING, Any

from .interactions import GoogleInteractionsProvider
from .partners import VertexAnthropicProvider, VertexOpenAIProvider
from .provider import GoogleProvider, VertexProvider

if TYPE_CHECKING:
    from .cached_contents import CachedContents

__all__ = [
    "CachedContents",
    "GoogleInteractionsProvider",
    "GoogleProvider",
    "VertexAnthropicProvider",
    "VertexOpenAIProvider",
    "VertexProvider",
]


def __getattr__(name: str) -> Any:
    if name != "CachedContents":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .cached_contents import CachedContents

    return CachedContents
