import type { IssuerProbe } from '../../ports/inspection.ts'
import type { EpochMs } from '../../protocol/brand.ts'

/** The timeout of a request. */
export const ANSWER_LIMIT_MS = 10_000
/** The maximum size of a document. */
const DOCUMENT_BYTES_MAX = 256 * 1024

/** RFC 8414 §3.1: the well-known part is between the host and the path of the issuer. */
export function metadataAddress(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
}

/** Requests the metadata of an issuer, as a client does. */
export async function probeIssuer(issuer: string): Promise<IssuerProbe> {
  const address = metadataAddress(issuer)
  let response: Response
  try {
    response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
  } catch (cause) {
    return { kind: 'unreachable', address, reason: reasonOf(cause) }
  }
  const metadata = await readObject(response)
  if (metadata === undefined || typeof metadata['issuer'] !== 'string') {
    return { kind: 'no-metadata', address, reason: `status ${response.status} and no metadata` }
  }
  const time = Date.parse(response.headers.get('date') ?? '')
  return {
    kind: 'answered',
    address,
    issuer: metadata['issuer'],
    keyIds: await findKeyIds(metadata['jwks_uri']),
    time: Number.isNaN(time) ? undefined : (time as EpochMs),
  }
}

/** Why there was no response, as the system reports it. */
export function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  if (failure.name === 'TimeoutError') return `no answer within ${ANSWER_LIMIT_MS / 1000} s`
  const { cause } = failure
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it speaks no TLS'
  return cause instanceof Error ? cause.message : failure.message
}

/** Returns the JSON object of a successful response, or undefined when the response is something else or too long. */
export async function readObject(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const text = await readText(response)
    if (!response.ok || text === undefined) return undefined
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

async function readText({ body }: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > DOCUMENT_BYTES_MAX) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

async function findKeyIds(address: unknown): Promise<readonly string[] | undefined> {
  if (typeof address !== 'string') return undefined
  try {
    const document = await readObject(await fetch(address, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }))
    const keys = document?.['keys']
    return Array.isArray(keys) ? keys.map((key: { readonly kid?: unknown }) => String(key.kid)) : undefined
  } catch {
    return undefined
  }
}
