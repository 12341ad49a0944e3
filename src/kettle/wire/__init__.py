"""CEDAR and everything spoken over it, without sockets: bytes in, messages out."""
