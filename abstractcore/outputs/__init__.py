"""`response_model`: its JSON Schema, the validation of answers, and their JSON.

pydantic is loaded at first use.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .output_types import OutputType as OutputType
from .response_models import ResponseModel as ResponseModel, output_type as output_type

with _LazyImports(globals()):
    from .documents import (
        canonical_json as canonical_json,
        digest as digest,
        to_json as to_json,
    )
