"""Matching idle jobs with free slots, and the books of who has used how much."""
