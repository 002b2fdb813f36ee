import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { SignInGroups } from '../../../../src/ports/operations/session.ts'
import type { GroupId } from '../../../../src/protocol/access/group.ts'
import type { AuthorizationRecord } from '../../../../src/ports/records/authorization.ts'
import type { InteractionRecord } from '../../../../src/ports/records/interaction.ts'
import type { PasskeyRecord } from '../../../../src/ports/records/passkey.ts'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from '../../../../src/ports/records/provider.ts'
import type { SecondFactorRecord } from '../../../../src/ports/records/second-factor.ts'
import type { LinkRecord, SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { APPLICATION } from '../../../../src/protocol/sign-in/authentication.ts'
import { perform } from '../harness.ts'
import { anIdentity, anIdentityProof, aProvider, aStrongProvider } from '../../../support/provider/provider-records.ts'
import {
  aLink,
  anAuthorization,
  anInteraction,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
  NOW,
} from '../../../support/records.ts'
import { aPasskey, aSecondFactor } from '../../../support/sign-in/factor-records.ts'
import { aRole } from './roles.ts'

/** A user with a password, an identity of the operator's application, and a session; and what the operations need. */
export interface World {
  readonly store: StoreDriver
  readonly user: ReturnType<typeof aUser>
  readonly session: SessionRecord
  readonly provider: ProviderRecord
  /** It is required for its domain, which is not that of the user. */
  readonly rival: ProviderRecord
  readonly identity: IdentityRecord
  readonly ofApplication: IdentityRecord
  readonly passkey: PasskeyRecord
  readonly app: SecondFactorRecord
  readonly interaction: InteractionRecord
  /** Made by this user, who has a role. */
  readonly link: LinkRecord
  readonly maker: UserRecord
  readonly proof: IdentityProofRecord
  readonly request: AuthorizationRecord
}

export async function aWorld(store: StoreDriver): Promise<World> {
  const [maker, provider, other] = [aUser(), aProvider(), aProvider()]
  const user = aUser({ email: `ada@${domainOf(provider)}` })
  const rival = { ...other, settings: { ...other.settings, routing: 'required' } } as const
  const { id: userId } = user
  const ofApplication = anIdentity({ userId, providerId: APPLICATION })
  const session = aSession({ userId, authentication: BY_PASSWORD })
  await perform(store, 'provisionUser', { user, identity: ofApplication })
  for (const one of [provider, rival]) await perform(store, 'createProvider', one)
  const start = aSessionStart({ session, isSecondStepDone: true })
  assert.equal((await perform(store, 'startSession', start)).kind, 'started')
  const madeBy = { userId: maker.id, roleSince: at(1), notBefore: maker.notBefore }
  return {
    store,
    user,
    maker,
    provider,
    rival,
    ofApplication,
    session,
    identity: anIdentity({ userId, providerId: provider.id }),
    passkey: aPasskey({ userId }),
    app: aSecondFactor({ userId, createdAt: at(2) }),
    interaction: anInteraction(),
    link: aLink({ userId, madeBy, createdAt: at(2) }),
    proof: anIdentityProof({ identity: anIdentity({ userId, providerId: provider.id }), expiresAt: at(2 * HOUR) }),
    request: anAuthorization(),
  }
}

/** Of the user, and of no provider until it is required. */
function domainOf({ id }: ProviderRecord): string {
  return `mail.${id}.example`
}

export const BY_PASSWORD = { methods: ['pwd'], at: NOW, providerId: undefined } as const

/** What a provider says about groups, by its settings. */
export function saying({ settings }: ProviderRecord, groups: readonly GroupId[]): SignInGroups {
  return { groups, expiresAt: at(30 * HOUR), readBy: settings }
}

/** The session, as it covers whatever second factors the account has. */
export function inSession({ session }: World) {
  return { kind: 'session', session: coversAll(session) } as const
}

export async function connected(world: World): Promise<void> {
  const { store, identity } = world
  assert.equal(await perform(store, 'linkIdentity', { identity, reason: inSession(world), now: at(1) }), 'linked')
}

export async function withApp(
  world: World,
  factor = world.app,
  replaces?: SecondFactorRecord['createdAt'],
): Promise<void> {
  const enabling = { factor, recoveryDigests: [], replaces, reason: inSession(world) }
  assert.equal(await perform(world.store, 'enableTotp', enabling), 'enabled')
}

export async function withPasskey(world: World): Promise<void> {
  const { store, passkey } = world
  assert.equal(await perform(store, 'addPasskey', { passkey, reason: inSession(world) }), 'added')
}

/** An account where the person signs in with two factors. */
export async function withStrongIdentity(world: World): Promise<void> {
  const { store, user } = world
  const provider = aStrongProvider()
  assert.equal(await perform(store, 'createProvider', provider), 'created')
  const identity = anIdentity({ userId: user.id, providerId: provider.id })
  assert.equal(await perform(store, 'linkIdentity', { identity, reason: inSession(world), now: at(1) }), 'linked')
}

export async function linked({ store, maker, link }: World): Promise<void> {
  await perform(store, 'createUser', maker)
  await perform(store, 'setRole', aRole(maker, { setAt: at(1) }))
  assert.equal(await perform(store, 'createLink', link), 'created')
}

/** The address requires the provider of an open proof, so that the sign-in must connect it. */
export async function proven(world: World): Promise<void> {
  await perform(world.store, 'createIdentityProof', world.proof)
  await requireProvider(world, world.provider)
}

export async function answered({ store, interaction }: World): Promise<void> {
  await perform(store, 'startInteraction', interaction)
  await perform(store, 'answerInteraction', { id: interaction.id, answer: ACCEPTED, now: at(2) })
}

/** From now on a provider is required for the domain of the address. */
export async function requireProvider(
  { store, provider }: World,
  { id, settings: previous }: ProviderRecord,
): Promise<void> {
  const settings = { ...previous, routing: 'required', domains: [...previous.domains, domainOf(provider)] } as const
  assert.equal(
    await perform(store, 'updateProvider', { id, previous, settings, encryptedSecret: undefined }),
    'changed',
  )
}

const ACCEPTED = {
  kind: 'accepted',
  subject: 'u_4711',
  decision: 'ask',
  email: undefined,
  isEmailVerified: false,
  name: undefined,
  groups: undefined,
  organizationId: undefined,
  scope: undefined,
  authenticatedAt: undefined,
  isMultiFactor: false,
  rememberSeconds: 0,
} as const
