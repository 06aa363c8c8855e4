"""What is known of calls that have ended: records, their subscribers, and costs."""
