// What each service tells the workspace. Deletions and refusals, not every read: a log line a request would cost more than the request. `detailed` adds
// request units by partition key, which holds the ids of users and outlives an erasure, and a line for each call of a model.
param workspaceId string
param dataStorageName string
param appName string

@description('Each of these is not there when empty.')
param cosmosName string
param openAIName string
param keyVaultName string
param redisName string

param detailed bool

resource dataStorage 'Microsoft.Storage/storageAccounts@2024-01-01' existing = {
  name: dataStorageName
}

resource dataBlobs 'Microsoft.Storage/storageAccounts/blobServices@2024-01-01' existing = {
  parent: dataStorage
  name: 'default'
}

resource cosmos 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' existing = if (!empty(cosmosName)) {
  name: cosmosName
}

resource app 'Microsoft.Web/sites@2024-04-01' existing = {
  name: appName
}

resource openAI 'Microsoft.CognitiveServices/accounts@2025-06-01' existing = if (!empty(openAIName)) {
  name: openAIName
}

resource keyVault 'Microsoft.KeyVault/vaults@2024-11-01' existing = if (!empty(keyVaultName)) {
  name: keyVaultName
}

resource redis 'Microsoft.Cache/redisEnterprise@2025-07-01' existing = if (!empty(redisName)) {
  name: redisName
}

resource ofBlobs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: dataBlobs
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'StorageDelete', enabled: true }]
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

resource ofCosmos 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(cosmosName)) {
  scope: cosmos
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    logAnalyticsDestinationType: 'Dedicated'
    logs: [{ category: 'ControlPlaneRequests', enabled: true }, { category: 'PartitionKeyRUConsumption', enabled: detailed }]
    metrics: [{ category: 'Requests', enabled: true }]
  }
}

resource ofApp 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: app
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

resource ofOpenAI 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(openAIName)) {
  scope: openAI
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'Audit', enabled: true }, { category: 'RequestResponse', enabled: detailed }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

resource ofKeyVault 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(keyVaultName)) {
  scope: keyVault
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'AuditEvent', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

resource ofRedis 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(redisName)) {
  scope: redis
  name: 'workspace'
  properties: {
    workspaceId: workspaceId
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}
