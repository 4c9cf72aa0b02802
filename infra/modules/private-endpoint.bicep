// One private endpoint, and the records that make the service's own name lead to it.
param name string
param location string
param tags object
param subnetId string
param serviceId string
param groupId string
param zones array

@description('Resource id of the resource group that has the zones.')
param zonesIn string

resource endpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
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
      for zone in zones: {
        name: replace(zone, '.', '-')
        properties: { privateDnsZoneId: '${zonesIn}/providers/Microsoft.Network/privateDnsZones/${zone}' }
      }
    ]
  }
}
