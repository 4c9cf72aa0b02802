// The models. Deployments are made one after the other, since an account refuses changes side by side.
param name string
param location string
param tags object
param isPublic bool
param modelSku string

@description('Its name, version and deployment.')
param embedding object
param embeddingCapacity int

@description('The same; no chat model when its name is none.')
param chat object
param chatCapacity int

// Vectors of another version can't be compared with those that are stored, so that model never changes by itself. A chat model does, on the day
// on which it would stop working.
var models = loadJsonContent('../../memory_core/adapters/openai/models.json')
var ofEmbedding = {
  name: embedding.name
  version: embedding.version
  deployment: embedding.deployment
  capacity: embeddingCapacity
  upgrade: models.embedding.upgrade
}
var ofChat = {
  name: chat.name
  version: chat.version
  deployment: chat.deployment
  capacity: chatCapacity
  upgrade: models.chat.upgrade
}
var wanted = chat.name == 'none' ? [ofEmbedding] : [ofEmbedding, ofChat]

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'AIServices' // a Foundry account: what kind OpenAI has, and more models
  sku: { name: 'S0' }
  properties: {
    customSubDomainName: name // signing in by Entra ID needs one
    disableLocalAuth: true
    restrictOutboundNetworkAccess: true // completions and embeddings fetch nothing
    allowedFqdnList: []
    publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'
    networkAcls: { defaultAction: isPublic ? 'Allow' : 'Deny' }
  }
}

@batchSize(1)
resource deployments 'Microsoft.CognitiveServices/accounts/deployments@2025-06-01' = [
  for model in wanted: {
    parent: account
    name: model.deployment
    sku: { name: modelSku, capacity: model.capacity }
    properties: {
      model: { format: 'OpenAI', name: model.name, version: empty(model.version) ? null : model.version }
      versionUpgradeOption: model.upgrade
    }
  }
]
