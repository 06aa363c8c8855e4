"""Records of finished calls, their subscribers, and costs. A call without subscribers needs no `EndedCall`."""

from ..lazy_modules import LazyImports as _LazyImports
from .costs import Bill as Bill
from .recorder import (
    Listener as Listener,
    Recorder as Recorder,
    Records as Records,
    Subscriber as Subscriber,
    Subscription as Subscription,
    default_recorder as default_recorder,
    Tracer as Tracer,
)

with _LazyImports(globals()):
    from .call_records import EndedCall as EndedCall
