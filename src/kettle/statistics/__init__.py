"""Counting what daemons do: totals, recent sums, peaks and histograms, under declared names.

Pure: amounts and the clock in, attributes out. What is counted is each daemon's `statistics.py`;
what the process itself costs is read by `kettle.runtime.self_monitor`.
"""
