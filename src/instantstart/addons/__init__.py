"""Add-ons and charts that a cluster depends on: what is there, whose it is, install, remove."""
