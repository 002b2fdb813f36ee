import { API, API_CONSENT, API_SCOPES } from './screens/api.ts'
import { APIS } from './screens/apis.ts'
import { AUDIT } from './screens/audit.ts'
import { CLIENT } from './screens/client.ts'
import { CLIENTS } from './screens/clients.ts'
import { CONSENT } from './screens/consent.ts'
import { GRANT, GRANTS, ORGANIZATION_GRANT, ORGANIZATION_GRANTS } from './screens/grants.ts'
import { OVERVIEW } from './screens/overview.ts'
import { PROVIDER } from './screens/provider.ts'
import { PROVIDERS } from './screens/providers.ts'
import { USER } from './screens/user.ts'
import { USERS } from './screens/users.ts'
import type { AnyScreen } from './screen.ts'

/** The screens of the console. A screen can do what its row names, and nothing else. */
export const SCREENS: readonly AnyScreen[] = [
  OVERVIEW,
  CLIENTS,
  CLIENT,
  CONSENT,
  USERS,
  USER,
  GRANTS,
  GRANT,
  ORGANIZATION_GRANTS,
  ORGANIZATION_GRANT,
  AUDIT,
  APIS,
  API,
  API_SCOPES,
  API_CONSENT,
  PROVIDERS,
  PROVIDER,
]
