// Every role of policy.json but those on models, each on one resource, each with its reason.
param hostStorageName string
param dataStorageName string
param insightsName string

@description('The workspace and the vault; none when empty.')
param workspaceName string
param keyVaultName string
param principalId string

@description('A person with roles of their own; none when empty.')
param personId string
param personType string

var policy = loadJsonContent('../policy.json')
var ofApp = filter(policy.assignments, one => one.who == 'app')
var ofPerson = filter(policy.assignments, one => one.who == 'person' && !empty(personId))

resource hostStorage 'Microsoft.Storage/storageAccounts@2024-01-01' existing = {
  name: hostStorageName
}

resource dataStorage 'Microsoft.Storage/storageAccounts@2024-01-01' existing = {
  name: dataStorageName
}

resource workspace 'Microsoft.OperationalInsights/workspaces@2023-09-01' existing = {
  name: empty(workspaceName) ? 'none' : workspaceName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

resource keyVault 'Microsoft.KeyVault/vaults@2024-11-01' existing = {
  name: empty(keyVaultName) ? 'none' : keyVaultName
}

resource appOnHostStorage 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofApp, each => each.scope == 'hostStorage'): {
    scope: hostStorage
    name: guid(hostStorage.id, principalId, policy.roles[one.role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource appOnDataStorage 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofApp, each => each.scope == 'dataStorage'): {
    scope: dataStorage
    name: guid(dataStorage.id, principalId, policy.roles[one.role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource appOnInsights 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofApp, each => each.scope == 'insights'): {
    scope: insights
    name: guid(insights.id, principalId, policy.roles[one.role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource appOnKeyVault 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofApp, each => each.scope == 'keyVault' && !empty(keyVaultName)): {
    scope: keyVault
    name: guid(keyVault.id, principalId, policy.roles[one.role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource personOnDataStorage 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofPerson, each => each.scope == 'dataStorage'): {
    scope: dataStorage
    name: guid(dataStorage.id, personId, policy.roles[one.role])
    properties: {
      principalId: personId
      principalType: personType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource personOnWorkspace 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in filter(ofPerson, each => each.scope == 'workspace' && !empty(workspaceName)): {
    scope: workspace
    name: guid(workspace.id, personId, policy.roles[one.role])
    properties: {
      principalId: personId
      principalType: personType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]
