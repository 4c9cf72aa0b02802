"""From a query to an order of memories: candidates, relevance, scores, selection."""
