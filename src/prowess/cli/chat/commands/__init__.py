"""The local commands of the chat, one per file; each is imported when it is called."""
