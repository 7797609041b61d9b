"""What people see of results: tables, charts, pages."""
