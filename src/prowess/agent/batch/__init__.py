"""`batch`: one large change as many small ones, each by an agent in a worktree of its own."""
