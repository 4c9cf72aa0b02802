"""The command line `memory-core`. For now it has one command, `mcp`: the Model Context Protocol over stdin and stdout."""
