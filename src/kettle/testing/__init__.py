"""Shipped test doubles: virtual clock, network in memory, fake processes, pools."""
