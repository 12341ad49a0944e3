"""File transfer as a machine: what travels, under which names, and the dialog that carries it."""
