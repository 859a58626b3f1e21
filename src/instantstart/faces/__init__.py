"""The three faces of the one service: REST, MCP and the browser. They decide nothing; slices do."""
