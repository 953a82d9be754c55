"""The papers' experiments, one module each. They use only the public API; each makes its table and its figure."""
