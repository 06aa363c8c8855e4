"""Amazon Bedrock: its credentials, its signatures, and what its models take."""

from .provider import BedrockProvider

__all__ = ["BedrockProvider"]
