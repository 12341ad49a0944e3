"""What the service does outside of the pure rooms, one part a module; `service.py` joins them."""
