"""The life of one job across daemons: where its moments are found, and how they are drawn."""
