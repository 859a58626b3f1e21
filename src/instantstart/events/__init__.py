"""Typed events: appended by whoever changes state, in the same transaction; followed by the browser stream."""
