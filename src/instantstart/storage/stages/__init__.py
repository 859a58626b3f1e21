"""Stages of storage: the bucket with its lifecycle script, volume and claim, and the proof."""

from instantstart.storage.stages import bucket, claim, proof

__all__ = ["bucket", "claim", "proof"]
