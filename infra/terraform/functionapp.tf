# The app on Flex Consumption: one identity for the package, the host, the triggers and every store.
resource "azurerm_service_plan" "plan" {
  name                = local.names["plan"]
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  os_type             = "Linux"
  sku_name            = "FC1"

  zone_balancing_enabled = var.zone_redundant_app
}

# azurerm's own resource can't say which identity reads the vault.
resource "azapi_resource" "app" {
  type      = "Microsoft.Web/sites@2024-04-01"
  name      = local.names["app"]
  location  = var.location
  parent_id = azurerm_resource_group.group.id
  tags      = merge(local.tags, { "azd-service-name" = "api" })

  identity {
    type         = "UserAssigned"
    identity_ids = [azurerm_user_assigned_identity.app.id]
  }

  ignore_null_property = true
  body = {
    kind = "functionapp,linux"
    properties = {
      serverFarmId              = azurerm_service_plan.plan.id
      httpsOnly                 = true
      keyVaultReferenceIdentity = azurerm_user_assigned_identity.app.id
      publicNetworkAccess       = "Enabled" # the API is what callers reach; the app's own gate asks for a key
      virtualNetworkSubnetId    = local.decided.vnetEnabled ? local.app_subnet : null
      functionAppConfig = {
        deployment = {
          storage = {
            type  = "blobContainer"
            value = "${local.host_blobs}${azurerm_storage_container.package.name}"
            authentication = {
              type                           = "UserAssignedIdentity"
              userAssignedIdentityResourceId = azurerm_user_assigned_identity.app.id
            }
          }
        }
        runtime = {
          name    = "python"
          version = var.python_version
        }
        scaleAndConcurrency = {
          instanceMemoryMB     = var.instance_memory
          maximumInstanceCount = local.decided.maximumInstances
          alwaysReady          = local.decided.alwaysReady > 0 ? [{ name = "http", instanceCount = local.decided.alwaysReady }] : []
          triggers = {
            http = {
              perInstanceConcurrency = var.http_concurrency
            }
          }
        }
      }
      siteConfig = {
        minTlsVersion = "1.2"
        appSettings   = local.settings
      }
    }
  }

  response_export_values = ["properties.defaultHostName"]
  depends_on             = [azurerm_role_assignment.roles, azurerm_private_endpoint.endpoints, azapi_resource_action.secrets]
}

# Azure makes both with the app, so they are changed here and not made: azapi_resource refuses what is there already.
resource "azapi_update_resource" "no_ftp" {
  type      = "Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01"
  name      = "ftp"
  parent_id = azapi_resource.app.id
  body = {
    properties = {
      allow = false
    }
  }
}

resource "azapi_update_resource" "no_passwords" {
  type      = "Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01"
  name      = "scm"
  parent_id = azapi_resource.app.id
  body = {
    properties = {
      allow = false
    }
  }
  depends_on = [azapi_update_resource.no_ftp]
}
