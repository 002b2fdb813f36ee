import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeClient } from '../../../src/admin/client/document.ts'
import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import { createClient } from '../../../src/admin/client/metadata.ts'
import { documentClientId } from '../../../src/protocol/client/identifier.ts'
import { DEFAULT_RULES } from '../../../src/protocol/client/policy.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import { DEFAULT_TEMPLATE } from '../../../src/protocol/client/registration-template.ts'
import { NO_SCOPE } from '../../../src/protocol/token/scope.ts'
import { authorizeUrl, type RegisteredClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { evaluateDomain } from '../../support/domains.ts'
import { openTestServer } from '../../support/server.ts'

/** Each member of the metadata that is an address, with each kind of host, by each way in which a client comes or changes. */

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_REGISTRATION_RATE: '10000' } })
const documents = await openDocumentHost(WHOLE_FILE)

const HOSTS = { trusted: 'app.known.example', foreign: 'a.other.example', blocked: 'a.bad.example' } as const
type Host = keyof typeof HOSTS

const SENT_TO = ['redirect_uris', 'post_logout_redirect_uris', 'backchannel_logout_uri'] as const
const MEMBERS = [
  ...SENT_TO,
  'jwks_uri',
  'client_uri',
  'initiate_login_uri',
  'logo_uri',
  'tos_uri',
  'policy_uri',
] as const
type Member = (typeof MEMBERS)[number]

type Outcome = 'verified' | 'known-domain' | 'unverified' | 'refused'
type Way = 'registration' | 'update' | 'template' | 'verified template' | 'updated template' | 'document' | 'operator'
const WAYS: Readonly<Record<Way, (members: object) => Promise<Outcome>>> = {
  registration: (members) => register(members),
  update: async (members) => update(await registered({}), members),
  template: async (members) => register(members, await issue('unverified')),
  'verified template': async (members) => register(members, await issue('verified')),
  'updated template': async (members) => update(await registered({}, await issue('verified')), members),
  document: publish,
  operator: create,
}

test('WAY-01, IAT-03: a client is known, or within its token’s limits, only if every URI to which it sends browsers or notices is', async () => {
  await evaluateDomain(server, '*.known.example', 'trusted')
  await evaluateDomain(server, '127.0.0.1', 'trusted')
  await evaluateDomain(server, '*.bad.example', 'blocked')
  for (const way of Object.keys(WAYS) as Way[]) {
    for (const member of MEMBERS) {
      for (const host of Object.keys(HOSTS) as Host[]) {
        const uri = `https://${HOSTS[host]}/path`
        const value = member.endsWith('uris') ? [uri] : uri
        const method = member === 'jwks_uri' ? { token_endpoint_auth_method: 'private_key_jwt' } : {}
        const outcome = await WAYS[way]({ [member]: value, ...method })
        assert.equal(outcome, expected(way, member, host), `${way}, ${member}, ${host}`)
      }
    }
  }
})

function expected(way: Way, member: Member, host: Host): Outcome {
  const isVerified = ['verified template', 'updated template', 'operator'].includes(way)
  const usual = isVerified ? 'verified' : 'known-domain'
  // Where the client is not notified, the member is left out.
  if (member === 'backchannel_logout_uri' && !isVerified) return usual
  const leadsAway = SENT_TO.some((name) => name === member)
  if (host === 'blocked' && (leadsAway || member === 'jwks_uri')) return 'refused'
  // Another host to which pages would lead ends the mark.
  const isLed = member === 'client_uri' || member === 'initiate_login_uri'
  if (way === 'updated template' && isLed && host !== 'trusted') return 'known-domain'
  if (host === 'trusted' || !leadsAway) return usual
  if (way.endsWith('template')) return 'refused'
  return isVerified ? 'verified' : 'unverified'
}

const USUAL = { client_name: 'Example', redirect_uris: ['https://app.known.example/cb'] }

async function register(members: object, token?: string): Promise<Outcome> {
  const { statusCode, body } = await post({ ...USUAL, ...members }, token)
  return statusCode === 201 ? levelOf((JSON.parse(body) as RegisteredClient).client_id) : refusalOf(statusCode)
}

async function registered(members: object, token?: string): Promise<RegisteredClient> {
  return JSON.parse((await post({ ...USUAL, ...members }, token)).body) as RegisteredClient
}

function post(members: object, token: string | undefined) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return send('POST', '/v2/oauth/register', { 'content-type': 'application/json', ...authorization }, members)
}

function send(method: 'POST' | 'PUT', url: string, headers: Readonly<Record<string, string>>, members: object) {
  return server.inject({ method, url, headers, payload: JSON.stringify(members) })
}

async function update(client: RegisteredClient, members: object): Promise<Outcome> {
  const { client_id, client_secret } = client
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  const headers = { 'content-type': 'application/json', authorization }
  const body = { client_id, client_secret, ...USUAL, ...members }
  const { statusCode } = await send('PUT', `/v2/oauth/register?client_id=${client_id}`, headers, body)
  return statusCode === 200 ? levelOf(client_id) : refusalOf(statusCode)
}

async function issue(trustLevel: 'verified' | 'unverified'): Promise<string> {
  const template = { ...DEFAULT_TEMPLATE, trustLevel, redirectHosts: ['*.known.example'] }
  return (await createInitialToken(server.context, { name: 'partner', uses: 1, days: 1, template })).token
}

let published = 0

async function publish(members: object): Promise<Outcome> {
  documents.publish({ ...USUAL, ...members })
  published += 1
  const client_id = `http://127.0.0.1:${documents.port}/${published}.json`
  const redirect_uri = 'https://app.known.example/cb'
  const { statusCode } = await server.inject({ url: authorizeUrl({ client_id }, { redirect_uri }) })
  return statusCode === 403 ? 'refused' : levelOf(documentClientId(client_id))
}

async function create(members: object): Promise<Outcome> {
  const metadata = {
    ...USUAL,
    ...members,
    ...('jwks_uri' in members ? {} : { token_endpoint_auth_method: 'none' as const }),
  }
  const input = { metadata, rules: DEFAULT_RULES, approvedScope: NO_SCOPE } as const
  return createClient(server.context, input).then(
    ({ client }) => levelOf(client.id),
    () => 'refused',
  )
}

async function levelOf(id: string): Promise<Outcome> {
  const client = await server.context.store.findClient(id as ClientId)
  assert.ok(client, `There is no client ${id}.`)
  const { trust_level: level } = await describeClient(client, server.context)
  return level === 'blocked' ? assert.fail() : level
}

function refusalOf(statusCode: number): Outcome {
  assert.equal(statusCode, 400)
  return 'refused'
}
