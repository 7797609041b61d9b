"""A search for designs that meet a goal."""
