# The truth. Account, database, containers and roles are made one after the other, since Cosmos DB refuses changes side by side.
resource "azurerm_cosmosdb_account" "cosmos" {
  name                                  = local.names["cosmos"]
  location                              = var.location
  resource_group_name                   = azurerm_resource_group.group.name
  tags                                  = local.tags
  kind                                  = "GlobalDocumentDB"
  offer_type                            = "Standard"
  local_authentication_enabled          = false
  access_key_metadata_writes_enabled    = false
  minimal_tls_version                   = "Tls12"
  public_network_access_enabled         = !var.vnet_enabled
  network_acl_bypass_for_azure_services = false

  geo_location {
    location          = var.location
    failover_priority = 0
    zone_redundant    = false
  }

  dynamic "capabilities" {
    for_each = concat(["EnableNoSQLVectorSearch", "EnableNoSQLFullTextSearch"], var.cosmos_mode == "serverless" ? ["EnableServerless"] : [])
    content {
      name = capabilities.value
    }
  }

  consistency_policy {
    consistency_level       = var.cosmos_consistency
    max_staleness_prefix    = var.cosmos_consistency == "Strong" ? null : 100000
    max_interval_in_seconds = var.cosmos_consistency == "Strong" ? null : 300
  }

  backup {
    type = "Continuous"
    tier = var.cosmos_backup
  }
}

resource "azurerm_cosmosdb_sql_database" "database" {
  name                = local.containers.database
  resource_group_name = azurerm_resource_group.group.name
  account_name        = azurerm_cosmosdb_account.cosmos.name
}

# azurerm knows neither vector nor full-text policies.
resource "azapi_resource" "containers" {
  for_each  = { for one in local.containers.containers : one.name => one }
  type      = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15"
  name      = each.key
  parent_id = azurerm_cosmosdb_sql_database.database.id
  locks     = [azurerm_cosmosdb_account.cosmos.id]

  ignore_null_property = true
  body = {
    properties = {
      resource = {
        id           = each.key
        partitionKey = each.value.partitionKey
        defaultTtl   = each.value.defaultTtl
        indexingPolicy = {
          indexingMode     = each.value.indexingPolicy.indexingMode
          automatic        = each.value.indexingPolicy.automatic
          includedPaths    = each.value.indexingPolicy.includedPaths
          excludedPaths    = each.value.indexingPolicy.excludedPaths
          compositeIndexes = each.value.indexingPolicy.compositeIndexes
          fullTextIndexes  = each.value.indexingPolicy.fullTextIndexes
          vectorIndexes    = [for index in each.value.indexingPolicy.vectorIndexes : merge(index, { type = var.vector_index_type })]
        }
        vectorEmbeddingPolicy = {
          vectorEmbeddings = [for path in each.value.vectorEmbeddingPolicy.vectorEmbeddings : merge(path, { dimensions = var.embedding_dimensions })]
        }
        fullTextPolicy = each.value.fullTextPolicy
      }
      options = var.cosmos_mode == "serverless" ? null : { autoscaleSettings = { maxThroughput = var.cosmos_max_throughput } }
    }
  }
}

# Without vectors and texts: read by id, so that the least throughput will do. `tenants` is for what belongs to an app and to no user; the app
# keeps nothing there yet.
resource "azapi_resource" "plain_containers" {
  for_each  = { for one in local.containers.plainContainers : one.name => one }
  type      = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15"
  name      = each.key
  parent_id = azurerm_cosmosdb_sql_database.database.id
  locks     = [azurerm_cosmosdb_account.cosmos.id]

  ignore_null_property = true
  body = {
    properties = {
      resource = {
        id             = each.key
        partitionKey   = each.value.partitionKey
        defaultTtl     = each.value.defaultTtl
        indexingPolicy = each.value.indexingPolicy
      }
      options = var.cosmos_mode == "serverless" ? null : { autoscaleSettings = { maxThroughput = 1000 } }
    }
  }
  depends_on = [azapi_resource.containers]
}

resource "azurerm_cosmosdb_sql_role_assignment" "app" {
  resource_group_name = azurerm_resource_group.group.name
  account_name        = azurerm_cosmosdb_account.cosmos.name
  principal_id        = azurerm_user_assigned_identity.app.principal_id
  role_definition_id  = "${azurerm_cosmosdb_account.cosmos.id}/sqlRoleDefinitions/${local.policy.cosmosRole.id}"
  scope               = "${azurerm_cosmosdb_account.cosmos.id}/dbs/${azurerm_cosmosdb_sql_database.database.name}"
  depends_on          = [azapi_resource.plain_containers]
}

resource "azurerm_cosmosdb_sql_role_assignment" "person" {
  count               = var.principal_reads_memories && var.principal_id != "" ? 1 : 0
  resource_group_name = azurerm_resource_group.group.name
  account_name        = azurerm_cosmosdb_account.cosmos.name
  principal_id        = var.principal_id
  role_definition_id  = "${azurerm_cosmosdb_account.cosmos.id}/sqlRoleDefinitions/${local.policy.cosmosRole.id}"
  scope               = "${azurerm_cosmosdb_account.cosmos.id}/dbs/${azurerm_cosmosdb_sql_database.database.name}"
  depends_on          = [azurerm_cosmosdb_sql_role_assignment.app]
}
