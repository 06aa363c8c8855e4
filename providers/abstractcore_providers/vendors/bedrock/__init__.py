"""Amazon Bedrock: its addresses, its credentials and the signatures of its requests.

Requests, responses and errors on the wire: `formats/bedrock_converse`. Its models: `catalogue/rows/bedrock.jsonl`.
"""

from .provider import BedrockProvider

__all__ = ["BedrockProvider"]
