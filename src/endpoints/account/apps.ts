import { distinctTexts, type LocalizedText } from '../../base/localized-text.ts'
import type { AppAccess, ConnectedApp, WithheldAccess } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ConsentRecord, GrantRecord } from '../../ports/records/grant.ts'
import { viewDestination } from '../../clients/destination.ts'
import { findGrantType } from '../../clients/grant-type.ts'
import { AT_DEVICE, evaluateClient } from '../../clients/evaluate-client.ts'
import { findGrantReason } from '../../tokens/inactive-reason.ts'
import { findInvalidPrincipal } from '../../tokens/invalid-principal.ts'
import { revocationCutoff } from '../../tokens/revocation-cutoff.ts'
import { describeAccess } from '../../clients/access-view.ts'
import { secondsSince, type EpochMs } from '../../base/brand.ts'
import { documentHostOf } from '../../protocol/client/identifier.ts'
import { clientNames } from '../../protocol/client/identity.ts'
import { isOperatorMade, type ClientTrust } from '../../protocol/client/policy.ts'
import { parseClientId, parseOrganizationId, type OrganizationId, type UserId } from '../../protocol/ids.ts'
import { DEVICE_CODE } from '../../protocol/token/grant-types.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import { IDENTITY_SCOPES, isIdentityScope, scopeTokens, type Scope } from '../../protocol/token/scope.ts'
import { ALWAYS_MET, findRuling, type Ruling } from '../../tokens/access-rules.ts'
import { findOrganizations } from '../authorization/organization-choice.ts'
import { consentStart } from '../authorization/remembered-consent.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { doneAt, frameOf } from './frame.ts'

/** The active grants that are read, the newest of each app first. An app usually has one; programs that never refresh have more. */
const GRANT_LIMIT = 200
/** The newest codes that are read. A device has five minutes to redeem its code, another client a minute. */
const CODE_LIMIT = 200
/** The remembered consents that are read. */
const CONSENT_LIMIT = 200
/** The apps on the page. */
const APP_LIMIT = 50

/** Shows the apps that the user allowed something that is still valid, or that they can get again without a question. */
export async function showApps(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { apps, isCut } = await findApps(context, request, owner.user.id)
  const frame = await frameOf(context, request, owner)
  return { kind: 'page', status: 200, page: { kind: 'account-apps', frame, apps, isCut } }
}

/** Asks before an app is removed. An app that the user has not allowed anything leads to the list. */
export async function askToRemoveApp(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { apps } = await findApps(context, request, owner.user.id)
  const [client, organization] = [request.params.get('client'), request.params.get('organization')]
  const app = apps.find(({ hidden }) => hidden['client'] === client && hidden['organization'] === organization)
  if (app === undefined) return doneAt(context, request, 'apps', undefined)
  const frame = await frameOf(context, request, owner)
  return { kind: 'page', status: 200, page: { kind: 'account-remove-app', frame, app } }
}

/**
 * Takes back what the user allowed an app. The grants with all tokens end, and the app has to ask again, unless its consent is implied. An app of another user,
 * and one that does not exist, get the same answer (threats.md ACC-06).
 */
export async function removeApp(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const clientId = parseClientId(request.params.get('client') ?? '')
  const organization = request.params.get('organization')
  const organizationId = organization === undefined ? undefined : parseOrganizationId(organization)
  if (clientId === undefined || (organization !== undefined && organizationId === undefined)) {
    return errorPage('form_field_malformed', { user: owner.user.id })
  }
  await context.store.removeApp({ userId: owner.user.id, clientId, organizationId, ...revocationCutoff(context) })
  return { ...doneAt(context, request, 'apps', 'app-removed'), event: { event: 'app.removed', client: clientId } }
}

/** What a user has allowed one client, for one organization or none. At least one of the lists has an entry. */
interface Connection {
  readonly client: ClientRecord
  readonly organizationId: OrganizationId | undefined
  /** The active grants, newest first. */
  readonly grants: readonly GrantRecord[]
  /** The remembered consents, with which the client gets access again without a question. */
  readonly consents: readonly ConsentRecord[]
  /** When the user connected each device that has not fetched its tokens yet, and for what. */
  readonly waiting: readonly Allowed[]
}

/** What the user allowed once. */
type Allowed = Pick<GrantRecord, 'scope' | 'resources' | 'createdAt'>

const NOTHING = { grants: [], consents: [], waiting: [] }

/** Returns what the user has allowed, the app that was used last first. */
async function findApps(
  context: Context,
  { uiLocales }: Pick<Request, 'uiLocales'>,
  userId: UserId,
): Promise<{ readonly apps: readonly ConnectedApp[]; readonly isCut: boolean }> {
  const cutoff = revocationCutoff(context)
  const { now } = cutoff
  const [grants, codes, consents, organizations] = await Promise.all([
    context.store.listGrantsByApp({ userId, now, limit: GRANT_LIMIT }),
    context.store.listOpenCodes({ userId, ...cutoff, limit: CODE_LIMIT }),
    context.store.listConsents(userId, CONSENT_LIMIT),
    findOrganizations(context, userId),
  ])
  const found = await Promise.all([
    ...grants.map(async (grant): Promise<readonly Connection[]> => {
      const { clientId, organizationId } = grant
      const client = await context.store.findClient(clientId)
      const end = await findGrantReason(context, client, grant, now)
      return client === undefined || (end !== undefined && end !== 'held')
        ? []
        : [{ ...NOTHING, client, organizationId, grants: [grant] }]
    }),
    ...codes.map((code) => findWaiting(context, code)),
    ...consents.map(async (consent): Promise<readonly Connection[]> => {
      const { organizationId } = consent.target
      const client = await context.store.findClient(consent.clientId)
      if (client === undefined || client.disabledAt !== undefined) return []
      const organization = organizations.find(({ id }) => id === organizationId)
      const { givenAt, under } = consent
      if (organizationId !== undefined && givenAt < (organization?.since ?? Infinity)) return []
      const { since, server } = await consentStart(context, client, userId)
      if (givenAt < since || under.server !== server || under.organization !== organization?.notBefore) return []
      return [{ ...NOTHING, client, organizationId, consents: [consent] }]
    }),
  ])
  const groups = Map.groupBy(found.flat(), ({ client, organizationId }) =>
    nameOfApp({ clientId: client.id, organizationId }),
  )
  const connections = [...groups.values()].map((parts): Connection => {
    const [first] = parts as [Connection]
    return {
      ...first,
      grants: parts.flatMap((part) => part.grants),
      consents: parts.flatMap((part) => part.consents),
      waiting: parts.flatMap((part) => part.waiting),
    }
  })
  const sorted = connections.toSorted((one, other) => lastUse(other) - lastUse(one))
  const apis = await context.apis()
  const apps = await Promise.all(
    sorted.slice(0, APP_LIMIT).map((one) => viewApp(context, one, { apis, now, uiLocales, userId })),
  )
  const isCut =
    sorted.length > APP_LIMIT ||
    new Set(grants.map(nameOfApp)).size === GRANT_LIMIT ||
    codes.length === CODE_LIMIT ||
    consents.length === CONSENT_LIMIT
  return { apps, isCut }
}

/** A client is another app for each organization. */
function nameOfApp({ clientId, organizationId }: Pick<GrantRecord, 'clientId' | 'organizationId'>): string {
  return `${clientId} ${organizationId ?? ''}`
}

/** A connected device that has yet to fetch its tokens: the user can take them back before (threats.md DEV-18). */
async function findWaiting(
  context: Context,
  { clientId, device, scope, resources, status }: AuthorizationRecord,
): Promise<readonly Connection[]> {
  if (device === undefined || status.kind !== 'approved') return []
  const { userId, organizationId, approvedAt } = status
  const client = await context.store.findClient(clientId)
  const principals = { client, userId, organizationId, isUnattended: false }
  const end = await findInvalidPrincipal(context, principals, approvedAt)
  if (client === undefined || end !== undefined) return []
  return [{ ...NOTHING, client, organizationId, waiting: [{ scope, resources, createdAt: approvedAt }] }]
}

/** When the app last got a token; if it has none that is valid, when the user last allowed it something. */
function lastUse({ grants, consents, waiting }: Connection): EpochMs {
  const uses = [
    ...grants.map(({ family, createdAt }) => family?.rotatedAt ?? createdAt),
    ...waiting.map(({ createdAt }) => createdAt),
  ]
  return Math.max(...(uses.length === 0 ? consents.map(({ givenAt }) => givenAt) : uses)) as EpochMs
}

interface Surroundings {
  readonly apis: readonly ApiRecord[]
  readonly now: EpochMs
  readonly uiLocales: string | undefined
  readonly userId: UserId
}

async function viewApp(
  context: Context,
  connection: Connection,
  { apis, now, uiLocales, userId }: Surroundings,
): Promise<ConnectedApp> {
  const { client, organizationId, grants, consents, waiting } = connection
  const allowed: readonly Allowed[] = [
    ...grants,
    ...waiting,
    ...consents.map(({ scope, target, givenAt }) => ({ scope, resources: target.resources, createdAt: givenAt })),
  ]
  const rulings = await Promise.all(
    allowed.map(async (one) => ({
      ...one,
      ruling: await findRuling(context, { ...one, client, organizationId, userId }, ALWAYS_MET),
    })),
  )
  const left = rulings.map(({ ruling, ...one }) => ({ ...one, scope: ruling?.scope ?? one.scope }))
  const [redirectUri] = client.metadata.redirect_uris
  const organization = organizationId === undefined ? undefined : await context.store.findOrganization(organizationId)
  const hidden = { client: client.id, ...(organizationId === undefined ? {} : { organization: organizationId }) }
  return {
    hidden,
    removeUri: pageAddress(context.issuer, PATHS.accountRemoveApp, { ...hidden, uiLocales }),
    name: clientNames(client.metadata),
    trust: await findTrust(context, connection),
    documentHost: documentHostOf(client),
    destination: redirectUri === undefined ? undefined : viewDestination(redirectUri),
    organization: organization?.name,
    assertedBy: await findAsserting(context, grants),
    isConsentImplied: isOperatorMade(client) && client.rules.consent === 'implied',
    identity: IDENTITY_SCOPES.filter((token) => left.some(({ scope }) => scopeTokens(scope).includes(token))),
    permissions: distinctTexts(left.flatMap((one) => sentencesOf(one, apis))),
    withheld: withheldOf(rulings, new Set(left.flatMap(({ scope }) => scopeTokens(scope))), apis),
    resources: namesOf(
      allowed.flatMap(({ resources }) => resources),
      apis,
    ),
    allowedSecondsAgo: secondsSince(Math.max(...allowed.map(({ createdAt }) => createdAt)) as EpochMs, now),
    access: viewAccess(connection, now),
  }
}

/** What access rules leave out of all that the user allowed. `left`: the scopes that the app gets nevertheless. */
function withheldOf(
  rulings: readonly (Allowed & { readonly ruling: Ruling | undefined })[],
  left: ReadonlySet<string>,
  apis: readonly ApiRecord[],
): readonly WithheldAccess[] {
  const scopes = rulings.flatMap(({ ruling, resources, createdAt }) =>
    [...(ruling?.takenBy ?? [])].map(([token, rule]): readonly [string, WithheldAccess] => [
      token,
      {
        identity: isIdentityScope(token) ? token : undefined,
        permissions: sentencesOf({ scope: token as Scope, resources, createdAt }, apis),
        sentence: rule.sentence,
      },
    ]),
  )
  const bare = rulings.flatMap(({ ruling, resources }): readonly WithheldAccess[] =>
    ruling?.takesBare === undefined
      ? []
      : [{ identity: undefined, permissions: namesOf(resources, apis), sentence: ruling.takesBare.sentence }],
  )
  return [...new Map(scopes.filter(([token]) => !left.has(token))).values(), ...bare.slice(0, 1)]
}

function namesOf(resources: readonly Resource[], apis: readonly ApiRecord[]): readonly LocalizedText[] {
  return [...new Set(resources)].map((resource) => apis.find((api) => api.resource === resource)?.name ?? resource)
}

function viewAccess(connection: Connection, now: EpochMs): AppAccess {
  const { grants, waiting } = connection
  if (grants.length === 0) return { kind: waiting.length === 0 ? 'remembered' : 'device-waits' }
  const ends = grants.map(({ expiresAt, family }) => Math.min(expiresAt, family?.idleExpiresAt ?? expiresAt))
  return {
    kind: 'tokens',
    isPaused: grants.some(({ family }) => family?.heldFor !== undefined),
    usedSecondsAgo: secondsSince(lastUse(connection), now),
    endsAt: Math.max(...ends) as EpochMs,
  }
}

/** The provider may have been deleted since. */
async function findAsserting({ providers }: Context, grants: readonly GrantRecord[]): Promise<string | undefined> {
  const asserting = grants.find(({ providerId }) => providerId !== undefined)?.providerId
  if (asserting === undefined) return undefined
  return (await providers()).find(({ id }) => id === asserting)?.settings.name ?? asserting
}

/** A client that the policy no longer allows is shown too: its tokens work until they expire. */
async function findTrust(
  context: Context,
  { client, grants, waiting }: Pick<Connection, 'client' | 'grants' | 'waiting'>,
): Promise<ClientTrust> {
  const { grant_types: grantTypes, redirect_uris: redirectUris } = client.metadata
  // It may have got its tokens as a device, and have lost the grant type since.
  const isDevice =
    grantTypes.includes(DEVICE_CODE) ||
    waiting.length > 0 ||
    grants.some((grant) => findGrantType(grant, client) === DEVICE_CODE)
  const allowed = await evaluateClient(
    context,
    client,
    isDevice ? AT_DEVICE : { phase: 'use', redirectUri: redirectUris[0] },
  )
  return 'kind' in allowed ? { level: 'unverified' } : allowed.rights.trust
}

function sentencesOf(allowed: Allowed, apis: readonly ApiRecord[]): readonly LocalizedText[] {
  const own = describeAccess(apis, allowed).scopes.filter(({ name }) => !isIdentityScope(name))
  return own.flatMap(({ name, sentences }) => (sentences.length === 0 ? [name] : sentences))
}
