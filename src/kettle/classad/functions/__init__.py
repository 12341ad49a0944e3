"""The built-in functions: one table a family, gathered in `library.py`."""
