# Memory Core on Azure, the same as ../main.bicep: same parameters, same names but for their end, same policy files. docs/deploy.md says how.
data "azurerm_client_config" "current" {}

resource "azurerm_resource_group" "group" {
  name     = local.names["resourceGroup"]
  location = var.location
  tags     = local.tags
}

# The app's only identity. Its roles: rbac.tf, cosmos.tf, redis.tf.
resource "azurerm_user_assigned_identity" "app" {
  name                = local.names["identity"]
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
}
