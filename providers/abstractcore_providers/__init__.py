"""Wire formats as pure transpilers, the vendors' providers, and the embedded model.

A plugin for a vendor that is compatible with OpenAI needs `Preset`, and `ModelFamily` for what its models can do.
"""

from .vendors.models.family import ModelFamily
from .vendors.presets import Preset

__all__ = ["ModelFamily", "Preset"]
