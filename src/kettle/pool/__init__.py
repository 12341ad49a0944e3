"""Personal pools: a whole pool in one folder, for one user."""
