"""The access point: the job queue, its protocol, its claims and its shadows."""
