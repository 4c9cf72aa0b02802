// Memory Core on Azure: a resource group and everything in it, without a key. `azd up` deploys it; docs/deploy.md says how and what it costs.
// Names, app settings, roles, queues, alerts: policy.json. What a profile means: profiles.json. What the container has to be like: the app's own
// policy.json. All are read by Terraform too, so that neither can say something else.
targetScope = 'subscription'

@minLength(1)
@maxLength(40)
@description('Name of this environment; it is part of the resource group\'s name and, hashed, of all others.')
param environmentName string

@minLength(1)
@description('Region of everything but an OpenAI account that exists already.')
@metadata({ azd: { type: 'location' } })
param location string

@description('End of all names. Give one to take over what another deployment has made.')
param nameSuffix string = uniqueString(subscription().id, environmentName, location)

@allowed(['small', 'standard', 'private'])
@description('What the parameters that leave it to the profile are: profiles.json has the table.')
param profile string = 'small'

@description('Object id of a person or a pipeline that may look at queues, archive, models and logs; none when empty.')
param principalId string = ''

@allowed(['User', 'ServicePrincipal', 'Group'])
@description('What that principal is.')
param principalType string = 'User'

@description('Whether that principal may read and write memories too. They are users\' data: off.')
param principalReadsMemories bool = false

@allowed(['', 'serverless', 'autoscale'])
@description('How Cosmos DB is paid for; empty: the profile\'s. Serverless reserves no throughput, and stays in one region.')
param cosmosMode string = ''

@minValue(1000)
@description('Most request units a second under autoscale; a tenth of it is paid for when idle.')
param cosmosMaxThroughput int = 4000

@description('Whether the account is the subscription\'s free one: its first 1,000 request units a second and 25 GB cost nothing. Autoscale only.')
param cosmosFreeTier bool = false

@description('Another region that Cosmos DB keeps a copy in and fails over to; empty: none. Autoscale only.')
param secondLocation string = ''

@description('Whether Cosmos DB keeps its copies in several buildings of the region.')
param zoneRedundant bool = false

@description('Whether the app does. Azure then keeps two instances of each function group ready, and charges for them.')
param zoneRedundantApp bool = false

@allowed(['Strong', 'BoundedStaleness'])
@description('Both hold what was acknowledged. Strong is for one region.')
param cosmosConsistency string = 'Strong'

@allowed(['', 'Standard_LRS', 'Standard_ZRS', 'Standard_GZRS'])
@description('Copies that storage keeps: in one building, in three, or in another region too; empty: the profile\'s. Not every region has three.')
param storageSku string = ''

@allowed(['', 'true', 'false'])
@description('Whether one storage account holds the host\'s own and the users\' data; empty: the profile\'s. With a virtual network there are two.')
param oneStorageAccount string = ''

@allowed(['Continuous7Days', 'Continuous30Days'])
@description('How far back the account can be restored to any second.')
param cosmosBackup string = 'Continuous7Days'

@allowed(['quantizedFlat', 'diskANN'])
@description('Index of the vectors. It can\'t be changed later without another container.')
param vectorIndexType string = 'quantizedFlat'

@minValue(1)
@maxValue(4096)
@description('Length of a vector. It can\'t be changed later without another container.')
param embeddingDimensions int = 512

@description('Whether to have Azure Managed Redis: the short term beside the truth, and the one resource that costs when idle.')
param enableRedis bool = false

@description('Size of Redis.')
param redisSku string = 'Balanced_B0'

@description('Whether Redis has a replica. Without one it is down while it is patched; the app goes on without it.')
param redisHighAvailability bool = false

@allowed(['', 'true', 'false'])
@description('Whether the app\'s three secrets stand in a Key Vault instead of its settings; empty: the profile\'s.')
param enableKeyVault string = ''

@description('Whether nobody can delete that vault for good before its 7 days are over. It can\'t be taken back, and holds the vault\'s name for as long.')
param keyVaultPurgeProtection bool = false

@allowed(['', 'true', 'false'])
@description('Whether the app is in a virtual network and all behind it is reached by private endpoints only; empty: the profile\'s.')
param vnetEnabled string = ''

@description('With a virtual network: whether the account that holds the app\'s package, and nothing of users, stays open to deployments from outside it.')
param deployFromPublicNetwork bool = true

@description('With a virtual network: whether the app calls the internet by an address of its own, which a receiver of webhooks can let in. It costs when idle.')
param natGateway bool = false

@description('Resource id of an OpenAI or Foundry account that exists already; empty: one is made.')
param existingOpenAI string = ''

@description('Resource id of a Cosmos DB account that exists already, in which a database is made; empty: an account is made.')
param existingCosmos string = ''

@description('Resource id of a Log Analytics workspace that exists already; empty: one is made.')
param existingWorkspace string = ''

@description('With a virtual network: resource id of a subnet that exists already, delegated to Microsoft.App/environments; empty: one is made.')
param existingAppSubnet string = ''

@description('With a virtual network: resource id of a subnet for private endpoints that exists already; empty: one is made.')
param existingEndpointSubnet string = ''

@description('With a virtual network: resource id of the resource group that has the private DNS zones already; empty: they are made.')
param existingDnsZones string = ''

@description('Name of the embedding model; empty: the one that memory_core/adapters/openai/models.json names.')
param embeddingModel string = ''

@description('Version of the embedding model; empty: the one in that file, of another model the one that Azure takes by default.')
param embeddingModelVersion string = ''

@description('Name of the embedding model\'s deployment; empty: the model\'s.')
param embeddingDeployment string = ''

@description('Thousands of tokens a minute for the embedding model.')
param embeddingCapacity int = 50

@description('Name of the chat model; empty: the one that memory_core/adapters/openai/models.json names; none: conversations are formed by rules.')
param chatModel string = ''

@description('Version of the chat model; empty: the one in that file, of another model the one that Azure takes by default.')
param chatModelVersion string = ''

@description('Name of the chat model\'s deployment; empty: the model\'s.')
param chatDeployment string = ''

@description('Thousands of tokens a minute for the chat model.')
param chatCapacity int = 50

@description('Where the models run: GlobalStandard anywhere, DataZoneStandard in the data zone, Standard in the region.')
@allowed(['GlobalStandard', 'DataZoneStandard', 'Standard'])
param modelSku string = 'GlobalStandard'

@minValue(-1)
@description('Instances that always wait for requests; -1: the profile\'s. 1 in production spares callers the cold start.')
param alwaysReady int = -1

@minValue(0)
@maxValue(1000)
@description('Most instances of each function group: HTTP together, each queue and the timer by itself; 0: the profile\'s.')
param maximumInstances int = 0

@allowed(['', 'true', 'false'])
@description('Whether an instance holds users in memory, which pays where an instance waits for requests; empty: the profile\'s.')
param holdUsers string = ''

@minValue(-1)
@description('Tokens of the chat model that an app may spend in a day; 0: no cap; -1: the profile\'s.')
param dailyTokens int = -1

@allowed([512, 2048, 4096])
@description('Memory of an instance, in MB.')
param instanceMemory int = 2048

@minValue(1)
@maxValue(1000)
@description('Requests that one instance serves at once.')
param httpConcurrency int = 16

@allowed(['3.13', '3.12', '3.11'])
@description('Version of Python.')
param pythonVersion string = '3.13'

@minValue(30)
@description('Days that logs are kept.')
param logRetentionDays int = 30

@minValue(-1)
@description('Most gigabytes of logs a day; -1: no limit; 0: the profile\'s.')
param logDailyCapGb int = 0

@description('Where alerts are sent; empty: there are none.')
param alertEmail string = ''

@description('Whether logs have request units by partition key, which is a user, and each call of a model. They cost, and outlive an erasure.')
param detailedDiagnostics bool = false

@allowed(['off', 'azure', 'otlp'])
@description('Where the app sends meters and spans of every function group: Application Insights, or the receiver that the app setting OTEL_EXPORTER_OTLP_ENDPOINT names.')
param telemetry string = 'off'

@description('Most that a month should cost, in the subscription\'s currency; 0: no budget. It warns and stops nothing.')
param monthlyBudget int = 0

@description('First day of the month in which the budget begins, which Azure never lets be changed; empty: this month.')
param budgetStart string = ''

@description('Id of the Entra ID tenant whose access tokens the app takes beside API keys; empty: none.')
param entraTenantId string = ''

@description('Client id or api:// URI of the registration that such tokens are meant for; required with a tenant.')
param entraAudience string = ''

@description('App that callers with tokens belong to: its name, or claim:NAME; required with a tenant.')
param entraApp string = ''

@description('Claim that is the user of a person\'s token; empty: claim:oid.')
param entraUser string = ''

@description('Rights that roles and scopes give; empty: Memory.Read=read,Memory.Write=write,Memory.Admin=admin.')
param entraRights string = ''

@description('Where tokens are issued; empty: https://login.microsoftonline.com. National clouds have others.')
param entraAuthority string = ''

@allowed(['off', 'on'])
@description('Whether the app believes X-MS-CLIENT-PRINCIPAL. It does not start with on unless App Service authentication is switched on, which is not done here.')
param trustPrincipalHeader string = 'off'

@secure()
@minLength(16)
@description('JSON list of API keys, as MEMORY_API_KEYS takes it (their SHA-256 only), or the same in base64: azd can not carry quotes.')
param apiKeys string

@secure()
@minLength(16)
@description('Signs cursors. The same in every deployment, or lists that are being read end in the middle.')
param cursorSecret string

@secure()
@minLength(16)
@description('Signs webhooks. Receivers know it too.')
param webhookSecret string

var policy = loadJsonContent('policy.json')
var models = loadJsonContent('../memory_core/adapters/openai/models.json')
var embedding = {
  name: empty(embeddingModel) ? models.embedding.name : embeddingModel
  version: !empty(embeddingModelVersion) ? embeddingModelVersion : empty(embeddingModel) ? models.embedding.version : ''
  deployment: !empty(embeddingDeployment) ? embeddingDeployment : empty(embeddingModel) ? models.embedding.name : embeddingModel
}
var chat = {
  name: empty(chatModel) ? models.chat.name : chatModel
  version: !empty(chatModelVersion) ? chatModelVersion : empty(chatModel) ? models.chat.version : ''
  deployment: !empty(chatDeployment) ? chatDeployment : empty(chatModel) ? models.chat.name : chatModel
}
var profiles = loadJsonContent('profiles.json')
var preset = profiles[profile]
var withNetwork = empty(vnetEnabled) ? preset.vnetEnabled : vnetEnabled == 'true'
var decided = {
  cosmosMode: empty(cosmosMode) ? preset.cosmosMode : cosmosMode
  storageSku: empty(storageSku) ? preset.storageSku : storageSku
  oneStorageAccount: !withNetwork && (empty(oneStorageAccount) ? preset.oneStorageAccount : oneStorageAccount == 'true')
  enableKeyVault: empty(enableKeyVault) ? preset.enableKeyVault : enableKeyVault == 'true'
  vnetEnabled: withNetwork
  alwaysReady: alwaysReady < 0 ? preset.alwaysReady : alwaysReady
  maximumInstances: maximumInstances == 0 ? preset.maximumInstances : maximumInstances
  holdUsers: empty(holdUsers) ? preset.holdUsers : holdUsers == 'true'
  dailyTokens: dailyTokens < 0 ? preset.dailyTokens : dailyTokens
  logDailyCapGb: logDailyCapGb == 0 ? preset.logDailyCapGb : logDailyCapGb
}
var tags = { 'azd-env-name': environmentName, application: 'memory-core' }
var hasOpenAI = empty(existingOpenAI)
var hasCosmos = empty(existingCosmos)
var keyList = startsWith(apiKeys, '[') ? apiKeys : base64ToString(apiKeys)
var names = {
  resourceGroup: '${policy.names.resourceGroup}${environmentName}'
  identity: '${policy.names.identity}${nameSuffix}'
  workspace: '${policy.names.workspace}${nameSuffix}'
  insights: '${policy.names.insights}${nameSuffix}'
  hostStorage: '${decided.oneStorageAccount ? policy.names.dataStorage : policy.names.hostStorage}${nameSuffix}'
  dataStorage: '${policy.names.dataStorage}${nameSuffix}'
  cosmos: hasCosmos ? '${policy.names.cosmos}${nameSuffix}' : last(split(existingCosmos, '/'))
  redis: '${policy.names.redis}${nameSuffix}'
  openai: hasOpenAI ? '${policy.names.openai}${nameSuffix}' : last(split(existingOpenAI, '/'))
  keyVault: '${policy.names.keyVault}${nameSuffix}'
  plan: '${policy.names.plan}${nameSuffix}'
  app: '${policy.names.app}${nameSuffix}'
  network: '${policy.names.network}${nameSuffix}'
  actionGroup: '${policy.names.actionGroup}${nameSuffix}'
  workbook: '${policy.names.workbook}${nameSuffix}'
}
var brought = concat(hasOpenAI ? [] : ['openai'], hasCosmos ? [] : ['cosmos'])
var absent = concat(brought, enableRedis ? [] : ['redis'], decided.enableKeyVault ? [] : ['keyVault'])
var endpoints = filter(policy.privateEndpoints, one => decided.vnetEnabled && !contains(absent, one.of))
var openAISubscription = hasOpenAI ? subscription().subscriptionId : split(existingOpenAI, '/')[2]
var openAIGroup = hasOpenAI ? names.resourceGroup : split(existingOpenAI, '/')[4]
var cosmosSubscription = hasCosmos ? subscription().subscriptionId : split(existingCosmos, '/')[2]
var cosmosGroup = hasCosmos ? names.resourceGroup : split(existingCosmos, '/')[4]
var ownNetwork = '${group.id}/providers/Microsoft.Network/virtualNetworks/${names.network}'
var appSubnet = empty(existingAppSubnet) ? '${ownNetwork}/subnets/app' : existingAppSubnet
var endpointSubnet = empty(existingEndpointSubnet) ? '${ownNetwork}/subnets/endpoints' : existingEndpointSubnet

resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
  name: names.resourceGroup
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  scope: group
  name: 'identity'
  params: {
    name: names.identity
    location: location
    tags: tags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  scope: group
  name: 'monitoring'
  params: {
    workspaceName: names.workspace
    insightsName: names.insights
    location: location
    tags: tags
    retentionDays: logRetentionDays
    existingWorkspace: existingWorkspace
    dailyCapGb: decided.logDailyCapGb
  }
}

module network 'modules/network.bicep' = if (decided.vnetEnabled) {
  scope: group
  name: 'network'
  params: {
    name: names.network
    location: location
    tags: tags
    absent: absent
    existingNetwork: empty(existingEndpointSubnet) ? '' : split(existingEndpointSubnet, '/subnets/')[0]
    withZones: empty(existingDnsZones)
    withNatGateway: natGateway
  }
}

module storageHost 'modules/storage-host.bicep' = if (!decided.oneStorageAccount) {
  scope: group
  name: 'storage-host'
  params: {
    hostName: names.hostStorage
    location: location
    tags: tags
    sku: decided.storageSku
    hostIsPublic: !decided.vnetEnabled || deployFromPublicNetwork
  }
}

module storage 'modules/storage.bicep' = {
  scope: group
  name: 'storage'
  params: {
    dataName: names.dataStorage
    location: location
    tags: tags
    sku: decided.storageSku
    dataIsPublic: !decided.vnetEnabled
    withPackage: decided.oneStorageAccount
  }
}

module cosmosAccount 'modules/cosmos-account.bicep' = if (hasCosmos) {
  scope: group
  name: 'cosmos-account'
  params: {
    name: names.cosmos
    location: location
    tags: tags
    mode: decided.cosmosMode
    freeTier: cosmosFreeTier
    secondLocation: secondLocation
    zoneRedundant: zoneRedundant
    consistency: cosmosConsistency
    backup: cosmosBackup
    isPublic: !decided.vnetEnabled
  }
}

module cosmos 'modules/cosmos.bicep' = {
  scope: resourceGroup(cosmosSubscription, cosmosGroup)
  name: 'cosmos-${nameSuffix}'
  params: {
    name: names.cosmos
    mode: decided.cosmosMode
    maxThroughput: cosmosMaxThroughput
    vectorIndexType: vectorIndexType
    embeddingDimensions: embeddingDimensions
    principalId: identity.outputs.principalId
    personId: principalReadsMemories ? principalId : ''
  }
  dependsOn: [cosmosAccount]
}

module redis 'modules/redis.bicep' = if (enableRedis) {
  scope: group
  name: 'redis'
  params: {
    name: names.redis
    location: location
    tags: tags
    sku: redisSku
    highAvailability: redisHighAvailability
    isPublic: !decided.vnetEnabled
    principalId: identity.outputs.principalId
  }
}

module openai 'modules/openai.bicep' = if (hasOpenAI) {
  scope: group
  name: 'openai'
  params: {
    name: names.openai
    location: location
    tags: tags
    isPublic: !decided.vnetEnabled
    modelSku: modelSku
    embedding: embedding
    embeddingCapacity: embeddingCapacity
    chat: chat
    chatCapacity: chatCapacity
  }
}

module openaiAccess 'modules/openai-access.bicep' = {
  scope: resourceGroup(openAISubscription, openAIGroup)
  name: 'openai-access-${nameSuffix}'
  params: {
    name: names.openai
    principalId: identity.outputs.principalId
    personId: principalId
    personType: principalType
  }
  dependsOn: [openai]
}

module keyVault 'modules/keyvault.bicep' = if (decided.enableKeyVault) {
  scope: group
  name: 'keyvault'
  params: {
    name: names.keyVault
    location: location
    tags: tags
    isPublic: !decided.vnetEnabled
    purgeProtection: keyVaultPurgeProtection
    apiKeys: keyList
    cursorSecret: cursorSecret
    webhookSecret: webhookSecret
  }
}

module rbac 'modules/rbac.bicep' = {
  scope: group
  name: 'rbac'
  params: {
    hostStorageName: names.hostStorage
    dataStorageName: storage.outputs.dataName
    workspaceName: empty(existingWorkspace) ? names.workspace : ''
    insightsName: monitoring.outputs.insightsName
    keyVaultName: decided.enableKeyVault ? names.keyVault : ''
    principalId: identity.outputs.principalId
    personId: principalId
    personType: principalType
  }
  dependsOn: [storageHost, keyVault]
}

module privateEndpoints 'modules/private-endpoint.bicep' = [
  for one in endpoints: {
    scope: group
    name: 'endpoint-${one.of}-${one.group}'
    params: {
      name: 'pe-${one.of}-${one.group}-${nameSuffix}'
      location: location
      tags: tags
      subnetId: endpointSubnet
      serviceId: '${group.id}/providers/${one.type}/${names[one.of]}'
      groupId: one.group
      zones: one.zones
      zonesIn: empty(existingDnsZones) ? group.id : existingDnsZones
    }
    dependsOn: [network, storage, storageHost, cosmos, redis, openai, keyVault]
  }
]

module functionApp 'modules/functionapp.bicep' = {
  scope: group
  name: 'functionapp'
  params: {
    name: names.app
    planName: names.plan
    location: location
    tags: union(tags, { 'azd-service-name': 'api' })
    identityId: identity.outputs.id
    pythonVersion: pythonVersion
    instanceMemory: instanceMemory
    maximumInstances: decided.maximumInstances
    httpConcurrency: httpConcurrency
    alwaysReady: decided.alwaysReady
    zoneRedundant: zoneRedundantApp
    packageContainerUrl: decided.oneStorageAccount ? storage.outputs.packageContainerUrl : storageHost!.outputs.packageContainerUrl
    subnetId: decided.vnetEnabled ? appSubnet : ''
    sources: {
      hostStorageName: names.hostStorage
      identityClientId: identity.outputs.clientId
      queueEndpoint: storage.outputs.queueEndpoint
      blobEndpoint: storage.outputs.blobEndpoint
      archiveContainer: policy.archiveContainer
      insightsConnectionString: monitoring.outputs.connectionString
      telemetry: telemetry
      telemetryContext: telemetry == 'off' ? 'false' : 'true'
      insightsAuthentication: 'ClientId=${identity.outputs.clientId};Authorization=AAD'
      cosmosEndpoint: cosmos.outputs.endpoint
      cosmosDatabase: cosmos.outputs.database
      sliceBudget: decided.holdUsers ? policy.sliceBudgets[string(instanceMemory)] : '0'
      dailyTokens: decided.dailyTokens == 0 ? '' : string(decided.dailyTokens)
      shortTerm: enableRedis ? 'redis' : 'none'
      redisUrl: enableRedis ? redis!.outputs.url : ''
      openaiEndpoint: openaiAccess.outputs.endpoint
      embeddingModel: embedding.name
      embeddingDeployment: embedding.deployment
      embeddingDimensions: string(embeddingDimensions)
      llmProvider: chatModel == 'none' ? 'offline' : 'azure'
      chatModel: chatModel == 'none' ? '' : chat.name
      chatDeployment: chatModel == 'none' ? '' : chat.deployment
      entraTenantId: entraTenantId
      entraAudience: entraAudience
      entraApp: entraApp
      entraUser: entraUser
      entraRights: entraRights
      entraAuthority: entraAuthority
      trustPrincipalHeader: trustPrincipalHeader
      apiKeys: decided.enableKeyVault ? keyVault!.outputs.apiKeysReference : keyList
      cursorSecret: decided.enableKeyVault ? keyVault!.outputs.cursorSecretReference : cursorSecret
      webhookSecret: decided.enableKeyVault ? keyVault!.outputs.webhookSecretReference : webhookSecret
    }
  }
  dependsOn: [rbac, privateEndpoints]
}

module diagnostics 'modules/diagnostics.bicep' = {
  scope: group
  name: 'diagnostics'
  params: {
    workspaceId: monitoring.outputs.workspaceId
    dataStorageName: storage.outputs.dataName
    cosmosName: hasCosmos ? names.cosmos : ''
    appName: functionApp.outputs.name
    openAIName: hasOpenAI ? names.openai : ''
    keyVaultName: decided.enableKeyVault ? names.keyVault : ''
    redisName: enableRedis ? names.redis : ''
    detailed: detailedDiagnostics
  }
  dependsOn: [cosmos, openai, keyVault, redis]
}

module alerts 'modules/alerts.bicep' = {
  scope: group
  name: 'alerts'
  params: {
    workspaceId: monitoring.outputs.workspaceId
    actionGroupName: names.actionGroup
    workbookName: names.workbook
    nameSuffix: nameSuffix
    location: location
    tags: tags
    email: alertEmail
  }
}

module budget 'modules/budget.bicep' = if (monthlyBudget > 0) {
  scope: group
  name: 'budget'
  params: {
    amount: monthlyBudget
    start: budgetStart
    actionGroupId: alerts.outputs.actionGroupId
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_LOCATION string = location
output SERVICE_API_NAME string = functionApp.outputs.name
output SERVICE_API_URL string = functionApp.outputs.url
output MEMORY_COSMOS_ENDPOINT string = cosmos.outputs.endpoint
output MEMORY_QUEUE_ACCOUNT_URL string = storage.outputs.queueEndpoint
output MEMORY_ARCHIVE_ACCOUNT_URL string = storage.outputs.blobEndpoint
