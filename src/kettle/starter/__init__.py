"""One starter runs one job: sandbox, transfer, launch, watching, and the exit pipeline."""
