"""The same change for a terminal: curl, MCP, aws and kubectl. Texts only; the product itself never runs them."""
