import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { AdminError } from '../../src/admin/admin-error.ts'
import { NEW_METADATA } from '../../src/admin/client/metadata.ts'
import { readFiles } from '../../src/cli/apply/document.ts'
import { makePlan, requirePossible } from '../../src/cli/apply/plan.ts'
import { runPlan } from '../../src/cli/apply/run.ts'
import { performOn } from '../../src/cli/lib/perform-task.ts'
import type { Settings } from '../../src/ports/context.ts'
import { parseClientId } from '../../src/protocol/ids.ts'
import { openAppRedirects } from '../../src/protocol/uri/app-redirect.ts'
import { DEVICE_CODE, JWT_BEARER } from '../../src/protocol/token/grant-types.ts'
import { type ConsoleBrowser, filledIn, openConsole } from '../../tools/console-browser.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { postJson, type RegisteredClient } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { declareApi, JWT_API, knowApis } from '../support/apis.ts'
import { evaluateDomain, forgetRule } from '../support/domains.ts'
import { perform as performTask, type Members } from '../support/tasks.ts'

/** What a client has and the server no longer offers, by each later change of the client. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  const env = { GRANTOR_REDIRECT_SCHEMES: 'cursor', GRANTOR_OUTBOUND_PORTS: '443,8443', GRANTOR_DEVICE_GRANT: 'on' }
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) }, env)
  browser = await openConsole(stage.server)
  await declareApi(stage.server, JWT_API)
  await declareOther()
  knowApis(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const perform = (name: string, input: Members): Promise<Members> => performTask(stage.server.context, name, input)

/** What ends the offer, and returns how it begins again. */
type Ending = () => Promise<() => unknown>

interface Row {
  readonly has: Members
  readonly ends: readonly (readonly [how: string, ending: Ending])[]
  /** Only a client of the operator may have it. */
  readonly isOperators?: true
  /** Only a client that registered may have it: adopting it is the end of the offer. */
  readonly isRegistered?: true
  /** A change that adds the same to another client, and how it is refused. */
  readonly added?: readonly [change: Members, says: RegExp]
}

function setting(change: (settings: Settings) => Partial<Settings>): Ending {
  return async () => {
    const { context } = stage.server
    const { settings } = context
    Object.assign(context, { settings: { ...settings, ...change(settings) } })
    return () => Object.assign(context, { settings })
  }
}

function blocked(pattern: string): Ending {
  return async () => {
    await evaluateDomain(stage.server, pattern, 'blocked')
    return () => forgetRule(stage.server, pattern)
  }
}

const OTHER_API = 'https://other.example'
const declareOther = () =>
  declareApi(stage.server, OTHER_API, {}, [{ name: 'b', sentence: 'B', grantedTo: 'users-and-machines' }])

const CALLBACK = 'https://app.example/cb'
const APP = { redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'] }
const MACHINE = { grant_types: ['client_credentials'] }
const KEYS_AT = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://app.example:8443/jwks.json' }
const NOTICES = { ...APP, backchannel_logout_uri: 'https://app.example:8443/bye' }

const off = setting(({ outbound }) => ({ outbound: { ...outbound, isOn: false } }))
const narrowPorts = setting(({ outbound }) => ({ outbound: { ...outbound, ports: [443] } }))
const fewGrants = setting(() => ({ grantTypes: ['authorization_code'] }))
const noApps = setting(({ redirects }) => ({ redirects: { ...redirects, apps: openAppRedirects([]) } }))
const moved = setting(({ redirects }) => ({ redirects: { ...redirects, own: new URL('https://app.example') } }))
const nothing: Ending = async () => () => undefined

const ROWS: Readonly<Record<string, Row>> = {
  'a scope': {
    has: { ...APP, scope: 'read b' },
    ends: [['api.delete', async () => (await perform('api.delete', { resource: OTHER_API }), declareOther)]],
    added: [{ scope: 'read b' }, /^No API declares b\./],
  },
  'the device grant': {
    has: { grant_types: [DEVICE_CODE, 'refresh_token'], token_endpoint_auth_method: 'client_secret_basic' },
    isOperators: true,
    ends: [['the setting', fewGrants]],
    added: [
      { grant_types: [DEVICE_CODE] },
      /^This server does not offer urn:ietf:params:oauth:grant-type:device_code\./,
    ],
  },
  'other grant types': {
    has: { ...APP, grant_types: ['authorization_code', 'refresh_token', 'client_credentials', JWT_BEARER] },
    ends: [['a narrower release', fewGrants]],
    added: [
      { grant_types: ['authorization_code', 'client_credentials'] },
      /^This server does not offer client_credentials\./,
    ],
  },
  'a jwks_uri': {
    has: { ...MACHINE, ...KEYS_AT },
    ends: [
      ['no outbound requests', off],
      ['fewer ports', narrowPorts],
      ['a blocked host', blocked('app.example')],
    ],
  },
  'a backchannel_logout_uri': {
    has: NOTICES,
    ends: [
      ['no outbound requests', off],
      ['fewer ports', narrowPorts],
    ],
    added: [{ backchannel_logout_uri: NOTICES.backchannel_logout_uri }, /sends no requests|^backchannel_logout_uri: /],
    isOperators: true,
  },
  'a redirect URI of an app': {
    has: { ...APP, redirect_uris: [CALLBACK, 'cursor://anysphere.cursor-mcp/oauth/callback'] },
    ends: [['the setting', noApps]],
    added: [
      { redirect_uris: [CALLBACK, 'cursor://anysphere.cursor-mcp/oauth/callback'] },
      /^The server does not allow the app of the redirect URI cursor:/,
    ],
  },
  'redirect URIs of an app alone': {
    has: { ...APP, redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] },
    ends: [['the setting', noApps]],
    added: [{ redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] }, /^redirect_uris: No redirect URI/],
  },
  'addresses of a host': {
    has: { ...APP, post_logout_redirect_uris: ['https://app.example/bye'] },
    ends: [
      ['a blocked host', blocked('app.example')],
      ['an issuer there', moved],
    ],
    added: [
      { post_logout_redirect_uris: ['https://app.example/bye'] },
      /app\.example\/bye is blocked|^post_logout_redirect_uris 0: /,
    ],
  },
  'a dormant redirect URI': {
    has: { ...APP, redirect_uris: [CALLBACK, 'myapp:/cb'] },
    isRegistered: true,
    ends: [['adopt', nothing]],
    added: [
      { redirect_uris: [CALLBACK, 'myapp:/cb'] },
      /^The server does not allow the app of the redirect URI myapp:\/cb\./,
    ],
  },
  'a scope of which nothing is declared': {
    has: { ...APP, scope: 'never' },
    isRegistered: true,
    ends: [['adopt', nothing]],
    added: [{ scope: 'never' }, /^No API declares never\./],
  },
  'redirect URIs without the code grant': {
    has: { ...MACHINE, redirect_uris: [CALLBACK] },
    isRegistered: true,
    ends: [['adopt', nothing]],
    added: [{ grant_types: ['client_credentials'] }, /^redirect_uris need the grant type authorization_code\.$/],
  },
  'the code grant without redirect URIs': {
    has: { grant_types: ['authorization_code', 'client_credentials'] },
    isRegistered: true,
    ends: [['adopt', nothing]],
    added: [{ redirect_uris: [] }, /^authorization_code \(or the default grant types\) needs redirect_uris\.$/],
  },
  'what describes it': {
    has: { ...APP, logo_uri: 'https://app.example/logo', contacts: ['a@app.example'], response_types: ['code'] },
    isRegistered: true,
    ends: [['adopt', nothing]],
  },
}

/** What a change may change of the metadata, besides its result. */
interface Later {
  readonly by: (client: string) => Promise<unknown>
  readonly changes?: readonly string[]
  /** For a client that is of another kind, or in the state already. */
  readonly says?: RegExp
}

const KEYS = { jwks: { keys: [makeClientKey('ES256').jwk] } }
const on = (task: string, input: Members = {}) => ({
  by: (client: string) => perform(task, { client_id: client, ...input }),
})

const LATER: Readonly<Record<string, Later>> = {
  'client.update of the name': { ...on('client.update', { client_name: 'Other' }), changes: ['client_name'] },
  'client.update of a flag': { ...on('client.update', { require_auth_time: true }), changes: ['require_auth_time'] },
  'client.set-rules': on('client.set-rules', { claims: 'userinfo' }),
  'client.rotate-secret': { ...on('client.rotate-secret'), says: /has no secret/ },
  'client.set-secret': {
    ...on('client.set-secret', { client_secret: 'a-s3cret-of-another-server-0815' }),
    says: /has no secret/,
  },
  'client.approve-scopes': on('client.approve-scopes', { scope: 'read' }),
  'client.revoke-tokens': on('client.revoke-tokens'),
  'client.disable': on('client.disable'),
  'client.enable': on('client.enable'),
  'client.adopt': { ...on('client.adopt'), says: /already belongs to the operator/ },
  'the form of the console': {
    changes: ['client_name'],
    by: async (client) => {
      const asked = await browser.open(`/console/clients/${client}?ask=client.update`)
      const sent = { ...filledIn(asked, 'client.update'), client_name: 'Formed' }
      const done = await browser.press(asked, 'client.update', sent)
      assert.deepEqual([done.statusCode, /class="notice/.test(done.body)], [200, true], done.body)
    },
  },
  'grantor apply': {
    changes: ['client_name'],
    by: async (client) => {
      const row = await perform('client.show', { client_id: client })
      const own = Object.keys(NEW_METADATA.shape).filter((name) => (row[name] ?? '') !== '')
      const members = Object.fromEntries(own.map((name) => [name, row[name]]))
      const record = {
        client_id: client,
        ...members,
        approved_scope: row['approved_scope'],
        rules: row['rules'],
        client_name: 'Applied',
      }
      const path = join(stage.server.folder, `${client}.yaml`)
      writeFileSync(path, stringify({ version: 1, set: 'production', clients: [record] }))
      const run = performOn(stage.server.context)
      const plan = await makePlan(await readFiles([path], { variable: () => undefined }, 'read'), run, { prune: false })
      requirePossible(plan)
      const { failure, done } = await runPlan(plan, run)
      assert.deepEqual(
        [failure, done.flatMap(({ differences }) => differences.map(({ member }) => member))],
        [undefined, ['client_name']],
      )
    },
  },
  // The last one: a client with a secret has none afterwards.
  'client.set-keys': { ...on('client.set-keys', KEYS), changes: ['jwks', 'jwks_uri', 'token_endpoint_auth_method'] },
}

const metadataOf = async (client: string) => {
  const id = parseClientId(client) ?? assert.fail()
  return (await stage.server.context.store.findClient(id))?.metadata ?? assert.fail()
}

async function make(how: 'created' | 'registered', has: Members): Promise<string> {
  const named = { client_name: 'Board', ...has }
  if (how === 'created') return String((await perform('client.create', named))['client_id'])
  const answer = await postJson(stage.server, '/v2/oauth/register', named)
  assert.equal(answer.statusCode, 201, answer.body)
  const { client_id: client } = answer.json<RegisteredClient>()
  await perform('client.adopt', { client_id: client })
  return client
}

for (const [what, { has, ends: endings, isOperators, isRegistered, added }] of Object.entries(ROWS))
  test(`WAY-05: a client is changed in each way, and keeps what is no longer offered: ${what}`, async () => {
    const ways = (['created', 'registered'] as const).filter(
      (way) => (way === 'created' ? isRegistered : isOperators) !== true,
    )
    for (const way of ways)
      for (const [how, end] of endings) {
        const client = await make(way, has)
        const other = await make('created', APP)
        const begin = await end()
        try {
          for (const [change, { by, changes = [], says }] of Object.entries(LATER)) {
            const at = `${way}, ${how}, ${change}`
            const had = await metadataOf(client)
            await by(client).catch((cause: unknown) => {
              assert.ok(cause instanceof AdminError && says?.test(cause.message), `${at}: ${String(cause)}`)
            })
            const now = await metadataOf(client)
            for (const name of new Set([...Object.keys(had), ...Object.keys(now)] as (keyof typeof had)[]))
              if (!changes.includes(name)) assert.deepEqual(now[name], had[name], `${at}: ${name}`)
          }
          if (added !== undefined)
            await assert.rejects(perform('client.update', { client_id: other, ...added[0] }), (cause) => {
              assert.ok(cause instanceof AdminError)
              assert.match(cause.message, added[1])
              return true
            })
        } finally {
          await begin()
        }
      }
  })

test('WAY-05: of a list only what a change adds is checked, and what it removes is gone', async () => {
  const client = await make('registered', { ...APP, redirect_uris: [CALLBACK, 'myapp:/cb', 'myapp:/two'], scope: '' })
  const update = (input: Members) => perform('client.update', { client_id: client, ...input })
  await assert.rejects(
    update({ redirect_uris: [CALLBACK, 'myapp:/cb', 'other:/cb'] }),
    /does not allow the app of the redirect URI other:\/cb\./,
  )
  await assert.rejects(
    update({ redirect_uris: [CALLBACK, 'myapp:/cb', 'https://app.example/#x'] }),
    /^AdminError: redirect_uris 2: [^\n]*$/,
  )
  assert.deepEqual((await update({ redirect_uris: ['myapp:/cb'] }))['redirect_uris'], ['myapp:/cb'])
  await evaluateDomain(stage.server, 'bad.example', 'blocked')
  await assert.rejects(
    update({ redirect_uris: ['myapp:/cb', 'https://bad.example/cb'] }),
    /The domain of https:\/\/bad\.example\/cb is blocked/,
  )
})

test('what is no longer offered to a client that manages itself is refused by its name, or not in the answer', async () => {
  const key = { token_endpoint_auth_method: 'private_key_jwt', ...KEYS }
  const put = async (has: Members, end: Ending, more: Members = {}) => {
    const made = (await postJson(stage.server, '/v2/oauth/register', { ...has })).json<
      Readonly<Record<string, string>>
    >()
    const { registration_client_uri: uri = '', registration_access_token: token = '' } = made
    const { pathname, search } = new URL(uri)
    const own = [
      'registration_client_uri',
      'registration_access_token',
      'client_secret_expires_at',
      'client_id_issued_at',
    ]
    const sent = Object.entries(made).filter(([name]) => !own.includes(name))
    const begin = await end()
    knowApis(stage.server)
    try {
      const answer = await stage.server.inject({
        method: 'PUT',
        url: pathname + search,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        payload: JSON.stringify({ ...Object.fromEntries(sent), ...more }),
      })
      const { detail = [], ...now } = answer.json<
        { detail?: readonly { readonly loc: readonly string[] }[] } & Members
      >()
      return { status: answer.statusCode, at: detail.map(({ loc }) => loc.slice(1).join('.')), now }
    } finally {
      await begin()
      knowApis(stage.server)
    }
  }
  const deleted = ROWS['a scope']?.ends[0]?.[1] ?? nothing
  // Leaked keys are replaced in the same request.
  const other = { jwks: { keys: [makeClientKey('ES256').jwk] } }
  const narrowed = await put({ ...APP, ...key, scope: 'read b' }, deleted, other)
  assert.deepEqual([narrowed.status, narrowed.now['scope'], narrowed.now['jwks']], [200, 'read', other.jwks])
  const fewer = await put({ ...APP, grant_types: ['authorization_code', 'client_credentials'] }, fewGrants)
  assert.deepEqual([fewer.status, fewer.now['grant_types']], [200, ['authorization_code']])
  const dormant = await put({ ...APP, redirect_uris: [CALLBACK, 'cursor://a/cb'] }, noApps)
  assert.deepEqual([dormant.status, dormant.now['redirect_uris']], [200, [CALLBACK, 'cursor://a/cb']])
  for (const [has, end, at] of [
    [{ ...MACHINE, ...KEYS_AT }, off, 'jwks_uri'],
    [{ ...MACHINE, ...KEYS_AT }, narrowPorts, 'jwks_uri'],
    [{ ...MACHINE, ...KEYS_AT }, blocked('app.example'), 'jwks_uri'],
    [{ ...APP, redirect_uris: ['cursor://a/cb'] }, noApps, 'redirect_uris'],
    [APP, moved, 'redirect_uris.0'],
    [APP, blocked('app.example'), 'redirect_uris.0'],
  ] as const) {
    const refused = await put(has, end)
    assert.deepEqual([refused.status, refused.at.includes(at)], [400, true], `${at}: ${JSON.stringify(refused)}`)
  }
  // What is refused is replaced.
  assert.equal((await put({ ...MACHINE, ...KEYS_AT }, off, { jwks_uri: null, ...other })).status, 200)
})
