"""Acting on one's jobs: their fate, their attributes, their files, waiting for them."""
