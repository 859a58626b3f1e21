"""Faults of built-in objects, word for word as the real server finds them."""
