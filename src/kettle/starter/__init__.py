"""A starter serves one claim, job by job: sandbox, transfer, launch, watching, exit pipeline."""
