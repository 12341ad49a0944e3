"""Looking at a pool: machines, daemons, users, and what one may do there."""
