"""The daemon that starts the others, watches them and stops them."""
