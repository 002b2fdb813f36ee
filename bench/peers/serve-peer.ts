import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MintRequest, PeerDescription, PeerEndpoint, PeerMessage } from '../throughput/peer.ts'

export const FORM_TYPE = 'application/x-www-form-urlencoded'
export const REDIRECT_URI = 'http://127.0.0.1:33418/callback'
/** RFC 7636 Appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** The registration of a desktop client. Its name has a number, so that all clients differ. */
export const REGISTRATION = splitAtNumber({
  redirect_uris: [REDIRECT_URI, 'https://client.example/callback'],
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  client_name: 'Bench client #',
  client_uri: 'https://client.example/',
})

export function splitAtNumber(metadata: object): { readonly before: string; readonly after: string } {
  const [before = '', after = ''] = JSON.stringify(metadata).split('#')
  return { before, after }
}

export function form(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString()
}

/** The loads that all peers have at `/token`: codes with PKCE, refresh tokens, and client credentials with additional fields. */
export function tokenEndpoints(
  client: Readonly<Record<string, string>>,
  access: Readonly<Record<string, string>> | undefined,
): readonly PeerEndpoint[] {
  const token = {
    method: 'POST',
    path: '/token',
    contentType: FORM_TYPE,
    status: 200,
    contains: '"access_token":"',
    repeats: false,
  } as const
  const redemption = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  const others: readonly PeerEndpoint[] = [
    { ...token, name: 'code', load: { kind: 'codes', before: `${form({ ...client, ...redemption })}&code=` } },
    {
      ...token,
      name: 'refresh',
      load: { kind: 'refresh-tokens', before: `${form({ ...client, grant_type: 'refresh_token' })}&refresh_token=` },
    },
  ]
  if (access === undefined) return others
  const body = form({ ...client, grant_type: 'client_credentials', ...access })
  return [{ ...token, name: 'client_credentials', load: { kind: 'same', body } }, ...others]
}

/** Listens on a free port until the bench ends. */
export async function listen(makeListener: (origin: string) => Promise<RequestListener>): Promise<number> {
  const server = createServer({ keepAliveTimeout: 65_000 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  server.on('request', await makeListener(`http://127.0.0.1:${port}`))
  process.on('disconnect', () => process.exit())
  process.on('SIGTERM', () => process.exit())
  return port
}

/** Reports to the bench that the peer is ready, and mints the codes or tokens that the bench requests. */
export function serve(description: PeerDescription, mint: (kind: MintRequest['kind']) => Promise<string>): void {
  process.on('message', ({ kind, count }: MintRequest) => {
    void Promise.all(Array.from({ length: count }, () => mint(kind))).then((values) => say({ kind: 'minted', values }))
  })
  say({ kind: 'ready', description })
}

function say(message: PeerMessage): void {
  process.send?.(message)
}
