// Who may call the models, whether the account is made here or exists elsewhere.
param name string
param principalId string

@description('A person who may call them too; none when empty.')
param personId string
param personType string

var policy = loadJsonContent('../policy.json')
var ofApp = filter(policy.assignments, one => one.scope == 'openai' && one.who == 'app')
var ofPerson = filter(policy.assignments, one => one.scope == 'openai' && one.who == 'person' && !empty(personId))

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' existing = {
  name: name
}

resource appRoles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in ofApp: {
    scope: account
    name: guid(account.id, principalId, policy.roles[one.role])
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

resource personRoles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for one in ofPerson: {
    scope: account
    name: guid(account.id, personId, policy.roles[one.role])
    properties: {
      principalId: personId
      principalType: personType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', policy.roles[one.role])
      description: one.why
    }
  }
]

// A Foundry account says another address of itself, which has no private name of OpenAI's.
output endpoint string = 'https://${account.properties.customSubDomainName}.openai.azure.com/'
