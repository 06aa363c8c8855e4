"""OpenTelemetry: spans and metrics of calls, made of their records. It comes with the extra `otel`.

    from abstractcore.otel import instrument

    with instrument():
        llm.generate("When does the meeting start?")

It chooses no exporter: the application's providers have theirs.
"""

try:
    import opentelemetry.sdk as _sdk
except ImportError as error:
    from ..errors import MissingExtraError
    from ..schema.base_error import install_hint

    raise MissingExtraError(
        "abstractcore.otel requires opentelemetry-sdk, which is not installed.",
        hint=install_hint("opentelemetry-api", "opentelemetry-sdk", extra="otel"),
    ) from error

from .instrumentation import Instrumentation, Names, instrument
from .names import CONVENTIONS

__all__ = ["CONVENTIONS", "Instrumentation", "Names", "instrument"]

del _sdk
