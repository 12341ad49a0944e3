"""The submit language: from a submit description to a cluster ad and its jobs' differences."""
