"""`response_model`: its JSON Schema, the validation of answers, and their JSON.

pydantic is loaded at first use.
"""

from __future__ import annotations

from .documents import canonical_json, digest, to_json
from .output_type import OutputType, ResponseModel, no_output, output_type

__all__ = ["OutputType", "ResponseModel", "canonical_json", "digest", "no_output", "output_type", "to_json"]
