"""Install skills: a source is parsed, fetched, planned and applied, and noted in the lock file.

`Installer` is what commands use. The way of a skill: text → `InstallSource` (`source`, and one
parser per further kind) → files in a staging folder (`fetch`, with a fetcher per kind) → `Wanted`,
with the folders it goes into (`targets`) → a plan that people see (`plan`, `contents`) → store,
lock file and folders, in that order (`apply`). A policy of the machine is asked before the plan is
shown, and again before anything is written.

Everything else begins at the lock file: `sync` restores what it says, `verify` compares, `update`
asks the sources again and `merge` combines what the user edited meanwhile; `edits` has the one rule
for what an edit is. A lock file may come with a clone, so what it names is checked like something
that a stranger has typed.
"""
