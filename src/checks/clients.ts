import type { ClientRecord } from '../ports/records/client.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClientInspection } from '../ports/inspection.ts'
import { findGrantType } from '../clients/grant-type.ts'
import { makeClientPolicy } from '../clients/evaluate-client.ts'
import { isConfidential } from '../protocol/client/authentication.ts'
import { evaluateClientPolicy, ownCopiesOf, type PolicyRefusal } from '../protocol/client/policy.ts'
import { listedIdOf } from '../protocol/client/identifier.ts'
import { DEVICE_CODE } from '../protocol/token/grant-types.ts'
import { openDomainRules } from '../protocol/client/domain-rule.ts'
import { ok, warning, type Examination, type Finding } from './finding.ts'

/** The ids that a finding names. */
const NAMED = 3
/** The ids that a finding about slow secrets names. More than others, because no other command lists these clients. */
const SLOW_NAMED = 100
/** The share of GRANTOR_UNUSED_CLIENTS from which on the doctor warns. */
const NEARLY_FULL = 0.8

/** A client that got tokens, and why the server would refuse it if it came again. */
interface Refused {
  readonly client: ClientRecord
  readonly reason: PolicyRefusal['reason']
}

/** Checks the clients that are in use, and how many registered lately. */
export function checkClients(examination: Examination): readonly Finding[] {
  return [
    ...checkPolicy(examination),
    ...checkPkce(examination),
    ...checkCopies(examination),
    ...checkDevices(examination),
    ...checkRegistrations(examination),
    ...checkUsersWithClientId(examination),
    ...checkImportedHashes(examination),
  ]
}

/** RFC 9068 §5: the `sub` of a client must not be that of a user. Two administrators who choose one id at the same time are not noticed. */
function checkUsersWithClientId({ store: { clients } }: Examination): readonly Finding[] {
  const users = clients?.usersWithClientId ?? []
  if (users.length === 0) return []
  return [
    warning(
      'clients',
      `${users.length === 1 ? 'One user has' : `${users.length} users have`} the id of a client: ${nameSome(users, NAMED)}. An API takes the tokens of the one for those of the other.`,
      'Create the client with another client_id, then delete this one: grantor client delete <client>',
    ),
  ]
}

/** No list of clients shows the hash of a secret that another system made. The first use replaces it, except for a secret that is easy to guess. */
function checkImportedHashes({ store: { clients } }: Examination): readonly Finding[] {
  const idsWhere = (isUsed: boolean): readonly string[] =>
    (clients?.importedHashes ?? []).filter((one) => one.isUsed === isUsed).map(({ clientId }) => clientId)
  const [unused, used] = [idsWhere(false), idsWhere(true)]
  const remedy = 'Give such a client another secret: grantor client rotate-secret <client>'
  return [
    ...(unused.length === 0
      ? []
      : [
          ok(
            'secrets',
            `Imported clients have not used their secrets yet, whose hashes are slow (${unused.length}): ${nameSome(unused, SLOW_NAMED)}. The first use replaces one, unless the secret is short or easy to guess.`,
          ),
        ]),
    ...(used.length === 0
      ? []
      : [
          warning(
            'secrets',
            `Imported clients use secrets that are short or easy to guess, so that their slow hashes stay (${used.length}): ${nameSome(used, SLOW_NAMED)}.`,
            remedy,
          ),
        ]),
  ]
}

/**
 * Finds clients in use that would not be accepted again, because the modes or the rules for domains changed after they came. A closed mode
 * is a decision of the operator, and such clients stay usable. The tokens of a client whose domain was blocked stay valid too, which an
 * operator may not expect.
 */
function checkPolicy({ choices, store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined || clients.newest.length === 0) return []
  const policy = makeClientPolicy(choices, openDomainRules(clients.domains))
  const refused = clients.newest.flatMap((client): readonly Refused[] => {
    const verdict = evaluateClientPolicy(policy, { client, phase: 'enter', redirectUri: undefined })
    return verdict.kind === 'refused' && client.usedAt !== undefined ? [{ client, reason: verdict.reason }] : []
  })
  const clientsWhere = (isBlocked: boolean) =>
    refused.filter(({ reason }) => (reason === 'domain-blocked') === isBlocked).map(({ client }) => client)
  const [blocked, late] = [clientsWhere(true), clientsWhere(false)]
  const examined = `Of the newest ${clients.newest.length} clients`
  return [
    late.length === 0
      ? ok('clients', `${examined}, each one in use would be accepted again today, unless its domain is blocked.`)
      : ok(
          'clients',
          `${examined}, ${late.length} in use would not be accepted again today, but stay usable: ${idsOf(late)}.`,
        ),
    ...(blocked.length === 0
      ? []
      : [
          warning(
            'clients',
            `${examined}, ${blocked.length} in use have a blocked domain, and their tokens stay valid: ${idsOf(blocked)}.`,
            'See "grantor client list --trust-level blocked". To revoke the tokens of a client: grantor client disable <client>',
          ),
        ]),
  ]
}

/** Finds clients that may omit PKCE without a nonce in its place. The rule is for those that cannot do otherwise. RFC 9700 §2.1.1. */
function checkPkce({ choices, store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined) return []
  const policy = makeClientPolicy(choices, openDomainRules(clients.domains))
  const exempt = clients.newest.filter((client) => {
    const verdict = evaluateClientPolicy(policy, { client, phase: 'use', redirectUri: undefined })
    return verdict.kind === 'allowed' && verdict.rights.pkce === 'optional'
  })
  if (exempt.length === 0) return []
  return [
    warning(
      'clients',
      `Of the newest ${clients.newest.length} clients, ${exempt.length} may omit PKCE and the nonce: ${idsOf(exempt)}.`,
      'If the application sends PKCE or a nonce now: grantor client set-rules <client> --consent asked --pkce nonce',
    ),
  ]
}

/** Names the confidential clients whose rule lets copies of a refresh token work, although their secret would make each copy useless. */
function checkCopies({ store: { clients } }: Examination): readonly Finding[] {
  const newest = clients?.newest ?? []
  const copying = newest.filter((client) => isConfidential(client) && ownCopiesOf(client) === 'network')
  if (copying.length === 0) return []
  return [
    ok(
      'clients',
      `Of the newest ${newest.length} clients, ${copying.length} authenticate and have the rule copies network: ${idsOf(copying)}. Those with one store need it not.`,
    ),
  ]
}

/** Finds whether a client has the device grant. Where none has it, it need not be offered to phishers. */
function checkDevices({ choices, now, store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined) return []
  if (!choices.grantTypes.includes(DEVICE_CODE)) return checkLeftDevices(clients, now)
  const having = clients.newest.filter(({ metadata }) => metadata.grant_types.includes(DEVICE_CODE))
  const examined = `Of the newest ${clients.newest.length} clients`
  if (having.length > 0) return [ok('devices', `${examined}, ${having.length} can connect devices: ${idsOf(having)}.`)]
  return [
    warning(
      'devices',
      `The device grant is on. ${examined}, none has it.`,
      `Set GRANTOR_DEVICE_GRANT=off, or create a client with it: grantor client create --help`,
    ),
  ]
}

/** Without the grant, devices that were connected before refresh their tokens all the same. */
function checkLeftDevices({ newest, grants }: ClientInspection, now: EpochMs): readonly Finding[] {
  const left = grants.flatMap((grant): readonly ClientRecord[] => {
    const client = newest.find(({ id }) => id === grant.clientId)
    const { revokedAt, expiresAt, family } = grant
    const isLive = revokedAt === undefined && Math.min(expiresAt, family?.idleExpiresAt ?? expiresAt) > now
    return isLive && client !== undefined && findGrantType(grant, client) === DEVICE_CODE ? [client] : []
  })
  if (left.length === 0) return []
  return [
    warning(
      'devices',
      `The device grant is off. Of the newest ${grants.length} grants, ${left.length} of devices are active and go on: ${idsOf([...new Set(left)])}.`,
      'To end them: grantor client revoke-tokens <client>',
    ),
  ]
}

/**
 * Beyond the bound of the pool, clients that have no token yet are removed early: those of a flood, and those of users who come back
 * too late. Clients that got a token meanwhile are among the counted ones (decision 0021).
 */
function checkRegistrations({ choices, now, store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined) return []
  const { lifetimes, unusedClients: limit } = choices
  const since = now - lifetimes.unusedClient * 1000
  const lately = clients.registrations.filter(({ windowEndsAt }) => windowEndsAt > since)
  const registered = lately.reduce((sum, { count }) => sum + count, 0)
  const hours = Math.ceil(lifetimes.unusedClient / 3600)
  const message = `${registered} clients registered in the last ${hours} h, and at most ${limit} are kept that have no token yet.`
  if (registered < NEARLY_FULL * limit) return [ok('registrations', message)]
  return [
    warning(
      'registrations',
      registered > limit ? `${message} The oldest are removed earlier.` : message,
      'See where they come from with "grantor client list", and remove a flood with "grantor client purge". If they are wanted, raise GRANTOR_UNUSED_CLIENTS; if not, set GRANTOR_REGISTRATION=token.',
    ),
  ]
}

function idsOf(clients: readonly ClientRecord[]): string {
  return nameSome(clients.map(listedIdOf), NAMED)
}

function nameSome(ids: readonly string[], most: number): string {
  return [...ids.slice(0, most), ...(ids.length > most ? ['…'] : [])].join(', ')
}
