"""Cases, and what records an H200's answers to them."""
