# The truth, in an account of its own or in one that exists already. Account, database, container and roles are made one after the other, since
# Cosmos DB refuses changes side by side.
resource "azurerm_cosmosdb_account" "cosmos" {
  count                                 = local.has_cosmos ? 1 : 0
  name                                  = local.names["cosmos"]
  location                              = var.location
  resource_group_name                   = azurerm_resource_group.group.name
  tags                                  = local.tags
  kind                                  = "GlobalDocumentDB"
  offer_type                            = "Standard"
  local_authentication_enabled          = false
  access_key_metadata_writes_enabled    = false
  minimal_tls_version                   = "Tls12"
  public_network_access_enabled         = !local.decided.vnetEnabled
  network_acl_bypass_for_azure_services = false
  automatic_failover_enabled            = var.second_location != ""
  free_tier_enabled                     = var.cosmos_free_tier

  geo_location {
    location          = var.location
    failover_priority = 0
    zone_redundant    = var.zone_redundant
  }

  dynamic "geo_location" {
    for_each = var.second_location == "" ? [] : [var.second_location]
    content {
      location          = geo_location.value
      failover_priority = 1
      zone_redundant    = var.zone_redundant
    }
  }

  dynamic "capabilities" {
    for_each = concat(["EnableNoSQLVectorSearch", "EnableNoSQLFullTextSearch"], local.decided.cosmosMode == "serverless" ? ["EnableServerless"] : [])
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

data "azurerm_cosmosdb_account" "existing" {
  count               = local.has_cosmos ? 0 : 1
  name                = local.names["cosmos"]
  resource_group_name = local.cosmos_group
}

resource "azurerm_cosmosdb_sql_database" "database" {
  name                = local.containers.database
  resource_group_name = local.cosmos_group
  account_name        = local.names["cosmos"]
  depends_on          = [azurerm_cosmosdb_account.cosmos]
}

# azurerm knows neither vector nor full-text policies.
resource "azapi_resource" "containers" {
  for_each  = { for one in local.containers.containers : one.name => one }
  type      = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15"
  name      = each.key
  parent_id = azurerm_cosmosdb_sql_database.database.id
  locks     = [local.cosmos_id]

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
      options = local.decided.cosmosMode == "serverless" ? null : { autoscaleSettings = { maxThroughput = var.cosmos_max_throughput } }
    }
  }
}

resource "azurerm_cosmosdb_sql_role_assignment" "app" {
  resource_group_name = local.cosmos_group
  account_name        = local.names["cosmos"]
  principal_id        = azurerm_user_assigned_identity.app.principal_id
  role_definition_id  = "${local.cosmos_id}/sqlRoleDefinitions/${local.policy.cosmosRole.id}"
  scope               = "${local.cosmos_id}/dbs/${azurerm_cosmosdb_sql_database.database.name}"
  depends_on          = [azapi_resource.containers]
}

resource "azurerm_cosmosdb_sql_role_assignment" "person" {
  count               = var.principal_reads_memories && var.principal_id != "" ? 1 : 0
  resource_group_name = local.cosmos_group
  account_name        = local.names["cosmos"]
  principal_id        = var.principal_id
  role_definition_id  = "${local.cosmos_id}/sqlRoleDefinitions/${local.policy.cosmosRole.id}"
  scope               = "${local.cosmos_id}/dbs/${azurerm_cosmosdb_sql_database.database.name}"
  depends_on          = [azurerm_cosmosdb_sql_role_assignment.app]
}
