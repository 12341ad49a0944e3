"""The grammars: one module for each language that people write in, its rules and what starts."""
