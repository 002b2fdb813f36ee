/** Complete records, from which a test names only what matters to it. Each has its own ids, so that tests can share a database. */
import { randomBytes } from 'node:crypto'
import { normalizeEmail, type EmailAddress } from '../../src/protocol/sign-in/email-address.ts'
import { SERVER_TOKENS, type ApiDeclaration } from '../../src/admin/api/api.ts'
import type { SessionStart } from '../../src/ports/operations/session.ts'
import type { AuthorizationRecord } from '../../src/ports/records/authorization.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import type { GrantRecord } from '../../src/ports/records/grant.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from '../../src/ports/records/organization.ts'
import type { GroupRecord } from '../../src/ports/records/group.ts'
import type { InteractionRecord } from '../../src/ports/records/interaction.ts'
import type { LinkRecord, SessionRecord, UserRecord } from '../../src/ports/records/user.ts'
import type { ApiRecord } from '../../src/ports/records/api.ts'
import type { KeyRecord, SigningAlgorithm } from '../../src/ports/records/key.ts'
import type { Approval, Redemption } from '../../src/ports/operations/authorization.ts'
import type { SharedClient } from '../../src/ports/operations/client.ts'
import type { Rotation } from '../../src/ports/operations/token.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { groupIdOf } from '../../src/protocol/access/group.ts'
import { toSeconds, type EpochMs } from '../../src/base/brand.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import {
  grantIdOf,
  mintAuthorizationId,
  mintClientId,
  mintInteractionId,
  mintKeyId,
  mintOrderedId,
  mintOrganizationId,
  mintSessionId,
  mintUserId,
} from '../../src/protocol/ids.ts'
import type { CodeChallenge } from '../../src/protocol/authorization/pkce.ts'
import type { RedirectUri } from '../../src/protocol/uri/redirect-uri.ts'
import type { JwkThumbprint } from '../../src/protocol/token/dpop-proof.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import type { SecretHash } from '../../src/protocol/secrets.ts'

export const NOW = 1_800_000_000_000 as EpochMs
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const ANOTHER_KEY = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' as JwkThumbprint
export const A_KEY = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' as JwkThumbprint

export function at(milliseconds: number): EpochMs {
  return (NOW + milliseconds) as EpochMs
}

export function aHash(): SecretHash {
  return randomBytes(32).toString('base64url') as SecretHash
}

export function aClient(differing: Partial<ClientRecord> = {}, madeAt: EpochMs = NOW): ClientRecord {
  return {
    id: mintClientId(madeAt, randomBytes),
    chosenId: undefined,
    issuedAt: toSeconds(madeAt),
    source: 'registration',
    rules: DEFAULT_RULES,
    document: undefined,
    initialToken: undefined,
    secretHash: aHash(),
    managementHash: aHash(),
    dedupeKey: undefined,
    metadata: {
      redirect_uris: ['https://app.example/cb', 'http://127.0.0.1/cb?a=1'],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'read write' as Scope,
      client_name: `O'Brien; drop table "clients" -- \u{1f600}\u202e`,
      contacts: ['a@b.test'],
    },
    usedAt: undefined,
    verifiedAt: undefined,
    disabledAt: undefined,
    identityFrom: undefined,
    previousSecret: undefined,
    approvedScope: '' as Scope,
    notBefore: undefined,
    lastUsedAt: undefined,
    ...differing,
  }
}

export function aSharedClient(differing: Partial<ClientRecord> = {}, madeAt: EpochMs = NOW): SharedClient {
  const bare = { secretHash: undefined, managementHash: undefined }
  return { ...aClient({ ...bare, ...differing }, madeAt), dedupeKey: aHash() }
}

export function anAuthorization(
  differing: Partial<AuthorizationRecord> = {},
  madeAt: EpochMs = NOW,
): AuthorizationRecord {
  return {
    id: mintAuthorizationId(madeAt, randomBytes),
    clientId: mintClientId(madeAt, randomBytes),
    browserHash: aHash(),
    redirectUri: 'https://app.example/cb' as RedirectUri,
    state: `a "state" \\ with ' everything \u{1f600}`,
    responseMode: 'query',
    codeChallenge: randomBytes(32).toString('base64url') as CodeChallenge,
    keyThumbprint: A_KEY,
    scope: 'read' as Scope,
    ungrantedScope: 'admin' as Scope,
    resources: ['https://api.example' as Resource],
    mustSignIn: true,
    authenticatedSince: undefined,
    authentication: { acrValues: ['phr', 'urn:grantor:acr:1fa'], isEssential: true },
    stated: undefined,
    onlyUserId: undefined,
    openid: undefined,
    pushedRequestId: undefined,
    device: undefined,
    mustConsent: false,
    loginHint: 'ada@acme.test',
    organizationId: undefined,
    createdAt: madeAt,
    expiresAt: (madeAt + 10 * MINUTE) as EpochMs,
    status: { kind: 'pending' },
    ...differing,
  }
}

export function anApproval(
  { id, clientId }: Pick<AuthorizationRecord, 'id' | 'clientId'>,
  differing: Partial<Approval> = {},
): Approval {
  const userId = mintUserId(NOW, randomBytes)
  return {
    id,
    userId,
    organizationId: undefined,
    codeHash: aHash(),
    now: NOW,
    codeExpiresAt: at(MINUTE),
    decided: undefined,
    remember: {
      userId,
      clientId,
      organizationId: undefined,
      redirectHost: 'app.example',
      resources: '',
      since: 0 as EpochMs,
      under: { server: 0 as EpochMs, organization: undefined },
      scope: 'read' as Scope,
    },
    session: differing.notified?.session,
    notified: undefined,
    ...differing,
  }
}

/** Tags of two networks. */
export const [HERE, ELSEWHERE] = ['networkA', 'networkB'] as const

export function aFamily(differing: Partial<GrantRecord['family']> = {}): NonNullable<GrantRecord['family']> {
  return {
    generation: 0,
    liveHash: aHash(),
    rotatedAt: NOW,
    idleExpiresAt: at(10 * HOUR),
    network: HERE,
    heldFor: undefined,
    ...differing,
  }
}

export function aGrant(differing: Partial<GrantRecord> = {}, madeAt: EpochMs = NOW): GrantRecord {
  return {
    id: grantIdOf(mintAuthorizationId(madeAt, randomBytes)),
    clientId: mintClientId(madeAt, randomBytes),
    userId: mintUserId(madeAt, randomBytes),
    organizationId: undefined,
    scope: 'read write' as Scope,
    ungrantedScope: 'admin export' as Scope,
    resources: ['https://api.example' as Resource, 'https://other.example/x' as Resource],
    createdAt: madeAt,
    expiresAt: (madeAt + 100 * HOUR) as EpochMs,
    revokedAt: undefined,
    family: aFamily(),
    openid: undefined,
    stated: { acr: 'urn:grantor:acr:2fa', level: 3, at: NOW },
    redirectHost: 'app.example',
    boundKey: { thumbprint: A_KEY, generation: 0 },
    providerId: undefined,
    ...differing,
  }
}

export function aRedemption({ id, codeHash }: Approval, differing: Partial<Redemption> = {}): Redemption {
  const { grant = aGrant() } = differing
  return { codeHash, now: at(1), ...differing, grant: { ...grant, id: grantIdOf(id) } }
}

/** A rotation of a grant's newest token. */
export function aRotation(grant: GrantRecord, differing: Partial<Rotation> = {}): Rotation {
  return {
    grantId: grant.id,
    generation: 0,
    presentedHash: grant.family?.liveHash ?? aHash(),
    successorHash: aHash(),
    now: at(1000),
    idleExpiresAt: at(1000 + 10 * HOUR),
    issuedAt: grant.family?.rotatedAt ?? NOW,
    retryMs: 30_000,
    key: grant.boundKey?.thumbprint,
    network: HERE,
    copies: 'strict',
    earlierMs: 168 * HOUR,
    recordsParting: true,
    ...differing,
  }
}

export const A_PASSWORD_HASH = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA'

type WithEmail<Email> = Omit<UserRecord, 'email'> & { readonly email: Email }

export function aUser({ email, ...differing }: Partial<WithEmail<string>> = {}): WithEmail<EmailAddress> {
  const id = mintUserId(NOW, randomBytes)
  return {
    id,
    email: normalizeEmail(email ?? `${id}@acme.test`),
    emailVerifiedAt: at(-HOUR),
    name: 'Ada "the" O\'Lovelace',
    profile: { given_name: 'Ada "the"', address: { country: 'GB' } },
    updatedAt: at(-HOUR),
    passwordHash: A_PASSWORD_HASH,
    firstSignedInAt: at(-MINUTE),
    lastSignedInAt: NOW,
    createdAt: NOW,
    disabledAt: undefined,
    notBefore: NOW,
    ...differing,
  }
}

export function anOrganization(differing: Partial<OrganizationRecord> = {}, madeAt: EpochMs = NOW): OrganizationRecord {
  return {
    id: mintOrganizationId(madeAt, randomBytes),
    name: 'Acme "and" Sons\' \u{1f600}',
    accessRules: [],
    createdAt: madeAt,
    disabledAt: undefined,
    notBefore: madeAt,
    ...differing,
  }
}

export function aMembership(differing: Partial<MembershipRecord> = {}): MembershipRecord {
  return {
    userId: mintUserId(NOW, randomBytes),
    organizationId: mintOrganizationId(NOW, randomBytes),
    createdAt: NOW,
    disabledAt: undefined,
    notBefore: NOW,
    ...differing,
  }
}

export function anInstallation(differing: Partial<InstallationRecord> = {}): InstallationRecord {
  return {
    clientId: mintClientId(NOW, randomBytes),
    organizationId: mintOrganizationId(NOW, randomBytes),
    scope: 'read write' as Scope,
    actsForMembers: false,
    createdAt: NOW,
    disabledAt: undefined,
    notBefore: NOW,
    ...differing,
  }
}

/** A user who signs in at a provider: without an e-mail address and a password. */
export function aUserOfProvider(differing: Partial<UserRecord> = {}): UserRecord {
  const none = { email: undefined, emailVerifiedAt: undefined, passwordHash: undefined }
  return { ...aUser(), ...none, firstSignedInAt: undefined, lastSignedInAt: undefined, ...differing }
}

/** A sign-in that the operator's application is to do. */
export function anInteraction(differing: Partial<InteractionRecord> = {}): InteractionRecord {
  return {
    id: mintInteractionId(NOW, randomBytes),
    hash: aHash(),
    target: 'account:apps',
    browserHash: aHash(),
    uiLocales: 'de-AT en',
    signInAfter: at(-MINUTE),
    createdAt: NOW,
    expiresAt: at(10 * MINUTE),
    answer: undefined,
    answeredAt: undefined,
    usedAt: undefined,
    ...differing,
  }
}

export function aSession(differing: Partial<SessionRecord> = {}): SessionRecord {
  const id = mintSessionId(NOW, randomBytes)
  return {
    id,
    hash: aHash(),
    userId: mintUserId(NOW, randomBytes),
    rootId: id,
    authentication: { methods: ['fed'], at: at(-MINUTE), providerId: 'entra' as ProviderId },
    agent: { browser: 'Samsung Internet', system: 'Android' },
    network: '2001:db8::/64',
    seenAt: at(-1),
    createdAt: NOW,
    expiresAt: at(HOUR),
    ...differing,
  }
}

export function anApi(differing: Partial<ApiRecord> = {}): ApiRecord {
  return {
    resource: `https://${mintOrderedId(NOW, randomBytes).toLowerCase()}.example` as Resource,
    name: 'An API',
    scopes: [{ name: 'read', sentence: 'Read "everything"', grantedTo: 'users-and-machines' }],
    tokens: SERVER_TOKENS,
    scopesSince: new Map(),
    groups: undefined,
    exchange: [],
    credentials: undefined,
    createdAt: NOW,
    ...differing,
  }
}

/** The start of a session that replaces none, of a user with a password who is created apart from it. */
export function aSessionStart(differing: Partial<SessionStart> = {}): SessionStart {
  const none = {
    identity: undefined,
    link: undefined,
    groups: undefined,
    stepUp: undefined,
    passkey: undefined,
    app: undefined,
  }
  return {
    ...none,
    session: aSession(),
    browserHash: aHash(),
    replaces: undefined,
    passwordHash: A_PASSWORD_HASH,
    notBefore: differing.session?.createdAt ?? NOW,
    interactionId: undefined,
    isSecondStepDone: false,
    ...differing,
  }
}

/** The link of a user who is created apart from it. */
export function aLink(differing: Partial<LinkRecord> = {}): LinkRecord {
  return {
    userId: mintUserId(NOW, randomBytes),
    origin: 'operator',
    hash: aHash(),
    purpose: 'reset',
    isMailed: false,
    ...BARE_LINK,
    createdAt: NOW,
    expiresAt: at(2 * HOUR),
    ...differing,
  }
}

const BARE_LINK = { madeBy: undefined, madeWith: undefined, clientId: undefined, authorizationId: undefined }
const BARE_API = { name: undefined, scopes: [], tokens: SERVER_TOKENS, exchange: [] }

/** What an operator declares of an API: without scopes, and with the settings of the server. */
export function anApiDeclaration(resource: string, differing: Partial<ApiDeclaration> = {}): ApiDeclaration {
  return { resource: resource as Resource, ...BARE_API, ...differing }
}

/** A key that was created this many milliseconds after NOW. */
export function aKey(
  afterMs = 0,
  algorithm: SigningAlgorithm = 'ES256',
  purpose: KeyRecord['purpose'] = 'access',
): KeyRecord {
  const id = mintKeyId(at(afterMs), randomBytes)
  return {
    id,
    purpose,
    algorithm,
    publicJwk: JSON.stringify({ kty: 'EC', kid: id }),
    encryptedPrivateKey: aHash(),
    createdAt: at(afterMs),
    activeFrom: at(afterMs + HOUR),
  }
}

export function aGroup(differing: Partial<GroupRecord> = {}): GroupRecord {
  const organizationId = differing.organizationId
  const id = groupIdOf(mintOrganizationId(NOW, randomBytes).replace('gor_', 'group-'), organizationId)
  return { id, organizationId, name: `The "group"`, isProtected: false, createdAt: NOW, ...differing }
}
