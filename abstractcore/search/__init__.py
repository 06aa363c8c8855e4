"""Search over files: documents of any kind in one SQLite file, found by meaning and by words, with their places."""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .adding import IndexReport as IndexReport
    from .arguments import SearchMode as SearchMode
    from .documents import IndexedDocument as IndexedDocument, VectorStore as VectorStore
    from .hits import Hit as Hit
    from .index import Index as Index
