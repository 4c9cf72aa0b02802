"""Put the product together: adapters and rules from settings, phases from adapters."""
