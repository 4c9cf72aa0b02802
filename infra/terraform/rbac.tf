# Every role of policy.json, each on one resource, each with its reason.
locals {
  scopes = {
    hostStorage = local.host_id
    dataStorage = azurerm_storage_account.data.id
    workspace   = one(azurerm_log_analytics_workspace.workspace[*].id)
    insights    = azurerm_application_insights.insights.id
    keyVault    = one(azurerm_key_vault.vault[*].id)
    openai      = local.openai_id
  }
  principals = {
    app    = { id = azurerm_user_assigned_identity.app.principal_id, type = "ServicePrincipal" }
    person = { id = var.principal_id, type = var.principal_type }
  }
  assignments = {
    for one in local.policy.assignments : "${one.who}-${one.scope}-${one.role}" => one
    if(one.who == "app" || var.principal_id != "") && (one.scope != "keyVault" || local.decided.enableKeyVault) && (one.scope != "workspace" || var.existing_workspace == "")
  }
}

resource "azurerm_role_assignment" "roles" {
  for_each           = local.assignments
  scope              = local.scopes[each.value.scope]
  role_definition_id = "/subscriptions/${var.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/${local.policy.roles[each.value.role]}"
  principal_id       = local.principals[each.value.who].id
  principal_type     = local.principals[each.value.who].type
  description        = each.value.why
}
