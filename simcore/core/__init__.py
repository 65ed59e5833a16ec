"""Jitted building blocks that every ruleset uses: compilation flags, random words, dice, reductions."""
