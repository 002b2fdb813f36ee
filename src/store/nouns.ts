import { domainRules } from './nouns/client/domain-rules.ts'
import { initialTokens } from './nouns/client/initial-tokens.ts'
import { leases } from './nouns/server/leases.ts'
import { settings } from './nouns/server/settings.ts'
import { appliedSets } from './nouns/server/applied-sets.ts'
import { adminCredentials } from './nouns/server/admin-credentials.ts'
import { apis } from './nouns/server/apis.ts'
import { signingKeys } from './nouns/server/signing-keys.ts'
import { audit } from './nouns/server/audit.ts'
import { figures } from './nouns/server/figures.ts'
import { hits } from './nouns/server/hits.ts'
import { registrationCounts } from './nouns/client/registration-counts.ts'
import { pushedRequests } from './nouns/token/pushed-requests.ts'
import { devices } from './nouns/token/devices.ts'
import { authorizations } from './nouns/token/authorizations.ts'
import { mails } from './nouns/user/mails.ts'
import { interactions } from './nouns/user/interactions.ts'
import { logoutNotices } from './nouns/user/logout-notices.ts'
import { roles } from './nouns/user/roles.ts'
import { providers } from './nouns/user/providers.ts'
import { identityProofs } from './nouns/user/identity-proofs.ts'
import { notBefore } from './nouns/token/not-before.ts'
import { grants } from './nouns/token/grants.ts'
import { accessTokens } from './nouns/token/access-tokens.ts'
import { sessions } from './nouns/user/sessions.ts'
import { users } from './nouns/user/users.ts'
import { links } from './nouns/user/links.ts'
import { emailCodes } from './nouns/user/email-codes.ts'
import { secondFactors } from './nouns/user/second-factors.ts'
import { passkeys } from './nouns/user/passkeys.ts'
import { identities } from './nouns/user/identities.ts'
import { memberships } from './nouns/organization/memberships.ts'
import { installations } from './nouns/organization/installations.ts'
import { organizations } from './nouns/organization/organizations.ts'
import { importedUsers } from './nouns/user/imported-users.ts'
import { masterKey } from './nouns/server/master-key.ts'
import { storeEras } from './nouns/server/store-eras.ts'
import { registrations } from './nouns/client/registrations.ts'
import { clients } from './nouns/client/clients.ts'
import { allRows } from './nouns/server/all-rows.ts'
import { expiredRows } from './nouns/server/expired-rows.ts'
import { allOf } from './noun.ts'

/** Every noun of the store, each in a file of `nouns/`. */
const NOUNS = {
  domainRules,
  initialTokens,
  leases,
  settings,
  appliedSets,
  adminCredentials,
  apis,
  signingKeys,
  audit,
  figures,
  hits,
  registrationCounts,
  pushedRequests,
  devices,
  authorizations,
  mails,
  interactions,
  logoutNotices,
  roles,
  providers,
  identityProofs,
  notBefore,
  grants,
  accessTokens,
  sessions,
  users,
  links,
  emailCodes,
  secondFactors,
  passkeys,
  identities,
  memberships,
  installations,
  organizations,
  importedUsers,
  masterKey,
  storeEras,
  registrations,
  clients,
  allRows,
  expiredRows,
}

export const NOUN_OPERATIONS = allOf('operations', NOUNS)

export const NOUN_READS = allOf('reads', NOUNS)
