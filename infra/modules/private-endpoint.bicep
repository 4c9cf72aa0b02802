// One private endpoint, and the records that make the service's own name lead to it.
param name string
param location string
param tags object
param networkName string
param serviceId string
param groupId string
param zoneName string

resource network 'Microsoft.Network/virtualNetworks@2024-05-01' existing = {
  name: networkName
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' existing = {
  name: zoneName
}

resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: '${network.id}/subnets/endpoints' }
    privateLinkServiceConnections: [
      {
        name: name
        properties: {
          privateLinkServiceId: serviceId
          groupIds: [groupId]
        }
      }
    ]
  }
}

resource records 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: 'zone'
        properties: { privateDnsZoneId: zone.id }
      }
    ]
  }
}
