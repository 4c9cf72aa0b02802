// A warning at 80 % and at 100 % of what a month should cost.
param amount int
param start string
param actionGroupId string

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: 'month'
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: start }
    notifications: {
      nearly: { enabled: true, operator: 'GreaterThan', threshold: 80, contactEmails: [], contactGroups: [actionGroupId] }
      reached: { enabled: true, operator: 'GreaterThan', threshold: 100, contactEmails: [], contactGroups: [actionGroupId] }
    }
  }
}
