"""The names of the sampling options."""

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
"""The fields of `Sampling` that some models refuse: all but the limit on the answer's length, in the order sent."""
