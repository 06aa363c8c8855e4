"""`response_model`: its JSON Schema for the model, and its check of what came back. pydantic is loaded at first use."""

from __future__ import annotations

from .output_type import OutputType, ResponseModel, no_output

__all__ = ["OutputType", "ResponseModel", "no_output"]
