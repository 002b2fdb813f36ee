import { ACCESS_RULE, ORGANIZATION_ACCESS_RULE } from './screens/access-rules/access-rule.ts'
import { ACCESS_RULES, ORGANIZATION_ACCESS_RULES } from './screens/access-rules/access-rules.ts'
import { ACCESS, ORGANIZATION_ACCESS } from './screens/access/explain.ts'
import { API, API_CONSENT, API_SCOPES } from './screens/apis/api.ts'
import { APIS } from './screens/apis/apis.ts'
import { AUDIT } from './screens/audit.ts'
import { AUDIT_VERIFICATION } from './screens/audit-verification.ts'
import { CLIENT } from './screens/client.ts'
import { CLIENTS } from './screens/clients.ts'
import { CONSENT } from './screens/consent.ts'
import { CREDENTIALS } from './screens/credentials.ts'
import { FOUND, FOUND_WITHIN } from './screens/found.ts'
import { GRANT, GRANTS, ORGANIZATION_GRANT, ORGANIZATION_GRANTS } from './screens/grants.ts'
import { KEYS } from './screens/keys.ts'
import { DOMAINS, NEW_DOMAIN } from './screens/domains.ts'
import { GROUP, ORGANIZATION_GROUP } from './screens/groups/group.ts'
import { GROUPS, ORGANIZATION_GROUPS } from './screens/groups/groups.ts'
import { INITIAL_TOKENS } from './screens/initial-tokens.ts'
import { INSTALLATIONS, NEW_INSTALLATION } from './screens/organizations/installations.ts'
import { MEMBERS } from './screens/organizations/members.ts'
import { ORGANIZATION } from './screens/organizations/organization.ts'
import { ORGANIZATIONS } from './screens/organizations/organizations.ts'
import { FIGURES } from './screens/overview/figures.ts'
import { OVERVIEW } from './screens/overview/overview.ts'
import { PROVIDER } from './screens/providers/provider.ts'
import { PROVIDERS } from './screens/providers/providers.ts'
import { ROLES } from './screens/roles.ts'
import { SERVER } from './screens/server.ts'
import { TOKEN } from './screens/token.ts'
import { USER } from './screens/user.ts'
import { USER_ACTIVITY } from './screens/user-activity.ts'
import { USERS } from './screens/users.ts'
import type { AnyScreen } from './screen.ts'

/** The screens of the console. A screen can do what its row names, and nothing else. */
export const SCREENS: readonly AnyScreen[] = [
  OVERVIEW,
  FIGURES,
  FOUND,
  FOUND_WITHIN,
  CLIENTS,
  CLIENT,
  CONSENT,
  USERS,
  USER,
  USER_ACTIVITY,
  GROUPS,
  GROUP,
  ORGANIZATION_GROUPS,
  ORGANIZATION_GROUP,
  ACCESS_RULES,
  ACCESS_RULE,
  ORGANIZATION_ACCESS_RULES,
  ORGANIZATION_ACCESS_RULE,
  ACCESS,
  ORGANIZATION_ACCESS,
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
  AUDIT_VERIFICATION,
  ROLES,
  CREDENTIALS,
  KEYS,
  TOKEN,
  SERVER,
  ORGANIZATIONS,
  ORGANIZATION,
  MEMBERS,
  INSTALLATIONS,
  NEW_INSTALLATION,
  DOMAINS,
  NEW_DOMAIN,
  INITIAL_TOKENS,
]
