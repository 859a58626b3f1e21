"""Side-by-side and scaling benchmarks, run on demand; CI asserts their counts and growth, never milliseconds."""
