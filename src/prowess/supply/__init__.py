"""Sources of skills that talk to others: remote indexes, packages, MCP servers.

`sources` opens those that settings name: `remote_source` over `remote_sync`, `remote_fetch` and
`index_format`, and `mcp`. `bundled` and `bundled_sets` are skills that ship with a program.
`install` brings skills from elsewhere to stay, `adopt` takes over those that other installers
brought, `scan` judges them, `publish` shares them, `dependencies` installs the programs that they
need. Whatever comes from the network is untrusted: it is bounded while it is read, checked before
it is written, and approved before it runs.
"""
