"""Looking at jobs: the queue, the history, and jobs followed by their event logs."""
