import { isIPv6 } from 'node:net'
import type { Config } from '../../config/config.ts'
import type { ReadinessProbe } from '../../ports/inspection.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { readText, reasonOf } from '../../doctor/discovery.ts'

const READY_PATH = '/health/ready'
const ANSWER_LIMIT_MS = 5000
/** The addresses that mean every address of the machine. */
const EVERY_ADDRESS: readonly string[] = ['::', '0.0.0.0']

/** The address at which a server on this machine says whether it is ready. */
export function ownOrigin({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const own = host === 'localhost' || EVERY_ADDRESS.includes(host) ? '127.0.0.1' : host
  return `http://${isIPv6(own) ? `[${own}]` : own}:${port}`
}

/** Asks the server at this address whether it can serve requests. */
export async function probeReadiness(origin: string): Promise<ReadinessProbe> {
  const address = addressOf(origin, READY_PATH)
  try {
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    const { status } = response
    const body = parse((await readText(response)) ?? '')
    if (status === 200 && body?.status === 'ready') return { kind: 'ready', address }
    const { msg, ctx } = body?.detail?.[0] ?? {}
    const message = textOf(msg) ?? (status === 200 ? 'this is not Grantor' : `status ${status}`)
    return { kind: 'not-ready', address, status, reason: textOf(ctx?.reason), message }
  } catch (cause) {
    return { kind: 'unreachable', address, message: reasonOf(cause, ANSWER_LIMIT_MS) }
  }
}

interface Body {
  readonly status?: unknown
  readonly detail?: readonly { readonly msg?: unknown; readonly ctx?: { readonly reason?: unknown } }[]
}

function parse(text: string): Body | undefined {
  try {
    return JSON.parse(text) as Body
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
