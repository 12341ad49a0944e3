"""What each hook is given and how its answer is read."""
