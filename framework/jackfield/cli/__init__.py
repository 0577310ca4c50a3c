"""The command line: one module a command. A command module has ``add_arguments(parser)`` and ``run(args, plugins) -> int``."""
