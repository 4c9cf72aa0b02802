// The truth, in the account that cosmos-account.bicep makes or in one that exists already. Database, container and roles are made one after the
// other, since Cosmos DB refuses changes side by side.
param name string
param mode string
param maxThroughput int
param vectorIndexType string
param embeddingDimensions int
param principalId string

@description('A person who may read and write memories; none when empty.')
param personId string

var infra = loadJsonContent('../policy.json')
var policy = loadJsonContent('../../memory_core/adapters/cosmos/policy.json')
var principals = concat([principalId], empty(personId) ? [] : [personId])

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' existing = {
  name: name
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
    dependsOn: [containers]
  }
]

output endpoint string = account.properties.documentEndpoint
output database string = database.name
