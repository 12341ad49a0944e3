"""What the configuration says, which version this is, what an expression means."""
