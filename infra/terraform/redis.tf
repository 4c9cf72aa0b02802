# The short term: a cache that may be lost at any moment. TLS and Entra ID only; nothing is written to a disk.
resource "azurerm_managed_redis" "redis" {
  count                     = var.enable_redis ? 1 : 0
  name                      = local.names["redis"]
  location                  = var.location
  resource_group_name       = azurerm_resource_group.group.name
  tags                      = local.tags
  sku_name                  = var.redis_sku
  high_availability_enabled = var.redis_high_availability
  public_network_access     = local.decided.vnetEnabled ? "Disabled" : "Enabled"

  default_database {
    access_keys_authentication_enabled = false
    client_protocol                    = "Encrypted"
    clustering_policy                  = "EnterpriseCluster" # one address for the whole cluster, which the app's client speaks
    eviction_policy                    = "AllKeysLRU"
  }
}

# The policy is always `default` here, which is policy.json's.
resource "azurerm_managed_redis_access_policy_assignment" "app" {
  count            = var.enable_redis ? 1 : 0
  managed_redis_id = azurerm_managed_redis.redis[0].id
  object_id        = azurerm_user_assigned_identity.app.principal_id
}
