"""What several wire formats or vendors share."""
