"""Connections of a daemon: sockets, streams of messages, commands in and out, brokers."""
