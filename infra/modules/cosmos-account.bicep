// An account for the truth: no key works, every second of the last days can be restored.
param name string
param location string
param tags object
param mode string
param freeTier bool

@description('Another region with a copy; none when empty.')
param secondLocation string
param zoneRedundant bool
param consistency string
param backup string
param isPublic bool

var primary = [{ locationName: location, failoverPriority: 0, isZoneRedundant: zoneRedundant }]
var secondary = empty(secondLocation) ? [] : [{ locationName: secondLocation, failoverPriority: 1, isZoneRedundant: zoneRedundant }]
var staleness = { maxStalenessPrefix: 100000, maxIntervalInSeconds: 300 }
var features = [{ name: 'EnableNoSQLVectorSearch' }, { name: 'EnableNoSQLFullTextSearch' }]

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    locations: concat(primary, secondary)
    enableAutomaticFailover: !empty(secondLocation)
    enableFreeTier: freeTier
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
