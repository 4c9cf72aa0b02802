"""What queues and blobs of an Azure storage account have in common: how to reach it, and what its failures mean."""
