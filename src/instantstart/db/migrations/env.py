"""Alembic's environment: runs on the connection that `db.database.migrate` hands over."""

from alembic import context

from instantstart.db.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
