"""Records of finished calls, their subscribers, and costs."""

from .call_records import EndedCall
from .costs import cost, usage_and_cost
from .recorder import Listener, Recorder, Subscriber, Subscription

__all__ = ["EndedCall", "Listener", "Recorder", "Subscriber", "Subscription", "cost", "usage_and_cost"]
