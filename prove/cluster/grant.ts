import { decodeJwt } from 'jose'
import { REDIRECT_URI, VERIFIER, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import { modelGrant, type GrantInput, type GrantOperation, type GrantOutput } from './grant-model.ts'
import { isLinearizable } from './linearizable.ts'
import { formBody, send, type SendResult } from '../../tools/send.ts'
import type { Cluster } from './cluster.ts'
import type { Findings } from '../findings.ts'

/** One grant from its code or its device on, as its client sees it. Every call is recorded. */
export interface Grant {
  readonly operations: readonly GrantOperation[]
  readonly redeem: (port?: number) => Promise<Outcome>
  /** `network`: the address that the caller has, behind a proxy that the nodes trust. */
  readonly refresh: (presented: string, port?: number, network?: string) => Promise<Outcome>
  /** The id of the grant in the database, found by an output of the code or of a refresh. */
  readonly idOf: (output: GrantOutput | undefined) => string
  readonly isLinearizable: () => boolean
}

export interface Outcome {
  readonly result: SendResult
  /** undefined: the answer was neither tokens nor `invalid_grant`. */
  readonly output: GrantOutput | undefined
}

export interface GrantOptions {
  readonly cluster: Pick<Cluster, 'port' | 'agent' | 'limitMs' | 'retryMs'>
  readonly findings: Findings
  readonly client: RegisteredClient
  /** What its first request presents: a code, or the code of a device. */
  readonly redemption: Readonly<Record<string, string>>
}

/** The address of all callers but one who has a copy. */
const HOME = '203.0.113.1'
export const THIEF = '203.0.113.2'

/** The redemption of an authorization code. */
export function ofCode(code: string): GrantOptions['redemption'] {
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
}

export function openGrant({ cluster, findings, client, redemption }: GrantOptions): Grant {
  const operations: GrantOperation[] = []
  const ids = new Map<string, string>()

  async function request(input: GrantInput, form: Readonly<Record<string, string>>, port: number): Promise<Outcome> {
    const invokedAt = performance.now()
    const result = await requestToken(cluster, client, form, { port, network: input.network })
    const returnedAt = performance.now()
    findings.operations += 1
    const { output, grantId } = readOutcome(result)
    if (output?.kind === 'issued' && grantId !== undefined) ids.set(output.refreshToken, grantId)
    operations.push({ input, output, invokedAt, returnedAt })
    return { result, output }
  }

  return {
    operations,
    redeem: (port = cluster.port) => request({ kind: 'redeem', network: HOME }, redemption, port),
    refresh: (presented, port = cluster.port, network = HOME) =>
      request({ kind: 'refresh', presented, network }, { grant_type: 'refresh_token', refresh_token: presented }, port),
    idOf: (output) => (output?.kind === 'issued' ? (ids.get(output.refreshToken) ?? '') : ''),
    isLinearizable: () =>
      isLinearizable(operations, modelGrant(operations, { retryMs: cluster.retryMs, generationOf })),
  }
}

/** Sends a request to the token endpoint for a client with a secret. */
export function requestToken(
  { agent, limitMs }: Pick<Cluster, 'agent' | 'limitMs'>,
  { client_id, client_secret = '' }: RegisteredClient,
  form: Readonly<Record<string, string>>,
  { port, network = HOME }: { readonly port: number; readonly network?: string },
): Promise<SendResult> {
  const body = formBody({ client_id, client_secret, ...form }, { 'x-forwarded-for': network })
  return send({ port, path: '/v2/oauth/token', agent, limitMs, ...body })
}

/** Behind the prefix and the id. */
const GENERATION = /^grt_.{34}([0-9a-f]{6})/

function generationOf(refreshToken: string): number {
  return Number.parseInt(GENERATION.exec(refreshToken)?.[1] ?? '', 16)
}

function readOutcome(result: SendResult): { output: GrantOutput | undefined; grantId?: string } {
  if (result.kind !== 'response') return { output: undefined }
  const { status, body } = result
  if (status === 400 && body.includes('"invalid_grant"')) return { output: { kind: 'refused' } }
  if (status !== 200) return { output: undefined }
  const { access_token, refresh_token: refreshToken = '' } = JSON.parse(body) as Tokens
  const { jti: tokenId = '', grant_id } = decodeJwt(access_token)
  return { output: { kind: 'issued', refreshToken, tokenId }, grantId: String(grant_id) }
}
