"""The manual as a site: what `mkdocs.yml` asks of this package while it builds."""
