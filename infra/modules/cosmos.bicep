// The truth. Account, database, containers and roles are made one after the other, since Cosmos DB refuses changes side by side.
param name string
param location string
param tags object
param mode string
param maxThroughput int
param consistency string
param backup string
param vectorIndexType string
param embeddingDimensions int
param isPublic bool
param principalId string

@description('A person who may read and write memories; none when empty.')
param personId string

var infra = loadJsonContent('../policy.json')
var policy = loadJsonContent('../../memory_core/adapters/cosmos/policy.json')
var principals = concat([principalId], empty(personId) ? [] : [personId])
var staleness = { maxStalenessPrefix: 100000, maxIntervalInSeconds: 300 }
var features = [{ name: 'EnableNoSQLVectorSearch' }, { name: 'EnableNoSQLFullTextSearch' }]

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    locations: [{ locationName: location, failoverPriority: 0, isZoneRedundant: false }]
    capabilities: mode == 'serverless' ? concat(features, [{ name: 'EnableServerless' }]) : features
    consistencyPolicy: union({ defaultConsistencyLevel: consistency }, consistency == 'Strong' ? {} : staleness)
    backupPolicy: { type: 'Continuous', continuousModeProperties: { tier: backup } }
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAclBypass: 'None'
  }
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2025-10-15' = {
  parent: account
  name: policy.database
  properties: { resource: { id: policy.database } }
}

@batchSize(1)
resource containers 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15' = [
  for one in policy.containers: {
    parent: database
    name: one.name
    properties: {
      resource: {
        id: one.name
        partitionKey: one.partitionKey
        defaultTtl: one.defaultTtl
        indexingPolicy: {
          indexingMode: one.indexingPolicy.indexingMode
          automatic: one.indexingPolicy.automatic
          includedPaths: one.indexingPolicy.includedPaths
          excludedPaths: one.indexingPolicy.excludedPaths
          compositeIndexes: one.indexingPolicy.compositeIndexes
          fullTextIndexes: one.indexingPolicy.fullTextIndexes
          vectorIndexes: [for index in one.indexingPolicy.vectorIndexes: union(index, { type: vectorIndexType })]
        }
        vectorEmbeddingPolicy: {
          vectorEmbeddings: [for path in one.vectorEmbeddingPolicy.vectorEmbeddings: union(path, { dimensions: embeddingDimensions })]
        }
        fullTextPolicy: one.fullTextPolicy
      }
      options: mode == 'serverless' ? {} : { autoscaleSettings: { maxThroughput: maxThroughput } }
    }
  }
]

// Without vectors and texts: read by id, so that the least throughput will do. `tenants` is for what belongs to an app and to no user; the app
// keeps nothing there yet.
@batchSize(1)
resource plainContainers 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-10-15' = [
  for one in policy.plainContainers: {
    parent: database
    name: one.name
    properties: {
      resource: {
        id: one.name
        partitionKey: one.partitionKey
        defaultTtl: one.defaultTtl
        indexingPolicy: one.indexingPolicy
      }
      options: mode == 'serverless' ? {} : { autoscaleSettings: { maxThroughput: 1000 } }
    }
    dependsOn: [containers]
  }
]

@batchSize(1)
resource access 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-10-15' = [
  for principal in principals: {
    parent: account
    name: guid(account.id, principal, infra.cosmosRole.id)
    properties: {
      principalId: principal
      roleDefinitionId: '${account.id}/sqlRoleDefinitions/${infra.cosmosRole.id}'
      scope: '${account.id}/dbs/${policy.database}'
    }
    dependsOn: [plainContainers]
  }
]

output name string = account.name
output endpoint string = account.properties.documentEndpoint
output database string = database.name
