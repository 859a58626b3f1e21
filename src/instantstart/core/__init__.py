"""The words everything else is written in: problems, plans, callers, names, clock, ids, redaction. No I/O."""
