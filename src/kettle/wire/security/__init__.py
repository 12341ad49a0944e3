"""Who is speaking, proven how, and what they may do: negotiation, methods, sessions, levels."""
