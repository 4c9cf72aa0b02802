# Two accounts: what the Functions host keeps for itself, and what the app keeps for its users; or one for both, of the same name. None has a key
# that works.
resource "azurerm_storage_account" "host" {
  count                            = local.decided.oneStorageAccount ? 0 : 1
  name                             = local.names["hostStorage"]
  location                         = var.location
  resource_group_name              = azurerm_resource_group.group.name
  tags                             = local.tags
  account_kind                     = "StorageV2"
  account_tier                     = "Standard"
  account_replication_type         = trimprefix(local.decided.storageSku, "Standard_")
  access_tier                      = "Hot"
  allow_nested_items_to_be_public  = false
  cross_tenant_replication_enabled = false
  shared_access_key_enabled        = false
  default_to_oauth_authentication  = true
  min_tls_version                  = "TLS1_2"
  https_traffic_only_enabled       = true
  public_network_access_enabled    = !local.decided.vnetEnabled || var.deploy_from_public_network

  network_rules {
    bypass         = ["None"]
    default_action = !local.decided.vnetEnabled || var.deploy_from_public_network ? "Allow" : "Deny"
  }

  blob_properties {
    delete_retention_policy {
      days = 7
    }
    container_delete_retention_policy {
      days = 7
    }
  }
}

resource "azurerm_storage_container" "package" {
  name                  = local.policy.packageContainer
  storage_account_id    = local.host_id
  container_access_type = "private"
}

resource "azurerm_storage_account" "data" {
  name                             = local.names["dataStorage"]
  location                         = var.location
  resource_group_name              = azurerm_resource_group.group.name
  tags                             = local.tags
  account_kind                     = "StorageV2"
  account_tier                     = "Standard"
  account_replication_type         = trimprefix(local.decided.storageSku, "Standard_")
  access_tier                      = "Hot"
  allow_nested_items_to_be_public  = false
  cross_tenant_replication_enabled = false
  shared_access_key_enabled        = false
  default_to_oauth_authentication  = true
  min_tls_version                  = "TLS1_2"
  https_traffic_only_enabled       = true
  public_network_access_enabled    = !local.decided.vnetEnabled

  network_rules {
    bypass         = ["None"]
    default_action = local.decided.vnetEnabled ? "Deny" : "Allow"
  }

  # Erasure says that deleted archives stay so long: docs/deploy.md.
  blob_properties {
    delete_retention_policy {
      days = 7
    }
    container_delete_retention_policy {
      days = 7
    }
  }
}

resource "azurerm_storage_container" "archive" {
  name                  = local.policy.archiveContainer
  storage_account_id    = azurerm_storage_account.data.id
  container_access_type = "private"
}

# Never the tier Archive: reading back from there takes hours, and a memory is asked for now.
resource "azurerm_storage_management_policy" "lifecycle" {
  storage_account_id = azurerm_storage_account.data.id

  rule {
    name    = "cold-archive"
    enabled = true
    filters {
      blob_types   = ["blockBlob"]
      prefix_match = ["${azurerm_storage_container.archive.name}/"]
    }
    actions {
      base_blob {
        tier_to_cool_after_days_since_modification_greater_than = local.policy.archiveLifecycle.toCoolAfterDays
        tier_to_cold_after_days_since_modification_greater_than = local.policy.archiveLifecycle.toColdAfterDays
      }
    }
  }
}

resource "azurerm_storage_queue" "queues" {
  for_each           = toset(local.policy.queues)
  name               = each.value
  storage_account_id = azurerm_storage_account.data.id
}
