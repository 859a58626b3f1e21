"""`python -m instantstart.cli`."""

from instantstart.cli import main

main()
