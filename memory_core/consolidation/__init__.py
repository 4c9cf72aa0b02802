"""Work on memories while no caller waits: merging, decay, archiving, scenes, patterns, profiles."""
