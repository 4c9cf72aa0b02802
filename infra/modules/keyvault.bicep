// The three secrets that are not Azure's: hashes of API keys, what signs cursors, what signs webhooks. Read by role, kept for a week after deletion.
param name string
param location string
param tags object
param isPublic bool
param purgeProtection bool

@secure()
param apiKeys string

@secure()
param cursorSecret string

@secure()
param webhookSecret string

var policy = loadJsonContent('../policy.json')

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: tenant().tenantId
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    enableSoftDelete: true
    softDeleteRetentionInDays: 7
    enablePurgeProtection: purgeProtection ? true : null // false is refused
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'AzureServices' // the deployment itself writes the secrets
      defaultAction: isPublic ? 'Allow' : 'Deny'
    }
  }
}

resource keys 'Microsoft.KeyVault/vaults/secrets@2024-11-01' = {
  parent: vault
  name: policy.secrets.apiKeys
  properties: { value: apiKeys, contentType: 'application/json' }
}

resource cursor 'Microsoft.KeyVault/vaults/secrets@2024-11-01' = {
  parent: vault
  name: policy.secrets.cursorSecret
  properties: { value: cursorSecret, contentType: 'text/plain' }
}

resource webhook 'Microsoft.KeyVault/vaults/secrets@2024-11-01' = {
  parent: vault
  name: policy.secrets.webhookSecret
  properties: { value: webhookSecret, contentType: 'text/plain' }
}

// Without a version: the app reads the newest within a day, or at its next start.
output apiKeysReference string = '@Microsoft.KeyVault(SecretUri=${vault.properties.vaultUri}secrets/${keys.name})'
output cursorSecretReference string = '@Microsoft.KeyVault(SecretUri=${vault.properties.vaultUri}secrets/${cursor.name})'
output webhookSecretReference string = '@Microsoft.KeyVault(SecretUri=${vault.properties.vaultUri}secrets/${webhook.name})'
