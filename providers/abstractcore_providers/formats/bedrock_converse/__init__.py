"""Amazon Bedrock's Converse format, for clients and servers."""

from .dialect import ConverseDialect
from .media_blocks import ENCODABLE
from .transpiler import BedrockConverse

__all__ = ["ENCODABLE", "BedrockConverse", "ConverseDialect"]
