"""Model weights on this machine: a catalogue, and a store that downloads and verifies them."""

from .catalogue import CATALOGUE, CatalogueModel, ModelFile
from .progress import Progress
from .store import FileModelStore

__all__ = ["CATALOGUE", "CatalogueModel", "FileModelStore", "ModelFile", "Progress"]
