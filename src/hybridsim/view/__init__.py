"""Pictures and tables for people. Nothing here is imported by `import hybridsim`."""
