output "azure_resource_group" {
  value = azurerm_resource_group.group.name
}

output "azure_location" {
  value = var.location
}

output "service_api_name" {
  value = azapi_resource.app.name
}

output "service_api_url" {
  value = "https://${azapi_resource.app.output.properties.defaultHostName}"
}

output "memory_cosmos_endpoint" {
  value = local.cosmos_endpoint
}

output "memory_queue_account_url" {
  value = azurerm_storage_account.data.primary_queue_endpoint
}

output "memory_archive_account_url" {
  value = azurerm_storage_account.data.primary_blob_endpoint
}
