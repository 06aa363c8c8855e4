"""Code that several wire formats or vendors share."""
