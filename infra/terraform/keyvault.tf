# The three secrets that are not Azure's: hashes of API keys, what signs cursors, what signs webhooks. Read by role, kept for a week after deletion.
resource "azurerm_key_vault" "vault" {
  count                         = local.decided.enableKeyVault ? 1 : 0
  name                          = local.names["keyVault"]
  location                      = var.location
  resource_group_name           = azurerm_resource_group.group.name
  tags                          = local.tags
  tenant_id                     = data.azurerm_client_config.current.tenant_id
  sku_name                      = "standard"
  rbac_authorization_enabled    = true
  soft_delete_retention_days    = 7
  purge_protection_enabled      = var.key_vault_purge_protection
  public_network_access_enabled = !local.decided.vnetEnabled

  network_acls {
    bypass         = "AzureServices" # the deployment itself writes the secrets
    default_action = local.decided.vnetEnabled ? "Deny" : "Allow"
  }
}

locals {
  given = {
    apiKeys       = local.key_list
    cursorSecret  = var.cursor_secret
    webhookSecret = var.webhook_secret
  }
  # Without a version: the app reads the newest within a day, or at its next start.
  references = { for key, name in local.policy.secrets : key => "@Microsoft.KeyVault(SecretUri=${join("", azurerm_key_vault.vault[*].vault_uri)}secrets/${name})" }
}

# By the management plane, as Bicep does: whoever deploys needs no right to read secrets, and sensitive_body is not kept in the state. An action,
# since that plane can write secrets and not delete them: they go with the vault.
resource "azapi_resource_action" "secrets" {
  for_each    = { for key, name in local.policy.secrets : key => name if local.decided.enableKeyVault }
  type        = "Microsoft.KeyVault/vaults/secrets@2024-11-01"
  resource_id = "${azurerm_key_vault.vault[0].id}/secrets/${each.value}"
  method      = "PUT"
  body = {
    properties = {
      contentType = each.key == "apiKeys" ? "application/json" : "text/plain"
    }
  }
  sensitive_body = {
    properties = {
      value = local.given[each.key]
    }
  }
  sensitive_body_version = {
    "properties.value" = nonsensitive(sha256(local.given[each.key]))
  }
}
