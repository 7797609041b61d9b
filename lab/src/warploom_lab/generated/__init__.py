"""What writes pages, tables and compiled files that are kept in the repository."""
