"""One class per message: which fields it has, in which order, within which bounds."""
