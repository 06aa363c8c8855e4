"""The names of the sampling options, and how they are written with a table."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import CallWarning, Sampling

from .field_table import FieldTable
from .format_warnings import unsupported
from .json_reading import Object

SAMPLING_OPTIONS = (
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "top_logprobs",
)
"""The fields of `Sampling` that some models reject: all except `max_output_tokens`, in the order sent."""


def write_sampling(
    table: FieldTable[Sampling],
    sampling: Sampling,
    warnings: list[CallWarning],
    *,
    highest_temperature: float | None = None,
) -> Object:
    """Returns the fields of a request, with a warning for unsupported options and for a temperature too high."""
    temperature = sampling.temperature
    if temperature is not None and highest_temperature is not None and temperature > highest_temperature:
        message, sent = f"the highest temperature is {highest_temperature:g}", highest_temperature
        warnings.append(CallWarning("temperature_changed", "sampling.temperature", message, temperature, sent))
        sampling = replace(sampling, temperature=sent)
    warnings += [unsupported(f"sampling.{name}", value, name) for name, value in table.unsupported(sampling)]
    return table.write(sampling)
