"""A starter runs the jobs of one claim, one at a time: sandbox, transfer, launch, watching, and the exit pipeline."""
