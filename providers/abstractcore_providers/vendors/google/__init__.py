"""Google's models through the Gemini API and Vertex AI, and cached content.

Requests, responses and errors on the wire (status 429, quotas, retry delays): `formats/gemini`. Its models:
`vendors/models/gemini.py`.
"""

from .cached_contents import CachedContents
from .provider import GoogleProvider, VertexProvider

__all__ = ["CachedContents", "GoogleProvider", "VertexProvider"]
