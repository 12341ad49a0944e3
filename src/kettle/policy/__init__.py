"""Job and slot policy as functions of ads: what is to happen to a job, and how that is said."""
