// A warning at 80 % and at 100 % of what a month should cost: to whom alerts go, and to the owners.
param amount int
param actionGroupId string

@description('First day of its first month; this month when empty. Azure refuses to change it, and refuses a past month for a budget that is new.')
param start string
param thisMonth string = utcNow('yyyy-MM-01')

var groups = empty(actionGroupId) ? [] : [actionGroupId]

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: 'month'
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: empty(start) ? thisMonth : start }
    notifications: {
      nearly: { enabled: true, operator: 'GreaterThan', threshold: 80, contactEmails: [], contactGroups: groups, contactRoles: ['Owner'] }
      reached: { enabled: true, operator: 'GreaterThan', threshold: 100, contactEmails: [], contactGroups: groups, contactRoles: ['Owner'] }
    }
  }
}
