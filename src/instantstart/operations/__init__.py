"""Durable operations: intent, plan, stages; engine, store, leases, retry, cancel, journal, routes."""
