"""A whole pool in one process, whose every trouble follows from one seed.

`run.simulate` is where to begin; `faults` says what may go wrong, `checks` what must hold anyway.
"""
