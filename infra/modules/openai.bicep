// The models. Deployments are made one after the other, since an account refuses changes side by side.
param name string
param location string
param tags object
param isPublic bool
param modelSku string
param embeddingModel string
param embeddingModelVersion string
param embeddingCapacity int
param chatModel string
param chatModelVersion string
param chatCapacity int

var embedding = { name: embeddingModel, version: embeddingModelVersion, capacity: embeddingCapacity }
var chat = { name: chatModel, version: chatModelVersion, capacity: chatCapacity }
var models = chatModel == 'none' ? [embedding] : [embedding, chat]

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'OpenAI'
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
  for model in models: {
    parent: account
    name: model.name
    sku: { name: modelSku, capacity: model.capacity }
    properties: {
      model: { format: 'OpenAI', name: model.name, version: model.version }
      versionUpgradeOption: 'NoAutoUpgrade' // vectors of another version can't be compared with those that are stored
    }
  }
]
