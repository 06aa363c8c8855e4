"""Wire formats as pure transpilers, vendors as rows, and the embedded model. A vendor's plugin needs `Preset` only."""

from .vendors.presets import Preset

__all__ = ["Preset"]
