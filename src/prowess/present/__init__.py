"""The fifth stage: what the model is shown of the skills, and within which budget.

`offer` makes items of the skills that are ready. `catalog` sorts them, opens a page in one of the
`formats`, lets one of the `strategies` share the room of a `LineBudget` among them, and writes the
text. `always` puts whole bodies beside the list.
"""
