import { randomBytes } from 'node:crypto'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import type { Input, Operation, OperationName, Outcome } from '../../src/ports/operations/index.ts'
import type { AuthorizationRecord, DeviceRecord, PushedRequestRecord } from '../../src/ports/records/authorization.ts'
import type { LinkingReason } from '../../src/ports/operations/provider.ts'
import type { GrantRecord } from '../../src/ports/records/grant.ts'
import type { IdentityRecord } from '../../src/ports/records/provider.ts'
import type { MailRecord } from '../../src/ports/records/mail.ts'
import type { LinkOrigin, LinkRecord, SessionRecord, UserRecord } from '../../src/ports/records/user.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { after, type EpochMs } from '../../src/base/brand.ts'
import {
  grantIdOf,
  mintAuthorizationId,
  mintClientId,
  mintGrantId,
  mintMailId,
  hashedId,
  mintPushedRequestId,
  type DeviceId,
  mintSessionId,
  mintUserId,
} from '../../src/protocol/ids.ts'
import { PROVIDER_TEMPLATES } from '../../src/protocol/sign-in/provider.ts'
import type { IdentityKey } from '../../src/protocol/sign-in/provider-identity.ts'
import type { RedirectUri } from '../../src/protocol/uri/redirect-uri.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import type { SecretHash } from '../../src/protocol/secrets.ts'

/** The app of all users. */
export const CLIENT_ID = mintClientId(0 as EpochMs, randomBytes)
export const HOUR_MS = 3_600_000

/** A user who is signed in. */
export interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
}

export async function aPerson(store: StoreDriver): Promise<Person> {
  const user = await aUser(store)
  const session = aSession(user)
  await perform(store, 'startSession', startOf(user, session))
  return { user, session }
}

/** A user who has never signed in, with an address that is not verified. */
export async function aUser(store: StoreDriver): Promise<UserRecord> {
  const user = aUserRecord()
  await perform(store, 'createUser', user)
  return user
}

export function aUserRecord(): UserRecord {
  const since = now()
  return {
    id: mintUserId(since, randomBytes),
    email: normalizeEmail(`${aHash()}@example.test`),
    emailVerifiedAt: undefined,
    name: undefined,
    profile: {},
    updatedAt: since,
    passwordHash: 'old',
    firstSignedInAt: undefined,
    lastSignedInAt: undefined,
    createdAt: since,
    disabledAt: undefined,
    notBefore: 0 as EpochMs,
  }
}

export function aSession({ id: userId }: UserRecord): SessionRecord {
  const createdAt = now()
  const id = mintSessionId(createdAt, randomBytes)
  return {
    id,
    hash: aHash(),
    userId,
    rootId: id,
    authentication: { methods: ['pwd'], at: createdAt, providerId: undefined },
    agent: undefined,
    network: undefined,
    seenAt: createdAt,
    createdAt,
    expiresAt: after(createdAt, HOUR_MS),
  }
}

/** The sign-in that starts a session. */
export function startOf({ passwordHash }: UserRecord, session: SessionRecord): Input<'startSession'> {
  const none = {
    replaces: undefined,
    interactionId: undefined,
    identity: undefined,
    link: undefined,
    groups: undefined,
    stepUp: undefined,
    passkey: undefined,
    app: undefined,
    notBefore: session.createdAt,
    isSecondStepDone: false,
  }
  return { session, browserHash: aHash(), passwordHash, ...none }
}

/** A request with `openid` that waits for the user, and the user's approval. */
export async function aRequest(store: StoreDriver, { user, session }: Person) {
  const createdAt = now()
  const openid = { nonce: undefined, idTokenClaims: [], session: undefined }
  const authorization: AuthorizationRecord = {
    id: mintAuthorizationId(createdAt, randomBytes),
    clientId: CLIENT_ID,
    browserHash: aHash(),
    redirectUri: 'https://app.example/callback' as RedirectUri,
    responseMode: 'query',
    state: undefined,
    codeChallenge: undefined,
    keyThumbprint: undefined,
    scope: 'openid' as Scope,
    ungrantedScope: '' as Scope,
    resources: [],
    mustSignIn: false,
    authenticatedSince: undefined,
    authentication: undefined,
    stated: undefined,
    onlyUserId: undefined,
    mustConsent: false,
    loginHint: undefined,
    organizationId: undefined,
    pushedRequestId: undefined,
    device: undefined,
    openid,
    createdAt,
    expiresAt: after(createdAt, HOUR_MS),
    status: { kind: 'pending' },
  }
  await perform(store, 'startAuthorization', authorization)
  const approved = { rootId: session.rootId, methods: ['pwd'], at: createdAt } as const
  const approval: Input<'approveAuthorization'> = {
    id: authorization.id,
    userId: user.id,
    organizationId: undefined,
    codeHash: aHash(),
    now: now(),
    codeExpiresAt: after(createdAt, HOUR_MS),
    decided: { ...authorization, openid: { ...openid, session: approved } },
    remember: undefined,
    session,
    notified: { userId: user.id, clientId: CLIENT_ID, sid: 'sid', session },
  }
  return { authorization, approval, approved }
}

/** An approved code. `redeemed` has the grant that it gives. */
export async function aCode(store: StoreDriver, signedIn?: Person) {
  const person = signedIn ?? (await aPerson(store))
  const { approval, approved } = await aRequest(store, person)
  await perform(store, 'approveAuthorization', approval)
  const redeemed = [grantIdOf(approval.id)]
  const redeem = (node: StoreDriver) => () => {
    const grant: GrantRecord = {
      ...aGrant(person.user, grantIdOf(approval.id)),
      redirectHost: 'app.example',
      openid: { session: approved, idTokenClaims: [] },
    }
    return perform(node, 'redeemCode', { codeHash: approval.codeHash, now: grant.createdAt, grant })
  }
  return { ...person, redeemed, redeem }
}

/** A user with an identity, by which the provider asserts the user. */
export async function anAssertedPerson(store: StoreDriver) {
  const person = await aPerson(store)
  const identity = anIdentity(person)
  const session = coversAll(person.session)
  await link(store, identity, { kind: 'session', session })
  const grant: GrantRecord = { ...aGrant(person.user), providerId: PROVIDER_ID }
  const unlinking = { ...identity, passwordCounts: true, passkeysCount: false, factors: undefined, session, mails: [] }
  return {
    user: person.user,
    opened: [grant.id],
    open: (node: StoreDriver) => () => perform(node, 'openGrant', { grant, identity: identity.key }),
    unlink: (node: StoreDriver) => () => perform(node, 'unlinkIdentity', { ...unlinking, now: now() }),
  }
}

function aGrant({ id: userId }: UserRecord, id = mintGrantId(now(), randomBytes)): GrantRecord {
  const createdAt = now()
  return {
    id,
    clientId: CLIENT_ID,
    redirectHost: undefined,
    userId,
    organizationId: undefined,
    scope: 'openid' as Scope,
    ungrantedScope: '' as Scope,
    resources: [],
    createdAt,
    expiresAt: after(createdAt, HOUR_MS),
    revokedAt: undefined,
    family: undefined,
    openid: undefined,
    boundKey: undefined,
    providerId: undefined,
    stated: undefined,
  }
}

/** The consent that the user gives with the approval. */
export function aConsent({
  id: userId,
  createdAt: since,
}: UserRecord): NonNullable<Input<'approveAuthorization'>['remember']> {
  const key = { userId, clientId: CLIENT_ID, organizationId: undefined, redirectHost: 'app.example', resources: '' }
  const under = { server: 0 as EpochMs, organization: undefined }
  return { ...key, since, under, scope: 'openid' as Scope }
}

/** A link to set a password. Returns a function that uses it and keeps no identity. */
export async function aLink(
  store: StoreDriver,
  { user }: Person,
  hash: SecretHash = aHash(),
  origin: LinkOrigin = 'operator',
  made: Partial<Pick<LinkRecord, 'madeBy' | 'madeWith'>> = {},
) {
  const createdAt = now()
  const lifetime = { createdAt, expiresAt: after(createdAt, HOUR_MS) }
  const record = {
    userId: user.id,
    origin,
    hash,
    purpose: 'reset',
    isMailed: false,
    madeBy: made.madeBy,
    madeWith: made.madeWith,
    clientId: undefined,
    authorizationId: undefined,
    ...lifetime,
    mails: [],
  } as const
  await perform(store, 'createLink', record)
  return (node: StoreDriver) =>
    perform(node, 'useLink', {
      userId: user.id,
      hash,
      passwordHash: 'reset',
      keep: [],
      isSecondStepRequired: false,
      browserHash: aHash(),
      now: now(),
      mails: [],
    })
}

/** The code of a new address, with its mail, and a function that confirms the address. */
export async function anEmailCode(
  store: StoreDriver,
  { user: { id: userId }, session: own }: Person,
  email = normalizeEmail(`${aHash()}@new.test`),
) {
  const createdAt = now()
  const expiresAt = after(createdAt, HOUR_MS)
  const session = coversAll(own)
  const code = { userId, email, digest: aHash(), failures: 0, createdAt, expiresAt }
  const mail: MailRecord = {
    userId,
    id: mintMailId(randomBytes),
    purpose: 'code',
    notice: undefined,
    address: email,
    language: 'en',
    agent: undefined,
    happenedAt: createdAt,
    dueAt: createdAt,
    attempts: 0,
    expiresAt,
  }
  await perform(store, 'createEmailCode', { ...code, session, mails: [mail] })
  const confirm = (node: StoreDriver) => () =>
    perform(node, 'confirmEmail', { userId, email, digest: code.digest, session, now: now(), mails: [] })
  return { code, mail, confirm }
}

/** A request that the client pushed. */
export async function aPushedRequest(store: StoreDriver): Promise<PushedRequestRecord['id']> {
  const since = now()
  const id = mintPushedRequestId(since, randomBytes)
  const times = { expiresAt: after(since, HOUR_MS), keptUntil: after(since, HOUR_MS) }
  await perform(store, 'pushRequest', { id, clientId: CLIENT_ID, parameters: '', usedBy: undefined, ...times })
  return id
}

/** A device that waits for a user. */
export async function aDevice(store: StoreDriver): Promise<DeviceRecord> {
  const createdAt = now()
  const device: DeviceRecord = {
    id: hashedId(randomBytes(32)) as DeviceId,
    deviceHash: aHash(),
    clientId: CLIENT_ID,
    request: { scope: 'read' as Scope, ungrantedScope: '' as Scope, resources: [], organizationId: undefined },
    network: '203.0.113.7',
    authorizationId: undefined,
    createdAt,
    expiresAt: after(createdAt, HOUR_MS),
  }
  await perform(store, 'startDevice', device)
  return device
}

/** The provider of all identities. */
const PROVIDER_ID = 'idp' as ProviderId

export async function createProvider(store: StoreDriver): Promise<void> {
  const settings = { ...PROVIDER_TEMPLATES.oidc, name: 'idp', clientId: 'grantor', issuer: 'https://idp.example' }
  await perform(store, 'createProvider', {
    id: PROVIDER_ID,
    settings: { ...settings, domains: [], privateHosts: [] },
    encryptedSecret: aHash(),
    createdAt: now(),
    disabledAt: undefined,
    limit: 1,
  })
}

export function anIdentity({ user }: Pick<Person, 'user'>): IdentityRecord {
  const [key, linkedAt] = [aHash() as string as IdentityKey, now()]
  return { key, userId: user.id, providerId: PROVIDER_ID, subject: key, email: undefined, linkedAt, usedAt: linkedAt }
}

export function link(store: StoreDriver, identity: IdentityRecord, reason: LinkingReason) {
  return perform(store, 'linkIdentity', { identity, reason, now: now(), mails: [] })
}

/** Runs one operation, which must not fail. */
export async function perform<Name extends OperationName>(
  store: StoreDriver,
  name: Name,
  input: Input<Name>,
): Promise<Outcome<Name>> {
  const [result] = await store.commit([{ name, input } as Operation])
  if (result?.kind !== 'done') throw new Error(`${name} failed.`, { cause: result?.cause })
  return result.outcome as Outcome<Name>
}

export function aHash(): SecretHash {
  return randomBytes(32).toString('base64url') as SecretHash
}

export function now(): EpochMs {
  return Date.now() as EpochMs
}
