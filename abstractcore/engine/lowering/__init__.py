"""Every choice that depends on the model, made before a call is encoded. Pure."""

from .lowering import lower

__all__ = ["lower"]
