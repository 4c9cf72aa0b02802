terraform {
  required_version = ">= 1.11"
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 5.10"
    }
    azapi = {
      source  = "Azure/azapi"
      version = "~> 2.13"
    }
  }
}

provider "azurerm" {
  subscription_id     = var.subscription_id
  storage_use_azuread = true
  features {
    # What Azure makes beside it by itself would keep the group from being deleted.
    application_insights {
      disable_generated_rule = true
    }
    key_vault {
      purge_soft_delete_on_destroy = false
    }
    resource_group {
      prevent_deletion_if_contains_resources = false
    }
    # Everything is made by the management plane; the accounts themselves may be closed to whoever deploys.
    storage {
      data_plane_available = false
    }
  }
}

provider "azapi" {
  subscription_id = var.subscription_id
}
