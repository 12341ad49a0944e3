"""Bytes from nobody for everything that decodes: crashes, hangs and growth come out.

`decoders` is the table of what is tried, `inputs` makes the bytes, each from a seed and a number,
`run` tries them. `python -m kettle.testing.fuzz` runs any number; the suite runs a few seconds'
worth.
"""
