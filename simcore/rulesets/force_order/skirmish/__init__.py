"""Skirmishes: whole games on a small board of land and sea, played by policies."""
