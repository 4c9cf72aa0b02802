// What the Functions host keeps for itself: leases, schedules, the app's package. No key of it works.
param hostName string
param location string
param tags object
param sku string

@description('Whether the account can be reached from outside the virtual network.')
param hostIsPublic bool

var policy = loadJsonContent('../policy.json')

resource host 'Microsoft.Storage/storageAccounts@2024-01-01' = {
  name: hostName
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
    publicNetworkAccess: hostIsPublic ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: hostIsPublic ? 'Allow' : 'Deny'
    }
  }
}

resource hostBlobs 'Microsoft.Storage/storageAccounts/blobServices@2024-01-01' = {
  parent: host
  name: 'default'
  properties: {
    deleteRetentionPolicy: { enabled: true, days: 7 }
    containerDeleteRetentionPolicy: { enabled: true, days: 7 }
  }
}

resource package 'Microsoft.Storage/storageAccounts/blobServices/containers@2024-01-01' = {
  parent: hostBlobs
  name: policy.packageContainer
  properties: { publicAccess: 'None' }
}

output packageContainerUrl string = '${host.properties.primaryEndpoints.blob}${package.name}'
