"""Work that outlives the terminal: durable jobs, their client and the worker that runs them.

A job is a workflow of DBOS in one database: a SQLite file of the user, or PostgreSQL for many
machines. Terminals only add jobs and read about them; `prowess worker` runs them.
"""
