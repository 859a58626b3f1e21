"""From requests to plans: what was read, what speaks against it, which stages, which objects, how long."""
