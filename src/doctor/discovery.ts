import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { ForwardCounts } from '../checks/finding.ts'
import type { IssuerProbe } from '../ports/inspection.ts'
import type { EpochMs } from '../base/brand.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'

/** The timeout of a request. */
export const ANSWER_LIMIT_MS = 10_000
/**
 * Counts of the node on this machine that a check needs, from its /metrics, which needs no credentials there. undefined when
 * no node answers.
 */
export async function readForwards(
  admin: { readonly host: string; readonly port: number } | undefined,
): Promise<ForwardCounts | undefined> {
  if (admin === undefined || !isLoopbackHost(admin.host)) return undefined
  const host = admin.host.includes(':') ? `[${admin.host}]` : admin.host
  try {
    const response = await fetch(`http://${host}:${admin.port}/metrics`, {
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    const text = (await readText(response)) ?? ''
    const lines = [...text.matchAll(/^grantor_forwarded_addresses_(ignored|missing)_total(?:\{.*\})? (\d+)$/gm)]
    const sumOf = (name: string) => lines.reduce((sum, [, of, count]) => (of === name ? sum + Number(count) : sum), 0)
    return response.ok ? { ignored: sumOf('ignored'), missing: sumOf('missing') } : undefined
  } catch {
    return undefined
  }
}

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
    return { kind: 'unreachable', address, reason: reasonOf(cause), certificateError: certificateErrorOf(cause) }
  }
  const metadata = await readAnyObject(response)
  if (!response.ok || typeof metadata?.['issuer'] !== 'string') {
    return { kind: 'no-metadata', address, status: response.status, error: metadata?.['error'] }
  }
  const time = Date.parse(response.headers.get('date') ?? '')
  return {
    kind: 'answered',
    address,
    issuer: metadata['issuer'],
    keyIds: await findKeyIds(metadata['jwks_uri']),
    time: Number.isNaN(time) ? undefined : (time as EpochMs),
    certificateEndsAt: await findCertificateEnd(address),
  }
}

/** The codes of certificates that were refused: those of OpenSSL (X509_V_ERR_…), and of a certificate for another host. */
const CERTIFICATE_ERROR = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_|ERR_TLS_CERT_)/

function certificateErrorOf(failure: unknown): string | undefined {
  const { cause } = failure instanceof Error ? failure : {}
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return CERTIFICATE_ERROR.test(code) ? code : undefined
}

/** When the certificate of an https address expires. `fetch` does not show certificates. */
async function findCertificateEnd(address: string): Promise<EpochMs | undefined> {
  const { protocol, hostname, port } = new URL(address)
  if (protocol !== 'https:') return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: port === '' ? 443 : Number(port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    const end = Date.parse(socket.getPeerCertificate().valid_to)
    return Number.isNaN(end) ? undefined : (end as EpochMs)
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

/** Why there was no response, as the system reports it. `limitMs`: the timeout of the request. */
export function reasonOf(failure: unknown, limitMs = ANSWER_LIMIT_MS): string {
  if (!(failure instanceof Error)) return String(failure)
  if (failure.name === 'TimeoutError') return `no response within ${limitMs / 1000} s`
  const { cause } = failure
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not use TLS'
  return cause instanceof Error ? cause.message : failure.message
}

/** Returns the JSON object of a successful response, or undefined when the response is something else or too long. */
export async function readObject(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const body = await readAnyObject(response)
  return response.ok ? body : undefined
}

/** As `readObject`, also of a refusal. */
async function readAnyObject(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const text = await readText(response)
    if (text === undefined) return undefined
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

/** Returns the body; undefined if it is too long. */
export async function readText({ body }: Response): Promise<string | undefined> {
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
