"""Kettle: a high-throughput computing system that speaks HTCondor's languages and wire protocol."""

__version__ = "0.1.0"
