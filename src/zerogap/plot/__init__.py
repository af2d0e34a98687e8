"""Pictures, as SVG without dependencies."""
