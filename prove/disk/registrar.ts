import { setTimeout as delay } from 'node:timers/promises'
import { formBody, send, type SendResult } from '../../tools/send.ts'
import type { Findings } from '../findings.ts'

/** Clients that register one after the other, and what they were answered. */
export interface Registrar {
  /** The secrets of acknowledged registrations, by client id. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** How many requests were answered 503. */
  readonly refused: () => number
  /** Whether connections may break, because the server is being killed. */
  mayBreak: boolean
  /** How many requests may have been committed without an answer. */
  readonly unanswered: () => number
  readonly stop: () => Promise<void>
}

const CLIENTS = 4
const PAUSE_MS = 5
const JSON_HEADERS = { 'content-type': 'application/json' }
const METADATA = JSON.stringify({
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_post',
  client_name: 'x'.repeat(100),
})

export function startRegistrar(port: number, findings: Findings): Registrar {
  const acknowledged = new Map<string, string>()
  const end = new AbortController()
  let [refused, unanswered] = [0, 0]

  async function registerAll(): Promise<void> {
    while (!end.signal.aborted) {
      const answer = await send({ port, path: '/v2/oauth/register', headers: JSON_HEADERS, body: METADATA })
      if (answer.kind === 'response' && answer.status === 201) {
        const { client_id, client_secret } = JSON.parse(answer.body) as { client_id: string; client_secret: string }
        acknowledged.set(client_id, client_secret)
      } else if (isUnavailable(answer)) refused += 1
      else if (answer.kind !== 'response' && registrar.mayBreak) unanswered += 1
      else findings.report(`A registration was answered: ${JSON.stringify(answer).slice(0, 300)}`)
      await delay(PAUSE_MS)
    }
  }

  const registrar: Registrar = {
    acknowledged,
    mayBreak: false,
    refused: () => refused,
    unanswered: () => unanswered,
    async stop() {
      end.abort()
      await running
    },
  }
  const running = Promise.all(Array.from({ length: CLIENTS }, registerAll))
  return registrar
}

/** 503 with the error that lets clients keep what they have. */
function isUnavailable(answer: SendResult): boolean {
  if (answer.kind !== 'response' || answer.status !== 503 || answer.headers['retry-after'] === undefined) return false
  return (JSON.parse(answer.body) as { readonly error: string }).error === 'temporarily_unavailable'
}

/** Returns the status of a token request of a client. */
export async function requestToken(
  port: number,
  [client_id, client_secret]: readonly [string, string],
): Promise<string> {
  const form = formBody({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await send({ port, path: '/v2/oauth/token', ...form })
  return answer.kind === 'response' ? String(answer.status) : answer.kind
}

/** What /health/ready says: `ready`, or the reason. */
export async function readiness(port: number): Promise<string> {
  const answer = await send({ port, path: '/health/ready' })
  if (answer.kind !== 'response') return answer.kind
  if (answer.status === 200) return 'ready'
  const { detail = [] } = JSON.parse(answer.body) as {
    readonly detail?: readonly { readonly ctx: { readonly reason?: string } }[]
  }
  return detail[0]?.ctx.reason ?? `${answer.status} without a reason`
}
