import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import { after } from '../../../../src/base/brand.ts'
import type { ChangingSession } from '../../../../src/ports/operations/second-factor.ts'
import type { OperationName } from '../../../../src/ports/operations/index.ts'
import type { PasskeyOperations } from '../../../../src/ports/operations/passkey.ts'
import type { ProviderOperations } from '../../../../src/ports/operations/provider.ts'
import type { SecondFactorOperations } from '../../../../src/ports/operations/second-factor.ts'
import type { SessionOperations } from '../../../../src/ports/operations/session.ts'
import type { UserOperations } from '../../../../src/ports/operations/user.ts'
import type { IdentityRecord } from '../../../../src/ports/records/provider.ts'
import type { LinkRecord, SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import type { PasskeyId } from '../../../../src/protocol/sign-in/passkey.ts'
import type { SecretHash } from '../../../../src/protocol/secrets.ts'
import { anIdentity, anIdentityProof, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aGrant,
  aHash,
  aLink,
  anApproval,
  anAuthorization,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
} from '../../../support/records.ts'
import { aPasskey, aSecondFactor, aSignInBasis } from '../../../support/sign-in/factor-records.ts'
import { approved } from '../token/authorizations.ts'
import { perform, startSessions, type Suite } from '../harness.ts'
import { anEmailCode } from './email-codes.ts'

/** Each operation that evicts × each part of what another person may have of an account: the table says which parts are left. */

const PARTS = [
  'the own session',
  'a session by the password',
  'a session at the provider',
  'the own browser',
  'other browsers',
  'consents',
  'a link of the operator',
  'a link that was asked for',
  'a proof of an identity',
  'a code of an address',
  'grants',
  'codes',
] as const
type Part = (typeof PARTS)[number]

/** What stays with a change by the user: the apps stay connected, and a link may be about to evict the user of the session (LNK-04). */
const BESIDES_USER: readonly Part[] = ['a link of the operator', 'a link that was asked for', 'grants', 'codes']
const OF_SESSION: readonly Part[] = ['the own session', 'the own browser', ...BESIDES_USER]
const NOTHING: readonly Part[] = []

interface Eviction {
  /** Whether the account has an app. Absent: it has none. */
  readonly hasApp?: true
  readonly left: readonly Part[]
  readonly evict: (store: StoreDriver, account: Account) => Promise<string>
}

/** The operations that evict, in each way in which they do. */
const EVICTIONS: Readonly<Record<string, Eviction>> = {
  setPassword: {
    left: NOTHING,
    evict: (store, { id }) => perform(store, 'setPassword', { id, passwordHash: 'new', now: at(HOUR) }),
  },
  disableUser: { left: NOTHING, evict: (store, { id }) => perform(store, 'disableUser', { id, now: at(HOUR) }) },
  revokeUserTokens: {
    left: NOTHING,
    evict: (store, { id }) => perform(store, 'revokeUserTokens', { id, now: at(HOUR) }),
  },
  deleteUser: { left: NOTHING, evict: (store, { id }) => perform(store, 'deleteUser', { id }) },
  'useLink in the own browser': {
    left: ['the own browser'],
    evict: (store, account) =>
      perform(store, 'useLink', { ...useOf(account), passwordHash: 'new', browserHash: account.browser }),
  },
  'useLink in the own browser, of an account with an app,': {
    hasApp: true,
    left: ['the own browser'],
    evict: (store, account) =>
      perform(store, 'useLink', { ...useOf(account), passwordHash: 'new', browserHash: account.browser }),
  },
  'linkIdentity with a link': {
    left: NOTHING,
    evict(store, account) {
      const reason = { kind: 'link', ...useOf(account), isMultiFactor: false } as const
      return perform(store, 'linkIdentity', {
        identity: anIdentity({ userId: account.id, providerId: account.identity.providerId }),
        reason,
        now: at(HOUR),
      })
    },
  },
  'addPasskey with a link': {
    left: NOTHING,
    evict: (store, account) =>
      perform(store, 'addPasskey', {
        passkey: aPasskey({ userId: account.id }),
        reason: { kind: 'link', ...useOf(account) },
      }),
  },
  changePassword: {
    left: OF_SESSION,
    evict: (store, { id, changing, user: { passwordHash: previousHash } }) =>
      perform(store, 'changePassword', { id, passwordHash: 'new', previousHash, session: changing }),
  },
  removePassword: {
    left: OF_SESSION,
    evict: (store, { id, changing }) =>
      perform(store, 'removePassword', { userId: id, session: changing, passkeysCount: true }),
  },
  'enableTotp in a session': {
    // Each browser is unknown until it has signed in with the app (OTP-09).
    left: OF_SESSION.filter((part) => part !== 'the own browser'),
    evict: (store, { id, changing }) =>
      perform(store, 'enableTotp', { ...anEnabling(id), reason: { kind: 'session', session: changing } }),
  },
  'removePasskey by the user': {
    left: OF_SESSION,
    evict: (store, { id, changing: session, passkey }) =>
      perform(store, 'removePasskey', {
        userId: id,
        id: passkey,
        by: { kind: 'user', session, passwordCounts: true, factors: undefined },
      }),
  },
  'removePasskey by the operator': {
    left: ['grants', 'codes'],
    evict: (store, { id, passkey }) =>
      perform(store, 'removePasskey', { userId: id, id: passkey, by: { kind: 'operator' } }),
  },
  resetSecondFactor: {
    hasApp: true,
    left: ['grants', 'codes'],
    evict: (store, { id }) => perform(store, 'resetSecondFactor', { userId: id }),
  },
  // The other ways in stay, and with them the sessions that they started (LNK-02).
  unlinkIdentity: {
    left: ['a session by the password', ...OF_SESSION],
    evict: (store, { identity, changing: session }) =>
      perform(store, 'unlinkIdentity', {
        ...identity,
        passwordCounts: true,
        passkeysCount: true,
        factors: undefined,
        session,
        now: at(HOUR),
      }),
  },
}

const EVICTING = [
  'setPassword',
  'disableUser',
  'revokeUserTokens',
  'deleteUser',
  'useLink',
  'linkIdentity',
  'addPasskey',
  'changePassword',
  'removePassword',
  'enableTotp',
  'removePasskey',
  'resetSecondFactor',
  'unlinkIdentity',
] as const satisfies readonly OperationName[]
/** The other operations on one user, and why they evict no person. One that is missing does not compile. */
const ADDS = 'it adds a way in, or an account that was never used'
const DESCRIBES = 'it changes what is said of the user, and no way in'
const SIGNS_IN = 'it is a sign-in, or a step of one'
const SIGNS_OUT = 'it signs browsers out, and the apps that signed in there: the ways in and what was allowed stay'
const WEAKENS = 'it takes a second step away: what signs in before it signs in still'
type Operations = UserOperations & SecondFactorOperations & PasskeyOperations & ProviderOperations & SessionOperations
const WITHOUT_EVICTION: Readonly<Record<Exclude<keyof Operations & OperationName, (typeof EVICTING)[number]>, string>> =
  {
    createUser: ADDS,
    importUser: 'it changes an account that was never used here (imported-users.ts)',
    provisionUser: ADDS,
    upgradePassword: 'it stores the same password with another hash',
    enableUser: 'nothing was issued since the eviction, by disableUser',
    setEmail: 'sessions and grants stay; links, proofs and codes of the previous address end (changes.ts)',
    confirmEmail: 'the same by the user',
    respellEmail: 'the address stays the same',
    unlockUser: 'the ways in stay: attempts count from zero',
    renameUser: DESCRIBES,
    updateUser: DESCRIBES,
    createLink: 'its use evicts',
    createEmailCode: DESCRIBES,
    setRole: 'it ends the links of operators (roles.ts)',
    removeRole: 'the console asks for the role with each request',
    disableTotp: WEAKENS,
    replaceRecoveryCodes: 'the codes from before end, and they are a second step only',
    useTotp: SIGNS_IN,
    useRecoveryCode: SIGNS_IN,
    usePasskey: SIGNS_IN,
    useIdentity: SIGNS_IN,
    createIdentityProof: SIGNS_IN,
    startSession: SIGNS_IN,
    startInteraction: SIGNS_IN,
    answerInteraction: SIGNS_IN,
    noteSessions: SIGNS_IN,
    endSession: SIGNS_OUT,
    endOtherSessions: SIGNS_OUT,
    rescheduleLogoutNotice: 'it is about no user',
    settleLogoutNotice: 'it is about no user',
    createProvider: 'it is about no user',
    updateProvider: 'it is about no user',
    disableProvider: 'the operator may enable it again: each sign-in asks for it',
    enableProvider: 'it is about no user',
    deleteProvider: 'the same as disableProvider: the command that ends the sessions is revoke-tokens',
  }
const DONE: readonly string[] = ['added', 'changed', 'deleted', 'enabled', 'linked', 'removed', 'unlinked', 'used']

/** An account with each part, and with all that the operations remove. */
interface Account {
  readonly id: UserId
  readonly user: UserRecord
  readonly identity: IdentityRecord
  readonly passkey: PasskeyId
  readonly browser: SecretHash
  readonly changing: ChangingSession
  readonly link: LinkRecord
  readonly find: (store: StoreDriver, part: Part) => Promise<boolean>
}

export const evictionMatrixCases: Suite = (check) => {
  for (const [name, { hasApp = false, left, evict }] of Object.entries(EVICTIONS)) {
    const stays = left.length === 0 ? 'nothing' : left.join(', ')
    check(
      `LNK-01, LNK-03: ${name} leaves ${stays} of what another person may have, and all of other users`,
      async ({ first, second }) => {
        const [account, other] = [await anAccount(first, { hasApp }), await anAccount(first)]
        assert.deepEqual(await partsOf(first, account), PARTS)
        const outcome = await evict(first, account)
        assert.ok(DONE.includes(outcome), outcome)
        assert.deepEqual(
          await partsOf(second, account),
          PARTS.filter((part) => left.includes(part)),
        )
        assert.deepEqual(await partsOf(second, other), PARTS)
      },
    )
  }

  check(
    'LNK-03: each operation on a user has a row with what it evicts, or a reason why it evicts no person',
    async () => {
      const rows = new Set(Object.keys(EVICTIONS).map((name) => name.split(' ')[0]))
      assert.deepEqual(rows, new Set<string>(EVICTING))
      assert.ok(Object.keys(WITHOUT_EVICTION).every((name) => !rows.has(name)))
    },
  )

  check('LNK-03: enableTotp during a sign-in, without a session, evicts all others', async ({ first, second }) => {
    const account = await anAccount(first, { hasPasskey: false })
    const { id, user } = account
    const reason = { kind: 'sign-in', ...aSignInBasis({ since: at(HOUR), passwordHash: user.passwordHash }) } as const
    assert.equal(await perform(first, 'enableTotp', { ...anEnabling(id), reason }), 'enabled')
    assert.deepEqual(await partsOf(second, account), BESIDES_USER)
  })
}

async function partsOf(store: StoreDriver, { find }: Account): Promise<readonly Part[]> {
  const found = await Promise.all(PARTS.map((part) => find(store, part)))
  return PARTS.filter((_, index) => found[index])
}

async function anAccount(store: StoreDriver, { hasApp = false, hasPasskey = true } = {}): Promise<Account> {
  const user = aUser()
  const { id, passwordHash } = user
  await perform(store, 'createUser', user)
  const provider = aProvider()
  await perform(store, 'createProvider', provider)
  if (hasApp) {
    const reason = { kind: 'sign-in', ...aSignInBasis({ since: at(0), passwordHash }) } as const
    assert.equal(await perform(store, 'enableTotp', { ...anEnabling(id), reason }), 'enabled')
  }
  const [browser, otherBrowser] = [aHash(), aHash()]
  const byPassword = { methods: ['pwd', 'otp', 'mfa'], at: at(0), providerId: undefined } as const
  const own = aSession({ userId: id, authentication: byPassword, createdAt: at(1) })
  const other = aSession({ userId: id, authentication: byPassword })
  const atProvider = aSession({ userId: id, authentication: { methods: ['fed'], at: at(0), providerId: provider.id } })
  const start = { passwordHash, isSecondStepDone: true }
  await startSessions(
    store,
    aSessionStart({ ...start, session: own, browserHash: browser }),
    aSessionStart({ ...start, session: other, browserHash: otherBrowser }),
    aSessionStart({ ...start, session: atProvider, browserHash: otherBrowser }),
  )
  const changing = coversAll(own)
  const identity = anIdentity({ userId: id, providerId: provider.id })
  const reason = { kind: 'session', session: changing } as const
  assert.equal(await perform(store, 'linkIdentity', { identity, reason, now: at(2) }), 'linked')
  const passkey = aPasskey({ userId: id })
  if (hasPasskey) assert.equal(await perform(store, 'addPasskey', { passkey, reason }), 'added')
  const link = aLink({ userId: id })
  await perform(store, 'createLink', link)
  await perform(store, 'createLink', aLink({ userId: id, origin: 'user' }))
  await perform(
    store,
    'createIdentityProof',
    anIdentityProof({ identity: anIdentity({ userId: id, providerId: provider.id }) }),
  )
  await perform(store, 'createEmailCode', { ...anEmailCode({ userId: id }), session: changing })
  const code = await remember(store, id, 0)
  const granted = await remember(store, id, HOUR)
  await remember(store, id, 24 * HOUR)
  const grant = aGrant({ userId: id })
  await perform(store, 'redeemCode', aRedemption(granted, { grant }))
  const grantId = aRedemption(granted, { grant }).grant.id
  const isValid = async (from: StoreDriver, time: number | undefined) =>
    time !== undefined && time >= ((await from.findUser(id))?.notBefore ?? Infinity)
  const isSession = async (from: StoreDriver, session: SessionRecord) =>
    isValid(from, (await from.findSession(session.id))?.createdAt)
  const finders: Readonly<Record<Part, (from: StoreDriver) => Promise<boolean>>> = {
    'the own session': (from) => isSession(from, own),
    'a session by the password': (from) => isSession(from, other),
    'a session at the provider': (from) => isSession(from, atProvider),
    'the own browser': (from) => from.knowsBrowser(id, browser),
    'other browsers': (from) => from.knowsBrowser(id, otherBrowser),
    consents: async (from) => (await from.listConsents(id, 9)).length > 0,
    'a link of the operator': async (from) => (await from.listLinks(id)).some(({ origin }) => origin === 'operator'),
    'a link that was asked for': async (from) => (await from.listLinks(id)).some(({ origin }) => origin === 'user'),
    'a proof of an identity': async (from) => (await from.findIdentityProof(id)) !== undefined,
    'a code of an address': async (from) => (await from.findEmailCode(id)) !== undefined,
    async grants(from) {
      const stored = await from.findGrant(grantId)
      return stored?.revokedAt === undefined && isValid(from, stored?.createdAt)
    },
    async codes(from) {
      const stored = await from.findAuthorization(code.id)
      return stored?.status.kind === 'approved' && isValid(from, stored.createdAt)
    },
  }
  return { id, user, identity, passkey: passkey.id, browser, changing, link, find: (from, part) => finders[part](from) }
}

function anEnabling(userId: UserId) {
  return { factor: aSecondFactor({ userId }), recoveryDigests: [aHash()], replaces: undefined }
}

/** A code, and the consent that is remembered with it. */
async function remember(store: StoreDriver, userId: UserId, time: number) {
  const authorization = anAuthorization({}, at(time))
  const { remember: remembered } = anApproval(authorization, { userId })
  assert.ok(remembered)
  const { approval } = await approved(
    store,
    {
      userId,
      now: at(time),
      codeExpiresAt: after(at(time), HOUR),
      remember: { ...remembered, userId, resources: `https://${time}.example` },
    },
    authorization,
  )
  return approval
}

function useOf({ id, link }: Pick<Account, 'id' | 'link'>) {
  return { userId: id, hash: link.hash, keep: [], isSecondStepRequired: false, now: at(HOUR) }
}
