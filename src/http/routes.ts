import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { endpointsFor } from '../endpoints/index.ts'
import { PATHS } from '../endpoints/paths.ts'
import type { Context } from '../ports/context.ts'
import { invalidRequest, type OAuthError } from '../protocol/errors.ts'
import { problem } from '../base/validation.ts'
import type { Proxies } from './proxies.ts'

/** A path, and the rows of the endpoint table at this path. */
export interface Route {
  /** By method. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly methods: readonly string[]
  /** Whether scripts of any origin may call it. Browsers send preflights then. */
  readonly cors: boolean
}

/**
 * Returns a function that finds the route of a request's target; undefined for an unknown path. Every endpoint is below the
 * issuer's path. `isMounted`: in the server of a host.
 *
 * The returned function throws OAuthError invalid_request for a malformed target.
 */
export function openRoutes(
  { issuer, settings }: Pick<Context, 'issuer' | 'settings'>,
  isMounted: boolean,
): (target: string) => Route | undefined {
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const routes = new Map<string, Route>()
  const withoutName = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
  for (const [path, rows] of Map.groupBy(endpointsFor(settings), (row) => row.path)) {
    for (const url of urlsOf(path.replace(NAME, ''), base, isMounted)) routes.set(url, routeOf(rows))
  }
  const find = (path: string): Route | undefined => routes.get(path) ?? routes.get(withoutName(path))
  return (target) => routes.get(target) ?? find(pathOf(target))
}

/** The last segment of a path in the table, if it is the name of a record. */
const NAME = /\{\w+\}$/

/** Whether a target is the issuer's own address, at which there is no endpoint. */
export function isHome(issuer: string, target: string): boolean {
  return pathOf(target).replace(/\/$/, '') === new URL(issuer).pathname.replace(/\/$/, '')
}

/**
 * RFC 8414 §3.1: the well-known part comes before the issuer's path. Many clients append it instead, so both are served. Probes of a
 * server ask below the issuer and at the root; in a host, the root belongs to the host.
 */
function urlsOf(path: string, base: string, isMounted: boolean): readonly string[] {
  // In a host, this picture is the host's.
  if (isMounted && path === PATHS.icon) return []
  if (base === '') return [path]
  const isMetadata = path === PATHS.oauthMetadata || path === PATHS.openidMetadata
  const isOfRoot = !isMounted && (path === PATHS.alive || path === PATHS.ready || path === PATHS.icon)
  return [base + path, ...(isMetadata ? [path + base] : []), ...(isOfRoot ? [path] : [])]
}

function routeOf(rows: readonly Endpoint[]): Route {
  const endpoints = new Map(
    rows.flatMap((row): readonly (readonly [string, Endpoint])[] =>
      row.method === 'GET'
        ? [
            ['GET', row],
            ['HEAD', headOf(row)],
          ]
        : [[row.method, row]],
    ),
  )
  return { endpoints, methods: [...endpoints.keys()], cors: rows.some((row) => row.cors === true) }
}

/**
 * RFC 9110 §9.2.1: HEAD is safe. GET of some pages starts or ends an authorization and sets cookies, so HEAD of a page only
 * confirms that the page exists.
 */
function headOf(row: Endpoint): Endpoint {
  return row.audience === 'page' ? { ...row, run: async () => ({ kind: 'empty', status: 200 }) } : row
}

/**
 * The path of a target, with unreserved characters decoded: `%74oken` is `token`, but `%2f` is not a slash (RFC 3986 §2.3).
 * A target in absolute form also names a host (RFC 9112 §3.2.2), which is ignored.
 */
function pathOf(target: string): string {
  const path = withoutOrigin(target).split(/[?#]/, 1)[0] ?? ''
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    throw invalidRequest('parameter_malformed')
  }
}

function withoutOrigin(target: string): string {
  return target.replace(/^https?:\/\/[^/]*/i, '')
}

/** RFC 9110 §15.5.6. `methods`: those of the path; `allow`: the value of the Allow header. */
export function wrongMethod(method: string | undefined, methods: readonly string[], allow: string): OAuthError {
  const problems = [
    problem(['method'], 'literal_error', 'Method not allowed for this path.', method, { expected: methods }),
  ]
  return invalidRequest('method_wrong', { status: 405, headers: { Allow: allow }, problems })
}

/**
 * A loopback issuer's address for a page that was requested under another name, without our cookies. Cookies belong to
 * all ports of a name (RFC 6265 §8.5), and some proxies forward the name without its port.
 */
export function homeAddress(
  { context, proxies }: { readonly context: Context; readonly proxies: Proxies },
  endpoint: Endpoint,
  message: IncomingMessage,
): string | undefined {
  const { issuer, settings } = context
  if (!settings.isLoopbackIssuer || endpoint.audience !== 'page' || endpoint.method !== 'GET') return undefined
  const { host, hostname, origin } = new URL(issuer)
  const requested = proxies.forwarded(message, 'x-forwarded-host') ?? message.headers.host
  if (requested === host || requested === hostname) return undefined
  return origin + withoutOrigin(message.url ?? '')
}
