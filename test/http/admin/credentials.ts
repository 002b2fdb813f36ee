import { createApiCredentials } from '../../../src/admin/api/api.ts'
import { authorizeUrl, PlainBrowser, requestToken, signInAndAllow } from '../../../tools/flow.ts'
import { mintOrderedId } from '../../../src/protocol/ids.ts'
import { openSecrets, type SingleKind } from '../../../src/protocol/secrets.ts'
import type { AdminServer } from '../../support/admin-server.ts'

/** Headers with which a caller who is no administrator may send a request, by credential. */
export type Credentials = ReadonlyMap<string, Readonly<Record<string, string>>>

/** A valid credential of each kind, none of which may use the API. */
export async function gatherCredentials(stage: AdminServer): Promise<Credentials> {
  const { server } = stage
  const { context } = server
  const client = await stage.makeClient()
  const tokens = await stage.makeTokens()
  const machine = await requestToken(server, client, { grant_type: 'client_credentials' })
  const browser = new PlainBrowser(server)
  const answer = await signInAndAllow(browser, authorizeUrl(client))
  const cookies = browser.cookieHeader
  const sessions = [...browser.cookies.values()]
  const api = await createApiCredentials(context, await stage.makeApi())
  const { token: live, id } = await stage.issue('write')
  const alive: Readonly<Record<string, string>> = {
    'a client secret': client.client_secret ?? '',
    'an access token': tokens.access_token,
    "a machine's access token": machine.json<{ access_token: string }>().access_token,
    'a refresh token': tokens.refresh_token ?? '',
    'a code': answer.searchParams.get('code') ?? '',
    'a registration access token': String(client['registration_access_token']),
    "an API's secret": api.secret,
    'a session': sessions[0] ?? '',
    'a browser': sessions[1] ?? '',
    "an administrator's id": id,
    'a token cut short': live.slice(0, -1),
    'a token of another server': openSecrets('another root secret, just as long').mint(
      'admin-token',
      id,
      context.random,
    ).token,
    'a token that was never stored': context.secrets.mint('admin-token', id, context.random).token,
    nothing: '',
  }
  const absent = Object.entries(alive).filter(([name, token]) => token === '' && name !== 'nothing')
  if (absent.length > 0) throw new Error(`There is no such thing to hold: ${absent.join()}`)
  const named = Object.entries({ ...alive, ...sealEveryKind(stage) }).map(
    ([name, token]): [string, Record<string, string>] => [`Bearer with ${name}`, { authorization: `Bearer ${token}` }],
  )
  return new Map([
    ['nobody', {}],
    ...named,
    ["a client's Basic", basic(client.client_id, client.client_secret ?? '')],
    ["an API's Basic", basic(api.id, api.secret)],
    ['a live token as Basic', basic(id, live)],
    ['a live token without its scheme', { authorization: live }],
    ['a live token as DPoP', { authorization: `DPoP ${live}` }],
    ['a live token and more', { authorization: `Bearer ${live} ${live}` }],
    ['cookies', { cookie: cookies }],
    ['a live token as a cookie', { cookie: `session=${live}; authorization=Bearer ${live}` }],
    [
      'a live token in another header',
      { 'x-authorization': `Bearer ${live}`, 'proxy-authorization': `Bearer ${live}` },
    ],
  ])
}

/** One of each kind that the secrets module knows: a new kind does not compile without a line here. */
function sealEveryKind({ server: { context } }: AdminServer): Readonly<Record<string, string>> {
  const kinds: Readonly<Record<Exclude<SingleKind, 'admin-token'>, true>> = {
    'client-secret': true,
    'management-token': true,
    'authorization-code': true,
    'pushed-request': true,
    'device-code': true,
    'access-token': true,
    'api-secret': true,
    'delegate-token': true,
    'initial-token': true,
    interaction: true,
    link: true,
    'identity-proof': true,
    session: true,
    browser: true,
  }
  const { clock, random, secrets } = context
  const sealed = Object.fromEntries(
    Object.keys(kinds).map((kind) => [
      `a sealed ${kind}`,
      secrets.mint(kind as SingleKind, mintOrderedId(clock(), random), random).token,
    ]),
  )
  const family = secrets.mintFamily(mintOrderedId(clock(), random), clock(), random)
  return { ...sealed, 'a sealed refresh-token': family.token }
}

function basic(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}
