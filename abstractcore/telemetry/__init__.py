"""Records of finished calls, their subscribers, and costs."""

from .call_records import EndedCall
from .costs import CallCost, cost_of
from .recorder import Listener, Recorder, Subscriber, Subscription

__all__ = ["CallCost", "EndedCall", "Listener", "Recorder", "Subscriber", "Subscription", "cost_of"]
