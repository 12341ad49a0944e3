"""Proofs of who one is: tokens and the pool password."""
