# The models. Deployments are made one after the other, since an account refuses changes side by side.
resource "azurerm_cognitive_account" "openai" {
  count                         = local.has_openai ? 1 : 0
  name                          = local.names["openai"]
  location                      = var.location
  resource_group_name           = azurerm_resource_group.group.name
  tags                          = local.tags
  kind                          = "AIServices" # a Foundry account: what kind OpenAI has, and more models
  sku_name                      = "S0"
  custom_subdomain_name         = local.names["openai"] # signing in by Entra ID needs one
  local_auth_enabled            = false
  public_network_access_enabled = !local.decided.vnetEnabled

  outbound_network_access_restricted = true # completions and embeddings fetch nothing
  fqdns                              = []

  network_acls {
    default_action = local.decided.vnetEnabled ? "Deny" : "Allow"
  }
}

# Vectors of another version can't be compared with those that are stored, so that model never changes by itself. A chat model does, on the day
# on which it would stop working.
resource "azurerm_cognitive_deployment" "embedding" {
  count                  = local.has_openai ? 1 : 0
  name                   = local.embedding_deployment
  cognitive_account_id   = azurerm_cognitive_account.openai[0].id
  version_upgrade_option = local.models.embedding.upgrade

  model {
    format  = "OpenAI"
    name    = local.embedding_name
    version = local.embedding_version
  }

  sku {
    name     = var.model_sku
    capacity = var.embedding_capacity
  }
}

resource "azurerm_cognitive_deployment" "chat" {
  count                  = local.has_openai && local.has_chat ? 1 : 0
  name                   = local.chat_deployment
  cognitive_account_id   = azurerm_cognitive_account.openai[0].id
  version_upgrade_option = local.models.chat.upgrade

  model {
    format  = "OpenAI"
    name    = local.chat_name
    version = local.chat_version
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
