"""Instance groups: what each has and is to have, and the request that says the same again."""
