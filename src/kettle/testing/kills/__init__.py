"""The kill campaign: a real pool under many jobs, whose processes are killed at random moments.

`jobs.py` is what runs and notes that it runs; `troubles.py` what is killed; `campaign.py` the story
from the first submission to the last look; `checks.py` what must hold then. `python -m
kettle.testing.kills` runs it. Its sister on the virtual clock is `testing/simulation`.
"""
