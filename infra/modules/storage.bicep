// What the app keeps for its users: archive and queues; and the package too, where there is no account of the host's own. No key of it works.
param dataName string
param location string
param tags object
param sku string

@description('Whether the account can be reached from outside the virtual network.')
param dataIsPublic bool

@description('Whether the host keeps the package and its own state here too.')
param withPackage bool

var policy = loadJsonContent('../policy.json')

resource data 'Microsoft.Storage/storageAccounts@2024-01-01' = {
  name: dataName
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: sku }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: dataIsPublic ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: dataIsPublic ? 'Allow' : 'Deny'
    }
  }
}

// Erasure says that deleted archives stay so long: docs/deploy.md.
resource dataBlobs 'Microsoft.Storage/storageAccounts/blobServices@2024-01-01' = {
  parent: data
  name: 'default'
  properties: {
    deleteRetentionPolicy: { enabled: true, days: 7 }
    containerDeleteRetentionPolicy: { enabled: true, days: 7 }
  }
}

resource package 'Microsoft.Storage/storageAccounts/blobServices/containers@2024-01-01' = if (withPackage) {
  parent: dataBlobs
  name: policy.packageContainer
  properties: { publicAccess: 'None' }
}

resource archive 'Microsoft.Storage/storageAccounts/blobServices/containers@2024-01-01' = {
  parent: dataBlobs
  name: policy.archiveContainer
  properties: { publicAccess: 'None' }
}

// Never the tier Archive: reading back from there takes hours, and a memory is asked for now.
resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2024-01-01' = {
  parent: data
  name: 'default'
  properties: {
    policy: {
      rules: [
        {
          name: 'cold-archive'
          enabled: true
          type: 'Lifecycle'
          definition: {
            filters: {
              blobTypes: ['blockBlob']
              prefixMatch: ['${policy.archiveContainer}/']
            }
            actions: {
              baseBlob: {
                tierToCool: { daysAfterModificationGreaterThan: policy.archiveLifecycle.toCoolAfterDays }
                tierToCold: { daysAfterModificationGreaterThan: policy.archiveLifecycle.toColdAfterDays }
              }
            }
          }
        }
      ]
    }
  }
  dependsOn: [archive]
}

resource dataQueues 'Microsoft.Storage/storageAccounts/queueServices@2024-01-01' = {
  parent: data
  name: 'default'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2024-01-01' = [
  for queue in policy.queues: {
    parent: dataQueues
    name: queue
  }
]

output dataName string = data.name
output packageContainerUrl string = '${data.properties.primaryEndpoints.blob}${policy.packageContainer}'
output blobEndpoint string = data.properties.primaryEndpoints.blob
output queueEndpoint string = data.properties.primaryEndpoints.queue
