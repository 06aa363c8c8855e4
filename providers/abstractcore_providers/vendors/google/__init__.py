"""Google's models, by the Gemini API and by Vertex AI, and the content that Google keeps for later calls.

Requests, responses and errors on the wire: `formats/gemini`.
"""

from .cached_contents import CachedContents
from .provider import GoogleProvider, VertexProvider

__all__ = ["CachedContents", "GoogleProvider", "VertexProvider"]
