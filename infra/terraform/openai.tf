# The models. Deployments are made one after the other, since an account refuses changes side by side.
resource "azurerm_cognitive_account" "openai" {
  count                         = local.has_openai ? 1 : 0
  name                          = local.names["openai"]
  location                      = var.location
  resource_group_name           = azurerm_resource_group.group.name
  tags                          = local.tags
  kind                          = "OpenAI"
  sku_name                      = "S0"
  custom_subdomain_name         = local.names["openai"] # signing in by Entra ID needs one
  local_auth_enabled            = false
  public_network_access_enabled = !var.vnet_enabled

  outbound_network_access_restricted = true # completions and embeddings fetch nothing
  fqdns                              = []

  network_acls {
    default_action = var.vnet_enabled ? "Deny" : "Allow"
  }
}

resource "azurerm_cognitive_deployment" "embedding" {
  count                  = local.has_openai ? 1 : 0
  name                   = var.embedding_model
  cognitive_account_id   = azurerm_cognitive_account.openai[0].id
  version_upgrade_option = "NoAutoUpgrade" # vectors of another version can't be compared with those that are stored

  model {
    format  = "OpenAI"
    name    = var.embedding_model
    version = var.embedding_model_version
  }

  sku {
    name     = var.model_sku
    capacity = var.embedding_capacity
  }
}

resource "azurerm_cognitive_deployment" "chat" {
  count                  = local.has_openai && var.chat_model != "none" ? 1 : 0
  name                   = var.chat_model
  cognitive_account_id   = azurerm_cognitive_account.openai[0].id
  version_upgrade_option = "NoAutoUpgrade"

  model {
    format  = "OpenAI"
    name    = var.chat_model
    version = var.chat_model_version
  }

  sku {
    name     = var.model_sku
    capacity = var.chat_capacity
  }

  depends_on = [azurerm_cognitive_deployment.embedding]
}

data "azurerm_cognitive_account" "existing" {
  count               = local.has_openai ? 0 : 1
  name                = element(local.existing_openai, length(local.existing_openai) - 1)
  resource_group_name = element(local.existing_openai, 4)
}
