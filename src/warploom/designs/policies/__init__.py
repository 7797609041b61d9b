"""The policies that belong to no paper, one folder for each of the six choices."""
