import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DEVICE_CODE } from '../../src/protocol/token/grant-types.ts'
import {
  authorizeUrl,
  obtainCode,
  obtainTokens,
  PlainBrowser,
  postForm,
  pushRequest,
  REDIRECT_URI,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { administer, createUser, openAccount, type Place } from './held.ts'

/** Settings with which a server stores what `fill` makes. No host answers at the address of the mails, so they stay. */
export const FILLED_SETTINGS = {
  GRANTOR_DEVICE_GRANT: 'on',
  GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9',
  GRANTOR_MAIL_FROM: 'grantor@acme.test',
} as const

const PAUSE_MS = 100

/** Makes what a store may have besides what is held: organizations, providers, devices, and what waits to be sent or redeemed. */
export async function fill(place: Place): Promise<void> {
  const { server } = place
  const task = (method: 'POST' | 'PUT', path: string, input: object = {}) => administer(place, method, path, input)
  const client = await registerClient(server)
  const { email, user_id } = await createUser(place)
  const organization = `/organizations/${String((await task('POST', '/organizations', { name: 'Acme' }))['organization_id'])}`
  await task('POST', `${organization}/members`, { email })
  await task('PUT', `${organization}/installations/${client.client_id}`, { scope: '', acts_for_members: true })
  await task('PUT', `/users/${user_id}/role`, { access: 'read' })
  await task('POST', '/groups', { group_id: 'finance', name: 'Finance', protected: true })
  await task('POST', '/groups/finance/members', { user_id })
  await task('POST', '/access-rules', { rule_id: 'finance', except_groups: ['finance'], state: 'report' })
  await task('POST', `/users/${user_id}/send-link`)
  await task('POST', '/domains/trust', { pattern: 'trusted.example' })
  const provider = { template: 'oidc', issuer: 'https://idp.example', client_id: 'grantor', client_secret: 'a secret' }
  await task('POST', '/providers', { provider_id: 'acme', name: 'Acme', ...provider })
  const resource = `https://${randomUUID()}.example`
  await task('POST', '/apis', { resource, name: 'Opaque', scopes: [], tokens: { format: 'opaque' } })
  const form = { grant_type: 'client_credentials' }
  // A server knows a new API within a second. From then on its tokens need a user.
  while ((await requestToken(server, client, { ...form, resource })).statusCode === 200) await delay(PAUSE_MS)
  await obtainTokens(server, client, { resource })
  const { access_token: token } = (await requestToken(server, client, form)).json<Tokens>()
  await postForm(server, '/v2/oauth/revoke', credentials(client, { token }))
  const owner = new PlainBrowser(server)
  await owner.submit(await openAccount(owner, '/account/email', email), { email: `other-${email}` })
  await pushRequest(server, client)
  await obtainCode(server, client)
  await obtainTokens(server, await registerClient(server, { token_endpoint_auth_method: 'none' }))
  const device = { client_name: 'A device', grant_types: [DEVICE_CODE], token_endpoint_auth_method: 'none' }
  const { client_id } = (await task('POST', '/clients', device)) as { readonly client_id: string }
  await postForm(server, '/v2/oauth/device_authorization', { client_id })
  const noticed = await task('POST', '/clients', {
    client_name: 'With notices',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code'],
    backchannel_logout_uri: 'https://app.example/logout',
    token_endpoint_auth_method: 'none',
  })
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(noticed as RegisteredClient, { scope: 'openid' }))
  await browser.submit(await browser.get('/v2/oauth/sign-out'), {})
}

function credentials(client: RegisteredClient, form: Readonly<Record<string, string>>): Record<string, string> {
  return { client_id: client.client_id, client_secret: client.client_secret ?? '', ...form }
}
