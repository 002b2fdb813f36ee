import assert from 'node:assert/strict'
import type { PasskeyReason } from '../../../../src/ports/operations/passkey.ts'
import type { LinkingReason } from '../../../../src/ports/operations/provider.ts'
import type { SessionStart, SignInBasis } from '../../../../src/ports/operations/session.ts'
import type { IdentityRecord } from '../../../../src/ports/records/provider.ts'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import { APPLICATION, type Authentication } from '../../../../src/protocol/sign-in/authentication.ts'
import { perform, type Suite } from '../harness.ts'
import { aHash, anApproval, aSession, aSessionStart, aUserOfProvider, at, HOUR, NOW } from '../../../support/records.ts'
import { aPasskey, aSecondFactor, aSignInBasis } from '../../../support/sign-in/factor-records.ts'
import { END } from './sessions.ts'
import {
  answered,
  aWorld,
  BY_PASSWORD,
  connected,
  inSession,
  linked,
  proven,
  requireProvider,
  saying,
  withApp,
  withPasskey,
  withStrongIdentity,
  type World,
} from './wait-world.ts'

/**
 * Each operation that stores something, or starts a session, after its user was sent away and came back × each fact that it rests on
 * (decision 0052). A new operation is a row of OPERATIONS, a new fact one of FACTS.
 */

/** What may change between the page and the answer. */
const FACTS = {
  'the user is disabled': ({ store, user: { id } }) => perform(store, 'disableUser', { id, now: at(5) }),
  'the user is deleted': ({ store, user }) => perform(store, 'deleteUser', { id: user.id }),
  'the tokens are revoked': ({ store, user: { id } }) => perform(store, 'revokeUserTokens', { id, now: at(5) }),
  'the password is another': ({ store, user: { id, passwordHash: previousHash } }) =>
    perform(store, 'upgradePassword', { id, previousHash, passwordHash: 'another', format: 'bcrypt' }),
  'the address requires another provider': (world) => requireProvider(world, world.rival),
  'the address is another, which requires a provider': ({ store, user: { id }, rival }) =>
    perform(store, 'setEmail', {
      id,
      email: normalizeEmail(`ada@${rival.settings.domains[0]}`),
      emailVerifiedAt: at(5),
      now: at(5),
    }),
  'the provider is disabled': ({ store, provider: { id } }) => perform(store, 'disableProvider', { id, now: at(5) }),
  'the provider is deleted': ({ store, provider: { id } }) => perform(store, 'deleteProvider', { id, now: at(5) }),
  'the provider says other groups': ({ store, provider: { id, settings: previous } }) =>
    perform(store, 'updateProvider', {
      id,
      previous,
      settings: { ...previous, groupClaim: 'groups', groups: ['a=dev'] },
      encryptedSecret: undefined,
    }),
  'the identity was removed': (world) => remove(world, world.identity),
  'the identity of the application was removed': (world) => remove(world, world.ofApplication),
  'the identity is of another user': ({ store, proof: { identity } }) => {
    const user = aUserOfProvider()
    return perform(store, 'provisionUser', { user, identity: { ...identity, userId: user.id } })
  },
  'there is an app': withApp,
  'the app was removed': ({ store, user: { id: userId } }) => perform(store, 'resetSecondFactor', { userId }),
  'the app is another': (world) => withApp(world, { ...world.app, createdAt: at(4) }, at(2)),
  'there is a passkey': withPasskey,
  'there is an account of two factors': withStrongIdentity,
  'the passkey was removed': ({ store, passkey: { userId, id } }) =>
    perform(store, 'removePasskey', { userId, id, by: { kind: 'operator' } }),
  'the session ended': ({ store, session: { id } }) => perform(store, 'endSession', { id, ...END }),
  'the proof is another': ({ store, proof }) => perform(store, 'createIdentityProof', { ...proof, hash: aHash() }),
  'the link is another': ({ store, link }) => perform(store, 'createLink', { ...link, hash: aHash() }),
  'the maker of the link has no role': ({ store, maker: { id: userId } }) => perform(store, 'removeRole', { userId }),
  'the maker of the link is disabled': ({ store, maker: { id } }) => perform(store, 'disableUser', { id, now: at(5) }),
  'the tokens of the maker are revoked': ({ store, maker: { id } }) =>
    perform(store, 'revokeUserTokens', { id, now: at(5) }),
  'the answer of the application was used': byApplication,
  'the request was denied': ({ store, request: { id } }) => perform(store, 'denyAuthorization', { id, now: at(5) }),
} as const satisfies Readonly<Record<string, (world: World) => Promise<unknown>>>
type Fact = keyof typeof FACTS

const USER = ['the user is disabled', 'the user is deleted', 'the tokens are revoked'] as const
const ROUTING = ['the address requires another provider', 'the address is another, which requires a provider'] as const
const PROVIDER = ['the provider is disabled', 'the provider is deleted'] as const
const FIRST_STEP = [...USER, 'the password is another', ...ROUTING] as const
const AT_PROVIDER = [...FIRST_STEP, ...PROVIDER, 'the identity was removed'] as const
const MAKER = [
  'the maker of the link has no role',
  'the maker of the link is disabled',
  'the tokens of the maker are revoked',
] as const
const LINK = [...USER, 'the link is another', ...MAKER, ...ROUTING] as const

interface Waiting {
  /** The outcome, or its kind, where nothing has changed. */
  readonly done: string
  /** A change of any of them refuses. */
  readonly rests: readonly Fact[]
  /** What there is before the page. */
  readonly before: (world: World) => Promise<unknown>
  /** The operation, with what the page had. */
  readonly run: (world: World) => Promise<unknown>
}

const nothing = async () => undefined

const OPERATIONS: Readonly<Record<string, Waiting>> = {
  'startSession after a provider': {
    done: 'started',
    rests: [...AT_PROVIDER, 'there is an app'],
    before: connected,
    run: (world) => start(world, { identity: world.identity.key }),
  },
  'startSession after a provider that says groups': {
    done: 'started',
    rests: [...AT_PROVIDER, 'there is an app', 'the provider says other groups'],
    before: connected,
    run: (world) => start(world, { identity: world.identity.key, groups: saying(world.provider, []) }),
  },
  'startSession after a provider and a code': {
    done: 'started',
    rests: [...AT_PROVIDER, 'the app was removed', 'the app is another'],
    before: async (world) => (await connected(world), withApp(world)),
    run: (world) => start(world, { identity: world.identity.key, app: world.app.createdAt, isSecondStepDone: true }),
  },
  'startSession after a provider and a passkey': {
    done: 'started',
    rests: [...AT_PROVIDER, 'the passkey was removed'],
    before: async (world) => (await connected(world), withPasskey(world)),
    run: (world) => start(world, { identity: world.identity.key, passkey: world.passkey.id, isSecondStepDone: true }),
  },
  'startSession after a password': {
    done: 'started',
    rests: [...FIRST_STEP, 'there is an app'],
    before: nothing,
    run: (world) => start(world, {}, BY_PASSWORD),
  },
  'startSession after the application': {
    done: 'started',
    rests: [...USER, 'the identity of the application was removed', 'the answer of the application was used'],
    before: answered,
    run: byApplication,
  },
  'startSession of a step-up': {
    done: 'started',
    rests: [...FIRST_STEP, 'the session ended', 'the app was removed', 'the app is another'],
    before: withApp,
    run(world) {
      const { session, app } = world
      const stepUp = { stepUp: session, replaces: session.id, app: app.createdAt, isSecondStepDone: true }
      return start(world, stepUp, BY_PASSWORD)
    },
  },
  'startSession that connects the required provider': {
    done: 'started',
    rests: [
      ...USER,
      'the password is another',
      'the address is another, which requires a provider',
      'the provider is disabled',
      'the proof is another',
      'the identity is of another user',
      'there is an app',
    ],
    before: proven,
    run: (world) => start(world, { link: connection(world) }, BY_PASSWORD),
  },
  'enableTotp after a provider': {
    done: 'enabled',
    rests: [...AT_PROVIDER, 'there is an app', 'there is a passkey', 'there is an account of two factors'],
    before: connected,
    run: (world) => enable(world, atProvider(world)),
  },
  'enableTotp after a password, with a proof at the required provider': {
    done: 'enabled',
    rests: [...USER, 'the password is another', 'the proof is another', 'there is a passkey'],
    before: proven,
    run: (world) => enable(world, aSignInBasis({ since: at(3), proof: world.proof.hash })),
  },
  'addPasskey after a provider': {
    done: 'added',
    rests: [...AT_PROVIDER, 'there is an app', 'there is a passkey', 'there is an account of two factors'],
    before: connected,
    run: (world) => add(world, { kind: 'sign-in', ...atProvider(world) }),
  },
  'addPasskey after a password': {
    done: 'added',
    rests: [...FIRST_STEP, 'there is an app', 'there is a passkey', 'there is an account of two factors'],
    before: nothing,
    run: (world) => add(world, { kind: 'sign-in', ...aSignInBasis({ since: at(3) }) }),
  },
  'addPasskey with a link': {
    done: 'added',
    rests: [...LINK, 'there is an app'],
    before: linked,
    run: (world) => add(world, withLink(world)),
  },
  useLink: {
    done: 'used',
    rests: LINK,
    before: linked,
    run: (world) => {
      const { store, user } = world
      const use = { userId: user.id, passwordHash: 'new', browserHash: aHash() }
      return perform(store, 'useLink', { ...withLink(world), ...use })
    },
  },
  'linkIdentity with a link': {
    done: 'linked',
    rests: [...LINK, ...PROVIDER, 'there is an app', 'the identity is of another user'],
    before: linked,
    run: (world) => connect(world, { ...withLink(world), isMultiFactor: true }),
  },
  'linkIdentity in a session': {
    done: 'linked',
    rests: [
      ...USER,
      ...ROUTING,
      ...PROVIDER,
      'the session ended',
      'there is an app',
      'there is a passkey',
      'there is an account of two factors',
      'the identity is of another user',
    ],
    before: nothing,
    run: (world) =>
      connect(world, { kind: 'session', session: { ...world.session, covers: { passkey: false, others: false } } }),
  },
  'linkIdentity by an address': {
    done: 'linked',
    rests: ['the user is disabled', 'the user is deleted', ...ROUTING, ...PROVIDER, 'the identity is of another user'],
    before: nothing,
    run: (world) => connect(world, { kind: 'address', email: world.user.email }),
  },
  provisionUser: {
    done: 'created',
    rests: ['the address requires another provider', ...PROVIDER, 'the identity is of another user'],
    before: nothing,
    run({ store, proof, user: { email } }) {
      const user = aUserOfProvider()
      const identity = { ...proof.identity, userId: user.id, email: `new-${email}` }
      return perform(store, 'provisionUser', { user, identity })
    },
  },
  useIdentity: {
    done: 'used',
    rests: [...PROVIDER, 'the identity was removed'],
    before: connected,
    run: ({ store, identity }) => perform(store, 'useIdentity', { ...identity, now: at(5) }),
  },
  createIdentityProof: {
    done: 'created',
    rests: ['the user is disabled', 'the user is deleted', ...PROVIDER],
    before: nothing,
    run: ({ store, proof }) => perform(store, 'createIdentityProof', proof),
  },
  approveAuthorization: {
    done: 'approved',
    rests: [...USER, 'the session ended', 'the request was denied'],
    before: ({ store, request }) => perform(store, 'startAuthorization', request),
    run: ({ store, request, session, user: { id: userId } }) =>
      perform(store, 'approveAuthorization', anApproval(request, { userId, session })),
  },
}

function start(world: World, differing: Partial<SessionStart>, how?: Authentication) {
  const { store, user, provider } = world
  const authentication = how ?? { methods: ['fed'], at: NOW, providerId: provider.id }
  const session = aSession({ userId: user.id, authentication, createdAt: at(3) })
  return perform(store, 'startSession', aSessionStart({ session, notBefore: user.notBefore, ...differing }))
}

function byApplication(world: World) {
  const { interaction, ofApplication } = world
  const how = { methods: ['fed'], at: NOW, providerId: APPLICATION } as const
  const done = { interactionId: interaction.id, identity: ofApplication.key, isSecondStepDone: true }
  return start(world, done, how)
}

function atProvider({ provider, identity }: World): SignInBasis {
  return aSignInBasis({ since: at(3), providerId: provider.id, identity: identity.key })
}

function connection({ proof: { identity, hash } }: World) {
  return { identity, hash, covers: { passkey: false, others: false }, mails: [] }
}

function withLink({ link: { hash } }: World) {
  return { kind: 'link', hash, keep: [], isSecondStepRequired: false, now: at(HOUR) } as const
}

function enable({ store, user: { id: userId } }: World, basis: SignInBasis) {
  const factor = aSecondFactor({ userId, createdAt: at(9) })
  const reason = { kind: 'sign-in', ...basis } as const
  return perform(store, 'enableTotp', { factor, recoveryDigests: [aHash()], replaces: undefined, reason })
}

function add({ store, user: { id: userId } }: World, reason: PasskeyReason) {
  return perform(store, 'addPasskey', { passkey: aPasskey({ userId }), reason })
}

function connect({ store, proof: { identity } }: World, reason: LinkingReason) {
  return perform(store, 'linkIdentity', { identity, reason, now: at(HOUR) })
}

function remove(world: World, identity: IdentityRecord) {
  const { session } = inSession(world)
  const removal = { ...identity, passwordCounts: true, passkeysCount: true, factors: undefined, session, now: at(5) }
  return perform(world.store, 'unlinkIdentity', removal)
}

export const waitCases: Suite = (check) => {
  for (const [name, { done, rests, before, run }] of Object.entries(OPERATIONS)) {
    check(
      `UP-07: ${name} stores nothing once one of these has changed since the page: ${rests.join('; ')}`,
      async ({ first, second, rows }) => {
        for (const fact of [undefined, ...rests]) {
          const world = await aWorld(first)
          await before(world)
          if (fact !== undefined) await FACTS[fact]({ ...world, store: second })
          const stored = await rows()
          const outcome = await run(world)
          const kind = typeof outcome === 'object' ? (outcome as { readonly kind: string }).kind : outcome
          if (fact === undefined) assert.equal(kind, done)
          else assert.notEqual(kind, done, fact)
          if (fact !== undefined) assert.deepEqual(await rows(), stored, fact)
        }
      },
    )
  }
}
