"""Running a pool: its daemons, their logs, the ads they show."""
