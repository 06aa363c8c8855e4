"""Amazon Bedrock's Converse format, both sides."""

from .transpiler import BedrockConverse

__all__ = ["BedrockConverse"]
