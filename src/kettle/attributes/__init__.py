"""Names and numbers that every room agrees on: attributes of ads, codes, versions."""
