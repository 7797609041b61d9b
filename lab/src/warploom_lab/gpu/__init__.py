"""What prepares, makes and records measurements on a GPU."""
