"""What the verb ``sweep`` does: plan the matchups, resolve them part by part, store, tabulate.

``plan`` turns a sweep file into numbered matchups and a fixed list of parts, ``executor`` resolves a part,
``store`` keeps parts in files that are named by their content, ``table`` adds them up to the tables that are
read later, ``progress`` tells how far it is, and ``session`` puts these together.
"""
