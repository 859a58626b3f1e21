"""The simulated AWS endpoints: one wire front, services of our own, moto for the rest."""
