"""Benchmarks: scripts that print a table and write JSON next to it."""
