"""The product's own database: tables, migrations, connections. SQLite by default, PostgreSQL by URL."""
