variable "subscription_id" {
  description = "Subscription to deploy into."
  type        = string
}

variable "environment_name" {
  description = "Name of this environment; it is part of the resource group's name and, hashed, of all others."
  type        = string

  validation {
    condition     = length(var.environment_name) >= 1 && length(var.environment_name) <= 40
    error_message = "environment_name has to have at least 1 and at most 40 characters."
  }
}

variable "location" {
  description = "Region of everything but an OpenAI account that exists already."
  type        = string

  validation {
    condition     = length(var.location) >= 1
    error_message = "location has to have at least 1 characters."
  }
}

variable "name_suffix" {
  description = "End of all names. Give one to take over what another deployment has made."
  type        = string
  default     = null
}

variable "profile" {
  description = "What the parameters that leave it to the profile are: profiles.json has the table."
  type        = string
  default     = "small"

  validation {
    condition     = contains(["small", "standard", "private"], var.profile)
    error_message = "profile has to be one of small, standard, private."
  }
}

variable "principal_id" {
  description = "Object id of a person or a pipeline that may look at queues, archive, models and logs; none when empty."
  type        = string
  default     = ""
}

variable "principal_type" {
  description = "What that principal is."
  type        = string
  default     = "User"

  validation {
    condition     = contains(["User", "ServicePrincipal", "Group"], var.principal_type)
    error_message = "principal_type has to be one of User, ServicePrincipal, Group."
  }
}

variable "principal_reads_memories" {
  description = "Whether that principal may read and write memories too. They are users' data: off."
  type        = bool
  default     = false
}

variable "cosmos_mode" {
  description = "How Cosmos DB is paid for; empty: the profile's. Serverless reserves no throughput, and stays in one region."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "serverless", "autoscale"], var.cosmos_mode)
    error_message = "cosmos_mode has to be empty or one of serverless, autoscale."
  }
}

variable "cosmos_max_throughput" {
  description = "Most request units a second under autoscale; a tenth of it is paid for when idle."
  type        = number
  default     = 4000

  validation {
    condition     = var.cosmos_max_throughput >= 1000
    error_message = "cosmos_max_throughput has to be at least 1000."
  }
}

variable "cosmos_free_tier" {
  description = "Whether the account is the subscription's free one: its first 1,000 request units a second and 25 GB cost nothing. Autoscale only."
  type        = bool
  default     = false
}

variable "second_location" {
  description = "Another region that Cosmos DB keeps a copy in and fails over to; empty: none. Autoscale only."
  type        = string
  default     = ""
}

variable "zone_redundant" {
  description = "Whether Cosmos DB keeps its copies in several buildings of the region."
  type        = bool
  default     = false
}

variable "zone_redundant_app" {
  description = "Whether the app does. Azure then keeps two instances of each function group ready, and charges for them."
  type        = bool
  default     = false
}

variable "cosmos_consistency" {
  description = "Both hold what was acknowledged. Strong is for one region."
  type        = string
  default     = "Strong"

  validation {
    condition     = contains(["Strong", "BoundedStaleness"], var.cosmos_consistency)
    error_message = "cosmos_consistency has to be one of Strong, BoundedStaleness."
  }
}

variable "storage_sku" {
  description = "Copies that storage keeps: in one building, in three, or in another region too; empty: the profile's. Not every region has three."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "Standard_LRS", "Standard_ZRS", "Standard_GZRS"], var.storage_sku)
    error_message = "storage_sku has to be empty or one of Standard_LRS, Standard_ZRS, Standard_GZRS."
  }
}

variable "one_storage_account" {
  description = "Whether one storage account holds the host's own and the users' data; empty: the profile's. With a virtual network there are two."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "true", "false"], var.one_storage_account)
    error_message = "one_storage_account has to be empty or one of true, false."
  }
}

variable "cosmos_backup" {
  description = "How far back the account can be restored to any second."
  type        = string
  default     = "Continuous7Days"

  validation {
    condition     = contains(["Continuous7Days", "Continuous30Days"], var.cosmos_backup)
    error_message = "cosmos_backup has to be one of Continuous7Days, Continuous30Days."
  }
}

variable "vector_index_type" {
  description = "Index of the vectors. It can't be changed later without another container."
  type        = string
  default     = "quantizedFlat"

  validation {
    condition     = contains(["quantizedFlat", "diskANN"], var.vector_index_type)
    error_message = "vector_index_type has to be one of quantizedFlat, diskANN."
  }
}

variable "embedding_dimensions" {
  description = "Length of a vector. It can't be changed later without another container."
  type        = number
  default     = 512

  validation {
    condition     = var.embedding_dimensions >= 1 && var.embedding_dimensions <= 4096
    error_message = "embedding_dimensions has to be at least 1 and at most 4096."
  }
}

variable "enable_redis" {
  description = "Whether to have Azure Managed Redis: the short term beside the truth, and the one resource that costs when idle."
  type        = bool
  default     = false
}

variable "redis_sku" {
  description = "Size of Redis."
  type        = string
  default     = "Balanced_B0"
}

variable "redis_high_availability" {
  description = "Whether Redis has a replica. Without one it is down while it is patched; the app goes on without it."
  type        = bool
  default     = false
}

variable "enable_key_vault" {
  description = "Whether the app's three secrets stand in a Key Vault instead of its settings; empty: the profile's."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "true", "false"], var.enable_key_vault)
    error_message = "enable_key_vault has to be empty or one of true, false."
  }
}

variable "key_vault_purge_protection" {
  description = "Whether nobody can delete that vault for good before its 7 days are over. It can't be taken back, and holds the vault's name for as long."
  type        = bool
  default     = false
}

variable "vnet_enabled" {
  description = "Whether the app is in a virtual network and all behind it is reached by private endpoints only; empty: the profile's."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "true", "false"], var.vnet_enabled)
    error_message = "vnet_enabled has to be empty or one of true, false."
  }
}

variable "deploy_from_public_network" {
  description = "With a virtual network: whether the account that holds the app's package, and nothing of users, stays open to deployments from outside it."
  type        = bool
  default     = true
}

variable "nat_gateway" {
  description = "With a virtual network: whether the app calls the internet by an address of its own, which a receiver of webhooks can let in. It costs when idle."
  type        = bool
  default     = false
}

variable "existing_openai" {
  description = "Resource id of an OpenAI or Foundry account that exists already; empty: one is made."
  type        = string
  default     = ""
}

variable "existing_cosmos" {
  description = "Resource id of a Cosmos DB account that exists already, in which a database is made; empty: an account is made."
  type        = string
  default     = ""
}

variable "existing_workspace" {
  description = "Resource id of a Log Analytics workspace that exists already; empty: one is made."
  type        = string
  default     = ""
}

variable "existing_app_subnet" {
  description = "With a virtual network: resource id of a subnet that exists already, delegated to Microsoft.App/environments; empty: one is made."
  type        = string
  default     = ""
}

variable "existing_endpoint_subnet" {
  description = "With a virtual network: resource id of a subnet for private endpoints that exists already; empty: one is made."
  type        = string
  default     = ""
}

variable "existing_dns_zones" {
  description = "With a virtual network: resource id of the resource group that has the private DNS zones already; empty: they are made."
  type        = string
  default     = ""
}

variable "embedding_model" {
  description = "Name of the embedding model; empty: the one that memory_core/adapters/openai/models.json names."
  type        = string
  default     = ""
}

variable "embedding_model_version" {
  description = "Version of the embedding model; empty: the one in that file, of another model the one that Azure takes by default."
  type        = string
  default     = ""
}

variable "embedding_deployment" {
  description = "Name of the embedding model's deployment; empty: the model's."
  type        = string
  default     = ""
}

variable "embedding_capacity" {
  description = "Thousands of tokens a minute for the embedding model."
  type        = number
  default     = 50
}

variable "chat_model" {
  description = "Name of the chat model; empty: the one that memory_core/adapters/openai/models.json names; none: conversations are formed by rules."
  type        = string
  default     = ""
}

variable "chat_model_version" {
  description = "Version of the chat model; empty: the one in that file, of another model the one that Azure takes by default."
  type        = string
  default     = ""
}

variable "chat_deployment" {
  description = "Name of the chat model's deployment; empty: the model's."
  type        = string
  default     = ""
}

variable "chat_capacity" {
  description = "Thousands of tokens a minute for the chat model."
  type        = number
  default     = 50
}

variable "model_sku" {
  description = "Where the models run: GlobalStandard anywhere, DataZoneStandard in the data zone, Standard in the region."
  type        = string
  default     = "GlobalStandard"

  validation {
    condition     = contains(["GlobalStandard", "DataZoneStandard", "Standard"], var.model_sku)
    error_message = "model_sku has to be one of GlobalStandard, DataZoneStandard, Standard."
  }
}

variable "always_ready" {
  description = "Instances that always wait for requests; -1: the profile's. 1 in production spares callers the cold start."
  type        = number
  default     = -1

  validation {
    condition     = var.always_ready >= -1
    error_message = "always_ready has to be at least -1."
  }
}

variable "maximum_instances" {
  description = "Most instances of each function group: HTTP together, each queue and the timer by itself; 0: the profile's."
  type        = number
  default     = 0

  validation {
    condition     = var.maximum_instances >= 0 && var.maximum_instances <= 1000
    error_message = "maximum_instances has to be at least 0 and at most 1000."
  }
}

variable "hold_users" {
  description = "Whether an instance holds users in memory, which pays where an instance waits for requests; empty: the profile's."
  type        = string
  default     = ""

  validation {
    condition     = contains(["", "true", "false"], var.hold_users)
    error_message = "hold_users has to be empty or one of true, false."
  }
}

variable "daily_tokens" {
  description = "Tokens of the chat model that an app may spend in a day; 0: no cap; -1: the profile's."
  type        = number
  default     = -1

  validation {
    condition     = var.daily_tokens >= -1
    error_message = "daily_tokens has to be at least -1."
  }
}

variable "instance_memory" {
  description = "Memory of an instance, in MB."
  type        = number
  default     = 2048

  validation {
    condition     = contains([512, 2048, 4096], var.instance_memory)
    error_message = "instance_memory has to be one of 512, 2048, 4096."
  }
}

variable "http_concurrency" {
  description = "Requests that one instance serves at once."
  type        = number
  default     = 16

  validation {
    condition     = var.http_concurrency >= 1 && var.http_concurrency <= 1000
    error_message = "http_concurrency has to be at least 1 and at most 1000."
  }
}

variable "python_version" {
  description = "Version of Python."
  type        = string
  default     = "3.13"

  validation {
    condition     = contains(["3.13", "3.12", "3.11"], var.python_version)
    error_message = "python_version has to be one of 3.13, 3.12, 3.11."
  }
}

variable "log_retention_days" {
  description = "Days that logs are kept."
  type        = number
  default     = 30

  validation {
    condition     = var.log_retention_days >= 30
    error_message = "log_retention_days has to be at least 30."
  }
}

variable "log_daily_cap_gb" {
  description = "Most gigabytes of logs a day; -1: no limit; 0: the profile's."
  type        = number
  default     = 0

  validation {
    condition     = var.log_daily_cap_gb >= -1
    error_message = "log_daily_cap_gb has to be at least -1."
  }
}

variable "telemetry" {
  description = "Where the app sends meters and spans of every function group: Application Insights, or the receiver that the app setting OTEL_EXPORTER_OTLP_ENDPOINT names."
  type        = string
  default     = "off"

  validation {
    condition     = contains(["off", "azure", "otlp"], var.telemetry)
    error_message = "telemetry has to be off, azure or otlp."
  }
}

variable "alert_email" {
  description = "Where alerts are sent; empty: there are none."
  type        = string
  default     = ""
}

variable "detailed_diagnostics" {
  description = "Whether logs have request units by partition key, which is a user, and each call of a model. They cost, and outlive an erasure."
  type        = bool
  default     = false
}

variable "monthly_budget" {
  description = "Most that a month should cost, in the subscription's currency; 0: no budget. It warns and stops nothing."
  type        = number
  default     = 0
}

variable "budget_start" {
  description = "First day of the month in which the budget begins, which Azure never lets be changed; empty: this month."
  type        = string
  default     = ""
}

variable "entra_tenant_id" {
  description = "Id of the Entra ID tenant whose access tokens the app takes beside API keys; empty: none."
  type        = string
  default     = ""
}

variable "entra_audience" {
  description = "Client id or api:// URI of the registration that such tokens are meant for; required with a tenant."
  type        = string
  default     = ""
}

variable "entra_app" {
  description = "App that callers with tokens belong to: its name, or claim:NAME; required with a tenant."
  type        = string
  default     = ""
}

variable "entra_user" {
  description = "Claim that is the user of a person's token; empty: claim:oid."
  type        = string
  default     = ""
}

variable "entra_rights" {
  description = "Rights that roles and scopes give; empty: Memory.Read=read,Memory.Write=write,Memory.Admin=admin."
  type        = string
  default     = ""
}

variable "entra_authority" {
  description = "Where tokens are issued; empty: https://login.microsoftonline.com. National clouds have others."
  type        = string
  default     = ""
}

variable "trust_principal_header" {
  description = "Whether the app believes X-MS-CLIENT-PRINCIPAL. It does not start with on unless App Service authentication is switched on, which is not done here."
  type        = string
  default     = "off"

  validation {
    condition     = contains(["off", "on"], var.trust_principal_header)
    error_message = "trust_principal_header has to be one of off, on."
  }
}

variable "api_keys" {
  description = "JSON list of API keys, as MEMORY_API_KEYS takes it (their SHA-256 only), or the same in base64: azd can not carry quotes."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.api_keys) >= 16
    error_message = "api_keys has to have at least 16 characters."
  }
}

variable "cursor_secret" {
  description = "Signs cursors. The same in every deployment, or lists that are being read end in the middle."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.cursor_secret) >= 16
    error_message = "cursor_secret has to have at least 16 characters."
  }
}

variable "webhook_secret" {
  description = "Signs webhooks. Receivers know it too."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.webhook_secret) >= 16
    error_message = "webhook_secret has to have at least 16 characters."
  }
}
