"""The tools of the agent: each call is planned, judged by the rules, and only then carried out."""
