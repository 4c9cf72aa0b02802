# What each service tells the workspace. Deletions and refusals, not every read: a log line a request would cost more than the request.
# `detailed_diagnostics` adds request units by partition key, which holds the ids of users and outlives an erasure, and a line for each call of a model.
locals {
  told = {
    blobs    = { id = "${azurerm_storage_account.data.id}/blobServices/default", logs = ["StorageDelete"], metrics = "Transaction", there = true }
    cosmos   = { id = one(azurerm_cosmosdb_account.cosmos[*].id), logs = concat(["ControlPlaneRequests"], var.detailed_diagnostics ? ["PartitionKeyRUConsumption"] : []), metrics = "Requests", there = local.has_cosmos }
    app      = { id = azapi_resource.app.id, logs = [], metrics = "AllMetrics", there = true }
    openai   = { id = local.openai_id, logs = concat(["Audit"], var.detailed_diagnostics ? ["RequestResponse"] : []), metrics = "AllMetrics", there = local.has_openai }
    keyVault = { id = one(azurerm_key_vault.vault[*].id), logs = ["AuditEvent"], metrics = "AllMetrics", there = local.decided.enableKeyVault }
    redis    = { id = one(azurerm_managed_redis.redis[*].id), logs = [], metrics = "AllMetrics", there = var.enable_redis }
  }
}

resource "azurerm_monitor_diagnostic_setting" "told" {
  for_each                       = { for name, one in local.told : name => one if one.there }
  name                           = "workspace"
  target_resource_id             = each.value.id
  log_analytics_workspace_id     = local.workspace_id
  log_analytics_destination_type = each.key == "cosmos" ? "Dedicated" : null

  dynamic "enabled_log" {
    for_each = each.value.logs
    content {
      category = enabled_log.value
    }
  }

  enabled_metric {
    category = each.value.metrics
  }
}
