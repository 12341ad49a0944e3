"""The daemon that listens for all others on one port."""
