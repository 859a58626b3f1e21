"""Capacity: which zones and instance types this account and region can satisfy, asked before anything is created."""
