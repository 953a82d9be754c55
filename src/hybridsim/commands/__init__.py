"""The subcommands of `hybridsim`, one file each. Heavy libraries are imported when a command runs, so that help is quick."""
