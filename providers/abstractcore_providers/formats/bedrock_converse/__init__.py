"""Amazon Bedrock's Converse format, for clients and servers."""

from .model_fields import Maker, maker_of
from .transpiler import BedrockConverse

__all__ = ["BedrockConverse", "Maker", "maker_of"]
