// The app on Flex Consumption: one identity for the package, the host, the triggers and every store.
param name string
param planName string
param location string
param tags object
param identityId string
param pythonVersion string
param instanceMemory int
param maximumInstances int
param httpConcurrency int
param alwaysReady int
param zoneRedundant bool
param packageContainerUrl string

@description('Subnet of the app; none when empty.')
param subnetId string

@secure()
@description('What policy.json takes settings from, by the names in settingsFrom.')
param sources object

var policy = loadJsonContent('../policy.json')
var fixed = [for one in items(policy.settings): { name: one.key, value: one.value }]
var sourced = [for one in items(policy.settingsFrom): { name: one.key, value: sources[one.value] }]

resource plan 'Microsoft.Web/serverfarms@2024-04-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true, zoneRedundant: zoneRedundant }
}

resource app 'Microsoft.Web/sites@2024-04-01' = {
  name: name
  location: location
  tags: tags
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identityId}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: identityId
    publicNetworkAccess: 'Enabled' // the API is what callers reach; the app's own gate asks for a key
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: { name: 'python', version: pythonVersion }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemory
        maximumInstanceCount: maximumInstances
        alwaysReady: alwaysReady > 0 ? [{ name: 'http', instanceCount: alwaysReady }] : []
        triggers: { http: { perInstanceConcurrency: httpConcurrency } }
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      appSettings: concat(fixed, sourced)
    }
  }
}

resource noFtp 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = {
  parent: app
  name: 'ftp'
  properties: { allow: false }
}

resource noPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-04-01' = {
  parent: app
  name: 'scm'
  properties: { allow: false }
  dependsOn: [noFtp]
}

output name string = app.name
output url string = 'https://${app.properties.defaultHostName}'
