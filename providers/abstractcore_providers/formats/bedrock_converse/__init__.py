"""Amazon Bedrock's Converse format, for clients and servers."""

from .media_blocks import ENCODABLE
from .transpiler import BedrockConverse
from .vocabulary import ConverseDialect

__all__ = ["ENCODABLE", "BedrockConverse", "ConverseDialect"]
