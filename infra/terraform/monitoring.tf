# Logs and traces. Application Insights takes them by Entra ID only.
resource "azurerm_log_analytics_workspace" "workspace" {
  count                        = var.existing_workspace == "" ? 1 : 0
  name                         = local.names["workspace"]
  location                     = var.location
  resource_group_name          = azurerm_resource_group.group.name
  tags                         = local.tags
  sku                          = "PerGB2018"
  retention_in_days            = var.log_retention_days
  daily_quota_gb               = local.decided.logDailyCapGb
  local_authentication_enabled = false
}

resource "azurerm_application_insights" "insights" {
  name                         = local.names["insights"]
  location                     = var.location
  resource_group_name          = azurerm_resource_group.group.name
  tags                         = local.tags
  application_type             = "web"
  workspace_id                 = local.workspace_id
  local_authentication_enabled = false
}
