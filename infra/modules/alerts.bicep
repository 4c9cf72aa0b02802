// Alerts as questions to the workspace, from policy.json, and a workbook. Their tables appear with the first line of log, so nothing is checked now.
param workspaceId string
param actionGroupName string
param workbookName string

@description('End of all names, by which rows of this deployment are known in a workspace that others use too.')
param nameSuffix string
param location string
param tags object

@description('Who is told; no alerts when empty: they cost, and would tell nobody.')
param email string

var policy = loadJsonContent('../policy.json')
var alerts = empty(email) ? [] : policy.alerts

resource people 'Microsoft.Insights/actionGroups@2022-06-01' = if (!empty(email)) {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'memory-core'
    enabled: true
    emailReceivers: [{ name: 'mail', emailAddress: email, useCommonAlertSchema: true }]
  }
}

resource rules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for alert in alerts: {
    name: alert.name
    location: location
    tags: tags
    properties: {
      displayName: alert.title
      description: alert.why
      severity: alert.severity
      enabled: true
      scopes: [workspaceId]
      windowSize: alert.window
      evaluationFrequency: alert.every
      skipQueryValidation: true
      autoMitigate: true
      criteria: {
        allOf: [
          {
            query: replace(alert.query, '{suffix}', nameSuffix)
            timeAggregation: 'Total'
            metricMeasureColumn: 'Value'
            operator: alert.operator
            threshold: alert.threshold
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      actions: { actionGroups: [people.id] }
    }
  }
]

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(workspaceId, workbookName)
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Memory Core'
    category: 'workbook'
    sourceId: workspaceId
    serializedData: loadTextContent('../workbook.json')
  }
}

output actionGroupId string = empty(email) ? '' : people.id
