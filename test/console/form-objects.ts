import assert from 'node:assert/strict'
import { chosenRows, fieldsIn, type Form } from '../../src/console/engine/form.ts'
import type { AnyScreen } from '../../src/console/screen.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { pathParameters } from '../../src/admin/task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import type { AdminServer } from '../support/admin-server.ts'
import { declareApi, JWT_API } from '../support/apis.ts'
import { aPasskey } from '../support/sign-in/factor-records.ts'
import { perform, type Members } from '../support/tasks.ts'

/** What the forms of the console are about: one object for each parameter of a path and each kind of row, with all that a form can change. */

export interface FormOnScreen {
  readonly screen: AnyScreen
  readonly form: Form
}

/** Each form of each screen. */
export const FORMS: readonly FormOnScreen[] = SCREENS.flatMap((screen) =>
  screen.forms.map((form) => ({ screen, form })),
)

/** Ids by the names of parameters. */
export type Objects = Readonly<Record<string, string>>

/** Declares the API that the objects refer to. */
export function declareFormApi({ server }: AdminServer): Promise<unknown> {
  return declareApi(server, JWT_API, {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users' },
    { name: 'pay', sentence: 'Pay', grantedTo: 'approved-clients' },
  ])
}

/** Makes the objects that a form is about, in the state that its task changes: that of the path, the row, and those that its fields name. */
export async function makeFormObjects(stage: AdminServer, screen: AnyScreen, form: Form): Promise<Objects> {
  const { task } = form
  const row = chosenRows(form)?.member
  const path = [...screen.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const fields = form.kind === 'create' ? fieldsIn(form).filter((name) => /^(client|user)_id$/.test(name)) : []
  const names = [...path, ...(row === undefined ? [] : [row]), ...fields]
  const isPeopled =
    names.some((name) => /^(grant|session|passkey)_id$/.test(name)) || path.length + (row === undefined ? 0 : 1) > 1
  const objects: Record<string, string> = isPeopled ? { ...(await stage.makePeopledOrganization()) } : {}
  for (const name of names) objects[name] ??= String(await (MAKERS[name] ?? assert.fail(name))(stage, task, objects))
  if (task.endsWith('.enable')) await run(stage, task.replace(/enable$/, 'disable'), namedIn(task, objects))
  await STATES[task]?.(stage, objects)
  return objects
}

/** The members of the path of a task. */
function namedIn(task: string, objects: Objects): Objects {
  return Object.fromEntries(pathParameters(requireTask(task)).map((name) => [name, objects[name] ?? '']))
}

function run(stage: AdminServer, task: string, input: Members): Promise<Members> {
  return perform(stage.server.context, task, input)
}

type State = (stage: AdminServer, objects: Objects) => Promise<unknown>

const setUpApp: State = async ({ server }, { user_id: id }) => {
  const user = await server.context.store.findUser(id as UserId)
  return addApp(server, user?.email)
}

/** Members of groups are active ones of the organization. */
const addToGroup: State = async (stage, { user_id, group_id, organization_id }) => {
  const [noun, own] = organization_id === undefined ? ['group', {}] : ['organization-group', { organization_id }]
  return run(stage, `${noun}.add-member`, { ...own, group_id, user_id })
}

const giveRole: State = async (stage, { user_id }) => {
  const organization_id = await makeOrganization(stage)
  return run(stage, 'role.set', { user_id, organization_id, access: 'read', loopback_only: true })
}

/** What a task changes, where it is not what its opposite made. */
const STATES: Readonly<Record<string, State>> = {
  'client.unverify': (stage, { client_id }) => run(stage, 'client.verify', { client_id }),
  'role.set': giveRole,
  'role.remove': giveRole,
  'user.reset-second-factor': setUpApp,
  'member.reset-second-factor': setUpApp,
  'group.remove-member': addToGroup,
  'organization-group.remove-member': addToGroup,
}

const JWK = makeClientKey('ES256').jwk
let [providers, groups, rules] = [0, 0, 0]

const makeOrganization = async (stage: AdminServer): Promise<string> =>
  String((await run(stage, 'organization.create', { name: 'Acme' }))['organization_id'])

type Maker = (stage: AdminServer, task: string, objects: Objects) => Promise<unknown>

const MAKERS: Readonly<Record<string, Maker>> = {
  client_id: makeClient,
  user_id: async (stage) => {
    const user = { email: stage.anEmail(), name: 'Grace Hopper', email_verified: true }
    return (await run(stage, 'user.create', user))['user_id']
  },
  organization_id: makeOrganization,
  group_id: async (stage, _, { organization_id }) => {
    const noun = organization_id === undefined ? 'group' : 'organization-group'
    const { group_id } = await run(stage, `${noun}.create`, {
      group_id: `made-${(groups += 1)}`,
      ...(organization_id !== undefined && { organization_id }),
    })
    return group_id
  },
  rule_id: async (stage, _, { organization_id }) => {
    const noun = organization_id === undefined ? 'access-rule' : 'organization-access-rule'
    const { rule_id } = await run(stage, `${noun}.create`, {
      rule_id: `made-${(rules += 1)}`,
      clients: ['source:registration'],
      require: '2fa',
      sentence: 'Two factors, please',
      state: 'off',
      ...(organization_id !== undefined && { organization_id }),
    })
    return rule_id
  },
  resource: async (stage) => {
    const resource = stage.aResource()
    await run(stage, 'api.create', {
      resource,
      name: 'Files',
      scopes: [
        { name: 'files', sentence: 'Files', granted_to: 'users', step_up: { level: '2fa', max_age: 60 } },
        { name: 'all', sentence: 'All', granted_to: 'approved-clients' },
      ],
      tokens: { format: 'jwt', lifetime: 60, algorithm: 'ES256', jwt_type: 'JWT', binding: 'dpop' },
    })
    return resource
  },
  provider_id: async (stage) => {
    const id = `idp-${(providers += 1)}`
    await run(stage, 'provider.create', {
      provider_id: id,
      template: 'oidc',
      name: 'Idp',
      issuer: `http://127.0.0.1:9/${id}`,
      client_id: 'grantor',
      client_secret: 's3cr3t',
      domains: [`${id}.example`],
      routing: 'required',
      sign_up: 'domains',
      multi_factor: true,
      organization_id: await makeOrganization(stage),
      private_hosts: ['idp.internal'],
      assertion_clients: ['board'],
      assertion_apis: [JWT_API],
    })
    return id
  },
  pattern: async (stage, task) => {
    const pattern = new URL(stage.aResource()).hostname
    await run(stage, task === 'domain.block' ? 'domain.trust' : 'domain.block', { pattern })
    return pattern
  },
  session_id: async (stage, _, { user_id }) => {
    const { sessions } = await perform<{ sessions: readonly Members[] }>(stage.server.context, 'session.list', {
      user_id,
    })
    return sessions[0]?.['session_id']
  },
  passkey_id: async ({ server }, _, { user_id: id }) => {
    const { store } = server.context
    const [session] = await store.listSessions({ userId: id as UserId, before: undefined, limit: 1 })
    const passkey = aPasskey({ userId: id as UserId })
    const reason = { kind: 'session', session: coversAll(session ?? assert.fail()) } as const
    assert.equal(await store.addPasskey({ passkey, reason, mails: [] }), 'added')
    return passkey.id
  },
  initial_token_id: async (stage) =>
    (await run(stage, 'initial-token.create', { name: 'CI', uses: 1, days: 1 }))['initial_token_id'],
  credential_id: async (stage) => (await stage.issue('read')).id,
  kid: async (stage) => {
    const { keys } = await perform<{ keys: readonly Members[] }>(stage.server.context, 'key.list', {})
    const next = keys.find(({ state }) => state === 'next') ?? (await run(stage, 'key.rotate', { purpose: 'access' }))
    return next['kid']
  },
}

/** A client that registered, one with a secret, or one that an operator created with all that can be emptied. */
async function makeClient(stage: AdminServer, task: string): Promise<string> {
  if (/^client\.(verify|unverify|adopt|create-registration-token)$/.test(task))
    return (await stage.makeClient()).client_id
  const own = { client_name: 'Board', redirect_uris: ['https://app.example/cb', 'https://app.example/two'] }
  const all = {
    scope: 'openid read pay',
    approved_scope: 'pay',
    jwks: { keys: [JWK] },
    token_endpoint_auth_signing_alg: 'ES256',
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
    id_token_signed_response_alg: 'ES256',
    default_max_age: 60,
    default_acr_values: ['urn:grantor:acr:2fa'],
    require_auth_time: true,
    post_logout_redirect_uris: ['https://app.example/out'],
    backchannel_logout_uri: 'https://app.example/bye',
    backchannel_logout_session_required: true,
    rules: { claims: 'userinfo', pkce: 'required' },
  }
  const service = { client_name: 'Service', grant_types: ['client_credentials'] }
  const metadata = task === 'installation.install' ? service : task.endsWith('secret') ? own : { ...own, ...all }
  const { client_id } = await run(stage, 'client.create', metadata)
  return String(client_id)
}
