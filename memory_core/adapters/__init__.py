"""One folder a technology; each fulfils a port."""
