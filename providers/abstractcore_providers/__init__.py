"""Wire formats as pure transpilers, the vendors' providers, and the embedded model.

A plugin for a vendor that is compatible with OpenAI needs `Preset`.
"""

from .vendors.presets import Preset

__all__ = ["Preset"]
