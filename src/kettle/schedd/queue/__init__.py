"""The job queue: its ads and transactions, and what clients read and change in it."""
