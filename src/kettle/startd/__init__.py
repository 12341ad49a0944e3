"""The execution point: slots, claims, policy, and the starters that run jobs."""
