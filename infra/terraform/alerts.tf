# Alerts as questions to the workspace, from policy.json, and a workbook. Their tables appear with the first line of log, so nothing is checked now.
resource "azurerm_monitor_action_group" "people" {
  count               = var.alert_email == "" ? 0 : 1
  name                = local.names["actionGroup"]
  resource_group_name = azurerm_resource_group.group.name
  short_name          = "memory-core"
  tags                = local.tags

  email_receiver {
    name                    = "mail"
    email_address           = var.alert_email
    use_common_alert_schema = true
  }
}

resource "azurerm_monitor_scheduled_query_rules_alert_v2" "rules" {
  for_each                = { for one in local.policy.alerts : one.name => one if var.alert_email != "" }
  name                    = each.key
  location                = var.location
  resource_group_name     = azurerm_resource_group.group.name
  tags                    = local.tags
  display_name            = each.value.title
  description             = each.value.why
  severity                = each.value.severity
  scopes                  = [local.workspace_id]
  window_duration         = each.value.window
  evaluation_frequency    = each.value.every
  skip_query_validation   = true
  auto_mitigation_enabled = true

  criteria {
    query                   = replace(each.value.query, "{suffix}", local.suffix)
    time_aggregation_method = "Total"
    metric_measure_column   = "Value"
    operator                = each.value.operator
    threshold               = each.value.threshold

    failing_periods {
      number_of_evaluation_periods             = 1
      minimum_failing_periods_to_trigger_alert = 1
    }
  }

  action {
    action_groups = [azurerm_monitor_action_group.people[0].id]
  }
}

resource "azurerm_application_insights_workbook" "workbook" {
  name                = uuidv5("url", "${local.workspace_id}/${local.names["workbook"]}")
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  display_name        = "Memory Core"
  category            = "workbook"
  source_id           = lower(local.workspace_id)
  data_json           = file("${path.module}/../workbook.json")
}

# A warning at 80 % and at 100 % of what a month should cost: to whom alerts go, and to the owners.
resource "azurerm_consumption_budget_resource_group" "month" {
  count             = var.monthly_budget > 0 ? 1 : 0
  name              = "month"
  resource_group_id = azurerm_resource_group.group.id
  amount            = var.monthly_budget
  time_grain        = "Monthly"

  time_period {
    start_date = var.budget_start == "" ? formatdate("YYYY-MM-01'T'00:00:00Z", timestamp()) : "${var.budget_start}T00:00:00Z"
  }

  dynamic "notification" {
    for_each = [80, 100]
    content {
      enabled        = true
      operator       = "GreaterThan"
      threshold      = notification.value
      contact_groups = azurerm_monitor_action_group.people[*].id
      contact_roles  = ["Owner"]
    }
  }

  lifecycle {
    ignore_changes = [time_period]
  }
}
