"""Bringing jobs in and their output back."""
