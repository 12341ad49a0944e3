"""Files: durable appends, records and logs, files as their owners, transfers' own disk."""
