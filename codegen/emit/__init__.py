"""From plans to files: contexts for the templates, the renderer, the writer."""
