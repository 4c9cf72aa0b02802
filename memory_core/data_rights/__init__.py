"""What users may ask for their data: forget, erase, export and import."""
