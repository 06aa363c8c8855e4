"""Records of finished calls, their subscribers, and costs."""

from .call_records import EndedCall
from .costs import Bill
from .recorder import Listener, Recorder, Subscriber, Subscription

__all__ = ["Bill", "EndedCall", "Listener", "Recorder", "Subscriber", "Subscription"]
