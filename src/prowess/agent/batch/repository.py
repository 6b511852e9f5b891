"""git for a batch: worktrees, commits and merges that can be done again without harm.

git runs here outside the sandbox, in folders that a model has written to. So it is always told
where the repository is: a `.git` that was put there, with programs in its settings, has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping

from prowess.errors import UsageError
from prowess.machine.git import GitFailed, UserGit, pick_last_line, run_for_user
from prowess.model.facts import Facts
from prowess.state.worktree_folders import remove_file, remove_folder, worktree_folder

# In the message of each commit, so that a job that runs again finds what it did before.
_TRAILER = "Prowess-Job"


class Repository:
    """The repository of a project, by the folder that its user works in."""

    def __init__(self, path: str, facts: Facts) -> None:
        self.path = path
        self.facts = facts
        self._git = UserGit(("-C", path), cwd=path, facts=facts)

    def find_root(self) -> str:
        """The top folder of the checkout. Raises `UsageError` where there is no repository."""
        try:
            return self._git.run("rev-parse", "--show-toplevel")
        except GitFailed:
            raise UsageError("A batch needs a git repository; this folder is not in one.") from None

    def check_clean(self) -> None:
        """Raise `UsageError` for a checkout with changes: agents would begin without them."""
        changes = self._git.run("status", "--porcelain").splitlines()
        if changes:
            first = changes[0][3:]
            raise UsageError(
                f"The checkout has uncommitted changes ({first}); commit or stash them."
            )

    def check_identity(self) -> None:
        """Raise `UsageError` where git does not know who commits, before agents do their work."""
        if self._git.attempt("var", "GIT_COMMITTER_IDENT").code != 0:
            raise UsageError("git does not know who you are; set user.name and user.email.")

    def find_head(self) -> tuple[str, str]:
        """The commit that is checked out, and its branch, "" for none."""
        try:
            commit = self._git.run("rev-parse", "--verify", "HEAD^{commit}")
        except GitFailed:
            raise UsageError("The repository has no commits yet; make one first.") from None
        return commit, self._git.run("branch", "--show-current")

    # Worktrees

    def open_worktree(self, name: str, branch: str, base: str) -> Worktree:
        """The worktree of that name, made on a new branch from `base` unless it exists."""
        worktree = Worktree(self, name, worktree_folder(self.facts, name), branch)
        if worktree.exists():
            worktree.unlock()
        else:
            self.remove_worktree(name)
            start = branch if self.has_branch(branch) else base
            self._git.run("worktree", "add", "--force", "-B", branch, worktree.path, start)
        return worktree

    def remove_worktree(self, name: str) -> None:
        """Remove a worktree and what git knows of it; its branch stays."""
        remove_folder(worktree_folder(self.facts, name))
        self._git.run("worktree", "prune")

    def has_branch(self, branch: str) -> bool:
        """Whether a branch exists."""
        return (
            self._git.attempt("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}").code == 0
        )

    def drop_branch(self, branch: str) -> None:
        """Delete a branch, if it exists and is checked out nowhere."""
        self._git.attempt("branch", "-D", branch)

    def find_commit(self, branch: str, job: str, base: str) -> str | None:
        """The commit that a job made on its branch; None if it made none."""
        if not self.has_branch(branch):
            return None
        found = self._git.run(
            "log", "-1", "--format=%H", f"--grep=^{_TRAILER}: {job}$", f"{base}..{branch}"
        )
        return found or None

    # Merging

    def merge_branches(
        self, name: str, branch: str, base: str, parts: Mapping[str, str]
    ) -> dict[str, str]:
        """Merge branches in order into a new one from `base`: for each what came of it.

        It begins anew each time, so a merge that was cut off leaves nothing behind. The user's own
        checkout is not touched.
        """
        self.remove_worktree(name)
        path = worktree_folder(self.facts, name)
        self._git.run("worktree", "add", "--force", "-B", branch, path, base)
        worktree = Worktree(self, name, path, branch)
        results = {one: worktree.merge(one, message) for one, message in parts.items()}
        self.remove_worktree(name)
        return results

    def has_remote(self) -> bool:
        """Whether there is somewhere to push to."""
        return "origin" in self._git.run("remote").split()

    def push(self, branch: str) -> None:
        """Push a branch to `origin`."""
        self._git.run("push", "--set-upstream", "origin", branch)

    def open_pull_request(self, branch: str, base: str, title: str, body: str) -> str:
        """Open a pull request with `gh`, unless the branch has one; its address."""
        found = self._gh("pr", "list", "--head", branch, "--json", "url", "--jq", ".[0].url")
        if found:
            return found
        arguments = ["--head", branch, "--title", title, "--body", body]
        if base:
            arguments += ["--base", base]
        return self._gh("pr", "create", *arguments).splitlines()[-1]

    def find_git_folder(self) -> str:
        """The folder with git's own files, shared by all worktrees."""
        return self._git.run("rev-parse", "--path-format=absolute", "--git-common-dir")

    def _gh(self, *arguments: str) -> str:
        finished = run_for_user(("gh", *arguments), cwd=self.path, facts=self.facts)
        if finished.code != 0:
            raise GitFailed("run", f"gh {arguments[0]}", pick_last_line(finished))
        return finished.output.strip()


class Worktree:
    """A folder with a branch of its own. git is told where both are, whatever is in the folder."""

    def __init__(self, repository: Repository, name: str, path: str, branch: str) -> None:
        self.path = path
        self.branch = branch
        self._git_dir = f"{repository.find_git_folder()}/worktrees/{name}"
        where = (f"--git-dir={self._git_dir}", f"--work-tree={path}")
        self._git = UserGit(where, cwd=repository.path, facts=repository.facts)

    def exists(self) -> bool:
        """Whether it is there and on its branch."""
        head = self._git.attempt("symbolic-ref", "--quiet", "HEAD")
        return head.code == 0 and head.output.strip() == f"refs/heads/{self.branch}"

    def unlock(self) -> None:
        """Remove the lock that a git which was killed has left. Nobody else uses this worktree."""
        remove_file(f"{self._git_dir}/index.lock")

    def stage(self) -> bool:
        """Take everything that was changed into the next commit; whether that is anything."""
        self._git.run("add", "--all")
        # A repository inside the worktree would be a link to commits that nobody else has.
        added = self._git.run("diff", "--cached", "--raw", "--diff-filter=A")
        if any(line.split()[1:2] == ["160000"] for line in added.splitlines()):
            raise UsageError("There is a git repository inside the worktree; remove it.")
        return self._git.attempt("diff", "--cached", "--quiet").code != 0

    def restore(self) -> None:
        """Undo what happened after the last `stage`: what a check has written, or a cut off agent.

        Before the first one everything goes back to the commit that the worktree began with.
        """
        self._git.run("clean", "-ffdq")
        self._git.run("checkout", "--quiet", "--", ".")

    def commit(self, message: str, job: str) -> str:
        """Commit what was staged, with the job's name in the message; the commit."""
        self._git.run("commit", "--quiet", "--no-verify", "-m", f"{message}\n\n{_TRAILER}: {job}")
        return self._git.run("rev-parse", "HEAD")

    def merge(self, branch: str, message: str) -> str:
        """Merge a branch where that needs no hand: `merged`, or why not."""
        merged = self._git.attempt("merge", "--no-ff", "--no-verify", "-m", message, branch)
        if merged.code == 0:
            return "merged"
        conflicts = self._git.attempt("diff", "--name-only", "--diff-filter=U").output.split()
        self._git.attempt("merge", "--abort")
        return f"left on its branch: conflicts in {', '.join(conflicts) or 'git merge'}"
