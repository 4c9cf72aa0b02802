// The short term: a cache that may be lost at any moment. TLS and Entra ID only; nothing is written to a disk.
param name string
param location string
param tags object
param sku string
param highAvailability bool
param isPublic bool
param principalId string

var policy = loadJsonContent('../policy.json')

resource cluster 'Microsoft.Cache/redisEnterprise@2025-07-01' = {
  name: name
  location: location
  tags: tags
  sku: { name: sku }
  properties: {
    minimumTlsVersion: '1.2'
    highAvailability: highAvailability ? 'Enabled' : 'Disabled'
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
  }
}

resource database 'Microsoft.Cache/redisEnterprise/databases@2025-07-01' = {
  parent: cluster
  name: 'default'
  properties: {
    accessKeysAuthentication: 'Disabled'
    clientProtocol: 'Encrypted'
    clusteringPolicy: 'EnterpriseCluster' // one address for the whole cluster, which the app's client speaks
    evictionPolicy: 'AllKeysLRU'
    port: policy.redisPort
  }
}

resource access 'Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments@2025-07-01' = {
  parent: database
  name: 'app'
  properties: {
    accessPolicyName: policy.redisPolicy
    user: { objectId: principalId }
  }
}

output url string = 'rediss://${cluster.properties.hostName}:${policy.redisPort}/0'
