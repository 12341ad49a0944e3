"""What HTCondor's own programs in Python (`htcondor_cli`) use of the wheel beside its interface."""
