# What Bicep reads, read here too: names, settings, roles, queues, alerts, and what the container has to be like.
locals {
  policy     = jsondecode(file("${path.module}/../policy.json"))
  containers = jsondecode(file("${path.module}/../../memory_core/adapters/cosmos/policy.json"))
  preset     = jsondecode(file("${path.module}/../profiles.json"))[var.profile]
  models     = jsondecode(file("${path.module}/../../memory_core/adapters/openai/models.json"))
  suffix     = coalesce(var.name_suffix, substr(sha1("${var.subscription_id}/${var.environment_name}/${var.location}"), 0, 13))
  tags       = { "azd-env-name" = var.environment_name, application = "memory-core" }
  has_openai = var.existing_openai == ""
  has_cosmos = var.existing_cosmos == ""
  key_list   = startswith(var.api_keys, "[") ? var.api_keys : base64decode(var.api_keys)

  with_network = var.vnet_enabled == "" ? local.preset.vnetEnabled : tobool(var.vnet_enabled)
  decided = {
    cosmosMode        = var.cosmos_mode == "" ? local.preset.cosmosMode : var.cosmos_mode
    storageSku        = var.storage_sku == "" ? local.preset.storageSku : var.storage_sku
    oneStorageAccount = !local.with_network && (var.one_storage_account == "" ? local.preset.oneStorageAccount : tobool(var.one_storage_account))
    enableKeyVault    = var.enable_key_vault == "" ? local.preset.enableKeyVault : tobool(var.enable_key_vault)
    vnetEnabled       = local.with_network
    alwaysReady       = var.always_ready < 0 ? local.preset.alwaysReady : var.always_ready
    maximumInstances  = var.maximum_instances == 0 ? local.preset.maximumInstances : var.maximum_instances
    holdUsers         = var.hold_users == "" ? local.preset.holdUsers : tobool(var.hold_users)
    dailyTokens       = var.daily_tokens < 0 ? local.preset.dailyTokens : var.daily_tokens
    logDailyCapGb     = var.log_daily_cap_gb == 0 ? local.preset.logDailyCapGb : var.log_daily_cap_gb
  }

  embedding_name       = var.embedding_model == "" ? local.models.embedding.name : var.embedding_model
  embedding_version    = var.embedding_model_version != "" ? var.embedding_model_version : var.embedding_model == "" ? local.models.embedding.version : null
  embedding_deployment = var.embedding_deployment != "" ? var.embedding_deployment : local.embedding_name
  has_chat             = var.chat_model != "none"
  chat_name            = var.chat_model == "" ? local.models.chat.name : var.chat_model
  chat_version         = var.chat_model_version != "" ? var.chat_model_version : var.chat_model == "" ? local.models.chat.version : null
  chat_deployment      = var.chat_deployment != "" ? var.chat_deployment : local.chat_name

  existing_openai = split("/", var.existing_openai)
  openai_id       = local.has_openai ? one(azurerm_cognitive_account.openai[*].id) : one(data.azurerm_cognitive_account.existing[*].id)
  # A Foundry account says another address of itself, which has no private name of OpenAI's.
  openai_name     = local.has_openai ? one(azurerm_cognitive_account.openai[*].custom_subdomain_name) : one(data.azurerm_cognitive_account.existing[*].custom_subdomain_name)
  openai_endpoint = "https://${local.openai_name}.openai.azure.com/"

  existing_cosmos = split("/", var.existing_cosmos)
  cosmos_group    = local.has_cosmos ? azurerm_resource_group.group.name : element(local.existing_cosmos, 4)
  cosmos_id       = local.has_cosmos ? one(azurerm_cosmosdb_account.cosmos[*].id) : one(data.azurerm_cosmosdb_account.existing[*].id)
  cosmos_endpoint = local.has_cosmos ? one(azurerm_cosmosdb_account.cosmos[*].endpoint) : one(data.azurerm_cosmosdb_account.existing[*].endpoint)

  host_id      = local.decided.oneStorageAccount ? azurerm_storage_account.data.id : one(azurerm_storage_account.host[*].id)
  host_blobs   = local.decided.oneStorageAccount ? azurerm_storage_account.data.primary_blob_endpoint : one(azurerm_storage_account.host[*].primary_blob_endpoint)
  workspace_id = var.existing_workspace == "" ? one(azurerm_log_analytics_workspace.workspace[*].id) : var.existing_workspace

  network_id      = var.existing_endpoint_subnet == "" ? one(azurerm_virtual_network.network[*].id) : element(split("/subnets/", var.existing_endpoint_subnet), 0)
  app_subnet      = var.existing_app_subnet == "" ? one(azurerm_subnet.app[*].id) : var.existing_app_subnet
  endpoint_subnet = var.existing_endpoint_subnet == "" ? one(azurerm_subnet.endpoints[*].id) : var.existing_endpoint_subnet
  own_network     = local.decided.vnetEnabled && var.existing_endpoint_subnet == ""
  zones_in        = var.existing_dns_zones == "" ? azurerm_resource_group.group.id : var.existing_dns_zones

  absent = concat(
    var.enable_redis ? [] : ["redis"],
    local.decided.enableKeyVault ? [] : ["keyVault"],
    local.has_openai ? [] : ["openai"],
    local.has_cosmos ? [] : ["cosmos"],
  )
  zones     = { for one in local.policy.privateZones : one.zone => one if local.decided.vnetEnabled && var.existing_dns_zones == "" && !contains(local.absent, one.of) }
  endpoints = { for one in local.policy.privateEndpoints : "${one.of}-${one.group}" => one if local.decided.vnetEnabled && !contains(local.absent, one.of) }

  own_names = { for key, prefix in local.policy.names : key => key == "resourceGroup" ? "${prefix}${var.environment_name}" : "${prefix}${local.suffix}" }
  names = merge(
    local.own_names,
    local.has_cosmos ? {} : { cosmos = element(local.existing_cosmos, length(local.existing_cosmos) - 1) },
    local.decided.oneStorageAccount ? { hostStorage = local.own_names["dataStorage"] } : {},
  )

  # What policy.json takes settings from, by the names in settingsFrom.
  sources = {
    hostStorageName          = local.names["hostStorage"]
    identityClientId         = azurerm_user_assigned_identity.app.client_id
    queueEndpoint            = azurerm_storage_account.data.primary_queue_endpoint
    blobEndpoint             = azurerm_storage_account.data.primary_blob_endpoint
    archiveContainer         = local.policy.archiveContainer
    insightsConnectionString = azurerm_application_insights.insights.connection_string
    telemetry                = var.telemetry
    telemetryContext         = var.telemetry == "off" ? "false" : "true"
    insightsAuthentication   = "ClientId=${azurerm_user_assigned_identity.app.client_id};Authorization=AAD"
    cosmosEndpoint           = local.cosmos_endpoint
    cosmosDatabase           = azurerm_cosmosdb_sql_database.database.name
    sliceBudget              = local.decided.holdUsers ? local.policy.sliceBudgets[tostring(var.instance_memory)] : "0"
    dailyTokens              = local.decided.dailyTokens == 0 ? "" : tostring(local.decided.dailyTokens)
    shortTerm                = var.enable_redis ? "redis" : "none"
    redisUrl                 = var.enable_redis ? "rediss://${one(azurerm_managed_redis.redis[*].hostname)}:${local.policy.redisPort}/0" : ""
    openaiEndpoint           = local.openai_endpoint
    embeddingModel           = local.embedding_name
    embeddingDeployment      = local.embedding_deployment
    embeddingDimensions      = tostring(var.embedding_dimensions)
    llmProvider              = local.has_chat ? "azure" : "offline"
    chatModel                = local.has_chat ? local.chat_name : ""
    chatDeployment           = local.has_chat ? local.chat_deployment : ""
    entraTenantId            = var.entra_tenant_id
    entraAudience            = var.entra_audience
    entraApp                 = var.entra_app
    entraUser                = var.entra_user
    entraRights              = var.entra_rights
    entraAuthority           = var.entra_authority
    trustPrincipalHeader     = var.trust_principal_header
    apiKeys                  = local.decided.enableKeyVault ? local.references["apiKeys"] : local.key_list
    cursorSecret             = local.decided.enableKeyVault ? local.references["cursorSecret"] : var.cursor_secret
    webhookSecret            = local.decided.enableKeyVault ? local.references["webhookSecret"] : var.webhook_secret
  }
  settings = concat(
    [for name, value in local.policy.settings : { name = name, value = value }],
    [for name, source in local.policy.settingsFrom : { name = name, value = local.sources[source] }],
  )
}
