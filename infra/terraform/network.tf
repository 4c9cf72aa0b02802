# A virtual network with a subnet for the app, one for private endpoints, and the zones in which their names resolve.
resource "azurerm_network_security_group" "rules" {
  count               = local.own_network ? 1 : 0
  name                = "${local.names["network"]}-rules"
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags

  # Nothing comes in but what the network itself sends: the subnets hold clients and endpoints, and no server.
  security_rule {
    name                       = "no-entry-from-the-internet"
    priority                   = 100
    direction                  = "Inbound"
    access                     = "Deny"
    protocol                   = "*"
    source_address_prefix      = "Internet"
    source_port_range          = "*"
    destination_address_prefix = "*"
    destination_port_range     = "*"
  }
}

resource "azurerm_virtual_network" "network" {
  count               = local.own_network ? 1 : 0
  name                = local.names["network"]
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  address_space       = [local.policy.network.space]
}

resource "azurerm_subnet" "app" {
  count                = local.own_network ? 1 : 0
  name                 = "app"
  resource_group_name  = azurerm_resource_group.group.name
  virtual_network_name = azurerm_virtual_network.network[0].name
  address_prefixes     = [local.policy.network.app]

  # Said, since newer API versions take another default. The subnet is delegated, so its service decides.
  default_outbound_access_enabled = !var.nat_gateway

  delegation {
    name = "flex-consumption"
    service_delegation {
      name = "Microsoft.App/environments"
    }
  }
}

resource "azurerm_subnet" "endpoints" {
  count                             = local.own_network ? 1 : 0
  name                              = "endpoints"
  resource_group_name               = azurerm_resource_group.group.name
  virtual_network_name              = azurerm_virtual_network.network[0].name
  address_prefixes                  = [local.policy.network.endpoints]
  private_endpoint_network_policies = "Enabled"
  default_outbound_access_enabled   = false
}

resource "azurerm_public_ip" "address" {
  count               = local.own_network && var.nat_gateway ? 1 : 0
  name                = "${local.names["network"]}-address"
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  sku                 = "Standard"
  allocation_method   = "Static"
}

resource "azurerm_nat_gateway" "gateway" {
  count               = local.own_network && var.nat_gateway ? 1 : 0
  name                = "${local.names["network"]}-gateway"
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  sku_name            = "Standard"
}

resource "azurerm_nat_gateway_public_ip_association" "gateway" {
  count                = local.own_network && var.nat_gateway ? 1 : 0
  nat_gateway_id       = azurerm_nat_gateway.gateway[0].id
  public_ip_address_id = azurerm_public_ip.address[0].id
}

resource "azurerm_subnet_nat_gateway_association" "app" {
  count          = local.own_network && var.nat_gateway ? 1 : 0
  subnet_id      = azurerm_subnet.app[0].id
  nat_gateway_id = azurerm_nat_gateway.gateway[0].id
}

resource "azurerm_subnet_network_security_group_association" "app" {
  count                     = local.own_network ? 1 : 0
  subnet_id                 = azurerm_subnet.app[0].id
  network_security_group_id = azurerm_network_security_group.rules[0].id
}

resource "azurerm_subnet_network_security_group_association" "endpoints" {
  count                     = local.own_network ? 1 : 0
  subnet_id                 = azurerm_subnet.endpoints[0].id
  network_security_group_id = azurerm_network_security_group.rules[0].id
}

resource "azurerm_private_dns_zone" "zones" {
  for_each            = local.zones
  name                = each.key
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
}

resource "azurerm_private_dns_zone_virtual_network_link" "links" {
  for_each             = local.zones
  name                 = local.names["network"]
  private_dns_zone_id  = azurerm_private_dns_zone.zones[each.key].id
  virtual_network_id   = local.network_id
  registration_enabled = false
  tags                 = local.tags
}

resource "azurerm_private_endpoint" "endpoints" {
  for_each            = local.endpoints
  name                = "pe-${each.key}-${local.suffix}"
  location            = var.location
  resource_group_name = azurerm_resource_group.group.name
  tags                = local.tags
  subnet_id           = local.endpoint_subnet

  private_service_connection {
    name                           = "pe-${each.key}-${local.suffix}"
    is_manual_connection           = false
    private_connection_resource_id = "${azurerm_resource_group.group.id}/providers/${each.value.type}/${local.names[each.value.of]}"
    subresource_names              = [each.value.group]
  }

  private_dns_zone_group {
    name                 = "default"
    private_dns_zone_ids = [for zone in each.value.zones : "${local.zones_in}/providers/Microsoft.Network/privateDnsZones/${zone}"]
  }

  # Each after the last change of its service: an endpoint is a change too, and some take one at a time.
  depends_on = [
    azurerm_private_dns_zone.zones,
    azurerm_storage_account.host,
    azurerm_storage_account.data,
    azurerm_key_vault.vault,
    azurerm_storage_management_policy.lifecycle,
    azurerm_storage_container.package,
    azurerm_storage_queue.queues,
    azurerm_cosmosdb_sql_role_assignment.app,
    azurerm_cosmosdb_sql_role_assignment.person,
    azurerm_managed_redis_access_policy_assignment.app,
    azurerm_cognitive_deployment.embedding,
    azurerm_cognitive_deployment.chat,
    azapi_resource_action.secrets,
  ]
}
