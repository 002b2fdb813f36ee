import type { OperationName } from '../ports/operations/index.ts'
import { allOf, sharedOf, type OperationRow } from './noun.ts'
import { clients } from './nouns/client/clients.ts'
import { domainRules } from './nouns/client/domain-rules.ts'
import { initialTokens } from './nouns/client/initial-tokens.ts'
import { registrationCounts } from './nouns/client/registration-counts.ts'
import { registrations } from './nouns/client/registrations.ts'
import { accessTokens } from './nouns/token/access-tokens.ts'
import { authorizations } from './nouns/token/authorizations.ts'
import { devices } from './nouns/token/devices.ts'
import { grants } from './nouns/token/grants.ts'
import { notBefore } from './nouns/token/not-before.ts'
import { pushedRequests } from './nouns/token/pushed-requests.ts'
import { accessRules } from './nouns/organization/access-rules.ts'
import { groupMembers } from './nouns/organization/group-members.ts'
import { groups } from './nouns/organization/groups.ts'
import { installations } from './nouns/organization/installations.ts'
import { memberships } from './nouns/organization/memberships.ts'
import { organizations } from './nouns/organization/organizations.ts'
import { accounts } from './nouns/user/accounts.ts'
import { emailCodes } from './nouns/user/email-codes.ts'
import { identities } from './nouns/user/identities.ts'
import { identityProofs } from './nouns/user/identity-proofs.ts'
import { importedUsers } from './nouns/user/imported-users.ts'
import { interactions } from './nouns/user/interactions.ts'
import { links } from './nouns/user/links.ts'
import { logoutNotices } from './nouns/user/logout-notices.ts'
import { mails } from './nouns/user/mails.ts'
import { passkeys } from './nouns/user/passkeys.ts'
import { providers } from './nouns/user/providers.ts'
import { roles } from './nouns/user/roles.ts'
import { secondFactors } from './nouns/user/second-factors.ts'
import { sessions } from './nouns/user/sessions.ts'
import { users } from './nouns/user/users.ts'
import { userSearch } from './nouns/user/user-search.ts'
import { adminCredentials } from './nouns/server/admin-credentials.ts'
import { allRows } from './nouns/server/all-rows.ts'
import { apis } from './nouns/server/apis.ts'
import { appliedSets } from './nouns/server/applied-sets.ts'
import { audit } from './nouns/server/audit.ts'
import { examinedRows } from './nouns/server/examined-rows.ts'
import { expiredRows } from './nouns/server/expired-rows.ts'
import { figures } from './nouns/server/figures.ts'
import { hits } from './nouns/server/hits.ts'
import { leases } from './nouns/server/leases.ts'
import { masterKey } from './nouns/server/master-key.ts'
import { settings } from './nouns/server/settings.ts'
import { signingKeys } from './nouns/server/signing-keys.ts'
import { storeEras } from './nouns/server/store-eras.ts'

/** Every noun of the store. */
const NOUNS = {
  clients,
  domainRules,
  initialTokens,
  registrationCounts,
  registrations,
  accessTokens,
  authorizations,
  devices,
  grants,
  notBefore,
  pushedRequests,
  accessRules,
  groupMembers,
  groups,
  installations,
  memberships,
  organizations,
  accounts,
  emailCodes,
  identities,
  identityProofs,
  importedUsers,
  interactions,
  links,
  logoutNotices,
  mails,
  passkeys,
  providers,
  roles,
  secondFactors,
  sessions,
  users,
  userSearch,
  adminCredentials,
  allRows,
  apis,
  appliedSets,
  audit,
  examinedRows,
  expiredRows,
  figures,
  hits,
  leases,
  masterKey,
  settings,
  signingKeys,
  storeEras,
}

/** Every operation of the store. A new operation does not compile until it has a row, with steps or with a handler in each engine. */
export const OPERATIONS = allOf('operations', NOUNS) satisfies { readonly [Name in OperationName]: OperationRow<Name> }

/** The operations that both engines apply with the same steps. */
export const SHARED_OPERATIONS = sharedOf(OPERATIONS)

/** The reads that both engines answer with the same steps. */
export const READS = allOf('reads', NOUNS)
