import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import { provisionSubject } from '../../../src/admin/user/subject.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'
import type { AdminCredentialRecord } from '../../../src/ports/records/admin.ts'
import type { SessionRecord } from '../../../src/ports/records/user.ts'
import { mintInteractionId, type OrganizationId, type UserId } from '../../../src/protocol/ids.ts'
import { registerClient } from '../../../tools/flow.ts'
import { DEFAULT_TEMPLATE } from '../../../src/protocol/client/registration-template.ts'
import type { Access } from '../../../src/admin/task.ts'
import { aGroup, aMembership, anInteraction, aSession, aSessionStart, aUserOfProvider } from '../../support/records.ts'
import { A_CHANGE, A_RULE, AN_ACCESS_RULE, AN_OWN_CHANGE, AN_OWN_NEW_RULE, AN_OWN_RULE } from './access-rule-samples.ts'
import { addProvider } from '../../support/provider/providers.ts'
import type { PeopledOrganization, AdminServer } from '../../support/admin-server.ts'
import { givePasskey } from '../../../tools/sign-in/passkeys.ts'
import { storeApp } from '../../support/sign-in/stored-app.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** What a task needs, said here once more by hand: the table of tasks is what is evaluated. */
export interface Rule {
  readonly access: Access
  /** Whether credentials of one organization may use it, for that organization. */
  readonly extent: 'server' | 'organization'
  readonly status: number
  /** Makes what the task is about, and answers an input. */
  readonly sample: (stage: AdminServer) => Promise<Members> | Members
}

type Sample = Rule['sample']

const NOTHING: Sample = async () => ({})
const A_CLIENT: Sample = async ({ makeClient }) => ({ client_id: (await makeClient()).client_id })
const AN_OPERATORS_CLIENT: Sample = async ({ makeClient, server }) => {
  const { client_id } = await makeClient()
  await perform(server.context, 'client.adopt', { client_id })
  return { client_id }
}
/** A client to which pages lead. */
const A_PRODUCT: Sample = async ({ makeClient, server }) => {
  const { client_id } = await makeClient({ client_uri: 'https://app.example' })
  await perform(server.context, 'client.verify', { client_id })
  return { client_id }
}
const A_KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const A_CREDENTIAL: Sample = async ({ issue }) => ({ credential_id: (await issue('read')).id })
const A_USER: Sample = async ({ makeUser }) => ({ user_id: (await makeUser()).id })
const A_USER_WITH_ROLE: Sample = async ({ makeUser, server }) => {
  const { id } = await makeUser()
  await perform(server.context, 'role.set', { user_id: id, access: 'read' })
  return { user_id: id }
}
const A_USER_WITH_APP: Sample = async ({ makeUser, server }) => {
  const { id } = await makeUser()
  await storeApp(server.context, id)
  return { user_id: id }
}
const A_PASSKEY: Sample = async ({ makeUser, server }) => {
  const { id } = await makeUser()
  const { passkey } = await givePasskey(server, id)
  return { user_id: id, passkey_id: passkey.id }
}
const A_LONE_MEMBER: Sample = async ({ makeOrganization, server }) => {
  const organizationId = await makeOrganization()
  const { userId } = await startSession(server, organizationId)
  return { organization_id: organizationId, user_id: userId }
}
const A_LONE_MEMBER_WITH_APP: Sample = async (stage) => {
  const sample = await A_LONE_MEMBER(stage)
  await storeApp(stage.server.context, sample['user_id'] as UserId)
  return sample
}
let providers = 0
let sets = 0
const A_PROVIDER: Sample = async ({ server }) => {
  providers += 1
  const { id } = await addProvider(server, { issuer: 'http://127.0.0.1:1' }, {}, { id: `idp-${providers}` })
  return { provider_id: id }
}
const AN_API: Sample = async ({ makeApi }) => ({ resource: await makeApi() })
const A_SESSION: Sample = async ({ server }) => ({ session_id: (await startSession(server)).id })
const A_SIGNED_IN_USER: Sample = async ({ server }) => ({ user_id: (await startSession(server)).userId })

/** `organizationId`: which the user joins before the first sign-in. */
async function startSession(
  { context: { store } }: AdminServer['server'],
  organizationId?: OrganizationId,
): Promise<Pick<SessionRecord, 'id' | 'userId'>> {
  const user = aUserOfProvider()
  await store.createUser(user)
  if (organizationId !== undefined)
    await store.addMember({ ...aMembership({ userId: user.id, organizationId }), mails: [] })
  const start = aSessionStart({ session: aSession({ userId: user.id }), passwordHash: undefined })
  await store.startSession(start)
  return start.session
}
const AN_ORGANIZATION: Sample = async ({ makeOrganization }) => ({ organization_id: await makeOrganization() })
const A_MEMBER = partsOf('organization_id', 'user_id')
const AN_INSTALLATION = partsOf('organization_id', 'client_id')
const A_GRANT_HERE = partsOf('organization_id', 'grant_id')
const A_GRANT = partsOf('grant_id')
const A_GROUP: Sample = async ({ server }) => makeGroup(server)
const A_GROUP_MEMBER: Sample = async (stage) => {
  const member = { ...(await makeGroup(stage.server)), user_id: (await stage.makeUser()).id }
  await perform(stage.server.context, 'group.add-member', member)
  return member
}
const AN_OWN_GROUP = partsOf('organization_id', 'group_id')
const AN_OWN_GROUP_WITH_USER = partsOf('organization_id', 'group_id', 'user_id')
const AN_OWN_GROUP_MEMBER: Sample = async (stage) => {
  const member = await AN_OWN_GROUP_WITH_USER(stage)
  await perform(stage.server.context, 'organization-group.add-member', member)
  return member
}

async function makeGroup({ context }: AdminServer['server']): Promise<Members> {
  const { id } = aGroup()
  await perform(context, 'group.create', { group_id: id })
  return { group_id: id }
}
const A_TOKEN: Sample = async ({ makeTokens }) => ({ token: (await makeTokens()).access_token })

/** What the operator's application does is about an interaction that a browser started. */
const AN_INTERACTION: Sample = async ({ server: { context } }) => {
  const { secrets, random, store, clock } = context
  const id = mintInteractionId(clock(), random)
  const { token, hash } = secrets.mint('interaction', id, random)
  await store.startInteraction(anInteraction({ id, hash, signInAfter: undefined, expiresAt: after(clock(), 600_000) }))
  return { interaction: token }
}

/** The objects of an organization with a member, an installation and a grant. */
function partsOf(...names: readonly (keyof PeopledOrganization)[]): Sample {
  return async ({ makePeopledOrganization }) => {
    const organization = await makePeopledOrganization()
    return Object.fromEntries(names.map((name) => [name, organization[name]]))
  }
}

/** The same with more members. */
function and(sample: Sample, more: (stage: AdminServer) => Promise<Members> | Members): Sample {
  return async (stage) => ({ ...(await sample(stage)), ...(await more(stage)) })
}

function reads(sample: Sample): Rule {
  return { access: 'read', extent: 'server', status: 200, sample }
}

function writes(sample: Sample, status = 200): Rule {
  return { access: 'write', extent: 'server', status, sample }
}

function people(sample: Sample): Rule {
  return { access: 'read-people', extent: 'server', status: 200, sample }
}

function helps(sample: Sample, status = 200): Rule {
  return { access: 'support', extent: 'server', status, sample }
}

function decides(sample: Sample, status = 200): Rule {
  return { access: 'users', extent: 'server', status, sample }
}

function delegates(sample: Sample): Rule {
  return { access: 'delegate', extent: 'server', status: 200, sample }
}

/** What credentials of the organization that the sample names may do, too. */
function inOrganization({ access, status, sample }: Rule): Rule {
  return { access, extent: 'organization', status, sample }
}

/** The accesses with which each kind of task may be performed. */
export const MAY = {
  'read-people': ['read', 'support', 'users', 'write'],
  read: ['read', 'write'],
  support: ['support', 'users', 'write'],
  users: ['users', 'write'],
  write: ['write'],
  delegate: ['delegate'],
} as const satisfies Readonly<Record<Access, readonly AdminCredentialRecord['access'][]>>

/** By the task's name. A task without a rule fails the matrix. */
export const RULES: Readonly<Record<string, Rule>> = {
  'server.show': reads(NOTHING),
  'server.figures': reads(NOTHING),
  'client.list': reads(NOTHING),
  'client.create': writes(() => ({ client_name: 'Build Board' }), 201),
  'client.update': writes(and(AN_OPERATORS_CLIENT, () => ({ client_name: 'Build Wall' }))),
  'client.set-rules': writes(AN_OPERATORS_CLIENT),
  'client.set-keys': writes(and(AN_OPERATORS_CLIENT, () => ({ jwks: { keys: [A_KEY] } }))),
  'client.adopt': writes(A_CLIENT),
  'client.create-registration-token': writes(A_CLIENT, 201),
  'client.purge': writes(async ({ server }) => {
    await registerClient(server, { redirect_uris: ['https://purged.example/cb'] })
    return { host: 'purged.example' }
  }),
  'client.show': reads(A_CLIENT),
  'client.list-installations': reads(A_CLIENT),
  'client.verify': writes(A_CLIENT),
  'client.unverify': writes(A_CLIENT),
  'client.disable': writes(A_CLIENT),
  'client.enable': writes(A_CLIENT),
  'client.revoke-tokens': writes(A_CLIENT),
  'client.rotate-secret': writes(A_CLIENT),
  'client.set-secret': writes(and(A_CLIENT, () => ({ client_secret: 'a-secret-of-Keycloak' }))),
  'client.delete': writes(A_CLIENT),
  'client.approve-scopes': writes(async (stage) => ({ ...(await A_CLIENT(stage)), scope: 'payments' })),
  'role.list': reads(NOTHING),
  'role.set': writes(and(A_USER, () => ({ access: 'read' }))),
  'role.remove': writes(A_USER_WITH_ROLE),
  'domain.list': reads(NOTHING),
  'domain.trust': writes(() => ({ pattern: 'trusted.example' })),
  'domain.block': writes(() => ({ pattern: 'blocked.example' })),
  'domain.forget': writes(async ({ server }) => {
    await server.context.store.setDomainRule({
      pattern: 'forgotten.example',
      verdict: 'blocked',
      note: undefined,
      // That of the example.
      changedAt: Date.UTC(2026, 0, 1) as EpochMs,
    })
    return { pattern: 'forgotten.example' }
  }),
  'user.list': people(NOTHING),
  'user.show': people(A_USER),
  'user.list-events': people(A_USER),
  'user.create': helps(({ anEmail }) => ({ email: anEmail() }), 201),
  'user.set-password': decides(and(A_USER, () => ({ password: 'another long horse' }))),
  'user.update': decides(
    and(A_USER, () => ({ name: 'Ada', profile: { given_name: 'Ada', address: { country: 'DE' } } })),
  ),
  'user.set-email': decides(and(A_USER, ({ anEmail }) => ({ email: anEmail() }))),
  'user.create-link': decides(and(A_USER, A_PRODUCT), 201),
  // No mail server is configured.
  'user.send-link': helps(and(A_USER, A_PRODUCT), 409),
  'user.unlock': helps(A_USER),
  'user.end-sessions': helps(A_SIGNED_IN_USER),
  'user.disable': helps(A_USER),
  'user.enable': helps(A_USER),
  'user.reset-second-factor': helps(A_USER_WITH_APP),
  'user.list-passkeys': people(A_USER),
  'user.remove-passkey': decides(A_PASSKEY),
  'user.revoke-tokens': decides(A_USER),
  'user.delete': decides(A_USER),
  'provider.list': reads(NOTHING),
  'provider.show': reads(A_PROVIDER),
  'provider.create': writes(() => {
    providers += 1
    const issuer = 'https://idp.example'
    return {
      provider_id: `idp-${providers}`,
      template: 'oidc',
      name: 'Acme',
      issuer,
      client_id: 'grantor',
      client_secret: 'secret',
    }
  }, 201),
  'provider.update': writes(and(A_PROVIDER, () => ({ name: 'Apex' }))),
  // Nothing listens there; the answer says so.
  'provider.test': reads(A_PROVIDER),
  'provider.disable': writes(A_PROVIDER),
  'provider.enable': writes(A_PROVIDER),
  'provider.delete': writes(A_PROVIDER),
  'organization.list': people(NOTHING),
  'organization.create': writes(() => ({ name: 'Acme' }), 201),
  'organization.show': inOrganization(people(AN_ORGANIZATION)),
  // What it is called, and whether it is there, is the operator's to say.
  'organization.rename': writes(and(AN_ORGANIZATION, () => ({ name: 'Apex' }))),
  'organization.disable': writes(AN_ORGANIZATION),
  'organization.enable': writes(AN_ORGANIZATION),
  'organization.revoke-tokens': inOrganization(writes(AN_ORGANIZATION)),
  'organization.delete': writes(AN_ORGANIZATION),
  'organization.list-grants': inOrganization(people(AN_ORGANIZATION)),
  'organization.show-grant': inOrganization(people(A_GRANT_HERE)),
  'organization.revoke-grant': inOrganization(helps(A_GRANT_HERE)),
  'member.list': inOrganization(people(AN_ORGANIZATION)),
  // It looks for people without an organization, so no administrator of one may.
  'member.add': decides(and(AN_ORGANIZATION, A_USER), 201),
  // No mail server is configured.
  'member.invite': inOrganization(
    helps(
      and(AN_ORGANIZATION, ({ anEmail }) => ({ email: anEmail() })),
      409,
    ),
  ),
  'member.send-link': inOrganization(helps(A_LONE_MEMBER, 409)),
  'member.unlock': inOrganization(helps(A_LONE_MEMBER)),
  'member.end-sessions': inOrganization(helps(A_LONE_MEMBER)),
  'member.reset-second-factor': inOrganization(helps(A_LONE_MEMBER_WITH_APP)),
  'member.disable': inOrganization(decides(A_MEMBER)),
  'member.enable': inOrganization(decides(A_MEMBER)),
  'member.remove': inOrganization(decides(A_MEMBER)),
  'installation.list': inOrganization(reads(AN_ORGANIZATION)),
  'installation.install': inOrganization(
    writes(
      and(
        AN_ORGANIZATION,
        and(A_CLIENT, () => ({ scope: '' })),
      ),
    ),
  ),
  'installation.disable': inOrganization(writes(AN_INSTALLATION)),
  'installation.enable': inOrganization(writes(AN_INSTALLATION)),
  'installation.remove': inOrganization(writes(AN_INSTALLATION)),
  'group.list': people(NOTHING),
  'group.create': writes(() => ({ group_id: aGroup().id }), 201),
  'group.show': people(A_GROUP),
  'group.update': writes(and(A_GROUP, () => ({ name: 'Finance' }))),
  'group.delete': writes(A_GROUP),
  'group.list-members': people(A_GROUP),
  'group.add-member': writes(and(A_GROUP, A_USER)),
  'group.remove-member': writes(A_GROUP_MEMBER),
  'organization-group.list': inOrganization(people(AN_ORGANIZATION)),
  'organization-group.create': inOrganization(
    writes(
      and(AN_ORGANIZATION, () => ({ group_id: aGroup().id })),
      201,
    ),
  ),
  'organization-group.show': inOrganization(people(AN_OWN_GROUP)),
  'organization-group.update': inOrganization(writes(and(AN_OWN_GROUP, () => ({ name: 'Finance' })))),
  'organization-group.delete': inOrganization(writes(AN_OWN_GROUP)),
  'organization-group.list-members': inOrganization(people(AN_OWN_GROUP)),
  'organization-group.add-member': inOrganization(writes(AN_OWN_GROUP_WITH_USER)),
  'organization-group.remove-member': inOrganization(writes(AN_OWN_GROUP_MEMBER)),
  'access-rule.list': people(NOTHING),
  'access-rule.create': writes(A_RULE, 201),
  'access-rule.show': people(AN_ACCESS_RULE),
  'access-rule.update': writes(and(AN_ACCESS_RULE, A_CHANGE)),
  'access-rule.delete': writes(AN_ACCESS_RULE),
  'organization-access-rule.list': inOrganization(people(AN_ORGANIZATION)),
  'organization-access-rule.create': inOrganization(writes(and(AN_ORGANIZATION, AN_OWN_NEW_RULE), 201)),
  'organization-access-rule.show': inOrganization(people(AN_OWN_RULE)),
  'organization-access-rule.update': inOrganization(writes(and(AN_OWN_RULE, AN_OWN_CHANGE))),
  'organization-access-rule.delete': inOrganization(writes(AN_OWN_RULE)),
  'access.explain': people(and(A_USER, A_CLIENT)),
  'organization-access.explain': inOrganization(people(partsOf('organization_id', 'user_id', 'client_id'))),
  'api.list': reads(NOTHING),
  'api.show': reads(AN_API),
  'api.create': writes(({ aResource }) => ({ resource: aResource() }), 201),
  'api.update': writes(and(AN_API, () => ({ name: 'Payments' }))),
  'api.delete': writes(AN_API),
  'api.create-credentials': writes(AN_API, 201),
  'grant.list': people(NOTHING),
  'grant.show': people(A_GRANT),
  'grant.revoke': helps(A_GRANT),
  'session.list': people(NOTHING),
  'session.end': helps(A_SESSION),
  'apply.list': reads(NOTHING),
  // A run is recorded at its end.
  'apply.record': writes(async ({ server }) => {
    sets += 1
    const run = { set: `set-${sets}` }
    const { mark } = await perform(server.context, 'apply.record', { ...run, step: 'begin', mark: null })
    return { ...run, step: 'finish', mark, counts: { created: 1, updated: 0, deleted: 0, complete: true } }
  }),
  'apply.release': writes(async ({ server }) => {
    sets += 1
    await perform(server.context, 'apply.record', { set: `set-${sets}`, step: 'begin', mark: null })
    return { set: `set-${sets}` }
  }),
  'audit.list': reads(NOTHING),
  'audit.verify': reads(NOTHING),
  'key.list': reads(NOTHING),
  'key.rotate': writes(NOTHING, 201),
  // The only key signs, so it cannot go.
  'clock.confirm': writes(NOTHING),
  // No mail server is configured.
  'mail.test': writes(async () => ({ address: 'ada@acme.test' }), 409),
  'key.retire': writes(async ({ server }) => ({ kid: (await server.context.store.listKeys())[0]?.id }), 409),
  'token.inspect': reads(A_TOKEN),
  'token.revoke': writes(A_TOKEN),
  'token.revoke-all': writes(async () => ({ confirm: 'everything' })),
  'initial-token.list': reads(NOTHING),
  'initial-token.create': writes(async () => ({ name: 'A pipeline' }), 201),
  'initial-token.revoke': writes(async ({ server }) => {
    const settings = { name: 'A pipeline', uses: 1, days: 1, template: DEFAULT_TEMPLATE }
    return { initial_token_id: (await createInitialToken(server.context, settings)).record.id }
  }),
  'delegate.create-credentials': writes(NOTHING, 201),
  'interaction.show': delegates(AN_INTERACTION),
  'interaction.accept': delegates(and(AN_INTERACTION, () => ({ subject: 'u_4711', decision: 'allow', scope: '' }))),
  'interaction.reject': delegates(AN_INTERACTION),
  'subject.revoke-tokens': delegates(async ({ server }) => {
    await provisionSubject(server.context, {
      subject: 'u_1',
      email: undefined,
      isEmailVerified: false,
      name: undefined,
      groups: undefined,
    })
    return { subject: 'u_1' }
  }),
  'admin.list': reads(NOTHING),
  'admin.create': writes(async () => ({ name: 'A pipeline', access: 'read' }), 201),
  'admin.revoke': writes(A_CREDENTIAL),
}
