# What Bicep reads, read here too: names, settings, roles, queues, alerts, and what the container has to be like.
locals {
  policy     = jsondecode(file("${path.module}/../policy.json"))
  containers = jsondecode(file("${path.module}/../../memory_core/adapters/cosmos/policy.json"))
  models     = jsondecode(file("${path.module}/../../memory_core/adapters/openai/models.json"))
  suffix     = coalesce(var.name_suffix, substr(sha1("${var.subscription_id}/${var.environment_name}/${var.location}"), 0, 13))
  tags       = { "azd-env-name" = var.environment_name, application = "memory-core" }
  has_openai = var.existing_openai == ""
  key_list   = startswith(var.api_keys, "[") ? var.api_keys : base64decode(var.api_keys)

  embedding_name       = var.embedding_model == "" ? local.models.embedding.name : var.embedding_model
  embedding_version    = var.embedding_model_version != "" ? var.embedding_model_version : var.embedding_model == "" ? local.models.embedding.version : null
  embedding_deployment = var.embedding_deployment != "" ? var.embedding_deployment : local.embedding_name
  has_chat             = var.chat_model != "none"
  chat_name            = var.chat_model == "" ? local.models.chat.name : var.chat_model
  chat_version         = var.chat_model_version != "" ? var.chat_model_version : var.chat_model == "" ? local.models.chat.version : null
  chat_deployment      = var.chat_deployment != "" ? var.chat_deployment : local.chat_name

  existing_openai = split("/", var.existing_openai)
  openai_id       = local.has_openai ? one(azurerm_cognitive_account.openai[*].id) : one(data.azurerm_cognitive_account.existing[*].id)
  openai_endpoint = local.has_openai ? one(azurerm_cognitive_account.openai[*].endpoint) : one(data.azurerm_cognitive_account.existing[*].endpoint)

  absent    = concat(var.enable_redis ? [] : ["redis"], var.enable_key_vault ? [] : ["keyVault"], local.has_openai ? [] : ["openai"])
  zones     = { for one in local.policy.privateZones : one.zone => one if var.vnet_enabled && !contains(local.absent, one.of) }
  endpoints = { for one in local.policy.privateEndpoints : "${one.of}-${one.group}" => one if var.vnet_enabled && !contains(local.absent, one.of) }

  names = { for key, prefix in local.policy.names : key => key == "resourceGroup" ? "${prefix}${var.environment_name}" : "${prefix}${local.suffix}" }

  # What policy.json takes settings from, by the names in settingsFrom.
  sources = {
    hostStorageName          = azurerm_storage_account.host.name
    identityClientId         = azurerm_user_assigned_identity.app.client_id
    queueEndpoint            = azurerm_storage_account.data.primary_queue_endpoint
    blobEndpoint             = azurerm_storage_account.data.primary_blob_endpoint
    archiveContainer         = local.policy.archiveContainer
    insightsConnectionString = azurerm_application_insights.insights.connection_string
    telemetry                = var.telemetry
    telemetryContext         = var.telemetry == "off" ? "false" : "true"
    insightsAuthentication   = "ClientId=${azurerm_user_assigned_identity.app.client_id};Authorization=AAD"
    cosmosEndpoint           = azurerm_cosmosdb_account.cosmos.endpoint
    cosmosDatabase           = azurerm_cosmosdb_sql_database.database.name
    sliceBudget              = local.policy.sliceBudgets[tostring(var.instance_memory)]
    shortTerm                = var.enable_redis ? "redis" : "none"
    redisUrl                 = var.enable_redis ? "rediss://${one(azurerm_managed_redis.redis[*].hostname)}:${local.policy.redisPort}/0" : ""
    openaiEndpoint           = local.openai_endpoint
    embeddingModel           = local.embedding_name
    embeddingDeployment      = local.embedding_deployment
    embeddingDimensions      = tostring(var.embedding_dimensions)
    llmProvider              = local.has_chat ? "azure" : "offline"
    chatModel                = local.has_chat ? local.chat_name : ""
    chatDeployment           = local.has_chat ? local.chat_deployment : ""
    apiKeys                  = var.enable_key_vault ? local.references["apiKeys"] : local.key_list
    cursorSecret             = var.enable_key_vault ? local.references["cursorSecret"] : var.cursor_secret
    webhookSecret            = var.enable_key_vault ? local.references["webhookSecret"] : var.webhook_secret
  }
  settings = concat(
    [for name, value in local.policy.settings : { name = name, value = value }],
    [for name, source in local.policy.settingsFrom : { name = name, value = local.sources[source] }],
  )
}
