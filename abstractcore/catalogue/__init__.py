"""Facts about models: files of rows are read, merged with the user's own, and looked up by name. Knows no vendor."""

from .catalogue import FileCatalogue
from .documents import Document, document, read_document
from .entries import ModelEntry
from .facts import overridden
from .provider_file import ProviderFile
from .provider_models import ProviderModels

__all__ = [
    "Document",
    "FileCatalogue",
    "ModelEntry",
    "ProviderFile",
    "ProviderModels",
    "document",
    "overridden",
    "read_document",
]
