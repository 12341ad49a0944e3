"""File formats: the queue log, history, the accounting log and the job event log."""
