// A virtual network with a subnet for the app, one for private endpoints, and the zones in which their names resolve.
param name string
param location string
param tags object

@description('What has no endpoint, by its name in policy.json.')
param absent array

@description('A network that exists already, with both subnets; one is made when empty.')
param existingNetwork string
param withZones bool
param withNatGateway bool

var policy = loadJsonContent('../policy.json')
var made = empty(existingNetwork)
var present = filter(policy.privateZones, one => withZones && !contains(absent, one.of))

// Nothing comes in but what the network itself sends: the subnets hold clients and endpoints, and no server.
resource rules 'Microsoft.Network/networkSecurityGroups@2024-05-01' = if (made) {
  name: '${name}-rules'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'no-entry-from-the-internet'
        properties: {
          priority: 100
          direction: 'Inbound'
          access: 'Deny'
          protocol: '*'
          sourceAddressPrefix: 'Internet'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
    ]
  }
}

resource address 'Microsoft.Network/publicIPAddresses@2024-05-01' = if (made && withNatGateway) {
  name: '${name}-address'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIPAllocationMethod: 'Static' }
}

resource gateway 'Microsoft.Network/natGateways@2024-05-01' = if (made && withNatGateway) {
  name: '${name}-gateway'
  location: location
  tags: tags
  sku: { name: 'Standard' }
  properties: { publicIpAddresses: [{ id: address.id }] }
}

// Outbound access is said, since newer API versions take another default. The app's subnet is delegated, so its service decides; the endpoints call nobody.
resource network 'Microsoft.Network/virtualNetworks@2024-05-01' = if (made) {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [policy.network.space] }
    subnets: [
      {
        name: 'app'
        properties: {
          addressPrefix: policy.network.app
          defaultOutboundAccess: !withNatGateway
          natGateway: withNatGateway ? { id: gateway.id } : null
          networkSecurityGroup: { id: rules.id }
          delegations: [{ name: 'flex-consumption', properties: { serviceName: 'Microsoft.App/environments' } }]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: policy.network.endpoints
          defaultOutboundAccess: false
          networkSecurityGroup: { id: rules.id }
          privateEndpointNetworkPolicies: 'Enabled'
        }
      }
    ]
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for one in present: {
    name: one.zone
    location: 'global'
    tags: tags
  }
]

resource links 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (one, index) in present: {
    parent: zones[index]
    name: name
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: { id: made ? network.id : existingNetwork }
    }
  }
]
