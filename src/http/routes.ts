import { ENDPOINTS, type Endpoint } from '../endpoints/index.ts'
import { PATHS } from '../endpoints/paths.ts'
import { invalidRequest } from '../protocol/errors.ts'

/** A path, and the rows of THE TABLE that are there. */
export interface Route {
  /** By method. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  readonly methods: readonly string[]
  /** Whether scripts of any origin may call. Then there are preflights. */
  readonly cors: boolean
}

/**
 * The route of a request's target; undefined for an unknown path. Every row is below the issuer's path.
 *
 * The answer function throws OAuthError invalid_request for a target that is malformed.
 */
export function openRoutes(issuer: string): (target: string) => Route | undefined {
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const routes = new Map<string, Route>()
  for (const [path, rows] of Map.groupBy(ENDPOINTS, (row) => row.path)) {
    for (const url of urlsOf(path, base)) routes.set(url, routeOf(rows))
  }
  return (target) => routes.get(target) ?? routes.get(pathOf(target))
}

/** Whether a target is the issuer's own address, where nothing is. */
export function isHome(issuer: string, target: string): boolean {
  return pathOf(target).replace(/\/$/, '') === new URL(issuer).pathname.replace(/\/$/, '')
}

/** RFC 8414 §3.1: the well-known part stands before the issuer's path; many clients append it instead. */
function urlsOf(path: string, base: string): readonly string[] {
  if (base === '') return [path]
  const isMetadata = path === PATHS.oauthMetadata || path === PATHS.openidMetadata
  const isHealth = path === PATHS.alive || path === PATHS.ready
  return [base + path, ...(isMetadata ? [path + base] : []), ...(isHealth ? [path] : [])]
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
 * RFC 9110 §9.2.1: HEAD is safe. To GET some pages starts or ends an authorization and sets cookies, so their HEAD only tells
 * that they are there.
 */
function headOf(row: Endpoint): Endpoint {
  return row.audience === 'page' ? { ...row, run: async () => ({ kind: 'empty', status: 200 }) } : row
}

/**
 * The path of a target, with what need not be escaped unescaped: `%74oken` is `token`, but `%2f` is no slash (RFC 3986
 * §2.3). A request for a proxy names a host too (RFC 9112 §3.2.2); only its path is ours.
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

export function withoutOrigin(target: string): string {
  return target.replace(/^https?:\/\/[^/]*/i, '')
}
