"""The pool's directory: ads of all daemons, queries over them, and the connection broker."""
