"""The shadow host: every running job of one user, each a coroutine, watched over from here."""
