// Logs and traces. Application Insights takes them by Entra ID only.
param workspaceName string
param insightsName string
param location string
param tags object
param retentionDays int
param dailyCapGb int

@description('Resource id of a workspace that exists already; one is made when empty.')
param existingWorkspace string

resource workspace 'Microsoft.OperationalInsights/workspaces@2023-09-01' = if (empty(existingWorkspace)) {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionDays
    features: { disableLocalAuth: true }
    workspaceCapping: { dailyQuotaGb: dailyCapGb }
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: insightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: empty(existingWorkspace) ? workspace.id : existingWorkspace
    DisableLocalAuth: true
  }
}

output workspaceId string = empty(existingWorkspace) ? workspace.id : existingWorkspace
output insightsName string = insights.name
// An address, not a key: without a role nothing can be sent to it.
output connectionString string = insights.properties.ConnectionString
