"""HTCondor's Python bindings by their names, on Kettle's own engine.

A module here has the public names of one of the wheel's modules, and its behaviour. They are
programs' doors: nothing else in the project imports them, and importing one loads nothing but what
its names are made of.
"""
