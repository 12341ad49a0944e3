"""How the classic tools print ads: columns that users ask for, whole ads, times."""
