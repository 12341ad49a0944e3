"""The submit commands, one table for each topic; `all_commands()` in `registry.py` joins them."""
