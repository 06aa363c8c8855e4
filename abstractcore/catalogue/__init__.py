"""Facts about models: files of rows are read, merged with the user's own, and looked up by name. Knows no vendor."""

from .catalogue import FileCatalogue
from .documents import Document, document, read_document
from .entries import ModelEntry
from .facts import overridden
from .price_rows import PriceHeader, PriceRow, read_price_rows
from .pricing import ModelPricing
from .provider_file import ProviderFile
from .provider_models import ProviderModels

__all__ = [
    "Document",
    "FileCatalogue",
    "ModelEntry",
    "ModelPricing",
    "PriceHeader",
    "PriceRow",
    "ProviderFile",
    "ProviderModels",
    "document",
    "overridden",
    "read_document",
    "read_price_rows",
]
